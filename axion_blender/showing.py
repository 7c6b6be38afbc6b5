# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender evaluates no object that is disabled in viewports, whoever disables it: it stays where it was last seen."""

from contextlib import contextmanager

from . import compat

PATH = "hide_viewport"


@contextmanager
def shown(view_layer, objects):
    """A context in which Blender evaluates ``objects`` of a ViewLayer at every frame; puts back what it changes."""
    wanted = set(objects)
    hidden = [item for item in wanted if item.hide_viewport]
    for collection in view_layer.id_data.collection.children_recursive:
        if collection.hide_viewport and not wanted.isdisjoint(collection.all_objects):
            hidden.append(collection)
    # What hides them at some frames would do so again at the next.
    changes = [(curve, "mute", True) for item in wanted for curve in _hiding(item) if not curve.mute]
    changes += [(owner, PATH, False) for owner in hidden]
    try:
        _set(view_layer, changes)
        yield
    finally:
        _set(view_layer, [(owner, name, not value) for owner, name, value in changes])


def _set(view_layer, changes):
    """Set properties, (owner, name, value) each, and have a ViewLayer evaluated with them."""
    for owner, name, value in changes:
        setattr(owner, name, value)
    if changes:
        view_layer.update()


def _hiding(item):
    """F-curves, those of drivers too, that animate whether an object is disabled in viewports."""
    if not compat.is_animated(item):
        return []
    curves = [curve for bag in compat.channelbags(item) for curve in bag.fcurves] + compat.drivers_of(item)
    return [curve for curve in curves if curve.data_path == PATH]
