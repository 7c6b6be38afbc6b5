# SPDX-License-Identifier: GPL-3.0-or-later
"""A baked scene to other programs: USD and Alembic by Blender's own exporters, and the trajectory itself as .npz."""

from contextlib import contextmanager

import bpy

from ...solver import SceneError
from . import keyframes, points

FORMATS = {"NPZ": ".npz", "USD": ".usdc", "ALEMBIC": ".abc"}
"""Ends of file names."""

NAMES = {"USD": "USD", "ALEMBIC": "Alembic"}

_trajectories = {}


def remember(scene, trajectory):
    """Keep the trajectory of a scene's last bake for ``export``, until Blender ends."""
    _trajectories[scene.session_uid] = trajectory


def forget(scene):
    """Drop what ``remember`` kept."""
    _trajectories.pop(scene.session_uid, None)


def export(context, path, kind, first, last):
    """Write the baked bodies of a scene to ``path``.

    kind: a key of FORMATS.  first, last: frames.  Raises SceneError where there is no bake, or this Blender cannot
    write such files; OSError where the file cannot be written.
    """
    scene = context.scene
    if kind == "NPZ":
        if scene.session_uid not in _trajectories:
            raise SceneError(f"{scene.name} was not baked since the file was opened: bake it again")
        _trajectories[scene.session_uid].save(path)
        return
    option, operator = {"USD": ("usd", "usd_export"), "ALEMBIC": ("alembic", "alembic_export")}[kind]
    if not getattr(bpy.app.build_options, option) or operator not in dir(bpy.ops.wm):
        raise SceneError(f"this Blender was built without {NAMES[kind]}: use one that has it")
    items = [item for item in scene.objects if keyframes.holds(item) or points.OWNER in item]
    if not items:
        raise SceneError(f"{scene.name} holds no bake: bake it first")
    with _selected(context.view_layer, items), _range(scene, first, last):
        if kind == "USD":
            bpy.ops.wm.usd_export(filepath=path, selected_objects_only=True, export_animation=True)
        else:
            bpy.ops.wm.alembic_export(filepath=path, selected=True, start=first, end=last, as_background_job=False)


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
