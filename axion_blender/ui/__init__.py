# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels and menus.  They draw; whatever decides is in the operators."""

from . import (
    anchor_gizmos,
    frame_gizmos,
    joint,
    limit_gizmos,
    lists,
    menu,
    motion,
    native,
    overlays,
    physics,
    presets,
    report_graph,
    scene,
    sidebar,
)

CLASSES = (
    *presets.CLASSES,
    *physics.CLASSES,
    *motion.CLASSES,
    *joint.CLASSES,
    *scene.CLASSES,
    *lists.CLASSES,
    *sidebar.CLASSES,
    *native.CLASSES,
    *menu.CLASSES,
    *overlays.CLASSES,
    *report_graph.CLASSES,
    *frame_gizmos.CLASSES,
    *limit_gizmos.CLASSES,
    *anchor_gizmos.CLASSES,
)


def attach():
    """Add to Blender's own panels and menus."""
    physics.attach()
    menu.attach()
    overlays.attach()


def detach():
    """Take it away again, the last first."""
    overlays.detach()
    menu.detach()
    physics.detach()
