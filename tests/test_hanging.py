# SPDX-License-Identifier: GPL-3.0-or-later
"""What hangs on contacts is as much harder to turn as its load stiffens it, and only where a step cannot follow."""

from types import SimpleNamespace

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Scene, Sphere, TriangleMesh
from axion.solver.hanging import BETA, hangs, lever_inertia
from axion.solver.metrics import step_residuals
from axion.solver.problem import Contacts, StepProblem
from axion.solver.residuals import Judge
from contact_scenes import torus
from judged_problems import any_solution, assembled, everything
from step_problems import bodies_of, options, solver
from test_residuals import assert_same

STEP, LEVER, INERTIA = 0.04, 0.02, np.array([4e-5, 3e-5, 1e-5])


def hung(pull, above=1.0):
    """A link that a contact pulls by ``pull`` [N] at a lever along its own z, from the ground, which is body b."""
    still = [np.inf] * 3
    bodies = bodies_of([0.1, np.inf], [INERTIA, still], [[0, 0, 0], [0, 0, 0]], step=STEP)
    contacts = Contacts(
        np.array([0], np.int32), np.array([1], np.int32), np.array([[0.0, 0.0, above * LEVER]]), np.zeros((1, 3)),
        np.zeros(1), np.zeros(1), np.array([[0.0, 0.0, 1.0]]), np.zeros(1), np.zeros(1),
        np.array([[0.0, 0.0, pull * STEP]]),
    )  # fmt: skip
    return StepProblem(STEP, bodies, contacts)


NUMBER = SimpleNamespace(scene=np.arange(2))
FIRST = np.array([True, False])


def test_stiffness_beyond_the_inertia_counts():
    stiff = STEP**2 * LEVER * 10.0
    added = lever_inertia(hung(10.0), FIRST, NUMBER)
    assert added[0] == pytest.approx(BETA * np.maximum(stiff - INERTIA, 0.0) * [1.0, 1.0, 0.0])
    assert np.all(added[1] == 0.0)


@pytest.mark.parametrize(("pull", "above"), [(0.2, 1.0), (10.0, -1.0), (0.0, 1.0)])
def test_what_a_step_can_follow_and_what_stands_stay_as_they_are(pull, above):
    assert lever_inertia(hung(pull, above), FIRST, NUMBER) is None


def test_one_convex_shape_never_hangs():
    scene = Scene()
    link = [Capsule(0.01, 0.05, position=(x, 0, 0)) for x in (-0.05, 0.05)]
    for shapes in ([Box([1, 1, 1])], [Sphere(1.0)], link, [torus()]):
        scene.add(Body(f"Body {len(scene.bodies)}", shapes, mass=1.0))
    assert isinstance(torus(), TriangleMesh)
    assert list(hangs(scene.bodies)) == [False, False, True, True, False]
    assert hangs(scene.bodies[:2]) is None


def heavier(problem, seed=0):
    added = np.random.default_rng(seed).uniform(0.0, 2.0, problem.bodies.inertia.shape)
    added[problem.bodies.dynamic_count :] = 0.0
    if problem.bodies.spin is not None:
        added[problem.bodies.spin.any(axis=1)] = 0.0  # they take none
    problem.bodies.lever_inertia = added
    return problem


@pytest.mark.parametrize("seed", range(4))
def test_both_judges_know_of_it(seed):
    problem = heavier(everything(seed))
    solution = any_solution(problem, seed)
    judged = Judge("cpu").step(assembled(problem, seed), solution, 1e-4)
    assert_same(judged.residuals, step_residuals(problem, solution), solution)


def test_a_solve_keeps_to_it():
    spins = []
    for pull in (0.0, 10.0):
        problem = hung(pull)
        problem.bodies.lever_inertia = lever_inertia(problem, FIRST, NUMBER)
        problem.contacts.point_a[0, 0] = problem.contacts.point_b[0, 0] = 0.005  # beside the middle: it turns
        problem.contacts.point_b[0, 2] = LEVER
        solution, _ = solver().solve(problem, options(problem, 1e-9))
        assert step_residuals(problem, solution).momentum_residual < 1e-9
        spins.append(np.abs(solution.velocity[0, 4]))
    mass, arm, inertia = 0.1, 0.005, INERTIA[1]
    heavier = inertia + BETA * (STEP**2 * LEVER * 10.0 - inertia)
    want = [9.81 * STEP * arm / (moment / mass + arm**2) for moment in (inertia, heavier)]
    assert spins == pytest.approx(want, rel=0.05)  # the lever turns on in the step
