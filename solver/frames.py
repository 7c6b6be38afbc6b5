# SPDX-License-Identifier: GPL-3.0-or-later
"""Body frames and solver frames: the artist's origin against the centre of mass and the principal axes of inertia."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from . import rotations


@dataclass
class BodyFrames:
    """Mass properties of B bodies and where each solver frame lies in its body's frame.

    Immovable bodies have infinite mass and inertia; their solver frame is centred like the others'.
    """

    mass: np.ndarray  # (B,) [kg]
    inertia: np.ndarray  # (B, 3) principal moments [kg m^2]
    center: np.ndarray  # (B, 3) centre of mass in the body's frame [m]
    principal: np.ndarray  # (B, 4) solver axes in the body's frame

    def to_solver(self, position, orientation):
        """Poses of the body frames -> poses of the solver frames.  (..., B, 3), (..., B, 4)."""
        moved = position + rotations.rotate(orientation, self.center)
        return moved, rotations.multiply(orientation, self.principal)

    def to_body(self, position, orientation, bodies=slice(None)):
        """Poses of the solver frames of ``bodies``, (..., N, 3) and (..., N, 4) -> poses of the body frames."""
        if self._turned:
            orientation = rotations.multiply(orientation, rotations.conjugate(self.principal[bodies]))
        body = rotations.normalised(orientation)
        return position - rotations.rotate(body, self.center[bodies]) if self._off_centre else position.copy(), body

    @cached_property
    def _turned(self):
        return bool((self.principal != rotations.IDENTITY).any())

    @cached_property
    def _off_centre(self):
        return bool(self.center.any())

    def local(self, body, point):
        """Points in body frames -> in solver frames.  body (N,), point (N, 3)."""
        return rotations.rotate(rotations.conjugate(self.principal[body]), point - self.center[body])

    def outward(self, body, point):
        """Points in solver frames -> in body frames.  body (N,), point (N, 3)."""
        return rotations.rotate(self.principal[body], point) + self.center[body]


def body_frames(scene):
    """The BodyFrames of a scene.  Raises SceneError where a dynamic body's mass cannot be told."""
    count = len(scene.bodies)
    frames = BodyFrames(
        np.full(count, np.inf),
        np.full((count, 3), np.inf),
        np.zeros((count, 3)),
        np.tile(rotations.IDENTITY, (count, 1)),
    )
    for i, body in enumerate(scene.bodies):
        mass, frames.center[i], inertia = body.mass_properties()
        if body.motion != "dynamic":
            continue
        frames.mass[i] = mass
        frames.inertia[i], frames.principal[i] = principal_axes(inertia)
    return frames


def principal_axes(inertia):
    """(principal moments (3,), quaternion of their axes) of a symmetric tensor (3, 3).

    A tensor that is diagonal already keeps its axes, so that symmetric bodies keep the orientation they were given.
    """
    off = np.abs(inertia - np.diag(np.diag(inertia))).max()
    if off <= 1e-12 * np.abs(inertia).max():
        return np.diag(inertia).copy(), rotations.IDENTITY.copy()
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    return moments, rotations.from_matrix(axes)
