# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts never add energy: what an island may end a step with, and rebounds that are held to it.

    E+ <= E- + sum m a.(x+ - x-) + W        E: kinetic energy, a: acceleration of free motion, W: work of drives

Contacts with what stands still do no work, nor do joints that only hold.  Where a joint of an island drives, springs,
brakes or gives way, W = sum p J u over its rows, with their impulses p: what the momentum equation of the step gives
bodies, dissipation included.  Drives and dampers also work in the velocity phase, by p times the velocity they ask for.
Of islands that touch what is moved W also has what that may give them (led.py), or what the way of the step took: far
from sharp, it stops what rebounds and friction throw out of a jam.  Islands that hang on what is moved are left to the
judge.  What something carries straight on has the law of what stands on the ground, with the energy of its motion past
that (straight_carriers.py).

Newton's law of impact asks of each contact for e times its approach, as free motion had it before the step.  Where
others hit on the way, or levers turned, that is not the speed of the impact, and together it may be more than there is.
Such an island's contacts rebound with a share s of it: at s = 0 they only take energy from free motion, and the largest
s that there is energy for is found.

A thin body that turned far off its free pose has its angular momentum where it has next to no inertia, and its contacts
may part there by themselves: then free motion has more energy at the end pose than it had, and no contact takes it.
Such an island keeps the velocity of its way, which has the impulses of the impact; if that is too fast as well, nothing
at this end pose is right, and the step is done again as two halves.

In mid-step the energy goes up and down a little within a swing, and rises by some 1e-5 of it a step where that turns
far.  No more than a hundredth is left to it, step after step; along a curve, whose facets add and take more, nothing.
Where a swing turns, what facets push out may be more than there is, and is owed until it is there.
What is beyond is taken from the speed.  This is for what the ground or a joint to it holds: of what flies free it would
change the momentum.

