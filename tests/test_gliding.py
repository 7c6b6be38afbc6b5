# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of mid-step: who glides, with which normals and levers, and how their impulses end a step."""

from types import SimpleNamespace

import numpy as np
import pytest
from axion.solver import Body, Box, Joint, Plane, Scene, SolverConfig, Sphere
from axion.solver.curves import Bends, curves, nearest, square_to
from axion.solver.gliding import whole_impulses
from axion.solver.problem import world_impulses
from axion.solver.reference.rotation import exponential, halfway
from axion.solver.reference.round_cores import end_normals
from axion.solver.reference.rows import contact_jacobians, normals
from axion.solver.residuals import Judge
from axion.solver.rotations import conjugate, multiply, rotate
from axion.solver.simulate import _stepper
from judged_problems import any_solution, assembled, everything

CPU = SolverConfig(device="cpu")
OTHER = np.array([1])  # what a body goes along


def hanging(spin=0.0, ground=False, approach=0.0, belt=0.0):
    """A box on a plank that hangs on a hinge 2 m above it, both turning about the hinge by ``spin`` [rad/s]."""
    scene = Scene()
    if ground:
        scene.add(Body("Ground", [Box((1, 1, 0.1))], motion="static", position=(0, 0, -2.12)))
    turn, along = (0, spin, 0), (-spin * 2.0, 0, 0)
    scene.add(Body("Plank", [Box((0.4, 0.2, 0.02))], position=(0, 0, -2), angular_velocity=turn,
                   linear_velocity=along, surface_velocity=(belt, 0, 0)))  # fmt: skip
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], position=(0, 0, -1.88), angular_velocity=turn,
                   linear_velocity=(-spin * 1.88, 0, -approach)))  # fmt: skip
    scene.add(Joint("Pin", "hinge", None, "Plank", (0, 0, 0), orientation=(np.sin(np.pi / 4), 0, 0, np.cos(np.pi / 4))))
    return scene


def first_assembly(scene, step=1.0 / 24.0):
    """The Assembly that the first step of a scene begins with."""
    stepper = _stepper(scene, CPU, lambda *_: None)
    velocity = stepper.assembler.prescribed_velocity(stepper.state, step)
    stepper.joints.observe(stepper.state.position, stepper.state.orientation, velocity)
    return stepper.assembler.build(stepper.state, step, *stepper.contacts(step, velocity))


def test_what_only_carries_each_other_goes_by_mid_step():
    assembly = first_assembly(hanging(1.0))
    contacts, bodies = assembly.problem.contacts, assembly.problem.bodies
    assert contacts.glides.all() and bodies.midpoint[:2].tolist() == [1.0, 1.0]
    # The normal, and the levers, are those half way to the free pose.
    middle = halfway(bodies.orientation, bodies.free_orientation)
    expected = rotate(middle[contacts.face], contacts.face_normal)
    np.testing.assert_allclose(contacts.normal, expected, atol=1e-14)
    assert np.degrees(np.arccos(abs(contacts.normal[0, 2]))) == pytest.approx(np.degrees(0.5 / 24), rel=1e-6)


@pytest.mark.parametrize("options", [{"ground": True}, {"approach": 0.1}, {"belt": 0.5}], ids=str)
def test_what_stands_on_the_ground_lands_or_runs_does_not(options):
    assembly = first_assembly(hanging(**options))
    assert assembly.problem.contacts.glides is None
    assert not assembly.problem.bodies.midpoint.any()


def test_what_a_held_body_carries_is_held():
    # A box on a box on the ground, and two of them apart: one by backward Euler, the others not.
    scene = Scene(gravity=(0, 0, -9.81))
    scene.add(Body("Ground", [Plane()], motion="static"))
    for name, x, z in (("Low", 0, 0.1), ("High", 0, 0.3), ("Below", 3, 2.1), ("Above", 3, 2.3)):
        scene.add(Body(name, [Box((0.1, 0.1, 0.1))], position=(x, 0, z)))
    assembly = first_assembly(scene)
    scene_number = assembly.numbering.scene
    middle = dict(zip(scene_number.tolist(), assembly.problem.bodies.midpoint.tolist(), strict=True))
    assert [middle[i] for i in range(1, 5)] == [0.0, 0.0, 1.0, 1.0]


def test_round_bodies_that_touch_do_not_glide():
    # Their normal turns with neither of them.
    scene = Scene()
    scene.add(Body("One", [Sphere(0.1)], position=(0, 0, 1)))
    scene.add(Body("Other", [Sphere(0.1)], position=(0, 0, 1.2)))
    assembly = first_assembly(scene)
    assert len(assembly.problem.contacts) == 1 and assembly.problem.contacts.glides is None


