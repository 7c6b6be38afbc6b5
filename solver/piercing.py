# SPDX-License-Identifier: GPL-3.0-or-later
"""How deep edges of meshes stick in other meshes, whatever the contacts say.

Contacts are local: where a tip came through a thin part between two looks, none may tell, or one with the far side's
normal.  An edge that is inside the other solid between two of its faces is a proof.
"""

import numpy as np

from .manifold import along_runs, turn
from .mesh_contacts import faces_middle
from .mesh_corners import pairs_with_corners
from .mesh_interior import depth_below
from .shape_pairs import ShapePairs


def no_piercing():
    """What ``piercing`` returns where there is none."""
    return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)


def piercing(model, pipeline, position, rotation, sides):
    """Pairs of bodies of which one has edges inside the other's meshes: (body (P,), other (P,), depth (P,) [m]).

    Of the pairs that newton's ``pipeline`` saw last; position (B, 3), rotation (B, 3, 3): poses; sides: see
    ``faces_middle``.
    """
    table, edges = model.meshes, model.edge_pairs.edges
    pairs = pairs_with_corners(model, pipeline.narrow_phase)
    pairs = pairs[(table.shape_mesh[pairs] >= 0).all(axis=1)]
    first, second = np.concatenate([pairs, pairs[:, ::-1]]).T
    between = ShapePairs(model, first, second, np.zeros(len(first)), position, rotation)
    mesh = table.shape_mesh[first]
    run, k = along_runs(np.diff(edges.first)[mesh])
    start, end = (
        turn(between.relative[run], table.vertices[v]) + between.offset[run]
        for v in edges.ends[edges.first[mesh[run]] + k].T
    )
    bounds = table.bounds[table.shape_mesh[second]][run]
    near = np.all((np.maximum(start, end) > bounds[:, 0]) & (np.minimum(start, end) < bounds[:, 1]), axis=1)
    run, start, way = run[near], start[near], (end - start)[near]
    if not len(run):
        return no_piercing()
    back = ~faces_middle(model, second, first, position, rotation, sides)[run]
    shape = second[run]
    depth, share = model.piercings.find(
        {
            "mesh": model.mesh_id[shape],
            "triangles": np.diff(table.first_triangle)[table.shape_mesh[shape]],
            "closed": table.closed[table.shape_mesh[shape]],
            "side": np.where(back, -1.0, 1.0),
            "start": start / model.unit,
            "way": way / model.unit,
            "reach": between.lever[run] / model.unit,
        }
    )
    some = np.flatnonzero(depth > 0.0)
    point = start[some] + share[some, None] * way[some]
    depth, run = depth_below(model, shape[some], point, back[some]), run[some]
    deepest = np.zeros(len(first))
    np.maximum.at(deepest, run, depth)
    some = np.flatnonzero(deepest > 0.0)
    return model.shape_body[first[some]], model.shape_body[second[some]], deepest[some]
