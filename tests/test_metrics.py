# SPDX-License-Identifier: GPL-3.0-or-later
"""The judge of a step: exact steps have no residual; each kind of error shows in its own residual at its own size."""

import numpy as np
import pytest
from axion.solver import metrics
from axion.solver.problem import Bodies, Contacts, Coordinate, JointRows, StepProblem, StepSolution
from axion.solver.reference.arcs import arcs
from axion.solver.reference.rotation import exponential, halfway, multiply, rotate, world_inertia
from axion.solver.reference.rows import coordinates, jacobians, mean_jacobians
from axion.solver.topology import build_topology

H, G = 0.02, 9.81
IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])


def free_bodies(mass, inertia, position, orientation, velocity, dynamic_count):
    """Bodies after a step of free motion under gravity, without gyroscopic terms (the judge takes any free motion)."""
    mass, inertia, velocity = np.array(mass, float), np.array(inertia, float), np.array(velocity, float)
    position, orientation = np.array(position, float), np.array(orientation, float)
    free = velocity.copy()
    free[:dynamic_count, 2] -= H * G
    return Bodies(
        dynamic_count, mass, inertia, position, orientation, velocity,
        position + H * free[:, :3], multiply(exponential(H * free[:, 3:]), orientation), free, np.zeros(len(mass)),
    )  # fmt: skip


def moved(problem, velocity, contact_impulse=None, joint_impulse=None):
    """The solution whose pose follows from its velocity."""
    bodies, change = problem.bodies, problem.step * (velocity - problem.bodies.free_velocity)
    return StepSolution(
        velocity,
        bodies.free_position + change[:, :3],
        multiply(exponential(change[:, 3:]), bodies.free_orientation),
        np.zeros((len(problem.contacts), 3)) if contact_impulse is None else np.array(contact_impulse, float),
        np.zeros(len(problem.joints)) if joint_impulse is None else np.array(joint_impulse, float),
    )


MASS, SIZE, MU = 3.0, 0.4, 0.5
INERTIA = np.full(3, MASS * SIZE**2 / 6)


def box_on_ground(velocity=(0, 0, 0, 0, 0, 0), height=SIZE / 2):
    """A cube of edge SIZE over the plane z = 0 of immovable body 1, with four contacts at its lower corners."""
    bodies = free_bodies(
        [MASS, np.inf], [INERTIA, [np.inf] * 3], [[0, 0, height], [0, 0, 0]], [IDENTITY] * 2, [velocity, [0] * 6], 1
    )
    corners = SIZE / 2 * np.array([[1, 1, -1], [1, -1, -1], [-1, 1, -1], [-1, -1, -1]])
    below = corners * (1, 1, 0)
    contacts = Contacts(
        np.zeros(4, int), np.ones(4, int), corners, below, np.zeros(4), np.zeros(4),
        np.tile([0, 0, 1.0], (4, 1)), np.full(4, MU), np.zeros(4), np.zeros((4, 3)),
    )  # fmt: skip
    return StepProblem(H, bodies, contacts)


def weight_of_a_contact():
    """w: mean over n, t1, t2 of 1/m + (r x e).I^-1 (r x e), r a corner: |r|^2 summed over three axes is 2 |r|^2."""
    return 1 / MASS + 2 * (3 * (SIZE / 2) ** 2) / 3 / INERTIA[0]


SUPPORT = MASS * G * H / 4


def all_maxima(residuals):
    return [value for value in vars(residuals).values() if isinstance(value, float)]


def test_free_flight_has_no_residual():
    problem = box_on_ground(velocity=(1, -2, 3, 4, -5, 6), height=5.0)
    residuals = metrics.step_residuals(problem, moved(problem, problem.bodies.free_velocity))
    assert max(all_maxima(residuals)) < 1e-14


def test_box_at_rest_has_no_residual():
    # Equilibrium: the four normal impulses carry m g h together.
    problem = box_on_ground()
    residuals = metrics.step_residuals(problem, moved(problem, np.zeros((2, 6)), [[SUPPORT, 0, 0]] * 4))
    assert max(all_maxima(residuals)) < 1e-14


