# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of what is round on both sides: which of them have the normal half way, and what that keeps."""

from types import SimpleNamespace

import numpy as np
import pytest
from axion.solver import Body, Joint, Plane, Scene, SolverConfig, Sphere
from axion.solver.simulate import _stepper
from axion.solver.turning_normals import TurningNormals, _tangled, place_half_way

STEP = 1.0 / 24.0


def solved_step(scene):
    """The Solved first step of a scene."""
    stepper = _stepper(scene, SolverConfig(device="cpu"), lambda *_: None)
    state, velocity = stepper.state, stepper.assembler.prescribed_velocity(stepper.state, STEP)
    stepper.joints.observe(state.position, state.orientation, velocity, state.time)
    assembly = stepper.assembler.build(state, STEP, *stepper.contacts(STEP, velocity))
    return stepper.position_phase.solve(assembly, state, False)


def ball_on_ball(angle=0.3, speed=1.0):
    """A ball that slides down another one on smooth ground, past it at ``speed`` [m/s]."""
    scene, along = Scene(), np.array([np.cos(angle), 0.0, -np.sin(angle)])
    place = np.array([0.45 * np.sin(angle), 0.0, 0.3 + 0.45 * np.cos(angle)])
    scene.add(Body("Ground", [Plane()], motion="static", friction=0.0))
    scene.add(Body("Lower", [Sphere(0.3)], position=(0, 0, 0.3), friction=0.0))
    scene.add(Body("Upper", [Sphere(0.15)], position=place, friction=0.0, linear_velocity=speed * along))
    return scene


def test_a_ball_on_a_ball_is_pushed_along_the_normal_half_way_and_stays_as_far():
    solved = solved_step(ball_on_ball())
    problem, solution, turning = solved.assembly.problem, solved.solution, solved.assembly.turning
    contacts, k = problem.contacts, turning.index[0]
    assert len(turning.index) == 1 and contacts.glides[k]
    a, b = contacts.body_a[k], contacts.body_b[k]
    before, after = (pose.position[a] - pose.position[b] for pose in (problem.bodies, solution))
    assert np.linalg.norm(after) == pytest.approx(np.linalg.norm(before), abs=1e-5)
    ends = before / np.linalg.norm(before) + after / np.linalg.norm(after)
    np.testing.assert_allclose(contacts.normal[k], ends / np.linalg.norm(ends), atol=1e-3)
    assert np.arccos(before @ after / 0.45**2) > 0.05


def test_at_rest_and_on_joints_nothing_turns():
    assert solved_step(ball_on_ball(0.0, 0.0)).assembly.turning is None
    scene = ball_on_ball()
    scene.add(Joint("Hold", "ball", None, "Upper", position=(0, 0, 2)))
    assert solved_step(scene).assembly.turning is None


def test_loops_of_loaded_contacts_and_joints_are_tangles():
    # Bodies 0 to 2 touch each other, 3 to 5 in a row and the ground (8), and a joint holds 6 and 7.
    a, b = np.array([0, 1, 0, 3, 4, 3, 6]), np.array([1, 2, 2, 4, 5, 8, 7])
    problem = SimpleNamespace(contacts=SimpleNamespace(body_a=a, body_b=b), bodies=SimpleNamespace(dynamic_count=8))
    island, jointed = np.array([0, 0, 0, 1, 1, 1, 2, 2]), np.array([False, False, True])
    links = np.array([6]), np.array([7])
    assembly = SimpleNamespace(problem=problem, island=island, island_jointed=jointed, joint_links=links)
    loaded = np.ones(7, bool)
    assert _tangled(assembly, loaded).tolist() == [True, False, True]
    loaded[2] = False
    assert _tangled(assembly, loaded).tolist() == [False, False, True]
    assembly.joint_links = np.array([6, 7]), np.array([8, 8])  # each hangs on the ground, and one pushes the other
    assert _tangled(assembly, loaded).tolist() == [False, False, False]


def test_numbers_follow_the_contacts_that_are_kept_and_equal_ones_are_told():
    rows = np.arange(6.0).reshape(2, 3)
    normals = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    first = TurningNormals(np.array([1, 3]), normals, np.zeros(2, int), normals, rows, rows, np.ones(2, bool))
    kept = first.among(np.array([False, True, True, False]))
    assert kept.index.tolist() == [0] and kept.middle.tolist() == normals[:1].tolist()
    assert first.told_by(first) and not first.told_by(kept) and not first.told_by(None)


def test_what_is_less_round_at_one_end_has_its_surface_half_way():
    # The same surface, told by two circles: half way it is where it was, seen with the first one's radius.
    random = np.random.default_rng(1)
    before, after = (way / np.linalg.norm(way, axis=1)[:, None] for way in random.normal(size=(2, 50, 3)))
    surface, (wide, narrow) = random.normal(size=(50, 3)), random.uniform(0.1, 0.5, (2, 50))
    first, last = surface + wide[:, None] * before, surface + narrow[:, None] * after
    mean = place_half_way((first, wide), (last, narrow), after)
    assert mean - 0.5 * wide[:, None] * (before + after) == pytest.approx(surface, abs=1e-15)
    assert np.array_equal(place_half_way((first, wide), (last, wide), after), 0.5 * (first + last))
