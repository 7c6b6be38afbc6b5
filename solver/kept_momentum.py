# SPDX-License-Identifier: GPL-3.0-or-later
"""What of the motion of a group its momenta tell, and what mends its energy must leave alone.

Each momentum that a group keeps is that of a motion which joints and weight leave free whatever the pose (Noether), and
the part of its velocity along all of them together is what has those momenta with the least energy:

    flies                          its motion as one rigid body
    hangs from one point           the turn about the line of the pull through it
    hangs on straight guides       the drift of its centre of mass along them
    each body, besides             the spin about an axis of equal inertia around it that no joint turns it about

The rest is orthogonal to them in energy, and scaling that changes none of them.
"""

import numpy as np

from .components import anchored, joint_groups
from .copies import replace
from .flags import some
from .problem import Coordinate
from .reference.rotation import cross, dot, matrix, rotate, world_inertia
from .reference.rows import jacobians
from .rigid_groups import RigidGroups
from .topology import groups_with
from .vectors import length, moved

SAME = 1e-6  # [m] that anchors at one point may be apart
EQUAL = 1e-6  # of a principal moment, by which two may differ that are equal
ALONG = 1e-3  # [rad], or of the radius of gyration, by which a joint may turn a body about an axis it leaves free


def by_momenta(velocity, assembly, solution, wanted, spins):
    """(n, 6) ``velocity`` (n, 6) at the end of a StepSolution with free spins as they were, and (n, 6) the part of it
    that has the momenta, of islands, those ``wanted`` (islands,) bool.

    What joints lack at the end they push along its directions, and not along those of the way, which takes some of the
    spin of what they hold: the rest of the group has got it.  spins: (islands,) bool, those whose spin is known.
    """
    pose, bodies, island = (solution.position, solution.orientation), assembly.problem.bodies, assembly.island
    n, count, out = bodies.dynamic_count, len(wanted), np.zeros_like(velocity)
    held = rows, *_ = _holding(assembly, solution, pose, wanted)
    free = _free_spins(assembly, solution, held)
    axes, short, alone = matrix(pose[1][:n]), None, some(free.ravel())
    if alone:  # those spins are told apart, and are no part of the others
        short = np.where(free & spins[island, None], _spins(bodies, assembly.end_velocity) - _own(axes, velocity), 0.0)
        given = np.einsum("nij,nj->ni", axes, bodies.inertia[:n] * short)
        inertia = bodies.inertia.copy()
        inertia[:n][free] = 0.0
        bodies = replace(bodies, inertia=inertia)
    else:
        given = np.zeros((n, 3))
    hangs, back = groups_with(island, anchored(assembly.joint_links, n), count), np.zeros_like(velocity)
    if some(wanted & ~hangs):
        flies = ~hangs[island]
        label = joint_groups(assembly.joint_links, n)[:n]
        groups = RigidGroups(label, bodies.mass[:n], bodies.inertia[:n], pose[0][:n], pose[1][:n])
        motion = groups.turning(groups.momentum(velocity))
        motion[:, :3] += groups.mean(velocity)
        out[flies] = motion[flies]
        if alone:
            back[flies] = groups.turning(groups.total(given))[flies]
    if some(wanted & hangs):
        point, pivots = _pivots(rows, n, island, count, pose)
        if some(pivots & wanted):
            turns = _turning(velocity, assembly, (bodies, pose), point, given)
            out, back = (
                np.where(pivots[island][:, None], new, old) for new, old in zip(turns, (out, back), strict=True)
            )
        guided = hangs & ~pivots
        if some(guided & wanted) and some(guided := guided & ~_stuck(assembly.problem.joints, n, island, count)):
            out[:, :3] += _drift(velocity, bodies, held, island, guided)
    if alone:
        along = np.where(free, _own(axes, velocity - out), 0.0)
        out[:, 3:] += np.einsum("nij,nj->ni", axes, along)
        along = np.where(free, _own(axes, back), 0.0) + short
        back[:, 3:] -= np.einsum("nij,nj->ni", axes, along)
        out, velocity = out - back, velocity - back
    return velocity, out


def _spins(bodies, end_velocity):
    """(n, 3) [rad/s] about the principal axes as free motion has them."""
    return _own(matrix(bodies.free_orientation[: bodies.dynamic_count]), end_velocity)


def _own(axes, velocity):
    """(n, 3) [rad/s] about ``axes`` (n, 3, 3), in columns, of velocities (n, 6)."""
    return np.einsum("nji,nj->ni", axes, velocity[:, 3:])


def _holding(assembly, solution, pose, wanted):
    """JointRows of the islands ``wanted`` that act or hold both ways, and their Jacobians (R, 6), (R, 6) at the end."""
    rows = assembly.problem.joints
    acts = (solution.joint_impulse != 0.0) | (np.isinf(rows.lower) & np.isinf(rows.upper))
    rows = rows.take(np.flatnonzero(acts & wanted[assembly.island[np.minimum(rows.body_a, rows.body_b)]]))
    return rows, *jacobians(rows, *pose)


