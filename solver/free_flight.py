# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that fly freely through a step, and what contacts take of their fall: for the impacts of that step."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .flags import places, some
from .reference.rotation import cross
from .rotations import rotate
from .vectors import inner

HELD_BY = 3  # rounds: things that hold a body, or stand on each other
INTO = 1e-3  # of the smaller half extent, by which free flight leads into what stops it


@dataclass
class FreeFlight:
    """The motion of B bodies from the start of a step on."""

    poses: tuple  # position (B, 3) and orientation (B, 4) of the body frames
    velocity: tuple  # linear (B, 3) of the centres of mass [m/s] and angular (B, 3) [rad/s]
    step: float  # [s]
    pull: np.ndarray  # (B, 3) acceleration [m/s^2]
    contacts: object  # ContactSet found at the start

    @cached_property
    def unheld(self):
        """(B, 3) ``pull`` but for what contacts take of it: bodies rest or roll on something.

        A contact holds where free motion would gather more speed in half a step than it has.
        """
        found, step, linear = self.contacts, self.step, self.velocity[0]
        pull, a, b, normal = self.pull.copy(), found.body_a, found.body_b, found.normal
        rate = np.abs(inner(normal, linear.take(a, 0) - linear.take(b, 0)))
        for _ in range(HELD_BY):
            fall = -0.5 * step * inner(normal, pull.take(a, 0) - pull.take(b, 0))
            holds = (rate < fall) & (found.gap < step * fall)
            if not some(holds):
                break
            holds = places(holds)
            upward = normal.take(holds, 0)
            for body, out in ((a.take(holds), upward), (b.take(holds), -upward)):
                into, most = np.minimum(inner(pull[body], out), 0.0), np.zeros(len(pull))
                np.minimum.at(most, body, into)
                one = into == most[body]  # of several with one normal
                pull[body[one]] -= into[one, None] * out[one]
        return pull

    def stopped(self, found, but, hits, model):
        """(B,) bool: bodies that go elsewhere in the step, for contacts stop them or throw them back.

        found: ContactSet; but: numbers of its contacts that do not count; hits: arrays of bodies that hit something.
        """
        others = np.ones(len(found), bool)
        others[but] = False
        found = found.take(others)
        (position, orientation), (linear, angular), speed = self.poses, self.velocity, []
        for body, point in ((found.body_a, found.point_a), (found.body_b, found.point_b)):
            arm = rotate(orientation[body], point - model.center_of_mass[body])
            speed.append(linear[body] + 0.5 * self.step * self.unheld[body] + cross(angular[body], arm))
        size = np.minimum(model.body_size[found.body_a], model.body_size[found.body_b])
        into = found.gap + self.step * inner(found.normal, speed[0] - speed[1]) < -INTO * size
        out = np.zeros(len(position), bool)
        for body in (found.body_a[into], found.body_b[into], *hits):
            out[body] = True
        return out & model.movable
