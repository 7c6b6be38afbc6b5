# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts whose normal turns with neither body: of what is round on both sides, cylinders on cylinders, links of bars.

By backward Euler they push along the normal of the step's start, on which what rolls ends the step above the other
body, and what it falls by in the next is lost.  Half way between those of both ends the push does no work:

    n = (n- + n+) / |n- + n+|        n+: at the end pose that a solve before this one has found
    n+ . (x_a - x_b) >= margins        at the end, at places half way between those nearest at both ends

as then n . (d+ - d-) = 0 for d = x_a - x_b leaves |d| as it is.  What is less round at one end has its places there
about another middle, so that surfaces are half way, and not those middles: with the margins of the start a barrel was
0.23 m in another, and thrown.  Such contacts glide (gliding.py), and bodies go by
mid-step where all that press on them do.  Not in heaps, where contacts close loops, nor where joints hold any of them,
but for two that each hang on what does not move: pendulums that swing on, one pushing the other, lost 2 % of their
energy in each frame.
"""

from dataclasses import dataclass

import numpy as np

from .assembled import free_gain
from .copies import replace
from .crests import nearest_of_pairs
from .curves import ALONG, angles
from .flags import equal, places, some
from .impact_levers import centred
from .passing import scene_poses
from .reference.rotation import dot
from .rotations import conjugate, rotate
from .sliding import speed_at
from .vectors import length

SAME = 1e-3  # [rad] by which normals of two solves differ, and the last one stands
MOST = 0.5  # [rad] by which a normal may turn in a step
PLACES, MARGINS = ("point_a", "point_b"), ("margin_a", "margin_b")
TWO = 2  # bodies, one of which may push the other though joints hold them
LIGHT = 0.01  # of what free motion changes in a step: contacts that change less do not matter


@dataclass(eq=False)
class TurningNormals:
    """K contacts of a step whose normals are known half way."""

    index: np.ndarray  # (K,) their numbers, ascending
    middle: np.ndarray  # (K, 3) world normal half way
    face: np.ndarray  # (K,) solver body of the two that turns less
    end: np.ndarray  # (K, 3) normal at the end, in that body's frame
    point_a: np.ndarray  # (K, 3) places half way between those of both ends, in the bodies' frames [m]
    point_b: np.ndarray  # (K, 3)
    balls: np.ndarray  # (K,) bool: those of two balls about their centres of mass

    def among(self, kept):
        """The same numbered among the contacts ``kept`` (C,) bool of a step."""
        mine = kept[self.index]
        columns = (values[mine] for name, values in vars(self).items() if name != "index")
        return TurningNormals((np.cumsum(kept) - 1)[self.index[mine]], *columns)

    def told_by(self, other):
        """Whether ``other`` TurningNormals, or None, tell the same, as near as it matters."""
        if other is None or not equal(self.index, other.index):
            return False
        return not some(angles(self.middle, other.middle) > SAME)

    def go_by_middle(self, problem):
        """(n,) bool: their bodies that go by mid-step in a StepProblem."""
        contacts, middle = problem.contacts, problem.bodies.midpoint
        out = np.zeros(len(middle), bool)
        out[contacts.body_a[self.index]] = out[contacts.body_b[self.index]] = True
        return (out & (middle > 0.0))[: problem.bodies.dynamic_count]

    def put_on(self, touches, glides):
        """Set what is known of those of the Contacts ``touches`` that are among ``glides`` (C,) bool, in place."""
        mine = glides[self.index]
        k = self.index[mine]
        for name, values in (
            ("normal", self.middle), ("face", self.face), ("face_normal", self.end), ("point_a", self.point_a),
            ("point_b", self.point_b),
        ):  # fmt: skip
            getattr(touches, name)[k] = values[mine]


def turning_normals(solved, assembler, collider, frames, tolerances):
    """The TurningNormals of a Solved step; None where there are none that matter.

    tolerances: the tight and the loose one [m]: of what moves by no more than the former nothing matters.
    """
    assembly, solution, (slow, fast) = solved.assembly, solved.solution, tolerances
    contacts, bodies, known = assembly.problem.contacts, assembly.problem.bodies, assembly.contacts
    index = _round_on_both_sides(assembly, solution, fast)
    index = index[~solved.on_ground[index]] if len(index) else index  # curves and crests follow those
    if not len(index):
        return None
    found, pair = _at_end(solved, index, collider, frames), known.pair[index]
    at_end = nearest_of_pairs(pair, found)
    if some(at_end < 0):  # planes hold apart what goes around something small
        found = _near_end(solved, index, collider, frames)
        at_end = nearest_of_pairs(pair, found)
    index, at_end = index[at_end >= 0], at_end[at_end >= 0]
    if not len(index):
        return None
    before, after = known.normal[index], found.normal[at_end]
    turn = angles(before, after)
    a, b = contacts.body_a[index], contacts.body_b[index]
    here, there = (
        assembler.contacts(each, np.zeros((len(each), 3)), assembly.numbering, bodies.orientation, at_start=False)
        for each in (known.take(index), found.take(at_end))
    )
    (arm_a, way_a), (arm_b, way_b) = (
        _arm_and_way(bodies, solution, body, point) for body, point in ((a, here.point_a), (b, here.point_b))
    )
    past = speed_at(bodies, a, arm_a) - speed_at(bodies, b, arm_b)
    good = np.abs(dot(before, past)) <= ALONG * length(past) + fast / assembly.problem.step
    good &= turn <= MOST
    gain, matters = np.zeros(len(bodies.mass)), np.zeros(len(assembly.island_jointed), bool)
    gain[: bodies.dynamic_count] = length(free_gain(assembly))
    presses = solution.contact_impulse[index, 0] * (1.0 / bodies.mass[a] + 1.0 / bodies.mass[b])
    presses = presses > LIGHT * np.maximum(gain[a], gain[b])
    matters[_island_of(assembly, contacts, index[good & presses & (np.maximum(way_a, way_b) > slow)])] = True
    good &= matters[_island_of(assembly, contacts, index)]
    if not some(good):
        return None
    index, at_end, before, after, a, b = (each[good] for each in (index, at_end, before, after, a, b))
    middle = before + after
    middle /= length(middle)[:, None]
    spin = length(bodies.velocity[:, 3:])
    face = np.where(spin[a] < spin[b], a, b)
    end, points = rotate(conjugate(solution.orientation[face]), after), []
    single = _alone(known.pair, index)[:, None]
    for name, margin, body, side in zip(PLACES, MARGINS, (a, b), (1.0, -1.0), strict=True):
        first, last = ((getattr(each, name)[good], getattr(each, margin)[good]) for each in (here, there))
        out = rotate(conjugate(solution.orientation[body]), side * after)
        points.append(np.where(single, place_half_way(first, last, out), first[0]))
    return TurningNormals(index, middle, face, end, *points, centred(contacts.take(index)))


def place_half_way(first, last, out):
    """(K, 3) places half way between those of both ends whose surface is half way, with the margins of the first.

    first, last: places (K, 3) [m] and margins (K,) [m] of either end; out: (K, 3) unit vectors from the surface to the
    place at the end; all in the body's frame.  The surface is at place - margin out, with that of either end.
    """
    (point, margin), (end, other) = first, last
    return 0.5 * (point + end) + 0.5 * (margin - other)[:, None] * out


def at_end_pose(assembly, solution):
    """The Assembly whose TurningNormals of balls are those of the end pose of its solution: where they are off by what
    the last solve has moved, pushes turn smooth ones.
    """
    turning, contacts, problem = assembly.turning, assembly.problem.contacts, assembly.problem
    if contacts.glides is None:
        return assembly
    k = turning.index[turning.balls & contacts.glides[turning.index]]
    if not len(k):
        return assembly
    a, b, face = contacts.body_a[k], contacts.body_b[k], contacts.face[k]
    way = solution.position[a] + rotate(solution.orientation[a], contacts.point_a[k])
    way -= solution.position[b] + rotate(solution.orientation[b], contacts.point_b[k])
    normal = contacts.face_normal.copy()
    normal[k] = rotate(conjugate(solution.orientation[face]), way / length(way)[:, None])
    contacts = replace(contacts, face_normal=normal)
    turning = replace(turning, end=normal[turning.index])
    return replace(assembly, problem=replace(problem, contacts=contacts), turning=turning)


def _round_on_both_sides(assembly, solution, fast):
    """(K,) loaded contacts of the start in which something round touches something round, neither of which keyframes
    turn, in islands that are not ``_tangled``.
    """
    contacts, bodies, known = assembly.problem.contacts, assembly.problem.bodies, assembly.contacts
    loaded = solution.contact_impulse[:, 0] > 0.0
    may = loaded & (contacts.margin_a > 0.0) & (contacts.margin_b > 0.0)
    may &= (contacts.rebound_speed == 0.0) & (contacts.rebound_gap == 0.0)
    index = places(may[: len(known)])
    index = index[np.abs(known.gap[index]) <= fast] if len(index) else index
    if not len(index):
        return index
    a, b, n = contacts.body_a[index], contacts.body_b[index], bodies.dynamic_count
    index = index[(np.maximum(a, b) < n) | bodies.straight(assembly.problem.step)[np.maximum(a, b)]]
    if assembly.curved is not None:  # they follow that
        bent = np.append(assembly.curved > 0, np.zeros(len(bodies.mass) - n, bool))
        index = index[~(bent[contacts.body_a[index]] | bent[contacts.body_b[index]])]
    if not len(index):
        return index
    return index[~_tangled(assembly, loaded)[_island_of(assembly, contacts, index)]]


def _at_end(solved, index, collider, frames):
    """The ContactSet at the end pose, with the bodies of the contacts ``index`` (K,) if nobody has looked yet."""
    if solved.seen:
        return solved.check.found
    asked = _bodies_of(solved, index)
    return collider.collide_again(*_end_place(solved, frames), asked, None, asked)


def _near_end(solved, index, collider, frames):
    """The same of what is as near as these bodies go in the step."""
    asked, order = _bodies_of(solved, index), solved.assembly.numbering.scene[:-1]
    velocity = np.empty((len(order), 3))
    velocity[order] = solved.solution.velocity[:-1, :3]
    return collider.collide_near(*_end_place(solved, frames), velocity, solved.assembly.problem.step, asked, asked)


def _bodies_of(solved, index):
    """(B,) bool: scene bodies of the contacts ``index`` (K,)."""
    known, asked = solved.assembly.contacts, np.zeros(len(solved.assembly.numbering.scene) - 1, bool)
    asked[known.body_a[index]] = asked[known.body_b[index]] = True
    return asked


def _end_place(solved, frames):
    order = solved.assembly.numbering.scene[:-1]
    return frames.to_body(*scene_poses(order, solved.solution.position, solved.solution.orientation))


def _arm_and_way(bodies, solution, body, point):
    """(K, 3) places ``point`` (K, 3) of bodies (K,) from their middles, and (K,) the way they go in the step [m]."""
    arm = rotate(bodies.orientation[body], point)
    gone = solution.position[body] - bodies.position[body] + rotate(solution.orientation[body], point) - arm
    return arm, length(gone)


def _island_of(assembly, contacts, index):
    return assembly.island[np.minimum(contacts.body_a[index], contacts.body_b[index])]


def _tangled(assembly, loaded):
    """(islands,) bool: those in which contacts that are ``loaded`` (C,) close loops of bodies that move freely; and
    those with joints, but of TWO bodies that no joint holds to each other and that touch nothing else.
    """
    contacts, n, island = assembly.problem.contacts, assembly.problem.bodies.dynamic_count, assembly.island
    low, high = (side(contacts.body_a, contacts.body_b) for side in (np.minimum, np.maximum))
    index, count = places(loaded & (high < n)), len(assembly.island_jointed)
    pair = np.unique(low[index].astype(np.int64) * n + high[index])
    ties, size = (np.bincount(each, minlength=count) for each in (island[pair // max(n, 1)], island))
    jointed = assembly.island_jointed & (size != TWO)
    jointed[island[low[loaded & (high >= n)]]] = True
    one, other = assembly.joint_links
    jointed[island[one[np.maximum(one, other) < n]]] = True
    return assembly.island_jointed & jointed | (ties >= size)


def _alone(pair, index):
    """(K,) bool: contacts ``index`` (K,) that are the only ones of their ``pair`` (C,), which ascend: of what lies
    along a line the places roll with the bodies.
    """
    first, last = (np.searchsorted(pair, pair[index], side) for side in ("left", "right"))
    return last - first == 1
