# SPDX-License-Identifier: GPL-3.0-or-later
"""When balls and capsules touch each other, or what has edges, on their way of a step; and where they do."""

from dataclasses import dataclass

import numpy as np

from .closest_on_mesh import nearest_place
from .closest_shares import closest_shares
from .flags import numbers, some
from .reference.impact import time_to_zero
from .reference.rotation import cross
from .rotations import conjugate, exponential, multiply, rotate
from .vectors import inner, length

ROUNDS = 8  # of Newton's method for the time of the impact; two balls without gravity need as few as 4 for rounding
CLOSE = 1e-6  # of their radii: as near they must be at that time
GRAZING = 1e-2  # share of its speed with which one comes nearer that but passes: so balls pass from tile to tile
STRAIGHT = 1e-3  # [rad] less does not matter
EDGE_RADIUS = 1e-9
"""Of the size of what hits it: radius of edges, and of what flies itself, which so is round as well and hit along one
normal only."""


@dataclass
class Side:
    """The bodies of one side of N contacts, and the axis of the ball or capsule of each."""

    shape: np.ndarray  # (N,)
    middle: np.ndarray  # (N, 3) of the axis, or of the shape, in the body's frame [m]
    axis: np.ndarray  # (N, 3) half of it, from there to an end; 0 for balls, boxes and hulls
    reach: np.ndarray  # (N,) how far from the middle it may be touched, less the radius
    radius: np.ndarray  # (N,) around the axis
    center: np.ndarray  # (N, 3) of mass, in the body's frame
    heart: np.ndarray  # (N, 3) and in the world
    turn: np.ndarray  # (N, 4) orientation
    linear: np.ndarray  # (N, 3) velocity
    angular: np.ndarray  # (N, 3)
    pull: np.ndarray  # (N, 3) acceleration

    @classmethod
    def of(cls, model, shape, flight, pull):
        """Those of ``shape`` (N,) in a FreeFlight with the accelerations ``pull`` (B, 3)."""
        body, (position, orientation) = model.shape_body.take(shape), flight.poses
        radius, center = model.shape_rounding.take(shape), model.center_of_mass.take(body, 0)
        half, turn = np.where(radius > 0.0, model.shape_half[shape, 2] - radius, 0.0), orientation.take(body, 0)
        return cls(
            shape=shape,
            middle=model.shape_middle.take(shape, 0),
            axis=half[:, None] * model.shape_rotation[shape, :, 2],
            reach=np.where(radius > 0.0, half, model.shape_radius.take(shape)),
            radius=radius,
            center=center,
            heart=position.take(body, 0) + rotate(turn, center),
            turn=turn,
            linear=flight.velocity[0].take(body, 0),
            angular=flight.velocity[1].take(body, 0),
            pull=pull.take(body, 0),
        )

    def after(self, time):
        """The Moved bodies after ``time`` (N,)."""
        if self.stand():
            return self.now()
        time = time[:, None]
        turn = multiply(exponential(time * self.angular), self.turn)
        heart = self.heart + time * (self.linear + 0.5 * time * self.pull)
        return Moved(self, heart, turn, self.linear + time * self.pull)

    def stand(self):
        """Whether none of the bodies moves."""
        return not (some(self.linear) or some(self.angular) or some(self.pull))

    def now(self):
        """The Moved bodies where they are."""
        return Moved(self, self.heart, self.turn, self.linear)

    def take(self, index):
        """Those at ``index``."""
        index = numbers(index)
        return Side(*(each.take(index, 0) for each in vars(self).values()))

    def rim(self):
        """(N,) speed that turning gives the farthest place that may be touched [m/s]."""
        lever = length(self.middle - self.center) + self.reach
        return lever * length(self.angular)

    def at_share(self, share):
        """(N, 3) in the bodies' frames: places on the axes, at 0 one end and at 1 the other."""
        return self.middle + (2.0 * share[:, None] - 1.0) * self.axis


@dataclass
class Moved:
    """The bodies of a Side at a time."""

    side: Side
    heart: np.ndarray  # (N, 3) centres of mass in the world
    turn: np.ndarray  # (N, 4) orientation
    linear: np.ndarray  # (N, 3) velocity

    def take(self, index):
        """Those at ``index``."""
        index = numbers(index)
        return Moved(self.side.take(index), *(each.take(index, 0) for each in (self.heart, self.turn, self.linear)))

    def place(self, point):
        """(N, 3) in the world: points in the bodies' frames."""
        return self.heart + rotate(self.turn, point - self.side.center)

    def speed(self, point):
        """(N, 3) velocity of points in the bodies' frames."""
        if self.side.stand():
            return self.linear
        return self.linear + cross(self.side.angular, rotate(self.turn, point - self.side.center))

    def inside(self, place):
        """(N, 3) in the bodies' frames: places in the world."""
        return self.side.center + rotate(conjugate(self.turn), place - self.heart)

    def axis(self):
        """(N, 3), (N, 3): start of the axes in the world, and the way from there to their ends."""
        half = rotate(self.turn, self.side.axis)
        return self.place(self.side.middle) - half, 2.0 * half


