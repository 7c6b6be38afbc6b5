# SPDX-License-Identifier: GPL-3.0-or-later
"""What carries an island straight on, all of it at one velocity: energies are what they are to that.

On a truck a push of the ground does work, and whatever stands there has kinetic energy that no law keeps.  To the truck
ground does none, as what stands; and where it gets faster or slower, all of it alike, its gain is one more gravity:

    E+ <= E- + sum m (a - A).(x+ - x- - h V) + W        V: mean velocity of what carries, A: its acceleration
"""

from dataclasses import dataclass

import numpy as np

from .assembled import pressing
from .bounces import moving_first
from .flags import places, some
from .point_velocity import at_places
from .reference.rows import start_gaps
from .rotations import conjugate, logarithm, multiply
from .topology import groups_with
from .vectors import length


@dataclass
class Carriers:
    """The islands that are carried so, and how fast what carries each body is; 0 for others."""

    islands: np.ndarray  # (islands,) bool
    first: np.ndarray  # (n, 3) at the step's start [m/s]
    mean: np.ndarray  # (n, 3) over its way
    last: np.ndarray  # (n, 3) at its end
    uneven: np.ndarray  # (n,) by how much its mean is off that of a gain as even as that [m/s]

    def pass_by(self, gain, velocity, way, step):
        """What free motion adds to velocities [m/s] (n, 3), velocity (n, 6) at the step's start, and way (n, 3) in a
        step [m, s], all past what carries each body.
        """
        return gain - (self.last - self.first), past(velocity, self.first), way - step * self.mean

    def drives(self, assembly):
        """(islands,) bool: those with joint rows that may give energy."""
        rows = assembly.problem.joints
        gives = (rows.beta != 1.0) | (rows.compliance != 0.0) | (assembly.row_rate != 0.0)
        return groups_with(assembly.island, np.minimum(rows.body_a, rows.body_b)[gives], len(self.islands))


def past(velocity, carried):
    """(n, 6) velocity (n, 6) past what moves at ``carried`` (n, 3)."""
    return np.hstack([velocity[:, :3] - carried, velocity[:, 3:]])


def carriers(assembly, solution, driven, led, noise):
    """The Carriers of a solved step; None where there are none.

    driven: (islands,) bool, those that something else than joint rows may give energy; led: (B, 6) velocities of
    keyframed bodies at the step's end; noise: [m] of the way, by which places of what carries may be apart.
    """
    problem, bodies = assembly.problem, assembly.problem.bodies
    if not some(driven) or not carry(problem):
        return None
    contacts, loaded = problem.contacts, places(pressing(assembly, solution) > 0.0)
    gives = start_gaps(problem)[loaded] < -noise
    if contacts.surface_velocity is not None:
        gives |= contacts.surface_velocity[loaded].any(axis=1)
    if contacts.surface_drift is not None:
        gives |= contacts.surface_drift[loaded] != 0.0
    ours = driven.copy()
    ours[assembly.island[moving_first(contacts)[0][loaded[gives]]]] = False
    times = bodies.velocity_at_start(), bodies.velocity, led
    ours, (first, mean, last) = _together(assembly, loaded, ours, times, noise)
    off = np.abs(0.5 * (first + last) - mean)
    ours &= 2.0 * problem.step * off.max(axis=1) <= noise
    if not some(ours):
        return None
    first, mean, last, off = (_of_bodies(speed, ours, assembly.island) for speed in (first, mean, last, off))
    return Carriers(ours, first, mean, last, length(off))


