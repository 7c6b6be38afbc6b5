# SPDX-License-Identifier: GPL-3.0-or-later
"""Single bodies that are round where they touch, off their centre of mass, or turn over a corner: roly-polies, bottles
on their sides, ladders.

Weight turns them where they touch, so that free motion, which is not turned, does not tell where they are half way.
With levers half way to that, the contact did work where the body set out, and took it where it slowed down.  The first
was more energy than there is, and was taken back; the second was not given, and a roly-poly of 10 cm that swings by a
radian lost 44 % of its energy in four seconds at 24 frames a second.  So their levers are the means along the way that
they make, which solves go along with:

    h w x mean = R+ p - R- p        what turns about one axis: the contact goes where the body rolls, and does no work

The velocity that mid-step ends with has all of its energy, but is not quite along the surface there: what the velocity
phase takes of it to put it there is given back as speed, where nothing slipped as the step began.
"""

import numpy as np

from .curves import CENTRED
from .flags import places, some
from .metrics import row_velocity
from .reference.rotation import cross
from .reference.rows import contact_jacobians, surface_slip
from .rotations import rotate
from .topology import whole_groups
from .vectors import inner, length

TURN = 0.5  # [rad] of a step: what turns farther swings as if by less, and is cut into pieces
PIECES = 8  # at most
MOST = 2.0  # times its energy, to which what the phase took is given back: what is farther off has another cause


def off_centre(problem, which, jointed):
    """(C,) bool: those of the contacts with what does not move freely of single bodies that roll or turn about another
    place than their centre of mass; None: there are none.

    which: (C,) bool, contacts of what is round there or turns over a corner; jointed: pair of numbers of bodies that
    joints hold.
    """
    touches, n = problem.contacts, problem.bodies.dynamic_count
    own, other = np.minimum(touches.body_a, touches.body_b), np.maximum(touches.body_a, touches.body_b)
    alone = np.ones(len(problem.bodies.mass), bool)
    for side in jointed:
        alone[side] = False
    index = places(which & (other >= n) & alone[own])
    if not len(index):
        return None
    on_a = touches.body_a[index] == own[index]
    point = np.where(on_a[:, None], touches.point_a[index], touches.point_b[index])
    margin = np.where(on_a, touches.margin_a[index], touches.margin_b[index])
    index = index[length(_aside(point, own[index])) > CENTRED * margin]
    if not len(index):
        return None
    out = np.zeros(len(touches), bool)
    out[index] = True
    return out


def _aside(point, own):
    """(K, 3) how far the axes on which points (K, 3) of bodies ``own`` (K,) lie, or single ones, are off the centre of
    mass: tins and capsules on their sides turn about theirs.
    """
    _, first, of = np.unique(own, return_index=True, return_inverse=True)
    along, last = point - point[first[of]], np.empty(len(first), int)
    order = np.argsort(length(along), kind="stable")
    last[of[order]] = order  # the farthest comes last
    along = along[last[of]]
    square = inner(along, along)
    share = np.divide(inner(point, along), square, out=np.zeros(len(own)), where=square > 0.0)
    return point - share[:, None] * along


def roll_alone(assembly, solution, noise):
    """(n,) bool: bodies that touch nothing that carries load but what they rolled on so as the step began; None: there
    are none.

    noise: [m] in a step, by which they may slip: to mid-step, what sticks ends with that slip turned round.
    """
    problem = assembly.problem
    contacts, bodies, n = problem.contacts, problem.bodies, problem.bodies.dynamic_count
    if contacts.rolls is None:
        return None
    loaded = solution.contact_impulse[:, 0] > 0.0
    rolls = places(loaded & contacts.rolls)
    near = contacts.take(rolls)
    rows = contact_jacobians(near, bodies.position, bodies.orientation)
    slip = row_velocity(*rows, (near.body_a, near.body_b), bodies.velocity_at_start())[:, 1:] + surface_slip(near)
    sticks = np.zeros(len(contacts), bool)
    sticks[rolls] = problem.step * np.hypot(*slip.T) <= noise
    own, out, others = np.minimum(contacts.body_a, contacts.body_b), *np.zeros((2, n + 1), bool)
    out[own[sticks]] = True
    for side in (contacts.body_a, contacts.body_b):
        others[np.minimum(side, n)[loaded & ~sticks]] = True
    out = (out & ~others)[:n]
    return out & ~whole_groups(assembly.island, ~out) if some(out) else None


def pieces_of(assembly, solution, rolls):
    """(n,) int: pieces that a solved step is to be done in for the bodies ``rolls`` (n,) bool, see strokes.py.

    By how far the levers of their places turn.
    """
    problem, contacts, out = assembly.problem, assembly.problem.contacts, np.ones(len(rolls), int)
    bodies, index = problem.bodies, places(contacts.rolls)
    own = np.minimum(contacts.body_a, contacts.body_b)[index]
    index, own = index[rolls[own]], own[rolls[own]]
    point = np.where((contacts.body_a[index] == own)[:, None], contacts.point_a[index], contacts.point_b[index])
    lever = rotate(bodies.orientation[own], _aside(point, own))
    turn = problem.step * length(cross(solution.velocity[own, 3:], lever)) / length(lever)
    np.maximum.at(out, own, np.clip(np.ceil(turn / TURN), 1, PIECES).astype(int))
    return out


def give_back(limit, velocity, way, rolls):
    """Give ``velocity`` (n, 6) of the bodies ``rolls`` (n,) bool the energy of ``way`` (n, 6), in place.

    limit: EnergyLimit of the step; way: the velocity that mid-step ends with.
    """
    has, had = limit.energies(velocity), limit.energies(way)
    short = rolls & limit.held[limit.assembly.island] & (has > 0.0) & (has < had) & (had < MOST * has)
    limit.scale(velocity, np.sqrt(np.where(short, had, 1.0) / np.where(short, has, 1.0)))
