# SPDX-License-Identifier: GPL-3.0-or-later
"""Impacts that lead to impacts within a step: the kernel, its reference in NumPy, and what balls in a row do."""

import numpy as np
import pytest
from axion.solver.impact import Impacts
from axion.solver.knock_on import KnockOn, groups_of
from axion.solver.led_course import Course
from axion.solver.problem import StepProblem
from axion.solver.reference import impact, knock_on
from step_problems import bodies_of, contacts_of, random_problem

H, CLOSE = 1.0 / 24.0, 1e-4
RADIUS = 0.05
ALONE, TOGETHER = Impacts(), KnockOn()


def by_kernel(problem, end_velocity, slowest, course=None):
    alone = ALONE.rebounds(problem, end_velocity, slowest, course=course)
    return TOGETHER.rebounds(problem, end_velocity, alone, slowest, CLOSE, course=course)


def group_numbers(problem, count, rebounds):
    """(C,) int: the group of each contact, -1 for those that ``groups_of`` leaves out."""
    taken, group, _ = groups_of(problem, count, rebounds)
    numbers = np.full(len(problem.contacts), -1)
    numbers[taken] = group
    return numbers


def by_reference(problem, end_velocity, slowest, course=None):
    gap, speed, hits = impact.rebounds(problem, end_velocity, slowest, course=course)
    bounces = (gap > 0.0) | (speed != 0.0)
    grouped = group_numbers(problem, len(end_velocity), bounces)
    found = knock_on.knock_on(problem, end_velocity, grouped, bounces, slowest, CLOSE, course=course)
    chosen = [np.where(grouped >= 0, new, old) for new, old in zip(found, (gap, speed), strict=False)]
    return *chosen, hits | found[2]


@pytest.fixture(params=["reference", "kernel"])
def rebounds(request):
    return by_reference if request.param == "reference" else by_kernel


def row(velocity, between, restitution):
    """Balls of 1 kg along x with gaps ``between`` (N - 1,) and no gravity: StepProblem."""
    count = len(velocity)
    place = np.concatenate([[0.0], np.cumsum(2.0 * RADIUS + np.asarray(between))])
    bodies = bodies_of(
        np.ones(count), [[1e-3] * 3] * count, np.outer(place, [1, 0, 0]),
        velocity=np.outer(velocity, [1, 0, 0, 0, 0, 0]), step=H, gravity=(0, 0, 0),
    )  # fmt: skip
    first = np.arange(count - 1)
    point = np.tile([RADIUS, 0, 0], (count - 1, 1))
    normal = np.tile([-1.0, 0, 0], (count - 1, 1))  # from b to a
    return StepProblem(H, bodies, contacts_of(first, first + 1, point, -point, normal, restitution=restitution))


def after(velocity, restitution, gaps):
    """(velocities (N,), gaps (N - 1,)) after the step, hit by hit, of balls on a line: the closed form of each pair."""
    v, gap, left = np.array(velocity, float), np.array(gaps, float), H
    for _ in range(10000):
        closing = v[:-1] - v[1:]
        times = np.where(closing > 1e-12, gap / np.maximum(closing, 1e-12), np.inf)
        k = int(np.argmin(times))
        if times[k] > left:
            break
        gap -= times[k] * closing
        gap[k], left = 0.0, left - times[k]
        mean, half = 0.5 * (v[k] + v[k + 1]), 0.5 * restitution * closing[k]
        v[k], v[k + 1] = mean - half, mean + half
    return v, gap - left * (v[:-1] - v[1:])


def towards_centres(contacts, lever=0.05):
    """Let impulses go past the centres of mass by ``lever`` times what they did."""
    for name in ("point_a", "point_b", "margin_a", "margin_b"):
        getattr(contacts, name)[:] *= lever


@pytest.mark.parametrize("between", [0.0, 1e-3, 0.01])
def test_a_ball_sends_off_the_last_of_a_row(between, rebounds):
    # e = 1: equal balls swap velocities from one to the next, touching or not.
    problem = row([2.0, 0, 0, 0, 0], [between] * 4, 1.0)
    gap, speed, hits = rebounds(problem, problem.bodies.velocity, 1e-3)
    _, want = after([2.0, 0, 0, 0, 0], 1.0, [between] * 4)
    assert speed == pytest.approx([0, 0, 0, 2.0], abs=1e-9)
    assert gap == pytest.approx(want, abs=1e-9)
    assert hits.all()


def test_two_balls_send_off_two(rebounds):
    problem = row([2.0, 2.0, 0, 0, 0], [0.0] * 4, 1.0)
    speed = rebounds(problem, problem.bodies.velocity, 1e-3)[1]
    assert speed == pytest.approx([0, 0, 2.0, 0], abs=1e-9)


def test_hits_from_both_ends_pass_through_each_other(rebounds):
    # At once from both sides, by symmetry both fly back as they came.
    problem = row([2.0, 0, 0, 0, -2.0], [1e-3] * 4, 1.0)
    speed = rebounds(problem, problem.bodies.velocity, 1e-3)[1]
    assert speed == pytest.approx([2.0, 0, 0, 2.0], abs=1e-9)


