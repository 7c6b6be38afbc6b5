# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies on paths that turn far in a frame, as blades and propellers do, with something near.

A step knows where they are at its ends, and the shorter turn from the one to the other: at one turn a frame a blade
stood still for all that was in its sweep.
"""

import numpy as np

from .flags import places

FAR = np.pi  # [rad] up to which the shorter turn is the right one
TURN = 0.5 * np.pi  # [rad] in a step, for what turns farther in a frame


class Rotors:
    """The bodies of one scene that follow paths along which they turn fast."""

    def __init__(self, scene, model):
        """model: CollisionModel.  Balls look the same however they turn."""
        self._model, self._turned = model, {}
        for number, body in enumerate(scene.bodies):
            if body.path is None or model.balls[number] or not model.body_radius[number] > 0.0:
                continue
            turned = np.append(0.0, np.cumsum(body.path.turns()))  # since the first sample
            if turned[-1] > FAR:
                self._turned[number] = body.path.times, turned

    def steps(self, state, seconds, free):
        """Number of equal steps that the next ``seconds`` must be cut into.  free: (B,) bool, what moves freely."""
        steps, moving = 1, places(free)
        if not self._turned or not len(moving):
            return steps
        gravity = 0.5 * np.linalg.norm(self._model.gravity) * seconds**2
        for number, (times, turned) in self._turned.items():
            begin, end = np.interp((state.time, state.time + seconds), times, turned)
            if free[number] or end - begin <= FAR:
                continue
            # Centres of mass, from which a body reaches at most twice as far as from its origin.
            reach = 2.0 * (self._model.body_radius[moving] + self._model.body_radius[number]) + gravity
            way = state.velocity[moving, :3] - state.velocity[number, :3]
            apart = state.position[moving] - state.position[number]
            near = np.linalg.norm(apart, axis=1) <= reach + seconds * np.linalg.norm(way, axis=1)
            if near.any():
                steps = max(steps, int(np.ceil((end - begin) / TURN)))
        return steps
