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

import operator
from collections import deque
from functools import cached_property

import numpy as np

from .components import anchored, joint_groups
from .copies import replace
from .energy import kinetic_energies
from .flags import every, places, some
from .pivot_turns import SPINS, THIN, turns_about
from .problem import Coordinate, frozen
from .reference.rotation import conjugate, cross, dot, matrix, rotate
from .reference.rows import jacobians
from .rigid_groups import RigidGroups
from .topology import groups_with
from .vectors import inner, length, moved

SAME = 1e-6  # [m] that anchors at one point may be apart
EQUAL = 1e-6  # of a principal moment, by which two may differ that are equal
ALONG = 1e-3  # [rad], or of the radius of gyration, by which a joint may turn a body about an axis it leaves free


def by_momenta(velocity, assembly, solution, wanted, spins):
    """(n, 6) ``velocity`` (n, 6) at the end of a StepSolution with free spins as they were, (n, 6) the part of it that
    has the momenta of islands, and (islands,) the energy of that [J]; of the islands ``wanted`` (islands,) bool.

    What joints lack at the end they push along its directions, and not along those of the way, which takes some of the
    spin of what they hold: the rest of the group has got it.  spins: (islands,) bool, those whose spin is known.
    """
    pose, bodies, island = (solution.position, solution.orientation), assembly.problem.bodies, assembly.island
    n, count, out = bodies.dynamic_count, len(wanted), np.zeros_like(velocity)
    held, hangs = (
        _Holding(assembly, solution, pose, wanted),
        groups_with(island, anchored(assembly.joint_links, n), count),
    )
    if some(wanted & hangs):
        point, pivots = _pivots(held.rows, n, island, count, pose)
        if not some(wanted & ~pivots):
            loose = _loose_axes(bodies, assembly.problem.joints)
            turns = turns_about(
                bodies, assembly.end_velocity, (pose, velocity), (island, point, pivots & wanted), loose
            )
            if not turns[-1]:
                return velocity, *turns[:2]
    free, given, back = _free_spins(velocity, assembly, solution, held), None, np.zeros_like(velocity)
    if free is not None:  # those spins are told apart, and are no part of the others
        axes = matrix(pose[1][:n])
        short = np.where(free & spins[island, None], _spins(bodies, assembly.end_velocity) - _own(axes, velocity), 0.0)
        given = np.einsum("nij,nj->ni", axes, bodies.inertia[:n] * short)
        inertia = bodies.inertia.copy()
        inertia[:n][free] = 0.0
        bodies = replace(bodies, inertia=inertia)
    if some(wanted & ~hangs):
        flies = ~hangs[island]
        label = joint_groups(assembly.joint_links, n)[:n]
        groups = RigidGroups(label, bodies.mass[:n], bodies.inertia[:n], pose[0][:n], pose[1][:n])
        motion = groups.turning(groups.momentum(velocity))
        motion[:, :3] += groups.mean(velocity)
        out[flies] = motion[flies]
        if given is not None:
            back[flies] = groups.turning(groups.total(given))[flies]
    if some(wanted & hangs):
        if some(pivots & wanted):
            turns, ours = _turning(velocity, assembly, (bodies, pose), point, given), pivots[island]
            if every(ours):
                out, back = turns
            else:
                out, back = (np.where(ours[:, None], new, old) for new, old in zip(turns, (out, back), strict=True))
        guided = hangs & ~pivots
        if some(guided & wanted) and some(guided := guided & ~_stuck(assembly.problem.joints, n, island, count)):
            out[:, :3] += _drift(velocity, bodies, held, island, guided)
    if free is not None:
        along = np.where(free, _own(axes, velocity - out), 0.0)
        out[:, 3:] += np.einsum("nij,nj->ni", axes, along)
        along = np.where(free, _own(axes, back), 0.0) + short
        back[:, 3:] -= np.einsum("nij,nj->ni", axes, along)
        out, velocity = out - back, velocity - back
    energy = kinetic_energies(assembly.problem.bodies, pose[1][:n], out)
    return velocity, out, np.bincount(island, energy, count)


