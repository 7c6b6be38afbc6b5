# SPDX-License-Identifier: GPL-3.0-or-later
"""Rebounds inside a step: Newton's law of impact at the time of the impact, hit by hit."""

import numpy as np
import pytest
from axion.solver.problem import StepProblem
from axion.solver.reference.impact import rebounds
from step_problems import bodies_of, contacts_of

H, G = 1.0 / 24.0, 9.81


def falling(gap, speed, restitution, gravity=G):
    """One ball above an immovable plane: (StepProblem, free velocity at the end)."""
    bodies = bodies_of(
        [1.0, np.inf], [[0.1] * 3, [np.inf] * 3], [[0, 0, gap], [0, 0, 0]],
        velocity=[[0, 0, speed, 0, 0, 0], np.zeros(6)], step=H, gravity=(0, 0, -gravity),
    )  # fmt: skip
    contacts = contacts_of([0], [1], [[0, 0, 0]], [[0, 0, 0]], [[0, 0, 1]], restitution=restitution)
    return StepProblem(H, bodies, contacts), bodies.free_velocity[:1]


def stepped(gap, speed, restitution, slowest, parts=200000, gravity=G):
    """The same by many tiny steps: (gap, speed)."""
    dt = H / parts
    for _ in range(parts):
        gap += speed * dt - 0.5 * gravity * dt * dt
        speed -= gravity * dt
        if gap < 0.0 and speed < 0.0:
            if -speed <= slowest:
                return 0.0, 0.0
            gap, speed = 0.0, -restitution * speed
    return gap, speed


@pytest.mark.parametrize(
    ("gap", "speed", "restitution"),
    [(0.02, -3.0, 1.0), (0.02, -3.0, 0.5), (0.1, -3.0, 0.8), (0.0, -1.0, 0.3), (0.0005, 0.0, 1.0), (0.001, -0.45, 0.2)],
)
def test_a_rebound_follows_its_parabolas(gap, speed, restitution):
    problem, end = falling(gap, speed, restitution)
    found = [values[0] for values in rebounds(problem, end)]
    want = stepped(gap, speed, restitution, 0.5 * G * H)
    # two hits at most, each late by a tiny step
    assert found[0] == pytest.approx(want[0], abs=2.0 * 4.0 * H / 200000)
    assert found[1] == pytest.approx(want[1], abs=2.0 * 2.0 * G * H / 200000 + 1e-12)
    assert found[2]


@pytest.mark.parametrize(
    ("gap", "speed", "hits"), [(0.5, -3.0, False), (0.02, 1.0, False), (0.0, 0.0, True), (0.02, -3.0, True)]
)
def test_hits_are_told_from_misses(gap, speed, hits):
    problem, end = falling(gap, speed, 0.0)
    leaves, separates, hit = rebounds(problem, end)
    assert (leaves[0], separates[0], hit[0]) == (0.0, 0.0, hits)


def test_bodies_that_fall_together_are_at_rest_to_each_other():
    bodies = bodies_of(
        [1.0, 2.0], [[0.1] * 3] * 2, [[0, 0, 1.01], [0, 0, 1]], velocity=np.tile([0, 0, -5.0, 0, 0, 0], (2, 1)), step=H
    )
    contacts = contacts_of([0], [1], [[0, 0, 0]], [[0, 0, 0]], [[0, 0, 1]], restitution=1.0)
    leaves, separates, hit = rebounds(StepProblem(H, bodies, contacts), bodies.free_velocity)
    assert (leaves[0], separates[0], hit[0]) == (0.0, 0.0, False)


def test_slow_approaches_rest():
    for slowest, speed in ((0.5, -0.4), (0.0, -0.4)):
        problem, end = falling(0.0, speed, 1.0, gravity=0.0)
        assert rebounds(problem, end, slowest)[1][0] == (0.0 if slowest else -speed)
