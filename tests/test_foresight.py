# SPDX-License-Identifier: GPL-3.0-or-later
"""What contacts hold does not fall on to what else is near: rebounds are foreseen without that fall."""

import numpy as np
import pytest
from axion.solver.foresight import Foresight, kept_up
from axion.solver.problem import StepProblem
from axion.solver.reference import impact
from axion.solver.reference.rows import start_gaps
from step_problems import bodies_of, contacts_of

H, G, R, SLOPE = 1.0 / 24.0, 9.81, 0.04, 0.003
FLOOR, BESIDE = (0.0, 0.0, 1.0), (np.sin(1.0), 0.0, np.cos(1.0))
STILL, CLOSE = 1e-3, 1e-4


def ball(gap=0.0, rise=0.0, carried=1.0, speed=0.0):
    """A ball of 1 kg above a floor, 3 mm from a slope: (StepProblem, free velocity at the end).

    carried: share of its weight that the contact with the floor carried; rise, speed: of the ball, up and to the slope.
    """
    velocity = np.zeros((2, 6))
    velocity[0, [0, 2]] = -speed, rise
    bodies = bodies_of(
        [1.0, np.inf], [[0.4 * R**2] * 3, [np.inf] * 3], [[0, 0, R + gap], [0, 0, 0]], velocity=velocity, step=H
    )
    below = -R * np.array([FLOOR, BESIDE])
    there = bodies.position[0] + below - [[0, 0, gap], SLOPE * np.array(BESIDE)]
    push = [[0, 0, carried * G * H], np.zeros(3)]
    contacts = contacts_of([0, 0], [1, 1], below, there, [FLOOR, BESIDE], restitution=0.5, impulse=push)
    return StepProblem(H, bodies, contacts), bodies.free_velocity[:1]


def test_what_rests_does_not_fall_on_what_is_beside():
    problem, end = ball()
    back = kept_up(problem, end, STILL, start_gaps(problem) > CLOSE)
    assert back == pytest.approx([0.0, G * H * np.cos(1.0)], abs=1e-12)
    assert impact.rebounds(problem, end, STILL)[1][1] > 0.0  # as if it fell freely
    gap, speed, hits = Foresight().rebounds(problem, end, STILL, CLOSE)
    assert not gap.any() and not speed.any() and hits.tolist() == [True, False]


@pytest.mark.parametrize("other", [{"gap": 1e-3}, {"rise": 0.2}, {"carried": 0.5}, {"carried": 0.0}])
def test_what_is_apart_bounces_or_is_not_in_balance_falls(other):
    problem, end = ball(**other)
    assert kept_up(problem, end, STILL, start_gaps(problem) > CLOSE) is None


def test_what_rolls_on_a_floor_hits_by_its_own_speed():
    problem, end = ball(speed=2.0)
    gap, speed, hits = Foresight().rebounds(problem, end, STILL, CLOSE)
    approach = 2.0 * np.sin(1.0)
    assert hits[1] and speed[1] == pytest.approx(0.5 * approach)
    assert gap[1] == pytest.approx(0.5 * approach * (H - SLOPE / approach))


@pytest.mark.parametrize("seed", range(2))
def test_kernel_as_reference(seed):
    rng = np.random.default_rng(seed)
    problem, end = ball(gap=0.01)
    held = rng.uniform(-0.2, 0.4, 2)
    want = impact.rebounds(problem, end, STILL, held)
    for expected, found in zip(want, Foresight()._alone.rebounds(problem, end, STILL, held), strict=True):
        assert found == pytest.approx(expected, abs=1e-12)
