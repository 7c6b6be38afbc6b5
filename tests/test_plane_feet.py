# SPDX-License-Identifier: GPL-3.0-or-later
"""Planes far from their own origin: what falls on one comes to rest on it wherever that is."""

import numpy as np
import pytest
from axion.solver import Body, Box, ConvexHull, Cylinder, Plane, Scene, Sphere, TriangleMesh, simulate
from axion.solver.rotations import matrices

SIGNS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
SIDES = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4]]
SIDES += [[1, 5, 7], [1, 7, 3]]
SHAPES = {
    "box": lambda half: Box((half, half, half)),
    "ball": Sphere,
    "cylinder": lambda half: Cylinder(half, half),
    "hull": lambda half: ConvexHull(half * SIGNS),
    "mesh": lambda half: TriangleMesh(half * SIGNS, np.array(SIDES)),
}
TILTED = np.array([0.1, 0.2, 0.05, np.sqrt(1.0 - 0.0525)])


def height(make, half, far, orientation, plane=None):
    """How far above the floor a body is, half a second after it is let go a tenth of its size above it [m].

    The floor's origin is ``far`` aside; gravity goes along its normal.
    """
    turn = matrices(np.array([orientation]))[0]
    scene = Scene(gravity=tuple(-9.81 * turn[:, 2]))
    floor = Plane() if plane is None else plane
    scene.add(Body("Floor", [floor], motion="static", orientation=orientation))
    place = turn @ np.array([far, -0.3 * far, 1.2 * half])
    scene.add(Body("Body", [make(half)], position=place, orientation=orientation))
    found = simulate(scene, 12)
    assert all(report.converged for report in found.reports)
    return (turn.T @ found.position[-1, 1])[2] - half


@pytest.mark.parametrize("far", [1e6, 1e7, 1e8])
@pytest.mark.parametrize("orientation", [(0, 0, 0, 1), TILTED], ids=["level", "tilted"])
@pytest.mark.parametrize("make", SHAPES.values(), ids=SHAPES.keys())
def test_what_falls_far_from_a_planes_origin_rests_on_it(make, orientation, far):
    # Float64 tells places at 1e8 m to 1.5e-8 m; what rests does so to the tolerance of 1e-5 m.  Bodies fell through
    # from a million of their sizes on, and on tilted planes were 1 mm off at a tenth of that.
    assert abs(height(make, 0.5, far, orientation)) < 1e-5


@pytest.mark.parametrize("far", [2e3, 2e5])
def test_so_do_small_bodies(far):
    assert abs(height(SHAPES["box"], 0.01, far, TILTED)) < 1e-5


def test_a_plane_may_be_placed_in_its_body():
    # Its origin is 1e7 m aside in the frame of its body, which is itself as far away from the origin of the world.
    plane = Plane(position=(-1e7, 2e7, 0.0), orientation=(0.0, 0.0, np.sin(0.4), np.cos(0.4)))
    assert abs(height(SHAPES["box"], 0.5, 0.0, TILTED, plane)) < 1e-5


def test_one_body_has_planes_and_boxes():
    # A valley of two planes with a step in it, far from its origin: newton is told each where it is.
    far = np.array([2e6, 3e6, 0.0])
    left = Plane(orientation=(0.0, np.sin(np.pi / 8), 0.0, np.cos(np.pi / 8)))
    right = Plane(orientation=(0.0, -np.sin(np.pi / 8), 0.0, np.cos(np.pi / 8)))
    step = Box((1.0, 1.0, 0.5), position=(0.0, 3e6, 1.5))
    scene = Scene(bodies=[Body("Valley", [left, right, step], motion="static", position=(2e6, 0.0, 0.0), friction=0.0)])
    scene.add(Body("On planes", [Sphere(0.5)], position=far + (0.0, 5.0, 0.75)))
    scene.add(Body("On the step", [Sphere(0.5)], position=far + (0.0, 0.0, 2.55)))
    found = simulate(scene, 24)
    # The middle of a ball between planes at 45 degrees is the square root of two times its radius above their edge.
    assert abs(found.position[-1, 1, 2] - np.sqrt(0.5)) < 1e-5
    assert abs(found.position[-1, 2, 2] - 2.5) < 1e-5
