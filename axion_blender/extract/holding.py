# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether keys of location and rotation will hold what the simulation makes of a body: its size must stay as it is.

Constraints that scale, and parents that grow or are stretched, are known before anything is solved.
"""

import numpy as np

from ...solver import SceneError
from .. import compat
from . import motion

DEFECT = 1e-3
"""How far a rotation may be from orthonormal, beyond float32 noise; and how far a scale may change, relative to it."""
SCALING = {
    *("COPY_SCALE", "LIMIT_SCALE", "MAINTAIN_VOLUME", "TRANSFORM", "TRANSFORM_CACHE", "COPY_TRANSFORMS", "CHILD_OF"),
    *("STRETCH_TO", "ACTION", "ARMATURE"),
}
"""Constraints that can change an object's size."""
PLACING = ("VERTEX", "VERTEX_3")
"""Kinds of parents that place and turn their children but do not scale them."""


CARRYING = {"CHILD_OF", "FOLLOW_PATH", "ARMATURE"}
"""Constraints that carry an object along as it stands by its own channels, as a parent does."""


def active(item):
    """Constraints of an object that act on it, or may when their influence is animated, a list."""
    paths = compat.played_paths(item) if item.constraints and compat.is_animated(item) else ()
    return [
        constraint
        for constraint in item.constraints
        if not constraint.mute
        and (constraint.influence > 0.0 or f'constraints["{constraint.name}"].influence' in paths)
    ]


def space(evaluated, carried=False):
    """What stands between an object's own channels and the world (4, 4), but for its constraints.

    carried: with those that carry it, and with all of them at frames at which it is held on its animation: then its
    channels come out as they are.
    """
    if carried and evaluated.constraints:
        acting = [
            constraint for constraint in evaluated.constraints if not constraint.mute and constraint.influence > 0
        ]
        held = motion.stands(evaluated) or evaluated.axion.kinematic
        if acting and (held or all(constraint.type in CARRYING for constraint in acting)):
            return np.array(evaluated.matrix_world) @ np.linalg.inv(np.array(evaluated.matrix_basis))
    parent = evaluated.parent
    if parent is None:
        return np.eye(4)
    if motion.has_plain_parent(evaluated):
        return np.array(parent.matrix_world) @ np.array(evaluated.matrix_parent_inverse)
    return np.array(evaluated.matrix_world) @ np.linalg.inv(np.array(evaluated.matrix_basis))  # bone, vertex, path


def defect(turned):
    """How far rotations (..., 3, 3) are from orthonormal, (...)."""
    return np.abs(np.swapaxes(turned, -1, -2) @ turned - np.eye(3)).max(axis=(-2, -1))


def resizers(item):
    """Names of the constraints of an object that can change its size, those that are known to first, as words."""
    acting = active(item)
    known = [constraint for constraint in acting if constraint.type in SCALING]
    return ", ".join(constraint.name for constraint in known or acting)


def check(item, depsgraph, first, last, warnings):
    """Looks at a body that will get keys, at the first frame.  Raises SceneError where they cannot hold its motion;
    adds to ``warnings`` where they cannot once it turns.
    """
    if item.constraints:
        _check_constraints(item, item.evaluated_get(depsgraph))
    if item.parent is None:
        return
    _check_parents(item, first, last)
    linear = space(item.evaluated_get(depsgraph))[:3, :3]
    size = np.cbrt(abs(np.linalg.det(linear)))
    if size > 0.0 and defect(linear / size) >= DEFECT:
        warnings.append(
            f"{item.name}: the scale of its parent {item.parent.name} differs by axis, so keys cannot hold its motion "
            "where it turns, and the bake would be refused at its end: apply the parent's scale or clear the parent"
        )


def _check_constraints(item, evaluated):
    scale = np.multiply(item.scale, item.delta_scale)
    above = space(evaluated)
    if not scale.all() or abs(np.linalg.det(above)) == 0.0:
        return  # refused in words of its own
    basis = np.linalg.inv(above) @ np.array(evaluated.matrix_world)
    off = defect(basis[:3, :3] / scale)
    if off >= DEFECT:
        raise SceneError(
            f"{item.name}: its constraints ({resizers(item)}) change its size by {off:.2g} (limit {DEFECT:g}), which "
            "keys of location and rotation cannot hold: mute them and scale the object itself, or choose the output "
            "Point Instances"
        )


def _check_parents(item, first, last):
    child, parent = item, item.parent
    while parent is not None and child.parent_type not in PLACING and not motion.may_be_free(parent):
        for path, change, frame in motion.changes_of_scale(parent, first, last):
            if change > DEFECT:
                raise SceneError(
                    f"{item.name}: the {path} of its parent {parent.name} is animated and changes by {change:.2g} at "
                    f"frame {frame} (limit {DEFECT:g}), which keys of location and rotation cannot hold: remove that "
                    "animation, clear the parent, or choose the output Point Instances"
                )
        child, parent = parent, parent.parent
