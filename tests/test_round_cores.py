# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts between round bodies: how far apart those are, wherever they have got, and which contacts are such."""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Cone, Cylinder, MotionPath, Scene, Sphere
from axion.solver.problem import Contacts
from axion.solver.reference.rotation import exponential, multiply, rotate
from axion.solver.reference.round_cores import core_ways, end_normals
from axion.solver.reference.rows import contact_jacobians, gaps, normals
from scenes import turned
from test_gliding import first_assembly

TURN = turned("x", np.pi / 2)


def contacts_of(*bodies, gravity=(0, 0, -9.81), step=1 / 24):
    scene = Scene(gravity=gravity)
    for body in bodies:
        scene.add(body)
    return first_assembly(scene, step).problem


def on_top(shape, low=None, **more):
    """Problem of a shape that touches a ball, or ``low``, of 0.3 m from above and passes at 1 m/s."""
    low = Body(
        "Low", [Sphere(0.3) if low is None else low], motion="static", orientation=more.pop("lies", (0, 0, 0, 1))
    )
    more = {"linear_velocity": (1, 0, 0), "position": (0, 0, 0.4), **more}
    return contacts_of(low, Body("Up", [shape], **more))


def moved(problem, seed):
    """Poses of its bodies, all of them moved by some 5 cm and 0.2 rad."""
    rng, bodies = np.random.default_rng(seed), problem.bodies
    position = bodies.position + 0.05 * rng.normal(size=bodies.position.shape)
    return position, multiply(exponential(0.2 * rng.normal(size=position.shape)), bodies.orientation)


@pytest.mark.parametrize("seed", range(4))
def test_balls_are_as_far_apart_as_their_middles_less_their_radii(seed):
    problem = on_top(Sphere(0.1))
    position, orientation = moved(problem, seed)
    (gap,) = gaps(problem.contacts, position, orientation)
    assert gap == pytest.approx(np.linalg.norm(position[0] - position[1]) - 0.4, abs=1e-7)


def core_problem(e, f, seed):
    """Contacts of two bodies, with lines for cores along ``e`` and ``f`` in their frames, at places of any kind."""
    rng = np.random.default_rng(seed)
    point = 0.3 * rng.normal(size=(2, 1, 3))
    contacts = Contacts.empty()
    contacts.body_a, contacts.body_b = np.zeros(1, np.int32), np.ones(1, np.int32)
    contacts.point_a, contacts.point_b = point
    contacts.margin_a, contacts.margin_b, contacts.friction = np.full(1, 0.1), np.full(1, 0.2), np.full(1, 0.5)
    position = np.array([(0.0, 0.0, 1.0), (0.0, 0.0, 0.0)])
    orientation = exponential(0.4 * rng.normal(size=(2, 3)))
    contacts.core_reach = np.full(1, 0.3)
    contacts.core_axis_a, contacts.core_axis_b = np.array([e], float), np.array([f], float)
    contacts.normal = np.array([(0.0, 0.0, 1.0)])
    contacts.normal = end_normals(contacts, contacts.normal, position, orientation)
    return contacts, position, orientation


