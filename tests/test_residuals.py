# SPDX-License-Identifier: GPL-3.0-or-later
"""The judge's kernels against metrics.py on problems of every kind, and how the impulses end a step."""

from dataclasses import fields

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, Plane, Scene, SolverConfig, Sphere, metrics, simulate
from axion.solver.problem import Coordinate, StepProblem, StepSolution, world_impulses
from axion.solver.reference.rotation import world_inertia
from axion.solver.reference.rows import coordinates, felt_directions, start_gaps
from axion.solver.residuals import Judge
from axion.solver.rotations import conjugate, rotate
from ended_steps import total_velocity
from judged_problems import any_solution, assembled, everything
from step_problems import bodies_of, contacts_of, options, solver

JUDGE = Judge("cpu")
TOLERANCE = 1e-4
ROUNDING = 1e-11  # of the largest value of its kind and of order one
CANCELLED = 1e-14  # of the largest product of an impulse and a velocity: such cancel in the dissipation [J]


def largest(values):
    return np.max(np.abs(values[np.isfinite(values)]), initial=0.0)


def assert_same(got, want, solution):
    """All fields of two residuals of a StepSolution."""
    work = largest(solution.contact_impulse) * largest(solution.velocity)
    for field in fields(want):
        a, b = np.asarray(getattr(got, field.name), float), np.asarray(getattr(want, field.name), float)
        scale = 1.0 + largest(b)
        np.testing.assert_allclose(a, b, rtol=0.0, atol=ROUNDING * scale + CANCELLED * work, err_msg=field.name)


def judged(problem, solution, seed=0, judge=JUDGE):
    return judge.step(assembled(problem, seed), solution, TOLERANCE)


SIZES = ({}, {"contacts": 0}, {"rows": 0}, {"dynamic": 30, "contacts": 90, "rows": 60}, {"dynamic": 1, "immovable": 1})


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_residuals_of_a_step_are_those_of_metrics(seed, sizes):
    problem = everything(seed, **sizes)
    for solution in (any_solution(problem, seed), solver().solve(problem, options(problem))[0]):
        got, want = judged(problem, solution), metrics.step_residuals(problem, solution)
        assert_same(got.residuals, want, solution)
        body = metrics.body_residuals(problem, want, penetration=False)
        np.testing.assert_allclose(got.body, body, atol=ROUNDING * (1.0 + body.max()))
        rows = problem.joints
        if len(rows):
            expected = coordinates(rows, solution.position, solution.orientation)
            np.testing.assert_allclose(got.coordinate, expected, atol=1e-12)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_residuals_of_the_velocity_phase_are_those_of_metrics(seed, sizes):
    problem = everything(seed, **sizes)
    bodies = problem.bodies
    bodies.free_position, bodies.free_orientation = bodies.position, bodies.orientation
    problem.contacts.rolls = None  # as ``contacts_at_end`` leaves them
    problem.joints.beta[:] = 0.0
    loaded = np.random.default_rng(seed).random(len(problem.contacts)) < 0.6
    solution = any_solution(problem, seed)
    got, body = JUDGE.end(problem, solution, loaded)
    want = metrics.velocity_residuals(problem, solution, loaded)
    assert_same(got, want, solution)
    np.testing.assert_allclose(body, want.of_bodies(problem), atol=1e-10 * (1.0 + body.max()))


FIELDS = ("velocity", "position", "orientation", "contact_impulse", "joint_impulse")


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("field", FIELDS)
def test_nan_comes_out_as_nan_where_metrics_has_it(field):
    problem = everything(1, dynamic=6, contacts=12, rows=9)
    bodies = problem.bodies
    for index in range(2):
        solution = any_solution(problem, 1)
        getattr(solution, field)[index] = np.nan
        got, want = judged(problem, solution), metrics.step_residuals(problem, solution)
        assert any(np.isnan(value) for value in vars(want).values() if isinstance(value, float))
        assert_same(got.residuals, want, solution)
        expected = metrics.body_residuals(problem, want, penetration=False)
        np.testing.assert_array_equal(np.isnan(got.body), np.isnan(expected))
        if field in ("position", "orientation"):
            continue
        flat, loaded = everything(1, dynamic=6, contacts=12, rows=9), np.ones(12, bool)
        flat.contacts.rolls = None
        flat.bodies.free_position, flat.bodies.free_orientation = bodies.position, bodies.orientation
        got, body = JUDGE.end(flat, solution, loaded)
        want = metrics.velocity_residuals(flat, solution, loaded)
        assert_same(got, want, solution)
        np.testing.assert_array_equal(np.isnan(body), np.isnan(want.of_bodies(flat)))


