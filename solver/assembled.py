# SPDX-License-Identifier: GPL-3.0-or-later
"""What a step is put together to, and what stays from one step to the next."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .energy import kinetic_energies
from .flags import places
from .numbering import Numbering
from .plausible import PairOverlap
from .problem import JointRows, StepProblem
from .reference.rows import start_gaps
from .vectors import inner, moved


@dataclass(eq=False)
class Inert:
    """What of the moving bodies stays the same from step to step, in the order of the solver."""

    mass: np.ndarray  # (B + 1,) [kg], inf for those that do not move; as heavy as damping makes them
    inertia: np.ndarray  # (B + 1, 3) [kg m^2]
    moments: np.ndarray  # (n, 3) [kg m^2], without damping
    reach: np.ndarray  # (n,) [s] for which gravity acts
    decay: np.ndarray  # (n,) what damping leaves of linear velocity
    turn_decay: np.ndarray  # (n,) and of angular velocity


@dataclass
class Assembly:
    """A StepProblem and what is needed to read its solution back."""

    problem: StepProblem
    numbering: Numbering
    contacts: object  # ContactSet
    row_number: np.ndarray  # (R,) rows in the JointTable
    row_rate: np.ndarray  # (R,) velocity each row's coordinate should end with; NaN where its force decides
    end_velocity: np.ndarray  # (n, 6) free velocity at the step's end
    island: np.ndarray  # (n,)
    island_jointed: np.ndarray  # (islands,) bool
    island_looped: np.ndarray  # (islands,) bool: joints close a loop
    joint_links: tuple  # solver bodies of both ends of every row of joints that hold
    pressed: np.ndarray  # (C,) bool: contacts taken to carry load when the integrator was chosen
    struck: np.ndarray | None  # (C,) bool: those taken to hit at the step's end, see missed_hits.py; None: none
    bounces: object  # bounces.Bounces: impacts in the free motion, or None
    curved: np.ndarray | None  # (n,) int: see ``build``; None: none is
    rigid: JointRows | None  # the rows as the velocity phase takes them, where they are the same in every step
    row_end: object  # springs.EndLaw of the rows, or None where nothing is damped
    falls: np.ndarray | None  # (n,) int: groups that fall by mid-step, as ``falling`` tells them
    glance: tuple | None  # what ``by_middle`` saw of contacts that may glide, where none does; None: nobody knows
    turning: object = None  # TurningNormals of contacts, or None

    @cached_property
    def sides(self):
        """Scene numbers (C,) and (C,) of both bodies of the problem's contacts."""
        contacts, order = self.problem.contacts, self.numbering.scene
        return order.take(contacts.body_a), order.take(contacts.body_b)

    @cached_property
    def overlap(self):
        """PairOverlap of the scene bodies of the problem's contacts, as the step starts."""
        return PairOverlap(*self.sides, start_gaps(self.problem), len(self.numbering.scene) - 1)

    @property
    def pairs(self):
        """(C,) ``pair_number`` of the scene bodies of the problem's contacts."""
        return self.overlap.pairs

    @cached_property
    def island_energy(self):
        """(islands,) kinetic energy [J] as the step starts, of what nothing holds about its centre: where it flies to
        must not matter.
        """
        bodies, n, contacts = self.problem.bodies, self.problem.bodies.dynamic_count, self.problem.contacts
        velocity, mass = bodies.velocity[:n], bodies.mass[:n]
        energy = np.bincount(self.island, kinetic_energies(bodies, bodies.orientation[:n], velocity))
        momentum = [np.bincount(self.island, mass * column) for column in velocity[:, :3].T]
        drift = 0.5 * np.square(momentum).sum(axis=0) / np.bincount(self.island, mass)
        for a, b in (self.joint_links, (contacts.body_a, contacts.body_b)):
            held = (a < n) != (b < n)
            drift[self.island[np.minimum(a, b)[held]]] = 0.0
        return energy - drift

    @cached_property
    def springs(self):
        """(S,) numbers of the rows whose coordinate decides their force: springs, and what gives way."""
        rows = self.problem.joints
        return places(np.isnan(self.row_rate) & (rows.beta > 0.0) & (rows.compliance > 0.0))

    @cached_property
    def firm(self):
        """(S,) numbers of the rows whose compliance only gives way in this step, as it vibrates too fast for it."""
        rows = self.problem.joints
        return places((self.row_rate == 0.0) & (rows.beta == 1.0) & (rows.compliance > 0.0))

    @cached_property
    def works(self):
        """(R,) bool: rows that row_work.py tells the work of: springs, dampers, friction, and drives within a force."""
        rows = self.problem.joints
        if self.rigid is not None:
            return np.zeros(len(rows), bool)
        forced = np.isnan(self.row_rate)
        pulls = ~forced & (rows.compliance == 0.0) & np.isfinite(rows.lower) & np.isfinite(rows.upper)
        pulls[self.springs] = True
        if self.row_end is not None:
            pulls |= self.row_end.damping > 0.0
        return pulls

    @cached_property
    def stores(self):
        """(islands,) bool: those with joint rows that do work, springs and what gives way among them."""
        rows, out = self.problem.joints, np.zeros(len(self.island_jointed), bool)
        if self.rigid is None:
            works = self.works.copy()
            works[self.firm] = True
            out[self.island[np.minimum(rows.body_a, rows.body_b)[works]]] = True
        return out


def pressing(assembly, solution):
    """(C,) normal impulses of a solved step, those of its bounces among them [N s]."""
    pressed, bounces = solution.contact_impulse[:, 0], assembly.bounces
    return pressed if bounces is None else pressed + inner(assembly.problem.contacts.normal, bounces.impulse)


def pressed_islands(assembly, solution):
    """(islands,) bool: those with contacts that carry load in a solved step."""
    contacts, out = assembly.problem.contacts, np.zeros(len(assembly.island_jointed), bool)
    if len(contacts):
        touched = moved(solution.contact_impulse)
        out[assembly.island[np.minimum(contacts.body_a, contacts.body_b)[touched]]] = True
    return out


def free_gain(assembly):
    """(n, 3) what free motion adds to velocities in the step of an Assembly, without its bounces [m/s]."""
    bodies = assembly.problem.bodies
    change = assembly.end_velocity[:, :3] - bodies.velocity[: bodies.dynamic_count, :3]
    return change if assembly.bounces is None else change - assembly.bounces.change[:, :3]