def test_levers_of_contacts_that_glide_are_those_half_way_or_means_over_free_motion():
    # With what keyframes turn those that make of a spin the way of the point; the margin stays along the normal.
    problem = everything(1)
    contacts, bodies = problem.contacts, problem.bodies
    contacts.glides, contacts.led = np.arange(len(contacts)) % 3 > 0, np.arange(len(contacts)) % 3 == 2
    contacts.rim_axis = contacts.rim_arm = contacts.rolls = None
    half = halfway(bodies.orientation, bodies.free_orientation)
    got = contact_jacobians(contacts, bodies.position, bodies.orientation, bodies.free_orientation)
    start = contact_jacobians(contacts, bodies.position, bodies.orientation)
    middle = contact_jacobians(contacts, bodies.position, half)
    end = contact_jacobians(contacts, bodies.position, bodies.free_orientation)
    for each, *others in zip(got, start, middle, end, strict=True):
        mean = (others[0] + 4.0 * others[1] + others[2]) / 6.0
        np.testing.assert_array_equal(each[::3], others[0][::3])
        np.testing.assert_array_equal(each[1::3], others[1][1::3])
        np.testing.assert_allclose(each[2::3], mean[2::3], atol=1e-14)


def test_levers_of_roly_polies_are_means_of_the_way_that_is_made():
    problem = everything(1)
    contacts, bodies = problem.contacts, problem.bodies
    contacts.glides = np.ones(len(contacts), bool)
    contacts.led = contacts.rim_axis = contacts.rim_arm = None
    contacts.rolls = np.arange(len(contacts)) % 2 > 0
    spin = 0.2 * np.random.default_rng(4).normal(size=(len(bodies.mass), 3))
    end = multiply(exponential(spin), bodies.free_orientation)
    half = [halfway(bodies.orientation, last) for last in (bodies.free_orientation, end)]
    got = contact_jacobians(contacts, bodies.position, bodies.orientation, bodies.free_orientation, end)
    start, to_free, middle, last = (
        contact_jacobians(contacts, bodies.position, turn) for turn in (bodies.orientation, *half, end)
    )
    for each, *others in zip(got, start, to_free, middle, last, strict=True):
        np.testing.assert_allclose(each[::2], others[1][::2], atol=1e-14)
        mean = (others[0] + 4.0 * others[2] + others[3]) / 6.0
        np.testing.assert_allclose(each[1::2], mean[1::2], atol=1e-14)


def test_lever_of_what_glides_makes_of_a_spin_the_way_of_its_point():
    problem = everything(1)
    contacts, bodies = problem.contacts, problem.bodies
    contacts.glides = contacts.led = np.ones(len(contacts), bool)
    contacts.rim_axis = contacts.rim_arm = contacts.rolls = None
    for angle in (0.05, 0.25, 0.5):  # [rad] in the step
        spin = angle * np.random.default_rng(2).normal(size=(len(bodies.mass), 3)) / np.sqrt(3.0)
        bodies.free_orientation = multiply(exponential(spin), bodies.orientation)
        jacobian = contact_jacobians(contacts, bodies.position, bodies.orientation, bodies.free_orientation)[0]
        turned = [rotate(q[contacts.body_a], contacts.point_a) for q in (bodies.free_orientation, bodies.orientation)]
        axes = jacobian[:, :, :3]
        way = np.einsum("cki,ci->ck", jacobian[:, :, 3:], spin[contacts.body_a])
        way += np.einsum(
            "cki,ci->ck", axes, np.cross(spin[contacts.body_a], contacts.normal * contacts.margin_a[:, None])
        )
        expected = np.einsum("cki,ci->ck", axes, turned[0] - turned[1])
        size = np.abs(contacts.point_a).max()
        np.testing.assert_allclose(way, expected, atol=angle**5 * size + 1e-14)