def test_what_was_judged_before_leaves_nothing_behind():
    small, large = everything(3), everything(5, dynamic=40, contacts=200, rows=120)
    first = Judge("cpu")
    alone = judged(small, any_solution(small, 3), judge=first)
    judged(large, any_solution(large, 5), judge=first)
    flat = everything(5, dynamic=40, contacts=200, rows=120)
    first.end(flat, any_solution(flat, 5), np.ones(200, bool))
    again = judged(small, any_solution(small, 3), judge=first)
    for field in fields(metrics.StepResiduals):
        np.testing.assert_array_equal(getattr(alone.residuals, field.name), getattr(again.residuals, field.name))
    np.testing.assert_array_equal(alone.velocity(np.ones(4, bool)), again.velocity(np.ones(4, bool)))


def test_results_outlive_the_next_step():
    problem = everything(1)
    first = judged(problem, any_solution(problem, 1))
    kept = first.body.copy(), first.residuals.contact_gap.copy(), first.velocity(np.ones(4, bool)).copy()
    judged(problem, any_solution(problem, 2))
    for a, b in zip((first.body, first.residuals.contact_gap, first.velocity(np.ones(4, bool))), kept, strict=True):
        np.testing.assert_array_equal(a, b)


def falling_scene(kind, axes):
    """Two boxes on a joint, with a limit or drive, that fall on others: rebounds, friction, overlap and joints."""
    scene = Scene()
    scene.add(Body("Ground", [Plane()], motion="static"))
    scene.add(Body("Low", [Box((0.3, 0.3, 0.1))], position=(0, 0, 0.09), surface_velocity=(0.2, 0, 0)))
    scene.add(Body("Ball", [Sphere(0.1)], position=(0.1, 0, 0.32), restitution=0.5, linear_velocity=(0, 0, -1)))
    for name, x in (("Left", -0.21), ("Right", 0.21)):
        scene.add(Body(name, [Box((0.2, 0.1, 0.1))], position=(x, 0, 0.62), angular_velocity=(0.3, 1.0, 0.2)))
    where = {"position": (0, 0, 0.62)}
    if kind in ("distance", "rope"):
        where = {"anchors": ((-0.21, 0, 0.62), (0.21, 0, 0.62))}
    scene.add(Joint("Held", kind, "Left", "Right", axes=axes, **where))
    return scene


KINDS = [
    ("fixed", {}), ("ball", {}), ("distance", {}), ("rope", {}), ("piston", {}),
    ("hinge", {"rz": Axis(lower=-0.2, upper=0.3)}), ("slider", {"x": Axis(stiffness=200.0, damping=3.0, friction=1.0)}),
    ("hinge", {"rz": Axis(drive="velocity", target=2.0, damping=5.0, max_force=3.0)}),
    ("generic", {"x": Axis(drive="position", target=0.1, stiffness=400.0, damping=20.0), "ry": Axis(locked=True)}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "axes"), KINDS)
def test_every_step_of_a_bake_is_judged_as_by_metrics(kind, axes, monkeypatch):
    step, end, seen = Judge.step, Judge.end, {"step": 0, "end": 0}

    def compared_step(self, assembly, solution, tolerance):
        got = step(self, assembly, solution, tolerance)
        assert_same(got.residuals, metrics.step_residuals(assembly.problem, solution), solution)
        np.testing.assert_array_equal(got.gained, gained(assembly, solution, tolerance))
        np.testing.assert_array_equal(got.need, needs_velocity_phase(assembly, solution, tolerance))
        others = needs_velocity_phase(assembly, solution, tolerance, struck=False)
        np.testing.assert_array_equal(got.lands, got.need & ~others)
        assert_same_work(got, assembly, solution, tolerance)
        seen["step"] += 1
        return got

    def compared_end(self, problem, solution, loaded):
        got = end(self, problem, solution, loaded)
        assert_same(got[0], metrics.velocity_residuals(problem, solution, loaded), solution)
        seen["end"] += 1
        return got

    monkeypatch.setattr(Judge, "step", compared_step)
    monkeypatch.setattr(Judge, "end", compared_end)
    simulate(falling_scene(kind, axes), 6, config=SolverConfig(device="cpu"))
    assert seen["step"] >= 6 and seen["end"] >= 6


