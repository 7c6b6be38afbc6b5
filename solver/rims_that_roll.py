# SPDX-License-Identifier: GPL-3.0-or-later
"""Rims of cylinders and cones on which they roll, leaning, over what stands still.

A place of the rim that is fixed to the body is left behind as it rolls on: at the end of a step another one is lowest,
and with contacts at both the body rocks from one to the next as a polygon would, and loses energy with each, at any
length of the step.  A disc that wobbled on its rim at 20 degrees lay flat within half a second.  So where a body rolls
on its rim alone its contact there is that place of the rim which is outermost, in mid-step as at the end:

    place(q) = R c + r s(q)     s: the unit vector along -n - (-n . a) a, with the axis a = R e; c: middle of the end

The normal's Jacobian is what it is at a point, n x lever, because the outermost place moves along the surface there.
"""

from dataclasses import dataclass

import numpy as np

from .bounces import moving_first
from .contact_faces import UP
from .curves import square_to
from .flags import places, some
from .manifold import along_runs
from .reference.rows import gaps, normals
from .rotations import conjugate, rotate
from .shape_extents import round_ends
from .vectors import inner, length

NEAR = 1e-3  # of its radius: places on a rim are so near to it
LOWEST = 0.05  # [rad] from the outermost place of the rim: what detection tells is so near to it
LIKE = 1.0 - 1e-6  # cosine of the angle between normals of one face
TURNS = 1e-4  # [rad] in a step: what turns by less keeps its places
LEAST = 0.02  # sine of the lean below which an end lies flat, and cosine of that below which the side does


@dataclass(eq=False)
class Rims:
    """R round ends of a scene's bodies."""

    first: np.ndarray  # (B + 1,) number of each scene body's first one
    middle: np.ndarray  # (R, 3) in the solver's frame of its body [m]
    axis: np.ndarray  # (R, 3) outwards
    radius: np.ndarray  # (R,) [m]
    depth: np.ndarray  # (R,) of what it is the end of, along the axis [m]

    @classmethod
    def of(cls, bodies, frames):
        """bodies: of the scene; frames: BodyFrames.  None: there are none."""
        found = [(i, *rim) for i, body in enumerate(bodies) for rim in _rims_of(body)]
        if not found:
            return None
        body, middle, axis, radius, depth = (np.array(column) for column in zip(*found, strict=True))
        first = np.searchsorted(body, np.arange(len(bodies) + 1))
        axis = rotate(conjugate(frames.principal[body]), axis)
        return cls(first, frames.local(body, middle), axis, radius, depth)

    def numbered(self, number, jointed):
        """The NumberedRims of a Numbering.  jointed: numbers of bodies in joints, whose rims are left as they are."""
        alone = np.ones(len(number.scene), bool)
        alone[jointed] = False
        return NumberedRims(self, number.scene[: number.dynamic_count], alone)


