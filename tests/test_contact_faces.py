# SPDX-License-Identifier: GPL-3.0-or-later
"""Which body's face a contact touches, and the distance to a face that turns."""

import numpy as np
import pytest
from axion.solver import (
    Body,
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    MotionPath,
    Plane,
    Scene,
    SolverConfig,
    Sphere,
    simulate,
)
from axion.solver.contact_faces import whose_face
from axion.solver.problem import Contacts
from axion.solver.reference.rows import gaps, normals
from axion.solver.rotations import exponential, multiply, rotate
from contact_scenes import CUBE, set_up

FPS = 24.0
LEANING = exponential(np.array([0.0, 0.3, 0.0]))
ON_EDGE = multiply(exponential(np.array([0.0, np.pi / 4, 0.0])), exponential(np.array([0.0, 0.0, 0.4])))


def owners(*bodies, angular=None):
    """Names of the bodies whose faces the contacts of a scene touch, and those contacts with the bodies' orientations.

    Static, if ``static`` is in the name.
    """
    collider, x, q = set_up(*bodies)
    still = np.zeros_like(x)
    contacts = collider.collide(x, q, still, still if angular is None else np.array(angular, float), 1.0 / FPS)
    assert len(contacts)
    turned = rotate(q[contacts.face], contacts.face_normal)
    owned = contacts.face >= 0
    assert turned[owned] == pytest.approx(contacts.normal[owned], abs=1e-12)
    names = [body.name for body in bodies]
    return {names[i] if i >= 0 else None for i in contacts.face.tolist()}


def leaning_on(side):
    """A domino whose upper edge is 1 mm from the face of an upright one on its right, and that one."""
    corner = rotate(LEANING, np.array([0.075, 0.0, 0.5]))
    place = np.array([-0.075 - 1e-3, 0.0, 0.3]) - corner
    return Body("Leaning", [side], position=place, orientation=LEANING, mass=1.0)


@pytest.mark.parametrize("hull", [False, True], ids=["box", "hull"])
def test_an_edge_on_a_face_touches_that_face(hull):
    half = np.array([0.075, 0.25, 0.5])
    shape = ConvexHull(2.0 * CUBE * half) if hull else Box(half)
    upright, leaning = Body("Upright", [shape], mass=1.0), leaning_on(shape)
    assert owners(upright, leaning) == {"Upright"}
    assert owners(leaning, upright) == {"Upright"}


@pytest.mark.parametrize("shape", [Sphere(0.2), Capsule(0.2, 0.3), Cylinder(0.2, 0.3), Cone(0.2, 0.3)])
def test_round_things_lie_on_the_face_of_a_box(shape):
    lying = exponential(np.array([0.5 * np.pi, 0.0, 0.0]))
    if isinstance(shape, Cone):
        lying = exponential(np.array([0.5 * np.pi + np.arctan2(0.2, 0.6), 0.0, 0.0]))
    height = 0.5 + 0.6 / np.hypot(0.6, 0.2) * 0.1 if isinstance(shape, Cone) else 0.7
    round_thing = Body("Round", [shape], position=(0.0, 0.0, height + 1e-3), orientation=lying, mass=1.0)
    assert owners(Body("Box", [Box((0.5, 0.5, 0.5))], mass=1.0), round_thing) == {"Box"}


def test_crossed_edges_and_balls_touch_no_face():
    low = Body("Low", [Box((0.5, 0.5, 0.5))], orientation=ON_EDGE, mass=1.0)
    across = multiply(exponential(np.array([0.0, 0.0, 1.2])), ON_EDGE)
    high = Body("High", [Box((0.5, 0.5, 0.5))], position=(0.0, 0.0, np.sqrt(2.0)), orientation=across, mass=1.0)
    assert owners(low, high) == {None}
    assert owners(Body("A", [Sphere(0.5)]), Body("B", [Sphere(0.5)], position=(0.2, 0.3, 0.95))) == {None}