def test_missing_support_shows_in_momentum():
    # Three of four supports: M dv = p/4 missing, with its moment about the centre scaled by the radius of gyration.
    problem = box_on_ground()
    solution = moved(problem, np.zeros((2, 6)), [[SUPPORT, 0, 0]] * 3 + [[0, 0, 0]])
    residuals = metrics.step_residuals(problem, solution)
    lever = np.hypot(SIZE / 2, SIZE / 2)
    gyration = np.sqrt(INERTIA[0] / MASS)
    expected = np.hypot(SUPPORT / MASS, gyration * SUPPORT * lever / INERTIA[0])
    assert residuals.momentum_residual == pytest.approx(expected, rel=1e-12)
    assert residuals.body_momentum[1] == 0.0
    assert metrics.body_residuals(problem, residuals).argmax() == 0


def test_overlap_and_separation_show_in_the_gap():
    problem = box_on_ground()
    sunk = np.zeros((2, 6))
    sunk[0, 2] = -1e-3 / H
    residuals = metrics.step_residuals(problem, moved(problem, sunk, [[SUPPORT, 0, 0]] * 4))
    assert residuals.penetration == pytest.approx(1e-3)
    assert residuals.gap_residual == pytest.approx(1e-3)
    # Pushed at a distance: the smaller of the gap and of h w p_n.
    lifted = moved(problem, -sunk, [[SUPPORT, 0, 0]] * 4)
    residuals = metrics.step_residuals(problem, lifted)
    assert residuals.penetration == 0.0
    assert residuals.gap_residual == pytest.approx(min(1e-3, H * weight_of_a_contact() * SUPPORT))
    # Pulling is never allowed, whatever the gap.
    lifted.contact_impulse = -lifted.contact_impulse
    residuals = metrics.step_residuals(problem, lifted)
    assert residuals.gap_residual == pytest.approx(H * weight_of_a_contact() * SUPPORT)


def test_overlap_at_the_start_may_leave_at_the_push_out_speed():
    # 0.1 m deep, 3 m/s for 0.02 s: 0.04 m of overlap may stay, and is still told as penetration.
    problem = box_on_ground(height=SIZE / 2 - 0.1)
    rising = np.zeros((2, 6))
    rising[0, 2] = 3.0
    p = (MASS * 3.0 + MASS * G * H) / 4
    residuals = metrics.step_residuals(problem, moved(problem, rising, [[p, 0, 0]] * 4))
    assert residuals.gap_residual < 1e-14
    assert residuals.penetration == pytest.approx(0.04)


def sliding(friction_share, speed=1.0):
    """Box that slides along +x at its end velocity; friction opposes with ``friction_share`` of mu p_n.

    Friction acts at the ground, so its moment moves the support forward: with corners at +-s and height s above ground,
    m g h mu s = 2 s (front - back) pairs.
    """
    force = friction_share * MU * SUPPORT * 4
    problem = box_on_ground(velocity=(speed + force / MASS, 0, 0, 0, 0, 0))
    velocity = np.zeros((2, 6))
    velocity[0, 0] = speed
    shift = force / 4
    normal = np.array([SUPPORT + shift, SUPPORT + shift, SUPPORT - shift, SUPPORT - shift])
    impulse = np.zeros((4, 3))
    impulse[:, 0] = normal
    impulse[:, 1] = -friction_share * MU * normal  # t1 = +x for n = +z
    return problem, moved(problem, velocity, impulse)


def test_sliding_friction_at_its_limit_has_no_residual():
    problem, solution = sliding(1.0)
    residuals = metrics.step_residuals(problem, solution)
    assert max(all_maxima(residuals)) < 1e-14


def test_friction_that_does_not_oppose_sliding_with_all_it_has():
    # Half the friction while sliding at v = 1 m/s: |w p_t - P(w p_t - v)| = min(v, w mu p_n / 2); the dissipation
    # lacks mu p_n v / 2.
    problem, solution = sliding(0.5)
    residuals = metrics.step_residuals(problem, solution)
    w, normal = weight_of_a_contact(), solution.contact_impulse[:, 0]
    assert residuals.momentum_residual < 1e-14
    assert residuals.cone_violation == 0.0
    assert residuals.contact_friction == pytest.approx(np.minimum(1.0, w * MU * normal / 2))
    assert residuals.contact_dissipation == pytest.approx(MU * normal / 2)


