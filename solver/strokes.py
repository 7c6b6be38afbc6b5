# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that roll from facet to facet, or rock from edge to edge, lose what the strokes take, and nothing else.

    E+ = r (E- + W_1) + W - W_1        r = 1 - k (1 - E(v_R) / E(v_L))

A body that turns over an edge it stands on loses nothing: its energy changes by the work W of its weight.  Where it
lands on another edge within the step, v_L is the velocity it lands with, v_R what the impact leaves of it without any
weight, and W_1 the work until then.  For a block that is Housner's law (1963), for a wheel that of the rimless wheel.
Where there are corners between, it lands on each of them, and k of one stroke's loss remains (``outline.py``).

The velocity phase finds the direction of such motion, but puts the weight of the whole step at the end pose, where it
brakes or drives what it did not on the way: a block that rocked lost half of its speed at an impact at frame-sized
steps.  Where weight turns the motion round within a step, its energy tells no velocity.  That of the phase stays then,
and what it lacks waits until the body turns on.  A step in which weight takes much of the speed with which a body left
an edge is done again in pieces.  This is for single bodies that stick to what stands still, or goes straight on.
"""

import numpy as np

from .copies import replace
from .energy import kinetic_energies
from .energy_limit import LONGEST_STEP
from .flags import some
from .metrics import row_velocity
from .outline import strokes_between
from .reference.impact import time_to_zero
from .reference.rows import contact_jacobians, gaps
from .rotations import conjugate, rotate
from .topology import groups_with

ROUNDING = 1e-6  # of a body's radius: gaps are detected in single precision
STICKS = 0.999  # of the friction there is
SURE = 2.0  # times the energy that rounding, and velocities known to the tolerance, may hide
TURNS = 0.25  # of the speed with which a body leaves an edge, what its weight may take of it in a step, or add,
MOST = 16  # in pieces of which it is done
TRUSTED = 0.5, 2.0  # of the energy found; beyond, weight turns the motion round within the step, and it waits


def remembered(assembly, left):
    """(islands,) bool: of one body without joints that rolled in the last step, as State.left (n,) tells: where its
    weight turns a body round it hardly turns in a step.
    """
    count = len(assembly.island_jointed)
    rolled = groups_with(assembly.island, left > 0.0, count) & ~assembly.island_jointed
    return rolled & (np.bincount(assembly.island, minlength=count) == 1) if some(rolled) else rolled


def roll_on(limit, rolls, ended, solve, phase, known):
    """Give bodies that roll the energy they have by the law above.

    Returns (islands,) bool: whose velocity it changed; (n, 2) as State.owed of bodies that roll; (n,) as State.left;
    and (n,) in how many pieces the step should be done.

    Args:
        limit: EnergyLimit of the step.
        rolls: (islands,) bool, of one body that may roll.
        ended: StepProblem of the velocity phase, its StepSolution, whose velocity changes, and (C,) bool contacts that
            were loaded.
        solve: solve(problem, done, loaded) -> StepSolution; done: (n,) bool, bodies that need no solution.
        phase: the PositionPhase.
        known: (n, 2) State.owed and (n,) State.left before.
    """
    problem, result, loaded = ended
    island, n, contacts = limit.assembly.island, problem.bodies.dynamic_count, problem.contacts
    step = limit.assembly.problem
    start = gaps(step.contacts, step.bodies.position, step.bodies.orientation)
    speed = _speeds(step.contacts, step.bodies, step.bodies.velocity_at_start())[0]
    scene = limit.assembly.numbering.scene[np.minimum(contacts.body_a, contacts.body_b)]
    radius = phase.collider.model.body_radius[scene]
    stood = start <= np.maximum(phase.fast, ROUNDING * radius)
    stood &= LONGEST_STEP * speed[:, 0] >= -phase.fast  # an edge that is near, but comes down, has yet to land
    lands = loaded & ~stood
    body = np.minimum(contacts.body_a, contacts.body_b)  # what stands still comes last

    def any_of(flags):
        """(n,) bool: bodies with one of those contacts."""
        return np.bincount(body[flags], minlength=n) > 0

    slides = stood & (step.step * np.linalg.norm(speed[:, 1:], axis=1) > phase.fast)
    slides |= contacts.rebound_speed != 0.0
    slides |= loaded & ((contacts.margin_a > 0.0) | (contacts.margin_b > 0.0))
    landing = any_of(lands)
    rolling = (rolls & limit.held)[island] & any_of(loaded) & ~any_of(slides) & (~landing | any_of(stood))
    rolling &= landing | ~any_of(loaded & _slips(problem, result, phase.fast))
    landing &= rolling
    found, left = limit.energies(result.velocity[:n]), np.where(rolling, known[1], 0.0)
    owed, sure = np.where(left > 0.0, known[0][:, 0], 0.0), SURE * _unknown(limit, phase)
    # What is let go begins to roll as backward Euler has it, with an energy that is off by the square of the step.
    on_the_way = np.where(left > 0.0, np.maximum(limit.energies(limit.solution.velocity[:n]), found), 0.0)
    rolling &= np.maximum(limit.start, on_the_way) > sure
    before, work = limit.start + owed, limit.work + _lifted(limit, phase, start, stood)
    velocity, energy, left = result.velocity[:n].copy(), before + work, np.where(left > 0.0, left, np.inf)
    at_hit = problem.bodies.free_velocity.copy()  # the velocity of the start until something lands
    at_hit[:n, :3] -= limit.gain
    turned, clear = velocity - at_hit[:n], np.ones(n, bool)
    if some(landing):
        lands_with = solve(problem, ~landing, stood)
        share, fall = _until_landing(limit, problem, lands, start, lands_with.velocity)
        leaves_with = solve(_from(problem, lands_with.velocity), ~landing, loaded)
        has, leaves = limit.energies(lands_with.velocity[:n]), limit.energies(leaves_with.velocity[:n])
        kept = np.minimum(leaves / np.maximum(has, 1e-300), 1.0)
        for i in np.flatnonzero(landing).tolist():
            spin = lands_with.velocity[i, 3:]
            kept[i] = 1.0 - _strokes(phase, limit.assembly, problem, (i, spin), body == i, stood, lands) * (
                1.0 - kept[i]
            )
        turned[landing] = (lands_with.velocity[:n] - at_hit[:n])[landing]
        # It hits with what it has gathered until then, and has the rest of its weight after.
        at_hit[:n] += share[:, None] * turned
        at_hit[:n, :3] += (1.0 - share)[:, None] * limit.gain
        ends_with = solve(_from(problem, at_hit), ~landing, loaded)
        # The pose is that with the gaps there are, which are within the tolerance, and are none of its energy.
        end = np.where(lands, gaps(step.contacts, limit.solution.position, limit.solution.orientation), 0.0)
        apart = ((ends_with, lands, end), (lands_with, stood, -start))
        off = sum(_held_up(limit, phase, found.contact_impulse[:, 0] * which, gap) for found, which, gap in apart)
        work = np.where(landing, limit.work + off, work)
        left = np.where(landing, np.maximum(kept * (before + fall), 0.0), left)
        energy = np.where(landing, left + work - fall, energy)
        slides = stood & _slips(problem, lands_with, phase.fast) | loaded & _slips(problem, leaves_with, phase.fast)
        rolling &= ~landing | ~any_of(slides)
        clear &= ~landing | ~any_of(loaded & _slips(problem, ends_with, phase.fast))
        velocity[landing] = ends_with.velocity[:n][landing]
        for one in (lands_with, leaves_with, ends_with):
            result.newton_iterations += one.newton_iterations
            result.linear_iterations += one.linear_iterations
    has, (low, high) = limit.energies(velocity), TRUSTED
    told = rolling & clear & (energy > sure) & (energy > low * has) & (energy < high * has)
    factor = np.ones(n)
    factor[told] = np.sqrt(energy[told] / has[told])
    limit.scale(velocity, factor)
    result.velocity[:n][told] = velocity[told]
    limit.allow(np.where(told, np.maximum(owed, 0.0), 0.0))
    waits = np.stack([np.where(told, 0.0, energy - found), np.maximum(limit.start, found)], axis=1)
    pieces = np.where(rolling, _pieces(limit, phase, turned, left), 1)
    return groups_with(island, told, len(rolls)), waits, np.where(rolling, left, 0.0), pieces


def _pieces(limit, phase, turned, left):
    """(n,) number of pieces of the step in which weight turns bodies by velocities ``turned`` (n, 6), too much for
    those that ``left`` an edge with that energy (n,) [J], and lift the other by more than the tolerance.
    """
    bodies, n = limit.assembly.problem.bodies, len(left)
    worth = np.isfinite(left) & (left > 0.5 * limit.weight / limit.assembly.problem.step * phase.fast)
    turns = kinetic_energies(bodies, limit.orientation, turned)
    share = np.sqrt(np.divide(turns, left, out=np.zeros(n), where=worth))
    return np.clip(np.ceil(share / TURNS), 1, MOST).astype(int)


def rock(attempt, _):
    """(shares of the step at which to split it, (n,) bool: bodies that rock too fast for it); None: none do."""
    pieces = attempt.end.pieces
    if pieces is None or not some(pieces > 1):
        return None
    return tuple(np.arange(1, most := int(pieces.max())) / most), pieces > 1


def _held_up(limit, phase, impulse, gap):
    """(n,) energy [J] that poses have by a ``gap`` (C,) of the contacts that bear the bodies, by ``impulse`` (C,)."""
    step = limit.assembly.problem
    contacts, n = step.contacts, step.bodies.dynamic_count
    own = np.minimum(contacts.body_a, contacts.body_b)
    index = np.flatnonzero((impulse > 0.0) & (own < n))
    own, push, sign = own[index], impulse[index], np.where(contacts.body_a[index] == own[index], 1.0, -1.0)
    weight = -sign * step.bodies.mass[own] * np.einsum("ci,ci->c", contacts.normal[index], limit.gain[own]) / step.step
    total = np.bincount(own, push, n)
    return np.bincount(own, push / total[own] * weight * np.clip(gap[index], -phase.fast, phase.fast), n)


def _slips(problem, found, near):
    """(C,) bool: contacts that slide at the end, with all of their friction, in a StepSolution of the velocity phase.

    near: [m] in a frame, which is none.
    """
    contacts, impulse = problem.contacts, found.contact_impulse
    full = np.linalg.norm(impulse[:, 1:], axis=1) > STICKS * contacts.friction * impulse[:, 0]
    if some(full):
        slip = _speeds(contacts, problem.bodies, found.velocity)[0][:, 1:]
        full &= LONGEST_STEP * np.linalg.norm(slip, axis=1) > near
    return full


def _unknown(limit, phase):
    """(n,) energy [J] that velocities known to the tolerance and gaps known to rounding may hide."""
    assembly = limit.assembly
    n = assembly.problem.bodies.dynamic_count
    radius, mass = phase.collider.model.body_radius[assembly.numbering.scene[:n]], assembly.problem.bodies.mass[:n]
    still = 0.5 * mass * (phase.fast / LONGEST_STEP) ** 2
    return still + ROUNDING * radius * limit.weight / assembly.problem.step


def _lifted(limit, phase, start, stood):
    """(n,) work [J] of contacts ``stood`` (C,) bool on what gaps changed by, within the tolerance, from ``start`` (C,).

    Weights do as much less, or more: without it a body has the energy of its pose but for those gaps.
    """
    step, solution = limit.assembly.problem, limit.solution
    contacts, index = step.contacts, np.flatnonzero(stood & (solution.contact_impulse[:, 0] > 0.0))
    out = np.zeros(step.bodies.dynamic_count + 1)
    change = gaps(contacts.take(index), solution.position, solution.orientation) - start[index]
    change = np.clip(change, -phase.fast, phase.fast)
    own = np.minimum(contacts.body_a, contacts.body_b)[index]
    np.add.at(out, own, solution.contact_impulse[index, 0] * change / step.step)
    return out[:-1]


def _speeds(contacts, bodies, *velocities):
    """(C, 3) gap velocity and slip [m/s] at the start pose of problem.Bodies with each of ``velocities`` (B, 6)."""
    rows = contact_jacobians(contacts, bodies.position, bodies.orientation)
    return [row_velocity(*rows, (contacts.body_a, contacts.body_b), velocity) for velocity in velocities]


def _from(problem, velocity):
    """The StepProblem with another free velocity (B, 6)."""
    return replace(problem, bodies=replace(problem.bodies, free_velocity=velocity))


def _until_landing(limit, problem, lands, start, turned):
    """(n,) share of the step until the bodies land, and (n,) work of their weights until then [J].

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
    return share, share * bodies.mass[:n] * np.einsum("bi,bi->b", limit.gain, mean)


def _strokes(phase, assembly, problem, turning, own, stood, lands):
    """The k of a dynamic body: its number and angular velocity.  own, stood, lands: (C,) bool, its contacts, those
    before and after.
    """
    contacts, (body, spin) = problem.contacts, turning
    first, back = contacts.body_a == body, conjugate(problem.bodies.orientation[body])
    point = np.where(first[:, None], contacts.point_a, contacts.point_b)
    down = rotate(back, np.where(first[:, None], -contacts.normal, contacts.normal)[own & lands].mean(axis=0))
    axis = rotate(back, spin / max(np.linalg.norm(spin), 1e-300))

    def across(vector):
        """Without what lies along the edges, of which not all corners need touch."""
        return vector - np.multiply.outer(vector @ axis, axis)

    corners = phase.assembler.outlines.corners(int(assembly.numbering.scene[body]))
    ends = (across(point[own & flags].mean(axis=0)) for flags in (stood, lands))
    return strokes_between(across(corners), *ends, across(down))
