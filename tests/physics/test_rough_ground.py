# SPDX-License-Identifier: GPL-3.0-or-later
"""Heaps on open ground of triangles that is anything but flat: nothing falls through or sinks in.

The judge knows nothing of contacts: heights of the ground below places on the bodies, and how deep places on the
edges of the ground are in the bodies.
"""

from itertools import combinations, product

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Cone, ConvexHull, Cylinder, Scene, SolverConfig, TriangleMesh, simulate
from axion.solver.rotations import matrices
from contact_scenes import grid
from figures import figure

CELLS, SIZE, FRAMES = 32, 4.0, 36
CORNERS = np.array(list(product((-1.0, 1.0), repeat=3)))
EDGES = [(a, b) for a, b in combinations(range(8), 2) if (CORNERS[a] != CORNERS[b]).sum() == 1]


def heights(kind, seed):
    """(CELLS + 1, CELLS + 1) [m]."""
    x, y = np.meshgrid(*[np.linspace(-SIZE, SIZE, CELLS + 1)] * 2, indexing="ij")
    if kind == "waves":
        return 0.15 * np.sin(2.0 * x) * np.cos(1.7 * y) + 0.05 * np.sin(5.0 * x + 2.0 * y)
    if kind == "ridges":
        return 0.3 * np.abs((1.5 * x) % 1.0 - 0.5)
    return np.random.default_rng(1000 + seed).uniform(-0.12, 0.12, x.shape)


def over(z, points):
    """How far points (N, 3) are over the ground, square to the triangle below."""
    place = (points[:, :2] + SIZE) * (CELLS / (2.0 * SIZE))
    cell = np.clip(place.astype(int), 0, CELLS - 1)
    (i, j), (u, v) = cell.T, (place - cell).T
    a, b, c, d = z[i, j], z[i + 1, j], z[i + 1, j + 1], z[i, j + 1]
    first = u >= v
    slope = np.where(first, [b - a, c - b], [c - d, d - a])
    ground = a + slope[0] * u + slope[1] * v
    return (points[:, 2] - ground) / np.sqrt(1.0 + (slope**2).sum(axis=0) * (0.5 * CELLS / SIZE) ** 2)


def edges_of(z):
    """(N, 3) places on the edges of the ground."""
    x = np.linspace(-SIZE, SIZE, CELLS + 1)
    place = np.stack([*np.meshgrid(x, x, indexing="ij"), z], axis=-1)
    ends = (place[:-1], place[1:]), (place[:, :-1], place[:, 1:]), (place[:-1, :-1], place[1:, 1:])
    return np.concatenate([(a + t * (b - a)).reshape(-1, 3) for a, b in ends for t in np.linspace(0.0, 0.9, 10)])


def inside(shape, points):
    """How deep points (N, 3) are in a shape, negative outside."""
    if isinstance(shape, Box):
        return (shape.half_extents - np.abs(points)).min(axis=1)
    if isinstance(shape, TriangleMesh):
        tip = shape.vertices[shape.triangles]
        normal = np.cross(tip[:, 1] - tip[:, 0], tip[:, 2] - tip[:, 0])
        normal /= np.linalg.norm(normal, axis=1)[:, None]
        return ((normal * tip[:, 0]).sum(axis=1) - points @ normal.T).min(axis=1)
    around, half = np.hypot(*points.T[:2]), shape.half_height
    if isinstance(shape, Capsule):
        return shape.radius - np.hypot(around, np.maximum(np.abs(points[:, 2]) - half, 0.0))
    if isinstance(shape, Cylinder):
        return np.minimum(shape.radius - around, half - np.abs(points[:, 2]))
    slope = 0.5 * shape.radius / half
    side = (slope * (half - points[:, 2]) - around) / np.hypot(1.0, slope)
    return np.minimum(side, half + points[:, 2])


