# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision shapes: what they are, where they sit in their body, and the mass they would have.

Every shape has a ``position`` (3,) [m] and an ``orientation`` (quaternion xyzw) in the body's frame, and answers, in
the body's frame and axes and at unit density:

    solid()             volume, centre and inertia at once (``mass.Solid``)
    volume()            [m^3]
    center_of_mass()    (3,) [m]
    inertia()           (3, 3) about that centre [m^5]: times the density [kg/m^3] it is [kg m^2]
    bounds()            (lower (3,), upper (3,)) [m]
    parts()             the shapes that collide for it

Shapes never change after construction, so bodies may share them.  A new shape is one class here, one in
``model.py`` and one check in ``validate_bodies.py``.
"""

from dataclasses import dataclass
from functools import cached_property
from math import pi
from typing import ClassVar

import numpy as np

from . import coerce, mass, rotations, winding
from .convex_hull import convex_hull, hull_slices
from .errors import SceneError

ORIGIN = (0.0, 0.0, 0.0)
UPRIGHT = (0.0, 0.0, 0.0, 1.0)
PLACED = {"position": coerce.array, "orientation": coerce.quaternion}
ROUND = {"radius": coerce.number, "half_height": coerce.number, **PLACED}


class Shape(coerce.CoercedOnce):
    """What all shapes share.  A shape says ``_solid()`` and ``_support(directions)`` in its own frame."""

    position: np.ndarray
    orientation: np.ndarray

    def solid(self):
        """Volume, centre and inertia in the body's frame at unit density: ``mass.Solid``.

        Raises:
            SceneError: for shapes that enclose no volume.
        """
        return self._placed

    @cached_property
    def _placed(self):
        return self._solid().moved(rotations.matrices(self.orientation), self.position)

    def volume(self):
        """Volume [m^3].  Raises SceneError where the shape encloses none."""
        return self._solid().volume

    def center_of_mass(self):
        """Centre of the volume (3,) in the body's frame [m].  Raises SceneError where there is no volume."""
        return self.solid().center

    def inertia(self):
        """Inertia (3, 3) at unit density about the shape's own centre of mass, in the body's axes [m^5]."""
        return self.solid().inertia

    def bounds(self):
        """The smallest box along the body's axes that holds the shape: (lower (3,), upper (3,)) [m]."""
        axes = rotations.matrices(self.orientation)  # row i: the body's axis i in the shape's axes
        return self.position - self._support(-axes), self.position + self._support(axes)

    def encloses_volume(self):
        """Whether ``solid()`` has an answer."""
        return True

    def parts(self):
        """The shapes that collide for this one, in the body's frame: mostly itself."""
        return [self]


def _diagonal(volume, center_z, x, y, z):
    return mass.Solid(volume, np.array([0.0, 0.0, center_z]), np.diag([x, y, z]).astype(float))


@dataclass(frozen=True, eq=False)
class Box(Shape):
    """A box around its origin.  half_extents: (3,) half edge lengths along x, y, z [m]."""

    half_extents: np.ndarray
    position: np.ndarray = ORIGIN
    orientation: np.ndarray = UPRIGHT
    _coerce: ClassVar = {"half_extents": coerce.array, **PLACED}

    def _solid(self):
        a, b, c = self.half_extents**2
        volume = 8.0 * float(np.prod(self.half_extents))
        return _diagonal(volume, 0.0, volume * (b + c) / 3, volume * (a + c) / 3, volume * (a + b) / 3)

    def _support(self, directions):
        return np.abs(directions) @ self.half_extents


@dataclass(frozen=True, eq=False)
class Sphere(Shape):
    """A ball around its origin.  radius [m]."""

    radius: float
    position: np.ndarray = ORIGIN
    orientation: np.ndarray = UPRIGHT
    _coerce: ClassVar = {"radius": coerce.number, **PLACED}

    def _solid(self):
        volume = 4.0 / 3.0 * pi * self.radius**3
        return _diagonal(volume, 0.0, *[0.4 * volume * self.radius**2] * 3)

    def _support(self, directions):
        return np.full(len(directions), self.radius)