def test_slip_against_a_running_surface_counts():
    # The box slides along +x at v under friction that opposes v.  A belt that runs with it leaves no slip, so the same
    # impulse must not be there; one that is faster wants friction forwards, the opposite of what there is.
    problem, solution = sliding(1.0)
    speed = solution.velocity[0, 0]
    for belt, right in ((0.5 * speed, True), (1.5 * speed, False)):
        problem.contacts.surface_velocity = np.tile((-belt, 0.0, 0.3), (4, 1))  # of the box relative to the belt
        residuals = metrics.step_residuals(problem, solution)
        assert (residuals.friction_residual < 1e-9) is right
        assert (residuals.dissipation_residual < 1e-9) is right


def test_friction_outside_its_cone():
    problem, solution = sliding(1.3)
    residuals = metrics.step_residuals(problem, solution)
    normal = solution.contact_impulse[:, 0]
    assert residuals.contact_cone == pytest.approx(0.3 * MU * normal)
    assert residuals.contact_friction == pytest.approx(weight_of_a_contact() * 0.3 * MU * normal)


def test_creep_under_a_sticking_impulse():
    # Friction inside its cone demands v_t = 0: what slides at 1 mm/s is wrong by 1 mm/s.
    problem, solution = sliding(0.5, speed=1e-3)
    assert metrics.step_residuals(problem, solution).friction_residual == pytest.approx(1e-3, rel=1e-9)


def test_a_pose_that_does_not_follow_from_the_velocity():
    problem = box_on_ground(height=5.0)
    solution = moved(problem, problem.bodies.free_velocity)
    solution.position[0, 1] += 2e-3
    solution.orientation[0] = multiply(exponential(np.array([0, 3e-3, 0])), solution.orientation[0])
    residuals = metrics.step_residuals(problem, solution)
    assert residuals.kinematic_residual == pytest.approx(2e-3)
    assert residuals.kinematic_residual_angle == pytest.approx(3e-3)


def test_nan_is_not_hidden():
    problem = box_on_ground()
    solution = moved(problem, np.zeros((2, 6)), [[SUPPORT, 0, 0]] * 4)
    solution.velocity[0, 0] = np.nan
    assert np.isnan(metrics.step_residuals(problem, solution).momentum_residual)


def pendulum(kinds, midpoint, compliance=0.0, seed=3):
    """Body 0 hangs from body 1 (dynamic) and body 2 (immovable) by one row of every kind, all turning fast."""
    rng = np.random.default_rng(seed)
    orientation = exponential(rng.normal(size=(3, 3)))
    velocity = rng.normal(size=(3, 6))
    velocity[2] = 0
    bodies = free_bodies(
        [2.0, 3.0, np.inf],
        [[0.3, 0.4, 0.5], [0.2, 0.6, 0.7], [np.inf] * 3],
        rng.normal(size=(3, 3)),
        orientation,
        velocity,
        2,
    )
    bodies.midpoint[:] = midpoint
    rows = JointRows.of(len(kinds))
    rows.coordinate[:] = kinds
    rows.body_a[:] = np.arange(len(kinds)) % 2 + 1
    rows.anchor_a, rows.anchor_b = rng.normal(size=(2, len(kinds), 3))
    rows.axis_a, rows.axis_b = (
        v / np.linalg.norm(v, axis=1, keepdims=True) for v in rng.normal(size=(2, len(kinds), 3))
    )
    rows.compliance[:] = compliance
    rows.offset = coordinates(rows, bodies.position, orientation) + 0.002
    return StepProblem(H, bodies, joints=rows)


def solve_joints(problem, directions):
    """Plain Newton on c(q+) + h compliance p = 0 with the force along ``directions`` of a solution: J_a, J_b, and what
    that bends ways by.
    """
    bodies, rows = problem.bodies, problem.joints
    n = bodies.dynamic_count
    inverse = np.zeros((len(bodies.mass), 6, 6))
    for i in range(n):
        inverse[i, :3, :3] = np.eye(3) / bodies.mass[i]
        inverse[i, 3:, 3:] = np.linalg.inv(world_inertia(bodies.free_orientation[i], bodies.inertia[i]))
    p, solution = np.zeros(len(rows)), moved(problem, bodies.free_velocity)

    def dense(j_a, j_b):
        full = np.zeros((len(rows), len(bodies.mass), 6))
        full[np.arange(len(rows)), rows.body_a] += j_a
        full[np.arange(len(rows)), rows.body_b] += j_b
        return full

    for _ in range(60):
        force = dense(*directions(solution))
        bent = arcs(problem, solution.position, solution.orientation, p, build_topology(problem))[0]
        velocity = bodies.free_velocity + bent + np.einsum("bij,rbj,r->bi", inverse, force, p)
        solution = moved(problem, velocity, joint_impulse=p)
        error = coordinates(rows, solution.position, solution.orientation) + H * rows.compliance * p
        slope = np.einsum("rbi,bij,sbj->rs", dense(*at_end(problem)(solution)), inverse, force)
        p = p - np.linalg.solve(H * (slope + np.diag(rows.compliance)), error)
    return solution


