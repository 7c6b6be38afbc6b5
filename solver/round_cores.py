# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of two bodies that are round where they touch: balls, capsules and cylinders, on each other.

A plane between them holds one up that has gone past the other, by s^2 / (2 R) after a way of s around a distance R of
their middles: a ball that a turning cam of 0.3 m lifted hovered 1.5 mm above it at 8 rad/s and 24 frames a second.  So
where two such bodies touch at the start of a step, their gap is that of their cores at its end (reference/
round_cores.py).  The impulse acts along the normal of the start, between the ways of the step before and of this one,
which lead along chords: so it does no work.  By mid-step it acts along that half way to the free pose.  What rebounds,
or hits and parts, goes on along the plane of the hit.
"""

from dataclasses import dataclass

import numpy as np

from .flags import places
from .point_velocity import at_places
from .reference.rotation import dot, halfway
from .reference.round_cores import across, between, core_ways
from .rotations import conjugate, rotate
from .shapes import Capsule, Cylinder, Sphere

BALL, CAPSULE, CYLINDER = 1, 2, 3
SQUARE = 0.02  # cosine of the angle between normal and axis below which the side is touched
BESIDE = 0.02  # sine of the angle between two axes below which they are as one
NEAREST = 1e-4  # of the distance between cores: two axes are no more apart where they are nearest than at the contact
KNOWN = 1e-6  # of that distance: what detection knows it to
UP = np.array([0.0, 0.0, 1.0])


@dataclass(eq=False)
class RoundCores:
    """What S shapes of a scene's bodies have for cores, numbered as detection does."""

    kind: np.ndarray | None = None  # (S,) BALL, CAPSULE or CYLINDER, 0: none.  None: nobody asks
    axis: np.ndarray | None = None  # (S, 3) in the solver's frame of its body

    @classmethod
    def of(cls, bodies, frames):
        """bodies: of the scene; frames: BodyFrames.  Nobody asks where no two bodies have any."""
        parts = [(i, part) for i, body in enumerate(bodies) for shape in body.shapes for part in shape.parts()]
        kind = np.array([_kind(part) for _, part in parts], int)
        body = np.array([i for i, _ in parts], int)
        if len(np.unique(body[kind > 0])) < 2:
            return cls()
        turn = np.array([part.orientation for _, part in parts], float)
        return cls(kind, rotate(conjugate(frames.principal[body]), rotate(turn, np.broadcast_to(UP, (len(body), 3)))))

    def put(self, problem, contacts, near, links):
        """Fill in, in place, the cores of the contacts of a StepProblem that touch at its start.

        contacts: the ContactSet that comes first in those; near: gap up to which they touch [m]; links: of numbering.
        """
        if self.kind is None:
            return
        touches, bodies = problem.contacts, problem.bodies
        index = places((contacts.margin_a > 0.0) & (contacts.margin_b > 0.0))
        index = index[_led_or_alone(touches, bodies, index, near, links)] if len(index) else index
        if not len(index):
            return
        index = index[(touches.rebound_speed[index] == 0.0) & (touches.rebound_gap[index] == 0.0)]
        index = index[_stays(touches.take(index), bodies, problem.step, near)]
        if not len(index):
            return
        shapes = np.divmod(contacts.pair[index], len(self.kind))[::-1]
        index, e, f = self._axes(touches, bodies, index, shapes)
        if not len(index):
            return
        cores = {"core_axis_a": e, "core_axis_b": f, "core_reach": np.ones(len(index))}
        for name, values in cores.items():
            column = np.zeros((len(touches), *values.shape[1:]))
            column[index] = values
            setattr(touches, name, column)
        start = bodies.position, bodies.orientation
        far, plane = core_ways(touches, index, *start)[1], dot(touches.normal[index], between(touches, index, *start))
        reach = touches.margin_a[index] + touches.margin_b[index]
        # Of what rests the gap is what detection says it is, to the last digit.
        touches.core_reach[index] = reach + np.where(far - plane < KNOWN * reach, far - plane, 0.0)

    def _axes(self, touches, bodies, index, shapes):
        """Those of contacts ``index`` (K,) that are between cores, and the axes along which these may go, (K, 3) in the
        frames of either body.

        shapes: (K,) of bodies a and (K,) of bodies b.
        """
        near, sides, good = touches.take(index), [], np.ones(len(index), bool)
        for shape, body in zip(shapes, (near.body_a, near.body_b), strict=True):
            kind, axis = self.kind[shape], rotate(bodies.orientation[body], self.axis[shape])
            square = (kind != BALL) & (np.abs(dot(axis, near.normal)) <= SQUARE)
            good &= (kind > 0) & (square | (kind != CYLINDER))
            sides.append(np.where(square[:, None], axis, 0.0))
        d = between(touches, index, bodies.position, bodies.orientation)
        both = across(d, *sides)
        turned = np.cross(*sides)
        apart = dot(turned, turned) > BESIDE**2
        apart &= np.sqrt(dot(both, both)) >= (1.0 - NEAREST) * np.sqrt(dot(d, d))
        sides[0][~apart & sides[1].any(axis=1)] = 0.0
        e, f = (
            rotate(conjugate(bodies.orientation[body]), axis)
            for body, axis in zip((near.body_a, near.body_b), sides, strict=True)
        )
        return index[good], e[good], f[good]


