# SPDX-License-Identifier: GPL-3.0-or-later
"""The proximal method on steps built by hand, judged by metrics.step_residuals and by what the impulses must be."""

import numpy as np
import pytest
import warp as wp
from axion.solver import metrics
from axion.solver.problem import Coordinate, JointRows, StepProblem
from axion.solver.proximal import ProximalSolver
from axion.solver.reference.rows import coordinates, gaps
from step_problems import G, bodies_of, box_inertia, contacts_of, corners, options, random_problem, solve, solver

H, TOLERANCE = 1.0 / 24.0, 1e-6
HALF = np.array([0.2, 0.2, 0.1])
UP = np.array([0.0, 0.0, 1.0])


def stacked(masses, velocity=None, friction=0.5, step=H):
    """Boxes of half extents HALF, each on the one below, the first on the plane z = 0 of the last, immovable body."""
    count = len(masses)
    mass = np.append(masses, np.inf)
    inertia = np.array([box_inertia(m, HALF) for m in masses] + [[np.inf] * 3])
    position = np.array([[0, 0, (2 * i + 1) * HALF[2]] for i in range(count)] + [[0.0, 0, 0]])
    u = None if velocity is None else np.vstack([velocity, np.zeros(6)])
    bodies = bodies_of(mass, inertia, position, velocity=u, step=step)
    a, b, pa, pb = [], [], [], []
    for i in range(count):
        a += [i] * 4
        b += [i - 1 if i else count] * 4
        pa.append(corners(HALF))
        pb.append(corners(HALF) * (1, 1, -1) if i else corners(HALF) * (1, 1, 0))
    contacts = contacts_of(a, b, np.vstack(pa), np.vstack(pb), np.tile(UP, (len(a), 1)), friction)
    return StepProblem(step, bodies, contacts)


def judged(problem, solution, tolerance=TOLERANCE):
    residuals = metrics.step_residuals(problem, solution)
    assert residuals.worst(problem.step) < tolerance
    assert residuals.joint_error_angle < tolerance
    return residuals


def hung(kind, mass=5.0, length=2.0, velocity=(0,) * 6, midpoint=0.0, step=H):
    """A 5 kg body below the origin of immovable body 1, held by a DISTANCE row or by three LINEAR rows."""
    bodies = bodies_of(
        [mass, np.inf], [[0.02] * 3, [np.inf] * 3], [[0, 0, -length], [0, 0, 0]],
        velocity=[velocity, np.zeros(6)], step=step, midpoint=midpoint,
    )  # fmt: skip
    rows = JointRows.of(1 if kind == Coordinate.DISTANCE else 3)
    rows.coordinate[:] = kind
    rows.body_a[:], rows.body_b[:] = 1, 0
    rows.anchor_b[:] = (0, 0, 0) if kind == Coordinate.DISTANCE else (0, 0, length)
    rows.axis_a[:] = np.eye(3)[: len(rows)]
    rows.offset[:] = length if kind == Coordinate.DISTANCE else 0.0
    return StepProblem(step, bodies, joints=rows)


def test_box_on_a_plane_is_carried_by_its_weight():
    # Equilibrium of impulses: sum p_n = m g h, no motion.
    problem = stacked([3.0])
    solution = solve(problem, tolerance=TOLERANCE)
    judged(problem, solution)
    # u within tolerance / h of rest, so the sum within m tolerance / h
    assert solution.contact_impulse[:, 0].sum() == pytest.approx(3.0 * G * H, abs=3.0 * TOLERANCE / H)
    assert np.abs(solution.velocity[0]).max() < 3 * TOLERANCE / H


def test_a_heap_whose_boxes_only_now_touch_each_other_is_solved_by_the_same_recording(monkeypatch):
    recorded, of_three = [], stacked([1.0, 2.0, 3.0])  # with room for what comes
    record = wp.ScopedCapture.__enter__
    monkeypatch.setattr(wp.ScopedCapture, "__enter__", lambda capture: recorded.append(capture) or record(capture))
    own, so_far = ProximalSolver("cpu", "float64"), []
    for problem in (of_three, stacked([3.0]), stacked([1.0, 2.0])):
        solution, _ = own.solve(problem, options(problem, TOLERANCE))
        judged(problem, solution)
        so_far.append(len(recorded))
    assert so_far[0] == so_far[-1] > 0


