# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion that all bodies of an island share, and that nothing outside of it may change.

Where a body rides on another that moves freely, what the two have beyond the energy that there is, or lack of it, is of
their motion past each other: of a bowl that slides on ice with a marble in it, the momentum along the ice stays, and of
one that flies with it the angular momentum, too.
"""

import numpy as np

from .flags import places, some
from .reference.rows import jacobians
from .riders import riding_sides
from .rigid_groups import RigidGroups
from .topology import groups_with

FIRM = 1e-6  # of the largest: singular values of what holds an island below that are rounding


def shared_motion(assembly, solution, velocity):
    """(n, 6) the velocity that each body shares with its island, of ``velocity`` (n, 6) past what carries the island; 0
    where nothing glides that rides on what moves freely.  None: there is no such island.
    """
    problem, bodies, contacts = assembly.problem, assembly.problem.bodies, assembly.problem.contacts
    rides = None if contacts.glides is None else riding_sides(contacts, bodies)[2]
    if rides is None or not some(rides & contacts.glides):
        return None
    n, island, out = bodies.dynamic_count, assembly.island, np.zeros_like(velocity)
    pose = solution.position, solution.orientation
    held_by, held = _holders(problem, solution, pose)
    for number in places(groups_with(island, contacts.body_a[rides & contacts.glides], len(assembly.island_jointed))):
        ours, holds = places(island == number), held[island[held_by] == number]
        group = np.zeros(len(ours), int)
        whole = RigidGroups(group, bodies.mass[:n][ours], bodies.inertia[:n][ours], *(part[ours] for part in pose))
        mean = whole.mean(velocity[ours])
        out[ours, :3] = mean
        if len(holds):
            _, size, axes = np.linalg.svd(holds, full_matrices=False)
            axes = axes[: np.count_nonzero(size > FIRM * size[0])] if size[0] > 0.0 else axes[:0]
            out[ours, :3] = mean - mean @ axes.T @ axes
        else:
            out[ours] += whole.turning(whole.momentum(velocity[ours]))
    return out


def _holders(problem, solution, pose):
    """(K,) dynamic bodies that something outside holds, and (K, 3) world directions in which it may push them."""
    n, contacts, rows = problem.bodies.dynamic_count, problem.contacts, problem.joints
    own, other = np.minimum(contacts.body_a, contacts.body_b), np.maximum(contacts.body_a, contacts.body_b)
    index = places((own < n) & (other >= n) & (solution.contact_impulse[:, 0] > 0.0))
    normal = contacts.normal[index]
    rough = own[index[contacts.friction[index] > 0.0]]
    bodies, along = [own[index], np.repeat(rough, 3)], [normal, np.tile(np.eye(3), (len(rough), 1))]
    if len(rows):
        sides = (rows.body_a, rows.body_b), (rows.body_b, rows.body_a)
        for body, end, each in zip(*sides, jacobians(rows, *pose), strict=True):
            ties = places((body < n) & (end >= n))
            bodies.append(body[ties])
            along.append(each[ties, :3])
    return np.concatenate(bodies), np.concatenate(along)
