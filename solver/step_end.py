# SPDX-License-Identifier: GPL-3.0-or-later
"""How a step ends once its end pose is known: with which velocity, and in which state."""

from dataclasses import replace

import numpy as np

from .joint_damping import damp_joints
from .velocity_phase import calm, needs_velocity_phase, total_velocity, velocity_problem

FIRST_EPS, EPS_SMALLEST = 1e-2, 1e-4


def end_velocity(assembly, solution, state, phase, joint_damping, sound):
    """(n, 6) velocity the step ends with, and (Newton, linear) iterations spent on it.

    phase: the PositionPhase that found the solution; joint_damping: [1/s]; sound: (n,) bool, bodies within tolerance.
    """
    velocity = total_velocity(assembly, solution, sound)
    decay = np.exp(-joint_damping * assembly.problem.step)
    if decay < 1.0:
        pose = solution.position, solution.orientation
        velocity = damp_joints(velocity, assembly.problem.bodies, assembly.joint_links, pose, decay)
    need = needs_velocity_phase(assembly, solution, phase.fast)
    spent = (0, 0)
    if need.any():
        problem, loaded, first, mask = velocity_problem(assembly, solution, velocity, need)
        n = problem.bodies.dynamic_count
        options = replace(phase.options(assembly, state)[0], start=first, sweeps=np.zeros(n, bool))
        result, _ = phase.solver.solve_velocity(problem, options, loaded)
        velocity[mask] = result.velocity[:n][mask]
        spent = result.newton_iterations, result.linear_iterations
    calm(assembly, velocity, sound)
    return velocity, spent


def moved_state(state, assembly, solution, statistics, velocity):
    """The State a step leads to: time, poses, velocities, and the proximal strength each body's island goes on with."""
    problem, order = assembly.problem, assembly.numbering.scene[:-1]
    n = problem.bodies.dynamic_count
    moved = replace(
        state, time=state.time + problem.step, position=state.position.copy(), orientation=state.orientation.copy(),
        velocity=state.velocity.copy(), eps=state.eps.copy(),
    )  # fmt: skip
    moved.position[order], moved.orientation[order] = solution.position[:-1], solution.orientation[:-1]
    moved.velocity[order[:n]], moved.velocity[order[n:]] = velocity, problem.bodies.velocity[n:-1]
    factor = np.where(statistics.newton <= 3, 0.3, np.where(statistics.newton > 6, 10.0, 1.0))
    eps = np.clip(factor * statistics.eps, EPS_SMALLEST, FIRST_EPS)
    moved.eps[order[:n]] = np.where(statistics.constrained, eps, FIRST_EPS)
    return moved
