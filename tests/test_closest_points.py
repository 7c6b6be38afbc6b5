# SPDX-License-Identifier: GPL-3.0-or-later
"""The places of triangle meshes that are nearest to points.  Lengths in metres."""

import numpy as np
import pytest
from axion.solver import Body, Cylinder, Scene, SolverConfig, Sphere, simulate
from axion.solver.closest_points import closest_points
from axion.solver.simulate import starting_overlaps
from contact_scenes import funnel, grid, prism, set_up


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


def channel(wall, slot, depth, half_length):
    """A closed mesh of two walls on a floor, along z; its slot, from y = 0 on, and its walls are ``depth`` deep."""
    x, y = np.cumsum([-0.5 * slot - wall, wall, slot, wall]), (-wall, 0.0, depth)
    corners = [(0, 0), (1, 0), (2, 0), (3, 0), (3, 1), (3, 2), (2, 2), (2, 1), (1, 1), (1, 2), (0, 2), (0, 1)]
    blocks = [(0, 1, 8, 11), (1, 2, 7, 8), (2, 3, 4, 7), (11, 8, 9, 10), (7, 4, 5, 6)]
    caps = [triangle for a, b, c, d in blocks for triangle in ((a, b, c), (a, c, d))]
    return prism(np.array([(x[i], y[k]) for i, k in corners]), caps, half_length)


def test_what_is_half_way_between_two_walls_is_outside():
    """All faces that were as near counted: the walls of a slot cancelled, and a pin amid it seemed to be 22 mm deep in
    what it did not touch; and half way into a wall all was outside.
    """
    mesh = channel(wall := 0.04, slot := 0.05, depth := 0.1, 0.15)
    collider, _, _ = set_up(Body("Channel", [mesh], motion="static"), Body("Ball", [Sphere(0.01)], mass=1.0))
    draw = np.random.default_rng(5)
    along, up = draw.uniform(-0.14, 0.14, 400), draw.uniform(0.01, depth - 0.01, 400)
    for x, sign in ((0.0, 1.0), (0.5 * (slot + wall), -1.0), (-0.5 * (slot + wall), -1.0)):
        for aside in (0.0, 1e-9, -1e-6, 1e-5):
            point = np.stack([np.full(400, x + aside), up, along], axis=1)
            found = closest_points(collider.model, np.zeros(400, int), point, np.full(400, np.inf))[3]
            assert (found == sign).all()


@pytest.mark.parametrize("half_length", [0.1, 0.15])
def test_a_pin_amid_a_slot_stands_free(half_length):
    """Also where its end is flush with that of the slot."""
    scene = Scene(gravity=(0, 0, 0))
    scene.add(Body("Channel", [channel(0.04, 0.05, 0.1, 0.15)], motion="static"))
    pin = Cylinder(0.02, half_length)
    scene.add(Body("Pin", [pin], position=(0, 0.05, 0), mass=1.0, linear_velocity=(0, 0.1, 0)))
    assert starting_overlaps(scene, SolverConfig(device="cpu")) == []
    trajectory = simulate(scene, 12, 24, SolverConfig(device="cpu"))
    assert trajectory.position[-1, 1] == pytest.approx((0.0, 0.1, 0.0), abs=1e-9)
