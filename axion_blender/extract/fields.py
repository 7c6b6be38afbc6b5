# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's force fields -> solver.ForceField, with the forces that its own rigid bodies get from them.

There a field's force is divided by the frame rate, acts on the centre of mass, and leaves rotation alone.
"""

import math

import numpy as np

from ...solver import ForceField
from .. import compat, conventions
from . import motion, noise_table

KINDS = {
    **{"WIND": "wind", "FORCE": "force", "VORTEX": "vortex", "MAGNET": "magnet"},
    **{"HARMONIC": "harmonic", "TURBULENCE": "turbulence", "DRAG": "drag"},
}
WEIGHTS = {"MAGNET": "magnetic"}
"""Names of effector weights that are not those of the fields."""
IDLE = {"NONE", "BOID", "GUIDE", "CHARGE", "LENNARDJ"}
"""Fields that move particles; Blender's own rigid bodies do not answer to them either."""
FOLLOWED = {"strength", "harmonic_damping", "linear_drag", "quadratic_drag"}
"""Animated properties of fields that a bake follows; drag and damping are the same numbers under other names."""


def effectors(scene, view_layer):
    """Objects whose force fields may act on the bodies."""
    weights = scene.axion.effector_weights
    holder = view_layer.objects if weights.collection is None else weights.collection.all_objects
    found = []
    for item in holder:
        if item.field is None or item.field.type == "NONE":  # asked first: the others look through all objects
            continue
        if item.name in view_layer.objects and item.visible_get(view_layer=view_layer):
            found.append(item)
    return found


def watch(items, sampler):
    """Tell the sampler what to note of the force fields."""
    for item in items:
        sampler.watch_matrix(item)
        sampler.watch_value(item, "field", "strength")
        sampler.watch_value(item, "field", "harmonic_damping")


class FieldReader:
    """Makes the fields of one scene.

    scene: of Blender.  sampler: which has played.  metres: per Blender unit.  bodies: {full name: solver.Body}.
    """

    def __init__(self, scene, sampler, metres, bodies):
        self.scene, self.sampler, self.metres, self.bodies = scene, sampler, metres, bodies
        self.weights = scene.axion.effector_weights

    def field(self, item, notes):
        """The solver.ForceField of an object, or None where it does nothing.  ``notes`` gets sentences."""
        own = item.field
        if own.type in IDLE:
            if own.type in ("CHARGE", "LENNARDJ"):
                notes.append(f"{item.name} is a force field of type {_words(own.type)}: it moves particles only")
            return None
        weight = self.weights.all * getattr(self.weights, WEIGHTS.get(own.type, own.type.lower()), 1.0)
        if weight == 0.0 or not own.apply_to_location:
            return None
        if own.type not in KINDS:
            kind = _words(own.type)
            notes.append(f"{item.name} is a force field of type {kind}, which Axion does not have: it is left out")
            return None
        if own.shape in ("SURFACE", "POINTS"):
            notes.append(f"{item.name} is a force field of shape {_words(own.shape)}: Axion takes it as a point")
        if own.use_absorption:
            notes.append(f"{item.name} is a force field with absorption: Axion lets nothing stand in its way")
        for path in sorted(compat.played_paths(item)):
            if path.startswith("field.") and path.removeprefix("field.") not in FOLLOWED:
                notes.append(f"{item.name} animates {path}, which is read at the first frame only")
        made = ForceField(
            item.name_full,
            KINDS[own.type],
            *self._strengths(item, own),
            shape={"LINE": "line", "PLANE": "plane"}.get(own.shape, "point"),
            flow=own.flow,
            falloff=own.falloff_type.lower(),
            power=own.falloff_power,
            min_distance=own.distance_min if own.use_min_distance else 0.0,
            max_distance=own.distance_max if own.use_max_distance else math.inf,
            radial_power=own.radial_falloff,
            min_radius=own.radial_min if own.use_radial_min else 0.0,
            max_radius=own.radial_max if own.use_radial_max else math.inf,
            side={"BOTH": "both", "POSITIVE": "positive", "NEGATIVE": "negative"}[own.z_direction],
            size=own.size if own.type == "TURBULENCE" else own.rest_length,
            global_coordinates=own.use_global_coords,
            inverse_square=own.use_gravity_falloff,
            weight=weight,
            rate=float(self.scene.render.fps),
            length=self.metres,
            force=self.metres**4,  # masses go with the cube of the unit, accelerations with the unit
            permutation=noise_table.permutation() if own.type == "TURBULENCE" else None,
            excludes=[item.name_full] if item.name_full in self.bodies else [],
        )
        self._place(item, made, notes)
        return made

    def _strengths(self, item, own):
        """(strength, damping), over time where they are animated or noisy."""
        names = ("strength", "harmonic_damping")
        series = [self.sampler.series(item, name) or getattr(own, name) for name in names]
        if not own.noise > 0.0:
            return series
        # A gust lasts for the frame that it leads to: there is a second time just after each whole frame.
        times, per_frame = self.sampler.times, motion.SAMPLES_PER_FRAME
        number = np.arange(len(times)) / per_frame
        after = 1e-6 / per_frame
        number = np.sort(np.concatenate([number, number[:-1:per_frame] + after]))
        seconds = number * times[per_frame]
        gusts = self._gusts(own)[np.ceil(number - 0.5 * after).astype(int)]
        for k in (0, 1) if own.type in ("HARMONIC", "DRAG") else (0,):
            plain = np.interp(seconds, *series[k]) if isinstance(series[k], tuple) else series[k]
            series[k] = (seconds, plain + gusts[:, k])
        return series

    def _gusts(self, own):
        """(frames + 1, 2) what noise adds to strength and damping in the frame that leads to each frame."""
        rows = []
        for frame in range(int(self.sampler.frames[0]), int(self.sampler.frames[-1]) + 1):
            generator = noise_table.Random(own.seed + abs(frame))
            rows.append([noise_table.gust(generator, own.noise) for _ in range(2)])
        return np.array(rows)

    def _place(self, item, made, notes):
        carrier = self._carrier(item)
        if carrier is None:
            path = self.sampler.rigid_path(item, self.metres)
            made.position, made.orientation = path.position[0], path.orientation[0]
            made.path = path if len(path.times) > 1 else None
            if any(motion.may_be_free(leader) for leader in motion.leaders(item)):
                notes.append(
                    f"{item.name} is a force field that follows a simulated object by constraints: "
                    "it stays on its animation"
                )
            return
        body, (place, turn) = self.bodies[carrier], self.bodies[carrier].start()
        own = self.sampler.rigid_path(item, self.metres)
        back = conventions.rotation_matrix(turn).T
        made.body = body.name
        made.position = back @ (own.position[0] - place)
        made.orientation = conventions.quaternion(back @ conventions.rotation_matrix(own.orientation[0]))

    def _carrier(self, item):
        """Full name of the simulated body that carries the field: its own, or that of a plain ancestor."""
        while item is not None:
            body = self.bodies.get(item.name_full)
            if body is not None and body.motion == "dynamic":
                return item.name_full
            if len(item.constraints) or compat.is_animated(item) or not motion.has_plain_parent(item):
                return None
            item = item.parent
        return None


def _words(identifier):
    return identifier.replace("_", " ").title()
