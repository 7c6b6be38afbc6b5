# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept of a step that was given up on: the bake goes on from there, so an island that missed gains nothing.

Its impulses answer no law, and may throw its bodies anywhere.
"""

from dataclasses import replace

import numpy as np

from .energy import kinetic_energies
from .flags import every
from .rotations import exponential, multiply

MOST = 4.0  # |du| <= 2 |u| in the norm of the kinetic energy, where |u + du| <= |u|: impulses that add no energy


def held_back(assembly, solution, sound):
    """The StepSolution with no island that missed carried farther off its free motion than impulses carry it that add
    no energy, and overlap pushed out in this step.  sound: (n,) bool, bodies within the tolerance.
    """
    if every(sound):
        return solution
    problem, bodies, n = assembly.problem, assembly.problem.bodies, assembly.problem.bodies.dynamic_count
    change = solution.velocity[:n] - bodies.free_velocity[:n]
    free = kinetic_energies(bodies, bodies.free_orientation[:n], bodies.free_velocity[:n])
    pushed = 0.5 * bodies.mass[:n] * problem.push_out_speed**2
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
    orientation[:n][less] = multiply(exponential(h * change[:, 3:]), bodies.free_orientation[:n])[less]
    return replace(solution, velocity=velocity, position=position, orientation=orientation)


def calm(assembly, orientation, velocity, sound):
    """In place: an island with a body that missed keeps no more energy than free motion would have given.

    orientation: (B, 4) at the step's end; velocity: (n, 6); sound: (n,) bool, bodies within the tolerance.
    """
    if every(sound):
        return
    bodies, n = assembly.problem.bodies, assembly.problem.bodies.dynamic_count
    energy = kinetic_energies(bodies, orientation[:n], velocity)
    free = kinetic_energies(bodies, bodies.free_orientation[:n], assembly.end_velocity)
    velocity *= _factor(assembly, sound, energy, free)


def _factor(assembly, sound, energy, limit):
    """(n, 1) by which velocities are multiplied for islands that missed to have no more ``energy`` (n,) than ``limit``
    (n,) [J]; 0 for what is no number.
    """
    energy, limit = (np.bincount(assembly.island, values) for values in (energy, limit))
    factor = np.sqrt(np.minimum(1.0, limit / np.maximum(energy, 1e-300)))
    factor[np.bincount(assembly.island, ~sound) == 0.0] = 1.0
    return np.nan_to_num(factor)[assembly.island][:, None]
