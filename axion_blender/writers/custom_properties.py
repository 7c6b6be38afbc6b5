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
from . import actions, curves, overrides, records

RECORD = records.VALUES_RECORD
LABELS = {
    "axion_speed": "Speed in metres per second",
    "axion_spin": "Angular speed in radians per second",
    "axion_contact_force": "Force of all contacts in newtons",
    "axion_force": "Force of the joint in newtons",
    "axion_torque": "Torque of the joint in newton metres",
}


def body_values(trajectory, name):
    """{property: (T,) values} of a body; a force is that of the frame before each key and begins at the second key."""
    body = trajectory.index(name)
    found = {
        "axion_speed": np.linalg.norm(trajectory.linear_velocity[:, body], axis=1),
        "axion_spin": np.linalg.norm(trajectory.angular_velocity[:, body], axis=1),
    }
    history = trajectory.forces
    if history is not None:
        norm = np.linalg.norm(history.contact_force, axis=1)
        touching = (history.contact_body == body).any(axis=1)
        frame = np.repeat(np.arange(len(history)), np.diff(history.contact_offset))
        found["axion_contact_force"] = np.bincount(frame[touching], norm[touching], len(history))
    return found


def joint_values(trajectory):
    """{joint: {property: (F,) values}}."""
    history = trajectory.forces
    if history is None:
        return {}
    force, torque = (np.linalg.norm(a, axis=2) for a in (history.joint_force, history.joint_torque))
    return {
        name: {"axion_force": force[:, k], "axion_torque": torque[:, k]} for k, name in enumerate(history.joint_names)
    }


def write_asked(trajectory, objects, frame_start, scene):
    """Bake the values that ``Scene.axion`` asks for, of bodies ({name: Object}) and joints.  Returns warnings."""
    settings, wanted = scene.axion, {}
    if settings.use_keyed_speed:
        wanted |= {item: body_values(trajectory, name) for name, item in objects.items()}
    if settings.use_keyed_forces:
        found = {item.name_full: item for item in scene.objects}
        for name, columns in joint_values(trajectory).items():
            if name in found:
                wanted[found[name]] = wanted.get(found[name], {}) | columns
    return write(wanted, frame_start, len(trajectory.times) - 1, scene)


def write(wanted, frame_start, frames, scene):
    """Bake values into custom properties; those of an earlier bake are replaced.

    wanted: {Object: {property: values}}; the last value lies at frame_start + frames, the others before it, one a
    frame.  Call it after the motion is written.  Returns warnings, one sentence each, on objects that keep none.
    """
    clear(scene)
    warnings = []
    for item, columns in wanted.items():
        taken = [name for name in columns if name in item]
        stop = overrides.problems([item])
        if taken or stop:
            warnings += stop or [f"{item.name} has a custom property {taken[0]} of its own: rename it to bake forces."]
            continue
        bag = _bag(item, scene, [name for name, values in columns.items() if len(values)])
        for name, values in columns.items():
            if len(values):
                _key(item, bag, name, frame_start + frames - len(values) + 1, np.nan_to_num(values))
        item.update_tag()
    _wake_drivers()
    return warnings


def clear(scene):
    """Take back the values of objects that hold nothing else of a bake; the others lose theirs with their bake."""
    for item in [item for item in scene.objects if RECORD in item]:
        record, data = json.loads(item[RECORD]), item.animation_data
        if data is not None and data.action is not None:
            action, slot, bag = data.action, data.action_slot, compat.channelbag(item)
            if bag is not None:
                curves.remove(bag)
            records.give_action_back(item, record, action, slot, bag)
        records.forget(item, RECORD, records.ORIGINAL_ACTION, *record.get("values", ()))
        item.update_tag()
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


def _bag(item, scene, names):
    """The channelbag for an object's values, with the group for baked curves; its record lists their names."""
    if records.is_baked(item):
        item[records.RECORD] = json.dumps(json.loads(item[records.RECORD]) | {"values": names})
        return compat.channelbag(item)
    record = {"values": names}
    bag = records.claim(item, scene, record)
    item[RECORD] = json.dumps(record)
    curves.prepare(bag, ())
    return bag


def _key(item, bag, name, first, values):
    item[name] = float(values[0])
    item.id_properties_ui(name).update(description=LABELS[name], min=0.0)
    keys = np.stack([first + np.arange(len(values)), values], axis=1).astype(np.float32)
    curves.new(bag, f'["{name}"]', 0, keys)
