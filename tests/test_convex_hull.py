# SPDX-License-Identifier: GPL-3.0-or-later
"""The convex hull is closed, convex, holds every point, and does not mind scale, place, repetition or noise."""

import numpy as np
import pytest
from axion.solver import ConvexHull, SceneError
from axion.solver import convex_hull as module
from axion.solver.convex_hull import FLATNESS, convex_hull
from axion.solver.mass import polyhedron

CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def rotation(seed):
    q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return q


def on_sphere(count, seed=0):
    p = np.random.default_rng(seed).normal(size=(count, 3))
    return p / np.linalg.norm(p, axis=1, keepdims=True)


def edges(triangles):
    return np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])


def grid(n):
    return np.stack(np.meshgrid(*[np.linspace(-1, 1, n)] * 3), axis=-1).reshape(-1, 3)


CLOUDS = {
    "gauss": np.random.default_rng(1).normal(size=(400, 3)),
    "on a sphere": on_sphere(300),
    "cube": CUBE,
    "grid": grid(6),
    "turned grid": grid(6) @ rotation(2).T,
    "turned grid in float32": (grid(6) @ rotation(3).T).astype(np.float32),
    "each point ten times": np.repeat(on_sphere(30), 10, axis=0),
    "far away": grid(4) + 1e6,
    "huge": on_sphere(60) * 1e9,
    "tiny": on_sphere(60) * 1e-7,
    "flat": grid(5) * [1, 1, 1e-4] @ rotation(4).T,
    "needle": grid(5) * [1, 1e-3, 1e-3] @ rotation(5).T,
    "tetrahedron": np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]),
}


@pytest.mark.parametrize("many", [module.MANY, 0], ids=["one at a time", "in rounds"])
@pytest.mark.parametrize("name", CLOUDS)
def test_hull_is_a_closed_convex_surface_around_all_points(name, many, monkeypatch):
    monkeypatch.setattr(module, "MANY", many)
    points = np.asarray(CLOUDS[name], float)
    triangles = convex_hull(points)
    directed = {tuple(edge) for edge in edges(triangles).tolist()}
    assert len(directed) == 3 * len(triangles), "no directed edge twice"
    assert all((b, a) in directed for a, b in directed), "each edge has a face on both sides"
    # Euler: V - E + F = 2 for a surface like a ball.
    assert len(np.unique(triangles)) - len(directed) // 2 + len(triangles) == 2
    corners = points[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    heights = np.einsum("pti,ti->pt", points[:, None] - corners[None, :, 0], normals)
    # A face may be tilted by the flatness over the width of the thinnest triangle; the worst cloud here is 1e-4 thin.
    extent = np.ptp(points, axis=0).max()
    assert heights.max() <= 10 * FLATNESS * extent


def test_volumes_are_those_of_the_solids():
    for points, volume in ((grid(6), 8.0), (grid(4) * 1e-6, 8e-18), (grid(4) @ rotation(6).T + 1e5, 8.0)):
        assert polyhedron(points, convex_hull(points)).volume == pytest.approx(volume, rel=1e-9)


@pytest.mark.parametrize("points", [on_sphere(3000), np.concatenate([grid(15), on_sphere(4000) + [0, 0, 1]])])
def test_many_points_have_the_hull_that_they_have_one_at_a_time(points, monkeypatch):
    found = convex_hull(points)
    monkeypatch.setattr(module, "MANY", len(points) + 1)
    wanted = convex_hull(points)
    assert set(np.unique(found)) >= set(np.unique(wanted)), "it may keep points on an edge, and lose none"
    assert polyhedron(points, found).volume == pytest.approx(polyhedron(points, wanted).volume, rel=1e-8)


def test_a_large_hull_grows_in_slices_and_is_kept():
    shape = ConvexHull(on_sphere(3000))
    assert sum(1 for _ in shape.growing()) > 5
    assert len(shape.triangles) == 2 * 3000 - 4, "Euler: all points on a sphere are corners"
    assert not list(shape.growing())


@pytest.mark.parametrize("many", [module.MANY, 0], ids=["one at a time", "in rounds"])
def test_flat_faces_in_float32_do_not_splinter(many, monkeypatch):
    monkeypatch.setattr(module, "MANY", many)
    # Noise of 1e-7 on a face of 400 points must not become triangles of its own: a box has 12.
    points = (grid(20) @ rotation(7).T).astype(np.float32)
    assert len(convex_hull(points)) <= 24


def test_no_other_winding_or_order_changes_the_solid():
    points = np.random.default_rng(8).normal(size=(200, 3))
    volume = polyhedron(points, convex_hull(points)).volume
    shuffled = np.random.default_rng(9).permutation(points)
    assert polyhedron(shuffled, convex_hull(shuffled)).volume == pytest.approx(volume, rel=1e-12)
    # Monte Carlo says how much of the bounding box lies inside: standard error below 0.5 % of the box.
    lower, upper = points.min(axis=0), points.max(axis=0)
    samples = np.random.default_rng(10).uniform(lower, upper, size=(10000, 3))
    corners = points[convex_hull(points)]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inside = (samples @ normals.T <= np.einsum("ti,ti->t", normals, corners[:, 0])).all(axis=1).mean()
    assert volume / np.prod(upper - lower) == pytest.approx(inside, abs=0.02)


@pytest.mark.parametrize(
    ("points", "word"),
    [
        (grid(4)[:, :2] @ np.array([[1, 2, 0], [0, 1, 3.0]]), "coplanar"),
        ((grid(4) * [1, 1, 0] + [0, 0, 100]).astype(np.float32) @ rotation(11).T, "coplanar"),
        (np.outer(np.linspace(0, 1, 9), [1, 2, 3]), "one line"),
        (np.full((6, 3), 4.0), "one place"),
        (np.zeros((3, 3)), "at least 4"),
        (np.zeros((0, 3)), "at least 4"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, np.nan]], "finite"),
    ],
)
def test_points_without_volume_are_refused(points, word):
    with pytest.raises(SceneError, match=word):
        convex_hull(points)
