# SPDX-License-Identifier: GPL-3.0-or-later
"""What joints alone hold keeps its energy, however far it turns in a step.

Mid-step keeps the energy of the way, and the velocity phase takes from it what does not fit the joints at the end
pose: little where bodies turn little, but step after step.  Two links of 0.2 m let go from horizontal lost a third of
their energy in 5 s at 24 frames a second.  Joints that only hold and springs without a damper do no such thing:

    E+ = E- + sum m a.(x+ - x-) + W        E: kinetic energy, a: acceleration of free motion, W: work of springs

The motion beyond that of the group as one rigid body, or as part of what it hangs on, is scaled to it: momenta stay,
and joints hold a scaled velocity as well as the one they had.  Where a limit is reached a group may end with less, and
never with more.  Not where contacts press, drives, dampers or friction act, or what a group hangs on moves: those take
or give energy themselves.
"""

import numpy as np

from .energies import energies_of_step
from .energy import kinetic_energies
from .flags import places, some
from .joint_damping import group_motion
from .reference.rows import coordinates, dot, jacobians
from .topology import groups_with

LEAST = 1e-5  # of a group's energy, which may be off: as much in a thousand steps as a pendulum loses in twenty
MOST = 2.0  # times the speed it had, within which a group's motion is scaled: what is farther off has another cause


def keep_energy(velocity, assembly, solution, judged, fits, decay, near):
    """(n, 6) velocity at the step's end with the energy of groups that joints alone hold.

    Args:
        velocity: (n, 6) that the joints hold [m/s, rad/s].
        assembly, solution: Assembly of the step, and its StepSolution.
        judged: the JudgedStep.
        fits: (n,) bool, bodies within tolerance whose velocity fitted the joints at the start: what does not is an
            impact, which takes its energy.
        decay: what joint damping leaves of the motion of a group, as in ``damp_joints``.
        near: [m or rad] to a limit, which nearer holds as a joint does.
    """
    ours = assembly.island_jointed & ~judged.driven
    if not some(ours):
        return velocity
    island, bodies, n = assembly.island, assembly.problem.bodies, assembly.problem.bodies.dynamic_count
    keeps, takes = (ours & each for each in _conservative(assembly, solution, near))
    keeps[island[~fits]] = False
    if not some(keeps | takes):
        return velocity
    pose, count = (solution.position, solution.orientation), len(ours)
    energies = energies_of_step(assembly.problem, assembly.end_velocity, pose, velocity)
    due, has = (np.bincount(island, energy, count) for energy in energies)
    due += judged.work[0]
    off = has - due
    ours = (keeps & ((np.abs(off) > LEAST * due) | (decay < 1.0))) | (takes & (off > LEAST * due))
    if not some(ours):
        return velocity
    reference, outer = 0.0, np.zeros(count)
    if some(ours & ~_hangs(assembly)):
        reference = group_motion(velocity, bodies, assembly.joint_links, pose)[0]
        outer = np.bincount(island, kinetic_energies(bodies, pose[1][:n], reference), count)
    factor = decay * np.sqrt(np.maximum(due - outer, 0.0) / np.maximum(has - outer, 1e-300))
    ours &= (factor < MOST) & (factor > 1.0 / MOST)
    return np.where(ours[island][:, None], reference + factor[island][:, None] * (velocity - reference), velocity)


def _hangs(assembly):
    """(islands,) bool: those that joints tie to what does not move."""
    a, b = assembly.joint_links
    inner = np.minimum(a, b)[np.maximum(a, b) >= assembly.problem.bodies.dynamic_count]
    return groups_with(assembly.island, inner[inner < len(assembly.island)], len(assembly.island_jointed))


def _locks(assembly):
    """(R,) bool: rows that hold their coordinates, limits among them."""
    rows = assembly.problem.joints
    return (rows.beta == 1.0) & (rows.compliance == 0.0) & (assembly.row_rate == 0.0)


def _holds(assembly, solution, locks, near):
    """(R,) bool: the rows ``locks`` (R,) that hold their coordinates where they are, limits that had been reached."""
    problem, rows = assembly.problem, assembly.problem.joints
    both = np.isinf(rows.lower) & np.isinf(rows.upper)
    limits = places(locks & ~both & (solution.joint_impulse != 0.0))
    holds = locks & both
    if len(limits):
        ours, start = rows.take(limits), problem.bodies
        off = coordinates(ours, start.position, start.orientation) - ours.target
        to_a, to_b = jacobians(ours, start.position, start.orientation)
        speed = dot(to_a, start.velocity[ours.body_a]) + dot(to_b, start.velocity[ours.body_b])
        holds[limits] = np.maximum(np.abs(off), problem.step * np.abs(speed)) <= near
    return holds


def _conservative(assembly, solution, near):
    """(islands,) bool twice: those whose rows and contacts neither take nor give energy, and that at most take it."""
    problem, rows, n = assembly.problem, assembly.problem.joints, assembly.problem.bodies.dynamic_count
    found = ~groups_with(assembly.island, problem.bodies.midpoint[:n] < 1.0, len(assembly.island_jointed))
    gives = np.isinf(rows.lower) & np.isinf(rows.upper)
    if assembly.row_end is not None:
        gives &= assembly.row_end.damping == 0.0
    carries, locks = solution.joint_impulse != 0.0, _locks(assembly)
    holds = _holds(assembly, solution, locks, near)
    holds[assembly.springs] = gives[assembly.springs]
    keeps, takes = found, found.copy()
    for out, acts in ((keeps, carries & ~holds), (takes, carries & ~holds & ~locks)):
        if some(acts):
            out[assembly.island[np.minimum(rows.body_a, rows.body_b)[acts]]] = False
    touched = solution.contact_impulse.any(axis=1)
    if some(touched):
        contacts = problem.contacts
        touched = assembly.island[np.minimum(contacts.body_a, contacts.body_b)[touched]]
        keeps[touched] = takes[touched] = False
    return keeps, takes