@pytest.mark.parametrize("seed", [1, 3, 5, 7])
def test_impulses_of_mid_step_are_turned_on_to_the_end_pose(seed):
    # What is given to the velocity phase to be solved anew: whole impulses, with the normal of the end as that of
    # mid-step, at the point where both bodies are pushed there.
    problem, judge = everything(seed, rows=0), Judge("cpu")
    contacts, bodies, n = problem.contacts, problem.bodies, problem.bodies.dynamic_count
    bodies.midpoint[:n] = 1.0
    contacts.glides = contacts.face >= 0
    solution = any_solution(problem, seed)
    judge.step(assembled(problem, seed), solution, 1e-4)
    at_end, given = judge.contacts_at_end(problem)
    half = halfway(bodies.orientation, bodies.free_orientation)
    force = world_impulses(contacts.normal, solution.contact_impulse)
    push, pose = np.zeros((len(bodies.mass), 6)), (solution.position, solution.orientation)
    normal = end_normals(contacts, normals(contacts, pose[1]), *pose)
    for c in range(len(contacts)):
        a, b, face = contacts.body_a[c], contacts.body_b[c], contacts.face[c]
        if contacts.glides[c]:
            on = multiply(solution.orientation[face], conjugate(half[face]))
            before, after = rotate(on, contacts.normal[c]), normal[c]
            axis = np.cross(before, after)
            angle = np.arctan2(np.linalg.norm(axis), before @ after)
            rest = exponential(axis * angle / np.linalg.norm(axis))
            whole = 2.0 * rotate(rest, rotate(on, force[c]))
            np.testing.assert_allclose(at_end.impulse[c], whole, atol=1e-12 * (1.0 + np.abs(whole).max()))
            # As much along the normal of the end as along that of mid-step.
            assert whole @ after == pytest.approx(2.0 * solution.contact_impulse[c, 0], abs=1e-12)
            arms = [rotate(solution.orientation[k], p) for k, p in ((a, at_end.point_a[c]), (b, at_end.point_b[c]))]
        else:
            whole, turn = force[c], bodies.orientation
            arms = [
                rotate(turn[a], contacts.point_a[c]) - contacts.normal[c] * contacts.margin_a[c],
                rotate(turn[b], contacts.point_b[c]) + contacts.normal[c] * contacts.margin_b[c],
            ]
            np.testing.assert_allclose(at_end.impulse[c], whole, atol=1e-12)
        for body, arm, sign in ((a, arms[0], 1.0), (b, arms[1], -1.0)):
            share = sign if contacts.glides[c] else sign * (1.0 + bodies.midpoint[body])
            push[body] += share * np.append(whole, np.cross(arm, whole))
    for i in range(n):
        local = rotate(conjugate(solution.orientation[i]), push[i, 3:]) / bodies.inertia[i]
        want = np.append(push[i, :3] / bodies.mass[i], rotate(solution.orientation[i], local))
        np.testing.assert_allclose(given[i], want, atol=1e-11 * (1.0 + np.abs(want).max()))


def test_impulses_of_mid_step_count_twice():
    problem = everything(1)
    problem.contacts.glides = np.arange(len(problem.contacts)) == 2
    impulse = np.ones((len(problem.contacts), 3))
    got = whole_impulses(problem, impulse)
    assert got[2].tolist() == [2.0] * 3 and (np.delete(got, 2, axis=0) == 1.0).all()


# Curves


def test_the_nearest_of_what_carries_a_body_is_found():
    own = np.array([1, 0, 1, 1, 0])
    normal = np.array([[0, 0, 1.0], [0, 0, 1.0], [0.6, 0, 0.8], [0.8, 0, 0.6], [1.0, 0, 0]])
    near = np.ones(5, bool), np.zeros(5), 0.0
    held, carrier = nearest(own, normal, np.array([0, 2]), np.array([3, 4]), near)
    assert held.tolist() == [3] and carrier.tolist() == [2]  # nothing carries body 0
    near[0][2] = False  # what is apart and faces elsewhere carries nothing
    assert nearest(own, normal, np.array([0, 2]), np.array([3, 4]), near)[1].tolist() == [0]
    assert [each.tolist() for each in nearest(own, normal, np.array([], int), np.array([3]), near)] == [[], []]


def test_a_normal_is_turned_square_to_the_way():
    got = square_to(np.array([[0.0, 0.0, 1.0]]), np.array([[3.0, 0.0, 0.3]]))
    assert got[0] @ (3.0, 0.0, 0.3) == pytest.approx(0.0, abs=1e-15)
    assert np.degrees(np.arccos(got[0, 2])) == pytest.approx(np.degrees(np.arctan(0.1)))
    np.testing.assert_array_equal(square_to(np.array([[0.0, 0.0, 1.0]]), np.zeros((1, 3))), [[0, 0, 1]])


class Touched:
    """A ContactSet as far as ``curves`` looks: scene body 3 is touched along the normals of these angles."""

    def __init__(self, *angles):
        self.normal = np.array([[np.sin(angle), 0.0, np.cos(angle)] for angle in angles]).reshape(-1, 3)
        self.body_a, self.body_b = np.full(len(angles), 3), np.zeros(len(angles), int)


def facets(*parts):
    """Where on the way what angle is touched: pairs (share of the way up to which it is, angle)."""
    return lambda share: [next(angle for end, angle in parts if share < end)]