EVERY_KIND = [Coordinate.LINEAR, Coordinate.DOT, Coordinate.DISTANCE, Coordinate.TWIST, Coordinate.LINEAR]


def at_end(problem):
    return lambda end: jacobians(problem.joints, end.position, end.orientation)


def in_mid_step(problem):
    start = problem.bodies.position, problem.bodies.orientation
    return lambda end: mean_jacobians(problem.joints, start, (end.position, end.orientation))


@pytest.mark.parametrize("compliance", [0.0, 0.05])
@pytest.mark.parametrize(("midpoint", "own", "other"), [(0, at_end, in_mid_step), (1, in_mid_step, at_end)])
def test_joint_step_solved_exactly_has_no_residual(compliance, midpoint, own, other):
    problem = pendulum(EVERY_KIND, midpoint, compliance)
    residuals = metrics.step_residuals(problem, solve_joints(problem, own(problem)))
    assert max(all_maxima(residuals)) < 1e-11
    # The direction of the joint force is part of the law: the other choice does not pass.
    wrong = metrics.step_residuals(problem, solve_joints(problem, other(problem)))
    assert wrong.momentum_residual > 1e-6


def test_joint_error_in_its_own_unit():
    problem = pendulum(EVERY_KIND, 0)
    solution = solve_joints(problem, at_end(problem))
    problem.joints.target[0] += 1e-3
    problem.joints.target[3] -= 2e-3
    residuals = metrics.step_residuals(problem, solution)
    assert residuals.joint_error == pytest.approx(1e-3, rel=1e-6)
    assert residuals.joint_error_angle == pytest.approx(2e-3, rel=1e-6)


def slider(**row):
    """A 3 kg body at x = 0.1 m on a LINEAR row along x from immovable body 1, no gravity along x."""
    bodies = free_bodies([MASS, np.inf], [INERTIA, [np.inf] * 3], np.zeros((2, 3)), [IDENTITY] * 2, np.zeros((2, 6)), 1)
    bodies.free_velocity[:], bodies.free_position[:] = 0, 0
    rows = JointRows.of(1)
    rows.body_a[:], rows.body_b[:], rows.axis_a[:] = 1, 0, (1, 0, 0)
    for name, value in row.items():
        getattr(rows, name)[:] = value
    return StepProblem(H, bodies, joints=rows)


def pushed(problem, impulse):
    """End state after an impulse along the row."""
    velocity = np.zeros((2, 6))
    velocity[0, 0] = impulse / MASS
    return moved(problem, velocity, joint_impulse=[impulse])


def test_limit_row_is_judged_as_complementarity():
    limit = {"lower": 0.0}
    # c = 1 mm inside its range, no impulse: fine.  1 mm beyond, no impulse: wrong by 1 mm.
    for gap, error in ((1e-3, 0.0), (-1e-3, 1e-3)):
        problem = slider(offset=-gap, **limit)
        assert metrics.step_residuals(problem, pushed(problem, 0.0)).joint_error == pytest.approx(error)
    # Pushing while 1 m away from the limit: wrong by the h w p that should not be there.
    problem = slider(offset=-1.0, **limit)
    assert metrics.step_residuals(problem, pushed(problem, 0.03)).joint_error == pytest.approx(H * 0.03 / MASS)
    # Exactly brought back to the limit: fine.
    problem = slider(offset=1e-3, **limit)
    assert metrics.step_residuals(problem, pushed(problem, MASS * 1e-3 / H)).joint_error < 1e-15


