# SPDX-License-Identifier: GPL-3.0-or-later
"""Coins, plates and loose wheels that roll or spin on their rim, leaning: steps in which they turn too far.

What leans on one place is pushed beside its middle, and by its spin gives way across that push instead of falling:
with L its angular momentum and T the torque of the push, its axis goes round at T x L / |L|^2.  Only steps in which it
turns by little tell of that (gyroscopic.py says by how much it gives way): a coin that spun on its rim at 25 rad/s lay
down within half a second at 24 frames a second.  What has no axis of symmetry tumbles, and keeps no lean.
"""

import numpy as np

from .bounces import moving_first
from .reference.rotation import conjugate, cross, dot, rotate

TURN = 0.06  # [rad] by which what leans may give way across its spin in a step;
LEAN = (
    0.02  # [rad] and that times how far beside its middle it is pushed, in radii of gyration: 0 where it rolls upright
)
PLACE = 0.5  # radii of gyration: loads that are farther apart hold its lean
ACROSS = 0.5  # sine of the angle between spin and torque, at least: what falls turns about the torque
ALIKE = 0.02  # by which two principal moments may differ, and the third does, for it to have an axis


def leans_too_far(assembly, solution):
    """(n,) bool: bodies without joints that lean on one place of what stands, and turn too far in a solved step; None:
    there are none.
    """
    problem = assembly.problem
    bodies, contacts, n = problem.bodies, problem.contacts, problem.bodies.dynamic_count
    load = solution.contact_impulse[:, 0]
    index = np.flatnonzero(load > 0.0)
    if not len(index):
        return None
    inertia, spin = bodies.inertia[:n], solution.velocity[:n, 3:]
    turned, last = spin * problem.step, np.sort(inertia, axis=1)
    fast = dot(turned, turned) > TURN**2 / 4.0  # a disc gives way at most twice as fast as it spins
    fast &= ~assembly.island_jointed[assembly.island]
    if not fast.any():
        return None
    first, second = (last[:, 1] - last[:, 0]) <= ALIKE * last[:, 1], (last[:, 2] - last[:, 1]) <= ALIKE * last[:, 2]
    fast &= first != second
    local = rotate(conjugate(solution.orientation[:n]), spin)
    across = np.maximum(inertia[:, [1, 2, 0]], inertia[:, [2, 0, 1]])
    rate = local * inertia / across
    fast &= dot(rate, rate) * problem.step**2 > TURN**2
    own, other = moving_first(contacts)
    fast[other[index][other[index] < n]] = fast[own[index][other[index] < n]] = False  # in heaps others hold it
    index = index[np.append(fast, False)[np.minimum(own[index], n)]]
    if not len(index):
        return None
    own, load, gyration = own[index], load[index], bodies.gyration()
    ours = (contacts.body_a[index] == own)[:, None]
    arm = rotate(solution.orientation[own], np.where(ours, contacts.point_a[index], contacts.point_b[index]))
    low, high = np.full((2, n, 3), np.inf) * np.array([1.0, -1.0])[:, None, None]
    np.minimum.at(low, own, arm)
    np.maximum.at(high, own, arm)
    torque = np.zeros((n, 3))
    np.add.at(torque, own, load[:, None] * cross(arm, np.where(ours, 1.0, -1.0) * contacts.normal[index]))
    whole = np.bincount(own, load, minlength=n)
    momentum = rotate(solution.orientation[:n], inertia * local)
    size, turning = np.sqrt(dot(torque, torque)), cross(momentum, torque)
    out = fast & (problem.step * np.sqrt(dot(rate, rate)) * size > LEAN * gyration * whole)
    out &= np.sqrt(dot(turning, turning)) > ACROSS * size * np.sqrt(dot(momentum, momentum))
    spread = np.zeros(n)
    spread[own] = np.sqrt(dot((high - low)[own], (high - low)[own]))
    out &= spread <= PLACE * gyration
    return out if out.any() else None
