# SPDX-License-Identifier: GPL-3.0-or-later
"""What newton found of meshes, put right and completed: corners, edges, and what is pierced."""

from .edge_contacts import edge_contacts
from .manifold import Manifolds
from .mesh_contacts import straighten, thin_out
from .mesh_corners import corners, pairs_with_corners
from .pierced import pierced


def with_meshes(model, found, pipeline, position, rotation, angular, sides):
    """All contacts of a detection, as Manifolds without place and tilt.

    found: those of newton's ``pipeline``, sorted by pair; position (B, 3), rotation (B, 3, 3), angular (B, 3): poses
    and angular velocities of the bodies; sides: see ``faces_middle``.
    """
    keep, deep = straighten(model, found, position, rotation, angular, sides)
    parts = [found.take(keep)]
    if len(deep):
        parts.append(pierced(model, deep, position, rotation, sides))
    pairs = pairs_with_corners(model, pipeline.narrow_phase)
    if len(pairs):
        reach = (pipeline._shape_search_gap.numpy().astype(float) * model.unit)[pairs].sum(axis=1)
        parts.append(corners(model, pairs, reach, position, rotation, sides))
        both = (model.meshes.shape_mesh[pairs] >= 0).all(axis=1)
        if both.any():
            parts.append(edge_contacts(model, pairs[both], reach[both], position, rotation, sides))
    found = Manifolds.join(parts)[0]
    return found.take(thin_out(model, found, position, rotation))
