# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies held by their animation, and the hand-over from animation to physics and back.

A body that is let go flies on with the velocity of its path there.  A body that is taken back is on its path at once,
or glides to it within its blend time: what physics left it off its path, d(0), and how fast that changed, d'(0), die
away as a cubic that has both at the start and neither at the end,

    d(s) = d(0) (1 - 3 s^2 + 2 s^3) + T d'(0) (s - 2 s^2 + s^3)      s = (t - t0) / T

d is the offset of the body frame's origin, and the rotation vector from the path's orientation to the body's.
"""

from bisect import bisect_right

import numpy as np

from . import rotations
from .flags import places
from .path_table import PathTable
from .problem import TURNS, frozen
from .sample_rates import has_corner, sample_rates
from .vectors import length

SLACK = 1e-9  # [s] times are sums of steps
BACK = 1e-6  # of the blend time: over which the spin of a glide is measured
GLIDE = 13  # start time [s], offset [m], its rate, rotation vector [rad], its rate
NONE = np.concatenate([[-np.inf], np.zeros(GLIDE - 1)])


class Holding:
    """When each of B bodies is held.  K intervals: ``body`` (K,), ``start`` and ``end`` (K,) [s]."""

    def __init__(self, count, body, start, end):
        self.count = count
        self.body, self.start, self.end = np.asarray(body, int), np.asarray(start, float), np.asarray(end, float)
        self._changes = sorted({*self.start.tolist(), *self.end.tolist()})
        self._known = None, None

    @classmethod
    def of(cls, bodies):
        """Of a scene's bodies; those that are not dynamic are held for ever."""
        rows = [(i, *interval) for i, body in enumerate(bodies) for interval in body.held_times()]
        columns = np.array(rows, float).reshape(-1, 3).T
        return cls(len(bodies), columns[0].astype(int), columns[1], columns[2])

    def free(self, time):
        """(B,) bool: which bodies move freely in a step that starts at ``time`` [s].

        Read-only, and the same object until somebody is held or let go.
        """
        period = bisect_right(self._changes, time + SLACK)
        if self._known[0] != period:
            free = np.ones(self.count, bool)
            free[self.body[self._now(time)]] = False
            self._known = period, frozen(free)
        return self._known[1]

    def until(self, index, time):
        """When body ``index``, held at ``time``, is let go [s]."""
        return float(self.end[self._now(time) & (self.body == index)].max())

    def _now(self, time):
        return (self.start <= time + SLACK) & (time + SLACK < self.end)


