# SPDX-License-Identifier: GPL-3.0-or-later
"""The places of triangle meshes that are nearest to points.  Lengths in metres."""

import numpy as np
import pytest
from axion.solver import Body, Sphere
from axion.solver.closest_points import closest_points
from contact_scenes import funnel, grid, set_up


@pytest.mark.parametrize("height", [-0.02, 0.02])
def test_closest_points_of_open_meshes_have_the_weights_of_their_corners(height):
    """place = sum of weight times corner, on either side of a surface.

    Fails where the far side's triangles, whose corners newton has in reverse, count their weights from the near one's:
    points on inner edges passed as on the border, and a bounce met edges amid a flat floor, 15 degrees askew.
    """
    floor, random = grid(5, height=lambda x, y: 0.1 * np.sin(2.0 * x + y)), np.random.default_rng(3)
    collider, _, _ = set_up(Body("Floor", [floor], motion="static"), Body("Ball", [Sphere(0.1)], mass=1.0))
    corner = floor.vertices[floor.triangles]
    share = random.dirichlet(np.ones(3), 500)
    share[::4, 0] = 0.0  # on edges, where both sides are equally far
    share /= share.sum(axis=1)[:, None]
    point = np.einsum("nk,nki->ni", share, corner[random.integers(len(corner), size=500)])
    point[::2, 2] += height
    face, weight, place, _ = closest_points(collider.model, np.zeros(500, int), point, np.full(500, np.inf))
    assert face.min() >= 0 and face.max() < len(corner)
    assert np.einsum("nk,nki->ni", weight, corner[face]) == pytest.approx(place, abs=1e-5)


def test_on_slender_triangles_the_closest_place_is_as_exact_as_on_others():
    """Facets of a funnel, 2 m long and 1 to 37 mm wide: in single precision it was up to 60 um off."""
    mesh, draw = funnel(256), np.random.default_rng(2)
    triangles = mesh.triangles
    collider, _, _ = set_up(Body("Funnel", [mesh], motion="static"), Body("Ball", [Sphere(0.1)], mass=1.0))
    corner = mesh.vertices[triangles[wanted := draw.integers(len(triangles), size=500)]]
    place = np.einsum("nk,nki->ni", draw.dirichlet((2, 2, 2), 500), corner)
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    for height in (0.0, 1e-3, 4e-3):
        point = place - height * normal
        face, weight, found, _ = closest_points(collider.model, np.zeros(500, int), point, np.full(500, np.inf))
        same = face == wanted  # in a corner of two facets the other one may be nearer
        assert same.mean() > 0.95
        assert np.linalg.norm(found - place, axis=1)[same].max() < 2e-7
        assert np.einsum("nk,nki->ni", weight, mesh.vertices[triangles[face]]) == pytest.approx(found, abs=2e-7)
