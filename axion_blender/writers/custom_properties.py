# SPDX-License-Identifier: GPL-3.0-or-later
"""Speeds and forces of a trajectory as keyframed custom properties, to drive shaders, sound and other drivers.

    bodies   axion_speed          of the centre of mass [m/s]
             axion_spin           [rad/s]
             axion_contact_force  sum of the norms of its contacts' forces, mean over the frame before the key [N]
    joints   axion_force          norm of the joint's force, likewise [N]
             axion_torque         norm of its torque about its place on body b, likewise [N m]

In a shader: Attribute node, type Object, name axion_speed.  In a driver: the data path ["axion_speed"].
"""

import json

import bpy
import numpy as np

from .. import compat
from ..slices import part
from . import actions, curves, overrides, pushed, records, staging

RECORD = records.VALUES_RECORD
LABELS = {
    "axion_speed": "Speed in metres per second",
    "axion_spin": "Angular speed in radians per second",
    "axion_contact_force": "Force of all contacts in newtons",
    "axion_force": "Force of the joint in newtons",
    "axion_torque": "Torque of the joint in newton metres",
}


BLOCK = 20_000  # states of bodies, and contacts, that one slice goes through


def stage_asked(trajectory, objects, frame_start, scene):
    """Prepare the values that ``Scene.axion`` asks for, of bodies ({name: Object}) and joints.

    A generator: it yields the part done, 0 to 1, and returns a Staged.  Nothing of the scene changes before that is
    handed over; closed before, it leaves nothing.
    """
    settings, staged = scene.axion, Staged(scene)
    try:
        wanted = {}
        if settings.use_keyed_speed:
            columns = yield from part(body_values(trajectory), 0.0, 0.4)
            index = {name: k for k, name in enumerate(trajectory.names)}
            for name, item in objects.items():
                wanted[item] = {key: values[:, index[name]] for key, values in columns.items()}
        if settings.use_keyed_forces and trajectory.forces is not None:
            found = {item.name_full: item for item in scene.objects}
            for name, columns in joint_values(trajectory.forces).items():
                if name in found:
                    wanted[found[name]] = wanted.get(found[name], {}) | columns
        for number, (item, columns) in enumerate(wanted.items()):
            yield 0.4 + 0.6 * number / len(wanted)
            staged.add(item, columns, frame_start + len(trajectory.times) - 1)
    except BaseException:
        staged.remove()
        raise
    return staged