# What the end of a step asks, in NumPy


def gained(assembly, solution, tolerance):
    """(n,) bool: bodies of islands that contacts and rigid joints, which only take energy, gave a quarter more."""
    problem = assembly.problem
    bodies, contacts, n = problem.bodies, problem.contacts, problem.bodies.dynamic_count
    if not len(contacts):
        return np.zeros(n, bool)
    moved, pulled = givers(assembly, solution, tolerance)
    out = np.zeros(n, bool)
    for k in np.unique(assembly.island):
        mine = np.flatnonzero(assembly.island == k)
        energy = [
            metrics.kinetic_energy(bodies.mass[mine], bodies.inertia[mine], bodies.free_orientation[mine], u[mine])
            for u in (bodies.free_velocity, solution.velocity)
        ]
        least = 0.5 * bodies.mass[mine].sum() * (10.0 * tolerance / problem.step) ** 2
        out[mine] = not (moved[k] or pulled[k]) and energy[1] > 1.25 * energy[0] + least
    return out


def givers(assembly, solution, tolerance):
    """(islands,) bool each: what is moved, or overlap, may give them energy where it pushes; joint rows may."""
    problem = assembly.problem
    bodies, contacts, rows, n = problem.bodies, problem.contacts, problem.joints, problem.bodies.dynamic_count
    moved = np.any(bodies.velocity != 0.0, axis=1)
    moved[:n] = False
    runs = 0.0 if contacts.surface_velocity is None else contacts.surface_velocity
    push = (start_gaps(problem) < -tolerance) | np.any(np.zeros((len(contacts), 3)) + runs != 0.0, axis=1)
    by_moved, by_rows = np.zeros((2, len(assembly.island_jointed)), bool)
    for k in np.unique(assembly.island):
        mine = np.flatnonzero(assembly.island == k)
        pushes, holds = solution.contact_impulse[:, 0] > 0.0, np.ones(len(rows), bool)
        for table, which, acts in ((contacts, push, pushes), (rows, ~holds, holds)):
            touches = acts & (np.isin(table.body_a, mine) | np.isin(table.body_b, mine))
            by_moved[k] |= bool(np.any(touches & (which | moved[table.body_a] | moved[table.body_b])))
        by_rows[k] = bool(
            np.any((np.isin(rows.body_a, mine) | np.isin(rows.body_b, mine)) & pulls(assembly, solution, tolerance))
        )
    return by_moved, by_rows


def pulls(assembly, solution, tolerance):
    """(R,) bool: rows that do not only hold, or without bounds went somewhere in the step."""
    rows, bodies = assembly.problem.joints, assembly.problem.bodies
    way = coordinates(rows, solution.position, solution.orientation)
    way = way - coordinates(rows, bodies.position, bodies.orientation)
    went = (np.abs(way) > tolerance) & ~(np.isfinite(rows.lower) | np.isfinite(rows.upper))
    return (rows.beta != 1.0) | (rows.compliance != 0.0) | (assembly.row_rate != 0.0) | went


