# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels.  They draw; whatever decides is in the operators."""

from . import physics, scene, sidebar

CLASSES = (*physics.CLASSES, *scene.CLASSES, *sidebar.CLASSES)

attach, detach = physics.attach, physics.detach