def go_on(assembly, solution, assembler, state, noise):
    """(islands,) bool: those that are pushed by what moves straight on, at one velocity in this step and in the next:
    what lands there has not all of its speed by the step's end, and gets it in the next, as on what stands.

    assembler: Assembler; state: State at the step's start; noise: as in ``carriers``.
    """
    problem, bodies, n = assembly.problem, assembly.problem.bodies, assembly.problem.bodies.dynamic_count
    every_one, step = np.ones(len(assembly.island_jointed), bool), problem.step
    if assembler.carried is not None:  # bodies that are ahead, which move as they are pushed
        return ~every_one
    until, order = state.time + step, assembly.numbering.scene[n:-1]
    far, turned = assembler.prescribed(state, until + step)
    after, turn = bodies.velocity.copy(), multiply(turned[order], conjugate(solution.orientation[n:-1]))
    after[n:-1] = np.hstack([far[order] - solution.position[n:-1], logarithm(turn)]) / step
    times = bodies.velocity_at_start(), bodies.velocity, after
    loaded = places(pressing(assembly, solution) > 0.0)
    ours, (first, mean, then) = _together(assembly, loaded, every_one, times, noise)
    return ours & (step * np.maximum(np.abs(first - mean), np.abs(then - mean)).max(axis=1) <= noise)


def carry(problem):
    """Whether what moves, and not freely, is near any body of a StepProblem or tied to it."""
    return some(problem.bodies.velocity[problem.bodies.dynamic_count :]) and some(near_movers(problem))


def near_movers(problem):
    """(B,) bool: what moves, and not freely, and is near a body of a StepProblem or tied to it."""
    bodies, out = problem.bodies, np.zeros(len(problem.bodies.mass), bool)
    for table in (problem.contacts, problem.joints):
        out[table.body_a] = out[table.body_b] = True
    out[: bodies.dynamic_count] = False
    return out & bodies.velocity.any(axis=1)


def carried_at(assembly, velocity, noise):
    """(n, 3) how fast what carries each body is, where all that its island is near or hangs on moves straight on at one
    velocity; else 0 [m/s].  Only to be asked where something does ``carry``.

    velocity: (B, 6); noise: [m] in a step, by which it may differ.
    """
    every_one = np.ones(len(assembly.island_jointed), bool)
    ours, (speed,) = _together(assembly, np.arange(len(assembly.problem.contacts)), every_one, (velocity,), noise)
    return _of_bodies(speed, ours, assembly.island)


def _of_bodies(speed, ours, island):
    """(n, 3) ``speed`` (islands, 3) of those ``ours`` (islands,) bool, and 0 of others; island: (n,) of bodies."""
    return np.where(ours[:, None], speed, 0.0)[island]


def _together(assembly, touched, ours, times, noise):
    """(islands,) bool: those of ``ours`` which contacts ``touched`` and joints tie to what moves straight on, all of it
    at one velocity; and its velocities (islands, 3).

    times: velocities (B, 6) of which that is to be so; noise: as in ``carriers``.
    """
    problem, bodies, n = assembly.problem, assembly.problem.bodies, assembly.problem.bodies.dynamic_count
    contacts, rows, found = problem.contacts, problem.joints, []
    for table, which, points in (
        (contacts, touched, (contacts.point_a, contacts.point_b)),
        (rows, np.arange(len(rows)), (rows.anchor_a, rows.anchor_b)),
    ):
        for own, other, point in zip((table.body_a, table.body_b), (table.body_b, table.body_a), points, strict=True):
            ties = which[(own[which] >= n) & (other[which] < n)]
            found.append((own[ties], point[ties], assembly.island[other[ties]]))
    body, point, island = (np.concatenate(each) for each in zip(*found, strict=True))
    ours, (low, high) = ours.copy(), np.full((2, len(ours), 3 * len(times)), np.inf)
    ours[island[~bodies.straight(problem.step)[body]]] = False
    each, high = np.hstack([at_places(bodies, velocity, body, point) for velocity in times]), -high
    np.minimum.at(low, island, each)
    np.maximum.at(high, island, each)
    ours &= low[:, 0] <= high[:, 0]  # others touch nothing of the kind
    low[~ours] = high[~ours] = 0.0
    ours &= problem.step * (high - low).max(axis=1) <= noise
    return ours, np.split(0.5 * (low + high), len(times), axis=1)
