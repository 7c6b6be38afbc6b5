# SPDX-License-Identifier: GPL-3.0-or-later
"""Animated native properties: keys and drivers that Axion can read as well move over, the others are noted."""

from dataclasses import dataclass

from .. import compat


def animated(owner, prefix):
    """[(F-curve, its channelbag or None for a driver)] of ``owner`` (an ID) whose path starts with ``prefix``."""
    found = [(curve, bag) for bag in compat.channelbags(owner) for curve in bag.fcurves]
    found += [(driver, None) for driver in compat.drivers_of(owner)]
    return [(curve, bag) for curve, bag in found if curve.data_path.startswith(prefix) and not curve.mute]


@dataclass(frozen=True)
class Target:
    """An Axion property that can be animated: its path, a factor 1 or -1, and frames by which keys move."""

    path: str
    factor: int = 1
    shift: int = 0


def carry(item, prefix, targets, entry):
    """Move the animation of native properties over.

    prefix: "rigid_body." or the like.  targets: {native name: Target} of what can be animated in Axion.  Everything
    else gets a note.
    """
    for curve, bag in animated(item, prefix):
        name = curve.data_path.removeprefix(prefix)
        verb = "animates" if bag is not None else "drives"
        if name not in targets:
            if not entry.noted(name):
                entry.lost(name, f"{verb} {name}, which is read at the first frame only")
        elif bag is None:
            _carry_driver(item, curve, targets[name])
            _mention_delay(name, targets[name], entry)
        elif not bag.id_data.is_editable:
            entry.lost(name, f"animates {name} by a linked action, which cannot take more keys: make the action local")
        elif len(curve.modifiers) and not compat.copies_curve_modifiers(bag):
            entry.lost(name, f"animates {name} with modifiers on its curve: bake the curve to keys first")
        elif len(curve.modifiers) and targets[name].factor < 0:
            entry.lost(name, f"animates {name} with modifiers on its curve, whose sign turns: bake the curve to keys")
        else:
            movable = bag == compat.channelbag(item) and not len(curve.modifiers)  # else time is not the curve's own
            _carry_curve(curve, bag, targets[name], targets[name].shift if movable else 0)
            if not movable:
                _mention_delay(name, targets[name], entry)


def _carry_curve(curve, bag, target, shift):
    made = compat.copy_curve(bag, curve, target.path)
    for key in made.keyframe_points:
        ends = key.handle_left.copy(), key.co.copy(), key.handle_right.copy()
        left, middle, right = ((end.x + shift, target.factor * end.y) for end in ends)
        key.co, key.handle_left, key.handle_right = middle, left, right
    made.update()


def _mention_delay(name, target, entry):
    if target.shift:
        entry.changed(
            name, f"animates {name}, which Blender heeds {-target.shift} frame before: Axion at the frame itself"
        )


def _carry_driver(item, curve, target):
    old = item.animation_data.drivers.find(target.path)
    if old is not None:
        item.animation_data.drivers.remove(old)
    made = item.animation_data.drivers.from_existing(src_driver=curve)
    made.data_path = target.path
    if target.factor < 0:
        made.modifiers.new("GENERATOR").coefficients = (0.0, -1.0)
