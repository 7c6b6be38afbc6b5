# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles that look the other way than their neighbours, as Blender's Recalculate Outside finds them.

Modelled meshes have such faces, and nobody sees them.  A slab whose top alone is turned encloses nothing, and let fall
through what was dropped on it.
"""

import numpy as np


def turned(vertices, triangles):
    """(T,) bool: triangles to turn so that all that share an edge with one other pass it in opposite ways.

    Of each connected surface those with less area turn.  Edges of more than two triangles connect none, and a band with
    one side, such as Moebius', keeps one seam.

    Args:
        vertices: (V, 3), no two of them at one place [m].
        triangles: (T, 3) vertex numbers.
    """
    flips = np.zeros(len(triangles), bool)
    start, end = (each.reshape(-1).astype(np.int64) for each in (triangles, np.roll(triangles, -1, axis=1)))
    sides = np.flatnonzero(start != end)
    _, edge, count = np.unique(
        np.minimum(start, end)[sides] * len(vertices) + np.maximum(start, end)[sides],
        return_inverse=True, return_counts=True,
    )  # fmt: skip
    order = np.argsort(edge.reshape(-1), kind="stable")
    first = np.cumsum(count)[count == 2] - 2
    one, other = sides[order[first]], sides[order[first + 1]]
    against = start[one] == start[other]
    one, other = one // 3, other // 3
    if not np.any(against & (one != other)):
        return flips
    neighbours = [[] for _ in triangles]
    for a, b, turns in zip(one.tolist(), other.tolist(), against.tolist(), strict=True):
        neighbours[a].append((b, turns))
        neighbours[b].append((a, turns))
    tips = np.asarray(vertices, float)[triangles]
    area = np.linalg.norm(np.cross(tips[:, 1] - tips[:, 0], tips[:, 2] - tips[:, 0]), axis=1)
    seen = np.zeros(len(triangles), bool)
    for seed in range(len(triangles)):
        if seen[seed]:
            continue
        surface = [seed]
        seen[seed] = True
        for a in surface:  # it grows
            for b, turns in neighbours[a]:
                if not seen[b]:
                    seen[b] = True
                    flips[b] = flips[a] ^ turns
                    surface.append(b)
        if 2.0 * area[surface] @ flips[surface] > area[surface].sum():
            flips[surface] ^= True
    return flips
