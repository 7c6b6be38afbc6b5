# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that contradict each other are named, those that are only redundant or hard to solve are not."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, Scene, SolverConfig, Sphere, contradiction, rotations, simulate
from axion.solver.contradiction import contradictory_joints
from axion.solver.problem import Contacts, Coordinate, JointRows, StepProblem, StepSolution
from axion.solver.reference.rows import coordinates
from scenes import four_bar, turned
from step_problems import bodies_of, random_bodies, random_rows

CPU = SolverConfig(device="cpu", substeps=1)
TOLERANCE = CPU.tolerances()[1]
UNTURNED = rotations.IDENTITY


def named(scene, frames=2):
    """Joints each frame names, worst first; no frame keeps its tolerance while any are named."""
    reports = simulate(scene, frames, config=CPU).reports
    assert not any(report.converged and report.contradictory_joints for report in reports)
    return [report.contradictory_joints for report in reports], reports


def ball_at(scene, name, place):
    return scene.add(Body(name, [Sphere(0.1)], position=place, collision_mask=0))


def test_two_rods_of_different_lengths_between_the_same_anchors():
    # One point cannot be 1 m and 1.2 m away: whatever is done, the errors add up to 0.2 m.
    scene = Scene()
    ball_at(scene, "Ball", (0, 0, -1))
    ball_at(scene, "Beside", (5, 0, -1))
    for name, length in (("Short", 1.0), ("Long", 1.2)):
        scene.add(Joint(name, "distance", None, "Ball", anchors=((0, 0, 0), (0, 0, -1)), length=length))
    scene.add(Joint("Good", "distance", None, "Beside", anchors=((5, 0, 0), (5, 0, -1))))
    names, reports = named(scene)
    assert all(sorted(each) == ["Long", "Short"] for each in names)
    assert all(sorted(report.worst_joints[:2]) == ["Long", "Short"] for report in reports)
    assert all(report.residual > 0.05 for report in reports)


def test_a_rope_shorter_than_the_rod_beside_it():
    scene = Scene()
    ball_at(scene, "Ball", (0, 0, -1))
    scene.add(Joint("Rod", "distance", None, "Ball", anchors=((0, 0, 0), (0, 0, -1))))
    scene.add(Joint("Rope", "rope", None, "Ball", anchors=((0, 0, 0), (0, 0, -1)), length=0.9))
    assert all(sorted(each) == ["Rod", "Rope"] for each in named(scene)[0])


def test_a_triangle_of_rods_that_cannot_close():
    # 1 m + 1 m < 2.5 m.  The rod that hangs the triangle up is not part.  The long one starts 1.56 m too short and
    # grows at 3 m/s, as joints close that are apart, until the others are stretched: in the ninth frame.
    scene = Scene()
    corner = {"A": (0, 0, 0), "B": (1, 0, 0), "C": (0.5, 0, 0.8)}
    for name, place in corner.items():
        ball_at(scene, name, place)
    for a, b, length in (("A", "B", 1.0), ("B", "C", 1.0), ("C", "A", 2.5)):
        scene.add(Joint(a + b, "distance", a, b, anchors=(corner[a], corner[b]), length=length))
    scene.add(Joint("Hook", "distance", None, "A", anchors=((0, 0, 2), (0, 0, 0))))
    names, reports = named(scene, 12)
    assert not any(names[:8]) and all(report.converged and report.joint_error > 0.5 for report in reports[:8])
    assert all(sorted(each) == ["AB", "BC", "CA"] for each in names[8:])


def door(axes, drive=None):
    """A door on hinges at its edge x = y = 0, one at each height of ``axes``, about the axis given there."""
    scene = Scene()
    scene.add(Body("Door", [Box((0.4, 0.03, 1.0))], position=(0.4, 0, 0), mass=20.0, collision_mask=0))
    for i, (height, axis) in enumerate(axes):
        axis = np.asarray(axis, float) / np.linalg.norm(axis)
        turn = rotations.exponential(np.cross([0, 0, 1.0], axis))
        free = {"rz": drive} if drive is not None and i == 0 else {}
        scene.add(Joint(f"Hinge {i + 1}", "hinge", None, "Door", (0, 0, height), turn, axes=free))
    return scene


