# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bodies go without some of their contacts, told from the impulses of a solved step."""

from types import SimpleNamespace

import numpy as np
from axion.solver.problem import world_impulses
from axion.solver.pushed_back import end_without
from axion.solver.reference.rotation import matrix, rotate
from step_problems import random_problem


def test_impulses_are_taken_back_where_they_acted():
    problem, draw = random_problem(3, rows=0), np.random.default_rng(3)
    bodies, contacts, out = problem.bodies, problem.contacts, np.array([1, 4, 5])
    solution = SimpleNamespace(
        contact_impulse=draw.normal(size=(len(contacts), 3)), velocity=draw.normal(size=(len(bodies.mass), 6)),
        position=bodies.position, orientation=bodies.orientation,
    )  # fmt: skip
    end, push = end_without(problem, solution, out), world_impulses(contacts.normal, solution.contact_impulse)
    gained = solution.velocity - end.velocity
    for body in range(bodies.dynamic_count):
        force, torque = np.zeros((2, 3))
        for c in out:
            sides = (contacts.body_a, contacts.point_a, push[c]), (contacts.body_b, contacts.point_b, -push[c])
            for side, point, own in sides:
                if side[c] == body:
                    force += own
                    torque += np.cross(rotate(bodies.orientation[body], point[c]), own)
        axes = matrix(bodies.orientation[body])
        np.testing.assert_allclose(bodies.mass[body] * gained[body, :3], force, atol=1e-12)
        np.testing.assert_allclose(axes * bodies.inertia[body] @ axes.T @ gained[body, 3:], torque, atol=1e-12)
    assert not gained[bodies.dynamic_count :].any()
    np.testing.assert_allclose(solution.position - end.position, problem.step * gained[:, :3], atol=1e-12)
