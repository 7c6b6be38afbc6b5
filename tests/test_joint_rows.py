# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints as rows (constraints/rows.py): how many, what they hold, zero at the start, and the numbers they carry."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, Scene, rotations
from axion.solver.constraints.rows import JointTable
from axion.solver.frames import body_frames
from axion.solver.joint_types import ANGULAR, AXES, JOINT_TYPES, LINEAR
from axion.solver.problem import Coordinate
from axion.solver.reference.row_laws import RESOLVED
from axion.solver.reference.rows import coordinates, jacobians
from step_problems import unit

H = 0.02
FRAMED = [name for name, kind in JOINT_TYPES.items() if not kind.anchors]


def scene_with(joint, seed=0):
    """Two boxes with centres of mass and axes off their origins, and one joint."""
    rng = np.random.default_rng(seed)
    scene = Scene()
    for name in ("A", "B"):
        spread = rng.normal(size=(4, 3))
        tensor = np.trace(spread.T @ spread) * np.eye(3) - spread.T @ spread
        scene.add(
            Body(
                name, [Box((0.3, 0.2, 0.1))], position=rng.normal(size=3), orientation=unit(rng, 1, 4)[0], mass=2.0,
                center_of_mass=0.1 * rng.normal(size=3), inertia=tensor,
            )
        )  # fmt: skip
    scene.add(joint)
    scene.check()
    return scene


def table_of(joint, seed=0):
    scene = scene_with(joint, seed)
    return scene, JointTable(scene, body_frames(scene))


def rows_of(joint, time=H, step=H, midpoint=0.0):
    _, table = table_of(joint)
    rows, _, rate, _ = table.rows(time, step, np.full(1, midpoint))
    return rows, rate


def start_poses(scene):
    """Solver poses of the bodies and the world at the start."""
    position = np.array([body.position for body in scene.bodies])
    orientation = np.array([body.orientation for body in scene.bodies])
    x, q = body_frames(scene).to_solver(position, orientation)
    return np.vstack([x, np.zeros(3)]), np.vstack([q, rotations.IDENTITY])


def framed(kind, body_a="A", seed=0, **options):
    rng = np.random.default_rng(100 + seed)
    return Joint("J", kind, body_a, "B", rng.normal(size=3), unit(rng, 1, 4)[0], **options)


@pytest.mark.parametrize("kind", FRAMED)
@pytest.mark.parametrize("body_a", ["A", None])
@pytest.mark.parametrize("seed", range(3))
def test_locked_rows_are_zero_at_the_start_and_span_what_is_locked(kind, body_a, seed):
    # The locked Jacobian must forbid exactly the relative motions of the locked axes, and allow the free ones.
    joint = framed(kind, body_a, seed)
    scene, table = table_of(joint, seed)
    rows, _, _, _ = table.rows(H, H, np.zeros(1))
    pose = start_poses(scene)
    assert len(rows) == len(JOINT_TYPES[kind].locked)
    assert coordinates(rows, *pose) == pytest.approx(np.zeros(len(rows)), abs=1e-14)
    _, j_b = jacobians(rows, *pose)
    basis = rotations.matrices(joint.orientation).T
    arm = joint.position - pose[0][1]  # from B's centre of mass
    for k, name in enumerate(AXES):
        # B moves along or turns about the joint's axis through its frame, A stands still
        if k < 3:
            u = np.append(basis[k], np.zeros(3))
        else:
            u = np.append(-np.cross(basis[k - 3], arm), basis[k - 3])
        moved = np.abs(j_b @ u).max(initial=0.0)
        if name in JOINT_TYPES[kind].locked:
            assert moved == pytest.approx(1.0, abs=1e-12)
        else:
            assert moved < 1e-13
    assert np.linalg.matrix_rank(j_b) == len(rows) if len(rows) else True


@pytest.mark.parametrize("locks", ["rx", "ry", "rz", "rx ry", "rx rz", "ry rz", "rx ry rz"])
def test_locked_angles_stay_independent_of_the_free_ones_far_from_the_start(locks):
    # A turn about one free axis leaves the locked rows at zero and independent of each other.
    joint = framed("generic", axes={name: Axis(locked=True) for name in locks.split()})
    scene, table = table_of(joint)
    rows, _, _, _ = table.rows(H, H, np.zeros(1))
    position, orientation = start_poses(scene)
    basis = rotations.matrices(joint.orientation).T
    free = [k for k, name in enumerate(ANGULAR) if name not in locks.split()]
    for k in free:
        for angle in (-2.5, -1.0, 0.3, 1.5, 3.0):
            turned = orientation.copy()
            turned[1] = rotations.multiply(rotations.exponential(angle * basis[k]), orientation[1])
            assert np.abs(coordinates(rows, position, turned)).max() < 1e-13
            assert np.linalg.matrix_rank(jacobians(rows, position, turned)[1], tol=0.05) == len(rows)


