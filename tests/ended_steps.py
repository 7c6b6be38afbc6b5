# SPDX-License-Identifier: GPL-3.0-or-later
"""The velocity that bodies end a step with, body by body and row by row in NumPy, for tests of the judge."""

import numpy as np
from axion.solver.components import anchored
from axion.solver.reference.arcs import turns_between
from axion.solver.reference.rotation import world_inertia
from axion.solver.reference.rows import contact_jacobians, joint_directions
from axion.solver.rotations import rotate
from axion.solver.topology import groups_with


def what_lines_add(assembly, solution):
    """(B, 6) what distances give beyond their impulses in mid-step, -h^2 / 12 J'' p and the lever's part of m s."""
    problem, bodies, n = assembly.problem, assembly.problem.bodies, assembly.problem.bodies.dynamic_count
    rows, out = problem.joints, np.zeros((len(assembly.problem.bodies.mass), 6))
    if solution.drawn is None:
        return out
    along, gain = joint_directions(problem, solution.position, solution.orientation)[1][:, :3], np.zeros((len(out), 3))
    change, hung = np.zeros_like(out), np.zeros(len(out), bool)
    hung[:n] = groups_with(assembly.island, anchored((rows.body_a, rows.body_b), n), n)[assembly.island]
    change[:n] = (solution.velocity - bodies.free_velocity - solution.arc)[:n] * (1.0 + bodies.midpoint[:n, None])
    change[~hung] = 0.0
    own = np.flatnonzero(bodies.midpoint[:n] > 0.0)
    gain[own] = assembly.end_velocity[own, :3] - bodies.free_velocity[own, :3]
    gain[own] *= (1.0 + 1.0 / bodies.midpoint[own])[:, None]
    for r in np.flatnonzero(solution.drawn):
        pair = (rows.body_a[r], rows.anchor_a[r], -1.0), (rows.body_b[r], rows.anchor_b[r], 1.0)
        poses = (bodies.position, bodies.orientation), (solution.position, solution.orientation)
        first, last = (sum(sign * (x[i] + rotate(q[i], anchor)) for i, anchor, sign in pair) for x, q in poses)
        lengths = np.linalg.norm(first), np.linalg.norm(last)
        half = 0.5 * np.arctan2(np.linalg.norm(normal := np.cross(first, last)), first @ last)
        aside = -(1.0 - half / np.tan(half)) / (2.0 * half) * np.cross(normal / np.linalg.norm(normal), along[r])
        levers = [0.5 * sum(rotate(q[i], anchor) for _, q in poses) for i, anchor, _ in pair]
        turns = [turns_between(*(q[[i]] for _, q in poses))[0] for i, _, _ in pair]
        swings = [
            hung[i] * (np.cross(change[i, 3:], lever) + np.cross(t, np.cross(t, lever)) / problem.step)
            for (i, _, _), lever, t in zip(pair, levers, turns, strict=True)
        ]
        apart = sum(sign * (gain[i] + change[i, :3] + s) for (i, _, sign), s in zip(pair, swings, strict=True))
        force = -problem.step / (6.0 * sum(lengths)) * (apart - (apart @ along[r]) * along[r])
        ways = [x1[i] + rotate(q1[i], anchor) - x0[i] - rotate(q0[i], anchor)
                for (x0, q0), (x1, q1) in [poses] for i, anchor, _ in pair]  # fmt: skip
        for (i, _, sign), lever, swing in zip(pair, levers, swings, strict=True):
            turn = np.cross(lever, force) - problem.step / 12.0 * np.cross(swing, along[r])
            turn -= np.cross(0.5 * sum(ways), aside)
            out[i] += sign * solution.drawn[r] * np.hstack([force, turn])
    return out


def total_velocity(assembly, solution, sound):
    """(n, 6): free velocity at the end plus (1 + midpoint) times the change, at the end pose's inertia."""
    problem, bodies, n = assembly.problem, assembly.problem.bodies, assembly.problem.bodies.dynamic_count
    push = np.zeros((len(bodies.mass), 6))
    j_a, j_b = contact_jacobians(problem.contacts, bodies.position, bodies.orientation, bodies.free_orientation)
    for body, jac in ((problem.contacts.body_a, j_a), (problem.contacts.body_b, j_b)):
        np.add.at(push, body, np.einsum("cki,ck->ci", jac, solution.contact_impulse))
    j_a, j_b = joint_directions(problem, solution.position, solution.orientation)
    for body, jac in ((problem.joints.body_a, j_a), (problem.joints.body_b, j_b)):
        np.add.at(push, body, jac * solution.joint_impulse[:, None])
    change = solution.velocity[:n] - bodies.free_velocity[:n]
    if solution.arc is not None:
        change -= solution.arc[:n]
    late = what_lines_add(assembly, solution)
    inertia = [world_inertia(q[:n], bodies.inertia[:n]) for q in (bodies.free_orientation, solution.orientation)]
    for i in np.flatnonzero(assembly.island_jointed[assembly.island] & sound & (bodies.midpoint[:n] > 0.0)):
        change[i, :3] = push[i, :3] / bodies.mass[i]
        mean = bodies.free_velocity[i, :3] + change[i, :3]
        aside = bodies.mass[i] / (1.0 + bodies.midpoint[i]) * np.cross(solution.position[i] - bodies.position[i], mean)
        if solution.pulled is not None:
            gain = (assembly.end_velocity[i, :3] - bodies.free_velocity[i, :3]) * (1.0 + 1.0 / bodies.midpoint[i])
            aside += problem.step / 12.0 * np.cross(solution.pulled[i], gain)
        change[i, :3] += late[i, :3] / bodies.mass[i]
        change[i, 3:] = np.linalg.solve(inertia[0][i], push[i, 3:] + late[i, 3:] - aside)
    out = assembly.end_velocity + (1.0 + bodies.midpoint[:n, None]) * change
    for i in range(n):
        out[i, 3:] = np.linalg.solve(inertia[1][i], inertia[0][i] @ out[i, 3:])
    return out
