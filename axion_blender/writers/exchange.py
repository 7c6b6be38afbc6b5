# SPDX-License-Identifier: GPL-3.0-or-later
"""A baked scene to other programs: USD and Alembic by Blender's own exporters, and the trajectory itself as .npz."""

import os
from contextlib import contextmanager

import bpy

from ...solver import SceneError
from .. import compat, kept_motion
from ..report import listed
from ..showing import shown
from . import hiding, keyframes, players, points

FORMATS = {"NPZ": ".npz", "USD": ".usdc", "ALEMBIC": ".abc"}
"""Ends of file names."""

ENDINGS = {"USD": (".usdc", ".usda", ".usd", ".usdz"), "ALEMBIC": (".abc",)}
"""That Blender's exporters know."""

NAMES = {"USD": "USD", "ALEMBIC": "Alembic"}


def export(context, path, kind, first, last):
    """Write the baked bodies of a scene to ``path``.

    path: absolute.  kind: a key of FORMATS.  first, last: frames.  Returns warnings.  Raises SceneError where there is
    no bake, its motion is not kept, this Blender cannot write such files, or the file cannot be written.
    """
    scene = context.scene
    # What is there and no file, such as /dev/null, would be replaced by one.
    if not os.path.isdir(os.path.dirname(path)) or (os.path.exists(path) and not os.path.isfile(path)):
        raise SceneError(f"{path} cannot be written: give an existing folder and the name of a file")
    if kind == "NPZ":
        motion = kept_motion.find(scene)
        try:
            motion.save(path)
        except OSError as error:
            raise _unwritten(path, error.strerror or error) from error
        return []
    option, operator = {"USD": ("usd", "usd_export"), "ALEMBIC": ("alembic", "alembic_export")}[kind]
    if not getattr(bpy.app.build_options, option) or operator not in dir(bpy.ops.wm):
        raise SceneError(f"this Blender was built without {NAMES[kind]}: use one that has it")
    if os.path.splitext(path)[1].lower() not in ENDINGS[kind]:
        raise SceneError(f"{path} is no name for {NAMES[kind]}: end it with {' or '.join(ENDINGS[kind])}")
    items = [item for item in scene.objects if keyframes.holds(item) or players.OWNER in item]
    if not items:
        raise SceneError(f"{scene.name} holds no bake: bake it first")
    layer = context.view_layer
    inside = set(layer.objects)
    unrendered = _unrendered(scene, items)  # of which Alembic in Blender 4.5 writes some
    written = inside.difference(unrendered)
    seen = [item for item in items if item in written]
    with _selectable(layer, seen), _selected(layer, seen), _range(scene, first, last):
        before = _state(path)
        try:
            if kind == "USD":
                bpy.ops.wm.usd_export(filepath=path, selected_objects_only=True, export_animation=True)
            else:
                bpy.ops.wm.alembic_export(filepath=path, selected=True, start=first, end=last, as_background_job=False)
        except RuntimeError as error:
            raise _unwritten(path, str(error).strip().removeprefix("Error: ")) from error
    if _state(path) == before:  # the exporters say that they are done even where they could not open the file
        raise _unwritten(path, f"Blender's {NAMES[kind]} exporter left no file")
    unseen = [item for item in items if item not in inside]
    behind = _unrendered(scene, [item for item in scene.objects if points.holds(item)])
    return _left_out(
        (unseen, f"excluded from the view layer {layer.name}", "include"),
        ([item for item in unrendered if item in inside], "disabled in renders", "enable"),
        (behind, "disabled in renders", "clear the bake, enable and bake"),
    )


def _unrendered(scene, items):
    """Those that renders leave out at all frames, as do the exporters, a list."""
    flags = hiding.hidden(scene, items)["hide_render"] if items else []
    found = [item for item, hidden in zip(items, flags, strict=True) if hidden]
    return [item for item in found if "hide_render" not in compat.animated_paths(item)]


def _left_out(*groups):
    """Sentences on objects that are not in a file, (objects, why, cure) each."""
    found = []
    for items, why, cure in groups:
        names = [item.name for item in items]
        if names:
            be, them = ("is", "it") if len(names) == 1 else ("are", "them")
            found.append(f"{listed(names, 3)} {be} {why} and not in the file: {cure} {them} to have {them} there")
    return found


def _unwritten(path, reason):
    return SceneError(f"{path} was not written, {reason}: choose another folder or name")


def _state(path):
    """What tells a file from the one that was there before, or None."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


@contextmanager
def _selectable(view_layer, items):
    """Objects that the viewport hides, in whatever way, cannot be selected: they are shown for a while."""
    wanted, changes = set(items), []
    eyes = [item for item in items if item.hide_get(view_layer=view_layer)]
    layers = [view_layer.layer_collection]
    for layer in layers:  # which grows
        layers += [inner for inner in layer.children if not wanted.isdisjoint(inner.collection.all_objects)]
        changes += [(owner, name) for owner, name in ((layer, "hide_viewport"), (layer.collection, "hide_select"))]
    changes = [(*change, getattr(*change)) for change in [*changes, *((item, "hide_select") for item in items)]]
    try:
        with shown(view_layer, items):
            for owner, name, value in changes:
                if value:
                    setattr(owner, name, False)
            for item in eyes:
                item.hide_set(False, view_layer=view_layer)
            yield
    finally:
        for item in eyes:
            item.hide_set(True, view_layer=view_layer)
        for owner, name, value in changes:
            if value:
                setattr(owner, name, True)


@contextmanager
def _selected(view_layer, items):
    before = [item for item in view_layer.objects if item.select_get(view_layer=view_layer)]
    items = set(items)
    try:
        for item in view_layer.objects:
            item.select_set(item in items, view_layer=view_layer)
        yield
    finally:
        for item in view_layer.objects:
            item.select_set(item in before, view_layer=view_layer)


@contextmanager
def _range(scene, first, last):
    before = scene.frame_start, scene.frame_end, scene.frame_current, scene.frame_subframe
    try:
        scene.frame_start, scene.frame_end = first, last
        yield
    finally:
        scene.frame_start, scene.frame_end = before[:2]
        scene.frame_set(before[2], subframe=before[3])