@dataclass(eq=False)
class NumberedRims:
    """Rims of the dynamic bodies of a step."""

    rims: Rims
    scene: np.ndarray  # (n,) their numbers in the scene
    alone: np.ndarray  # (B,) bool: those without joints

    def of(self, problem, which):
        """(C,) int: the rim on which the body that moves leans on what stands still, where it turns and touches nothing
        but one plane there with what the rim belongs to, or -1; and (C,) bool, whether at its outermost place.

        problem: StepProblem; which: (C,) bool, contacts that may be among them.
        """
        touches, bodies = problem.contacts, problem.bodies
        rim, n, (own, other) = np.full(len(touches), -1), bodies.dynamic_count, moving_first(touches)
        spin, straight = problem.step * length(bodies.velocity[:, 3:]), bodies.straight(problem.step)
        mine = places(which & (own < n) & (other >= n) & (self.alone & (spin > TURNS))[own] & straight[other])
        body = self.scene[own[mine]]
        first = self.rims.first[body]
        run, offset = along_runs(self.rims.first[body + 1] - first)
        if not len(run):
            return rim, np.zeros(len(touches), bool)
        each, index = first[run] + offset, mine[run]
        inside, lowest = self._fits(touches.take(index), bodies, each, own[index])
        lead = np.full(len(bodies.mass), -1)
        lead[own[index[lowest]]] = index[lowest]
        rim[index[lowest]] = each[lowest]
        leads = rim[lead[own[index]]]  # of the body, or any where it has none
        behind = inside & (each == leads)
        rim[index[behind]] = leads[behind]
        others = _others(touches, bodies, rim >= 0, lead)[own]
        rim[others] = -1
        outermost = np.zeros(len(touches), bool)
        outermost[index[lowest]] = True
        return rim, outermost & ~others

    def _fits(self, touches, bodies, rim, own):
        """Two (K,) bool: Contacts at what the rims (K,) of bodies ``own`` (K,) are the ends of; and whether those lean
        on them, at their outermost places.
        """
        axis, radius, depth = self.rims.axis[rim], self.rims.radius[rim], self.rims.depth[rim]
        on_a = touches.body_a == own
        margin = np.where(on_a, touches.margin_a, touches.margin_b)
        out = outward(touches, bodies.orientation, own)
        arm = np.where(on_a[:, None], touches.point_a, touches.point_b) + margin[:, None] * out - self.rims.middle[rim]
        along, height, near = inner(out, axis), inner(arm, axis), NEAR * radius
        across = out - along[:, None] * axis
        sine, far = length(across), length(arm - height[:, None] * axis)
        inside = (far < radius + near) & (height < near) & (height > -depth - near)
        lowest = inside & (height > -near) & (far > radius - near) & (sine > LEAST) & (along > LEAST)
        return inside, lowest & (inner(arm, across) >= np.cos(LOWEST) * far * sine)

    def roll_on(self, problem, glides):
        """Let those contacts of a StepProblem that glide (C,) on rims be at the outermost places of those, in place.

        Returns (C,) bool, which those are.
        """
        rim, _ = self.of(problem, glides)
        on = rim >= 0
        index = places(on)
        if len(index):
            self._put(problem.contacts, problem.bodies, index, rim[index])
        return on

    def _put(self, touches, bodies, index, rim):
        axis, own = self.rims.axis[rim], moving_first(touches)[0][index]
        out = outward(touches.take(index), bodies.orientation, own)
        arm = self.rims.radius[rim][:, None] * square_to(out, axis)
        on_a, place = touches.body_a[index] == own, self.rims.middle[rim] + arm
        for name in ("point_a", "point_b", "margin_a", "margin_b", "start_gap", "gap_noise"):
            setattr(touches, name, getattr(touches, name).copy())
        for name, side in (("a", on_a), ("b", ~on_a)):
            getattr(touches, f"point_{name}")[index[side]] = place[side]
            getattr(touches, f"margin_{name}")[index[side]] = 0.0
        touches.rim_axis, touches.rim_arm = (np.zeros((len(touches), 3)) for _ in range(2))
        touches.rim_axis[index], touches.rim_arm[index] = axis, arm
        touches.start_gap[index] = gaps(touches.take(index), bodies.position, bodies.orientation)
        touches.gap_noise[index] = 0.0  # held where it is it would go up and down by what the solver leaves, and land


def _others(touches, bodies, on, lead):
    """(B,) bool: bodies that touch anything but the planes at their contacts ``lead`` (B,), or -1, with the contacts
    ``on`` (C,) bool.
    """
    own, other = moving_first(touches)
    out, of = np.zeros(len(lead), bool), lead[own]
    point = np.where((touches.body_a == other)[:, None], touches.point_a, touches.point_b)
    place = bodies.position[other] + rotate(bodies.orientation[other], point)
    aside = np.abs(inner(touches.normal, place - place[of]))
    size = NEAR * length(bodies.position[own] - place)
    same = (of >= 0) & on & (other == other[of]) & (inner(touches.normal, touches.normal[of]) > LIKE) & (aside < size)
    out[own[~same]] = out[other[~same]] = True
    return out


def with_others(touches, rims, may):
    """(C,) bool: those of Contacts that ``may`` (C,) glide, and the others of what they are the rims of.

    A disc that wobbles has places of its rim ahead that it comes to within the step, and none of them tells more than
    the outermost one.  rims: answer of ``NumberedRims.of``, or None.
    """
    if rims is None or not some(may & rims[1]):
        return may
    own = moving_first(touches)[0]
    rolls = np.zeros(own.max() + 1, bool)
    rolls[own[may & rims[1]]] = True
    return may | (rims[0] >= 0) & rolls[own]


def outward(touches, orientation, own):
    """(C, 3) outward normals of the bodies ``own`` (C,) of Contacts at these orientations (B, 4), in their frames."""
    sign = np.where(touches.body_a == own, -1.0, 1.0)[:, None]
    return rotate(conjugate(orientation[own]), sign * normals(touches, orientation))


def _rims_of(body):
    """(middle (3,), axis outwards (3,), radius, depth behind it) of each round end of a scene body, in its frame."""
    for shape in (part for own in body.shapes for part in own.parts()):
        for end in round_ends(shape):
            middle = shape.position + rotate(shape.orientation, end * shape.half_height * UP)
            yield middle, rotate(shape.orientation, end * UP), shape.radius, 2.0 * shape.half_height