def _spins(bodies, end_velocity):
    """(n, 3) [rad/s] about the principal axes as free motion has them."""
    return _own(matrix(bodies.free_orientation[: bodies.dynamic_count]), end_velocity)


def _own(axes, velocity):
    """(n, 3) [rad/s] about ``axes`` (n, 3, 3), in columns, of velocities (n, 6)."""
    return np.einsum("nji,nj->ni", axes, velocity[:, 3:])


class _Holding:
    """JointRows of some islands that act or hold both ways."""

    def __init__(self, assembly, solution, pose, wanted):
        """Of the islands ``wanted`` (islands,) bool; pose: (B, 3), (B, 4) at the end."""
        rows, self._pose = assembly.problem.joints, pose
        holds = (solution.joint_impulse != 0.0) | (np.isinf(rows.lower) & np.isinf(rows.upper))
        holds &= wanted[assembly.island[np.minimum(rows.body_a, rows.body_b)]]
        self.rows = rows if every(holds) else rows.take(places(holds))

    @cached_property
    def directions(self):
        """Their Jacobians (R, 6), (R, 6) at the end."""
        return jacobians(self.rows, *self._pose)


def _loose_axes(bodies, rows):
    """(n, 3) bool, read-only: principal axes of bodies about which their inertia is equal all around, and which go
    through all anchors that rows hold both ways.  That is so in every step, and found once for arrays that stay.
    """
    known = bodies.inertia, bodies.mass, *(getattr(rows, name) for name in _PLACES)
    for old, found in _recent:
        if all(map(operator.is_, old, known)):
            return found
    inertia, mass = bodies.inertia[: bodies.dynamic_count], bodies.mass[: bodies.dynamic_count]
    one, other = inertia.take((1, 2, 0), 1), inertia.take((2, 0, 1), 1)
    loose = np.abs(one - other) <= EQUAL * one
    gyration = np.sqrt(inertia / mass[:, None])
    linear = (rows.coordinate == int(Coordinate.LINEAR)) & np.isinf(rows.lower) & np.isinf(rows.upper)
    for body, anchor in ((rows.body_a, rows.anchor_a), (rows.body_b, rows.anchor_b)):
        ours = places(linear & (body < len(loose)))
        body = body[ours]
        _hold(loose, body, _aside(anchor[ours]) > ALONG * gyration[body])
    loose = frozen(loose)
    if not any(values.flags.writeable for values in known if len(values)):
        _recent.append((known, loose))
    return loose


_PLACES = "body_a", "body_b", "anchor_a", "anchor_b", "coordinate", "lower", "upper"
_recent = deque(maxlen=2)  # arrays that cannot change, and the axes found of them


def _free_spins(velocity, assembly, solution, held):
    """(n, 3) bool: principal axes of bodies, the moments about the other two equal, about which they spin with
    ``velocity`` (n, 6) and nothing turns them; None: there are none.
    """
    bodies, n, contacts = assembly.problem.bodies, assembly.problem.bodies.dynamic_count, assembly.problem.contacts
    inertia, orientation = bodies.inertia[:n], solution.orientation
    spin = rotate(conjugate(orientation[:n]), velocity[:, 3:])
    spin *= inertia * spin
    whole = bodies.mass[:n] * inner(velocity[:, :3], velocity[:, :3]) + spin.sum(axis=1)
    free = _loose_axes(bodies, assembly.problem.joints) & (spin > SPINS * whole[:, None])
    if len(contacts):
        pushed = np.zeros(len(bodies.mass), bool)
        for body in (contacts.body_a, contacts.body_b):
            pushed[body[moved(solution.contact_impulse)]] = True
        free[pushed[:n]] = False
    if not some(free.ravel()):
        return None
    rows, gyration = held.rows, np.sqrt(inertia / bodies.mass[:n, None])
    linear, twist = ~_turns(rows), rows.coordinate == int(Coordinate.TWIST)
    sides = (rows.body_a, rows.anchor_a), (rows.body_b, rows.anchor_b)
    for (body, anchor), j in zip(sides, held.directions, strict=True):
        ours = places(_spun(free, body))
        body, straight = body[ours], linear[ours, None]
        about = np.abs(np.einsum("rji,rj->ri", matrix(orientation[body]), j[ours, 3:]))
        aside = np.maximum(_aside(anchor[ours]), about) > ALONG * gyration[body]
        _hold(free, body, np.where(straight, aside, (about > ALONG) | twist[ours, None]))
    return free if some(free.ravel()) else None


