# SPDX-License-Identifier: GPL-3.0-or-later
"""``arcs.py`` in float64 NumPy: what the mean of the velocities at both ends lacks where forces turn within a step."""

import numpy as np

from ..problem import Coordinate
from .rotation import arctan2, conjugate, cross, dot, multiply, rotate, world_inertia
from .rows import joint_directions

SMALL = 1e-3  # [rad] below which series stand for quotients
STILL = 0.1  # how much of what does not move freely counts, where 1 is a lever of a radius of gyration
FAST = 2.0  # [rad] a turn, times the largest moment over the least, from which on rounds would not find the second part
LEAST = 1e-2  # what is less than this part of it is not looked for
CAUGHT = 0.1  # of its way, by how much a line may be off its length at the start: farther it only comes taut
SHORT = 1e-9  # [m] of a line
FOLLOWS = 0.5  # of (omega h)^2 / 12 with which the pull of joints swings a body, up to which all of it is taken


def welded(rows):
    """(R,) int: 1 where the joint of a row lets neither body turn against the other."""
    angular = (rows.coordinate == int(Coordinate.DOT)) | (rows.coordinate == int(Coordinate.TWIST))
    locks = angular & (rows.beta == 1.0) & (rows.compliance == 0.0) & np.isinf(rows.lower) & np.isinf(rows.upper)
    return (np.bincount(rows.joint, locks)[rows.joint] > 2.5).astype(np.int32)


def led_islands(problem, topology):
    """(islands,) bool: those that a joint row ties to what keyframes move; None where there is none."""
    rows, n = problem.joints, problem.bodies.dynamic_count
    led = problem.bodies.free_velocity[n:]
    if not led.any():
        return None
    out, other = np.zeros(topology.island_count, bool), np.maximum(rows.body_a, rows.body_b)
    out[topology.row_island[(other >= n) & led.any(axis=1)[np.maximum(other - n, 0)]]] = True
    return out if out.any() else None


def arcs(problem, position, orientation, impulse, topology):
    """(B, 6) velocity that carries a pose beyond the mean of those at both ends, 0 where nothing goes by mid-step or
    anything else than joints is near, and the impulses of which that is: (B, 3) of joints, (R,) of distances.

    Args:
        problem: StepProblem.
        position, orientation: (B, 3), (B, 4) at the step's end.
        impulse: (R,) of the joint rows.
        topology: Topology of the problem.
    """
    bodies, rows = problem.bodies, problem.joints
    count, n = len(bodies.mass), bodies.dynamic_count
    out, own = np.zeros((count, 6)), turns_between(bodies.orientation, orientation)
    push, moment, whole, pulled = np.zeros((4, count, 3))
    rigid, draws = (rows.beta == 1.0) & (rows.compliance == 0.0), rows.coordinate == int(Coordinate.DISTANCE)
    force = draws | (rows.coordinate == int(Coordinate.LINEAR))
    turn, steady = _turns_of_rows(problem, orientation, own), _steady(problem, impulse, topology)
    part = np.minimum(steady[rows.body_a], steady[rows.body_b])
    least = steady.copy()  # of a body and its neighbours: what holds it in the world is of no other part than they are
    for one, other in ((rows.body_a, rows.body_b), (rows.body_b, rows.body_a)):
        moving = (one < n) & (other < n)
        np.minimum.at(least, one[moving], steady[other[moving]])
    part = np.where(np.maximum(rows.body_a, rows.body_b) < n, part, np.minimum(least[rows.body_a], least[rows.body_b]))
    taut = _sweep(problem, position, orientation, turn, np.flatnonzero(draws))
    part = (part * taut)[:, None]
    sides = zip(("a", "b"), joint_directions(problem, position, orientation), strict=True)
    for side, directions in sides:
        body, acts = getattr(rows, f"body_{side}"), directions * np.asarray(impulse, float)[:, None]
        arm = _levers(bodies, orientation, body, getattr(rows, f"anchor_{side}"))
        aside = part * _lag(turn, acts[:, :3])
        by_force = cross(arm, aside) + part * cross(_lag(own[body], arm), acts[:, :3])
        turned = np.where(force[:, None], by_force, part * _lag(turn, acts[:, 3:]))
        for sums, values in ((push, aside), (moment, turned)):
            np.add.at(sums, body[rigid], values[rigid])
        pulls = rigid & force & ~draws
        np.add.at(pulled, body[pulls], (part * acts[:, :3])[pulls])
        np.add.at(whole, body[rigid], acts[rigid, 3:])
    goes, alone = np.arange(count) < n, topology.jointed.astype(bool)
    alone[topology.contact_island] = False  # forces of joints end with those of contacts
    goes[:n] &= (bodies.midpoint[:n] > 0.0) & alone[topology.body_island]
    if bodies.spin is not None:
        goes &= ~bodies.spin.any(axis=1)
    goes = np.flatnonzero(goes)
    inertia = world_inertia(bodies.free_orientation[goes], bodies.moments[goes])
    inverse, t = np.linalg.inv(inertia), own[goes]

    def times(matrix, vector):
        return np.einsum("nij,nj->ni", matrix, vector)

    w = times(inverse, whole[goes])
    second = times(inverse, cross(times(inertia, t), w) + cross(t, times(inertia, w))) - cross(t, w)
    moments = bodies.moments[goes]
    second[np.sqrt(dot(t, t)) * moments.max(axis=1) >= FAST * moments.min(axis=1)] = 0.0
    spin = times(inverse, moment[goes]) + steady[goes, None] * second / 6.0
    out[goes] = (1.0 + bodies.midpoint[goes])[:, None] * np.hstack([push[goes] / bodies.mass[goes, None], spin])
    pulled[np.setdiff1d(np.arange(count), goes)] = 0.0
    going = np.isin(rows.body_a, goes) | np.isin(rows.body_b, goes)
    return out, pulled, np.where(rigid & draws & going, part[:, 0] * impulse, 0.0)


