# SPDX-License-Identifier: GPL-3.0-or-later
"""Blows within a step that are over before its end: it is done again in parts.

A crate that slides on rough ground and strikes a puck is braked on, and the puck is not; a bat that eases out strikes a
ball, and slows down.  A step has one impulse for each contact, and pushes to its end: the puck was braked with the
crate in all of the step, and the ball got the speed of the bat at its end, along the normal it had there.  So the parts
are until just before the blow, as if nothing were struck; over it, in which nothing is braked by much (struck.py has
the law of impact for it); and the rest, in which the bodies part.  A solve without the blow tells when that is.

What swings on joints keeps its energy by mid-step, but not in a step with a contact that presses, nor in one that free
motion takes to close though the arc does not: two pendulums that met within a frame lost up to five times what the law
of impact takes, as all of their frame went by backward Euler.
"""

import numpy as np

from .assembled import free_gain
from .bounces import moving_first
from .copies import replace
from .flags import places, some
from .ghosts import of_pairs
from .left_behind import left_behind
from .ordered import distinct
from .problem import world_impulses
from .reference.rows import gaps, parting_speeds
from .stops import joint_groups, matters, may_break, met_at, solved_otherwise
from .struck import blows
from .topology import whole_groups
from .vectors import inner, length

AROUND = 0.01  # of the step, before and after the blow, within which it is,
NEAR = 1.5  # and at least so often the gap that touches;
MOST = 0.25  # of the step: blows that take more of it are not done in parts
SHORTEST = 1e-3  # of the step: parts shorter than that are left out, of which ways tell no speed
TRIED = 0.0, 0.25, 0.5, 0.75  # of the step, at which a blow might be


def blow(attempt, phase):
    """(shares of the step at which to split it, (n,) bool: what strikes and is struck); None: no blow is over in it.

    attempt: a finished Attempt, to which the work is added; phase: the PositionPhase that solved it.
    """
    assembly, solution = attempt.assembly, attempt.solution
    problem, n = assembly.problem, assembly.problem.bodies.dynamic_count
    held = _held_by_joints(assembly)
    found = blows(assembly, solution, phase.fast, assembly.pressed & held)
    pairs, led = (_of_what_holds(attempt, phase, each) for each in found)
    pairs = pairs[held[pairs] | _braked(assembly, solution, pairs)]
    if len(led):
        may = [_slows(attempt, phase, led, np.full(len(led), share)) for share in TRIED]
        led = led[np.any(may, axis=0)]
    hits = np.concatenate([pairs, led])
    if not len(hits):
        return None
    own, other = (np.minimum(side[hits], n) for side in moving_first(problem.contacts))
    bodies = np.zeros(n + 1, bool)
    bodies[own] = bodies[other] = True
    off = of_pairs(distinct(assembly.pairs[hits]), assembly)
    if some(held[hits]):  # what joints hold keeps its energy until it strikes
        problem = phase.again(assembly, solution, None, assembly.pressed & ~off, attempt.state).problem
    without = replace(problem, contacts=problem.contacts.take(~off))
    free, residual = solved_otherwise(attempt, phase, without, bodies[:n])
    wide = np.append(residual[:n], 0.0)
    share, speed = _met(problem, hits, free)
    around = np.maximum(AROUND, NEAR * phase.fast / (problem.step * speed))
    told = (share < 1.0) & (np.maximum(wide[own], wide[other]) <= phase.fast) & (around < MOST)
    swings = places(told & held[hits] & (other < n))
    if len(swings):
        told[swings] = matters(_swung(problem, free, own[swings], other[swings]), speed[swings])
    keyed = places(told & (other == n))
    if len(keyed):
        told[keyed] = _slows(attempt, phase, hits[keyed], share[keyed])
    if not some(told):
        return None
    first = int(np.argmin(np.where(told, share, np.inf)))
    share, around = float(share[first]), float(around[first])
    bodies[:] = False
    bodies[own[told]] = bodies[other[told]] = True
    cuts = tuple(cut for cut in (share - around, share + around) if SHORTEST < cut < 1.0 - SHORTEST)
    return (cuts, bodies[:n]) if cuts else None