A corner that is rolled over bears the weight before and behind the middle; put at the end pose alone, the weight's
impulse drives on what ends behind it.  Such an island, whose excess is no more than its weights could do, keeps the
directions of its velocity and is slowed to the energy there is.
"""

from functools import cached_property

import numpy as np

from .assembled import free_gain
from .copies import replace
from .energy import kinetic_energies
from .flags import every, places, some
from .led import led_energy
from .reference.rows import gaps, start_gaps
from .shared_motion import shared_motion
from .straight_carriers import carriers, past
from .topology import groups_with
from .vectors import length

SPARE = 1e-3  # of the kinetic energy at the start, and of the work of joint rows: what a step may add
LONGEST_STEP = 1.0 / 24.0  # [s] of a step
ROUNDS = 3  # solves for the share
UNEVEN = 3.0  # times by how much the mean speed of what carries is off: 3/2 of it at most, and (1 + e) of that
BEYOND = 0.01  # of the kinetic energy, what mid-step may give in all
MOST = 2.0  # times its speed, to which what moves past what it shares a motion with is brought
PAYS = 0.5  # of the kinetic energy, what a step at most takes of what is owed along a curve


class EnergyLimit:
    """The kinetic energy that the islands of one step may end with.

    held: (islands,) bool, those that nothing moved touches or holds; limit: (islands,) [J].  Where it speaks for any,
    start and work: (n,) kinetic energy before the step and work of free motion's forces [J]; gain: (n, 3) what they add
    to the velocity [m/s]; weight: (n,) the impulse of that [N s]; noise: (n,) energy that poses known to the tolerance
    may hide [J].
    """

    def __init__(self, assembly, solution, judged, tolerance, led, off, stuck):
        """judged: the JudgedStep of the StepSolution; tolerance: [m] that poses are accepted with; led: (B, 6)
        velocities of keyframed bodies at the step's end; off: (n,) [m] by how much poses may be off in the
        step; stuck: (n,) bool, bodies of islands that missed their aim, or are held as they overlap.
        """
        self.assembly, problem, bodies = assembly, assembly.problem, assembly.problem.bodies
        self.solution, self._stuck = solution, stuck
        contacts, n, self._count = problem.contacts, bodies.dynamic_count, len(judged.driven)
        self.orientation, mass = solution.orientation[:n], bodies.mass[:n]
        self.held, self._carriers, (self._rows, spare_of_rows) = ~judged.driven, None, judged.work
        if len(contacts) and some(judged.driven):
            self._carriers = carriers(assembly, solution, judged.driven, led, tolerance)
        if self._carriers is not None:
            self.held = self.held | self._carriers.islands
        given, self._told = np.zeros(self._count), self.held
        if len(contacts) and not every(self.held):
            given, told = led_energy(assembly, solution, ~self.held, led)
            self._told = self.held | told
        self._any = len(contacts) > 0 and some(self._told)
        if not self._any:
            return
        change, before, way = free_gain(assembly), bodies.velocity[:n], solution.position[:n] - bodies.position[:n]
        if self._carriers is not None:
            change, before, way = self._carriers.pass_by(change, before, way, problem.step)
            no_drives = self._carriers.islands & ~self._carriers.drives(assembly)
            self._rows, spare_of_rows = (np.where(no_drives, 0.0, values) for values in judged.work)
        self.gain, pull = change, length(change)
        self.weight = mass * pull
        self.start = start = kinetic_energies(bodies, bodies.orientation[:n], before)
        self.work = mass * np.einsum("bi,bi->b", change, way) / problem.step
        self.limit = self._sum(start + self.work) + self._rows
        if some(self._told & ~self.held):
            taken = self.energy(solution.velocity[:n]) - self.limit
            self.limit = self.limit + np.where(self.held, 0.0, np.maximum(given, taken))
        # Poses are known to the tolerance: weights are lifted by it, once a frame however many steps it takes, and
        # there is a speed that is none yet.
        noise = off * pull / problem.step + 0.5 * (tolerance / LONGEST_STEP) ** 2
        self.noise = mass * noise
        spare = SPARE * start + self.noise
        if self._carriers is not None:  # an impact at any time of the step, of which the speed is told as if even
            spare = spare + UNEVEN * mass * length(before[:, :3]) * self._carriers.uneven
        self._spare, self._spare_of_rows = self._sum(spare), spare_of_rows
        self._least = self.limit + self._spare

    @cached_property
    def _more(self):
        """(islands,) [J] beyond ``_least``, which mostly answers by itself, that they may end with.

        What pushes overlap out of what is stuck lifts, or strains springs, and makes nothing faster: in a wedge it is
        any force, over a way that is noise.
        """
        pushed = self._pushed_out(self.solution, self._spare)
        if some(pushed):
            stored = self._sum(np.maximum(-self.work, 0.0)) + np.maximum(-self._rows, 0.0)
            stuck = groups_with(self.assembly.island, self._stuck, self._count)
            pushed = np.where(stuck, np.minimum(pushed, stored), pushed)
        return pushed + self._spare_of_rows

    def _pushed_out(self, solution, spare):
        """(islands,) work of contacts on overlap that the last step left, as far as it left in this one [J].

        Where it would be no more than ``spare`` (islands,) if all of it left, that is near enough.  The contacts of a
        wedge push with any force, and what they overlap stays.
        """
        problem, contacts = self.assembly.problem, self.assembly.problem.contacts
        start, push = start_gaps(problem), solution.contact_impulse[:, 0]
        index = places(~((start >= 0.0) | (push <= 0.0)))
        if not len(index):
            return np.zeros(self._count)
        island = self.assembly.island.take(np.minimum(contacts.body_a.take(index), contacts.body_b.take(index)))
        force, way = push.take(index) / problem.step, -start.take(index)
        work = np.bincount(island, force * way, self._count)
        if some(much := work > spare):
            at = places(much[island] & (force * way > 0.0))
            left = gaps(contacts.take(index[at]), solution.position, solution.orientation) - start[index[at]]
            way[at] = np.clip(left, 0.0, way[at])
            work = np.bincount(island, force * way, self._count)
        return work

    def add_drives(self, rows, impulse):
        """Take in the work of drives and dampers in the velocity phase: its JointRows, and their impulses (R,).

        At most impulse times the velocity they end with, which their law tells.
        """
        if not self._any or not len(drives := places(rows.target_velocity)):
            return
        work = impulse[drives] * (rows.target_velocity[drives] - rows.compliance[drives] * impulse[drives])
        island = self.assembly.island[np.minimum(rows.body_a, rows.body_b)[drives]]
        work = np.bincount(island, work, self._count)
        self.limit += work
        self._rows = self._rows + work
        self._least += work + SPARE * np.abs(work)

    def allow(self, energy):
        """Let each body's island end with ``energy`` (n,) more [J]: what earlier steps left waiting."""
        if some(energy):
            energy = self._sum(energy)
            self.limit, self._least = self.limit + energy, self._least + energy

    def exceeded(self, velocity):
        """(islands,) bool: those that have more, with velocity (n, 6) at the end pose."""
        if not self._any:
            return np.zeros(self._count, bool)
        energy = self.energy(velocity)
        exceeds = self._told & (energy > self._least)
        return exceeds & (energy > self._least + self._more) if some(exceeds) else exceeds

    def of_weights(self, velocity):
        """(islands,) bool: those with no more excess than weights may do in a step at velocity (n, 6)."""
        work = length(self.past(velocity)[:, :3]) * self.weight
        return self.energy(velocity) - self.limit <= self._sum(work)

    def slow(self, velocity, bodies, along, beyond, taken=None):
        """Take from ``velocity`` (n, 6), in place, what ``bodies`` (n,) bool that go by mid-step have beyond what there
        is, together where they are of one island.  Returns (n,) what mid-step has given them so far [J].

        along: (n,) bool, those that a curve carries, which may have nothing beyond, and pay later what they were too
        slow for; beyond: (n,) as it was before; taken: (n,) [J] what the curve's facets took from them, which they get
        back as far as it is there; or None.
        """
        if not self._any:
            return beyond
        island, given, strict = self.assembly.island, np.zeros(self._count), np.zeros(self._count, bool)
        energy = np.bincount(island, np.where(bodies, self.energies(velocity), 0.0), self._count)
        limit = np.bincount(island, np.where(bodies, self.start + self.work, 0.0), self._count) + self._rows
        np.maximum.at(given, island[bodies], beyond[bodies])
        strict[island[along]] = True
        spare = np.where(strict, -np.minimum(given, PAYS * limit), np.maximum(BEYOND * limit - given, 0.0))
        most = limit + spare
        over = self.held & (energy > most) & (limit > 0.0)
        if taken is not None:
            there = np.minimum(limit, most)
            short = self.held & (energy > 0.0) & (energy < there)
            most = np.where(short, np.minimum(energy + self._sum(taken), there), most)
            over |= short
        shared = shared_motion(self.assembly, self.solution, self.past(velocity)) if some(over) else None
        asked, has = most, energy
        if shared is not None:  # that motion stays, and the rest has what there is beyond its energy
            has = kinetic_energies(self.assembly.problem.bodies, self.orientation, self.past(velocity) - shared)
            has = np.bincount(island, np.where(bodies, has, 0.0), self._count)
            most = np.minimum(np.maximum(most, energy - has), energy + (MOST**2 - 1.0) * has)
            asked = most + has - energy
        factor = np.sqrt(np.where(over, asked, 1.0) / np.where(over, np.maximum(has, 1e-300), 1.0))
        self.scale(velocity, np.where(bodies, factor[island], 1.0), shared)
        given = np.where(self.held, np.maximum(given + np.where(over, most, energy) - limit, 0.0), 0.0)
        return np.where(bodies, given[island], beyond)

    def energy(self, velocity):
        """(islands,) kinetic energy at the end pose [J]."""
        return self._sum(self.energies(velocity))

    def energies(self, velocity):
        """(n,) kinetic energy of each body at the end pose [J]."""
        return kinetic_energies(self.assembly.problem.bodies, self.orientation, self.past(velocity))

    def past(self, velocity):
        """(n, 6) velocity (n, 6) at the step's end past what carries each body."""
        return velocity if self._carriers is None else past(velocity, self._carriers.last)

    def scale(self, velocity, factor, shared=None):
        """Scale ``past`` of the velocity (n, 6) by ``factor`` (n,), in place, but for what is ``shared`` (n, 6)."""
        if self._carriers is None and shared is None:
            velocity *= factor[:, None]
        else:
            moves = self.past(velocity)
            velocity += (factor - 1.0)[:, None] * (moves if shared is None else moves - shared)

    def island_of(self, contacts):
        """(C,) island of each of Contacts."""
        return self.assembly.island[np.minimum(contacts.body_a, contacts.body_b)]  # bodies that do not move come last

    def _sum(self, values):
        return np.bincount(self.assembly.island, values, self._count)


