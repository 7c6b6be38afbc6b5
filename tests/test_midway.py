# SPDX-License-Identifier: GPL-3.0-or-later
"""What joints push in mid-step (midway.py): the momentum that bodies get, what it costs, and nothing beside it."""

import numpy as np
import pytest
from axion.solver import Body, Box, Joint, MotionPath, Scene, SolverConfig, midway, simulate, step, step_end
from axion.solver.constraints.breaking import impulse_share
from axion.solver.position_phase import PositionPhase
from axion.solver.proximal import ProximalSolver
from axion.solver.reference.rows import mean_jacobians
from axion.solver.rotations import conjugate, exponential, rotate
from scenes import turned

MASS, INERTIA = 10.0, np.array((0.225, 0.225, 0.45))
CPU = SolverConfig(device="cpu", substeps=1)
ALLOWED = 24.0 * 1e-4  # [m/s] the tolerance, in a step


def arm(rate, axles):
    """Scene without weight of an arm that keyframes turn at ``rate`` [rad/s] about z, and bodies of 0.2 m that hinges
    hold to it, each to the one before, 1 m from the hub; axles: spin [rad/s] and orientation of the hinge of each.
    """
    scene, times, before = Scene(gravity=(0.0, 0.0, 0.0)), np.linspace(0.0, 2.0, 193), "Hub"
    path = MotionPath(times, np.zeros((193, 3)), exponential(np.outer(rate * times, (0.0, 0.0, 1.0))))
    scene.add(Body("Hub", [Box((0.05,) * 3)], motion="kinematic", collision_mask=0, path=path))
    for k, (spin, axle) in enumerate(axles):
        place, turns = np.array((1.0 + 0.2 * k, 0.0, 0.0)), np.array((0.0, 0.0, rate))
        scene.add(Body(f"B{k}", [Box((0.1,) * 3)], position=place, orientation=axle, mass=MASS, collision_mask=0,
                       inertia=np.diag(INERTIA), linear_velocity=np.cross(turns, place),
                       angular_velocity=turns + spin * rotate(axle, (0.0, 0.0, 1.0))))  # fmt: skip
        scene.add(Joint(f"J{k}", "hinge", before, f"B{k}", position=place, orientation=axle))
        before = f"B{k}"
    return scene


def got(first, velocity, solution, late):
    """(n, 6) momentum that bodies got in a step beyond what joints gave along their directions in mid-step.

    first: Assembly; velocity: (n, 6) at its end; late: StepProblem and StepSolution of the velocity phase.
    """
    problem, bodies = first.problem, first.problem.bodies
    n, given = bodies.dynamic_count, np.zeros((len(bodies.mass), 6))
    poses = (bodies.position, bodies.orientation), (solution.position, solution.orientation)
    early = problem.joints, impulse_share(problem) * solution.joint_impulse
    for rows, impulse in (early, (late[0].joints, late[1].joint_impulse)):
        for body, directions in zip((rows.body_a, rows.body_b), mean_jacobians(rows, *poses), strict=True):
            np.add.at(given, body, directions * impulse[:, None])

    def momentum(values, turn):
        own = rotate(conjugate(turn), values[:, 3:]) * INERTIA
        return np.hstack([MASS * values[:, :3], rotate(turn, own)])

    before = momentum(bodies.velocity_at_start()[:n], bodies.orientation[:n])
    return momentum(velocity, solution.orientation[:n]) - before - given[:n]


@pytest.mark.parametrize("rounds", [midway.ROUNDS, 1])
@pytest.mark.parametrize("rate", [3.0, 12.0])
def test_bodies_get_what_joints_push_in_mid_step(rate, rounds, monkeypatch):
    """To what the phase tolerates: after one round a wheel on an arm of 12 rad/s was 0.04 m/s beside it, in frames
    that had converged.
    """
    off, push = [], step_end.push_midway

    def watch(assembly, solution, late, *others):
        problem, result, owed = push(assembly, solution, late, *others)
        if result.midway is not None and result.midway.any():
            beside = got(assembly, result.velocity[:1], solution, (problem, result)) / MASS
            off.append(np.abs(beside[:, :3]).max() + np.abs(beside[:, 3:]).max() / np.sqrt(INERTIA.min() / MASS))
        return problem, result, owed

    monkeypatch.setattr(step_end, "push_midway", watch)
    monkeypatch.setattr(midway, "ROUNDS", rounds)
    simulate(arm(rate, [(20.0, turned("y", 0.5 * np.pi))]), 24, config=CPU)
    assert len(off) >= (24 if rounds > 1 else 0)
    assert max(off, default=0.0) < ALLOWED


def test_all_solves_of_a_push_count(monkeypatch):
    spent, told, solve, end = [], [], ProximalSolver.solve_velocity, step.end_velocity

    def solves(*arguments):
        result, *rest = solve(*arguments)
        spent.append((result.newton_iterations, result.linear_iterations))
        return result, *rest

    def ends(*arguments):
        out = end(*arguments)
        told.append((out.newton, out.linear))
        return out

    monkeypatch.setattr(ProximalSolver, "solve_velocity", solves)
    monkeypatch.setattr(step, "end_velocity", ends)
    simulate(arm(3.0, [(20.0, turned("y", 0.5 * np.pi))]), 12, config=CPU)
    assert len(spent) > len(told) == 12
    np.testing.assert_array_equal(np.sum(told, axis=0), np.sum(spent, axis=0))


def test_nothing_on_an_arm_follows_arcs_however_far_from_it(monkeypatch):
    """Only what was joined to the arm itself did not, and the rest was pushed in mid-step as well."""
    arcs, solve = [], PositionPhase.solve

    def watch(*arguments):
        solved = solve(*arguments)
        arcs.append(solved.solution.arc)
        return solved

    monkeypatch.setattr(PositionPhase, "solve", watch)
    simulate(arm(3.0, 3 * [(1.0, turned("x", 0.5 * np.pi))]), 6, config=CPU)
    assert arcs and not any(np.any(arc) for arc in arcs)
