# SPDX-License-Identifier: GPL-3.0-or-later
"""What rolls on bodies that move freely themselves, at 24 frames a second, by Lagrange's equations of all of them."""

import numpy as np
import pytest
from axion.solver import Body, Box, ConvexHull, Cylinder, Scene, SolverConfig, Sphere, simulate
from figures import figure
from judges import largest_rise, reported_energies
from scenes import GRAVITY, ground, turned

RADIUS = 0.1
ROUND = {"cylinder": 0.5, "ball": 0.4}  # moment of inertia, of m r^2


def config(substeps):
    return SolverConfig(device="cpu", substeps=substeps)


def roller(kind, radius=RADIUS):
    return Cylinder(radius, 0.2, orientation=turned("x", 0.5 * np.pi)) if kind == "cylinder" else Sphere(radius)


def wedge(angle, long):
    high = long * np.tan(angle)
    return ConvexHull([(x, y, z) for y in (-0.5, 0.5) for x, z in ((0.0, 0.0), (long, 0.0), (0.0, high))])


def roller_on_wedge(kind, angle, friction, mass=2.0):
    """(Scene, start of the roller) of a roller of 1 kg on a wedge on the ground, whose slope leads down along X."""
    scene, long = Scene(), 3.0
    along, up = np.array([np.cos(angle), 0, -np.sin(angle)]), np.array([np.sin(angle), 0, np.cos(angle)])
    ground(scene, friction=friction)
    scene.add(Body("Wedge", [wedge(angle, long)], mass=mass, friction=1.0))
    start = np.array([0.0, 0.0, long * np.tan(angle)]) + 0.5 * along + RADIUS * up
    scene.add(Body("Roller", [roller(kind)], position=start, mass=1.0, friction=1.0))
    return scene, start


@pytest.mark.parametrize("substeps", [1, "auto"])
@pytest.mark.parametrize("angle", [0.3, np.pi / 6])
@pytest.mark.parametrize("kind", ROUND)
def test_a_roller_on_a_wedge_on_ice_goes_by_the_law(kind, angle, substeps):
    # m (1 + k) a + m A cos = m g sin, m a cos + (M + m) A = 0; by backward Euler both were h / T too far, 8 % here.
    time, mass, k = 0.5, 2.0, ROUND[kind]
    matrix = [[1.0 + k, np.cos(angle)], [np.cos(angle), mass + 1.0]]
    a, back = np.linalg.solve(matrix, [GRAVITY * np.sin(angle), 0.0])
    law = 0.5 * time**2 * np.array([back, a * np.cos(angle) + back, -a * np.sin(angle)])
    scene, start = roller_on_wedge(kind, angle, 0.0, mass)
    trajectory = simulate(scene, 12, 24, config(substeps))
    got = np.append(trajectory.position[-1, 1, 0], (trajectory.position[-1, 2] - start)[[0, 2]])
    off = np.abs(got - law).max()
    name = f"{kind} on a wedge of {angle:.2f} rad on ice, {substeps} steps"
    assert figure(name, "ways off the law", off, 1e-4, "m") < 1e-4
    assert all(report.converged for report in trajectory.reports)


def test_a_wedge_that_friction_holds_is_one_that_stands():
    angle, time = 0.3, 0.5
    scene, start = roller_on_wedge("cylinder", angle, 0.8, 20.0)
    trajectory = simulate(scene, 12, 24, config(1))
    way = np.linalg.norm(trajectory.position[-1, 2] - start)
    law = GRAVITY * np.sin(angle) / 1.5 * time**2 / 2.0
    off = abs(way - law)
    assert figure("cylinder on a wedge that friction holds", "way off the law", off, 1e-4, "m") < 1e-4
    assert np.abs(trajectory.position[-1, 1]).max() < 1e-4


def plank_on_rollers(kind, places, tilt, mass=2.0):
    scene = Scene(gravity=(GRAVITY * np.sin(tilt), 0.0, -GRAVITY * np.cos(tilt)))
    ground(scene, friction=1.0)
    for number, (x, y) in enumerate(places):
        scene.add(Body(f"Roller {number}", [roller(kind)], position=(x, y, RADIUS), mass=1.0, friction=1.0))
    scene.add(Body("Plank", [Box((1.5, 0.3, 0.05))], position=(0, 0, 2 * RADIUS + 0.05), mass=mass, friction=1.0))
    return scene


@pytest.mark.parametrize("substeps", [1, "auto"])
@pytest.mark.parametrize(
    ("kind", "places"),
    [
        ("cylinder", [(-0.5, 0.0), (0.5, 0.0)]),
        ("cylinder", [(-0.6, 0.0), (0.0, 0.0), (0.6, 0.0)]),
        ("ball", [(-0.5, 0.15), (-0.5, -0.15), (0.5, 0.0)]),
    ],
    ids=["two cylinders", "three cylinders", "three balls"],
)
def test_a_plank_on_rollers_goes_down_a_slope_by_the_law(kind, places, substeps):
    # The plank goes twice as far as its N rollers: (M + N m (1 + k) / 4) a = g sin (M + N m / 2), s = a t^2 / 2.  By
    # backward Euler it was a h t / 2 too far, 25 mm.
    tilt, time, mass, count = 0.15, 0.75, 2.0, len(places)
    pull = GRAVITY * np.sin(tilt) * (mass + 0.5 * count) / (mass + 0.25 * count * (1.0 + ROUND[kind]))
    trajectory = simulate(plank_on_rollers(kind, places, tilt, mass), 18, 24, config(substeps))
    ways = trajectory.position[-1, 1:, 0] - trajectory.position[0, 1:, 0]
    law = 0.5 * pull * time**2 * np.array([*[0.5] * count, 1.0])
    name = f"plank on {count} rollers like a {kind}, {substeps} steps"
    assert figure(name, "ways off the law", np.abs(ways - law).max(), 1e-4, "m") < 1e-4
    speed = trajectory.linear_velocity[-1, -1, 0] / (pull * time)
    assert figure(name, "speed of the plank, of the law's", speed, "1 +- 1e-4") == pytest.approx(1.0, abs=1e-4)
    assert all(report.converged for report in trajectory.reports)


