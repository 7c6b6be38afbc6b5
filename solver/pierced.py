# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex bodies that edges of a mesh have pierced to more than half.

A detector that takes the shortest way apart has such a body leave on the far side of the surface, and nothing held a
thin plate that came down on a ridge.  What sticks in a body is pushed out against the normal of the surface.  A concave
mesh deep in a box has surface that faces all ways in there, and would not leave for all that pushes: where a shorter
way takes all of the mesh out, over one face, it takes that.
"""

import numpy as np

from .closest_features import PARALLEL
from .closest_shares import closest_shares
from .mesh_contacts import DEEPEST, PAST
from .mesh_interior import depth_below
from .mesh_sides import faces_middle
from .shape_pairs import ShapePairs

TANGENTS = 64  # planes around a round side
OPPOSITE = -0.5  # cosine of the normals of a face and one that looks the other way
SAMPLES = np.linspace(0.05, 0.95, 7)  # of what is inside of an edge: where it is looked how deep


def pierced(model, pairs, position, rotation, sides):
    """Contacts of edges of meshes that stick in boxes, hulls, cylinders and cones, as Manifolds without place and tilt;
    how deep (P,) any edge is in there at least [m]; and which pairs (P,) bool are to have these alone.

    pairs (P,) int64, numbers of shape pairs as Manifolds have them; position (B, 3) and rotation (B, 3, 3): the bodies'
    poses; sides: see ``faces_middle``.
    """
    depth, alone = np.zeros(len(pairs)), np.zeros(len(pairs), bool)
    pair = np.stack(np.divmod(pairs, len(model.shape_body)), axis=1)
    mesh = model.meshes.shape_mesh[pair] >= 0
    one_mesh = mesh.sum(axis=1) == 1
    pair, mesh = pair[one_mesh], mesh[one_mesh]
    between = ShapePairs(model, pair[~mesh], pair[mesh], np.zeros(len(pair)), position, rotation)
    back = ~faces_middle(model, between.second, between.first, position, rotation, sides)
    inside = [_inside(model, between, k) for k in range(len(pair))]
    round_ = model.shape_rounding[between.first] > 0.0
    depth[one_mesh] = [_in_round(model, between, k) if round_[k] else _deepest(*each) for k, each in enumerate(inside)]
    found = [_sticking(model, between, k, back[k : k + 1], each) for k, each in enumerate(inside)]
    shorter = np.zeros(len(pair), bool)
    for k, each in enumerate(inside):
        whole, far = _over_a_face(model, between, k, each)
        if far < _farthest(*found[k], between, k):
            found[k], shorter[k] = whole, True
    alone[one_mesh] = shorter
    run = np.repeat(np.arange(len(pair)), [len(points) for points, _, _ in found])
    one, other, normal = (np.concatenate(column) for column in zip(*found, (np.zeros((0, 3)),) * 3, strict=True))
    return between.manifolds(run, one, other, normal, np.zeros(len(run))), depth, alone


def _farthest(one, other, normal, between, k):
    """How far the contacts (N,) of pair k, as ``_sticking`` gives them, push the two apart [m]; 0 without any."""
    apart = one @ between.relative[k].T + between.offset[k] - other
    return float(-np.einsum("ki,ki->k", normal, apart).min(initial=0.0))


def _over_a_face(model, between, k, inside):
    """What ``_sticking`` gives, of the way on which all of the mesh of pair k leaves the convex shape over the nearest
    of its faces, and how far that is [m], infinite where there is none.

    Below a face is, too, what planes that look the other way cut off: so of a mesh that came through a thin slab the
    part beyond counts.
    """
    (normal, offset), _, start, way, first, last = inside
    if not len(start):
        return ((np.zeros((0, 3)),) * 3), np.inf
    table, relative, place = model.meshes, between.relative[k], between.offset[k]
    mesh = table.shape_mesh[between.second[k]]
    corners = (table.vertices[slice(*table.first_vertex[mesh + np.arange(2)])] - place) @ relative
    height = offset - corners @ normal.T  # (V, H) below each plane
    beside = normal @ normal.T > OPPOSITE  # (H, H)
    below = np.stack([np.all(height[:, each] >= 0.0, axis=1) for each in beside], axis=1)
    cut = np.concatenate([start + first[:, None] * way, start + last[:, None] * way])
    depth = np.maximum(np.where(below, height, 0.0).max(axis=0, initial=0.0), (offset - cut @ normal.T).max(axis=0))
    face = np.argmin(depth)
    point = np.concatenate([corners[below[:, face]], cut])
    down = offset[face] - point @ normal[face]
    point, down = point[down > 0.0], down[down > 0.0]
    leaves = point + down[:, None] * normal[face]
    outward = np.tile(-relative @ normal[face], (len(point), 1))
    return (leaves, point @ relative.T + place, outward), depth[face]


def _inside(model, between, k):
    """Edges of a mesh that are in the convex shape of pair k: (planes of that, numbers (N,), starts (N, 3), ways (N,
    3), first and last share (N,) of the way that is inside); in the shape's frame.
    """
    table, edges = model.meshes, model.edge_pairs.edges
    shape, mesh = between.first[k], table.shape_mesh[between.second[k]]
    normal, offset = planes(model, shape)
    relative, place = between.relative[k], between.offset[k]
    middle = (model.shape_middle[shape] - model.shape_position[shape]) @ model.shape_rotation[shape]
    number, radius = np.arange(edges.first[mesh], edges.first[mesh + 1]), model.shape_radius[shape]
    start, end = ((table.vertices[v] - place) @ relative - middle for v in edges.ends[number].T)
    near = np.all((np.maximum(start, end) >= -radius) & (np.minimum(start, end) <= radius), axis=1)
    number, start, way = number[near], start[near] + middle, (end - start)[near]
    height, rate = offset - start @ normal.T, way @ normal.T  # inside where height >= t rate
    with np.errstate(divide="ignore", invalid="ignore"):
        t = height / rate
    first = np.max(np.where(rate < 0.0, t, 0.0), axis=1, initial=0.0)
    last = np.min(np.where(rate > 0.0, t, 1.0), axis=1, initial=1.0)
    some = (first < last) & np.all((rate != 0.0) | (height >= 0.0), axis=1) & (len(normal) > 0)
    return (normal, offset), *(each[some] for each in (number, start, way, first, last))


def _deepest(planes, number, start, way, first, last):
    """How deep the deepest of some places on what ``_inside`` finds is below the surface of the convex shape [m]."""
    if not len(number):
        return 0.0
    normal, offset = planes
    share = first[:, None] + (last - first)[:, None] * SAMPLES
    height = (offset - start @ normal.T)[:, None] - share[:, :, None] * (way @ normal.T)[:, None]
    return float(height.min(axis=2).max())


def _in_round(model, between, k):
    """The same of the ball or capsule of pair k."""
    shape, relative = between.first[k], between.relative[k]
    ends = model.edge_pairs.edges.ends
    own = slice(*model.edge_pairs.edges.first[model.meshes.shape_mesh[between.second[k]] + np.arange(2)])
    start, end = ((model.meshes.vertices[v] - between.offset[k]) @ relative for v in ends[own].T)
    radius, reach = model.shape_rounding[shape], model.shape_half[shape]
    near = np.all((np.maximum(start, end) >= -reach) & (np.minimum(start, end) <= reach), axis=1)
    start, way = start[near], (end - start)[near]
    if not len(start):
        return 0.0
    axis = np.tile([0.0, 0.0, reach[2] - radius], (len(start), 1))
    along, share = closest_shares(-axis, 2.0 * axis, start, way, PARALLEL)
    apart = (2.0 * along[:, None] - 1.0) * axis - start - share[:, None] * way
    return max(0.0, float(radius - np.sqrt((apart * apart).sum(axis=1).min())))


def _sticking(model, between, k, back, inside):
    """(points on the convex shape (N, 3), places of edges in it (N, 3), normals (N, 3)) of pair k; the first in the
    shape's frame, the others in the mesh's.  back: (1,) bool; inside: of ``_inside``.
    """
    edges, nothing = model.edge_pairs.edges, (np.zeros((0, 3)),) * 3
    (normal, offset), number, start, way, first, last = inside
    mean, _, has = edges.cones(number, np.repeat(back, len(number)))
    start, way, mean, first, last = (each[has] for each in (start, way, mean, first, last))
    if not len(start):
        return nothing
    relative, place = between.relative[k], between.offset[k]
    ends = start[:, None] + np.stack([first, last], axis=1)[:, :, None] * way[:, None]
    down = -mean @ relative
    height, rate = np.maximum(offset - ends @ normal.T, 0.0), (down @ normal.T)[:, None]
    far = np.min(height / np.where(rate > 0.0, rate, np.nan), axis=2, initial=np.inf, where=rate > 0.0)
    deeper = np.argmax(far, axis=1)[:, None]
    far = np.take_along_axis(far, deeper, axis=1)
    sticks = np.take_along_axis(ends, deeper[:, :, None], axis=1)[:, 0]
    size, far = between.size[k], far[:, 0]
    deep = (far <= DEEPEST * size) & (far > PAST * size)
    far, sticks, down, mean = far[deep], sticks[deep], down[deep], mean[deep]
    leaves = sticks + far[:, None] * down
    # The way out leads through what is behind the surface: else it is that of another, as of a thin wall's far side.
    second, back = np.repeat(between.second[k : k + 1], len(far)), np.repeat(back, len(far))
    good = depth_below(model, second, leaves @ relative.T + place, back) >= 0.0
    return leaves[good], (sticks @ relative.T + place)[good], mean[good]


def planes(model, shape):
    """Outward normals (H, 3) and offsets (H,) of planes that bound a convex shape, in its own frame; none of balls."""
    faces, frame, place = model.polygons, model.shape_rotation[shape], model.shape_position[shape]
    some = slice(faces.first[shape], faces.first[shape + 1])
    normal, offset = faces.normal[some] @ frame, faces.offset[some] - faces.normal[some] @ place
    radius, slope = model.shape_side[shape]
    if radius > 0.0:
        angle = 2.0 * np.pi * np.arange(TANGENTS) / TANGENTS
        side = np.stack([np.cos(angle), np.sin(angle), np.full(TANGENTS, -slope)], axis=1) / np.hypot(1.0, slope)
        normal = np.concatenate([normal, side])
        offset = np.concatenate([offset, np.full(TANGENTS, radius / np.hypot(1.0, slope))])
    return normal, offset