def assert_same_work(got, assembly, solution, tolerance):
    """JudgedStep.driven and .work: p J u of an island's rows that do not only hold at the end pose, where any pulls."""
    problem, rows, n = assembly.problem, assembly.problem.joints, assembly.problem.bodies.dynamic_count
    moved, pulled = givers(assembly, solution, tolerance)
    np.testing.assert_array_equal(got.driven, moved)
    j_a, j_b = felt_directions(problem, solution.position, solution.orientation)
    rate = np.einsum("ri,ri->r", j_a, solution.velocity[rows.body_a])
    rate += np.einsum("ri,ri->r", j_b, solution.velocity[rows.body_b])
    middle = np.append(problem.bodies.midpoint[:n], np.zeros(len(problem.bodies.mass) - n))
    middle, works = np.maximum(middle[rows.body_a], middle[rows.body_b]), pulls(assembly, solution, tolerance)
    whole = np.where(works | (middle > 0.0), (1.0 + middle) * solution.joint_impulse, 0.0)
    off = works * np.abs(whole) * (1e-3 * np.abs(rate) + tolerance / problem.step)
    want = np.zeros((2, len(moved)))
    np.add.at(want[0], assembly.island[np.minimum(rows.body_a, rows.body_b)], whole * rate)
    np.add.at(want[1], assembly.island[np.minimum(rows.body_a, rows.body_b)], off)
    scale = 1.0 + np.abs(whole * rate).max(initial=0.0)
    np.testing.assert_allclose(got.work[:, pulled], want[:, pulled], rtol=0.0, atol=1e-10 * scale)
    np.testing.assert_array_equal(got.work[:, ~(pulled | moved)], 0.0)


def needs_velocity_phase(assembly, solution, tolerance, struck=True):
    """(islands,) bool: with joints, a rebound, overlap that was pushed out in this step, struck by a moving body that
    is not solved, or of one body that rolls.  Not struck: those are left out.
    """
    problem, need = assembly.problem, assembly.island_jointed.copy()
    contacts = problem.contacts
    bounce = np.zeros(len(contacts), bool)
    if contacts.rebound_speed is not None:
        bounce = (contacts.rebound_speed != 0.0) | (contacts.rebound_gap > 0.0)
    if contacts.glides is not None:
        bounce |= contacts.glides
    strikes = problem.bodies.free_velocity.any(axis=1)
    strikes[: problem.bodies.dynamic_count] = False
    strikes &= struck
    bounce |= (strikes[contacts.body_a] | strikes[contacts.body_b]) & (start_gaps(problem) > tolerance)
    ask = (solution.contact_impulse[:, 0] > 0.0) & (bounce | (start_gaps(problem) < -tolerance))
    need[assembly.island[np.minimum(contacts.body_a, contacts.body_b)[ask]]] = True
    alone = np.bincount(assembly.island, minlength=len(need)) == 1
    off = np.maximum(*(misturned(problem, solution, side) for side in ("a", "b")))
    rolls = (solution.contact_impulse[:, 0] > 0.0) & (problem.step * off > tolerance)
    island = assembly.island[np.minimum(contacts.body_a, contacts.body_b)]
    alone[island[(solution.contact_impulse[:, 0] > 0.0) & ((contacts.margin_a > 0.0) | (contacts.margin_b > 0.0))]] = (
        False
    )
    need[island[rolls]] |= alone[island[rolls]]
    return need


def misturned(problem, solution, side):
    """(C,) speed, at the radius of gyration, that turning levers give each contact's body: |I^-1 (R+ - R) p x f| r.

    None where the turn cannot have closed the gap.
    """
    bodies, contacts = problem.bodies, problem.contacts
    body, point = getattr(contacts, f"body_{side}"), getattr(contacts, f"point_{side}")
    off = np.zeros(len(contacts))
    for c in np.flatnonzero(body < bodies.dynamic_count):
        k = body[c]
        moved = rotate(solution.orientation[k], point[c]) - rotate(bodies.orientation[k], point[c])
        if start_gaps(problem)[c] > np.linalg.norm(moved):
            continue
        couple = np.cross(moved, world_impulses(contacts.normal[[c]], solution.contact_impulse[[c]])[0])
        spin = rotate(conjugate(bodies.free_orientation[k]), couple) / bodies.inertia[k]
        off[c] = np.linalg.norm(spin) * np.sqrt(bodies.inertia[k].max() / bodies.mass[k])
    return off


