# SPDX-License-Identifier: GPL-3.0-or-later
"""Faces that look the other way than their neighbours: the mesh is the same solid, or the same sheet, without them."""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, ConvexHull, Scene, SolverConfig, Sphere, TriangleMesh, simulate, validate
from axion.solver.winding import turned
from contact_scenes import CUBE, bowl, grid
from scenes import turned as turned_about


def cuboid(half, flipped=(), facing=None):
    """A mesh of these half extents [m]; ``flipped``: numbers of its triangles that look inwards, or ``facing``: where
    the side that does so lies.
    """
    hull = ConvexHull(2.0 * CUBE * half)
    triangles = hull.triangles.copy()
    if facing is not None:
        flipped = np.flatnonzero((hull.vertices[triangles].mean(axis=1) / half) @ facing > 0.99)
        assert len(flipped) == 2
    triangles[list(flipped)] = triangles[list(flipped), ::-1]
    return TriangleMesh(hull.vertices, triangles)


@pytest.mark.parametrize("count", [0, 1, 5, 6, 7, 12])
def test_any_faces_of_a_cube_may_look_inwards(count):
    """Whether fewer or more than half: it is the same solid, and all its triangles look outwards."""
    random = np.random.default_rng(count)
    for _ in range(10):
        mesh = cuboid((0.5, 1.0, 1.5), random.choice(12, count, replace=False))
        assert mesh.is_closed() and mesh.volume() == pytest.approx(6.0)
        np.testing.assert_allclose(mesh.inertia(), Box((0.5, 1.0, 1.5)).inertia(), atol=1e-12)
        tips = mesh.vertices[mesh.outward()]
        normal = np.cross(tips[:, 1] - tips[:, 0], tips[:, 2] - tips[:, 0])
        assert np.all(np.einsum("ti,ti->t", normal, tips.mean(axis=1)) > 0.0)


def test_an_open_sheet_keeps_the_side_that_most_of_it_shows():
    mesh = grid(12)
    flip = np.random.default_rng(3).random(len(mesh.triangles)) < 0.3
    given = np.where(flip[:, None], mesh.triangles[:, ::-1], mesh.triangles)
    np.testing.assert_array_equal(turned(mesh.vertices, given), flip)
    np.testing.assert_array_equal(TriangleMesh(mesh.vertices, given).outward(), mesh.triangles)


def test_shells_are_turned_each_for_itself():
    """A hollow ball's inner shell looks inwards, and stays so."""
    outer = cuboid((1.0, 1.0, 1.0))
    inner = cuboid((0.5, 0.5, 0.5), range(12))
    inner_flipped = inner.triangles.copy()
    inner_flipped[3] = inner_flipped[3, ::-1]
    both = TriangleMesh(
        np.concatenate([outer.vertices, inner.vertices]), np.concatenate([outer.triangles, inner_flipped + 8])
    )
    assert both.volume() == pytest.approx(8.0 - 1.0)


def test_meshes_that_are_right_are_left_alone():
    for mesh in (grid(5), bowl(1.0), cuboid((1, 2, 3)), TriangleMesh(CUBE[:3], [[0, 1, 2]])):
        assert not turned(mesh.vertices, mesh.triangles).any()


def test_a_band_with_one_side_encloses_nothing():
    angle = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    across = np.stack([np.cos(angle / 2) * np.cos(angle), np.cos(angle / 2) * np.sin(angle), np.sin(angle / 2)], axis=1)
    middle = 3.0 * np.stack([np.cos(angle), np.sin(angle), np.zeros(24)], axis=1)
    vertices = np.concatenate([middle + across, middle - across])
    k = np.arange(23)
    triangles = np.concatenate([np.stack([k, k + 1, k + 24], 1), np.stack([k + 1, k + 25, k + 24], 1)])
    seam = np.array([(23, 24, 47), (24, 0, 47)])
    mesh = TriangleMesh(vertices, np.concatenate([triangles, seam]))
    assert not mesh.is_closed()


@pytest.mark.parametrize("facing", [None, (0, 0, 1), (0, 0, -1), (1, 0, 0)])
def test_what_falls_on_a_slab_with_a_turned_side_lies_on_it(facing):
    """20 cm thick; with its top turned all three fell through, and the scene was found to be right."""
    scene = Scene()
    scene.add(Body("Slab", [cuboid((0.5, 0.5, 0.1), facing=facing)], motion="static"))
    scene.add(Body("Ball", [Sphere(0.05)], position=(0, -0.3, 0.65), density=1000.0))
    scene.add(Body("Box", [Box((0.06, 0.05, 0.04))], position=(0, 0, 0.64), density=1000.0))
    lying = Capsule(0.03, 0.05, orientation=turned_about("x", np.pi / 2))
    scene.add(Body("Capsule", [lying], position=(0, 0.3, 0.63), density=1000.0))
    assert validate(scene) == []
    trajectory = simulate(scene, 36, config=SolverConfig(device="cpu"))
    assert all(report.converged for report in trajectory.reports)
    np.testing.assert_allclose(trajectory.position[-1, 1:, 2], (0.15, 0.14, 0.13), atol=3e-4)