def body_values(trajectory):
    """{property: (T, B) values of all bodies}, a generator that returns them.

    A force is that of the frame before each key and begins at the second key: (F, B).
    """
    states, count = trajectory.linear_velocity.shape[:2]
    found = {"axion_speed": np.empty((states, count)), "axion_spin": np.empty((states, count))}
    step = max(1, BLOCK // max(1, count))
    for first in range(0, states, step):
        yield 0.5 * first / states
        block = slice(first, first + step)
        found["axion_speed"][block] = np.linalg.norm(trajectory.linear_velocity[block], axis=2)
        found["axion_spin"][block] = np.linalg.norm(trajectory.angular_velocity[block], axis=2)
    history = trajectory.forces
    if history is not None:
        total = found["axion_contact_force"] = np.zeros((len(history), count))
        for frame in range(len(history)):
            own = slice(*history.contact_offset[frame : frame + 2])
            touched = history.contact_body[own]
            yield 0.5 + 0.5 * frame / len(history)
            norm = np.repeat(np.linalg.norm(history.contact_force[own], axis=1), touched.shape[1])
            total[frame] = np.bincount(touched.ravel(), norm, count)
    return found


def joint_values(history):
    """{joint: {property: (F,) values}} of a ForceHistory."""
    force, torque = (np.linalg.norm(a, axis=2) for a in (history.joint_force, history.joint_torque))
    return {
        name: {"axion_force": force[:, k], "axion_torque": torque[:, k]} for k, name in enumerate(history.joint_names)
    }


class Staged:
    """Values in an action that no object plays, to be handed over after the motion is written."""

    def __init__(self, scene):
        self.scene, self._rows, self._stage = scene, [], None

    def add(self, item, columns, last):
        """Values of one object, {property: (T,) values}: one a frame, the last one at frame ``last``."""
        channels = {}
        for name, values in columns.items():
            if len(values):
                frames = last + 1 - len(values) + np.arange(len(values))
                keys = np.stack([frames, np.nan_to_num(values)], axis=1)
                channels[f'["{name}"]', 0] = keys.astype(np.float32)
        if self._stage is None:
            self._stage = staging.Stage(self.scene)
        begins = {name: float(np.nan_to_num(values[0])) for name, values in columns.items() if len(values)}
        self._rows.append((item, self._stage.slot(item.name, channels), begins))

    def hand_over(self):
        """Let the objects have their values; those of earlier bakes are replaced.

        Returns warnings, one sentence each, on objects that keep none.
        """
        warnings = []
        try:
            clear(self.scene)
            if self._stage is not None:
                self._stage.forget_patterns()
                apart = not actions.has_shared(self.scene)  # else what is staged must be copied there
                for item, slot, begins in self._rows:
                    warnings += self._hand_over(item, slot, begins, apart)
                if apart:
                    actions.replace_shared(self.scene, self._stage.action)
                    self._stage = None
        except BaseException:
            clear(self.scene)
            raise
        finally:
            self.remove()
        _wake_drivers()
        return warnings

    def _hand_over(self, item, slot, begins, apart):
        taken = [name for name in begins if name in item]
        stop = overrides.problems([item])
        if taken or stop:
            self._stage.action.slots.remove(slot)
            return stop or [f"{item.name} has a custom property {taken[0]} of its own: rename it to bake forces."]
        bag = _bag(item, self.scene, list(begins), slot if apart else None)
        if item.animation_data.action_slot != slot:
            for curve in self._stage.strip.channelbag(slot).fcurves:
                curves.copy(bag, curve)
            self._stage.action.slots.remove(slot)
        for name, value in begins.items():
            item[name] = value
            item.id_properties_ui(name).update(description=LABELS[name], min=0.0)
        item.update_tag()
        return []

    def remove(self):
        """Forget what was not handed over."""
        if self._stage is not None:
            self._stage.remove()
            self._stage = None


def clear(scene):
    """Take back the values of objects that hold nothing else of a bake; the others lose theirs with their bake."""
    for item in [item for item in scene.objects if RECORD in item]:
        record, data = json.loads(item[RECORD]), item.animation_data
        pushed.remove(item)
        records.leave_take(item)
        if data is not None and data.action is not None:
            action, slot, bag = data.action, data.action_slot, compat.channelbag(item)
            if bag is not None:
                curves.remove(bag)
            records.give_action_back(item, record, action, slot, bag)
        records.forget(item, RECORD, records.ORIGINAL_ACTION, *record.get("values", ()))
        item.update_tag()
    actions.release_takes()
    actions.remove_unused()


def holds(item):
    """Whether an object holds these values and nothing else of a bake."""
    return RECORD in item


def _wake_drivers():
    """Let drivers that found no value, before this bake, look again: Blender skips them for ever otherwise."""
    paths = {f'["{name}"]' for name in records.VALUES}
    for owner in _owners():
        for curve in compat.drivers_of(owner):
            driver = curve.driver
            targets = (target for variable in driver.variables for target in variable.targets)
            if not driver.is_valid and any(target.data_path in paths for target in targets):
                driver.is_valid = True
                owner.update_tag()


def _owners():
    """Every datablock that may have drivers, node trees within others too."""
    for prop in bpy.data.bl_rna.properties:
        if prop.type == "COLLECTION":
            for block in getattr(bpy.data, prop.identifier):
                if hasattr(block, "animation_data"):
                    yield block
                tree = getattr(block, "node_tree", None)
                if tree is not None:
                    yield tree


def _bag(item, scene, names, staged):
    """The channelbag for an object's values, with the group for baked curves; its record lists their names.

    staged: a slot that has them already, for an object that has no action; None makes one in the shared action.
    """
    if records.is_baked(item):
        item[records.RECORD] = json.dumps(json.loads(item[records.RECORD]) | {"values": names})
        return compat.channelbag(item)
    record = {"values": names}
    bag = records.claim(item, scene, record, staged)
    item[RECORD] = json.dumps(record)
    if item.animation_data.action_slot != staged:
        curves.prepare(bag, ())
    return bag