def test_a_plank_on_rollers_rests():
    scene = plank_on_rollers("cylinder", [(-0.4, 0.0), (0.4, 0.0)], 0.0)
    trajectory = simulate(scene, 72, 24, config(1))
    assert np.abs(trajectory.position - trajectory.position[0]).max() < 1e-5
    assert not trajectory.linear_velocity[-1].any() and not trajectory.angular_velocity[-1].any()


def test_two_layers_of_rollers_gain_nothing():
    scene = plank_on_rollers("cylinder", [(-0.4, 0.0), (0.4, 0.0)], 0.0)
    for number, x in enumerate((-0.3, 0.3)):
        place = (x, 0.0, 3 * RADIUS + 0.1)
        scene.add(Body(f"Upper {number}", [roller("cylinder")], position=place, mass=1.0, friction=1.0))
    scene.add(Body("Top", [Box((0.8, 0.3, 0.05))], position=(0, 0, 4 * RADIUS + 0.15), mass=1.0, friction=1.0,
                   linear_velocity=(0.5, 0, 0)))  # fmt: skip
    trajectory = simulate(scene, 24, 24, config(1))
    energy = reported_energies(trajectory)
    bound = 8.0 * GRAVITY * 1e-4  # what lifts all of it by the tolerance
    assert figure("two layers of rollers", "energy gained in a frame", largest_rise(energy), bound, "J") < bound


def round_on_round(kind, friction, angle=0.15):
    """(Scene, ODE) of something round of 1 kg and 0.15 m at ``angle`` on another of 2 kg and 0.3 m on the ground.

    The ODE is Lagrange's in x of the lower one and the angle of the line of centres, of both and their rates: nothing
    slips, or nothing turns where there is no friction.
    """
    reach, mass, scene, lies = 0.45, 2.0, Scene(), turned("x", 0.5 * np.pi)
    k = ROUND[kind] if friction else 0.0
    ground(scene, friction=friction)
    place = (reach * np.sin(angle), 0.0, 0.3 + reach * np.cos(angle))
    for name, radius, where, weight in (("Lower", 0.3, (0, 0, 0.3), mass), ("Upper", 0.15, place, 1.0)):
        shape = Cylinder(radius, 0.2) if kind == "cylinder" else Sphere(radius)
        scene.add(Body(name, [shape], position=where, orientation=lies, mass=weight, friction=friction))

    def rates(state):
        _, a, v, w = state
        both = reach * (np.cos(a) - k)  # the upper one turns by (reach da - dx) / radius
        matrix = [[(1.0 + k) * mass + 1.0 + k, both], [both, (1.0 + k) * reach**2]]
        return np.array([v, w, *np.linalg.solve(matrix, [reach * np.sin(a) * w * w, GRAVITY * reach * np.sin(a)])])

    return scene, rates


def solved_to(time, rates, state, count=2000):
    h = time / count
    for _ in range(count):
        one = rates(state)
        two = rates(state + 0.5 * h * one)
        three = rates(state + 0.5 * h * two)
        state = state + h / 6.0 * (one + 2.0 * two + 2.0 * three + rates(state + h * three))
    return state


@pytest.mark.parametrize("substeps", [1, "auto"])
@pytest.mark.parametrize(("kind", "friction", "frames"), [("cylinder", 3.0, 14), ("ball", 3.0, 12), ("ball", 0.0, 9)])
def test_what_is_round_leaves_what_is_round_by_the_law(kind, friction, frames, substeps):
    # By backward Euler the angle was 12 to 13 % ahead.
    scene, rates = round_on_round(kind, friction)
    trajectory = simulate(scene, frames, 24, config(substeps))
    x, angle = solved_to(frames / 24.0, rates, np.array([0.0, 0.15, 0.0, 0.0]))[:2]
    apart = trajectory.position[-1, 2] - trajectory.position[-1, 1]
    name = f"{kind} on a {kind}, friction {friction:g}, {substeps} steps"
    off = np.arctan2(apart[0], apart[2]) / angle - 1.0
    assert abs(figure(name, "angle off the law's, of it", off, "+- 1 %")) < 0.01
    off = trajectory.position[-1, 1, 0] / x - 1.0
    assert abs(figure(name, "way of the lower one off the law's, of it", off, "+- 1 %")) < 0.01
    energy = reported_energies(trajectory)
    bound = 3.0 * GRAVITY * 1e-4
    assert figure(name, "change of the energy", np.abs(energy - energy[0]).max(), bound, "J") < bound
    assert all(report.converged for report in trajectory.reports)
