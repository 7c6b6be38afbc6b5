# SPDX-License-Identifier: GPL-3.0-or-later
"""Trajectory -> one object that shows all bodies as instances on points, for thousands of bodies, and back again.

Keyframes on ten thousand objects play at two frames a second; this plays as fast as the viewport draws.  The motion
lies in the attributes of one mesh (see point_nodes.py).  Bodies that look the same share a prototype; the objects
themselves are hidden until the bake is cleared.
"""

import json

import bpy
import numpy as np

from ...solver import SceneError
from .. import compat, conventions
from ..extract import checks
from ..slices import part
from . import hiding, metaballs, parents, players, point_nodes, point_warnings, records, variants
from .hiding import FLAGS

HIDDEN = records.POINTS_RECORD

MATRICES = 8_000  # that one slice works out, in some 10 ms
RAYS = ("visible_camera", "visible_diffuse", "visible_glossy", "visible_transmission", "visible_volume_scatter")
RAYS += ("visible_shadow", "is_holdout", "is_shadow_catcher")
"""What an object is to the rays of a render."""
COPY = 20  # times as long it takes to copy an object as to look at one
POSED = 0.8
"""Part of the writing until the motion is worked out."""
LOOKED = 0.3
"""Part of the making of prototypes until it is known who shares one."""


def write_slices(trajectory, objects, frame_start, scene, view_layer, scale_length, per_frame=1):
    """Bake a trajectory into points; an earlier bake into points is replaced.

    A generator: it yields the part done, 0 to 1, and returns warnings.  Between two slices the scene holds nothing new,
    and the bodies behind earlier points are shown where that tells their places; closed there, it hides them again.
    Arguments as ``keyframes.write``.  Raises SceneError, before anything is changed, where an object cannot be shown by
    its place, rotation and scale.
    """
    items = list(objects.values())
    if not items:
        clear(scene)
        return []
    names, items = _with_parts(objects, view_layer)
    stop = [item for item in items if not item.is_editable]
    if stop:
        raise SceneError(f"{stop[0].name} is linked from another file and cannot be hidden: make a library override")
    # Showing ten thousand bodies takes Blender a second, so only where it must evaluate them.
    before = suspend(scene) if parents.followers(items) or any(item.type == "META" for item in items) else []
    made, name = {}, f"Axion Points {scene.name}"
    try:
        poses = _poses(trajectory, names, items, frame_start, scene, view_layer, scale_length)
        place, turn, scale = yield from part(poses, 0.0, POSED)
        meshes = metaballs.meshes(items, view_layer, made)
        kinds, prototypes, variety = yield from part(_prototypes(items, name, meshes, made), POSED, 1.0)
        turns = {point_nodes.ROTATION: ("QUATERNION", turn)}
        motion = bpy.data.objects.new(f"{name} Motion", _mesh(f"{name} Motion", place.reshape(-1, 3), turns, made))
        made[motion] = f"{name} Motion"
        yield 1.0
        states, count = place.shape[:2]
        hidden = hiding.hidden(scene, items)
        some = any(flags.any() for flags in hidden.values())
        nodes = point_nodes.build(name, count, states - 1, frame_start, motion, prototypes, per_frame, some)
        made[nodes] = name
        looks = {point_nodes.PROTOTYPE: ("INT", kinds), point_nodes.SCALE: ("FLOAT_VECTOR", scale)}
        if some:
            looks |= {flag: ("BOOLEAN", flags) for flag, flags in hidden.items()}
        mesh = _mesh(name, place[0], looks, made)
        yield 1.0
    except BaseException:
        bpy.data.batch_remove(list(made))
        resume(scene, before)
        raise
    parts = {"motion": motion, "nodes": nodes, "prototypes": prototypes}
    shown = players.show(scene, name, mesh, parts, players.home(scene, view_layer, items))
    kept = {item.name_full for item in items}
    _show_for_good(scene, [item for item in _stood_in_for(scene) if item.name_full not in kept])
    for block, own in made.items():
        if block.name != own:  # which the earlier points had
            block.name = own
    records_of = {}
    for item in [item for item in items if HIDDEN not in item]:
        flags = tuple(getattr(item, flag) for flag in FLAGS)
        if flags not in records_of:
            records_of[flags] = json.dumps(dict(zip(FLAGS, flags, strict=True)))
        item[HIDDEN] = records_of[flags]
    resume(scene, items)
    return [*variety.warnings(shown), *point_warnings.find(scene, items, shown)]


