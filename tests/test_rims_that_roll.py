# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts on rims that roll: outermost places, their Jacobian, and which contacts they are."""

import numpy as np
import pytest
from axion.solver import Body, Box, Cone, Cylinder, Plane, Scene
from axion.solver.problem import Contacts
from axion.solver.reference.rotation import multiply
from axion.solver.reference.rows import contact_jacobians, gaps
from axion.solver.rotations import exponential, rotate
from judged_problems import everything, roll_on_rims
from scenes import turned
from test_gliding import first_assembly

LEAN = 0.4  # [rad]


def disc_on_floor(lean=LEAN, spin=(0.0, 0.0, 3.0), shape=None, floor=None, turn=0.0):
    """A disc of 0.1 m that leans on its rim and slides or rolls there, at rest but for its spin."""
    scene, shape = Scene(), Cylinder(0.1, 0.01) if shape is None else shape
    scene.add(Body("Floor", [Plane()] if floor is None else [floor], motion="static", friction=1.0))
    orientation = multiply(turned("z", turn), turned("y", lean))
    low = min(rotate(orientation, (x, 0.0, z))[2] for x in (-0.1, 0.1) for z in (-0.01, 0.01))
    scene.add(Body("Disc", [shape], position=(0.0, 0.0, -low), orientation=orientation, angular_velocity=spin))
    return scene


def rims(scene):
    """(C, 3) arms of its first step, or None."""
    return first_assembly(scene).problem.contacts.rim_arm


@pytest.mark.parametrize("seed", range(5))
def test_jacobian_of_a_rim_is_the_derivative_of_its_gap(seed):
    problem = everything(2 * seed + 1)
    bodies, contacts = problem.bodies, problem.contacts
    contacts.face = contacts.core_reach = None
    roll_on_rims(contacts, np.ones(len(contacts), bool), seed)
    position, orientation = bodies.position, bodies.orientation
    rng, step = np.random.default_rng(seed), 1e-6
    velocity = rng.normal(size=(len(bodies.mass), 6))
    # The outermost place goes round the rim, but along the surface there.
    moved = [
        gaps(contacts, position + s * velocity[:, :3], multiply(exponential(s * velocity[:, 3:]), orientation))
        for s in (step, -step)
    ]
    rate = (moved[0] - moved[1]) / (2.0 * step)
    j_a, j_b = (each[:, 0] for each in contact_jacobians(contacts, position, orientation))
    expected = (j_a * velocity[contacts.body_a]).sum(axis=1) + (j_b * velocity[contacts.body_b]).sum(axis=1)
    np.testing.assert_allclose(rate, expected, atol=1e-7)


def test_gap_of_a_rim_is_that_of_its_lowest_place():
    contacts = first_assembly(disc_on_floor()).problem.contacts
    turn = multiply(turned("x", 0.3), multiply(turned("z", 1.0), turned("y", 0.5)))
    position, orientation = np.array([[0.0, 0.0, 0.7], [0.0, 0.0, 0.0]]), np.array([turn, [0.0, 0.0, 0.0, 1.0]])
    angle = np.linspace(0.0, 2.0 * np.pi, 100001)
    end = np.full(len(angle), 0.01 * np.sign(contacts.rim_axis[0, 2]))
    rim = np.stack([0.1 * np.cos(angle), 0.1 * np.sin(angle), end], axis=1)
    lowest = 0.7 + rotate(turn, rim)[:, 2].min()
    assert gaps(contacts, position, orientation)[0] == pytest.approx(lowest, abs=1e-9)


@pytest.mark.parametrize("turn", [0.0, 1.0, 4.0])
def test_what_leans_on_a_rim_touches_at_its_lowest_place(turn):
    arm = rims(disc_on_floor(turn=turn))
    np.testing.assert_allclose(arm[0], [0.1, 0.0, 0.0], atol=1e-6)


def test_rims_are_found_in_the_frames_of_the_solver():
    scene = Scene()
    scene.add(Body("Floor", [Plane()], motion="static", friction=1.0))
    shape = Cylinder(0.1, 0.01, position=(0.3, 0.2, -0.1), orientation=turned("x", 0.5))
    orientation = multiply(turned("y", LEAN), turned("x", -0.5))
    low = rotate(turned("y", LEAN), (0.1, 0.0, -0.01))[2] + rotate(orientation, shape.position)[2]
    place = {"position": (0.0, 0.0, -low), "orientation": orientation}
    scene.add(Body("Disc", [shape], **place, angular_velocity=(0.0, 0.0, 1.0)))
    assembly = first_assembly(scene)
    contacts, bodies = assembly.problem.contacts, assembly.problem.bodies
    place = bodies.position[0] + rotate(bodies.orientation[0], contacts.point_a[0])
    expected = rotate(turned("y", LEAN), (0.1, 0.0, -0.01)) + rotate(orientation, shape.position) - [0.0, 0.0, low]
    np.testing.assert_allclose(place, expected, atol=1e-6)
    arm = rotate(bodies.orientation[0], contacts.rim_arm[0])
    np.testing.assert_allclose(arm, rotate(turned("y", LEAN), (0.1, 0.0, 0.0)), atol=1e-6)


@pytest.mark.parametrize("lean", [0.0, 0.5 * np.pi])
def test_what_lies_flat_or_on_its_side_has_none(lean):
    assert rims(disc_on_floor(lean, spin=(0.0, 0.0, 0.0))) is None


def test_boxes_have_none():
    assert rims(disc_on_floor(shape=Box((0.1, 0.1, 0.01)))) is None


def test_what_leans_on_two_bodies_has_none():
    scene = disc_on_floor()
    scene.add(Body("Block", [Box((0.05, 0.05, 0.05))], position=(0.1 * np.cos(LEAN) + 0.0504, 0.0, 0.05)))
    assembly = first_assembly(scene)
    assert len(assembly.problem.contacts) and assembly.problem.contacts.rim_arm is None


def test_cones_roll_on_their_base():
    scene = disc_on_floor(shape=Cone(0.1, 0.01))
    assert rims(scene) is not None


def test_no_rims_are_taken_over_where_there_are_none():
    assert Contacts.empty().rim_arm is None
