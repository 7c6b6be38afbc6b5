# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels and menus.  They draw; whatever decides is in the operators."""

from . import joint, lists, menu, physics, presets, scene, sidebar

CLASSES = (
    *presets.CLASSES,
    *physics.CLASSES,
    *joint.CLASSES,
    *scene.CLASSES,
    *lists.CLASSES,
    *sidebar.CLASSES,
    *menu.CLASSES,
)


def attach():
    """Add to Blender's own panels and menus."""
    physics.attach()
    menu.attach()


def detach():
    """Take it away again, the last first."""
    menu.detach()
    physics.detach()
