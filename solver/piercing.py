# SPDX-License-Identifier: GPL-3.0-or-later
"""How deep edges of meshes stick in other meshes, whatever the contacts say.

Contacts are local: where a tip came through a thin part between two looks, none may tell, or one with the far side's
normal.  An edge that is inside the other solid between two of its faces is a proof.
"""

import numpy as np

from .manifold import turn
from .mesh_edges import TINY
from .mesh_interior import depth_below
from .mesh_sides import faces_middle
from .shape_pairs import ShapePairs, meeting


def no_piercing():
    """What ``piercing`` returns where there is none."""
    return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)


def piercing(model, pairs, position, rotation, sides):
    """Pairs of bodies of which one has edges inside the other's meshes: (body (P,), other (P,), depth (P,) [m]).

    pairs (P, 2): of shapes; position (B, 3), rotation (B, 3, 3): poses; sides: see ``faces_middle``.
    """
    pairs = pairs[(model.meshes.shape_mesh[pairs] >= 0).all(axis=1)]
    between, run, _point, depth = edges_inside(model, pairs, position, rotation, sides)
    deepest = np.zeros(len(between.first))
    np.maximum.at(deepest, run, depth)
    some = np.flatnonzero(deepest > 0.0)
    return model.shape_body[between.first[some]], model.shape_body[between.second[some]], deepest[some]


def edges_inside(model, pairs, position, rotation, sides):
    """Where edges of meshes are deepest inside other ones: (ShapePairs of all pairs, either way round; (K,) which of
    them; point (K, 3) in the frame of the second shape; depth (K,) [m]).

    pairs (P, 2): of mesh shapes; others as in ``piercing``.
    """
    first, second = np.concatenate([pairs, pairs[:, ::-1]]).T
    between = ShapePairs(model, first, second, np.zeros(len(first)), position, rotation)
    return between, *edges_within(
        model, between, lambda: ~faces_middle(model, second, first, position, rotation, sides)
    )


def edges_within(model, between, back):
    """What ``edges_inside`` tells but for the first, of ShapePairs whose second shapes have their other sides outside
    where a function ``back`` says so, (P,) bool.
    """
    table, second = model.meshes, between.second
    nothing = np.zeros(0, np.intp), np.zeros((0, 3)), np.zeros(0)
    if not len(second):
        return nothing
    edges, bounds = model.edge_pairs.edges, table.bounds[table.shape_mesh[second]]
    around = between.seen_from_first(bounds[:, 0], bounds[:, 1])
    run, edge = meeting(edges.first, table.shape_mesh[between.first], edges.low, edges.high, *around)
    start, end = (turn(between.relative[run], table.vertices[v]) + between.offset[run] for v in edges.ends[edge].T)
    bounds = bounds[run]
    near = np.all((np.maximum(start, end) > bounds[:, 0]) & (np.minimum(start, end) < bounds[:, 1]), axis=1)
    near &= (start != end).any(axis=1)
    run, start, way = run[near], start[near], (end - start)[near]
    if not len(run):
        return nothing
    back, shape = back()[run], second[run]
    depth, share, crossing = model.piercings.find(
        mesh=model.mesh_id[shape],
        triangles=np.diff(table.first_triangle)[table.shape_mesh[shape]],
        closed=table.closed[table.shape_mesh[shape]],
        side=np.where(back, -1.0, 1.0),
        start=start / model.unit,
        way=way / model.unit,
        reach=between.lever[run] / model.unit,
    )
    some = np.flatnonzero(depth > 0.0)
    point = start[some] + share[some, None] * way[some]
    depth = depth_below(model, shape[some], point, back[some])
    # A sheet that just touches with its border has all that goes on behind it at its back.
    sheet = np.flatnonzero(~table.closed[table.shape_mesh[shape[some]]] & (depth > 0.0))
    place = start[some[sheet]] + crossing[some[sheet], None] * way[some[sheet]]
    depth[sheet] = np.minimum(depth[sheet], _from_border(model, shape[some[sheet]], place))
    return run[some], point, depth


def _from_border(model, shape, point):
    """How far points (N, 3) on open mesh shapes (N,) are from the nearest edge with one face, in the shapes' frames."""
    table, edges = model.meshes, model.edge_pairs.edges
    far = np.empty(len(shape))
    for mesh in np.unique(table.shape_mesh[shape]):
        own = np.flatnonzero(table.shape_mesh[shape] == mesh)
        border = slice(edges.first[mesh], edges.first[mesh + 1])
        ends = edges.ends[border][edges.faces[border, 1] < 0]
        begin, end = table.vertices[ends].swapaxes(0, 1)
        way, apart = end - begin, point[own, None] - begin
        square = np.maximum(np.einsum("ei,ei->e", way, way), TINY)
        share = np.clip(np.einsum("kei,ei->ke", apart, way) / square, 0.0, 1.0)
        far[own] = np.linalg.norm(apart - share[:, :, None] * way, axis=2).min(axis=1, initial=np.inf)
    return far