def force(rows, k, c, speed, midpoint):
    """Force [N, N m] row k exerts at the step's end coordinate c, moving at ``speed`` (the mean, or the end's)."""
    v = rows.beta[k] * (c - rows.target[k]) / H + (1 - rows.beta[k]) * speed - rows.target_velocity[k]
    return (1 + midpoint) * -v / rows.compliance[k] / H


@pytest.mark.parametrize("midpoint", [0.0, 1.0])
def test_locked_compliance_is_a_spring(midpoint):
    # Force -c / compliance at the end of the step, or at its mean coordinate where steps find their mean velocity.
    options = {"compliance": 1e-4, "angular_compliance": 2e-3}
    rows, rate = rows_of(framed("fixed", **options), midpoint=midpoint)
    c, speed = 0.01, 0.3
    mean = c - 0.5 * H * speed * midpoint
    for k in range(6):
        soft = options["compliance" if rows.coordinate[k] == Coordinate.LINEAR else "angular_compliance"]
        assert force(rows, k, c, speed, midpoint) == pytest.approx(-mean / soft)
    assert np.isnan(rate).all() and np.isinf(rows.lower).all() and np.isinf(rows.upper).all()


def test_compliance_too_stiff_for_the_step_gives_way_at_its_end_and_ends_at_rest():
    # (omega h)^2 = h^2 mobility / compliance > RESOLVED: c+ = -compliance force, and the velocity phase is told.
    _, table = table_of(framed("ball", compliance=1e-6))
    table.start.mobility[:] = [0.9 * RESOLVED * 1e-6 / H**2, 1.1 * RESOLVED * 1e-6 / H**2, 1e9]
    rows, _, rate, _ = table.rows(H, H, np.ones(1))
    assert np.isnan(rate).tolist() == [True, False, False]
    for k in (1, 2):
        assert force(rows, k, 0.01, 0.3, 1.0) == pytest.approx(-0.01 / 1e-6)


def test_row_knows_its_speed_and_how_easily_it_moves():
    # J u and J M^-1 J^T from the definition, both bodies turned and moving.
    soft = {"compliance": 1e-4, "angular_compliance": 1e-3, "axes": {"rz": Axis(stiffness=2.0)}}
    scene, table = table_of(framed("hinge", **soft))
    frames, (position, orientation) = body_frames(scene), start_poses(scene)
    rng = np.random.default_rng(5)
    velocity = rng.normal(size=(2, 6))
    table.observe(position[:2], orientation[:2], velocity)
    j_a, j_b = jacobians(table.fixed, position, orientation)
    assert table.start.speed == pytest.approx(j_a @ velocity[0] + j_b @ velocity[1])
    want = np.zeros(len(table.fixed))
    for body, side in enumerate((j_a, j_b)):
        axes = rotations.matrices(orientation[body])
        inverse = np.zeros((6, 6))
        inverse[:3, :3] = np.eye(3) / frames.mass[body]
        inverse[3:, 3:] = axes @ np.diag(1.0 / frames.inertia[body]) @ axes.T
        want += np.einsum("ri,ij,rj->r", side, inverse, side)
    assert table.start.mobility == pytest.approx(want)