@dataclass(frozen=True, eq=False)
class Capsule(Shape):
    """A cylinder along local Z with a half ball on each end, around its origin.

    radius [m] of both; half_height [m]: half the length of the straight part, without the half balls.
    """

    radius: float
    half_height: float
    position: np.ndarray = ORIGIN
    orientation: np.ndarray = UPRIGHT
    _coerce: ClassVar = ROUND

    def _solid(self):
        r, h = self.radius, self.half_height
        cylinder, ball = 2.0 * pi * r**2 * h, 4.0 / 3.0 * pi * r**3
        # The centre of a half ball lies 3 r / 8 beyond the straight part: 2 h (3 r / 8) = 0.75 h r, next to h^2.
        across = cylinder * (r**2 / 4 + h**2 / 3) + ball * (0.4 * r**2 + h**2 + 0.75 * h * r)
        return _diagonal(cylinder + ball, 0.0, across, across, cylinder * r**2 / 2 + ball * 0.4 * r**2)

    def _support(self, directions):
        return self.radius + np.abs(directions[:, 2]) * self.half_height


@dataclass(frozen=True, eq=False)
class Cylinder(Shape):
    """A cylinder along local Z around its origin.  radius [m], half_height: half its length [m]."""

    radius: float
    half_height: float
    position: np.ndarray = ORIGIN
    orientation: np.ndarray = UPRIGHT
    _coerce: ClassVar = ROUND

    def _solid(self):
        r, h = self.radius, self.half_height
        volume = 2.0 * pi * r**2 * h
        across = volume * (r**2 / 4 + h**2 / 3)
        return _diagonal(volume, 0.0, across, across, volume * r**2 / 2)

    def _support(self, directions):
        return self.radius * np.hypot(directions[:, 0], directions[:, 1]) + np.abs(directions[:, 2]) * self.half_height


@dataclass(frozen=True, eq=False)
class Cone(Shape):
    """A cone along local Z: base at -half_height, apex at +half_height, as in newton.

    radius of the base [m], half_height: half its height [m].  The centre of mass lies at z = -half_height / 2.
    """

    radius: float
    half_height: float
    position: np.ndarray = ORIGIN
    orientation: np.ndarray = UPRIGHT
    _coerce: ClassVar = ROUND

    def _solid(self):
        r, h = self.radius, 2.0 * self.half_height
        volume = pi * r**2 * h / 3.0
        across = volume * (3.0 / 20.0 * r**2 + 3.0 / 80.0 * h**2)
        return _diagonal(volume, -h / 4.0, across, across, 0.3 * volume * r**2)

    def _support(self, directions):
        base = self.radius * np.hypot(directions[:, 0], directions[:, 1]) - directions[:, 2] * self.half_height
        return np.maximum(base, directions[:, 2] * self.half_height)


@dataclass(frozen=True, eq=False)
class ConvexHull(Shape):
    """The convex hull of points.  vertices: (V, 3) [m], at least four, not all in one plane."""

    vertices: np.ndarray
    position: np.ndarray = ORIGIN
    orientation: np.ndarray = UPRIGHT
    _coerce: ClassVar = {"vertices": coerce.array, **PLACED}

    @cached_property
    def triangles(self):
        """Surface (T, 3) as indices into ``vertices``, counter-clockwise from outside.  SceneError when coplanar."""
        return convex_hull(self.vertices)

    def growing(self):
        """Finds ``triangles`` in slices: a generator, for those who have other things to do meanwhile."""
        if "triangles" not in self.__dict__:
            self.__dict__["triangles"] = yield from hull_slices(self.vertices)

    @cached_property
    def _polyhedron(self):
        return mass.polyhedron(self.vertices, self.triangles)

    def _solid(self):
        return self._polyhedron

    def _support(self, directions):
        return (self.vertices @ directions.T).max(axis=0)