@dataclass
class Touch:
    """Where both sides of N contacts are nearest at a time."""

    points: list  # (N, 3), (N, 3) in the bodies' frames
    normal: np.ndarray  # (N, 3) world, from the second to the first
    apart: np.ndarray  # (N,) distance less the radii [m]
    face: np.ndarray  # (N, 3) normal of the face that is touched, in the second body's frame; 0 elsewhere

    def motion(self, moved):
        """(rate of ``apart`` (N,), speed of the places past each other (N,)) [m/s]."""
        first, second = (each.speed(point) for each, point in zip(moved, self.points, strict=True))
        past = first - second
        return inner(self.normal, past), length(past)


def round_touch(moved):
    """The Touch of the axes of two Moved."""
    sides, axes = [each.side for each in moved], [each.axis() for each in moved]
    shares = closest_shares(*axes[0], *axes[1])
    points = [side.at_share(share) for side, share in zip(sides, shares, strict=True)]
    first, second = (start + share[:, None] * way for (start, way), share in zip(axes, shares, strict=True))
    apart = first - second
    far = np.sqrt(np.maximum(inner(apart, apart), 1e-300))
    normal = apart / far[:, None]
    return Touch(points, normal, far - sides[0].radius - sides[1].radius, np.zeros_like(normal))


def solid_touch(model):
    """Function as ``round_touch``, with boxes, hulls and meshes on the second side."""

    def touch(moved):
        axis, solid = moved
        start, way = axis.axis()
        near = nearest_place(model, solid.side.shape, solid.inside(start), rotate(conjugate(solid.turn), way))
        face = np.where(near.on_face[:, None], near.normal, 0.0)
        normal = rotate(solid.turn, near.normal)
        return Touch([axis.side.at_share(near.share), near.place], normal, near.length - axis.side.radius, face)

    return touch


def may_meet(sides, normal, gap, step):
    """(N,) bool: what may touch within the step, and turn the line between the two by more than STRAIGHT until then.

    Capsules turn it as they are hit.
    """
    a, b = sides
    drift = a.linear - b.linear + 0.5 * step * (a.pull - b.pull)
    rims = a.rim() + b.rim()
    across = drift - inner(drift, normal)[:, None] * normal
    way, aside = (step * (length(each) + rims) for each in (drift, across))
    turns = (aside > STRAIGHT * (a.radius + b.radius)) | a.axis.any(axis=1) | b.axis.any(axis=1)
    return (way > gap) & turns


def touch_in_flight(sides, touch, contact, step):
    """(time (N,) [s] at which both sides touch, the Touch then, (N,) bool: whether that is within the step, (N,) bool:
    whether they come through it apart, so that the Touch is that of its end).

    Args:
        touch: ``round_touch`` or like it.
        contact: points [(N, 3), (N, 3)] in the bodies' frames, normal (N, 3) from the second to the first and gap (N,)
            at the step's start.
    """
    points, normal, gap = contact
    speed = [side.now().speed(point) for side, point in zip(sides, points, strict=True)]
    closing, pull = (inner(normal, a - b) for a, b in (speed, (sides[0].pull, sides[1].pull)))
    time, low, high = np.minimum(time_to_zero(gap, closing, pull), step), np.zeros(len(gap)), np.full(len(gap), step)
    for _ in range(ROUNDS):
        moved = [side.after(time) for side in sides]
        found = touch(moved)
        rate, speed = found.motion(moved)
        near = np.abs(found.apart) <= CLOSE * (sides[0].radius + sides[1].radius)
        ahead = found.apart > 0.0
        if (near | (time >= step) & ahead).all():
            break
        low, high = np.where(ahead, time, low), np.where(ahead, high, time)
        time = np.where(near, time, _advanced(time, found.apart, rate, low, high))
    return time, found, near & (time > 0.0) & (rate < -GRAZING * speed), ahead & ~near & (time >= step)


def _advanced(time, apart, rate, low, high):
    """One step of Newton's method towards ``apart`` 0; where it leads outside, half way from ``low`` to ``high``."""
    closes = rate < 0.0
    there = time - apart / np.where(closes, rate, 1.0)
    within = closes & (there > low) & (there < high)
    return np.where(within, there, np.where(apart > 0.0, high, 0.5 * (low + high)))