def _free_spins(assembly, solution, held):
    """(n, 3) bool: principal axes of bodies, the moments about the other two equal, that nothing turns them about.

    held: as ``_holding`` gives it.
    """
    (rows, *directions), bodies, n = held, assembly.problem.bodies, assembly.problem.bodies.dynamic_count
    inertia, orientation, contacts = bodies.inertia[:n], solution.orientation, assembly.problem.contacts
    one, other = np.roll(inertia, -1, axis=1), np.roll(inertia, 1, axis=1)
    free = np.abs(one - other) <= EQUAL * one
    if len(contacts):
        pushed = np.zeros(len(bodies.mass), bool)
        for body in (contacts.body_a, contacts.body_b):
            pushed[body[moved(solution.contact_impulse)]] = True
        free[pushed[:n]] = False
    gyration = np.sqrt(inertia / bodies.mass[:n, None])
    linear, twist = ~_turns(rows), rows.coordinate == int(Coordinate.TWIST)
    sides = (rows.body_a, rows.anchor_a, directions[0]), (rows.body_b, rows.anchor_b, directions[1])
    for body, anchor, j in sides:
        ours = np.flatnonzero(body < n)
        body, along = body[ours], anchor[ours] ** 2
        aside = np.sqrt(along.sum(axis=1)[:, None] - along)  # of each axis: what is straight below one is not on it
        about = np.abs(np.einsum("rji,rj->ri", matrix(orientation[body]), j[ours, 3:]))
        far = np.maximum(about, aside) > ALONG * gyration[body]
        turned = np.where(linear[ours, None], far, (about > ALONG) | twist[ours, None])
        for axis in range(3):
            free[body[turned[:, axis]], axis] = False
    return free


def _turning(velocity, assembly, placed, point, given):
    """(n, 6) motion of each body about the line of the pull through the ``point`` (islands, 3) its island hangs from,
    and (n, 6) that of the angular momenta ``given`` (n, 3).

    placed: Bodies and their pose.
    """
    (bodies, pose), island, count = placed, assembly.island, len(point)
    n = bodies.dynamic_count
    arm, turn = pose[0][:n] - point[island], pose[1][:n]
    inertia, mass = world_inertia(turn, bodies.inertia[:n]), bodies.mass[:n]

    def total(values):
        return np.stack([np.bincount(island, column, count) for column in values.T], axis=1)

    spin = np.einsum("nij,nj->ni", inertia, velocity[:, 3:]) + mass[:, None] * cross(arm, velocity[:, :3])
    spin, pull = total(spin), total(mass[:, None] * (assembly.end_velocity[:, :3] - bodies.velocity[:n, :3]))
    axis = np.where(pull.any(axis=1)[:, None], pull, spin)
    axis /= np.maximum(length(axis), 1e-300)[:, None]
    own = axis[island]
    about = np.einsum("ni,nij,nj->n", own, inertia, own) + mass * length(cross(own, arm)) ** 2
    resists = np.maximum(np.bincount(island, about, count), 1e-300)
    turning = ((dot(axis, momentum) / resists)[island, None] * own for momentum in (spin, total(given)))
    return tuple(np.hstack([cross(rate, arm), rate]) for rate in turning)


def _pivots(rows, n, island, count, pose):
    """(islands, 3) a point from which each may hang, and (islands,) bool: those that do so from that one alone."""
    point, found = np.zeros((count, 3)), np.zeros(count, bool)
    held = np.maximum(rows.body_a, rows.body_b) >= n
    place, own = np.zeros((len(held), 3)), island[np.minimum(np.minimum(rows.body_a, rows.body_b), n - 1)]
    for body, anchor in ((rows.body_a, rows.anchor_a), (rows.body_b, rows.anchor_b)):
        still = body >= n
        place[still] = pose[0][body[still]] + rotate(pose[1][body[still]], anchor[still])
    point[own[held]], found[own[held]] = place[held], True
    other = rows.coordinate != int(Coordinate.LINEAR)
    found[own[held & (other | (length(place - point[own]) > SAME))]] = False
    return point, found


def _stuck(rows, n, island, count):
    """(islands,) bool: those held to what does not move along directions that turn with the bodies, or by lengths,
    slack as they may be: what is owed when they come so is paid in flight.
    """
    linear, angular = rows.coordinate == int(Coordinate.LINEAR), _turns(rows)
    held, own = np.maximum(rows.body_a, rows.body_b) >= n, np.minimum(rows.body_a, rows.body_b)
    locked = np.bincount(own[held & angular], minlength=n) >= 3  # their axes do not turn either
    steady = (linear & ((rows.body_a >= n) | locked[own])) | angular
    return groups_with(island, own[held & ~steady], count)


def _turns(rows):
    """(R,) bool: rows of angles alone."""
    return (rows.coordinate == int(Coordinate.DOT)) | (rows.coordinate == int(Coordinate.TWIST))


def _drift(velocity, bodies, held, island, guided):
    """(n, 3) mean velocity of each body's island along what holds none of it, of those ``guided`` (islands,) bool."""
    (rows, j_a, j_b), n, count = held, bodies.dynamic_count, len(guided)
    across, mass = np.zeros((count, 3, 3)), bodies.mass[:n]
    own, other = np.minimum(rows.body_a, rows.body_b), np.maximum(rows.body_a, rows.body_b)
    which = np.flatnonzero(other >= n)
    j = np.where((rows.body_a < n)[:, None], j_a, j_b)[which, :3]
    np.add.at(across, island[own[which]], j[:, :, None] * j[:, None, :])
    value, direction = np.linalg.eigh(across)
    along = np.einsum("kij,kj,klj->kil", direction, (value < EQUAL) & guided[:, None], direction)
    mean = np.stack([np.bincount(island, mass * column, count) for column in velocity[:, :3].T], axis=1)
    mean /= np.bincount(island, mass, count)[:, None]
    return np.einsum("kij,kj->ki", along, mean)[island]
