# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies cut into convex pieces that fit exactly: no cracks, faces on faces, far more contacts than a rest needs."""

from itertools import combinations

import numpy as np
from axion.solver import Body, ConvexHull, Plane, Scene


def voronoi_cells(seeds, lower, upper):
    """Corners (K, 3) of the part of a box that is nearer to one of the ``seeds`` (N, 3) than to the others, for each.

    lower, upper: (3,) corners of the box [m].
    """
    walls = np.concatenate([np.eye(3), -np.eye(3)]), np.concatenate([upper, -np.asarray(lower)])
    return [_cell(seed, seeds, *walls, 1e-9 * float(np.max(np.subtract(upper, lower)))) for seed in seeds]


def _cell(seed, seeds, normal, offset, slack):
    """Corners of the cell of ``seed`` within the walls normal . x <= offset, from the fewest nearest seeds that do."""
    away = seeds - seed
    distance = np.linalg.norm(away, axis=1)
    order = np.argsort(distance)[1:]
    sides = away[order] / distance[order, None]
    normal, offset = np.concatenate([normal, sides]), np.concatenate([offset, sides @ seed + 0.5 * distance[order]])
    count = 6
    while True:
        count = min(len(offset), count + 12)
        triples = np.array(list(combinations(range(count), 3)))
        triples = triples[np.abs(np.linalg.det(normal[triples])) > 1e-9]
        points = np.linalg.solve(normal[triples], offset[triples][:, :, None])[:, :, 0]
        points = points[np.all(points @ normal[:count].T <= offset[:count] + slack, axis=1)]
        if np.all(points @ normal.T <= offset + slack):
            return points[np.unique(np.round(points / (4.0 * slack)), axis=0, return_index=True)[1]]


def cut_block(count=50, size=(1.0, 1.0, 1.0), height=0.0, seed=1, friction=0.5):
    """A block on the ground, or ``height`` above it, cut into ``count`` random Voronoi cells: nothing may move."""
    scene = Scene()
    scene.add(Body("Ground", [Plane()], motion="static", friction=friction))
    size = np.asarray(size, float)
    lower, upper = np.array([-0.5, -0.5, 0.0]) * size, np.array([0.5, 0.5, 1.0]) * size
    random = np.random.default_rng(seed)
    for number, corners in enumerate(voronoi_cells(lower + random.random((count, 3)) * size, lower, upper)):
        middle = corners.mean(axis=0)
        place = middle + np.array([0.0, 0.0, height])
        scene.add(Body(f"Piece {number + 1}", [ConvexHull(corners - middle)], position=place, friction=friction))
    return scene
