# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes that start inside each other: looked for at the start, and led apart.

Contacts of faces, edges and corners look every way in there, and those of two that stand on one floor, or of one left
where it was copied, tell nothing at all: corners lie on faces, not inside.  As long as such a pair is in each other,
all of its contacts are along the one way on which it comes apart (ways_apart.py).
"""

import numpy as np

from .mesh_contacts import thin_out
from .plausible import SLACK, pair_number
from .ways_apart import Insides, shortest_way


def sunk_pairs(model, pairs, position, rotation, sides):
    """Numbers (Q,), ascending, of those of ``pairs`` (P, 2) of shapes that are in each other and come apart, and the
    ways (Q, 3) on which they do, see ``shortest_way``.

    position (B, 3), rotation (B, 3, 3): poses of the bodies; sides: see ``faces_middle``.
    """
    pairs = pairs[(model.meshes.shape_mesh[pairs] >= 0).all(axis=1)]
    if model.deforming is not None:
        pairs = pairs[(model.deforming.of_shape[pairs] < 0).all(axis=1)]
    if not len(pairs):
        return np.zeros(0, np.int64), np.zeros((0, 3))
    insides = Insides(model, pairs, position, rotation, sides)
    deep = np.flatnonzero(insides.deepest() > SLACK * insides.between.size[: len(pairs)])
    ways = np.array([shortest_way(insides, k)[0] for k in deep]).reshape(-1, 3)
    found = ways.any(axis=1)
    number, ways = pair_number(*pairs[deep[found]].T, len(model.shape_body)), ways[found]
    order = np.argsort(number)
    return number[order], ways[order]


def sunk_contacts(model, number, ways, position, rotation, sides):
    """Manifolds without place and tilt of pairs ``number`` (Q,) of mesh shapes along ``ways`` (Q, 3), as ``sunk_pairs``
    has them; none of those that are not in each other.
    """
    pairs = np.stack(np.divmod(number, len(model.shape_body)), axis=1)
    found = Insides(model, pairs, position, rotation, sides).contacts(ways)
    return found.take(thin_out(model, found, position, rotation))
