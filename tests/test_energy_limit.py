# SPDX-License-Identifier: GPL-3.0-or-later
"""What an island may end a step with, where the step before left overlap."""

from types import SimpleNamespace

import numpy as np
import pytest
from axion.solver.energy_limit import EnergyLimit
from axion.solver.problem import StepProblem, StepSolution
from step_problems import bodies_of, contacts_of

STEP, TOLERANCE, MASS = 1.0 / 24.0, 1e-4, 1.0
OVERLAP, FORCE = 5e-5, 1e5  # [m], [N]


def limit_of(way, load=0.0, stuck=False):
    """The EnergyLimit of two balls that overlap at rest, are pressed at each other and move apart by ``way`` [m], the
    first against a weight of ``load`` [N].
    """
    gravity = (load / MASS, 0, 0)
    bodies = bodies_of([MASS, MASS], np.ones((2, 3)), [(0, 0, 0), (1, 0, 0)], step=STEP, gravity=gravity)
    contacts = contacts_of([0], [1], [(0.5 + OVERLAP, 0, 0)], [(-0.5, 0, 0)], [(-1.0, 0, 0)])
    problem = StepProblem(STEP, bodies, contacts)
    end = bodies.position + np.array([[-way, 0, 0], [0, 0, 0]])
    solution = StepSolution(np.zeros((2, 6)), end, bodies.orientation, np.array([[FORCE * STEP, 0, 0]]), np.zeros(0))
    assembly = SimpleNamespace(
        problem=problem, island=np.zeros(2, int), end_velocity=bodies.free_velocity[:2], bounces=None
    )
    judged = SimpleNamespace(driven=np.zeros(1, bool), work=(np.zeros(1), np.zeros(1)))
    told = np.full(2, TOLERANCE), np.full(2, stuck)
    return EnergyLimit(assembly, solution, judged, TOLERANCE, assembly.problem.bodies.velocity, *told)


def speed_of(energy):
    """Velocities (2, 6) of two balls that have so much [J]."""
    velocity = np.zeros((2, 6))
    velocity[:, 0] = np.array([-1.0, 1.0]) * np.sqrt(energy / MASS)
    return velocity


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_force_on_overlap_gives_energy_as_far_as_that_is_pushed_out(share):
    limit, work = limit_of(share * OVERLAP), FORCE * share * OVERLAP
    noise = MASS * (TOLERANCE / STEP) ** 2
    assert not limit.exceeded(speed_of(0.99 * work + 0.5 * noise))[0]
    assert limit.exceeded(speed_of(1.01 * work + 2.0 * noise))[0]


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("load", [0.0, 0.2 * FORCE, 5.0 * FORCE])
def test_a_force_on_what_is_stuck_lifts_as_far_as_that_is_pushed_out_and_makes_nothing_faster(share, load):
    """The two had all that the force may have done, and in wedges, where forces are without end, any energy."""
    limit, way = limit_of(share * OVERLAP, load, True), share * OVERLAP
    spare = 2.0 * (0.5 * load * TOLERANCE + 0.5 * MASS * (TOLERANCE / STEP) ** 2) + load * TOLERANCE
    energy = limit.limit[0] + min(FORCE, load) * way
    assert energy == pytest.approx(-max(load - FORCE, 0.0) * way, abs=1e-9)
    assert limit.exceeded(speed_of(max(energy, 0.0) + 2.0 * spare))[0]
    assert limit.exceeded(speed_of(0.0))[0] == (energy + spare < 0.0)
