# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own rigid body world -> ``Scene.axion``, and what bodies and constraints need to know of it."""

from dataclasses import dataclass

import bpy

from .. import conventions
from ..extract.checks import animated_gravity
from ..extract.fields import IDLE as IDLE_FIELDS
from ..extract.fields import KINDS as FIELD_KINDS
from ..properties.weights import KINDS as FIELD_WEIGHTS
from . import animation
from .bodies import properties_of
from .report import LOST, Note

KNOWN = {"collection", "constraints", "enabled", "time_scale", "point_cache", "effector_weights"}
NEEDLESS = ("substeps_per_frame", "solver_iterations", "use_split_impulse")
"""Axion solves to a tolerance in steps of its own; the substeps count in breaking thresholds."""


@dataclass
class Surroundings:
    """What a native constraint depends on.

    Attributes:
        members: objects of the rigid body world; layer: objects that Axion sees.
        converted: {object: Entry} of those that are Axion's now.
        metres: per Blender unit.
        impulse_rate: substeps per second of simulated time: an impulse per substep times this is a force.
        world: the scene's RigidBodyWorld.
    """

    members: set
    converted: dict
    layer: set
    metres: float
    impulse_rate: float
    world: object

    def iterations(self, constraint):
        """Solver iterations that a native constraint gets."""
        return (
            constraint.solver_iterations if constraint.use_override_solver_iterations else self.world.solver_iterations
        )

    @staticmethod
    def moves(owner):
        """Whether the native simulation moves an object."""
        native = None if owner is None else owner.rigid_body
        return native is not None and native.type == "ACTIVE" and native.enabled and not native.kinematic


def surroundings(scene, view_layer, entry):
    """Surroundings of the constraints of ``scene``, with nothing converted yet."""
    world = scene.rigidbody_world
    speed = world.time_scale
    if not speed > 0.0:
        entry.changed("time_scale", "has a simulation speed of 0: breaking thresholds are read at speed 1")
        speed = 1.0
    return Surroundings(
        members=set(members(world.collection, "rigid_body")),
        converted={},
        layer=set(view_layer.objects),
        metres=conventions.metres_per_unit(scene.unit_settings.system, scene.unit_settings.scale_length),
        impulse_rate=scene.render.fps / scene.render.fps_base * world.substeps_per_frame / speed,
        world=world,
    )


def members(collection, kind):
    """Objects of a collection that have native data of one kind: "rigid_body" or "rigid_body_constraint"."""
    return [] if collection is None else [item for item in collection.all_objects if getattr(item, kind) is not None]


def convert(scene, entry):
    """Carry the native world over, and switch it off.  entry: report.Entry to fill."""
    settings, world = scene.axion, scene.rigidbody_world
    settings.friction_combine = settings.restitution_combine = "MULTIPLY"
    settings.gravity_factor = world.effector_weights.gravity * world.effector_weights.all
    settings.time_scale = world.time_scale
    if settings.time_scale != world.time_scale and not entry.noted("time_scale"):
        entry.changed(
            "time_scale", f"has a simulation speed of {world.time_scale:g}: it is {settings.time_scale:g} now"
        )
    first, last = world.point_cache.frame_start, min(world.point_cache.frame_end, scene.frame_end)
    settings.use_frame_range = first < last and (first, last) != (scene.frame_start, scene.frame_end)
    if settings.use_frame_range:
        settings.frame_start, settings.frame_end = first, last
    _carry_fields(scene, world.effector_weights, entry)
    animation.carry(scene, "rigidbody_world.", {}, entry)
    for name, words in animated_gravity(scene):
        entry.lost(name, words)
    _mention_other_worlds(scene, entry)
    entry.needless += NEEDLESS
    entry.close(properties_of(world), KNOWN)
    world.enabled = False


def _carry_fields(scene, weights, entry):
    own = scene.axion.effector_weights
    for name in ("collection", "all", *FIELD_WEIGHTS):
        setattr(own, name, getattr(weights, name))
    moving = {"NONE", *FIELD_KINDS, *IDLE_FIELDS}
    for item in scene.objects:
        if item.field is not None and item.field.type not in moving:
            kind = item.field.type.replace("_", " ").title()
            entry.notes.append(Note("field", LOST, f"{item.name} is a force field of type {kind}: Axion has none"))


def _mention_other_worlds(scene, entry):
    own = set(members(scene.rigidbody_world.collection, "rigid_body"))
    for other in bpy.data.scenes:
        world = other.rigidbody_world
        if other == scene or world is None or not world.enabled:
            continue
        shared = own & set(members(world.collection, "rigid_body"))
        if shared:
            names = ", ".join(sorted(item.name for item in shared)[:3])
            entry.changed(
                "collection",
                f"shares bodies ({names}) with scene {other.name}: they are Axion's there, too, "
                "where Blender's own simulation still runs",
            )