def _held_by_joints(assembly):
    """(C,) bool: contacts of islands with joints that the step carries by backward Euler, as one is taken to press."""
    contacts = assembly.problem.contacts
    if not some(assembly.island_jointed):
        return np.zeros(len(contacts), bool)
    own = moving_first(contacts)[0]
    return assembly.island_jointed[assembly.island[own]] & (assembly.problem.bodies.midpoint[own] == 0.0)


def _swung(problem, free, own, other):
    """(K,) by how much velocities of bodies ``own`` and ``other`` change in the step without the blow, ``free``: with
    that speed goes what backward Euler takes [m/s].
    """
    bodies, n = problem.bodies, problem.bodies.dynamic_count
    change = (1.0 + bodies.midpoint[:n]) * length((free.velocity[:n] - bodies.velocity[:n])[:, :3])
    return np.maximum(change[own], change[other])


def _of_what_holds(attempt, phase, hits):
    """Those of the contacts ``hits`` (K,) whose bodies are not done again anyway, in islands where no joint may break.

    Joints are judged by their mean force over a step, which over a blow alone is many times that (stops.py).
    """
    if not len(hits):
        return hits
    assembly, n = attempt.assembly, attempt.assembly.problem.bodies.dynamic_count
    out = attempt.failed[attempt.dynamic()]
    if len(assembly.joint_links[0]):
        label = joint_groups(assembly.joint_links, n)
        breaks = may_break(assembly.problem, label, phase.joints.breakable())
        out = out | whole_groups(assembly.island, breaks[label[:n]])
    again = np.append(out, False)
    own, other = (np.minimum(side[hits], n) for side in moving_first(assembly.problem.contacts))
    return hits[~(again[own] | again[other])]


def _braked(assembly, solution, hits):
    """(K,) bool: contacts ``hits`` (K,) along which friction of others changes the speed of either body by much.

    By no more than what free motion presses with: what the blow presses with is of the blow.
    """
    if not len(hits):
        return np.zeros(0, bool)
    problem, gain = assembly.problem, length(free_gain(assembly))
    contacts, bodies = problem.contacts, problem.bodies
    normal, rubs, most = contacts.normal[hits], solution.contact_impulse.copy(), np.zeros(len(bodies.mass))
    rubs[:, 0] = 0.0
    rubs[of_pairs(distinct(assembly.pairs[hits]), assembly)] = 0.0
    push, change = world_impulses(contacts.normal, rubs), np.zeros((len(bodies.mass), 3))
    for sign, side in ((1.0, contacts.body_a), (-1.0, contacts.body_b)):
        np.add.at(change, side, sign * push)
        np.maximum.at(most, side, np.where(push.any(axis=1), contacts.friction, 0.0))
    lost = np.zeros(len(hits))
    for side in (contacts.body_a[hits], contacts.body_b[hits]):
        lost += np.minimum(np.abs(inner(normal, change[side])) / bodies.mass[side], most[side] * gain[side])
    return matters(lost, _approach(problem, hits))


def _approach(problem, hits):
    """(K,) how fast the bodies of contacts ``hits`` (K,) meet [m/s]."""
    contacts, pose = problem.contacts.take(hits), (problem.bodies.position, problem.bodies.orientation)
    speed = -parting_speeds(contacts, problem.bodies.velocity, *pose)
    return np.maximum(speed, gaps(contacts, *pose) / problem.step)


def _met(problem, hits, free):
    """(H,) share of the step after which contacts ``hits`` meet on the way to ``free``, a StepSolution, 1: never; and
    how fast they approach there [m/s].
    """
    start, contacts, h = problem.bodies, problem.contacts.take(hits), problem.step
    poses = (start.position, start.orientation), (free.position, free.orientation)
    first, last = (gaps(contacts, *pose) for pose in poses)
    rate = h * parting_speeds(contacts, start.velocity_at_start(), *poses[0])
    share = met_at(first, rate, last)
    return share, np.maximum(-(rate + 2.0 * share * (last - first - rate)) / h, 1e-300)


def _slows(attempt, phase, hits, share):
    """(L,) bool: contacts ``hits`` (L,) with what keyframes move, whose place there is left behind, before the step is
    over, by what it strikes after a ``share`` (L,) of it.
    """
    h = attempt.assembly.problem.step
    ahead, change, speed = left_behind(attempt.assembly, phase.assembler, attempt.state, hits, share * h, h)
    return (ahead > phase.fast) & matters(change, speed)