@pytest.mark.parametrize("decay", [1e-4, 0.3, 2.0, 100.0, 1e5])
@pytest.mark.parametrize("drive", [None, "velocity", "position"])
def test_damper_is_fitted_to_the_exponential(decay, drive):
    # m v' = d (target - v) over a step that finds its mean velocity: the way is that of v = target + exp(-d t / m)
    # (v - target), and what the end adds to the impulses of the way, which count twice, leaves its end.
    m, speed, target = 2.0, 1.5, 0.0 if drive is None else 0.7
    damping, options = decay * m / H, {}
    if drive is not None:
        options = {"drive": drive, "target": target if drive == "velocity" else ([0.0, 1.0], [0.0, target])}
    if drive == "position":
        options["stiffness"] = 1e-9  # a position drive without stiffness is rigid
    _, table = table_of(framed("slider", axes={"x": Axis(damping=damping, **options)}))
    k = int(np.nonzero([ask.axis.damping > 0.0 for ask in table._asks])[0][0])
    table.start.speed[k], table.start.mobility[k] = speed, 1.0 / m
    rows, _, _, end = table.rows(H, H, np.ones(1))
    # mean velocity = speed + h force / 2 m, the force that of this very velocity
    slope = force(rows, k, 0.0, 1.0, 1.0) - force(rows, k, 0.0, 0.0, 1.0)
    mean = (speed + 0.5 * H / m * force(rows, k, 0.0, 0.0, 1.0)) / (1.0 - 0.5 * H / m * slope)
    assert mean == pytest.approx(target - np.expm1(-decay) / decay * (speed - target), abs=1e-9)
    used = 2.0 * m * (mean - speed)  # of P; the end velocity v: m (v - speed) = P, v + E (P - used) = wanted
    wanted, soft = (values[k] for values in end.rest(np.full(len(rows), used), np.zeros(len(rows))))
    at_end = (wanted + soft * (used + m * speed)) / (1.0 + soft * m)
    assert at_end == pytest.approx(target + np.exp(-decay) * (speed - target), abs=1e-8)


@pytest.mark.parametrize("name", AXES)
def test_limits_are_one_sided_rows(name):
    rows, _ = rows_of(framed("generic", axes={name: Axis(lower=-0.3, upper=0.7)}))
    assert rows.target.tolist() == [-0.3, 0.7]
    assert rows.lower.tolist() == [0.0, -np.inf] and rows.upper.tolist() == [np.inf, 0.0]
    assert set(rows.coordinate) == {Coordinate.LINEAR if name in LINEAR else Coordinate.TWIST}


@pytest.mark.parametrize("turns", [0.0, 3.0])
@pytest.mark.parametrize("name", ["x", "rz"])
def test_limits_far_off_stand_on_the_way_back(name, turns):
    # By 3 m/s, 3 rad/s, from the coordinate with all its turns; what lies off by less than a tenth of that is there.
    most, angle = 3.0 * H, 2.0 * np.pi * turns * (name == "rz")
    for place, wanted, back in ((-1.0, -1.0 + most, True), (0.5 - 0.09 * most, 0.5, False), (0.9, 0.5, False)):
        _, table = table_of(framed("generic", axes={name: Axis(lower=angle + 0.5, upper=angle + 2.0)}))
        table.start.place[:], table.angle[:] = place, angle + place
        rows, _, _, _ = table.rows(H, H, np.zeros(1))
        shift = table.angle if name == "rz" else 0.0  # rows of turns are measured from where they are
        assert rows.target + shift == pytest.approx([angle + wanted, angle + 2.0])
        assert table.passed(H).tolist() == [back]


def test_spring_row_is_the_implicit_spring_damper():
    # v = beta (c+ - rest) / h + (1 - beta) c', p = -v / E  ==>  p / h = -k (c+ - rest) - d c'.
    k, d, rest = 50.0, 3.0, 0.2
    rows, rate = rows_of(framed("generic", axes={"x": Axis(stiffness=k, damping=d, rest=rest)}))
    c, speed = 0.45, -1.3
    v = rows.beta[0] * (c - rows.target[0]) / H + (1 - rows.beta[0]) * speed - rows.target_velocity[0]
    assert -v / rows.compliance[0] / H == pytest.approx(-k * (c - rest) - d * speed)
    assert np.isnan(rate[0])


def test_damper_alone_is_a_row_of_velocity():
    rows, _ = rows_of(framed("generic", axes={"rz": Axis(damping=3.0)}))
    assert rows.beta.tolist() == [0.0]
    assert rows.compliance[0] == pytest.approx(1.0 / (H * 3.0))


def test_velocity_drive_pushes_with_its_gain_up_to_its_limit():
    # force = damping (target - c') at a steady speed, within max_force; rigid without damping.
    for midpoint in (0.0, 1.0):
        drive, speed = Axis(drive="velocity", target=2.0, damping=5.0, max_force=30.0), 0.5
        _, table = table_of(framed("hinge", axes={"rz": drive}))
        table.start.speed[:] = speed
        rows, _, rate, _ = table.rows(H, H, np.full(1, midpoint))
        k = len(rows) - 1
        v = rows.beta[k] * 0.0 + speed - rows.target_velocity[k]
        total = (1 + midpoint) * -v / rows.compliance[k] / H
        assert total == pytest.approx(5.0 * (2.0 - speed))
        assert (1 + midpoint) * rows.upper[k] / H == pytest.approx(30.0)
        assert rows.lower[k] == -rows.upper[k] and np.isnan(rate[k])
    rows, _ = rows_of(framed("slider", axes={"x": Axis(drive="velocity", target=1.0)}))
    assert rows.compliance[-1 if rows.beta[-1] == 0 else 0] == 0.0