@dataclass(frozen=True, eq=False)
class TriangleMesh(Shape):
    """A surface of triangles, concave or open.

    vertices: (V, 3) [m]; triangles: (T, 3) vertex numbers, counter-clockwise seen from outside; those that look the
    other way than their neighbours are turned.
    times: (S,) [s], strictly increasing, and moving_vertices: (S, V, 3) [m] of a mesh that deforms, linear in between
    and at rest outside; ``vertices`` are those of the start.  Only bodies that are not dynamic may deform.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    position: np.ndarray = ORIGIN
    orientation: np.ndarray = UPRIGHT
    times: np.ndarray | None = None
    moving_vertices: np.ndarray | None = None
    _coerce: ClassVar = {
        **{"vertices": coerce.array, "triangles": coerce.indices, **PLACED},
        **{"times": coerce.array, "moving_vertices": coerce.singles},
    }

    def vertices_at(self, time):
        """(V, 3) at ``time`` [s]."""
        if self.times is None:
            return self.vertices
        i = int(np.clip(np.searchsorted(self.times, time, side="right") - 1, 0, max(len(self.times) - 2, 0)))
        if len(self.times) == 1:
            return self.moving_vertices[0].astype(float)
        share = np.clip((time - self.times[i]) / (self.times[i + 1] - self.times[i]), 0.0, 1.0)
        return (1.0 - share) * self.moving_vertices[i].astype(float) + share * self.moving_vertices[i + 1]

    @cached_property
    def _welded(self):
        # Vertices at the same place count as one: importers split them along seams of normals and materials.
        places, welded = np.unique(self.vertices, axis=0, return_inverse=True)
        return places, welded.reshape(-1)[self.triangles].astype(np.int64)

    @cached_property
    def _turned(self):
        return winding.turned(*self._welded)

    @cached_property
    def wound(self):
        """(T, 3) ``triangles``, those turned that look the other way than their neighbours do."""
        return np.where(self._turned[:, None], self.triangles[:, ::-1], self.triangles)

    def outward(self):
        """(T, 3) the same, all turned where a closed mesh is inside out."""
        return self.wound[:, ::-1] if self.is_closed() and self._polyhedron.volume < 0.0 else self.wound

    @cached_property
    def _closed(self):
        _, corners = self._welded
        corners = np.where(self._turned[:, None], corners[:, ::-1], corners)
        start, end = corners.reshape(-1), np.roll(corners, -1, axis=1).reshape(-1)
        low, high = np.minimum(start, end), np.maximum(start, end)
        _, edge = np.unique(low * len(self.vertices) + high, return_inverse=True)
        balance = np.bincount(edge.reshape(-1), weights=np.sign(end - start).astype(float))
        return bool(np.all(balance == 0.0))

    def is_closed(self):
        """Whether the surface encloses a volume without doubt: each edge is passed as often one way as the other.

        False for open meshes and for those whose surface has one side only.
        """
        return self._closed

    def encloses_volume(self):
        """Closed, and with a volume that is not just rounding."""
        return self.is_closed() and abs(self._polyhedron.volume) > self._least_volume

    @cached_property
    def _polyhedron(self):
        return mass.polyhedron(self.vertices, self.wound)

    @property
    def _least_volume(self):
        return 1e-12 * float(np.ptp(self.vertices, axis=0).max()) ** 3

    def _solid(self):
        if not self.is_closed():
            raise SceneError(
                "the mesh is open, so it encloses no volume: close it, use a ConvexHull, or give mass, center_of_mass "
                "and inertia"
            )
        solid = self._polyhedron
        if abs(solid.volume) <= self._least_volume:
            raise SceneError(
                f"the mesh encloses a volume of {solid.volume:.3g} m^3: give it thickness, use a Box, "
                "or give mass, center_of_mass and inertia"
            )
        # A mesh turned inside out throughout is the same solid.
        return solid if solid.volume > 0 else mass.Solid(-solid.volume, solid.center, -solid.inertia)

    def _support(self, directions):
        return (self.vertices @ directions.T).max(axis=0)


@dataclass(frozen=True, eq=False)
class ConvexDecomposition(TriangleMesh):
    """A mesh that collides as convex pieces: volume, centre and inertia are the mesh's own.

    vertices, triangles: as of TriangleMesh.  pieces: arrays (V, 3), whose hulls cover the mesh [m], as ``decompose``
    finds them.
    """

    pieces: tuple = ()
    _coerce: ClassVar = {**TriangleMesh._coerce, "pieces": coerce.arrays}

    @cached_property
    def _hulls(self):
        return [ConvexHull(piece, self.position, self.orientation) for piece in self.pieces]

    def parts(self):
        """The hulls of the pieces."""
        return list(self._hulls)


@dataclass(frozen=True, eq=False)
class Plane(Shape):
    """Everything below a plane without end: z <= 0 in its own frame is solid.  Static bodies only."""

    position: np.ndarray = ORIGIN
    orientation: np.ndarray = UPRIGHT
    _coerce: ClassVar = PLACED

    def encloses_volume(self):
        """Never."""
        return False

    def _solid(self):
        raise SceneError("a Plane has no finite volume: use it on static bodies only, or a Box instead")

    def _support(self, directions):
        upwards = directions[:, 2] >= 1.0 - 1e-12
        return np.where(upwards, 0.0, np.inf)


SHAPES = {
    shape.__name__: shape
    for shape in (Box, Sphere, Capsule, Cylinder, Cone, ConvexHull, TriangleMesh, ConvexDecomposition, Plane)
}
"""Class name -> class, the shapes that a file may name."""
