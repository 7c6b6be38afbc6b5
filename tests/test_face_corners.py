# SPDX-License-Identifier: GPL-3.0-or-later
"""Faces that lie on each other almost flat: the deepest corner of their overlap is among the contacts."""

import numpy as np
import pytest
from axion.solver import Body, Box, Cone, ConvexHull, Cylinder, Plane, Scene, SolverConfig, simulate
from axion.solver.collision import Collider
from axion.solver.model import build_model
from axion.solver.rotations import exponential, multiply, rotate
from contact_scenes import set_up
from judges import OverlapJudge

HALF = np.array([0.4, 0.3, 0.2])
NOISE = 2e-5 * HALF.min()  # detection in single precision leaves out what is less than 1e-5 of the size


def prism(sides):
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.stack([0.4 * np.cos(angle), 0.3 * np.sin(angle)], axis=1)
    return ConvexHull(np.concatenate([np.c_[ring, np.full(sides, z)] for z in (-0.2, 0.2)]))


@pytest.mark.parametrize("shape", [Box(HALF), prism(6), prism(12)], ids=["box", "hexagon", "twelve sides"])
@pytest.mark.parametrize("lower", [Plane(), Box((0.4, 0.3, 0.2), position=(0, 0, -0.2))], ids=["plane", "box"])
def test_overlap_is_that_of_the_true_shapes(shape, lower):
    # Judged by separating axes: turned at will, leaning by up to 0.1 degrees, sunk a little.
    scene = Scene()
    scene.add(Body("Lower", [lower], motion="static"))
    scene.add(Body("Upper", [shape], position=(0, 0, 0.2)))
    collider, judge, rng = Collider(build_model(scene)), OverlapJudge(scene), np.random.default_rng(7)
    for _ in range(40):
        way, lean = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.0, np.radians(0.1))
        turn = multiply(
            exponential(lean * np.array([np.cos(way), np.sin(way), 0.0])), exponential([0, 0, rng.uniform(0.0, np.pi)])
        )
        place = np.array([[0, 0, 0], [*rng.uniform(-0.2, 0.2, 2), 0.2 - rng.uniform(0.0, 2e-4)]])
        turns = np.array([[0, 0, 0, 1], turn])
        found = collider.collide_again(place, turns)
        assert max(0.0, -found.gap.min(initial=0.0)) == pytest.approx(judge.deepest(place, turns)[0], abs=NOISE)


@pytest.mark.parametrize("floor", [Box((5.0, 5.0, 0.5), position=(0.0, 0.0, -0.5)), Plane()], ids=["box", "plane"])
@pytest.mark.parametrize("shape", [Cylinder(0.3, 0.3), Cone(0.3, 0.3)], ids=["cylinder", "cone"])
@pytest.mark.parametrize("degrees", [0.01, 0.1, 0.3, 0.6, 2.0])
def test_the_lowest_point_of_a_round_end_that_leans_is_found(shape, floor, degrees):
    # newton has four points of its rim: at 0.1 degrees the lowest of them was 339 um above the lowest of all.
    worst = 0.0
    for angle in np.linspace(0.0, 2.0 * np.pi, 13):
        lean = multiply(exponential(np.array([np.radians(degrees), 0, 0])), exponential(np.array([0, 0, 1.7 * angle])))
        turned = multiply(exponential(np.array([0, 0, angle])), lean)
        drum = Body("Drum", [shape], position=(0, 0, 0.30006), orientation=turned)
        collider, x, q = set_up(Body("Floor", [floor], motion="static"), drum)
        axis = rotate(turned, np.array([0.0, 0.0, 1.0]))
        lowest = 0.30006 - 0.3 * axis[2] - 0.3 * np.hypot(axis[0], axis[1])
        worst = max(worst, collider.collide_again(x, q).gap.min() - lowest)
    assert worst < 2e-5


@pytest.mark.parametrize("degrees", [3.0, 6.0])
def test_a_box_that_comes_down_on_an_edge_is_solved_once(degrees):
    # It turns about the edge until its face lies flat, within the step: newton tells of the edge alone.
    scene = Scene()
    scene.add(Body("Floor", [Box((2.0, 2.0, 0.5), position=(0, 0, -0.5))], motion="static"))
    turn, lean = exponential(np.array([0.0, 0.0, 0.4])), np.radians(degrees)
    turn = multiply(turn, exponential(np.array([lean, 0.0, 0.0])))
    height = 0.5 * (np.cos(lean) + np.sin(lean)) + 0.02
    scene.add(Body("Box", [Box((0.5,) * 3)], position=(0, 0, height), orientation=turn, linear_velocity=(0, 0, -4.0)))
    report = simulate(scene, frames=1, config=SolverConfig(device="cpu")).reports[0]
    assert report.converged and report.substeps == 1