def _steady(problem, impulse, topology):
    """(B,) how much of what they lack bodies take: 1, or less where joints pull so hard that no step follows it."""
    bodies, rows, n = problem.bodies, problem.joints, problem.bodies.dynamic_count
    pull, lines, held = np.zeros((3, len(bodies.mass)))
    distance = rows.coordinate == int(Coordinate.DISTANCE)
    takes = (welded(rows) == 0) & (distance | (rows.coordinate == int(Coordinate.LINEAR)))
    for body, other, anchor in ((rows.body_a, rows.body_b, rows.anchor_a), (rows.body_b, rows.body_a, rows.anchor_b)):
        arm, push = np.sqrt(dot(anchor, anchor)), np.abs(impulse)
        np.add.at(pull, body[takes], (push * arm)[takes])
        np.add.at(lines, body[distance], (push / np.maximum(rows.offset, SHORT))[distance])
        on = takes & ~distance & (other >= n) & (body < n)
        np.maximum.at(held, body[on], bodies.mass[body[on]] * arm[on] ** 2)
    swing = pull[:n] / (bodies.moments[:n].min(axis=1) + held[:n]) + lines[:n] / bodies.mass[:n]
    out = np.ones(len(bodies.mass))
    loops = takes & topology.looped[topology.row_island]
    loose = np.ones(len(bodies.mass)) if bodies.spin is None else 1.0 - bodies.spin.any(axis=1)
    loose[rows.body_a[loops]] = loose[rows.body_b[loops]] = 0.0
    if (led := led_islands(problem, topology)) is not None:
        loose[:n][led[topology.body_island]] = 0.0
    out[:n] = loose[:n] / (1.0 + (problem.step * swing / (6.0 * FOLLOWS)) ** 4)
    out[out < LEAST] = 0.0
    return out


def turns_between(first, last):
    """(B, 3) rotation vectors from orientations to others (B, 4)."""
    d = multiply(last, conjugate(first))
    d = np.where(d[:, 3:] < 0.0, -d, d)
    s = np.sqrt(dot(d[:, :3], d[:, :3]))
    scale = np.where(s < SMALL, 2.0, 2.0 * arctan2(s, d[:, 3]) / np.where(s > 0.0, s, 1.0))
    return scale[:, None] * d[:, :3]


def _lag(turn, vector):
    """What h / 12 (v- - v+) stands for, of vectors (R, 3) in the middle of turns (R, 3)."""
    x = 0.5 * np.sqrt(dot(turn, turn))
    far = np.where(x > SMALL, x, 1.0)
    part = np.where(x > SMALL, (1.0 - far * np.cos(far) / np.sin(far)) / (4.0 * far**2), 1.0 / 12.0 + x**2 / 180.0)
    return -part[:, None] * cross(turn, vector)


def _levers(bodies, orientation, body, anchor):
    """(R, 3) mean levers of anchors."""
    return 0.5 * (rotate(bodies.orientation[body], anchor) + rotate(orientation[body], anchor))


def _turns_of_rows(problem, orientation, own):
    """(R, 3) how the force or moment of each row turns in the step; own: (B, 3) turns of the bodies."""
    bodies, rows, n = problem.bodies, problem.joints, problem.bodies.dynamic_count
    a, b = rows.body_a, rows.body_b
    turn, relative = own[a].copy(), own[b] - own[a]
    kind, leads = rows.coordinate, []
    for body, anchor in ((a, rows.anchor_a), (b, rows.anchor_b)):
        arm = cross(_levers(bodies, orientation, body, anchor), relative)
        still = body >= n
        extent = np.where(still, 1.0, (bodies.moments[:n].max(axis=1) / bodies.mass[:n])[np.minimum(body, n - 1)])
        leads.append(np.where(still, STILL * dot(relative, relative), dot(arm, arm) / extent) ** 2)
    both = leads[0] + leads[1]
    share = np.where(both > 0.0, leads[1] / np.where(both > 0.0, both, 1.0), 0.0)
    slides = kind == int(Coordinate.LINEAR)
    lone = np.bincount(group := 2 * rows.joint.astype(np.int64) + ((kind == 1) | (kind == 2)))[group]
    share[slides & (lone < 3) | (kind == int(Coordinate.TWIST)) & (lone < 2)] = 0.0
    share[(kind == int(Coordinate.DOT)) & (lone < 2)] = 0.5
    turn += share[:, None] * relative
    return turn


def _sweep(problem, position, orientation, turn, which):
    """(R,) 1, or 0 for those of the DISTANCE rows ``which`` (K,) that were not of their length at the start; puts into
    ``turn`` (R, 3) how their lines turn.
    """
    rows, bodies, taut = problem.joints.take(which), problem.bodies, np.ones(len(turn))
    if len(which):
        first, last = (
            x[rows.body_b]
            + rotate(q[rows.body_b], rows.anchor_b)
            - x[rows.body_a]
            - rotate(q[rows.body_a], rows.anchor_a)
            for x, q in ((bodies.position, bodies.orientation), (position, orientation))
        )
        normal, way = cross(first, last), last - first
        s, before, after, far = (np.sqrt(dot(each, each)) for each in (normal, first, last, way))
        turn[which] = normal * (arctan2(s, dot(first, last)) / np.where(s > 0.0, s, 1.0))[:, None]
        taut[which] = np.where(np.abs(after - before) < CAUGHT * far, 1.0, 0.0)
    return taut