class HandOver:
    """Places of held bodies, and what changes when a body is let go or taken back.

    bodies: of the scene; frames: BodyFrames; holding: Holding.  ``glide`` in what follows is State.glide, (B, 13) or
    None: rows as GLIDE says.
    """

    def __init__(self, bodies, frames, holding):
        self.bodies, self.frames, self.holding = bodies, frames, holding
        self._rates = {}  # of paths at their samples, see sample_rates.py
        self._paths = np.array([i for i, body in enumerate(bodies) if body.path is not None], int)
        self._lasts = np.array([body.motion != "dynamic" for body in bodies], bool)  # nobody lets go of it
        self._table = PathTable(bodies)

    def plan(self, index, now, time, glide):
        """Pose of the frame of body ``index``, held in a step from ``now``, at ``time``; past its release, on as it
        was let go.  Returns (position (3,), orientation (4,)).
        """
        body = self.bodies[index]
        end = self.holding.until(index, now)
        if time <= end or body.motion != "dynamic":
            return self._pose(index, time, glide)
        place, turn = self._pose(index, end, glide)
        linear, angular = self._velocity(index, end, glide)
        beyond = time - end
        return place + beyond * linear, rotations.multiply(rotations.exponential(beyond * angular), turn)

    def plans(self, which, now, time, glide):
        """``plan`` of each of the bodies ``which`` (K,): positions (K, 3), orientations (K, 4)."""
        place, turn, row = np.empty((len(which), 3)), np.empty((len(which), 4)), self._table.row[which]
        known = places(row >= 0)
        if len(known):
            place[known], turn[known] = (values[row[known]] for values in self._table.poses(time))
        for k in places(row < 0):
            place[k], turn[k] = self.plan(which[k], now, time, glide)
        return place, turn

    def apply(self, before, moved):
        """Change State ``moved``, in place, for the bodies that are let go or taken back where its step ends."""
        was, now = self.holding.free(before.time), self.holding.free(moved.time)
        if was is now:
            return
        for i in np.nonzero(was != now)[0]:
            if now[i]:
                linear, angular = self._velocity(i, self.holding.until(i, before.time), before.glide)
                moved.velocity[i] = np.concatenate([linear + self._lever(i, moved.orientation[i], angular), angular])
            else:
                self._take_back(i, moved)

    def led(self, time, state, number, velocity, orientation, among=True, speed=None):
        """``velocity`` (B + 1, 6) of bodies in a step from ``state``, but that of what animation moves as it is at
        ``time``, the start or the end of the step, instead of its mean.

        Mean velocities are along the chord, and of what turns about another place than its centre of mass the velocity
        turns with it: what rides on it would end each step with a velocity of half a step ago, and slide off.
        number: Numbering; orientation: (B + 1, 4) at ``time``; among: (B + 1,) bool, those asked for; speed: what tells
        how fast they are, ``smooth_velocity`` if None.
        """
        if not len(self._paths):
            return velocity
        pairs = self.carriers(state.time, time, number, among & velocity.any(axis=1))
        if not pairs:
            return velocity
        which, ours = np.array(pairs).T
        begins = time == state.time
        both = np.array([(speed or self.smooth_velocity)(i, time, state.glide, begins) for i, _ in pairs])
        linear, angular = both[:, 0], both[:, 1]
        velocity = velocity.copy()
        velocity[ours, :3] = linear + self._lever(which, orientation[ours], angular)
        velocity[ours, 3:] = angular
        return velocity

    def carriers(self, begin, time, number, moves):
        """[(number in the scene, number of the solver's)] of bodies that animation moves from ``begin`` to ``time``.

        number: Numbering; moves: (B + 1,) bool, those that have a velocity and are asked for.
        """
        which = self._paths
        ours = number.solver[which]
        led = (ours >= number.dynamic_count) & moves[ours] & ~self.holding.free(begin)[which]
        for i in places(led & ~self._lasts[which]):
            led[i] = self.holding.until(which[i], begin) >= time  # else it is let go in the step
        return list(zip(which[led].tolist(), ours[led].tolist(), strict=True))

    def around(self, index, time, glide):
        """Of the path of body ``index`` just before ``time`` and just after: (linear of the origin, angular) each."""
        return tuple(self._velocity(index, time + late, glide) for late in (-SLACK, SLACK))

    def samples(self, index, begin, end):
        """[(time, how far apart the middles of the intervals are before and after it)]: ``begin``, and the samples of
        the path of body ``index`` from there to ``end`` [s].
        """
        times = self.bodies[index].path.times
        first, last = np.searchsorted(times, (begin - SLACK, end - SLACK))
        within = np.arange(first, last)
        at = np.append(begin, times[within[times[within] > begin + SLACK]])
        near = np.searchsorted(times, at - SLACK)
        apart = times[np.minimum(near + 1, len(times) - 1)] - times[np.maximum(near - 1, 0)]
        return list(zip(at.tolist(), (0.5 * apart).tolist(), strict=True))

    def smooth_velocity(self, index, time, glide, begins):
        """(linear of the frame's origin, angular) of body ``index`` at ``time``: the means of before and after; at a
        corner of its path that of the step, which ``begins`` there or ends.
        """
        body = self.bodies[index]
        times = body.path.times
        at = int(np.searchsorted(times, time - SLACK))
        between = at == len(times) or times[at] > time + SLACK
        if between or not (glide is None or _left(glide[index], time, body.blend_time) is None):
            return [smooth(*rates, begins) for rates in zip(*self.around(index, time, glide), strict=True)]
        if index not in self._rates:
            linear, angular = body.path.rates
            turns = length(angular) * np.diff(times) > TURNS
            self._rates[index] = sample_rates(times, linear, turns), sample_rates(times, angular, np.ones_like(turns))
        return [known[0 if begins else 1][at] for known in self._rates[index]]

    def velocity_within(self, index, time, glide, begins):
        """``smooth_velocity``, and between two samples that of the two parabolas there (led_course.py)."""
        times = self.bodies[index].path.times
        at = int(np.searchsorted(times, time - SLACK))
        if not 0 < at < len(times) or times[at] <= time + SLACK:
            return self.smooth_velocity(index, time, glide, begins)
        share = (time - times[at - 1]) / (times[at] - times[at - 1])
        first, last = (self.smooth_velocity(index, times[k], glide, k < at) for k in (at - 1, at))
        ends = first if share < 0.5 else last
        nearer, out = 1.0 - 2.0 * min(share, 1.0 - share), []
        for mean, one, other, end in zip(self._velocity(index, time, glide), first, last, ends, strict=True):
            middle = 2.0 * mean - 0.5 * (one + other)
            out.append(middle + nearer * (end - middle))
        return out

    def _take_back(self, i, moved):
        body = self.bodies[i]
        if moved.glide is None:
            moved.glide = np.tile(NONE, (len(self.bodies), 1))
        moved.glide = moved.glide.copy()
        moved.glide[i] = NONE
        place, turn = body.path.pose(moved.time)
        linear, angular = body.path.velocity(moved.time + SLACK)
        if body.blend_time > 0.0:
            found = self.frames.to_body(moved.position, moved.orientation)
            lever = self._lever(i, moved.orientation[i], moved.velocity[i, 3:])
            apart = rotations.multiply(found[1][i], rotations.conjugate(turn))
            vector = rotations.logarithm(apart)
            spin = moved.velocity[i, 3:] - rotations.rotate(apart, angular)
            rate = _inverse_left_jacobian(vector) @ spin
            moved.glide[i] = np.concatenate(
                [[moved.time], found[0][i] - place, moved.velocity[i, :3] - lever - linear, vector, rate]
            )
            return
        moved.position[i] = place + rotations.rotate(turn, self.frames.center[i])
        moved.orientation[i] = rotations.multiply(turn, self.frames.principal[i])
        moved.velocity[i] = np.concatenate([linear + self._lever(i, moved.orientation[i], angular), angular])
        moved.way[i] = np.inf  # nobody looked at its overlaps

    def _lever(self, i, orientation, angular):
        """Velocity of the centre of mass beyond that of the frame's origin; orientation: of the solver's frame.

        i: a number, or those of several bodies (K,).
        """
        turn = rotations.multiply(orientation, rotations.conjugate(self.frames.principal[i]))
        return np.cross(angular, rotations.rotate(turn, self.frames.center[i]))

    def _pose(self, index, time, glide):
        body = self.bodies[index]
        place, turn = body.prescribed(time)[:2]
        left = None if glide is None else _left(glide[index], time, body.blend_time)
        if left is None:
            return place, turn
        return place + left[0], rotations.multiply(rotations.exponential(left[2]), turn)

    def _velocity(self, index, time, glide):
        """(linear of the frame's origin, angular) of a dynamic body's plan at ``time``."""
        body = self.bodies[index]
        linear, angular = body.path.velocity(time)
        left = None if glide is None else _left(glide[index], time, body.blend_time)
        if left is None:
            return linear, angular
        back = BACK * body.blend_time
        turn = rotations.multiply(
            self._pose(index, time, glide)[1], rotations.conjugate(self._pose(index, time - back, glide)[1])
        )
        return linear + left[1], rotations.logarithm(turn) / back