def test_of_two_faces_the_one_that_is_held_or_turns_less_counts():
    low, high = (
        Body(name, [Box((0.5, 0.5, 0.5))], position=(0.0, 0.0, z), mass=1.0) for name, z in (("L", 0), ("H", 1))
    )
    assert owners(low, high, angular=[(0, 0.1, 0), (0, 2.0, 0)]) == {"L"}
    assert owners(low, high, angular=[(0, 2.0, 0), (0, 0.1, 0)]) == {"H"}
    floor = Body("Floor", [Plane()], position=(0.0, 0.0, -0.5), motion="static")
    assert owners(floor, low) == {None}  # it stands still: there is nothing to turn with


def test_gap_to_a_turning_face_is_the_distance_to_its_plane():
    # A face through the origin of body b turns by 0.4 rad; a point of body a at (1, 0, 0.1) keeps its place.
    contacts = Contacts.empty()
    contacts.body_a, contacts.body_b = np.array([0]), np.array([1])
    contacts.point_a, contacts.point_b = np.zeros((1, 3)), np.array([[0.3, 0.0, 0.0]])
    contacts.margin_a = contacts.margin_b = np.zeros(1)
    contacts.normal = np.array([[0.0, 0.0, 1.0]])
    position = np.array([[1.0, 0.0, 0.1], [0.0, 0.0, 0.0]])
    orientation = np.array([[0.0, 0.0, 0.0, 1.0], exponential(np.array([0.0, -0.4, 0.0]))])
    assert gaps(contacts, position, orientation) == pytest.approx([0.1 - 0.3 * np.sin(0.4)])
    contacts.face, contacts.face_normal = np.array([1]), contacts.normal.copy()
    assert normals(contacts, orientation)[0] == pytest.approx([-np.sin(0.4), 0.0, np.cos(0.4)])
    assert gaps(contacts, position, orientation) == pytest.approx([0.1 * np.cos(0.4) - np.sin(0.4)])


@pytest.mark.parametrize("speed", [-2.0, 2.0])
def test_ball_that_slides_along_a_tilting_platform_keeps_touching_it(speed):
    # The platform turns about its edge at 1 rad/s and lifts the ball, which slides along it without friction: the
    # distance of its centre to the platform's plane is its radius, whatever way it makes in a frame.
    times = np.arange(13) / FPS
    turn = np.array([exponential(np.array([0.0, -t, 0.0])) for t in times])
    slab = Box((6.0, 1.0, 0.1), position=(0.0, 0.0, -0.1))
    scene = Scene()
    path = MotionPath(times, np.zeros((13, 3)), turn)
    scene.add(Body("Platform", [slab], motion="kinematic", path=path, friction=0.0))
    start = (3.0, 0.0, 0.2)
    ball = Body("Ball", [Sphere(0.2)], position=start, linear_velocity=(speed, 0.0, 3.0), mass=1.0, friction=0.0)
    scene.add(ball)
    config = SolverConfig(device="cpu")
    trajectory = simulate(scene, 12, fps=FPS, config=config)
    normal = rotate(turn, np.broadcast_to([0.0, 0.0, 1.0], (13, 3)))
    distance = np.einsum("fi,fi->f", normal, trajectory.position[:, 1]) - 0.2
    assert np.abs(distance).max() < config.tolerances()[1]


def test_of_two_faces_that_of_the_held_side_counts_or_of_the_one_that_turns_less():
    up, none = np.array([0.0, 0.0, 1.0]), np.zeros(3)
    cases = [  # faces, held, speed of turn, whose
        ((none, none), (False, True), (0.0, 0.0), -1),
        ((up, none), (False, True), (3.0, 0.0), 0),
        ((none, up), (True, False), (0.0, 3.0), 1),
        ((up, up), (True, False), (2.0, 0.0), 0),
        ((up, up), (False, False), (1.0, 2.0), 0),
        ((up, up), (False, False), (2.0, 1.0), 1),
    ]
    faces, stands, spins = ([np.array([case[k][side] for case in cases]) for side in (0, 1)] for k in range(3))
    spins = [speed[:, None] * up for speed in spins]
    assert whose_face(faces, stands, spins).tolist() == [case[3] for case in cases]