def _led_or_alone(contacts, bodies, index, near, links):
    """(K,) bool: contacts ``index`` (K,) of bodies that touch nothing round which moves freely, without joints: of
    those turning_normals.py tells, which keeps the energy that both have.
    """
    a, b, n = contacts.body_a[index], contacts.body_b[index], bodies.dynamic_count
    free, meets = np.arange(len(bodies.mass)) < n, np.zeros(len(bodies.mass), bool)
    free[links.a] = free[links.b] = False
    both = free[a] & free[b] & (np.abs(contacts.start_gap[index]) <= near)
    meets[a[both]] = meets[b[both]] = True
    return ~(meets[a] | meets[b])


def _stays(contacts, bodies, step, near):
    """(K,) bool: Contacts that lie on each other at the start of a step [s], or would stay on each other after a hit.

    To lie is to be no farther, and come no faster, than what goes past each other bends away.  What hits stays if that
    is less than free motion presses.  near: gap up to which contacts touch [m].
    """
    start, free = (_past(contacts, bodies, velocity) for velocity in (bodies.velocity_at_start(), bodies.free_velocity))
    presses = -step * dot(_past(contacts, bodies, bodies.free_velocity - bodies.velocity), contacts.normal)
    closing = step * dot(start, contacts.normal)
    way = np.maximum(*(dot(past, past) - dot(past, contacts.normal) ** 2 for past in (start, free)))
    bends = step**2 * way / (contacts.margin_a + contacts.margin_b)
    lies = (np.abs(contacts.start_gap) <= near + bends) & (closing >= -(near + bends))
    return lies | (bends <= presses)


def _past(contacts, bodies, velocity):
    """(K, 3) velocity of the points of bodies a as those of bodies b see it [m/s]; velocity: (B, 6)."""
    sides = (contacts.body_a, contacts.point_a), (contacts.body_b, contacts.point_b)
    on_a, on_b = (at_places(bodies, velocity, *side) for side in sides)
    return on_a - on_b


def half_way(problem, index, carriers):
    """Give contacts ``index`` (K,) of a StepProblem between cores, in place, the normals that they have half way.

    carriers: (K,) bodies on which others ride.  Those go on as they did, for something holds them up; others fall.
    """
    touches, bodies = problem.contacts, problem.bodies
    position = 0.5 * (bodies.position + bodies.free_position)
    held = carriers[carriers < bodies.dynamic_count]
    position[held] = bodies.position[held] + 0.5 * problem.step * bodies.velocity[held, :3]
    d, far = core_ways(touches, index, position, halfway(bodies.orientation, bodies.free_orientation))
    touches.normal[index] = d / far[:, None]


def _kind(shape):
    """What core a scene shape has."""
    if isinstance(shape, Sphere):
        return BALL
    if isinstance(shape, Capsule):
        return CAPSULE
    return CYLINDER if isinstance(shape, Cylinder) else 0