@pytest.mark.parametrize("seed", range(12))
def test_the_end_of_a_step_is_that_of_the_reference(seed):
    problem = everything(seed, dynamic=12, contacts=6, rows=6)
    solution = any_solution(problem, seed)
    assembly = assembled(problem, seed)
    rng = np.random.default_rng(seed)
    if seed % 4 == 0:  # nothing that drives, nothing that overlaps; some faster than they fell, some slower
        problem.joints.beta[:], problem.joints.compliance[:] = 1.0, 0.0
        problem.bodies.velocity[12:] = problem.bodies.free_velocity[12:] = 0.0
        problem.contacts.surface_velocity, problem.contacts.start_gap = None, np.full(6, 0.1)
        solution.velocity[:12] = problem.bodies.free_velocity[:12] * rng.choice([0.9, 1.05, 1.5], (12, 1))
    if seed % 4 == 1:  # ways that joints bend aside
        solution.arc, solution.pulled = rng.normal(size=(14, 6)), rng.normal(size=(14, 3))
        solution.drawn = rng.normal(size=6) * (problem.joints.coordinate == Coordinate.DISTANCE)
    got = JUDGE.step(assembly, solution, TOLERANCE)
    np.testing.assert_array_equal(got.gained, gained(assembly, solution, TOLERANCE))
    np.testing.assert_array_equal(got.need, needs_velocity_phase(assembly, solution, TOLERANCE))
    others = needs_velocity_phase(assembly, solution, TOLERANCE, struck=False)
    np.testing.assert_array_equal(got.lands, got.need & ~others)
    assert_same_work(got, assembly, solution, TOLERANCE)
    for sound in (np.ones(12, bool), rng.random(12) < 0.5):
        want = total_velocity(assembly, solution, sound)
        np.testing.assert_allclose(got.velocity(sound), want, atol=1e-10 * (1.0 + np.abs(want).max()))


def test_angular_momentum_is_carried_to_the_end_pose():
    # I(q+) w+ = I(q) w: no impulses, so nothing else may change it.
    problem = everything(2, contacts=0, rows=0)
    bodies, n = problem.bodies, problem.bodies.dynamic_count
    solution, assembly = any_solution(problem, 2), assembled(problem)
    solution.velocity = bodies.free_velocity
    got = JUDGE.step(assembly, solution, TOLERANCE).velocity(np.ones(n, bool))
    before, after = (world_inertia(q[:n], bodies.inertia[:n]) for q in (bodies.free_orientation, solution.orientation))
    momentum = np.einsum("bij,bj->bi", before, assembly.end_velocity[:, 3:])
    np.testing.assert_allclose(np.einsum("bij,bj->bi", after, got[:, 3:]), momentum, atol=1e-13)
    np.testing.assert_array_equal(got[:, :3], assembly.end_velocity[:, :3])


def test_only_what_takes_energy_may_not_give_it():
    # Twice the speed is four times the energy; belts and prescribed bodies may do that, where they push.
    bodies = bodies_of(
        [1.0, np.inf], [[0.1] * 3, [np.inf] * 3], [[0, 0, 1], [0, 0, 0]], velocity=[[0, 0, -1, 0, 0, 0], [0] * 6],
        gravity=(0, 0, 0),
    )  # fmt: skip
    contacts = contacts_of([0], [1], [[0, 0, -0.9]], [[0, 0, 0]], [[0, 0, 1.0]])
    contacts.start_gap = np.array([0.1])
    problem = StepProblem(0.02, bodies, contacts)

    def answer(factor, push=1.0):
        velocity = factor * bodies.free_velocity
        impulse = np.array([[push, 0.0, 0.0]])
        solution = StepSolution(velocity, bodies.position, bodies.orientation, impulse, np.zeros(0))
        return judged(problem, solution).gained.tolist()

    assert answer(2.0) == [True]
    assert answer(1.1) == [False]
    contacts.surface_velocity = np.array([[3.0, 0, 0]])
    assert answer(2.0) == [False] and answer(2.0, push=0.0) == [True]
    contacts.surface_velocity = None
    bodies.velocity[1, 2] = bodies.free_velocity[1, 2] = 1.0
    assert answer(2.0) == [False] and answer(2.0, push=0.0) == [True]
    bodies.velocity[1, 2], bodies.free_velocity[1, 2], contacts.start_gap[0] = 0.0, 0.0, -0.1
    assert answer(2.0) == [False] and answer(2.0, push=0.0) == [True]