def test_velocity_drive_with_a_force_limit():
    # Rigid drive to 1 m/s: right with v = 1; or with v < 1 when it pushes with all it has.
    drive = {"beta": 0.0, "target_velocity": 1.0, "upper": 2.0, "lower": -2.0}
    problem = slider(**drive)
    assert metrics.step_residuals(problem, pushed(problem, 2.0)).joint_error < 1e-15
    lazy = metrics.step_residuals(problem, pushed(problem, 1.5)).joint_error
    assert lazy == pytest.approx(H * 0.5 / MASS)  # 0.5 N s more were allowed, and wanted
    problem.joints.upper[:] = 10.0
    assert metrics.step_residuals(problem, pushed(problem, MASS * 1.0)).joint_error < 1e-15


def test_implicit_spring_and_damper():
    # p = -h (k c(q+) + d v(q+)): the row form is beta = h k / (h k + d), compliance = 1 / (h^2 k + h d).
    k, d, stretch = 200.0, 7.0, 0.3
    spring = {"beta": H * k / (H * k + d), "compliance": 1 / (H * H * k + H * d), "offset": -stretch}
    problem = slider(**spring)
    velocity = -H * k * stretch / (MASS + H * H * k + H * d)
    assert metrics.step_residuals(problem, pushed(problem, MASS * velocity)).joint_error < 1e-15
    wrong = metrics.step_residuals(problem, pushed(problem, 0.9 * MASS * velocity)).joint_error
    assert wrong == pytest.approx(H * 0.1 * -velocity, rel=1e-9)  # the tenth of the impulse that is missing, as motion


@pytest.mark.parametrize(
    ("a", "b", "solved"), [(0, 3, True), (2, 0, True), (0, 0, True), (1, 1, False), (-1, 5, False)]
)
def test_complementarity_functions_vanish_on_the_same_set(a, b, solved):
    assert (abs(metrics.fischer_burmeister(a, b)) < 1e-15) == solved
    assert (metrics.natural_map(a, b) == 0) == solved


def test_energy_and_momentum_of_a_turning_dumbbell():
    # Two point-like 2 kg bodies 1 m from the origin, turning about z at 3 rad/s, seen from a carrier moving at V.
    w, carrier = 3.0, np.array([0.5, -1.0, 2.0])
    mass, inertia = np.array([2.0, 2.0, np.inf]), np.array([[0.1, 0.2, 0.3]] * 2 + [[np.inf] * 3])
    orientation = np.array([exponential(np.array([np.pi / 2, 0, 0])), IDENTITY, IDENTITY])
    position = np.array([[1.0, 0, 0], [-1.0, 0, 0], [9, 9, 9]])
    velocity = np.array([[0, w, 0, 0, 0, w], [0, -w, 0, 0, 0, w], [5, 5, 5, 5, 5, 5]])
    velocity[:2, :3] += carrier
    moment = 0.2 + 0.3  # body 0 lies on its side: its y axis is the world's z axis
    energy = 2 * (0.5 * 2.0 * w * w) + 0.5 * moment * w * w + 0.5 * 4.0 * carrier @ carrier
    assert metrics.kinetic_energy(mass, inertia, orientation, velocity) == pytest.approx(energy)
    assert metrics.linear_momentum(mass, velocity) == pytest.approx(4.0 * carrier)
    spin = np.array([0, 0, 2 * 2.0 * w + moment * w])
    assert metrics.angular_momentum(mass, inertia, orientation, velocity, position) == pytest.approx(spin)
    about = np.array([1.0, 2.0, 3.0])
    moved_spin = metrics.angular_momentum(mass, inertia, orientation, velocity, position, about)
    assert moved_spin == pytest.approx(spin - np.cross(about, 4.0 * carrier))  # Koenig
    assert metrics.potential_energy(mass, position + np.array([0, 0, 2.5]), (0, 0, -G)) == pytest.approx(4.0 * G * 2.5)


def test_gauss_deviation_is_the_work_free_measure_of_constraint():
    # A held body: a - a_free = g upward, so the deviation is m g^2 / 2.
    free = np.array([[0, 0, -G * H, 0, 0, 0]])
    got = metrics.gauss_deviation([MASS], [INERTIA], [IDENTITY], np.zeros((1, 6)), free, H)
    assert got == pytest.approx(MASS * G * G / 2)


def test_halfway_of_opposite_signs_is_the_shorter_way():
    # The middle pose the judge uses does not depend on the sign of either quaternion.
    p, q = exponential(np.array([[0.3, 0, 0], [0.5, 0, 0]]))
    assert rotate(halfway(p, -q), [0, 1.0, 0]) == pytest.approx([0, np.cos(0.4), np.sin(0.4)])