def test_both_phases_are_recorded_with_the_first_contacts():
    own, problem = ProximalSolver("cpu", "float64"), stacked([1.0])
    own.solve(problem, options(problem, TOLERANCE))
    graphs = dict(own._graphs)
    own.solve_velocity(problem, options(problem, TOLERANCE), np.full(4, True))
    assert own._graphs == graphs and {phase for phase, *_ in graphs} == {"position", "velocity"}


@pytest.mark.parametrize("ratio", [1e-3, 1.0, 1e3, 1e4])
def test_heavy_on_light_and_light_on_heavy(ratio):
    # The plane carries both, the lower box the upper one.
    problem = stacked([1.0, ratio])
    solution = solve(problem, tolerance=TOLERANCE)
    judged(problem, solution)
    normal = solution.contact_impulse[:, 0]
    assert normal[4:].sum() == pytest.approx(ratio * G * H, rel=1e-3, abs=ratio * TOLERANCE / H)
    assert normal[:4].sum() == pytest.approx((1.0 + ratio) * G * H, rel=1e-3)


def test_free_bodies_need_no_iteration():
    problem = stacked([1.0])
    problem.bodies.position[0, 2] += 1.0
    problem.bodies.free_position[0, 2] += 1.0
    solution = solve(problem, tolerance=TOLERANCE)
    judged(problem, solution)
    assert solution.velocity[0] == pytest.approx(problem.bodies.free_velocity[0], abs=1e-9)
    assert not solution.contact_impulse.any()


def test_a_step_without_bodies_or_rows():
    problem = StepProblem(H, bodies_of([2.0], [[0.1] * 3], [[0, 0, 0]]))
    solution = solve(problem)
    assert solution.velocity == pytest.approx(problem.bodies.free_velocity)
    assert solution.newton_iterations == 0


def test_sliding_box_is_braked_by_mu_m_g():
    # Sliding along +x all through the step: m dv = -mu m g h, friction opposite to the slip.
    mu, speed = 0.3, 2.0
    problem = stacked([2.0], velocity=[[speed, 0, 0, 0, 0, 0]], friction=mu, step=0.01)
    solution = solve(problem, tolerance=1e-7)
    judged(problem, solution, 1e-7)
    force = solution.contact_impulse.sum(axis=0)
    assert solution.velocity[0, 0] == pytest.approx(speed - mu * G * 0.01, abs=1e-7 / 0.01)
    assert np.hypot(*force[1:]) == pytest.approx(mu * force[0], rel=1e-4)


@pytest.mark.parametrize("kind", [Coordinate.LINEAR, Coordinate.DISTANCE])
@pytest.mark.parametrize("midpoint", [0.0, 1.0])
def test_hanging_mass_is_held_by_its_weight(kind, midpoint):
    # Position impulses count (1 + midpoint) times, so p = m g h / (1 + midpoint), upwards on body b.
    problem = hung(kind, midpoint=midpoint)
    solution = solve(problem, tolerance=TOLERANCE)
    judged(problem, solution)
    upward = -solution.joint_impulse[0] if kind == Coordinate.DISTANCE else solution.joint_impulse[2]
    assert upward == pytest.approx(5.0 * G * H / (1.0 + midpoint), abs=5.0 * TOLERANCE / H)


@pytest.mark.parametrize("midpoint", [0.0, 1.0])
@pytest.mark.parametrize("speed", [1.0, 8.0])
def test_pendulum_keeps_its_length(midpoint, speed):
    # 8 m/s for 1/24 s on a rod of 2 m: a sixth of a turn.
    problem = hung(Coordinate.DISTANCE, velocity=(speed, 0, 0, 0, 0, 0), midpoint=midpoint)
    solution = solve(problem, tolerance=TOLERANCE)
    judged(problem, solution)
    assert np.linalg.norm(solution.position[0]) == pytest.approx(2.0, abs=TOLERANCE)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_both_precisions_find_the_same_step(precision):
    problem = stacked([1.0, 2.0, 3.0])
    tolerance = {"float64": 1e-6, "float32": 1e-4}[precision]
    solution = solve(problem, precision, tolerance=tolerance)
    judged(problem, solution, tolerance)
    assert solution.position == pytest.approx(problem.bodies.position, abs=3 * tolerance)


