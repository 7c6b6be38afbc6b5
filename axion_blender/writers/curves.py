# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked F-curves beside the ones they stand in for, in one channelbag.

Baked curves form the group "Axion Bake".  What they replace is neither copied nor deleted but renamed to a path that
leads nowhere, so keys, handles, modifiers and order come back bit for bit.  Editors go on showing it, so it is locked
meanwhile.  A bag is in one of three states:

    plain     no baked curves
    baked     baked curves at "location" and a rotation; the originals, locked, at ASIDE + their path
    hidden    the originals at their path; the baked curves at HIDDEN + theirs
"""

import numpy as np

from .. import compat

GROUP = "Axion Bake"
LINEAR = 1  # BEZIER would overshoot at impacts, CONSTANT would give motion blur nothing to blur
VECTOR = 2  # handles along the lines, so that who makes them BEZIER after all sees no overshoot either
KEYS = {"interpolation": LINEAR, "handle_left_type": VECTOR, "handle_right_type": VECTOR}
ASIDE = {False: "axion_before_bake.", True: "axion_before_bake_locked."}
"""Says, too, whether the curve was locked before."""
HIDDEN = "axion_bake_hidden."


def new(bag, path, index, keys):
    """A new baked curve.  The group must exist, see ``prepare``.

    keys: (T, 2) float32, frame and value, frames ascending.
    """
    curve = bag.fcurves.new(path, index=index)
    curve.group = bag.groups[GROUP]
    curve.keyframe_points.add(len(keys))
    for name, value in KEYS.items():
        curve.keyframe_points.foreach_set(name, np.full(len(keys), value, np.int32))
    fill(curve, keys)
    return curve


def fill(curve, keys):
    """Give a baked curve other keys, as many as it has; as for ``new``."""
    points = curve.keyframe_points
    points.foreach_set("co", keys.ravel())
    points.handles_recalc()  # as ``curve.update()`` without sorting what is sorted


def copy(bag, curve):
    """A copy of a baked curve of another bag.  The group must exist, see ``prepare``."""
    if compat.copies_curve_modifiers(bag):
        bag.fcurves.new_from_fcurve(curve).group = bag.groups[GROUP]
        return
    keys = np.empty((len(curve.keyframe_points), 2), np.float32)
    curve.keyframe_points.foreach_get("co", keys.ravel())
    new(bag, curve.data_path, curve.array_index, keys)


def prepare(bag, paths):
    """Plain, or what is left of a bake -> baked, still without curves: set aside whatever animates ``paths``."""
    remove(bag)
    for curve in bag.fcurves:
        if curve.data_path in paths:
            _put_aside(curve)
    bag.groups.new(GROUP)


def aside(bag, path, index):
    """The curve that a bake has set aside, or None."""
    found = (bag.fcurves.find(before + path, index=index) for before in ASIDE.values())
    return next((curve for curve in found if curve is not None), None)


def _put_aside(curve):
    curve.data_path, curve.lock = ASIDE[curve.lock] + curve.data_path, True


def _put_back(curve, path):
    curve.lock, curve.data_path = curve.data_path.startswith(ASIDE[True]), path


def _set_aside(bag):
    """[(curve, its own path)] of what a bake has set aside."""
    return [
        (curve, curve.data_path.removeprefix(before))
        for curve in bag.fcurves
        for before in ASIDE.values()
        if curve.data_path.startswith(before)
    ]


def hide(bag):
    """Baked -> hidden; other bags stay as they are.  Returns whether it was one."""
    baked = [curve for curve in _grouped(bag) if not curve.data_path.startswith(HIDDEN)]
    for curve in baked:
        curve.data_path = HIDDEN + curve.data_path
    for curve, path in _set_aside(bag):
        stray = bag.fcurves.find(path, index=curve.array_index)
        if stray is not None:  # a baked curve that somebody took out of the group
            bag.fcurves.remove(stray)
        _put_back(curve, path)
    return bool(baked)


def show(bag):
    """Hidden -> baked; other bags stay as they are."""
    hidden = {curve.data_path.removeprefix(HIDDEN) for curve in _grouped(bag) if curve.data_path.startswith(HIDDEN)}
    for curve in bag.fcurves:
        if curve.data_path in hidden:
            _put_aside(curve)
    for curve in _grouped(bag):
        curve.data_path = curve.data_path.removeprefix(HIDDEN)


def remove(bag):
    """Baked or hidden -> plain."""
    hide(bag)
    for curve in _grouped(bag):
        bag.fcurves.remove(curve)
    group = bag.groups.get(GROUP)
    if group is not None:
        bag.groups.remove(group)


def keep(bag, group):
    """Baked or hidden -> plain, with the baked curves as its own in the group of that name; what was aside is gone."""
    show(bag)
    for curve, _ in _set_aside(bag):
        bag.fcurves.remove(curve)
    target, old = bag.groups.get(group), bag.groups.get(GROUP)
    if old is not None and target is None:
        old.name = group
        return
    for curve in _grouped(bag):
        curve.group = target
    old = bag.groups.get(GROUP)  # Blender drops a group that its last curve leaves
    if old is not None:
        bag.groups.remove(old)


def all_baked(bag):
    """Whether a bag holds nothing but baked curves."""
    return len(bag.groups) == 1 and bag.groups[0].name == GROUP and len(_grouped(bag)) == len(bag.fcurves)


def are_baked(bag):
    """Whether there are baked curves, hidden or not."""
    return bool(_grouped(bag))


def _grouped(bag):
    return [curve for curve in bag.fcurves if curve.group is not None and curve.group.name == GROUP]
