# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies crushed or jammed: contacts that no motion can meet, as where a keyframed press shuts on a box.

    minimise |max(0, b - phi - J_n d + mu |s|)|^2 + |c + K d|^2      s = J_t d + s_0, over the ways d of the bodies

phi: gaps with what is prescribed at the end of the step, b: those that the step asks for, at most 0; s: how far a point
slides, s_0 by what is prescribed; c: errors of rigid joint rows [m, rad]; J, K: slopes.  d: linear [m] and, times the
radius of gyration, angular way of each body: all lengths.

Where the first sum can be nothing, the laws of contact and friction have a solution (Acary, Cadoux, Lemarechal, Malick
2011, "A formulation of the linear discrete Coulomb friction problem via convex optimization"); where it cannot, forces
that hold each other up may grow without end.  Together with a solve that failed, that says that shorter steps fail as
well.  Contacts and joints with bodies that are not looked at count as none, so fewer are found, never more.

The function is convex: Gauss and Newton's method with a line search ends at its minimum.
"""

from dataclasses import dataclass, replace

import numpy as np

from .contradiction import rigid
from .flags import some
from .led import led_bodies
from .problem import Coordinate
from .reference.rows import contact_jacobians, coordinates, gaps, jacobians, start_gaps, surface_slip

MOST = 32  # bodies that are looked at, those that missed by most
ITERATIONS, ENOUGH = 60, 0.1  # rounds at most, and what a round must promise to gain of the sum to be made
HALVINGS = 20  # of a direction that the line search tries
LITTLE = 1e-9  # weight of |d|^2, which makes the minimum one
ROUND = 1.0  # of the tolerance: slips are rounded off by as much, so that there are slopes everywhere
SMALL = 1e-2  # below this part of the worst shortage a contact is not part of what holds it up
FIXED, ASIDE = -1, -2  # slots of what moves by itself or not at all, and of what moves but is not looked at


@dataclass
class Crushed:
    """Bodies of the scene that are crushed or jammed, and what else presses on them."""

    bodies: np.ndarray  # (B,) bool, that move
    pressing: np.ndarray  # (B,) bool, that are prescribed or never move


def crushed(attempt, free, known, tolerance):
    """The Crushed of an Attempt that missed: two bodies at least press on them, of which one moves, or did before.

    free: (B,) bool, bodies that move freely in this step, solved or not; known: (B,) bool, those that were crushed
    before; tolerance: overlap that is none [m].
    """
    assembly, order, dynamic = attempt.assembly, attempt.assembly.numbering.scene[:-1], attempt.dynamic()
    moves = np.append(free[order], False)  # the world last
    held = without_room(assembly.problem, attempt.error, attempt.failed[dynamic], moves, tolerance)
    found = np.zeros((2, len(order)), bool)
    found[0, order[held[:-1] & moves[:-1]]] = found[1, order[held[:-1] & ~moves[:-1]]] = True
    led = order[led_bodies(assembly.problem.bodies)[:-1]]
    if np.count_nonzero(found[1]) < 2 or not (some(found[1, led]) or some(found[0] & known)):
        found[:] = False  # joints that hold bodies in each other are no press, nor is a corner with much friction
    return Crushed(*found)


def in_vain(attempt, known, tolerance):
    """Whether all that an Attempt missed is its ``crushed``, among them ``known`` (B,) bool, and what these ran into.

    A solve that failed flings bodies about: others that they end in have not failed themselves.
    """
    lost = attempt.islands_of(known) & attempt.islands_of(attempt.crushed.bodies)
    others, own = attempt.failed & ~lost, np.zeros(len(lost), bool)
    own[attempt.dynamic()] = ~attempt.sound
    if attempt.too_long is not None:
        own |= attempt.too_long
    own |= attempt.asked
    check = attempt.check
    if check is not None and check.found is not None:
        deep = check.found.gap < -tolerance
        one, other = np.divmod(check.passed, len(lost))
        a, b = np.append(check.found.body_a[deep], one), np.append(check.found.body_b[deep], other)
        apart = ~(lost[a] | lost[b])
        own[a[apart]] = own[b[apart]] = True
    return not some(others & own)


def without_room(problem, error, missed, moves, tolerance):
    """(B,) bool: bodies at contacts that cannot be met together.

    Args:
        problem: StepProblem of a step that missed, B bodies.
        error: (n,) residual of each dynamic body [m]; NaN is worst.
        missed: (n,) bool, dynamic bodies to look at.
        moves: (B,) bool, bodies that give way, solved or not.
        tolerance: overlap that is none [m].
    """
    held, index = np.zeros(len(moves), bool), np.flatnonzero(missed)
    if len(index) > MOST:
        worst = np.argsort(-np.nan_to_num(error[index], nan=np.inf), kind="stable")
        index = np.sort(index[worst[:MOST]])
    slot = np.where(moves, ASIDE, FIXED)
    slot[index] = np.arange(len(index))
    contacts = between(problem.contacts, slot)
    if not some(slot[contacts.body_a] == FIXED) and not some(slot[contacts.body_b] == FIXED):
        return held  # what moves can move apart
    short = _shortage(problem, contacts, slot, index, tolerance)
    tight = short > max(tolerance, SMALL * short.max())
    held[contacts.body_a[tight]] = held[contacts.body_b[tight]] = True
    return held


def between(table, slot):
    """The contacts or joint rows that a body with a ``slot`` has with another one, or with what moves by itself."""
    a, b = slot[table.body_a], slot[table.body_b]
    return table.take((a != ASIDE) & (b != ASIDE) & ((a >= 0) | (b >= 0)))


def _shortage(problem, contacts, slot, index, tolerance):
    """(C,) by how much each contact cannot have what is asked for, where all have as much as possible [m].

    The search ends where none lacks more than the tolerance [m], or where not much less can be lacking.
    """
    bodies, n, h, rounding = problem.bodies, problem.bodies.dynamic_count, problem.step, ROUND * tolerance
    position, orientation = bodies.free_position.copy(), bodies.free_orientation.copy()
    position[:n], orientation[:n] = bodies.position[:n], bodies.orientation[:n]
    asked = np.minimum(0.0, start_gaps(replace(problem, contacts=contacts)) + problem.push_out_speed * h)
    lacks = asked - gaps(contacts, position, orientation)
    scale = np.ones((len(index), 6))
    scale[:, 3:] = 1.0 / bodies.gyration()[index, None]
    sides = contact_jacobians(contacts, position, orientation)
    normal, *across = (slope_matrix(contacts, slot, scale, *(side[:, k] for side in sides)) for k in range(3))
    ways = h * bodies.velocity
    ways[:n] = 0.0
    led = (np.einsum("ctk,ck->ct", side[:, 1:], ways[body]) for side, body in _each(sides, contacts))
    slid, mu = sum(led) + h * surface_slip(contacts), contacts.friction
    rows = rigid(between(problem.joints, slot))
    rows = rows.take(np.isposinf(rows.upper) & np.isneginf(rows.lower) & (rows.coordinate != Coordinate.TWIST))
    fixed = slope_matrix(rows, slot, scale, *jacobians(rows, position, orientation))
    off = coordinates(rows, position, orientation) - rows.target

    def at(d):
        """Shortages, slips and their lengths."""
        slip = np.stack([part @ d for part in across], axis=1) + slid
        length = np.sqrt(np.sum(slip**2, axis=1) + rounding**2)
        return np.maximum(0.0, lacks - normal @ d + mu * (length - rounding)), slip, length

    def value(d, short):
        return short @ short + np.sum((off + fixed @ d) ** 2) + LITTLE * d @ d

    way = np.zeros(scale.size)
    short, slip, length = at(way)
    best, firm = value(way, short), fixed.T @ fixed + LITTLE * np.eye(scale.size)
    for _ in range(ITERATIONS):
        if not short.max() > tolerance:
            break
        push = (mu / length)[:, None] * slip
        slopes = normal - push[:, :1] * across[0] - push[:, 1:] * across[1]
        lacking = short > 0.0
        active = slopes[lacking]
        pull = active.T @ short[lacking] - fixed.T @ (off + fixed @ way) - LITTLE * way
        direction = np.linalg.solve(active.T @ active + firm, pull)
        if pull @ direction < ENOUGH * best:
            break
        for halving in range(HALVINGS):
            trial = way + 0.5**halving * direction
            there = at(trial)
            reached = value(trial, there[0])
            if reached <= best:
                break
        else:
            break
        way, best, (short, slip, length) = trial, reached, there
    return short


def _each(sides, table):
    """A pair for each of the two bodies: what there is of it, and its number."""
    return zip(sides, (table.body_a, table.body_b), strict=True)


def slope_matrix(table, slot, scale, of_a, of_b):
    """(R, 6 k) slopes by the ways of the k bodies that are looked at; of_a, of_b: (R, 6) by those of the two bodies."""
    out, row = np.zeros((len(table), *scale.shape)), np.arange(len(table))
    for of, body in _each((of_a, of_b), table):
        own = slot[body] >= 0
        out[row[own], slot[body[own]]] += of[own] * scale[slot[body[own]]]
    return out.reshape(len(table), scale.size)
