# SPDX-License-Identifier: GPL-3.0-or-later
"""Overlap that cannot leave as fast as it is asked to: each contact is then asked for what it can get.

    minimise |max(0, b - phi - J_n d)|^2 + e |d|^2 + k |c + K d|^2        over ways d beyond free motion

phi: gaps after free motion, b: those that the step asks for; c: errors of rigid joint rows there [m, rad]; J, K:
slopes.  d: linear [m] and, times the radius of gyration, angular way of each body: all lengths.  Contacts not in each
other count k times as much.

Where limbs are in each other both ways round, contacts push one way what others push back, and joints let them have
their way by throwing limbs about, if at all.  e is what a way costs: what leads nowhere is not gone.  Next to the
minimum nothing else meets these gaps, so those that lack something are asked for a little less, and impulses exist.
"""

import numpy as np

from .contradiction import DENSE_MOST, rigid
from .copies import replace
from .crushed import between, slope_matrix
from .flags import places
from .reference.rows import contact_jacobians, coordinates, gaps, jacobians, start_gaps

SHARES = 1.0, 0.25, 0.0  # of ``push_out_speed``, that are asked for one after the other; none leaves all as it lies
COST = 0.2  # e: two bodies by themselves part at nine tenths of the speed
FIRM = 1e4  # k
SPARE = 0.2  # of what a contact lacks, that it is asked for less
ROUNDS, ENOUGH = 60, 1e-6  # at most, and what a round must promise to gain of the sum to be made
HALVINGS = 20  # of a direction that the line search tries


def eased(problem, missed, share, tolerance):
    """The StepProblem whose deep contacts ask for no more than they can have; None where it has too many bodies.

    Bodies that are to be parted do not rub each other in it: friction holds them where they hold each other.

    Args:
        problem: StepProblem that was not solved.
        missed: (n,) bool, dynamic bodies to be parted, whole islands; the others keep what is asked of them.
        share: of the problem's push-out speed.
        tolerance: overlap that is none [m].
    """
    less = replace(problem, push_out_speed=share * problem.push_out_speed)
    if share == 0.0:
        return less
    index, contacts, start = places(missed), problem.contacts, start_gaps(problem)
    if 6 * len(index) > DENSE_MOST:
        return None
    mine = np.append(missed, np.zeros(len(problem.bodies.mass) - len(missed), bool))
    parted, alone = mine[contacts.body_a] | mine[contacts.body_b], mine[contacts.body_a] & mine[contacts.body_b]
    asked = np.where(parted & (start < -tolerance), _reached(less, index, start, tolerance), start)
    friction = np.where(alone, 0.0, contacts.friction)
    return replace(less, push_out_speed=0.0, contacts=replace(contacts, start_gap=asked, friction=friction))


def _reached(problem, index, start, tolerance):
    """(C,) gap that each contact can have at the end of the step, at most what is asked for [m].

    index: (k,) dynamic bodies that are looked at; all others go their free way.
    """
    bodies, contacts = problem.bodies, problem.contacts
    pose = bodies.free_position, bodies.free_orientation
    slot, scale = np.full(len(bodies.mass), -1), np.ones((len(index), 6))
    slot[index], scale[:, 3:] = np.arange(len(index)), 1.0 / bodies.gyration()[index, None]
    gap, asked = gaps(contacts, *pose), np.minimum(0.0, start + problem.push_out_speed * problem.step)
    normal = slope_matrix(contacts, slot, scale, *(side[:, 0] for side in contact_jacobians(contacts, *pose)))
    fixed, off = _firm_rows(problem, slot, scale, pose)
    firm, deep = FIRM * fixed.T @ fixed + COST * np.eye(scale.size), start < -tolerance
    weight = np.where(deep, 1.0, FIRM)

    def at(way):
        """Shortages and what is minimised."""
        short, error = np.maximum(0.0, asked - gap - normal @ way), off + fixed @ way
        return short, weight @ short**2 + FIRM * error @ error + COST * way @ way

    way = np.zeros(scale.size)
    short, best = at(way)
    for _ in range(ROUNDS):
        lacking = short > 0.0
        weighted = normal[lacking].T * weight[lacking]
        pull = weighted @ short[lacking] - FIRM * fixed.T @ (off + fixed @ way) - COST * way
        direction = np.linalg.solve(weighted @ normal[lacking] + firm, pull)
        if pull @ direction < ENOUGH * best:
            break
        for halving in range(HALVINGS):
            trial = way + 0.5**halving * direction
            there = at(trial)
            if there[1] < best:
                way, (short, best) = trial, there
                break
        else:
            break
    return asked - (1.0 + SPARE) * short


def _firm_rows(problem, slot, scale, pose):
    """Slopes (R, 6 k) and errors (R,) at ``pose`` of rigid joint rows, and of limits that are passed there."""
    rows = rigid(between(problem.joints, slot))
    off = coordinates(rows, *pose) - rows.target
    passed = (rows.lower == 0.0) & (off < 0.0) | (rows.upper == 0.0) & (off > 0.0)
    held = places(passed | np.isneginf(rows.lower) & np.isposinf(rows.upper))
    rows, off = rows.take(held), off[held]
    return slope_matrix(rows, slot, scale, *jacobians(rows, *pose)), off
