# SPDX-License-Identifier: GPL-3.0-or-later
"""Ragdolls that start inside each other, limbs both ways round: they part at a bounded speed, and gain nothing by it.

Friction wedged them for ever, as did contacts of which one pushes back what another one pushes away.
"""

import numpy as np
import pytest
import table_scenes
from axion.solver import Scene, SolverConfig, rotations, simulate
from axion.solver.frames import body_frames
from figures import figure
from judges import anchor_distances, energies, overlaps
from scenes import ground

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
STEP = 1.0 / 24.0
PUSH_OUT = 3.0  # m/s, see StepProblem.push_out_speed


def ragdolls(count, apart, gravity=0.0):
    scene = Scene(gravity=(0, 0, -gravity))
    if gravity:
        ground(scene, friction=0.6)
    for k in range(count):
        turn = rotations.exponential(np.array([0.1 * k, 0.0, 0.2 * k]))
        table_scenes._ragdoll(scene, f"{k + 1}", np.array([apart * k, 0.03 * k, 1.5]), turn)
    return scene


def parted(title, scene, trajectory, count):
    """Check that no overlap is left when all pairs of ragdolls have been pushed apart, be it one after the other."""
    depth = overlaps(scene, trajectory, range(len(trajectory.times)))
    due = (count - 1) * int(np.ceil(depth[0] / (PUSH_OUT * STEP)))
    assert depth[0] > 0.1 and figure(title, "overlap left", depth[due:].max(), 2.0 * FAST, "m") < 2.0 * FAST
    assert all(report.converged or report.overlap > FAST for report in trajectory.reports[: due + 1])
    # Each body is pushed by those of the other ragdolls at once, and levers of limbs go farther than what pushes them.
    fastest = np.linalg.norm(np.diff(trajectory.position[: due + 1], axis=0), axis=2).max() / STEP
    assert figure(title, "fastest body", fastest, 3.0 * PUSH_OUT, "m/s") < 3.0 * PUSH_OUT
    return due


@pytest.mark.parametrize("apart", [0.05, 0.1, 0.2, 0.4])
def test_two_ragdolls_part_without_speed(apart):
    scene, title = ragdolls(2, apart), f"two ragdolls {apart} m apart"
    trajectory, frames = simulate(scene, 24, config=CPU), body_frames(scene)
    due = parted(title, scene, trajectory, 2)
    assert all(report.converged for report in trajectory.reports[due:])
    # Weightless and at rest: nothing gives them energy.  A residual of FAST a step is a speed of FAST / h.
    mass = frames.mass[: len(scene.bodies)]
    energy, bound = max(report.kinetic_energy for report in trajectory.reports), 0.5 * mass.sum() * (FAST / STEP) ** 2
    assert figure(title, "kinetic energy", energy, bound, "J") < bound
    assert figure(title, "anchors", anchor_distances(scene, trajectory).max(), FAST, "m") < FAST
    place = [frames.to_solver(*pose)[0] for pose in zip(trajectory.position, trajectory.orientation, strict=True)]
    centre = np.einsum("b,tbi->ti", mass, place) / mass.sum()
    off = np.abs(centre - centre[0]).max()
    assert figure(title, "common centre moved", off, FAST, "m") < FAST


@pytest.mark.slow
def test_four_ragdolls_in_one_place_part_and_fall():
    scene, title = ragdolls(4, 0.05, 9.81), "four ragdolls 0.05 m apart"
    trajectory = simulate(scene, 36, config=CPU)
    parted(title, scene, trajectory, 4)
    # Pushing each other apart does not lift their middle, so energy only falls from the start on.
    energy = energies(scene, trajectory)
    weight = 9.81 * sum(body.mass_properties()[0] for body in scene.bodies[1:])
    rise = energy.max() - energy[0]
    assert figure(title, "energy gained", rise, weight * FAST, "J") <= weight * FAST
    assert figure(title, "anchors", anchor_distances(scene, trajectory).max(), FAST, "m") < FAST
