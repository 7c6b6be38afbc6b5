# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's monkey, and how deep monkeys are in each other, judged by their poses alone."""

import numpy as np
import pytest
from axion.solver.rotations import matrices

SIZE = 0.5  # [m] from ear to ear


def monkey(closed=False):
    """Vertices (V, 3) [m] and triangles (T, 3); ``closed``: of one shell without holes."""
    bpy = pytest.importorskip("bpy", reason="the monkey is Blender's")
    bpy.ops.mesh.primitive_monkey_add()
    thing = bpy.context.object
    if closed:
        remesh = thing.modifiers.new("Remesh", "REMESH")
        remesh.mode, remesh.voxel_size = "VOXEL", 0.15
    mesh = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    mesh.calc_loop_triangles()
    vertices = np.array([vertex.co[:] for vertex in mesh.vertices])
    return vertices * SIZE / np.ptp(vertices, axis=0).max(), np.array([t.vertices[:] for t in mesh.loop_triangles])


def turns_around(places, vertices, triangles):
    """(N,) how often the surface goes around places (N, 3): above a half inside it, small holes or not."""
    a, b, c = (vertices[None, triangles[:, k]] - places[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    ab, bc, ca = ((u * v).sum(axis=2) for u, v in ((a, b), (b, c), (c, a)))
    volume = (a * np.cross(b, c)).sum(axis=2)
    return np.arctan2(volume, la * lb * lc + ab * lc + bc * la + ca * lb).sum(axis=1) / (2.0 * np.pi)


def below_surface(place, vertices, triangles):
    """Distance of a place (3,) to the nearest triangle [m]."""
    tips = vertices[triangles]
    way, apart = np.roll(tips, -1, axis=1) - tips, place - tips
    share = np.clip((apart * way).sum(axis=2) / (way * way).sum(axis=2), 0.0, 1.0)
    sides = np.linalg.norm(apart - share[:, :, None] * way, axis=2).min()
    normal = np.cross(way[:, 0], way[:, 1])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    over = ((np.cross(normal[:, None], way) * apart).sum(axis=2) >= 0.0).all(axis=1)
    return min(sides, np.abs((apart[:, 0] * normal).sum(axis=1))[over].min(initial=np.inf))


def deepest(vertices, triangles, position, orientation):
    """The deepest that a vertex or a middle of an edge of one monkey is in another one [m]; poses (N, 3), (N, 4)."""
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    spots = np.concatenate([vertices, vertices[np.unique(np.sort(sides, axis=1), axis=0)].mean(axis=1)])
    turn, depth, reach = matrices(orientation), 0.0, 2.0 * np.linalg.norm(vertices, axis=1).max()
    for i, j in np.argwhere(~np.eye(len(position), dtype=bool)):
        if np.linalg.norm(position[i] - position[j]) > reach:
            continue
        seen = (spots @ turn[i].T + position[i] - position[j]) @ turn[j]
        seen = seen[((seen > vertices.min(axis=0)) & (seen < vertices.max(axis=0))).all(axis=1)]
        for part in np.array_split(seen, len(seen) // 200 + 1):
            for place in part[turns_around(part, vertices, triangles) > 0.5]:
                depth = max(depth, below_surface(place, vertices, triangles))
    return depth
