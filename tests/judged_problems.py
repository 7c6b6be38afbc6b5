# SPDX-License-Identifier: GPL-3.0-or-later
"""Problems with everything in them that the judge looks at, and solutions that solve nothing, for its tests."""

from types import SimpleNamespace

import numpy as np
from axion.solver.problem import StepSolution
from axion.solver.reference.rotation import multiply
from axion.solver.topology import build_topology
from step_problems import random_problem, unit


def everything(seed, **sizes):
    """A random problem with what random_problem leaves out: joints of several rows, faces, rebounds, overlap, spins,
    contacts that glide, rims that roll.
    """
    problem = random_problem(seed, **sizes)
    rng = np.random.default_rng(seed)
    contacts, rows, bodies = problem.contacts, problem.joints, problem.bodies
    count, n = len(contacts), bodies.dynamic_count
    rows.joint = (np.arange(len(rows)) // 3).astype(np.int32)
    rows.upper = np.where(rng.random(len(rows)) < 0.3, 0.5, np.inf)
    bodies.midpoint[:n] = rng.integers(0, 2, n)
    if seed % 3 == 1:
        fast = bodies.midpoint * rng.integers(0, 2, len(bodies.mass))
        bodies.spin = fast[:, None] * rng.normal(size=(len(bodies.mass), 3))
    if seed % 2:
        contacts.start_gap = 0.1 * rng.normal(size=count)
        contacts.rebound_gap, contacts.rebound_speed = np.maximum(0.0, 0.1 * rng.normal(size=(2, count)))
        contacts.face = np.where(rng.random(count) < 0.7, contacts.body_a, contacts.body_b).astype(np.int32)
        contacts.face[rng.random(count) < 0.3] = -1
        contacts.face_normal = unit(rng, count, 3)
        contacts.glides = (contacts.face >= 0) & (np.random.default_rng(seed + 2000).random(count) < 0.5)
        contacts.led = contacts.glides & (np.random.default_rng(seed + 3000).random(count) < 0.5)
        go_around(contacts, np.random.default_rng(seed + 5000).random(count) < 0.5, seed)
        rims = np.random.default_rng(seed + 4000).random(count) < 0.4
        roll_on_rims(contacts, contacts.glides & rims & (contacts.core_reach == 0.0), seed)
        rolls = np.random.default_rng(seed + 6000).random(count) < 0.3
        contacts.rolls = contacts.glides & rolls & ~rims & (contacts.core_reach == 0.0)
    if seed % 3 == 0:
        contacts.surface_velocity = None
    return problem


def roll_on_rims(contacts, which, seed):
    """Make rims of some of the contacts, in place; which: (C,) bool."""
    rng, count = np.random.default_rng(seed + 4500), len(contacts)
    contacts.rim_axis = which[:, None] * unit(rng, count, 3)
    contacts.rim_arm = 0.3 * which[:, None] * np.cross(contacts.rim_axis, unit(rng, count, 3))


def go_around(contacts, which, seed):
    """Put some of the contacts between round cores, in place, with up to two axes each; which: (C,) bool."""
    rng, count = np.random.default_rng(seed + 5500), len(contacts)
    contacts.core_reach = np.where(which, 0.1 + rng.random(count), 0.0)
    for name in ("core_axis_a", "core_axis_b"):
        setattr(contacts, name, (which & (rng.random(count) < 0.6))[:, None] * unit(rng, count, 3))


def any_solution(problem, seed):
    """Poses, velocities and impulses near those of free motion; no solution of anything."""
    rng, bodies = np.random.default_rng(seed + 500), problem.bodies
    count, n = len(bodies.mass), bodies.dynamic_count
    velocity = bodies.free_velocity.copy()
    velocity[:n] += 0.3 * rng.normal(size=(n, 6))
    turn = np.hstack([0.05 * rng.normal(size=(count, 3)), np.ones((count, 1))])
    orientation = multiply(turn / np.linalg.norm(turn, axis=1)[:, None], bodies.free_orientation)
    return StepSolution(
        velocity, bodies.free_position + 0.02 * rng.normal(size=(count, 3)), orientation,
        rng.normal(size=(len(problem.contacts), 3)), rng.normal(size=len(problem.joints)),
    )  # fmt: skip


def assembled(problem, seed=0, jointed=None):
    """What a Judge reads of an Assembly."""
    topology, n = build_topology(problem), problem.bodies.dynamic_count
    end = problem.bodies.free_velocity[:n] + np.random.default_rng(seed).normal(size=(n, 6))
    jointed = topology.jointed if jointed is None else jointed
    rate = np.random.default_rng(seed).choice([0.0, 0.5, np.nan], len(problem.joints), p=[0.8, 0.1, 0.1])
    return SimpleNamespace(
        problem=problem, island=topology.body_island, island_jointed=jointed, end_velocity=end, row_rate=rate,
        row_end=None, bounces=None,
    )  # fmt: skip
