# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake was made from, as far as plain values tell it, so that a later look can say what was changed since.

Looked at are the settings of bodies, joints, force fields and the scene, the keys of such settings, whether a
collection excludes them, and where things stand that nothing animates; of bodies that the simulation moves only their
scale.  Not looked at are meshes, modifiers and animation of objects: they take a bake to be read.
"""

import hashlib
from functools import cache

import bpy

from . import compat, identity
from .extract import motion
from .extract.checks import frame_range

SLICE = 100
"""Objects read at a time, in some milliseconds."""
PLACE = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "rotation_mode")
PLACE += ("delta_location", "delta_rotation_euler", "delta_rotation_quaternion")
SIZE = ("scale", "delta_scale")
APART = ("object1", "object2")
"""Of joints: objects, kept by name, as those may be renamed."""
LEFT = {"rna_type", "name", *APART}
"""No settings."""
ELSEWHERE = {"overlays", "use_cache", "cache_folder", "uuid", "device", "device_index"}
ELSEWHERE |= {"use_frame_range", "frame_start", "frame_end"}
"""Settings of a scene that its motion does not follow, or that count as the frame range."""
OF_SCENE = {
    "Gravity": (None, ("gravity", "use_gravity")),
    "Frame Rate": ("render", ("fps", "fps_base")),
    "Units": ("unit_settings", ("system", "scale_length")),
}
"""Label -> group of a scene and the names of what Blender keeps there."""


def read(scene):
    """Read a scene in slices: a generator that yields 0 now and then and returns what ``changed`` compares.

    That is {"scene": {label: digest}, "objects": {name: [digest of the settings, of the place, names it points to]}}.
    Between two slices anything may happen to the scene; where it was deleted, nothing is returned.
    """
    uid, settings = scene.session_uid, _of_scene(scene)
    watched = not (bpy.app.handlers.frame_change_pre or bpy.app.handlers.frame_change_post)
    excluded = _excluded(scene)
    found, start = {}, 0
    while True:
        yield 0.0
        scene = identity.scene_of(uid)
        if scene is None:
            return None
        items = scene.objects[start : start + SLICE]
        slots = compat.Slots(items)
        for item in items:
            entry = None if item.name_full in excluded else _of_object(item, watched, slots)
            if entry is not None:
                found[item.name_full] = entry
        start += SLICE
        if len(items) < SLICE:
            return {"scene": settings, "objects": found}


def changed(then, now):
    """Labels and names of what differs between two trees of ``read``, a list; renamed objects are the same ones."""
    names = [label for label, own in now["scene"].items() if then["scene"].get(label, own) != own]
    before, after = then["objects"], now["objects"]
    fresh = {}
    for name, (settings, *_) in after.items():
        if name not in before:
            fresh.setdefault(settings, []).append(name)
    called = {}
    for name, (settings, *_) in before.items():
        if name not in after and fresh.get(settings):
            called[name] = fresh[settings].pop(0)
    for name, (settings, place, others) in before.items():
        own = after.get(called.get(name, name))
        if own is None:
            names.append(name)
            continue
        moved = place and own[1] and place != own[1]
        if own[0] != settings or moved or own[2] != [called.get(other, other) for other in others]:
            names.append(called.get(name, name))
    return [*names, *(name for left in fresh.values() for name in left)]


def is_tree(value):
    """Whether ``changed`` can read it; anybody may edit what a file keeps."""
    if not isinstance(value, dict) or not all(isinstance(value.get(key), dict) for key in ("scene", "objects")):
        return False
    entries = value["objects"].values()
    return all(
        isinstance(entry, list)
        and len(entry) == 3
        and isinstance(entry[0], str)
        and isinstance(entry[1], str)
        and isinstance(entry[2], list)
        for entry in entries
    )


def _of_scene(scene):
    """{label: digest}; what has one label, such as Blender's gravity and the factor on it, counts as one."""
    paths, group = {curve.data_path for curve in _curves(scene)}, scene.axion
    found = {"Frame Range": [frame_range(scene)]}
    for label, (owner, names) in OF_SCENE.items():
        holder = scene if owner is None else getattr(scene, owner)
        found[label] = [_value(getattr(holder, name)) for name in names if name not in paths]
    for name in _defaults(type(group)):
        if name not in ELSEWHERE and (name != "tolerance" or group.use_tolerance):
            found.setdefault(group.bl_rna.properties[name].name, []).append(_value(getattr(group, name)))
    return {label: _digest(values) for label, values in found.items()}


