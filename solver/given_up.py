# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept of a step that was given up on: the bake goes on from there, so an island that missed gains nothing.

Its impulses answer no law, and may throw its bodies anywhere.  Where they would, nothing is left of them: the report
is on the poses that are kept, and the next step does not start from such impulses.  Where it missed by little they hold
its joints, and what is taken from them tears those: it is left as it is.

What an island has in common stays, the motion of its momenta where it flies free: a mechanism that goes by at 10 m/s
goes on so, whatever happens within it.
"""

from dataclasses import replace

import numpy as np

from .energy import kinetic_energies
from .flags import every
from .joint_damping import group_motion
from .reference.free_motion import led_orientation
from .reference.rows import start_gaps
from .topology import groups_with
from .twists import count_turns
from .velocity_phase import moves

NEAR = 3.0  # times the loose tolerance: who missed by less is where the laws have it, for all anyone sees
MOST = 4.0  # |du| <= 2 |u| in the norm of the kinetic energy, where |u + du| <= |u|: impulses that add no energy


def held_back(assembly, solution, sound, fast):
    """The StepSolution with no island that missed carried farther off its free motion than impulses carry it that add
    no energy, and overlap pushed out in this step; or drives and springs, which else could not move what rests.

    sound: (n,) bool, bodies within the tolerance; fast: the loose tolerance [m], up to which nothing overlaps.
    """
    if every(sound):
        return solution
    problem, bodies, n = assembly.problem, assembly.problem.bodies, assembly.problem.bodies.dynamic_count
    change = solution.velocity[:n] - bodies.free_velocity[:n]
    free = kinetic_energies(bodies, bodies.free_orientation[:n], bodies.free_velocity[:n])
    moves_alone, rows = np.zeros(len(bodies.mass), bool), problem.joints
    drives = (rows.lower < 0.0) & (rows.upper > 0.0)
    drives &= (rows.compliance > 0.0) | (np.isfinite(rows.lower) & np.isfinite(rows.upper))
    for table, those in ((problem.contacts, start_gaps(problem) < -fast), (rows, drives)):
        moves_alone[table.body_a[those]] = moves_alone[table.body_b[those]] = True
    pushed = 0.5 * np.where(moves_alone[:n], bodies.mass[:n], 0.0) * problem.push_out_speed**2
    energy = kinetic_energies(bodies, bodies.free_orientation[:n], change)
    factor = _factor(assembly, sound, energy, MOST * free + pushed)
    if (factor == 1.0).all():
        return solution
    change = np.nan_to_num(change, posinf=0.0, neginf=0.0) * factor
    velocity, position, orientation = (
        values.copy() for values in (solution.velocity, solution.position, solution.orientation)
    )
    less, h = factor[:, 0] < 1.0, problem.step
    velocity[:n][less] = (bodies.free_velocity[:n] + change)[less]
    position[:n][less] = (bodies.free_position[:n] + h * change[:, :3])[less]
    orientation[:n][less] = led_orientation(bodies, h, velocity)[:n][less]
    contact_impulse, joint_impulse = solution.contact_impulse.copy(), solution.joint_impulse.copy()
    contact_impulse[moves(problem.contacts, less, len(bodies.mass))] = 0.0
    joint_impulse[moves(problem.joints, less, len(bodies.mass))] = 0.0
    bent = {}
    if solution.arc is not None:
        bent = {name: getattr(solution, name).copy() for name in ("arc", "pulled")}
        for values in bent.values():
            values[:n][less] = 0.0
        bent["drawn"] = np.where(moves(problem.joints, less, len(bodies.mass)), 0.0, solution.drawn)
    return replace(
        solution, **bent, velocity=velocity, position=position, orientation=orientation,
        contact_impulse=contact_impulse, joint_impulse=joint_impulse,
    )  # fmt: skip


def deliver(attempt, judge, fast):
    """Hold back what an Attempt gives up on, calm it, and say of it what holds of the poses that are kept.

    judge: the Judge; fast: the loose tolerance [m].
    """
    assembly, solution, end, check = attempt.assembly, attempt.solution, attempt.end, attempt.check
    usable = (attempt.error <= NEAR * fast) & ~attempt.spurious
    kept = held_back(assembly, solution, usable, fast)
    calm(assembly, kept, end.velocity, attempt.sound, usable)
    if kept is solution:
        return
    n, dynamic, rows = len(end.body), attempt.dynamic(), assembly.problem.joints
    held = (kept.velocity[:n] != solution.velocity[:n]).any(axis=1)
    end.body[held] = end.joint[rows.joint[moves(rows, held, len(kept.velocity))]] = 0.0  # of a pose that nothing took
    judged = judge.step(assembly, kept, fast)
    count_turns(assembly.problem, kept, judged)
    attempt.solution, attempt.residuals, attempt.reached = kept, judged.residuals, judged.reached
    attempt.error = np.maximum(judged.body[:n], assembly.problem.step * end.body)
    if check is not None:
        seen, beyond = (values[dynamic[~held]].max(initial=0.0) for values in (check.deepest, check.excess))
        attempt.check = replace(check, overlap=float(seen), unsolved=float(beyond))
        judged.residuals.penetration = max(judged.residuals.penetration, float(seen))


def calm(assembly, solution, velocity, sound, usable):
    """In place: an island with a body that missed keeps its momenta, and with one that is not ``usable`` no more energy
    than it would have had free.

    solution: StepSolution that is kept; velocity: (n, 6) at the step's end; sound, usable: (n,) bool, bodies within the
    tolerance, and near it.
    """
    if every(sound):
        return
    problem, bodies, n = assembly.problem, assembly.problem.bodies, len(velocity)
    links = (np.append(getattr(problem.contacts, side), getattr(problem.joints, side)) for side in ("body_a", "body_b"))
    links, free = tuple(links), (bodies.free_position, bodies.free_orientation)
    kept = solution.position, solution.orientation
    common, _ = group_motion(velocity, bodies, links, kept)
    apart, _ = group_motion(assembly.end_velocity, bodies, links, free)
    due, _ = group_motion(assembly.end_velocity, bodies, links, kept, free)  # what spins is farther out there
    energy = kinetic_energies(bodies, solution.orientation[:n], velocity - due)
    limit = kinetic_energies(bodies, free[1][:n], assembly.end_velocity - apart)
    calmed = due + _factor(assembly, usable, energy, limit) * (velocity - common)
    missed = groups_with(assembly.island, ~sound, len(assembly.island_jointed))[assembly.island]
    velocity[missed] = calmed[missed]


def _factor(assembly, sound, energy, limit):
    """(n, 1) by which velocities are multiplied for islands that missed to have no more ``energy`` (n,) than ``limit``
    (n,) [J]; 0 for what is no number.
    """
    energy, limit = (np.bincount(assembly.island, values) for values in (energy, limit))
    with np.errstate(over="ignore"):  # where nothing moves, any limit is enough
        factor = np.sqrt(np.minimum(1.0, limit / np.maximum(energy, 1e-300)))
    factor[np.bincount(assembly.island, ~sound) == 0.0] = 1.0
    return np.nan_to_num(factor)[assembly.island][:, None]
