# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that a body turned too far in: what tells them."""

from types import SimpleNamespace

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Scene, SolverConfig, Sphere, simulate
from axion.solver.passing import came_through
from axion.solver.problem import JointRows, StepProblem
from judges import energies, largest_rise
from step_problems import bodies_of, contacts_of

CPU = SolverConfig(device="cpu")
STEP = 0.02


def one_above_another(gap):
    """Body 0 above the immovable body 1, one contact that points up."""
    bodies = bodies_of(
        [1.0, np.inf], [[0.1] * 3, [np.inf] * 3], [[0, 0, 1], [0, 0, 0]], [[0, 0, 0, 1]] * 2,
        [[0, 0, -1, 0, 0, 0], [0] * 6], STEP, gravity=(0, 0, 0),
    )  # fmt: skip
    contacts = contacts_of([0], [1], [[0, 0, -1.0 + gap]], [[0, 0, 0]], [[0, 0, 1.0]])
    contacts.start_gap = np.array([gap])
    return StepProblem(STEP, bodies, contacts, JointRows.empty())


class Found(SimpleNamespace):
    def __len__(self):
        return len(self.gap)


@pytest.mark.parametrize(
    ("start", "normal", "swap", "through"),
    [
        (0.1, (0, 0, -1), False, True),
        (0.1, (0, 0, 1), True, True),  # the same, with the bodies the other way round
        (0.1, (0, 0, 1), False, False),
        (0.1, (1, 0, 0), False, False),  # off an edge
        (-0.1, (0, 0, -1), False, False),  # overlapped before
    ],
)
def test_what_points_to_the_far_side_came_through(start, normal, swap, through):
    problem = one_above_another(start)
    first, second = ([1], [0]) if swap else ([0], [1])
    end = Found(
        gap=np.array([-0.05]), normal=np.array([normal], float), body_a=np.array(first), body_b=np.array(second)
    )
    assert came_through(problem, end, np.array([0, 1])).tolist() == [through]


@pytest.mark.parametrize("shape", [Sphere(0.1), Capsule(0.02, 0.1), Box((0.02, 0.05, 0.1))])
def test_spinning_body_that_falls_on_the_ground_gains_nothing(shape):
    # Two radians a frame and more, on a body much longer than thick: levers and inertia turn within the step.
    scene = Scene()
    scene.add(Body("Ground", [Box((5, 5, 0.5), position=(0, 0, -0.5))], motion="static"))
    scene.add(Body("Body", [shape], position=(0, 0, 0.6), angular_velocity=(50, 20, 30), linear_velocity=(1, 0, -3)))
    energy = energies(scene, simulate(scene, 24, config=CPU))
    weight = 9.81 * scene.bodies[1].mass_properties()[0]
    assert largest_rise(energy) < weight * CPU.tolerances()[1]  # lifted by the tolerance