def test_position_drive_follows_its_target_and_knows_its_speed():
    # Rigid: c+ = target(time).  With a spring: force = k (target - c) + d (target' - c').
    series = ([0.0, 1.0], [0.0, 0.6])
    rows, rate = rows_of(framed("slider", axes={"x": Axis(drive="position", target=series)}), time=0.5)
    k = int(np.nonzero(rate)[0][0])
    assert rows.beta[k] == 1.0 and rows.target[k] == pytest.approx(0.3) and rate[k] == pytest.approx(0.6)
    assert rows.compliance[k] == 0.0
    spring = Axis(drive="position", target=series, stiffness=40.0, damping=7.0)
    rows, rate = rows_of(framed("slider", axes={"x": spring}), time=0.5)
    k = int(np.nonzero(rate)[0][0])
    c, speed = 0.1, 0.2
    v = rows.beta[k] * (c - rows.target[k]) / H + (1 - rows.beta[k]) * speed - rows.target_velocity[k]
    assert -v / rows.compliance[k] / H == pytest.approx(40.0 * (0.3 - c) + 7.0 * (0.6 - speed))


def test_dry_friction_is_a_bounded_brake():
    rows, _ = rows_of(framed("hinge", axes={"rz": Axis(friction=4.0)}))
    k = int(np.nonzero(np.isfinite(rows.upper))[0][0])
    assert rows.beta[k] == 0.0 and rows.target_velocity[k] == 0.0
    assert rows.upper[k] == pytest.approx(4.0 * H) and rows.lower[k] == pytest.approx(-4.0 * H)


@pytest.mark.parametrize("kind", ["distance", "rope"])
@pytest.mark.parametrize("length", [None, 0.8])
def test_distance_holds_and_rope_only_pulls(kind, length):
    anchors = ((0.1, 0.2, 0.3), (1.0, -0.5, 0.7))
    joint = Joint("J", kind, "A", "B", anchors=anchors, length=length)
    scene, table = table_of(joint)
    rows, _, _, _ = table.rows(H, H, np.zeros(1))
    apart = np.linalg.norm(np.subtract(*anchors))
    assert rows.coordinate.tolist() == [Coordinate.DISTANCE]
    assert coordinates(rows, *start_poses(scene))[0] == pytest.approx(apart - (apart if length is None else length))
    # a positive impulse pushes apart, so a rope's is at most 0
    assert rows.upper[0] == (0.0 if kind == "rope" else np.inf) and rows.lower[0] == -np.inf


def test_turns_are_counted_through_the_offset():
    # A hinge limit at 3 turns: the row keeps its meaning when the table remembers an angle of 2.9 turns.
    joint = framed("hinge", axes={"rz": Axis(upper=6 * np.pi)})
    scene, table = table_of(joint)
    last = 5.8 * np.pi
    table.angle[:] = np.where(table.fixed.coordinate == Coordinate.TWIST, last, 0.0)
    rows, _, _, _ = table.rows(H, H, np.zeros(1))
    position, orientation = start_poses(scene)
    axis = rotations.rotate(joint.orientation, np.array([0.0, 0, 1]))
    for angle in (5.5 * np.pi, 6.3 * np.pi):
        turned = orientation.copy()
        turned[1] = rotations.multiply(rotations.exponential(angle * axis), orientation[1])
        k = int(np.nonzero(rows.coordinate == Coordinate.TWIST)[0][0])
        assert coordinates(rows, position, turned)[k] - rows.target[k] == pytest.approx(angle - 6 * np.pi, abs=1e-12)


def test_a_broken_joint_has_no_rows_and_forces_start_the_next_solve():
    joint = framed("ball")
    _, table = table_of(joint)
    table.force[:] = (1.0, 2.0, 3.0)
    rows, _, _, _ = table.rows(H, H, np.ones(1))
    assert rows.impulse == pytest.approx(np.array([1.0, 2.0, 3.0]) * H / 2.0)  # midpoint 1: counts twice
    table.alive[0] = False
    assert len(table.rows(H, H, np.zeros(1))[0]) == 0
