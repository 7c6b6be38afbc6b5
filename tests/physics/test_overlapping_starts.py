# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that start inside each other: pushed apart at a bounded speed, and what pushes leaves no motion behind."""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Joint, Scene, SolverConfig, simulate
from contact_scenes import rock
from judges import energies, overlaps
from scenes import ground, turned

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
STEP = 1.0 / 24.0
PUSH_OUT = 3.0  # m/s, see StepProblem.push_out_speed


def pair():
    return [Body("A", [Box([0.2] * 3)], position=(0, 0, 0)), Body("B", [Box([0.2] * 3)], position=(0.05, 0.03, 0.3))]


def rocks():
    return [Body(f"Rock {i}", [rock(16, i)], position=(0.1 * i, 0.05 * (i % 2), 0.25)) for i in range(5)]


def boxes():
    random = np.random.default_rng(0)
    made = []
    for i in range(8):
        turn = random.normal(size=4)
        place = random.uniform(-0.15, 0.15, 3)
        made.append(Body(f"Box {i}", [Box([0.1] * 3)], position=place, orientation=turn / np.linalg.norm(turn)))
    return made


def limbs():
    """A chain of six capsules folded up: neighbours are joined, every second one lies within the one after next."""
    across = turned("y", 0.5 * np.pi)
    made = [Body(f"Limb {i}", [Capsule(0.06, 0.14)], position=(0.1, 0.03 * i, 1), orientation=across) for i in range(6)]
    for i in range(1, 6):
        place = (0.2 if i % 2 else 0.0, 0.03 * i - 0.015, 1)
        made.append(Joint(f"Joint {i}", "ball", f"Limb {i - 1}", f"Limb {i}", place))
    return made


STARTS = {"two boxes": pair, "five hulls": rocks, "eight boxes": boxes, "folded limbs": limbs}


@pytest.mark.parametrize("name", STARTS)
def test_pushed_apart_without_speed(name):
    # Weightless and at rest: nothing gives them energy.  A residual of FAST a step is a speed of FAST / h.
    scene = Scene(gravity=(0, 0, 0))
    for thing in STARTS[name]():
        scene.add(thing)
    trajectory = simulate(scene, 36, config=CPU)
    mass = sum(body.mass_properties()[0] for body in scene.bodies)
    assert max(report.kinetic_energy for report in trajectory.reports) < 0.5 * mass * (FAST / STEP) ** 2
    depth = overlaps(scene, trajectory, [0, 36])
    assert depth[0] > 0.02 and depth[1] < FAST
    # Each pair parts at PUSH_OUT at most, and a body may be pushed by all the others at once.
    way = np.linalg.norm(np.diff(trajectory.position, axis=0), axis=2)
    assert way.max() < PUSH_OUT * STEP * (len(scene.bodies) - 1)
    assert all(report.joint_error < FAST for report in trajectory.reports)


def test_folded_limbs_gain_nothing_in_their_fall():
    # Pushing each other apart does not lift their middle, so energy only falls from the start on.
    scene = Scene()
    ground(scene)
    for thing in limbs():
        scene.add(thing)
    trajectory = simulate(scene, 72, config=CPU)
    energy = energies(scene, trajectory)
    weight = 9.81 * sum(body.mass_properties()[0] for body in scene.bodies[1:])
    assert np.all(energy <= energy[0] + weight * FAST)
    assert overlaps(scene, trajectory, [72])[0] < FAST
    assert np.abs(trajectory.linear_velocity[-1]).max() < FAST / STEP