def test_a_warm_start_at_the_solution_stays_there():
    problem = stacked([1.0, 50.0])
    cold = solve(problem, tolerance=TOLERANCE)
    problem.contacts.impulse[:] = cold.contact_impulse * (1, 0, 0) @ np.outer([1, 0, 0], UP)
    warm = solve(problem, tolerance=TOLERANCE)
    judged(problem, warm)
    assert warm.newton_iterations <= max(2, cold.newton_iterations // 2)


def test_a_round_in_which_contacts_go_on_pushing_takes_one_newton_iteration():
    # Half their impulses are known, and the first iterate jumps up: by the law alone every contact is open there.
    problem = stacked([1.0, 50.0])
    problem.contacts.impulse[:] = np.repeat([51.0, 50.0], 4)[:, None] * G * H / 8.0 * UP
    start = np.zeros((2, 6))
    start[:, 2] = 0.5
    solution = solve(problem, tolerance=TOLERANCE, start=start)
    judged(problem, solution)
    rounds = int(solver("float64").problem.islands.outer_count.numpy()[0])
    assert solution.newton_iterations == rounds > 1


def test_limits_and_bounds_hold():
    # A motor row with a bound of 0.2 N s against 0.5 N s asked for pushes with 0.2 N s, and says so.
    bodies = bodies_of([1.0, np.inf], [[0.1] * 3, [np.inf] * 3], np.zeros((2, 3)), gravity=(0, 0, 0), step=H)
    rows = JointRows.of(1)
    rows.body_a[:], rows.axis_a[:], rows.beta[:] = 1, (1, 0, 0), 0.0
    rows.target_velocity[:], rows.lower[:], rows.upper[:] = 0.5, -0.2, 0.2
    problem = StepProblem(H, bodies, joints=rows)
    solution = solve(problem, tolerance=TOLERANCE)
    judged(problem, solution)
    assert solution.joint_impulse[0] == pytest.approx(0.2)
    assert solution.velocity[0, 0] == pytest.approx(0.2)


def test_springs_are_exact_whatever_their_stiffness():
    # One row with compliance: (m + h^2 k + h d) v+ = m v - h k x, the implicit Euler step of a spring-damper.
    m, x, v = 2.0, 0.3, -0.4
    for k, d in ((10.0, 0.0), (1e4, 5.0), (1e8, 0.0), (0.0, 3.0)):
        bodies = bodies_of(
            [m, np.inf], [[0.1] * 3, [np.inf] * 3], [[x, 0, 0], [0, 0, 0]],
            velocity=[[v, 0, 0, 0, 0, 0], np.zeros(6)], gravity=(0, 0, 0), step=H,
        )  # fmt: skip
        rows = JointRows.of(1)
        rows.body_a[:], rows.axis_a[:] = 1, (1, 0, 0)
        rows.beta[:], rows.compliance[:] = H * k / (H * k + d), 1.0 / (H * H * k + H * d)
        problem = StepProblem(H, bodies, joints=rows)
        solution = solve(problem, tolerance=1e-8)
        want = (m * v - H * k * x) / (m + H * H * k + H * d)
        assert solution.velocity[0, 0] == pytest.approx(want, abs=1e-8 / H)


def test_restitution_belongs_to_the_velocity_phase():
    # v_n+ = the speed of the rebound at loaded contacts; the others do not act.
    e, speed = 0.6, -3.0
    problem = stacked([2.0], velocity=[[0, 0, speed, 0, 0, 0]])
    problem.contacts.rebound_speed, problem.contacts.rebound_gap = np.full(4, -e * speed), np.zeros(4)
    problem.bodies.free_position[:] = problem.bodies.position
    for loaded, want in ((True, -e * speed), (False, problem.bodies.free_velocity[0, 2])):
        solution, _ = solver().solve_velocity(problem, options(problem, TOLERANCE), np.full(4, loaded))
        assert solution.velocity[0, 2] == pytest.approx(want, abs=TOLERANCE / H)
        assert np.abs(solution.velocity[0, 3:]).max() < 10 * TOLERANCE / H


@pytest.mark.parametrize("seed", range(8))
def test_what_the_solver_calls_solved_the_judge_calls_solved(seed):
    # Random tilted contacts that touch and joint rows that fit, bodies flying about: solved by both measures.
    problem = random_problem(seed, dynamic=5, immovable=1, contacts=4, rows=4, loaded=False)
    bodies, contacts, rows = problem.bodies, problem.contacts, problem.joints
    rows.offset = coordinates(rows, bodies.position, bodies.orientation) + rows.offset
    rows.lower[:], rows.target[:], rows.target_velocity[:] = -np.inf, 0.0, 0.0
    contacts.margin_b = contacts.margin_b + gaps(contacts, bodies.position, bodies.orientation)
    solution, statistics = solver().solve(problem, options(problem, 1e-5))
    solved = statistics.residual < 1e-5
    assert solved.any()  # a step this wild may also need halving
    residuals = metrics.step_residuals(problem, solution)
    of_body = metrics.body_residuals(problem, residuals, penetration=False)[: bodies.dynamic_count]
    # the solver measures angles at the radius of gyration, here 0.25 to 1 m, and w at the start pose
    assert of_body[solved].max() < 5e-5
    assert residuals.kinematic_residual < 1e-12 and residuals.kinematic_residual_angle < 1e-7


def test_islands_are_solved_each_for_itself():
    # Two boxes far apart: the answer for one does not depend on what happens to the other, to the last bit.
    def pair(speed):
        one, two = stacked([3.0]), stacked([3.0], velocity=[[speed, 0, -2.0, 3.0, 0, 0]])
        mass = [3.0, 3.0, np.inf]
        bodies = bodies_of(
            mass, [one.bodies.inertia[0], one.bodies.inertia[0], [np.inf] * 3],
            [[0, 0, HALF[2]], [5, 0, HALF[2]], [0, 0, 0]],
            velocity=[np.zeros(6), two.bodies.velocity[0], np.zeros(6)], step=H,
        )  # fmt: skip
        ground = corners(HALF) * (1, 1, 0)
        contacts = contacts_of(
            [0] * 4 + [1] * 4, [2] * 8, np.tile(corners(HALF), (2, 1)), np.vstack([ground, ground + (5, 0, 0)]),
            np.tile(UP, (8, 1)),
        )  # fmt: skip
        return solve(StepProblem(H, bodies, contacts), tolerance=TOLERANCE)

    calm, wild = pair(0.0), pair(7.0)
    assert np.array_equal(calm.velocity[0], wild.velocity[0])
    assert np.array_equal(calm.contact_impulse[:4], wild.contact_impulse[:4])


@pytest.mark.parametrize("jointed", [False, True])
def test_cone_law_and_lagged_radius_agree(jointed):
    # Two boxes, stacked, that slide at different speeds: one answer, whichever law Newton ends with.  An island goes
    # over to cones when Newton hits its limit, which here is 2; no Gauss-Seidel helps.  A joint that keeps the upper
    # box from going sideways, where it would not go, changes nothing.
    velocity = np.zeros((2, 6))
    velocity[:, 0] = 0.5, 2.0
    problem = stacked([3.0, 1.0], velocity, friction=0.4)
    if jointed:
        problem.joints = JointRows.of(1)
        problem.joints.coordinate[:] = Coordinate.LINEAR
        problem.joints.body_a[:], problem.joints.body_b[:] = 2, 1
        problem.joints.axis_a[:] = 0.0, 1.0, 0.0
    expected = solve(problem, tolerance=1e-9)
    other = ProximalSolver("cpu", "float64")
    other._limits.inner, other._limits.outer, other._limits.cone_late = 2, 100, 1000
    found, _ = other.solve(problem, options(problem, tolerance=1e-9, sweeps=False))
    judged(problem, found)
    assert other.problem.islands.law.numpy()[0] == 1
    np.testing.assert_allclose(found.velocity[:2, 0], expected.velocity[:2, 0], atol=1e-6)
    # The upper box brakes with mu g; the lower gains from the upper and loses on the floor.
    assert found.velocity[1, 0] == pytest.approx(2.0 - 0.4 * G * H, abs=1e-5)
    assert found.velocity[0, 0] == pytest.approx(0.5 + (0.4 * 1.0 - 0.4 * 4.0) / 3.0 * G * H, abs=1e-5)
