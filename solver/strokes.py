# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that roll from facet to facet, or rock from edge to edge, lose what the strokes take, and nothing else.

    E+ = r (E- + W_1) + W - W_1        r = 1 - k (1 - E(v_R) / E(v_L))

A body that turns over an edge it stands on loses nothing: its energy changes by the work W of its weight.  Where it
lands on another edge within the step, v_L is the velocity it lands with, v_R what the impact leaves of it without any
weight, and W_1 the work until then.  For a block that is Housner's law (1963), for a wheel that of the rimless wheel.
Where there are corners between, it lands on each of them, and k of one stroke's loss remains (``outline.py``).

The velocity phase finds the direction of such motion, but puts the weight of the whole step at the end pose, where it
brakes or drives what it did not on the way: a block that rocked lost half of its speed at an impact at frame-sized
steps.  This is for single bodies that stick to what stands
still, or goes straight on.
"""

import numpy as np

from .copies import replace
from .flags import some
from .metrics import row_velocity
from .outline import strokes_between
from .reference.impact import time_to_zero
from .reference.rows import contact_jacobians, gaps
from .rotations import conjugate, rotate
from .topology import groups_with

ROUNDING = 1e-6  # of a body's radius: gaps are detected in single precision
STICKS = 0.999  # of the friction there is
SURE = 2.0  # times the energy that poses known to a tolerance may hide
TRUSTED = 0.5, 2.0  # of the energy in the velocity phase; beyond, weight turns the motion round within the step


def roll_on(limit, rolls, ended, solve, phase):
    """Give bodies that roll the energy they have by the law above.  Returns (islands,) bool: whose velocity it changed.

    Args:
        limit: EnergyLimit of the step.
        rolls: (islands,) bool, of one body that may roll.
        ended: StepProblem of the velocity phase, its StepSolution, whose velocity changes, and (C,) bool contacts that
            were loaded.
        solve: solve(problem, done, loaded) -> StepSolution; done: (n,) bool, bodies that need no solution.
        phase: the PositionPhase.
    """
    problem, result, loaded = ended
    island, n, contacts = limit.assembly.island, problem.bodies.dynamic_count, problem.contacts
    step = limit.assembly.problem
    start = gaps(step.contacts, step.bodies.position, step.bodies.orientation)
    way = step.step * _speeds(step.contacts, step.bodies, step.bodies.velocity_at_start())[0]
    scene = limit.assembly.numbering.scene[np.minimum(contacts.body_a, contacts.body_b)]
    radius = phase.collider.model.body_radius[scene]
    stood = (start <= np.maximum(phase.fast, ROUNDING * radius)) & (way[:, 0] >= -phase.fast)
    lands = loaded & ~stood
    body = np.minimum(contacts.body_a, contacts.body_b)  # what stands still comes last

    def any_of(flags):
        """(n,) bool: bodies with one of those contacts."""
        return np.bincount(body[flags], minlength=n) > 0

    slides = stood & (np.linalg.norm(way[:, 1:], axis=1) > phase.fast)
    reach = STICKS * contacts.friction * result.contact_impulse[:, 0]
    slides |= loaded & (np.linalg.norm(result.contact_impulse[:, 1:], axis=1) > reach)
    slides |= contacts.rebound_speed != 0.0
    landing = any_of(lands)
    rolling = (rolls & limit.held)[island] & ~any_of(slides) & (~landing | any_of(stood))
    rolling &= limit.start > SURE * limit.noise
    landing &= rolling
    velocity, energy = result.velocity[:n].copy(), limit.start + limit.work
    if some(landing):
        lands_with = solve(problem, ~landing, stood)
        leaves_with = solve(_from(problem, lands_with.velocity), ~landing, loaded)
        after = leaves_with.velocity[:n]
        kept = np.minimum(limit.energies(after) / np.maximum(limit.energies(lands_with.velocity[:n]), 1e-300), 1.0)
        work = _work_until_landing(limit, problem, lands, start, lands_with.velocity)
        for found in (lands_with, leaves_with):
            result.newton_iterations += found.newton_iterations
            result.linear_iterations += found.linear_iterations
        for i in np.flatnonzero(landing).tolist():
            kept[i] = 1.0 - _strokes(phase, limit.assembly, problem, i, body == i, stood, lands) * (1.0 - kept[i])
        energy = np.where(landing, kept * (limit.start + work) + limit.work - work, energy)
        velocity[landing] = after[landing]
    found = limit.energies(velocity)
    low, high = TRUSTED
    rolling &= (energy > SURE * limit.noise) & (energy > low * found) & (energy < high * found)
    factor = np.ones(n)
    factor[rolling] = np.sqrt(energy[rolling] / found[rolling])
    limit.scale(velocity, factor)
    result.velocity[:n][rolling] = velocity[rolling]
    return groups_with(island, rolling, len(rolls))


def _speeds(contacts, bodies, *velocities):
    """(C, 3) gap velocity and slip [m/s] at the start pose of problem.Bodies with each of ``velocities`` (B, 6)."""
    rows = contact_jacobians(contacts, bodies.position, bodies.orientation)
    return [row_velocity(*rows, (contacts.body_a, contacts.body_b), velocity) for velocity in velocities]


def _from(problem, velocity):
    """The StepProblem with another free velocity (B, 6)."""
    return replace(problem, bodies=replace(problem.bodies, free_velocity=velocity))


def _work_until_landing(limit, problem, lands, start, turned):
    """(n,) work [J] of the bodies' weights until they land.

    lands: (C,) bool; start: (C,) gaps at the step's start; turned: (B, 6) velocity after all of the step on what they
    stood on before.
    """
    contacts, bodies, n = problem.contacts, problem.bodies, problem.bodies.dynamic_count
    body = np.minimum(contacts.body_a, contacts.body_b)
    free = bodies.free_velocity.copy()
    free[:n, :3] -= limit.gain
    first, last = (speeds[:, 0] for speeds in _speeds(contacts, bodies, free, turned))
    time = time_to_zero(np.maximum(start, 0.0), first, (last - first) / problem.step)
    share = np.zeros(n)
    np.maximum.at(share, body[lands], np.minimum(time[lands] / problem.step, 1.0))
    mean = limit.past(free[:n] + 0.5 * share[:, None] * (turned[:n] - free[:n]))[:, :3]
    return share * bodies.mass[:n] * np.einsum("bi,bi->b", limit.gain, mean)


def _strokes(phase, assembly, problem, body, own, stood, lands):
    """The k of dynamic body number ``body``.  own, stood, lands: (C,) bool, its contacts, those before and after."""
    contacts, bodies = problem.contacts, problem.bodies
    first = contacts.body_a == body
    point = np.where(first[:, None], contacts.point_a, contacts.point_b)
    down = np.where(first[:, None], -contacts.normal, contacts.normal)[own & lands].mean(axis=0)
    down = rotate(conjugate(bodies.orientation[body]), down)
    corners = phase.assembler.outlines.corners(int(assembly.numbering.scene[body]))
    return strokes_between(corners, point[own & stood].mean(axis=0), point[own & lands].mean(axis=0), down)