@pytest.mark.parametrize("seed", range(3))
def test_lines_are_as_far_apart_as_their_nearest_places(seed):
    contacts, position, orientation = core_problem((1, 0, 0), (0, 1, 0), seed)
    at = [position[k] + rotate(orientation[[k]], p)[0] for k, p in ((0, contacts.point_a), (1, contacts.point_b))]
    e, f = (rotate(orientation[[k]], np.eye(3)[[k]])[0] for k in (0, 1))
    across = np.cross(e, f)
    expected = abs((at[0] - at[1]) @ across) / np.linalg.norm(across)
    assert gaps(contacts, position, orientation)[0] == pytest.approx(expected - 0.3, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_point_is_as_far_from_a_line_as_its_foot_and_the_way_along_it_counts_nothing(seed):
    contacts, position, orientation = core_problem((0, 0, 0), (0, 1, 0), seed)
    at = [position[k] + rotate(orientation[[k]], p)[0] for k, p in ((0, contacts.point_a), (1, contacts.point_b))]
    f = rotate(orientation[[1]], np.eye(3)[[1]])[0]
    expected = np.linalg.norm(np.cross(at[0] - at[1], f))
    assert gaps(contacts, position, orientation)[0] == pytest.approx(expected - 0.3, abs=1e-12)
    position[0] += 0.7 * f
    assert gaps(contacts, position, orientation)[0] == pytest.approx(expected - 0.3, abs=1e-12)


@pytest.mark.parametrize("axes", [((0, 0, 0), (0, 0, 0)), ((1, 0, 0), (0, 0, 0)), ((1, 0, 0), (0, 1, 0))])
def test_the_gap_changes_along_the_normal_of_the_end(axes):
    """d phi = n+ . (velocity of a's point - that of b's), where the points are those of the cores that are nearest.

    And at the start that is the row that the solver takes.
    """
    contacts, position, orientation = core_problem(*axes, seed=1)
    # The points at the feet of the way between the cores, as detection tells them.
    d, _ = core_ways(contacts, np.arange(1), position, orientation)
    n = end_normals(contacts, normals(contacts, orientation), position, orientation)
    e, f = (rotate(orientation[[k]], getattr(contacts, f"core_axis_{s}")) for k, s in ((0, "a"), (1, "b")))
    at = [position[k] + rotate(orientation[[k]], p)[0] for k, p in ((0, contacts.point_a), (1, contacts.point_b))]
    off = at[0] - at[1] - d[0]
    share = np.linalg.lstsq(np.stack([e[0], f[0]], axis=1), off, rcond=None)[0]
    inverse = orientation * (-1.0, -1.0, -1.0, 1.0)
    contacts.point_a = contacts.point_a - rotate(inverse[[0]], share[0] * e)
    contacts.point_b = contacts.point_b + rotate(inverse[[1]], share[1] * f)
    contacts.normal = n
    j_a, j_b = (each[0, 0] for each in contact_jacobians(contacts, position, orientation))
    h = 1e-6
    for body, row in ((0, j_a), (1, j_b)):
        for k in range(6):
            way = np.zeros((2, 6))
            way[body, k] = h
            both = []
            for sign in (1.0, -1.0):
                turned = multiply(exponential(sign * way[:, 3:]), orientation)
                both.append(gaps(contacts, position + sign * way[:, :3], turned)[0])
            assert (both[0] - both[1]) / (2.0 * h) == pytest.approx(row[k], abs=1e-8)


def test_axes_are_those_along_which_bodies_may_go():
    contacts = on_top(Capsule(0.1, 0.3), Cylinder(0.3, 0.5), lies=TURN, orientation=turned("y", np.pi / 2)).contacts
    assert (contacts.core_reach > 0.0).all() and contacts.core_axis_a.any(axis=1).all()
    assert contacts.core_axis_b.any(axis=1).all()
    beside = on_top(Capsule(0.1, 0.3), Cylinder(0.3, 0.5), lies=TURN, orientation=TURN).contacts
    one = beside.core_axis_a.any(axis=1) ^ beside.core_axis_b.any(axis=1)
    assert (beside.core_reach > 0.0).all() and one.all(), "of axes along each other one is enough"
    assert not on_top(Sphere(0.1)).contacts.core_axis_a.any()
    end = on_top(Capsule(0.1, 0.3), position=(0, 0, 0.7)).contacts
    assert (end.core_reach > 0.0).all() and not end.core_axis_a.any(), "the end of a capsule is a ball"


def test_only_what_is_round_on_both_sides_and_goes_on_touching_goes_around():
    for shape, low in ((Box((0.1, 0.1, 0.1)), None), (Sphere(0.1), Box((0.3, 0.3, 0.3))), (Cone(0.1, 0.1), None)):
        assert on_top(shape, low).contacts.core_reach is None
    for velocity in ((0, 0, -3), (3, 0, -3)):
        assert on_top(Sphere(0.1), linear_velocity=velocity, restitution=0.8).contacts.core_reach is None, "rebounds"
    assert on_top(Sphere(0.1), linear_velocity=(4, 0, -3)).contacts.core_reach is None, "parts from where it hit"
    assert on_top(Sphere(0.1), linear_velocity=(1, 0, -3)).contacts.core_reach is not None, "gravity holds it there"


def test_keyed_bodies_go_around_as_well():
    path = MotionPath(np.array([0.0, 1.0]), np.array([(0.0, 0, 0), (1, 0, 0)]), np.tile(TURN, (2, 1)))
    low = Body("Low", [Cylinder(0.3, 0.2)], motion="kinematic", orientation=TURN, path=path)
    problem = contacts_of(low, Body("Up", [Sphere(0.1)], position=(0, 0, 0.4)))
    assert (problem.contacts.core_reach == pytest.approx(0.4, abs=1e-6)) and len(problem.contacts) == 1
