# SPDX-License-Identifier: GPL-3.0-or-later
"""A ball a thousand times as heavy as each of the fifty links it hangs on, let go at the horizontal.

Rigid links without drives or contacts: energy stays what it is, joints stay closed.
"""

import numpy as np
import pytest
from axion.solver import SolverConfig, simulate
from figures import figure
from judges import anchor_distances, energies, largest_rise
from scenes import GRAVITY
from table_scenes import hung_ball

CPU = SolverConfig(device="cpu")


@pytest.fixture(scope="module")
def swing():
    scene = hung_ball()
    return scene, simulate(scene, 120, config=CPU)


def test_every_joint_stays_closed(swing):
    scene, trajectory = swing
    error = anchor_distances(scene, trajectory)
    worst = figure("chain of 50 and 1000:1 ball", "worst joint in 5 s", error.max(), 1e-4, "m")
    figure("chain of 50 and 1000:1 ball", "frames missed", sum(not r.converged for r in trajectory.reports), 0)
    assert worst < 1e-4
    assert all(report.converged for report in trajectory.reports)


def test_every_newton_step_is_solved_directly(swing):
    # Where the whole stiffness of the joints makes the matrix indefinite, its positive part takes its place.
    taken = sum(report.linear_iterations for report in swing[1].reports)
    assert figure("chain of 50 and 1000:1 ball", "linear iterations in 5 s", taken, 0) == 0


def test_energy_neither_rises_nor_is_lost(swing):
    # In parts of what the fall from the horizontal to straight down sets free: 1000 kg by 10.5 m, 50 links by half of
    # 10 m in the mean.
    scene, trajectory = swing
    energy = energies(scene, trajectory)
    swung = GRAVITY * sum(body.mass * body.position[0] for body in scene.bodies)
    assert swung == pytest.approx(GRAVITY * (1000.0 * 10.5 + 50.0 * 5.0))
    rise = figure("chain of 50 and 1000:1 ball", "energy rise", largest_rise(energy) / swung, 1e-3, "of the fall")
    loss = figure("chain of 50 and 1000:1 ball", "energy loss in 5 s", (energy[0] - energy[-1]) / swung, 2e-2, "of it")
    assert rise < 1e-3
    assert loss < 2e-2


def test_ball_swings_through(swing):
    # The ball falls nearly freely until the chain is straight, 10.5 m below, and comes up again on the other side.
    trajectory = swing[1]
    assert np.all(np.isfinite(trajectory.position))
    lowest, farthest = trajectory.position[:, -1, 2].min(), trajectory.position[:, -1, 0].min()
    assert figure("chain of 50 and 1000:1 ball", "lowest place of the ball", lowest, "< -9.9", "m") < -9.9
    assert figure("chain of 50 and 1000:1 ball", "farthest on the other side", farthest, "< -5", "m") < -5.0