UP, ASKEW = (0, 0, 1), (0.2, 0, 1)
TURN = Axis(drive="position", target=((0.0, 1.0), (0.0, 1.0)))


def test_hinges_of_a_door_that_do_not_point_the_same_way():
    # Together they hold the door fast, which is no contradiction; but one of them is told to turn.
    assert named(door([(0.8, UP), (-0.8, ASKEW)]))[0] == [[], []]
    names, reports = named(door([(0.8, UP), (-0.8, ASKEW)], TURN))
    assert all(sorted(each) == ["Hinge 1", "Hinge 2"] for each in names)
    assert not any(report.converged for report in reports)


def test_a_door_on_three_hinges_that_agree_is_fine():
    names, reports = named(door([(0.8, UP), (0.0, UP), (-0.8, UP)], TURN))
    assert names == [[], []] and all(report.converged for report in reports)


def bar(*joints):
    """A bar that collides with nothing, on joints to the world at its middle: (name, kind, axes, orientation) each."""
    scene = Scene()
    scene.add(Body("Bar", [Box((0.2, 0.1, 0.1))], collision_mask=0))
    for name, kind, axes, turn in joints:
        scene.add(Joint(name, kind, None, "Bar", (0, 0, 0), turn, axes=axes))
    return scene


def motor(speed):
    return {"rz": Axis(drive="velocity", target=speed)}


PUSH = {"x": Axis(drive="velocity", target=1.0)}


@pytest.mark.parametrize(
    "joints",
    [
        [("A", "hinge", motor(1.0), UNTURNED), ("B", "hinge", motor(2.0), UNTURNED)],
        [("A", "hinge", motor(200.0), UNTURNED), ("B", "hinge", motor(201.0), UNTURNED)],  # eight radians in a step
        [("A", "fixed", {}, UNTURNED), ("B", "hinge", motor(1.0), UNTURNED)],
        [("A", "slider", PUSH, UNTURNED), ("B", "slider", {}, turned("z", 0.5))],
    ],
    ids=["two motors", "two fast motors", "a motor on what is fixed", "a drive on crossed sliders"],
)
def test_velocity_drives_that_cannot_be_met_are_named(joints):
    names, reports = named(bar(*joints))
    assert all(sorted(each) == ["A", "B"] for each in names) and not any(report.converged for report in reports)


def test_motors_that_agree_are_fine():
    names, reports = named(bar(("A", "hinge", motor(200.0), UNTURNED), ("B", "hinge", motor(200.0), UNTURNED)))
    assert names == [[], []] and all(report.converged for report in reports)


def test_a_driven_four_bar_that_cannot_turn_over_is_named_once_it_locks():
    # Crank 0.4 m and base 0.5 m: coupler and rocker, 0.7 m together, do not reach where the crank is to go.
    reports = simulate(four_bar(2.0, crank=0.4, coupler=0.35, rocker=0.35, base=0.5), 48, config=CPU).reports
    missed = [report for report in reports if not report.converged]
    assert missed and reports[0].converged
    pins = [f"Pin {k}" for k in range(1, 5)]
    assert all(sorted(report.contradictory_joints) == pins for report in missed)


def test_a_door_hinged_inside_a_wall_is_named():
    scene = Scene()
    scene.add(Body("Wall", [Box((1.0, 1.0, 1.0))], motion="static"))
    scene.add(Body("Door", [Box((0.5, 0.1, 0.5))], position=(0.9, 0, 0)))
    scene.add(Joint("Hinge", "hinge", None, "Door", (0.4, 0, 0)))
    assert named(scene)[0] == [["Hinge"], ["Hinge"]]


