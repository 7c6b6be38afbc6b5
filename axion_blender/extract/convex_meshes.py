# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes that are boxes or convex solids of few corners: they collide as these.

Blender gives passive bodies the shape Mesh, and most of them are cubes, scaled to a floor or a wall.  As a surface of
triangles a floor has no inside to tell by: what starts half way through a thin one may leave below, and each look at it
takes longer.  Rooms stay surfaces: those inside which something stands.
"""

import numpy as np

from ...solver import Box, ConvexHull, TriangleMesh
from .. import conventions

ON = 2e-6  # of the extent: what is nearer to a plane is on it; coordinates are in single precision
FLAT = 1e-5  # of the extent: thinner than that there is no inside
PLANES = 128  # faces, at most
SAMPLE = 1024  # triangles that are looked at first
CORNERS = 64  # at most: hulls of more take as long as meshes
SQUARE = 1e-5  # cosine of the angle between faces of a box, about
INSIDE = 0.9  # of its smallest half extent: so far inside stands what is in a room


class Solids:
    """What ``simplest`` makes of shapes, kept, because many objects share one."""

    def __init__(self):
        self._made = {}

    def of(self, shape):
        """``simplest`` of a shape."""
        if id(shape) not in self._made:
            self._made[id(shape)] = shape, simplest(shape)  # it is kept, so that no other one gets its number
        return self._made[id(shape)][1]


def keep_rooms(bodies, meshes):
    """Give those of solver.Body ``bodies`` their shapes back in which the middle of a moving one stands at the start.

    meshes: {name of a body whose shapes are others: those that it had}.
    """
    if not meshes:
        return
    number = [own for own, made in enumerate(bodies) if made.motion == "dynamic" for _ in made.shapes]
    if not number:
        return
    bounds = np.array([shape.bounds() for made in bodies if made.motion == "dynamic" for shape in made.shapes])
    turn = conventions.rotation_matrix(np.array([bodies[own].orientation for own in number], float))
    place = np.array([bodies[own].position for own in number], float)
    place += np.einsum("nij,nj->ni", turn, 0.5 * bounds.sum(axis=1))
    least, number = INSIDE * _room(bounds), np.array(number)
    shapes = np.bincount(number, minlength=len(bodies))
    for own, made in enumerate(bodies):
        if made.name not in meshes or _room(np.array([s.bounds() for s in made.shapes])).max() <= least.min():
            continue
        local = (place - made.position) @ conventions.rotation_matrix(made.orientation)
        held = np.zeros(len(bodies), int)
        for solid in (shape for shape in made.shapes if isinstance(shape, (Box, ConvexHull))):
            held += np.bincount(number[_depth(solid, local) >= least], minlength=len(bodies))
        held[own] = -1
        if ((held == shapes) & (shapes > 0)).any():
            made.shapes = meshes[made.name]


def _room(bounds):
    """(N,) half of the smallest side of each of boxes (N, 2, 3), lower and upper corner [m]."""
    return 0.5 * (bounds[:, 1] - bounds[:, 0]).min(axis=1)


def _depth(solid, places):
    """(N,) how far places (N, 3), in the frame of its body, are inside a Box or ConvexHull; outside below 0 [m]."""
    local = (places - solid.position) @ conventions.rotation_matrix(solid.orientation)
    if isinstance(solid, Box):
        return (solid.half_extents - np.abs(local)).min(axis=1)
    tips = solid.vertices[solid.triangles]
    normal = np.cross(tips[:, 1] - tips[:, 0], tips[:, 2] - tips[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    return (np.einsum("ti,ti->t", normal, tips[:, 0]) - local @ normal.T).min(axis=1)


def simplest(shape):
    """The Box or ConvexHull that is the same solid as a TriangleMesh at rest; any other ``shape`` itself."""
    if type(shape) is not TriangleMesh or shape.times is not None or not len(shape.triangles):
        return shape
    if not shape.encloses_volume():
        return shape
    lower, upper = shape.vertices.min(axis=0), shape.vertices.max(axis=0)
    middle, extent, triangles = 0.5 * (lower + upper), 0.5 * (upper - lower).max(), shape.outward()
    for step in sorted({1 + len(triangles) // SAMPLE, 1}, reverse=True):  # of a fine ball a few triangles tell
        normal, offset = _planes((shape.vertices - middle)[triangles[::step]], extent)
        if len(normal) > PLANES:
            return shape
    if len(normal) < 4:
        return shape
    vertices = (shape.vertices - middle)[np.unique(triangles)]
    height = vertices @ normal.T - offset
    if height.max() > ON * extent or height.min(axis=0).max() > -FLAT * extent:
        return shape
    corners = np.unique(vertices[(height >= -ON * extent).sum(axis=1) >= 3], axis=0)
    if not 4 <= len(corners) <= CORNERS:
        return shape
    hull = ConvexHull(corners + middle, shape.position, shape.orientation)
    return _box(shape, corners, normal, middle, ON * extent) or hull


def _planes(tips, extent):
    """Normals (H, 3), offsets (H,) of the planes in which triangles (T, 3, 3) lie; none where some nearly share one."""
    normal = np.cross(tips[:, 1] - tips[:, 0], tips[:, 2] - tips[:, 0])
    twice = np.linalg.norm(normal, axis=1)
    order = np.argsort(-twice, kind="stable")
    order = order[twice[order] > FLAT**2 * extent**2]  # slivers have no direction
    normal, tips = normal[order] / twice[order, None], tips[order]
    offset = np.einsum("ti,ti->t", normal, tips[:, 0])
    alike = np.round(np.concatenate([normal, offset[:, None] / extent], axis=1), 4)
    # The largest of each plane stands first.
    _, first, plane = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    normal, offset, plane = normal[first], offset[first], plane.reshape(-1)
    off = np.abs(np.einsum("tki,ti->tk", tips, normal[plane]) - offset[plane, None])
    return (normal, offset) if off.max(initial=0.0) <= ON * extent else (normal[:0], offset[:0])


def _box(shape, corners, normal, middle, near):
    """The Box whose corners (8, 3) these are, to within ``near`` [m], or None.  normal (H, 3): of its faces."""
    if len(corners) != 8:
        return None
    own, upright = conventions.rotation_matrix(shape.orientation), np.eye(3)
    for axes in (upright, _square_axes(normal)):  # those of the mesh are exact where they fit
        along = corners @ axes.T
        low, high = along.min(axis=0), along.max(axis=0)
        if np.minimum(along - low, high - along).max() <= near:
            place = shape.position + own @ (middle + 0.5 * (low + high) @ axes)
            return Box(0.5 * (high - low), place, conventions.quaternion(own @ axes.T))
    return None


def _square_axes(normal):
    """Three directions (3, 3) at right angles, of a box among whose normals (H, 3) they are."""
    first = normal[np.argmax(normal[:, 0])]
    second = normal[np.argmax(normal[:, 1] - np.abs(normal @ first) / SQUARE)]
    return np.stack([first, second, np.cross(first, second)])