def _excluded(scene):
    """Full names of the objects that no view layer of a scene has, because their collections are excluded."""
    layers, left, found = scene.view_layers, [scene.view_layers[0].layer_collection], set()
    while left:
        layer = left.pop()
        left += layer.children
        if layer.exclude:
            found.update(item for item in layer.collection.objects)
    return {item.name_full for item in found if not any(layer.objects.get(item.name) == item for layer in layers)}


def _of_object(item, watched, slots):
    """[digest of the settings, of the place or "", names], or None of an object that takes no part."""
    body, joint, field = item.axion.enabled, item.axion_joint.enabled, item.field
    field = field is not None and field.type != "NONE"
    if not (body or joint or field):
        return None
    curves = _curves(item, slots)
    paths, keys = {curve.data_path for curve in curves}, _keys(curves)
    settings, others = [keys], [item.parent.name_full if item.parent is not None else ""]
    for takes_part, name in ((body, "axion"), (joint, "axion_joint"), (field, "field")):
        if takes_part:
            settings += [name, _settings(getattr(item, name), {path.removeprefix(f"{name}.") for path in paths})]
    if joint:
        ends = (getattr(item.axion_joint, name) for name in APART)
        others += [end.name_full if end is not None else "" for end in ends]
    place = SIZE if body and motion.may_be_free(item) else (*PLACE, *SIZE)
    stands = [(name, _value(getattr(item, name))) for name in place if name not in paths]
    return [_digest(settings), _digest(stands) if watched else "", others]


def _settings(group, left=()):
    """[(name, value)] of what differs from its default, so that settings of later versions do not matter."""
    found = []
    for name, default in _defaults(type(group)).items():
        value = _value(getattr(group, name))
        if value != default and name not in left:
            found.append((name, value))
    return found


@cache
def _defaults(kind):
    """{name: default} of the properties of a group, but those that are kept apart."""
    found = {}
    for prop in kind.bl_rna.properties:
        if prop.identifier not in LEFT:
            found[prop.identifier] = _default(prop)
    return found


def _default(prop):
    if prop.type == "POINTER":
        return None
    if prop.type == "COLLECTION":
        return ()
    if prop.type == "ENUM" and prop.is_enum_flag:
        return sorted(prop.default_flag)
    return tuple(prop.default_array) if getattr(prop, "is_array", False) else prop.default


def _value(value):
    """A plain value of any property."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if hasattr(value, "session_uid"):
        return value.name_full
    if hasattr(value, "bl_rna"):
        return _settings(value) or None
    return sorted(value) if isinstance(value, set) else tuple(value)


def _curves(owner, slots=None):
    """F-curves and drivers of ``owner``: the values of what they animate change with the frame."""
    if owner.animation_data is None:
        return []
    return [*(curve for bag in compat.channelbags(owner, slots) for curve in bag.fcurves), *compat.drivers_of(owner)]


def _keys(curves):
    """What animates settings of an object."""
    found = set()
    for curve in curves:
        if curve.data_path.startswith(("axion.", "axion_joint.", "field.")):
            places = [0.0] * (2 * len(curve.keyframe_points))
            curve.keyframe_points.foreach_get("co", places)
            driver = "" if curve.driver is None else curve.driver.expression
            found.add((curve.data_path, curve.array_index, curve.mute, driver, tuple(places)))
    return sorted(found)


def _digest(values):
    return hashlib.sha256(repr(values).encode("utf-8", "surrogatepass")).hexdigest()[:10]