@pytest.mark.parametrize("on_ball", [True, False])
def test_a_rod_is_named_where_a_wall_is_beyond_its_reach_and_not_where_it_can_swing_there(on_ball):
    # A ball on a rod of 1 m that a step left at x = 0.9 m, off its rod
    bodies = bodies_of([1.0, np.inf], [[0.01] * 3, [np.inf] * 3], [[0.9, 0, -0.3], [0, 0, 0]])
    rod = JointRows.of(1)
    rod.coordinate[:], rod.body_a[:], rod.body_b[:], rod.offset[:] = Coordinate.DISTANCE, 1, 0, 1.0
    none, way, still = np.zeros(1), np.array([[1.0, 0, 0]]), np.zeros((1, 3))
    wall = Contacts(np.array([0]), np.array([1]), still, 0.0 * way, none, none, way, none, none, still)
    if not on_ball:
        wall.face, wall.face_normal = np.array([1]), way
    solution = StepSolution(np.zeros((2, 6)), bodies.position, bodies.orientation, np.zeros((1, 3)), np.zeros(1))
    for place, found in ((1.05, [0]), (0.95, [])):
        wall.point_b = place * way
        problem = StepProblem(0.02, bodies, wall, rod, push_out_speed=10.0)
        assert contradictory_joints(problem, solution, np.array([True]), TOLERANCE) == found


def door_problem(hinges, offset=0.0):
    """A door on ``hinges`` rigid hinges as a StepProblem; the last is ``offset`` [m] out of line."""
    rows = JointRows.of(5 * hinges)
    rows.joint[:] = np.repeat(np.arange(hinges), 5)
    rows.body_a[:], rows.body_b[:] = 1, 0
    rows.coordinate[:] = np.tile([Coordinate.LINEAR] * 3 + [Coordinate.DOT] * 2, hinges)
    rows.axis_a[:] = np.tile([(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0)], (hinges, 1))
    rows.axis_b[:] = (0, 0, 1)
    height = np.repeat(np.linspace(-0.8, 0.8, hinges), 5)
    rows.anchor_a[:, 2] = height
    rows.anchor_b[:, 0], rows.anchor_b[:, 2] = -0.4, height
    rows.anchor_a[-5:, 0] += offset
    bodies = bodies_of([20.0, np.inf], [[7.0, 8.0, 1.1], [np.inf] * 3], [[0.4, 0, 0], [0, 0, 0]])
    return StepProblem(0.02, bodies, joints=rows)


def left_off(problem, seed):
    """The solution of a step that went wrong: the door up to 0.1 m and 0.3 rad off."""
    rng, bodies = np.random.default_rng(seed), problem.bodies
    position, orientation = bodies.position.copy(), bodies.orientation.copy()
    position[0] += rng.uniform(-0.1, 0.1, 3)
    orientation[0] = rotations.exponential(rng.uniform(-0.3, 0.3, 3))
    assert np.abs(coordinates(problem.joints, position, orientation)).max() > 100 * TOLERANCE
    return StepSolution(np.zeros((2, 6)), position, orientation, np.zeros((0, 3)), np.zeros(len(problem.joints)))


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_redundant_joints_are_not_blamed_for_a_step_that_went_wrong(seed, dense, monkeypatch):
    monkeypatch.setattr(contradiction, "DENSE_MOST", 600 if dense else 0)
    problem = door_problem(3)
    assert contradictory_joints(problem, left_off(problem, seed), np.array([True]), TOLERANCE) == []


@pytest.mark.parametrize("dense", [True, False])
def test_a_hinge_out_of_line_is_the_worst_of_the_three(dense, monkeypatch):
    # Three points fitted by a line: the outer ones of three give way least, but all three are in the balance.
    monkeypatch.setattr(contradiction, "DENSE_MOST", 600 if dense else 0)
    problem = door_problem(3, offset=0.05)
    found = contradictory_joints(problem, left_off(problem, 0), np.array([True]), TOLERANCE)
    assert sorted(found) == [0, 1, 2]


