# SPDX-License-Identifier: GPL-3.0-or-later
"""Ramps that stand on floors: what slides over the floor goes up, whatever the two are made of.

At the foot of a ramp the floor goes on: there is no edge.  Of meshes what a contact touches was not known, and boxes
that slid at 3 m/s stopped dead at ramps of 5 degrees, in frames that had converged.
"""

from functools import cache

import numpy as np
import pytest
from axion.solver import Body, Box, ConvexHull, Plane, Scene, SolverConfig, TriangleMesh, simulate
from contact_scenes import CUBE, grid
from figures import figure

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
HALF, LONG, SPEED, FRICTION = 0.15, 3.0, 3.0, 0.1
CORNERS = 2.0 * HALF * CUBE
THINGS = {
    "box": Box((HALF, HALF, HALF)),
    "hull": ConvexHull(CORNERS),
    "mesh": TriangleMesh(CORNERS, ConvexHull(CUBE).triangles),
}
FLOORS = {
    "plane": Plane(),
    "box": Box((6, 6, 0.1), position=(0, 0, -0.1)),
    "one quad": grid(1, 6.0),
    "grid": grid(12, 6.0),
}


def prism(profile):
    """A closed mesh with a profile (N, 2) in x and z, counter-clockwise, from y = 1 to -1; its last corner sees all."""
    count = len(profile)
    vertices = np.array([(x, y, z) for y in (1.0, -1.0) for x, z in profile])
    nexts = [(k, (k + 1) % count) for k in range(count)]
    sides = [t for k, n in nexts for t in ((k, k + count, n + count), (k, n + count, n))]
    last = count - 1
    ends = [t for k in range(last - 1) for t in ((last, k, k + 1), (count + last, count + k + 1, count + k))]
    return TriangleMesh(vertices, np.array(sides + ends)[:, ::-1])


def wedge(degrees, convex):
    """A ramp whose foot is at the origin."""
    profile = np.array([(LONG, LONG * np.tan(np.radians(degrees))), (0.0, 0.0), (LONG, 0.0)])
    if convex:
        return ConvexHull(np.array([(x, y, z) for y in (-1.0, 1.0) for x, z in profile]))
    return prism(profile)


def kicker(below):
    """A ramp of eight facets that gets steeper, which ends on the floor or goes on ``below`` it [m]."""
    x = np.linspace(1.0, 0.0, 9)
    foot = [(0.0, -below)] if below else []
    return prism(np.array([*zip(x, 0.4 * x**2, strict=True), *foot, (1.0, -below)]))


def slid(floor, ramp, thing):
    """The Trajectory of a thing that slides onto a ramp."""
    scene = Scene()
    for name, shape in (("Floor", FLOORS[floor]), ("Ramp", ramp)):
        scene.add(Body(name, [shape], motion="static", friction=FRICTION))
    motion = {"position": (-0.5, 0, HALF), "linear_velocity": (SPEED, 0, 0)}
    scene.add(Body("Thing", [THINGS[thing]], mass=5.0, friction=FRICTION, **motion))
    return simulate(scene, 14, 24, CPU)


@cache
def expected(degrees):
    """Way on a convex ramp on the plane [m], which nothing stops."""
    return slid("plane", wedge(degrees, convex=True), "box").position[-1, 2, 0]


@pytest.mark.parametrize("degrees", [5.0, 20.0])
@pytest.mark.parametrize("convex", [False, True])
@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("thing", THINGS)
def test_it_goes_up(thing, floor, convex, degrees):
    trajectory = slid(floor, wedge(degrees, convex), thing)
    want = expected(degrees)
    assert want > (0.55 if degrees > 10.0 else 0.9)
    bound = 0.01 * want  # the front edge strikes a little before the rear one leaves the floor, or in the same step
    name = f"{thing} onto a {'hull' if convex else 'mesh'} of {degrees:g} degrees on a floor that is a {floor}"
    off = abs(trajectory.position[-1, 2, 0] - want)
    assert figure(name, "place off that on hull and plane", off, f"{bound:.2g}", "m") < bound
    assert all(report.converged and report.penetration < FAST for report in trajectory.reports)


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("thing", THINGS)
def test_a_curved_ramp_that_ends_on_the_floor_is_as_one_that_goes_on_below_it(thing, floor):
    on, through = (slid(floor, kicker(below), thing).position[-1, 2, 0] for below in (0.0, 0.05))
    name = f"{thing} onto a curved ramp on a floor that is a {floor}"
    assert through > 0.5
    bound = 0.04 * through  # each facet takes of its speed, by where in a step it comes to it
    assert figure(name, "place off that on one that goes on", abs(on - through), f"{bound:.2g}", "m") < bound


@pytest.mark.parametrize("sunk", [0.0, 0.01])
@pytest.mark.parametrize("rows", [1, 10])
@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("thing", THINGS)
def test_a_kerb_on_a_floor_stops_it(thing, floor, rows, sunk):
    # Its side has rows of faces, of which the lowest ends on the floor or below it.
    height = np.linspace(0.3, -sunk, rows + 1)
    profile = [(1.0, 0.3), *((0.0, z) for z in height), (1.0, -sunk)]
    trajectory = slid(floor, prism(np.array(profile)), thing)
    end, name = trajectory.position[:, 2, 0].max(), f"{thing} against a kerb of {rows} rows on a {floor}"
    assert figure(name, "way into it", end + HALF, FAST, "m") < FAST
    assert abs(trajectory.linear_velocity[-1, 2]).max() < 0.1