@pytest.mark.parametrize(
    ("turn", "touched", "curve", "kink", "fine"),
    [
        (0.4, lambda share: [0.4 * share], True, False, True),
        (0.4, lambda share: [0.4 * share + 0.05], True, False, True),
        (0.5, lambda share: [0.5 * share + 0.07], True, False, False),  # half of a facet of 8 degrees beside it
        (0.4, facets((0.3, 0.0), (0.7, 0.2), (1.0, 0.4)), False, False, False),  # two kinks, half way between them
        (0.4, facets((0.6, 0.0), (0.8, 0.2), (1.0, 0.4)), False, False, False),  # two kinks, both in the second half
        (0.4, facets((0.2, 0.0), (0.4, 0.2), (1.0, 0.4)), False, False, False),
        (0.4, facets((0.4, 0.0), (1.0, 0.4)), False, True, False),
        (0.4, facets((0.9, 0.0), (1.0, 0.4)), False, True, False),
        (0.4, lambda share: [0.0, 0.4], False, True, False), (0.4, lambda share: [], False, False, False),
        (0.1, facets((1.0, 0.1)), True, False, True),  # one facet of less than 6 degrees
        (0.2, facets((1.0, 0.15)), True, False, True),  # a few of them
        (1.0, lambda share: [share], True, False, True), (1.0, lambda share: [-0.5], False, False, False),
    ],
)  # fmt: skip
def test_on_the_way_a_curve_turns_and_a_kink_does_not(turn, touched, curve, kink, fine):
    before, after = np.array([[0.0, 0.0, 1.0]]), np.array([[np.sin(turn), 0.0, np.cos(turn)]])
    found = Bends(
        np.array([0]), before, after, np.array([False]), np.array([True]), np.zeros(1), np.array([turn]), OTHER, OTHER
    )
    assert found.turn()[0] == pytest.approx(turn)
    told = curves(found, lambda part, share: Touched(*touched(share)), np.array([3, 0]))
    assert [each.tolist() for each in told] == [[curve], [kink], [fine]]


def test_a_kink_that_a_body_has_begun_to_take_is_no_fine_facet():
    # It flies level already, so the curve turns by little; what carries it and what holds it make 15 degrees.
    before, after = np.array([[0.0, 0.0, 1.0]]), np.array([[np.sin(0.05), 0.0, np.cos(0.05)]])
    found = Bends(
        np.array([0]), before, after, np.array([False]), np.array([True]), np.zeros(1), np.array([0.26]), OTHER, OTHER
    )
    told = curves(found, lambda part, share: Touched([]), np.array([3, 0]))
    assert [each.tolist() for each in told] == [[True], [False], [False]]


def test_until_a_ball_comes_to_a_kink_it_is_carried():
    # The velocity without what holds it at the end: gravity's share along the first normal is missing until then.
    end = np.array([[2.0, 0.0, -0.4, 0.0, 20.0, 0.0], np.zeros(6)])
    velocity = np.array([[2.0, 0.0, 0.0, 0.0, 20.0, 0.0], np.zeros(6)])
    bodies = SimpleNamespace(velocity=velocity, velocity_at_start=lambda: velocity)
    found = Bends(np.zeros(3, int), np.tile([0.0, 0.0, 1.0], (3, 1)), np.tile([0.6, 0.0, 0.8], (3, 1)),
                  *np.zeros((2, 3), bool), np.array([0.0, 0.25, 1.0]), np.zeros(3), *np.ones((2, 3), int))  # fmt: skip
    np.testing.assert_allclose(found.free_velocity(bodies, end)[:, 2], [-0.4, -0.3, 0.0])
    np.testing.assert_array_equal(found.free_velocity(bodies, end)[:, 3:], end[[0, 0, 0], 3:])
    assert np.array_equal(end[0], [2.0, 0.0, -0.4, 0.0, 20.0, 0.0])


def test_of_the_bends_of_a_body_the_largest_is_kept():
    angle = np.array([0.2, 0.3, 0.1])
    after = np.stack([np.sin(angle), 0.0 * angle, np.cos(angle)], axis=1)
    found = Bends(
        np.array([4, 4, 1]),
        np.tile([0.0, 0.0, 1.0], (3, 1)),
        after,
        *np.zeros((2, 3), bool),
        np.arange(3.0),
        angle,
        *np.full((2, 3), 5),
    )
    largest = found.largest()
    assert largest.body.tolist() == [1, 4] and largest.time.tolist() == [2.0, 1.0]


def test_carriers_are_numbered_among_the_contacts_that_a_step_keeps():
    found = Bends(*np.zeros((8, 3)), np.array([1, 3, 4]))
    kept = found.among(np.array([False, True, True, False, True]))
    assert kept.carrier.tolist() == [0, -1, 2] and found.carrier.tolist() == [1, 3, 4]