def solid(kind, random):
    """(a closed, convex TriangleMesh, places on its edges (N, 3))."""
    if kind == "rock":
        corner = random.normal(size=(24, 3))
        corner *= random.uniform(0.1, 0.25) * np.array([1.0, 0.8, 0.6]) / np.linalg.norm(corner, axis=1)[:, None]
    elif kind == "tetrahedron":
        corner = 0.25 * CORNERS[[0, 3, 5, 6]]
    else:
        x, y = np.meshgrid([-0.3, 0.3], [-0.15, 0.15])
        corner = np.stack([x, y, 0.0 * x], axis=-1).reshape(-1, 3)
        corner = np.concatenate([corner, corner[corner[:, 0] < 0.0] + (0.0, 0.0, 0.15)])
    hull = ConvexHull(corner)
    side = np.asarray(hull.triangles)[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    a, b = hull.vertices[np.unique(np.sort(side, axis=1), axis=0)].swapaxes(0, 1)
    places = np.concatenate([a + t * (b - a) for t in np.linspace(0.0, 1.0, 17)])
    return TriangleMesh(hull.vertices, hull.triangles), places


def thing(kind, random):
    """(shape, places on it (N, 3))."""
    if kind in ("rock", "tetrahedron", "wedge"):
        return solid(kind, random)
    if kind in ("box", "small", "plate", "stick"):
        half = {
            "box": random.uniform(0.1, 0.25, 3), "small": random.uniform(0.03, 0.06, 3),
            "plate": np.array([0.25, 0.2, 0.02]), "stick": np.array([0.4, 0.03, 0.03]),
        }[kind]  # fmt: skip
        share = np.linspace(0.0, 1.0, 17)[:, None]
        corner = CORNERS * half
        return Box(half), np.concatenate([corner[a] + share * (corner[b] - corner[a]) for a, b in EDGES])
    turn = np.arange(32) * np.pi / 16.0
    rim = np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=1)
    if kind == "capsule":
        return Capsule(0.05, 0.2), np.stack([0.0 * turn, 0.0 * turn, np.linspace(-0.2, 0.2, 32)], axis=1)
    if kind == "cone":
        return Cone(0.15, 0.15), np.concatenate([0.15 * rim - (0, 0, 0.15), [(0, 0, 0.15)]])
    return Cylinder(0.2, 0.015), np.concatenate([0.2 * rim - (0, 0, 0.015), 0.2 * rim + (0, 0, 0.015)])


