# SPDX-License-Identifier: GPL-3.0-or-later
"""Damping of what joints leave free: motion of jointed bodies against each other dies at a rate the user sets.

    u  ->  u_ref + exp(-d h) (u - u_ref)          d: SolverConfig.joint_damping [1/s], h: step [s]

u_ref is the motion the group would have if its joints were welded: where it is joined to immovable bodies, theirs (the
mean of theirs, where they differ); where it flies free, the rigid motion of the same momentum and angular momentum, so
that both are kept.  Applied before joints are made rigid in velocity, so that motors and moving anchors have the last
word.  Exponential in time: the rate does not depend on the step.
"""

import numpy as np

from .components import connected_components
from .reference.rotation import cross
from .rigid_groups import RigidGroups


def damp_joints(velocity, bodies, links, pose, decay):
    """Damped copy of ``velocity``; decay: exp(-d h), the rest as in ``group_motion``."""
    reference, jointed = group_motion(velocity, bodies, links, pose)
    return np.where(jointed[:, None], reference + decay * (velocity - reference), velocity)


def group_motion(velocity, bodies, links, pose, before=None):
    """(n, 6) the u_ref of each body of a group, and (n,) bool which bodies are in one.

    Args:
        velocity: (n, 6) of the dynamic bodies at the step's end, world axes [m/s, rad/s].
        bodies: problem.Bodies; immovable ones move by their ``velocity``.
        links: body numbers of both ends of every joint, (R,) and (R,).
        pose: position (B, 3) and orientation (B, 4) of the solver frames at the step's end.
        before: the pose in which ``velocity`` has the momenta; None: the same.
    """
    n, position = bodies.dynamic_count, np.asarray(pose[0], float)
    a, b = links
    free = (a < n) & (b < n)
    group = connected_components(n, a[free], b[free])
    count = int(group.max()) + 1 if n else 0
    jointed = np.zeros(count, bool)
    for side in links:
        jointed[group[side[side < n]]] = True
    before = None if before is None else (before[0][:n], before[1][:n])
    reference = _rigid_motion(velocity, bodies, group, (position[:n], pose[1][:n]), before)
    inner, outer = np.minimum(a, b), np.maximum(a, b)
    held = (inner < n) & (outer >= n)
    anchored = np.bincount(group[inner[held]], minlength=count)[group] > 0
    reference[anchored] = _anchor_motion(bodies, group, count, position, inner[held], outer[held])[anchored]
    return reference, jointed[group]


def _rigid_motion(velocity, bodies, group, pose, before):
    """(n, 6) of each body in a pose, were its group one rigid body of the momenta it has there, or ``before``."""
    n = len(group)
    groups = whose = RigidGroups(group, bodies.mass[:n], bodies.inertia[:n], *pose)
    if before is not None:
        whose = RigidGroups(group, bodies.mass[:n], bodies.inertia[:n], *before)
    motion = groups.turning(whose.momentum(velocity))
    motion[:, :3] += whose.mean(velocity)
    return motion


def _anchor_motion(bodies, group, count, position, inner, outer):
    """(n, 6) of each body, were it part of the immovable bodies its group hangs on; zero where there is none."""
    n = len(group)
    number = group[inner]
    known = bodies.velocity[outer]
    at_origin = known[:, :3] - cross(
        known[:, 3:], position[outer]
    )  # velocity of the anchor's field at the world origin
    field = np.zeros((count, 6))
    np.add.at(field, number, np.hstack([at_origin, known[:, 3:]]))
    field /= np.maximum(np.bincount(number, minlength=count), 1)[:, None]
    return np.hstack([field[group, :3] + cross(field[group, 3:], position[:n]), field[group, 3:]])