@pytest.mark.parametrize("restitution", [0.5, 0.9])
def test_a_lossy_row_follows_its_hits(restitution, rebounds):
    velocity, between = [2.0, 0, 0, 0], [1e-3, 4e-3, 2e-3]
    problem = row(velocity, between, restitution)
    gap, speed, _ = rebounds(problem, problem.bodies.velocity, 1e-6)
    want, far = after(velocity, restitution, between)
    # Where balls that touch still hit each other at the step's end, gaps within CLOSE count as none.
    assert speed == pytest.approx(np.diff(want), abs=1e-3)
    assert gap == pytest.approx(far, abs=2.0 * CLOSE)


@pytest.mark.parametrize("parts", [0, 3])
@pytest.mark.parametrize("seed", range(8))
def test_kernel_is_the_reference(seed, parts):
    rng = np.random.default_rng(seed)
    problem, count = random_problem(seed, dynamic=12, immovable=3, contacts=14, rows=0, step=H), 14
    contacts, bodies = problem.contacts, problem.bodies
    towards_centres(contacts)
    contacts.start_gap = rng.uniform(-0.01, 0.06, count) * (rng.random(count) < 0.8)
    contacts.restitution = rng.choice([0.0, 0.3, 0.9, 1.0], count)
    bodies.velocity[:, 3:] *= 0.1
    end = bodies.velocity[:12] + rng.normal(size=(12, 6)) * (20.0 * H)
    course = None
    if parts:
        changes = 0.3 * rng.normal(size=(count, parts)), 5.0 * rng.normal(size=(count, parts))
        course = Course(H * np.array([0.2, 0.5, 0.3]), *changes)
    want, got = by_reference(problem, end, 0.02, course), by_kernel(problem, end, 0.02, course)
    assert want[2].tolist() == got[2].tolist() and want[2].sum() > 0
    assert (want[1] != 0.0).any()
    for expected, found in zip(want[:2], got[:2], strict=True):
        assert found == pytest.approx(expected, abs=1e-9)


def test_groups_are_those_of_bodies_that_move():
    # 0-1 touch, 1 and 2 stand on the ground (3), 2 alone; only contacts with a rebound among them count.
    problem = StepProblem(H, row([0.0] * 3, [0.0] * 2, 1.0).bodies)
    problem.bodies.dynamic_count, problem.bodies.mass[:] = 3, 1.0

    def groups(rebounds, lever=0.0):
        points = np.array([[lever, 0, 0], [0, 0, 0], [0, 0, 0]])
        problem.contacts = contacts_of([0, 1, 2], [1, 3, 3], points, np.zeros((3, 3)), [[0, 0, 1]] * 3)
        return group_numbers(problem, 3, np.array(rebounds)).tolist()

    bodies = problem.bodies
    ground = bodies_of([*bodies.mass, np.inf], [*bodies.inertia, [np.inf] * 3], [*bodies.position, [0, 0, 0]])
    problem.bodies = ground
    assert groups([True, False, True]) == [0, 0, -1]
    assert groups([False, False, True]) == [-1, -1, -1]
    assert groups([True, False, True], lever=0.05) == [-1, -1, -1]  # that impact sets body 0 spinning


@pytest.mark.parametrize("seed", range(6))
def test_a_reflection_keeps_momentum_and_gains_no_energy(seed):
    # Impulses along the rows that leave with the speeds found: u+ = u + sum R p.  e = 1, no pull: energy is kept.
    rng = np.random.default_rng(seed)
    problem = random_problem(seed, dynamic=6, immovable=1, contacts=8, rows=0, step=H)
    contacts, velocity = problem.contacts, problem.bodies.velocity
    towards_centres(contacts, 0.0)
    contacts.restitution, contacts.start_gap = np.ones(8), rng.uniform(0.0, 0.01, 8)
    speed = by_reference(problem, velocity[:6].copy(), 1e-9)[1]
    j_a, j_b, r_a, r_b = knock_on.reflections(problem)
    rows, answers = np.zeros((8, 42)), np.zeros((8, 42))
    for c, (a, b) in enumerate(zip(contacts.body_a, contacts.body_b, strict=True)):
        rows[c, 6 * a : 6 * a + 6], rows[c, 6 * b : 6 * b + 6] = j_a[c], j_b[c]
        answers[c, 6 * a : 6 * a + 6], answers[c, 6 * b : 6 * b + 6] = r_a[c], r_b[c]
    delassus, before = rows @ answers.T, rows @ velocity.ravel()
    struck = speed != 0.0
    impulse = np.linalg.lstsq(delassus[np.ix_(struck, struck)], (speed - before)[struck], rcond=None)[0]
    gained = impulse @ before[struck] + 0.5 * impulse @ delassus[np.ix_(struck, struck)] @ impulse
    assert struck.any() and impulse.min() >= -1e-9
    assert gained == pytest.approx(0.0, abs=1e-6 * np.abs(impulse @ before[struck]))
