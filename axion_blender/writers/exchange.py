# SPDX-License-Identifier: GPL-3.0-or-later
"""A baked scene to other programs: USD and Alembic by Blender's own exporters, and the trajectory itself as .npz."""

import os
from contextlib import contextmanager

import bpy

from ...solver import SceneError
from .. import kept_motion
from . import keyframes, players

FORMATS = {"NPZ": ".npz", "USD": ".usdc", "ALEMBIC": ".abc"}
"""Ends of file names."""

ENDINGS = {"USD": (".usdc", ".usda", ".usd", ".usdz"), "ALEMBIC": (".abc",)}
"""That Blender's exporters know."""

NAMES = {"USD": "USD", "ALEMBIC": "Alembic"}


def export(context, path, kind, first, last):
    """Write the baked bodies of a scene to ``path``.

    path: absolute.  kind: a key of FORMATS.  first, last: frames.  Raises SceneError where there is no bake, its
    motion is not kept, this Blender cannot write such files, or the file cannot be written.
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
        return
    option, operator = {"USD": ("usd", "usd_export"), "ALEMBIC": ("alembic", "alembic_export")}[kind]
    if not getattr(bpy.app.build_options, option) or operator not in dir(bpy.ops.wm):
        raise SceneError(f"this Blender was built without {NAMES[kind]}: use one that has it")
    if os.path.splitext(path)[1].lower() not in ENDINGS[kind]:
        raise SceneError(f"{path} is no name for {NAMES[kind]}: end it with {' or '.join(ENDINGS[kind])}")
    items = [item for item in scene.objects if keyframes.holds(item) or players.OWNER in item]
    if not items:
        raise SceneError(f"{scene.name} holds no bake: bake it first")
    with _selected(context.view_layer, items), _range(scene, first, last):
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
def _selected(view_layer, items):
    before = [item for item in view_layer.objects if item.select_get(view_layer=view_layer)]
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