def smooth(before, after, begins):
    """Velocity (..., 3) at a sample between two intervals; ``begins``: whether the step begins there, or ends."""
    corner = has_corner(before, after)[..., None]
    return np.where(corner, after if begins else before, 0.5 * (before + after))


def _left(row, time, blend):
    """(offset, its rate, rotation vector) still left of a glide, each (3,), or None where there is nothing left."""
    if not blend > 0.0 or not row[0] <= time < row[0] + blend:
        return None
    s = (time - row[0]) / blend
    value, slope = 1.0 - s * s * (3.0 - 2.0 * s), blend * s * (1.0 - s) ** 2
    rates = -6.0 * s * (1.0 - s) / blend, (1.0 - s) * (1.0 - 3.0 * s)
    return (
        value * row[1:4] + slope * row[4:7],
        rates[0] * row[1:4] + rates[1] * row[4:7],
        value * row[7:10] + slope * row[10:13],
    )


def _inverse_left_jacobian(vector):
    """(3, 3): rate of a rotation vector from the angular velocity of what it turns, both along world axes."""
    angle = float(np.linalg.norm(vector))
    x, y, z = vector
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    half = 0.5 * angle
    factor = 1.0 / 12.0 if angle < 1e-4 else (1.0 - half / np.tan(half)) / angle**2
    return np.eye(3) - 0.5 * skew + factor * skew @ skew