def _aside(anchor):
    """(R, 3) how far anchors (R, 3) are from each principal axis: what is straight below one is not on it."""
    along = anchor**2
    return np.sqrt(along.sum(axis=1)[:, None] - along)


def _spun(free, body):
    """(R,) bool: rows whose ``body`` (R,) has axes that are ``free`` (n, 3) bool."""
    axes = moved(free)
    return (body < len(free)) & axes[np.minimum(body, len(free) - 1)]


def _hold(free, body, turned):
    """Take from ``free`` (n, 3), in place, the axes about which rows turn their ``body`` (R,); turned: (R, 3) bool."""
    for axis in range(3):
        free[body[turned[:, axis]], axis] = False


def _turning(velocity, assembly, placed, point, given):
    """(n, 6) motion of each body about the line of the pull through the ``point`` (islands, 3) its island hangs from,
    and (n, 6) that of the angular momenta ``given`` (n, 3).

    placed: Bodies and their pose.
    """
    (bodies, pose), island, count = placed, assembly.island, len(point)
    n = bodies.dynamic_count
    arm, turn, mass, inertia = pose[0][:n] - point[island], pose[1][:n], bodies.mass[:n], bodies.inertia[:n]
    back = conjugate(turn)

    def total(values):
        if count == 1:
            return values.sum(axis=0)[None]
        return np.stack([np.bincount(island, column, count) for column in values.T], axis=1)

    spin = rotate(turn, inertia * rotate(back, velocity[:, 3:])) + mass[:, None] * cross(arm, velocity[:, :3])
    spin, pull = total(spin), total(mass[:, None] * (assembly.end_velocity[:, :3] - bodies.velocity[:n, :3]))
    axis = np.where(moved(pull)[:, None], pull, spin)
    axis /= np.maximum(length(axis), 1e-300)[:, None]
    own = axis[island]
    local, lever = rotate(back, own), cross(own, arm)
    about = inner(inertia * local, local) + mass * inner(lever, lever)
    whole = bodies.inertia[:n].sum(axis=1) + mass * inner(arm, arm)
    resists, whole = total(np.stack([about, whole], axis=1)).T[:, :, None]
    resists = np.where(resists > THIN * whole, resists, np.inf)

    def turning(momentum):
        rate = (dot(axis, momentum)[:, None] / resists * axis)[island]
        return np.hstack([cross(rate, arm), rate])

    return turning(spin), np.zeros_like(velocity) if given is None else turning(total(given))


def _pivots(rows, n, island, count, pose):
    """(islands, 3) a point from which each may hang, and (islands,) bool: those that do so from that one alone."""
    point, found = np.zeros((count, 3)), np.zeros(count, bool)
    which = places(np.maximum(rows.body_a, rows.body_b) >= n)
    a, b = rows.body_a[which], rows.body_b[which]
    place, own = np.zeros((len(which), 3)), island[np.minimum(np.minimum(a, b), n - 1)]
    for body, anchor in ((a, rows.anchor_a[which]), (b, rows.anchor_b[which])):
        still = body >= n
        place[still] = pose[0][body[still]] + rotate(pose[1][body[still]], anchor[still])
    point[own], found[own] = place, True
    other = rows.coordinate[which] != int(Coordinate.LINEAR)
    found[own[other | (length(place - point[own]) > SAME)]] = False
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
    rows, (j_a, j_b), n, count = held.rows, held.directions, bodies.dynamic_count, len(guided)
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
