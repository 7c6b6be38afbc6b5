# SPDX-License-Identifier: GPL-3.0-or-later
"""Volume, centre of mass and inertia of solids, at unit density, in float64.

Triangle meshes and hulls: the sum over signed tetrahedra between each triangle and one point (Eberly 2002,
"Polyhedral Mass Properties (Revisited)"; the covariance form is Blow and Binstock 2004).
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Solid:
    """Mass properties at unit density: volume [m^3], centre (3,) [m], inertia (3, 3) about the centre [m^5]."""

    volume: float
    center: np.ndarray
    inertia: np.ndarray

    def moved(self, rotation, translation):
        """The same solid turned by ``rotation`` (3, 3) about the origin, then moved by ``translation`` (3,)."""
        return Solid(self.volume, rotation @ self.center + translation, rotation @ self.inertia @ rotation.T)


def shifted(inertia, mass, offset):
    """Inertia (3, 3) about a point at distance ``offset`` (3,) from the centre of mass (parallel axis theorem)."""
    offset = np.asarray(offset, float)
    return inertia + mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))


def union(solids):
    """One Solid from several that do not overlap; where they do, the overlap counts once for each."""
    if len(solids) == 1:
        return solids[0]
    volume = sum(solid.volume for solid in solids)
    center = sum(solid.volume * solid.center for solid in solids) / volume
    inertia = sum(shifted(solid.inertia, solid.volume, solid.center - center) for solid in solids)
    return Solid(volume, center, inertia)


def polyhedron(vertices, triangles):
    """The solid inside a closed surface of triangles.

    Args:
        vertices: (V, 3) [m].
        triangles: (T, 3) indices, counter-clockwise seen from outside.  Turned inside out throughout, the volume comes
            out negative while centre and inertia / volume are the same.

    Returns:
        Solid; its volume is signed, its centre meaningless when the volume is zero.
    """
    vertices = np.asarray(vertices, float)
    origin = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))  # keeps digits when the mesh is far from its origin
    corners = vertices[triangles] - origin
    six_volumes = np.einsum("ti,ti->t", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))
    volume = six_volumes.sum() / 6.0
    sums = corners.sum(axis=1)
    if volume == 0.0:
        return Solid(0.0, origin, np.zeros((3, 3)))
    center = (six_volumes @ sums) / (24.0 * volume)
    # Integral of x x^T over a tetrahedron with one corner at the origin: (sum of corners c c^T + s s^T) * 6V / 120.
    second = np.einsum("t,tci,tcj->ij", six_volumes, corners, corners) + np.einsum(
        "t,ti,tj->ij", six_volumes, sums, sums
    )
    second = second / 120.0 - volume * np.outer(center, center)
    return Solid(float(volume), center + origin, np.trace(second) * np.eye(3) - second)