def spanned(links, room, seed):
    """A chain of 1 m links on ball joints between two walls ``room`` [m] apart, left off by 1 cm and 0.01 rad."""
    rng, count = np.random.default_rng(seed), links + 1
    position = np.zeros((count, 3))
    position[:links, 0] = np.arange(links) + 0.5
    bodies = bodies_of([1.0] * links + [np.inf], [[0.1] * 3] * links + [[np.inf] * 3], position)
    rows = JointRows.of(3 * count)
    rows.joint[:] = np.repeat(np.arange(count), 3)
    rows.body_a[:] = np.repeat([links, *range(links)], 3)
    rows.body_b[:] = np.repeat([*range(links), links], 3)
    rows.axis_a[:] = np.tile(np.eye(3), (count, 1))
    rows.anchor_a[3:, 0], rows.anchor_b[:-3, 0], rows.anchor_b[-3:, 0] = 0.5, -0.5, room
    solution = StepSolution(
        np.zeros((count, 6)), position.copy(), bodies.orientation.copy(), np.zeros((0, 3)), np.zeros(len(rows))
    )
    solution.position[:links] += 0.01 * rng.normal(size=(links, 3))
    solution.orientation[:links] = rotations.exponential(0.01 * rng.normal(size=(links, 3)))
    return StepProblem(0.02, bodies, joints=rows), solution


@pytest.mark.parametrize("links", [40, 150])  # a dense matrix, and conjugate gradients
def test_a_chain_is_named_when_it_is_too_short_and_not_when_it_is_long_enough(links):
    # Too short, it is taut: its rows pull at each other along the line, all by the same force, so by the same error.
    short, solution = spanned(links, 1.02 * links, 0)
    found = contradictory_joints(short, solution, np.ones(links, bool), TOLERANCE)
    assert sorted(found) == list(range(links + 1))
    enough, solution = spanned(links, 0.98 * links, 0)
    assert contradictory_joints(enough, solution, np.ones(links, bool), TOLERANCE) == []


def test_bends_are_the_second_derivatives_of_the_rows():
    # c(q (+) d) to second order, by differences of c itself, of every kind of row between two bodies that move
    rng, e = np.random.default_rng(3), 1e-4
    rows = random_rows(rng, 8, random_bodies(rng, 2, 0))
    rows.body_a[:], rows.body_b[:], rows.lower[:], rows.target[:] = 0, 1, -np.inf, 0.3
    bodies = random_bodies(rng, 2, 0)
    solution = StepSolution(None, bodies.position, bodies.orientation, None, None)
    fit = contradiction._Fit(bodies, rows, np.arange(2), solution)
    error = fit.error()
    fit.linearise(error)
    for _ in range(3):
        d = rng.normal(size=(2, 6))
        ahead, behind = (fit.error(fit.moved(sign * e * d)) for sign in (1, -1))
        np.testing.assert_allclose((ahead - behind) / (2 * e), fit.jac @ d.ravel(), rtol=1e-5, atol=1e-5)
        second = error * (ahead - 2 * error + behind) / e**2
        np.testing.assert_allclose(
            np.einsum("i,rij,j->r", d.ravel(), fit.bend, d.ravel()), second, rtol=1e-4, atol=1e-4
        )


def test_only_what_is_tied_to_a_body_that_missed_is_looked_at():
    problem = door_problem(3, offset=0.05)
    assert contradictory_joints(problem, left_off(problem, 0), np.array([False]), TOLERANCE) == []


def test_rows_that_give_way_are_left_out():
    # A rod of 1 m against a rod of 1.2 m that yields: compliant, sprung, or of limited force.
    bodies = bodies_of([1.0, np.inf], [[0.01] * 3, [np.inf] * 3], [[0, 0, -1.1], [0, 0, 0]])
    rows = JointRows.of(2)
    rows.joint[:], rows.coordinate[:] = [0, 1], Coordinate.DISTANCE
    rows.body_a[:], rows.body_b[:], rows.offset[:] = 1, 0, [1.0, 1.2]
    problem = StepProblem(0.02, bodies, joints=rows)
    solution = StepSolution(np.zeros((2, 6)), bodies.position, bodies.orientation, np.zeros((0, 3)), np.zeros(2))

    def found():
        return sorted(contradictory_joints(problem, solution, np.array([True]), TOLERANCE))

    assert found() == [0, 1]
    for name, value in (("compliance", 1e-3), ("beta", 0.5), ("upper", 1.0)):
        before = getattr(rows, name)[1]
        getattr(rows, name)[1] = value
        assert found() == []
        getattr(rows, name)[1] = before
    assert found() == [0, 1]
