# SPDX-License-Identifier: GPL-3.0-or-later
"""What gives bodies other shapes than that of the first frame: time, and objects that the simulation moves."""

import bpy
import numpy as np

from .. import compat
from . import geometry, motion

LOOKS = 8
"""Frames after the first, at most, at which the shape of a body that the simulation moves is looked at."""


def go_to(scene, view_layer, frame):
    """Set the frame.  Returns the full names of the objects whose shape may change with it, a set.

    Blender knows: it makes the shapes anew that depend on time in any way, be it by the animation of a texture, or of
    the shape keys of an object that a modifier's target takes its shape from.
    """
    found = set()

    def note(_, depsgraph):
        if depsgraph.view_layer.name == view_layer.name:
            found.update(update.id.original.name_full for update in depsgraph.updates if _is_reshaped(update))

    view_layer.update()  # what was edited since the last one is not counted
    handlers = bpy.app.handlers.frame_change_post
    handlers.append(note)
    try:
        scene.frame_set(frame)
    finally:
        handlers.remove(note)
    return found


def _is_reshaped(update):
    return update.is_updated_geometry and isinstance(update.id, bpy.types.Object)


def deforming(scene, depsgraph, items, first, last):
    """Sentences on ``items``, whose shape may change with the frame and is that of the first one to the simulation,
    where it does change; a generator.

    Begins at frame ``first`` and returns there; the frames between are looked at only where there are such objects.
    """
    starts = {item: geometry.read_vertices(item, depsgraph) for item in items}
    found = {}
    for frame in np.unique(np.linspace(first, last, LOOKS + 1).astype(int))[1:].tolist():
        if len(found) == len(starts):
            break
        yield 0.0
        scene.frame_set(frame)
        for item, start in starts.items():
            if item not in found and _differs(geometry.read_vertices(item, depsgraph), start):
                found[item] = frame
    if starts:
        scene.frame_set(first)
    return [
        f"{item.name} has a mesh that deforms, as at frame {frame}: its shape stays that of the first frame"
        for item, frame in found.items()
    ]


def _differs(vertices, start):
    """Whether vertices (V, 3) are others than at the start, beyond what counts as rigid."""
    if vertices.shape != start.shape:
        return True
    size = np.ptp(start, axis=0).max(initial=0.0) if len(start) else 0.0
    return not np.abs(vertices - start).max(initial=0.0) <= motion.RIGID * size


def warnings(items):
    """Sentences on bodies that stand or are held, but have a shape that follows a body which the simulation moves."""
    found = []
    for item in items:
        if not motion.stands(item) and not motion.may_be_held(item):
            continue
        makers = [(f"its modifier {modifier.name}", modifier) for modifier in item.modifiers if modifier.show_viewport]
        if item.type in ("CURVE", "FONT"):
            makers.append(("its curve", item.data))
        for words, maker in makers:
            moved = next((other for other in _named_by(maker) if other != item and motion.may_be_free(other)), None)
            if moved is not None:
                found.append(
                    f"{item.name}: {words} follows {moved.name}, which the simulation moves: it collides with the "
                    "shape that it has at the first frame"
                )
    return found


def _named_by(maker):
    """Objects that a modifier or a curve refers to, itself or by a collection, a list."""
    found = [getattr(maker, prop.identifier) for prop in maker.bl_rna.properties if prop.type == "POINTER"]
    if getattr(maker, "node_group", None) is not None:
        found += compat.node_inputs(maker)
        for node in maker.node_group.nodes:
            found += [getattr(socket, "default_value", None) for socket in node.inputs]
    within = [item for group in found if isinstance(group, bpy.types.Collection) for item in group.all_objects]
    return [item for item in (*found, *within) if isinstance(item, bpy.types.Object)]
