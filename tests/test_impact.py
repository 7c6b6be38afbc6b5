# SPDX-License-Identifier: GPL-3.0-or-later
"""Rebounds inside a step: Newton's law of impact at the time of the impact, hit by hit."""

import numpy as np
import pytest
from axion.solver.impact import Impacts
from axion.solver.led_course import Course
from axion.solver.problem import StepProblem
from axion.solver.reference import impact
from step_problems import bodies_of, contacts_of, random_problem

H, G = 1.0 / 24.0, 9.81
KERNEL = Impacts()


@pytest.fixture(params=["reference", "kernel"])
def rebounds(request):
    """The law in NumPy and as a kernel: rebounds(problem, end_velocity, slowest)."""
    law = impact.rebounds if request.param == "reference" else KERNEL.rebounds
    return lambda problem, end, slowest=0.0: law(problem, end, slowest)


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
def test_a_rebound_follows_its_parabolas(gap, speed, restitution, rebounds):
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
def test_hits_are_told_from_misses(gap, speed, hits, rebounds):
    problem, end = falling(gap, speed, 0.0)
    leaves, separates, hit = rebounds(problem, end)
    assert (leaves[0], separates[0], hit[0]) == (0.0, 0.0, hits)


def test_bodies_that_fall_together_are_at_rest_to_each_other(rebounds):
    bodies = bodies_of(
        [1.0, 2.0], [[0.1] * 3] * 2, [[0, 0, 1.01], [0, 0, 1]], velocity=np.tile([0, 0, -5.0, 0, 0, 0], (2, 1)), step=H
    )
    contacts = contacts_of([0], [1], [[0, 0, 0]], [[0, 0, 0]], [[0, 0, 1]], restitution=1.0)
    leaves, separates, hit = rebounds(StepProblem(H, bodies, contacts), bodies.free_velocity)
    assert (leaves[0], separates[0], hit[0]) == (0.0, 0.0, False)


def test_slow_approaches_rest(rebounds):
    for slowest, speed in ((0.5, -0.4), (0.0, -0.4)):
        problem, end = falling(0.0, speed, 1.0, gravity=0.0)
        assert rebounds(problem, end, slowest)[1][0] == (0.0 if slowest else -speed)


@pytest.mark.parametrize("seed", range(10))
def test_kernel_is_the_reference(seed):
    # Moving bodies on both sides, margins, levers, drift, gaps that begin closed, bounces in a row and too many of
    # them: the same contacts hit, and gaps and speeds differ by rounding, which every bounce passes on.
    rng = np.random.default_rng(seed)
    problem, count = random_problem(seed, dynamic=12, immovable=3, contacts=80, rows=0, step=H), 80
    contacts, bodies = problem.contacts, problem.bodies
    contacts.start_gap = rng.uniform(-0.01, 0.06, count) * (rng.random(count) < 0.8)
    contacts.restitution = rng.choice([0.0, 0.3, 0.9, 1.0], count)
    if seed % 2:
        contacts.surface_drift = 0.1 * rng.normal(size=count)
    bodies.velocity[:, 3:] *= 0.1
    end = bodies.velocity[:12] + rng.normal(size=(12, 6)) * (20.0 * H)
    want, got = impact.rebounds(problem, end, 0.02), KERNEL.rebounds(problem, end, 0.02)
    assert want[2].tolist() == got[2].tolist() and 0 < want[2].sum() < count
    assert (want[0] > 0.0).any()
    for expected, found in zip(want[:2], got[:2], strict=True):
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_kernel_is_the_reference_in_parts(seed):
    rng = np.random.default_rng(seed)
    problem, count = random_problem(seed, dynamic=12, immovable=3, contacts=80, rows=0, step=H), 80
    problem.contacts.start_gap = rng.uniform(-0.01, 0.06, count) * (rng.random(count) < 0.8)
    problem.contacts.restitution = rng.choice([0.0, 0.3, 0.9, 1.0], count)
    problem.bodies.velocity[:, 3:] *= 0.1
    end = problem.bodies.velocity[:12] + rng.normal(size=(12, 6)) * (20.0 * H)
    course = Course(H * np.array([0.2, 0.5, 0.3]), rng.normal(size=(count, 3)), 10.0 * rng.normal(size=(count, 3)))
    want, got = (law.rebounds(problem, end, 0.02, course=course) for law in (impact, KERNEL))
    assert want[2].tolist() == got[2].tolist() and (want[0] > 0.0).any()
    for expected, found in zip(want[:2], got[:2], strict=True):
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("restitution", [0.3, 1.0])
def test_where_nothing_changes_parts_are_as_the_whole(restitution, rebounds):
    problem, end = falling(0.02, -3.0, restitution)
    parts = Course(H * np.array([0.1, 0.2, 0.7]), np.zeros((1, 3)), np.zeros((1, 3)))
    for law in (impact, KERNEL):
        for whole, found in zip(rebounds(problem, end), law.rebounds(problem, end, 0.0, course=parts), strict=True):
            assert found == pytest.approx(whole, abs=1e-12)


def test_what_rests_is_struck_where_its_floor_sets_out():
    # From the middle of the step on the floor rises at 2 m/s, so that its mean is 1: the ball leaves it with e times 2.
    problem, end = falling(0.0, 0.0, 0.5)
    problem.bodies.velocity[1, 2] = 1.0
    course = Course(np.array([0.5, 0.5]) * H, np.array([[1.0, -2.0]]), np.zeros((1, 2)))
    for law in (impact, KERNEL):
        gap, speed, hits = law.rebounds(problem, end, 0.0, course=course)
        assert hits[0] and speed[0] == pytest.approx(0.5 * 2.0 - 0.5 * G * H)
        assert gap[0] == pytest.approx(0.5 * H * (1.0 - 0.25 * G * H))


def test_no_contacts_no_rebounds(rebounds):
    problem = random_problem(0, contacts=0, rows=0)
    assert [len(values) for values in rebounds(problem, problem.bodies.velocity[:4])] == [0, 0, 0]