def held_to(limit, problem, result, first, solve, spared=None):
    """(StepProblem, StepSolution) of the velocity phase with rebounds that no island lacks the energy for, and
    (islands,) bool twice: those that are left with the velocity of their way instead, and those that are slowed.

    limit: EnergyLimit; problem, result: of the phase as Newton's law of impact asks for it; first: (n, 6) velocity that
    the position phase ends with; solve(problem, done) -> StepSolution, done: (n,) bool, bodies that need no solution;
    spared: (islands,) bool, islands to be left alone, or None.
    """
    n, island, contacts = problem.bodies.dynamic_count, limit.assembly.island, problem.contacts
    over = limit.exceeded(result.velocity[:n])
    if spared is not None:
        over &= ~spared
    if not some(over):
        return problem, result, over, over
    of_contact = limit.island_of(contacts)
    taken, anew, solves = over[of_contact], over[island], []

    def at(share):
        """Contacts of the islands that have too much rebound with their ``share`` (islands,)."""
        speed = np.where(taken, share[of_contact], 1.0) * contacts.rebound_speed
        asked = replace(problem, contacts=replace(contacts, rebound_speed=speed))
        found = solve(asked, ~anew)
        solves.append(found)
        velocity, impulse = result.velocity.copy(), result.contact_impulse.copy()
        velocity[:n][anew], impulse[taken] = found.velocity[:n][anew], found.contact_impulse[taken]
        return asked, replace(result, velocity=velocity, contact_impulse=impulse)

    held = at(np.zeros(len(over)))
    rest = held[1].velocity[:n]
    stuck = limit.exceeded(rest)
    share = np.where(over & ~stuck, _share(limit, rest, result.velocity[:n]), 0.0)
    for _ in range(ROUNDS):
        if not some(share):
            break
        tried = at(share)
        still = limit.exceeded(tried[1].velocity[:n]) & ~stuck
        if not some(still):
            held = tried
            break
        share = np.where(still, share * _share(limit, rest, tried[1].velocity[:n]), share)
    asked, held = held
    slowed = stuck & limit.of_weights(held.velocity[:n])
    energy = limit.energy(held.velocity[:n])
    factor = np.where(slowed, np.sqrt(np.maximum(limit.limit, 0.0) / np.maximum(energy, 1e-300)), 1.0)
    limit.scale(held.velocity[:n], factor[island])
    kept = stuck & ~slowed & ~limit.exceeded(first)
    held.velocity[:n][kept[island]] = first[kept[island]]
    held.newton_iterations += sum(found.newton_iterations for found in solves)
    held.linear_iterations += sum(found.linear_iterations for found in solves)
    return asked, held, kept, slowed


def _share(limit, rest, full):
    """(islands,) largest part of the way from velocity ``rest`` (n, 6) to ``full`` that there is energy for."""
    e_rest, e_full, e_half = (limit.energy(u) for u in (rest, full, 0.5 * (rest + full)))
    bend = 2.0 * (e_full + e_rest - 2.0 * e_half)  # e_rest + slope s + bend s^2
    slope, room = e_full - e_rest - bend, np.maximum(limit.limit - e_rest, 0.0)
    root = slope + np.sqrt(np.maximum(slope**2 + 4.0 * bend * room, 0.0))
    part = root > 2.0 * room  # else all of it, if there is any room at all
    return np.where(part, 2.0 * room / np.where(part, root, 1.0), room > 0.0)