def clear(scene):
    """Take back the points of a scene.  Returns how many objects were shown by them.

    Raises SceneError, before anything is changed, as ``suspend`` does.
    """
    items = _stood_in_for(scene)
    records.check(items)
    players.remove(scene)
    _show_for_good(scene, items)
    return len(items)


def _show_for_good(scene, items):
    """Show bodies again as before they were points."""
    _show(scene, items)
    for item in items:
        del item[HIDDEN]


def suspend(scene):
    """Show the bodies behind the points for a while, so that they can be read.  Returns them for ``resume``.

    Raises SceneError, before anything is changed, where an object's record of how it was hidden is broken.
    """
    items = _stood_in_for(scene)
    records.check(items)
    _show(scene, items)
    return items


def _show(scene, items):
    before = {item.name_full: item[HIDDEN] for item in items}
    flags = {text: json.loads(text) for text in set(before.values())}  # few
    flags = {text: {flag: bool(read[flag]) for flag in FLAGS} for text, read in flags.items()}
    _set_flags(scene, {name: flags[text] for name, text in before.items()})


def resume(scene, items):
    """Hide bodies whose points are shown."""
    hidden = dict.fromkeys(FLAGS, True)
    _set_flags(scene, {item.name_full: hidden for item in items if HIDDEN in item})


def _set_flags(scene, wanted):
    """Set FLAGS of objects, {full name: {flag: value}}.

    Setting one alone makes Blender look through all objects of the file, so they are set at once, and one as it should
    be, for Blender to notice.
    """
    if not wanted:
        return
    for flag in FLAGS:
        values = [wanted[item.name_full][flag] if item.name_full in wanted else None for item in scene.objects]
        now = [False] * len(values)
        scene.objects.foreach_get(flag, now)
        then = [old if new is None else new for old, new in zip(now, values, strict=True)]
        if then == now:
            continue
        scene.objects.foreach_set(flag, then)
        # Library overrides heed none that is set with others.
        owned = [item for item in scene.objects if item.name_full in wanted]
        for item in [item for item in owned if item.override_library is not None] or owned[:1]:
            setattr(item, flag, wanted[item.name_full][flag])


def _stood_in_for(scene):
    """The objects of a scene that points stand in for."""
    return [item for item in scene.objects if holds(item)]


def holds(item):
    """Whether points stand in for an object."""
    return HIDDEN in item


def keep(scene):
    """Forget that the points of a scene are a bake: from now on they are objects like any others."""
    players.keep(scene)
    for item in _stood_in_for(scene):
        del item[HIDDEN]


def _with_parts(objects, view_layer):
    """(name of the body, object) of all that points stand in for, as two lists: the bodies, and the parts of Compound
    Parents, which nothing else would carry along.
    """
    body = {item: name for name, item in objects.items()}
    parts = [
        (body[owner], item)
        for item, owner in checks.compound_parts(view_layer)
        if owner in body and item not in body and item.is_editable
    ]
    return [list(column) for column in zip(*objects.items(), *parts, strict=True)]


