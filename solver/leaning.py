# SPDX-License-Identifier: GPL-3.0-or-later
"""Coins, plates and loose wheels that roll or spin on their rim, leaning: steps in which they turn too far.

What leans on one place is pushed beside its middle, and by its spin gives way across that push instead of falling:
with L its angular momentum and T the torque of the push, its axis goes round at T x L / |L|^2.  Only steps in which it
turns by little tell of that (gyroscopic.py says by how much it gives way): a coin that spun on its rim at 25 rad/s lay
down within half a second at 24 frames a second.  What has no axis of symmetry tumbles, and keeps no lean.

A lean is worth a step for each tolerance that it can move the body by in a frame, and none where even those would not
tell of it.  Without that a pin of 2 x 4 mm at 500 rad/s took 480 solves a frame.  With the 12 that are the tolerances
in its radius of gyration it keeps 0.78 of its energy in half a second, with 64 steps 0.97; with 2 it lies down.

Nor is it given what a step may add to the energy of others for the noise of poses (energy_limit.py): its rim rolls
on in each step, and a coin gained an eighth of its speed in a second so.
"""

import numpy as np

from .bounces import moving_first
from .flags import places, some
from .gyroscopic import FRAME, gives_way, shortest_step
from .reference.rotation import conjugate, cross, dot, rotate
from .vectors import length

TURN = 0.06  # [rad] by which what leans may give way across its spin in a step;
TOLD = 0.3  # [rad] of that in the shortest steps: with more, longer ones tell as little of its lean
MOST = 128  # of those in a FRAME: coins of 8 cm at 300 rad/s do not gain from 256
ROUNDED = 1e-9  # how far a step may be above the shortest and count as that
LEAST = 0.01  # [rad] of that, below which short steps tell all there is
LEAN = 0.02  # [rad] and that times how far beside its middle it is pushed, in radii of gyration: upright 0
PLACE = 0.5  # radii of gyration: loads that are farther apart hold its lean
ACROSS = 0.5  # sine of the angle between spin and torque, at least: what falls turns about the torque
ALIKE = 0.02  # by which two principal moments may differ, and the third does, for it to have an axis


def leaning(assembly, solution, fast):
    """Two (n,) bool: bodies without joints that lean on one place of what stands and give way across their spin in a
    solved step, and those of them that turn too far in it; None: there are none.

    fast: tolerance of what moves fast [m].
    """
    problem = assembly.problem
    if not len(problem.contacts):
        return None
    bodies, n, h = problem.bodies, problem.bodies.dynamic_count, problem.step
    pushes = places(solution.contact_impulse[:, 0] > 0.0)
    spin = solution.velocity[:n, 3:]
    turns = h**2 * dot(spin, spin) > 0.25 * LEAST**2  # a disc gives way at most twice as fast as it spins
    turns &= ~assembly.island_jointed[assembly.island]
    if not len(pushes) or not some(turns):
        return None
    own, other = (side.take(pushes) for side in moving_first(problem.contacts))
    both = places(other < n)
    turns[own.take(both)] = turns[other.take(both)] = False  # in heaps others hold it
    if not some(turns):
        return None
    inertia = bodies.inertia[:n]
    local = rotate(conjugate(solution.orientation[:n]), spin)
    rate = local * gives_way(inertia)
    gives = h * np.sqrt(dot(rate, rate))
    turns &= (gives > LEAST) & _has_axis(inertia)
    pushes = pushes[np.append(turns, False)[np.minimum(own, n)]]
    if not len(pushes):
        return None
    torque, load, spread = _pushed(problem.contacts.take(pushes), solution, pushes, n)
    momentum, beside, gyration = rotate(solution.orientation[:n], inertia * local), length(torque), bodies.gyration()
    leans = turns & (beside > 0.0) & (spread <= PLACE * gyration)
    leans &= length(cross(momentum, torque)) > ACROSS * beside * length(momentum)
    if not some(leans):
        return None
    shortest = np.maximum(shortest_step(gyration, fast), FRAME / MOST)
    told = (h > (1.0 + ROUNDED) * shortest) & (gives * shortest <= TOLD * h)
    return leans, leans & told & (gives > TURN) & (gives * beside > LEAN * gyration * load)


def _has_axis(inertia):
    """(n,) bool: of principal moments (n, 3) two are alike, and the third is not."""
    low, middle, high = np.sort(inertia, axis=1).T
    return (middle - low <= ALIKE * middle) != (high - middle <= ALIKE * high)


def _pushed(contacts, solution, pushes, n):
    """Of n bodies the torque (n, 3) [N m s] and sum (n,) [N s] of normal impulses of their contacts with what stands,
    at the end pose, and how far apart (n,) those are [m].

    contacts: those at ``pushes`` in the StepSolution.
    """
    (own, _), impulse = moving_first(contacts), solution.contact_impulse[pushes, 0]
    first = (contacts.body_a == own)[:, None]
    arm = rotate(solution.orientation[own], np.where(first, contacts.point_a, contacts.point_b))
    push = np.where(first, impulse[:, None], -impulse[:, None]) * contacts.normal
    low, high, torque = np.full((n, 3), np.inf), np.full((n, 3), -np.inf), np.zeros((n, 3))
    np.minimum.at(low, own, arm)
    np.maximum.at(high, own, arm)
    np.add.at(torque, own, cross(arm, push))
    spread = np.zeros(n)
    spread[own] = length((high - low)[own])
    return torque, np.bincount(own, impulse, n), spread
