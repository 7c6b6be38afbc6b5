# SPDX-License-Identifier: GPL-3.0-or-later
"""What newton found of meshes, put right and completed: corners, edges, rims, and what is pierced."""

import numpy as np

from .arrays import download_all
from .edge_contacts import edge_contacts
from .manifold import Manifolds
from .mesh_contacts import straighten, thin_out
from .mesh_corners import corners, pairs_with_corners
from .mesh_rims import rims
from .pierced import pierced


def with_meshes(model, found, pipeline, position, rotation, angular, sides, step, asked=None):
    """All contacts of a detection, as Manifolds without place and tilt, and pairs of shapes of which one seems to have
    pierced the other to more than half: their numbers (P,), and how deep edges of a mesh are in there (P,) [m].

    found: those of newton's ``pipeline``, sorted by pair; position (B, 3), rotation (B, 3, 3), angular (B, 3): poses
    and angular velocities of the bodies; sides: see ``faces_middle``; step [s], 0: none begins;
    asked: function of pairs of bodies (N,), (N,) that says which need contacts (N,) bool, or None: all do.
    """
    if asked is not None:
        found = found.take(asked(found.body_a, found.body_b))
    keep, stuck = straighten(model, found, position, rotation, angular, sides)
    more, depth = [], np.zeros(0)
    if len(stuck):
        sticking, depth, alone = pierced(model, stuck, position, rotation, sides)
        keep &= ~np.isin(found.pair, stuck[alone])
        more.append(sticking)
    parts = [found.take(keep), *more]
    pairs = pairs_with_corners(model, pipeline.narrow_phase)
    if asked is not None:
        pairs = pairs[asked(*model.shape_body[pairs].T)]
    if len(pairs):
        reach = _reach(model, pipeline, pairs, np.linalg.norm(model.gravity) * step**2)
        parts.append(corners(model, pairs, reach, position, rotation, sides))
        both = (model.meshes.shape_mesh[pairs] >= 0).all(axis=1)
        if both.any():
            parts.append(edge_contacts(model, pairs[both], reach[both], position, rotation, sides))
    some = [part for part in parts if len(part)]
    found = Manifolds.join(some)[0] if len(some) > 1 else (some or parts)[0]
    found = found.take(thin_out(model, found, position, rotation))
    outlined = model.shape_side.any() or model.polygons.many.any()
    if outlined and len(more := rims(model, found, position, rotation, step * angular, sides)):
        found = Manifolds.join([found, more])[0]
    return found, (stuck, depth)


def _reach(model, pipeline, pairs, fall):
    """How far apart places of pairs of mesh shapes (P, 2) may be and yet touch in the step, (P,) [m]; fall: way that
    gravity makes in it [m].

    newton's own reach adds up the ways of both, but what falls side by side stays apart: of a heap on its way down all
    corners and edges would be near all others.  Where meshes deform, the ways of their places differ from the bodies'.
    """
    count = len(model.shape_body)
    own, way = download_all((pipeline._shape_search_gap, count), (pipeline._shape_displacement, count))
    reach = own[pairs].sum(axis=1)
    if model.deforming is None:
        turning = own - np.linalg.norm(way, axis=1)
        turning[turning < 0.0] = np.inf  # newton limits its reach
        apart = np.linalg.norm(way[pairs[:, 0]] - way[pairs[:, 1]], axis=1)
        reach = np.minimum(reach, turning[pairs].sum(axis=1) + apart + fall / model.unit)
    return reach * model.unit