@pytest.mark.parametrize(
    ("ground", "kind", "seed", "speed", "bound"),
    [
        ("waves", "capsule", 0, 0.0, 1e-4),
        ("ridges", "wedge", 21, 0.0, 2e-4),
        ("spikes", "box", 1, 0.0, 2e-4),
        ("spikes", "plate", 22, 15.0, 2e-4),
        ("spikes", "rock", 20, 0.0, 2e-4),
        ("spikes", "tetrahedron", 20, 15.0, 2e-4),
    ],
)
def test_nothing_sinks_into_rough_ground(ground, kind, seed, speed, bound):
    """18 bodies that tumble down, or are thrown at the ground [m/s].

    Of plates on spikes a fifth fell through, and edges of the ground stuck 2 to 3 cm deep in 20 of 27 rocks of
    triangles; every frame was said to hold.
    """
    random, z, scene, things = np.random.default_rng(seed), heights(ground, seed), Scene(), []
    rough = {"friction": 0.6, "restitution": 0.2}
    scene.add(Body("Ground", [grid(CELLS, SIZE, lambda x, y: z)], motion="static", **rough))
    for k in range(18):
        turn = random.normal(size=4)
        shape, places = thing(kind, random)
        place = 0.8 * (k % 3 - 1) + random.uniform(-0.1, 0.1), 0.8 * (k // 3 % 3 - 1), 0.7 + 0.7 * (k // 9)
        tumbling = {"angular_velocity": 4.0 * random.normal(size=3)}
        tumbling |= {"linear_velocity": (*2.0 * random.normal(size=2), -speed), "mass": 1.0}
        turn /= np.linalg.norm(turn)
        scene.add(Body(f"Body {k + 1}", [shape], position=place, orientation=turn, **tumbling, **rough))
        things.append((shape, places))
    end = simulate(scene, FRAMES, config=SolverConfig(device="cpu"))
    deepest, edges = 0.0, edges_of(z)
    for k in range(1, FRAMES + 1):
        rotation = matrices(end.orientation[k])
        for body, (shape, places) in enumerate(things, 1):
            middle, points = end.position[k, body], end.position[k, body] + places @ rotation[body].T
            if np.abs(points[:, :2]).max() > SIZE - 0.2:  # others go over the edge
                continue
            near = edges[np.linalg.norm(edges - middle, axis=1) < 0.75]
            sunk = inside(shape, (near - middle) @ rotation[body]).max(initial=0.0)
            deepest = max(deepest, -over(z, points).min(), sunk)
    name = f"18 of {kind} on {ground}" + (f", thrown at {speed:g} m/s" if speed else "")
    assert figure(name, "deepest in each other", deepest, bound, "m") < bound


@pytest.mark.slow
def test_open_sheets_come_to_lie_on_open_ground(seeds=range(1, 9)):
    """Bent leaves of triangles without thickness, that tumble down on waves and on each other.

    Fails where a middle tells the side, which neither has: 50 of 60 frames were missed, all from the first touch on.
    And where contacts tell it by how far they were a step before: a leaf that came down by 9 cm in it had none that
    touched, and noise told that it was below.  Two of 24 seeds fell through in float64 (1 and 11), three in float32.

    Frames are missed where edges are in each other and no contact tells: 0 to 6 of 45 for 24 seeds, 1.5 in the mean.
    How many of a seed goes by the last digits of how the leaves tumbled; so all seeds together are asked.
    """
    missed = []
    for seed in seeds:
        scene, z, places = _leaves(seed)
        end = simulate(scene, 45, config=SolverConfig(device="cpu"))
        missed.append(sum(not report.converged for report in end.reports))
        rotation = matrices(end.orientation[1:, 1:].reshape(-1, 4))
        points = end.position[1:, 1:].reshape(-1, 1, 3) + np.einsum("kij,nj->kni", rotation, places)
        deepest = -over(z, points.reshape(-1, 3)).min()
        assert figure(f"4 open sheets on waves, seed {seed}", "deepest below the ground", deepest, 2e-4, "m") < 2e-4
        assert np.linalg.norm(end.linear_velocity[-1], axis=1).max() < 0.2
    assert (
        figure(f"4 open sheets on waves, {len(missed)} seeds", "missed of 45 frames in the mean", np.mean(missed), 3)
        <= 3
    )


def _leaves(seed):
    """(Scene of four leaves over waves, heights of those, (N, 3) places on the edges of a leaf)."""
    random, z, scene = np.random.default_rng(seed), heights("waves", 0), Scene()
    leaf = grid(4, 0.2, lambda x, y: 0.1 * np.cos(6.0 * x) + 0.3 * y * y)
    a, b = leaf.vertices[leaf.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)].swapaxes(0, 1)
    places = np.concatenate([a + t * (b - a) for t in np.linspace(0.0, 1.0, 9)])
    scene.add(Body("Ground", [grid(CELLS, SIZE, lambda x, y: z)], motion="static", friction=0.5))
    for k in range(4):
        turn, place = random.normal(size=4), (0.7 * (k % 2 - 0.5), 0.0, 0.6 + 0.7 * (k // 2))
        frame = {"mass": 1.0, "inertia": 0.02 * np.eye(3), "center_of_mass": (0.0, 0.0, 0.0), "friction": 0.5}
        frame |= {"orientation": turn / np.linalg.norm(turn), "angular_velocity": 3.0 * random.normal(size=3)}
        scene.add(Body(f"Leaf {k + 1}", [leaf], position=place, **frame))
    return scene, z, places
