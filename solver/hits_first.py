# SPDX-License-Identifier: GPL-3.0-or-later
"""What rebounds within a step leaves the hit by the law of impact, and is then braked by what it rests on.

A step has one impulse for each contact.  If a ball that rolls on cloth is asked to end the step of a hit with e times
its approach, the cloth's friction of that step changes its spin, and what it takes from the speed along the hit's
normal the hit gives again.  Of what friction leaves alone, 5/7 v + 2/7 r w, a share of mu g h so came from nothing.

So what such hits are asked for is told in two solves of the velocity phase.  In the first one they are as the law has
them, and friction is that of what presses because of the hits: what rests on each other without them is no impulse.
In the second the impulses of the hits are known, and all friction acts on what they leave.  With the speeds at which
the hits part there, one solve of everything keeps every law.
"""

import numpy as np

from .assembled import free_gain
from .copies import replace
from .flags import places, some
from .gliding import whole_impulses
from .metrics import row_velocity
from .reference.knock_on import answer
from .reference.rows import contact_jacobians
from .topology import whole_groups
from .vectors import inner, length

LEAST = 1e-3  # of the speed of a rebound: friction that changes it by less is let be


def after_hits(problem, loaded, assembly, solve):
    """(C,) separation speeds [m/s] that the rebounds of a velocity phase are to end with, and the solutions that tell.

    Args:
        problem: StepProblem of the phase, with the contacts of the step.
        loaded: (C,) bool, those that carried load.
        assembly: Assembly of the step.
        solve: solve(problem, done, loaded) -> StepSolution; done: (n,) bool, bodies that need no solution.
    """
    contacts, n = problem.contacts, problem.bodies.dynamic_count
    speed = contacts.rebound_speed
    if speed is None or not some(hits := loaded & _rebounding(contacts)):
        return speed, ()
    holds = loaded & ~hits & (contacts.friction > 0.0)
    if not some(holds):
        return speed, ()
    gain = free_gain(assembly)
    rests = _resting(problem, holds, whole_impulses(assembly.problem, assembly.problem.contacts.impulse), gain)
    told = _braked(problem, places(hits), places(holds), rests, gain)
    if not some(told):
        return speed, ()
    anew = whole_groups(assembly.island, told)
    own = np.append(anew, False)[np.minimum(np.minimum(contacts.body_a, contacts.body_b), n)]
    share = _of_hits(contacts, holds, rests, len(problem.bodies.mass))
    hit = solve(replace(problem, contacts=replace(contacts, friction=share * contacts.friction)), ~anew, loaded)
    struck = places(own & hits & (hit.contact_impulse[:, 0] > 0.0))
    if not len(struck):
        return speed, (hit,)
    left = loaded.copy()
    left[struck] = False
    ours = contacts.take(struck)
    rows = contact_jacobians(ours, problem.bodies.position, problem.bodies.orientation)
    free = problem.bodies.free_velocity.copy()
    for body, row in zip((ours.body_a, ours.body_b), rows, strict=True):
        push = np.einsum("cki,ck->ci", row, hit.contact_impulse[struck])
        np.add.at(free, body, answer(problem.bodies, body, push))
    rest = solve(replace(problem, bodies=replace(problem.bodies, free_velocity=free)), ~anew, left)
    speed = speed.copy()
    speed[struck] = row_velocity(*rows, (ours.body_a, ours.body_b), rest.velocity)[:, 0]
    return speed, (hit, rest)


def _rebounding(contacts):
    """(C,) bool: contacts that leave a hit; those of surfaces that deform go along with them."""
    speed = contacts.rebound_speed
    if contacts.surface_drift is not None:
        speed = speed + contacts.surface_drift
    return (speed != 0.0) | (contacts.rebound_gap > 0.0)


def _resting(problem, holds, carried, gain):
    """(C,) normal impulses [N s] that the contacts ``holds`` (C,) bool have without any hit: those of before, of new
    ones what free motion presses with.

    carried: world impulses (C, 3) on bodies a that they carried before, over as long as the step [N s]; gain: (n, 3)
    what free motion adds to velocities in it [m/s].
    """
    contacts, bodies = problem.contacts, problem.bodies
    rests = np.where(holds, np.maximum(inner(carried, contacts.normal), 0.0), 0.0)
    if len(new := places(holds & ~carried.any(axis=1))):
        ours, pull = contacts.take(new), np.zeros((len(bodies.mass), 3))
        pull[: len(gain)] = gain
        gives, moves = np.zeros((2, len(new)))
        rows = contact_jacobians(ours, bodies.position, bodies.orientation)
        for side, row in zip((ours.body_a, ours.body_b), rows, strict=True):
            moves -= inner(row[:, 0, :3], pull[side])
            gives += np.einsum("ci,ci->c", row[:, 0], answer(bodies, side, row[:, 0]))
        rests[new] = np.maximum(moves, 0.0) / gives
    return rests


def _of_hits(contacts, holds, rests, count):
    """(C,) share of friction that the hits call up; 1 where nothing ``holds``.

    Of a pair of bodies, of ``count`` in all: a hit tips a crate from one corner to another, and is no more weight.
    """
    pair = contacts.body_a.astype(np.int64) * count + contacts.body_b
    pair = np.unique(pair, return_inverse=True)[1].reshape(-1)
    press = np.where(holds, np.maximum(inner(contacts.impulse, contacts.normal), 0.0), 0.0)
    press, rests = (np.bincount(pair, values)[pair] for values in (press, rests))
    return np.where(holds, 1.0 - np.minimum(rests / np.maximum(press, 1e-300), 1.0), 1.0)


def _braked(problem, hits, holds, rests, gain):
    """(n,) bool: bodies with ``hits`` (H,) whose speed along the normal friction of ``holds`` (K,) may change.

    Not of those slower than what falls in a step: marbles that come to rest in a pit pushed each other about for ever.
    rests: (C,) normal impulses of those without the hit [N s]; gain: as in ``_resting``.
    """
    contacts, bodies, n = problem.contacts, problem.bodies, problem.bodies.dynamic_count
    ours, others = contacts.take(hits), contacts.take(holds)
    pose, reach = (bodies.position, bodies.orientation), others.friction * rests[holds]
    body, gives = [], []
    for side, rows in zip((others.body_a, others.body_b), contact_jacobians(others, *pose), strict=True):
        body.append(side)
        gives.append(np.stack([reach[:, None] * answer(bodies, side, rows[:, k]) for k in (1, 2)], axis=1))
    body, gives = np.concatenate(body), np.concatenate(gives)
    order = np.argsort(body, kind="stable")
    body, gives = body[order], gives[order]
    change = np.zeros(len(hits))
    for side, rows in zip((ours.body_a, ours.body_b), contact_jacobians(ours, *pose), strict=True):
        first, end = np.searchsorted(body, side), np.searchsorted(body, side, "right")
        count = np.where(side < n, end - first, 0)
        mine = np.repeat(np.arange(len(hits)), count)
        other = np.arange(len(mine)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
        along = np.einsum("mi,mki->mk", rows[mine, 0], gives[other])
        change += np.bincount(mine, np.hypot(*along.T), len(hits))
    speed, pull = np.abs(ours.rebound_speed), np.append(length(gain), 0.0)
    falls = np.maximum(*(pull[np.minimum(side, n)] for side in (ours.body_a, ours.body_b)))
    told = (change > LEAST * speed) & (speed > falls)
    out = np.zeros(n, bool)
    for side in (ours.body_a, ours.body_b):
        out[side[told & (side < n)]] = True
    return out
