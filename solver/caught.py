# SPDX-License-Identifier: GPL-3.0-or-later
"""Which ropes are in a catch (catches.py), from step to step."""

import numpy as np

from .reference.row_laws import vibrates
from .reference.rows import coordinate_rates, coordinates

LEAST = 0.01  # of the energy of what hangs together, below which a catch is left to the step,
SOFT = 0.03  # and of ropes that the step follows: what is off there goes into the motion (kept_energy.py)
FINE, SURE = 5.0, 20.0  # times the loose tolerance: stretches at which catches give nothing back, and all of it
NEAR = 0.02  # of the step: what comes taut within that of its start is taut there
STILL = 0.1  # of what a strain alone would do, below which something else holds the load
TINY = 1e-300


def note(table, attempt, taken=None):
    """Note in the JointTable which ropes an accepted Attempt leaves in a catch; taken: (R,) bool rows; None: all."""
    assembly = attempt.assembly
    number = ropes_of(assembly, table)
    if taken is not None:
        number = number[taken[number]]
    if not len(number):
        return
    rows, own = assembly.problem.joints.take(number), assembly.row_number[number]
    solution, n = attempt.solution, assembly.problem.bodies.dynamic_count
    place, speed, swing = motion(table, own)
    velocity = np.concatenate([attempt.end.velocity, assembly.problem.bodies.velocity[n:]])
    after = coordinates(rows, solution.position, solution.orientation) - rows.target
    leaves = coordinate_rates(rows, velocity, solution.position, solution.orientation)
    begins = (place <= NEAR * assembly.problem.step * np.abs(speed)) & (speed > 0.0)
    begins &= matters(assembly, rows, table, own, speed)
    pull, fast = swing**2 * assembly.problem.step, np.maximum(np.abs(speed), np.abs(leaves))
    held = (np.abs(leaves - speed) < STILL * pull * place) & (fast < STILL * swing * place)
    goes_on = (table.caught[own] > 0.0) & ~((speed < 0.0) & (leaves >= 0.0)) & ~held
    kept = np.where(begins, liveliness(table, own, speed), np.where(goes_on, table.caught[own], 0.0))
    table.caught[own] = np.where(after > 0.0, kept, 0.0)


def ropes_of(assembly, table):
    """Numbers (K,) of the rows of an Assembly that are ropes with compliance."""
    if not len(table.ropes):
        return table.ropes
    return np.flatnonzero(np.isin(assembly.row_number, table.ropes))


def motion(table, own):
    """Strain [m], how fast it grows [m/s], and the omega [1/s] of rows ``own`` (K,) of the table, as a step starts."""
    start = table.start
    return start.place[own], start.speed[own], np.sqrt(start.mobility[own] / start.softness[own])


def matters(assembly, rows, table, own, speed):
    """(K,) bool: catches at ``speed`` (K,) [m/s] that are worth it."""
    energy = assembly.island_energy[assembly.island[np.minimum(rows.body_a, rows.body_b)]]
    mobility, softness = table.start.mobility[own], table.start.softness[own]
    least = np.where(vibrates(softness, mobility, table.whole), SOFT, LEAST) * energy
    return (0.5 * speed**2 > least * mobility) & (liveliness(table, own, speed) > 0.0)


def liveliness(table, own, speed):
    """(K,) 1 less the damping ratio of ropes caught at ``speed`` (K,) [m/s]; 0: they give nothing back."""
    mobility, softness = table.start.mobility[own], table.start.softness[own]
    stretch = np.maximum(speed, 0.0) * np.sqrt(softness / np.maximum(mobility, TINY)) / max(table.least, TINY)
    share = np.clip((stretch - FINE) / (SURE - FINE), 0.0, 1.0)  # of the speed that is given back
    share = np.where(vibrates(softness, mobility, table.whole), stretch > FINE, share)
    decay = -np.log(np.maximum(share, TINY))
    return np.where(share > 0.0, 1.0 - decay / np.hypot(np.pi, decay), 0.0)


def damp_catches(start, ropes, caught):
    """Give the LawTable ``start`` the springs and dampers of its rows ``ropes`` (K,); caught: of JointTable."""
    softness = start.softness[ropes]
    start.stiffness[ropes] = 1.0 / softness
    lost = np.where(caught > 0.0, 1.0 - caught, 0.0)
    start.damping[ropes] = 2.0 * lost / np.sqrt(softness * np.maximum(start.mobility[ropes], TINY))