def _poses(trajectory, names, items, frame_start, scene, view_layer, scale_length):
    """Place (T, N, 3) [Blender units], turn (T, N, 4) wxyz, scale (N, 3) of the objects' world matrices, float32.

    W(t) = X(t) X(0)^-1 W(0), as for keyframes.  names: of the bodies that carry the objects.  A generator.
    """
    index = {name: i for i, name in enumerate(trajectory.names)}
    columns = [index[name] for name in names]

    def pose(state):
        position = np.asarray(trajectory.position[state], float)[columns] / scale_length
        return position, np.asarray(trajectory.orientation[state], float)[columns]

    spaces = yield from part(parents.sample(scene, view_layer, items, [frame_start]), 0.0, 0.2)
    worlds = np.array([spaces[item.name].world for item in items])
    poses, slant = conventions.decompose_many(worlds)
    for k in np.flatnonzero(~(slant <= conventions.SHEAR_LIMIT)):
        try:
            conventions.decompose(worlds[k])
        except ValueError as error:
            raise SceneError(f"{items[k].name}: {error}") from error
    position, orientation = pose(0)
    start = conventions.rotation_matrix(orientation)
    local = np.einsum("nji,nj->ni", start, poses.position - position)
    turn = np.einsum("nji,njk->nik", start, conventions.rotation_matrix(poses.orientation))
    states, count, step = len(trajectory.position), len(items), max(1, MATRICES // len(items))
    place, turned = np.empty((states, count, 3), np.float32), np.empty((states, count, 4), np.float32)
    for state in range(states):
        if state % step == 0:
            yield 0.2 + 0.8 * state / states
        position, orientation = pose(state)
        finite = np.isfinite(position).all(axis=-1) & np.isfinite(orientation).all(axis=-1)
        if not finite.all():
            bad = items[int(np.argmin(finite))].name
            raise SceneError(f"{bad}: its motion is NaN or infinite: bake with more substeps or a higher quality")
        rotation = conventions.rotation_matrix(orientation)
        place[state] = position + np.einsum("nij,nj->ni", rotation, local)
        turned[state] = conventions.wxyz(conventions.quaternion(rotation @ turn))
    return place, turned, poses.scale.astype(np.float32)


def _prototypes(items, name, meshes, made):
    """((N,) number of each object's prototype, collection of the prototypes, Variants of the objects); a generator.
    ``made`` takes them in.

    meshes: {full name: mesh} of objects that show this instead of their data.
    """
    collection, looks = bpy.data.collections.new(f"{name} Prototypes"), variants.Variants()
    made[collection] = f"{name} Prototypes"
    for number, item in enumerate(items):
        if number and number % parents.OBJECTS == 0:
            yield LOOKED * number / len(items)
        looks.add(item, _looks(item))
    yield LOOKED
    numbers, kinds, work = {}, [], 0
    for key, item in zip(looks.keys(), items, strict=True):
        work += 1
        if key not in numbers:
            numbers[key], own = len(numbers), f"Axion Point {len(numbers):06}"
            prototype = _prototype(item, own, meshes.get(item.name_full))
            made[prototype] = own
            collection.objects.link(prototype)
            work += COPY
        kinds.append(numbers[key])
        if work >= parents.OBJECTS:
            yield LOOKED + (1.0 - LOOKED) * len(kinds) / len(items)
            work = 0
    return np.array(kinds, np.int32), collection, looks


def _looks(item):
    """What tells how an object looks in its own space."""
    if item.data is None or item.type != "MESH" or len(item.modifiers) or compat.is_animated(item.data):
        return (item.session_uid,)
    own = [slot.material if slot.link == "OBJECT" else None for slot in item.material_slots]
    own = [material and material.session_uid for material in own]
    return (item.data.session_uid, "shared", *own, *(getattr(item, name) for name in RAYS))


def _prototype(item, name, mesh=None):
    if mesh is None:
        made = item.copy()
    else:
        made = bpy.data.objects.new(name, mesh)
        for way in (*RAYS, "color", "pass_index"):
            setattr(made, way, getattr(item, way))
    if made.override_library is not None:  # which would be saved, and looked after, with its library
        made.make_local(clear_liboverride=True)
    made.name = name
    made.animation_data_clear()
    made.parent = None
    made.constraints.clear()
    made.matrix_basis.identity()
    made.delta_location = made.delta_rotation_euler = (0, 0, 0)
    made.delta_rotation_quaternion, made.delta_scale = (1, 0, 0, 0), (1, 1, 1)
    made.location, made.scale = (0, 0, 0), (1, 1, 1)
    made.rotation_mode, made.rotation_quaternion = "QUATERNION", (1, 0, 0, 0)
    made.hide_viewport = made.hide_render = False
    made.axion.enabled = made.axion_joint.enabled = False
    for key in [key for key in list(made.keys()) if key.startswith("axion_")]:
        del made[key]
    return made


def _mesh(name, places, attributes, made):
    """A mesh with vertices at ``places`` (V, 3) and attributes {name: (type, values)}."""
    mesh = bpy.data.meshes.new(name)
    made[mesh] = name
    mesh.vertices.add(len(places))
    for attribute in attributes:
        mesh.attributes.new(attribute, attributes[attribute][0], "POINT")
    # Not by ``vertices``, which takes them one by one.
    for attribute, (kind, values) in {"position": ("FLOAT_VECTOR", places), **attributes}.items():
        data = mesh.attributes[attribute].data
        data.foreach_set("vector" if kind == "FLOAT_VECTOR" else "value", np.ascontiguousarray(values).ravel())
    return mesh
