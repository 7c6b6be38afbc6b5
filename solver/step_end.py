# SPDX-License-Identifier: GPL-3.0-or-later
"""How a step ends once its end pose is known: with which velocity, and in which state."""

from dataclasses import dataclass

import numpy as np

from .bounces import moving_first
from .components import anchored
from .copies import replace
from .energy_limit import EnergyLimit, held_to
from .facets import taken_by_facets
from .flags import every, some
from .free_momentum import keep_angular_momentum
from .handed_eps import EPS_SMALLEST
from .hits_first import after_hits
from .hits_in_flight import in_flight, unheld
from .joint_damping import damp_joints
from .kept_energy import keep_energy
from .lifts import dragged, on_lifts
from .midway import led_midway, push_midway
from .proximal import SolveOptions
from .rolling import rolling
from .roly_polies import give_back, pieces_of, roll_alone
from .straight_carriers import go_on, near_movers
from .strokes import remembered, roll_on
from .struck import strikers, struck_within
from .topology import groups_with, whole_groups
from .velocity_phase import moves, velocity_problem

FIRST_EPS = 1e-2
EPS_FACTORS = np.array([1.0, 0.3, 0.3, 0.3, 1.0, 1.0, 1.0, 10.0])
"""Of eps, by the Newton iterations of the step, the last: and more.  None: sweeps alone solved it, and tell nothing."""
RIDE = 1.0  # [s] for which a body counts as carried along a curve: it is slow at the ends of a swing
ALONE = 0.1  # of the tolerance, what a body is held to that rebounds and touches no other one
LONGEST_STEP = 1.0 / 24.0  # [s] end velocities are held to tolerance / this, so that short steps do not loosen them


@dataclass
class EndVelocity:
    """The velocity a step ends with, what it cost, and how well it keeps the laws of the velocity phase."""

    velocity: np.ndarray  # (n, 6)
    newton: int
    linear: int
    body: np.ndarray  # (n,) worst residual each body has a part in [m/s]; 0 where nothing asked for the phase
    joint: np.ndarray  # (joints,) that of each joint's rows [m/s or rad/s]
    gained: np.ndarray  # (n,) bool: bodies of islands that end with more energy than there is
    strays: np.ndarray | None = None  # (n,) bool: bodies for which the step is too long (kept_energy.py); None: none
    lacks: np.ndarray | None = None  # (n,) speed that it leaves those off by [m/s]; None: none
    beyond: np.ndarray | None = None  # (n,) see State.beyond; None: as it was
    ruled: np.ndarray | bool = False  # (n,) see State.ruled and State.owed
    owed: np.ndarray | float = 0.0
    left: np.ndarray | float = 0.0  # (n,) see State.left
    spun: np.ndarray | None = None  # (n,) see free_momentum.py; None: nothing to tell
    hits: np.ndarray | tuple = ()  # (K,) contacts of hits_in_flight.py
    phase: tuple | None = None  # StepProblem and StepSolution of the phase, (C,) bool contacts of the step in it
    pieces: np.ndarray | None = None  # (n,) int: see strokes.py; None: nothing rolls
    kinks: object = None  # curves.Bends at which balls were hit, or None


def end_velocity(solved, judged, state, phase, joint_damping, sound):
    """The EndVelocity of a step.

    solved: its Solved; judged: its JudgedStep; phase: the PositionPhase that found it; joint_damping: [1/s];
    sound: (n,) bool, bodies within tolerance.
    """
    assembly, solution, kinks, fine = solved.assembly, solved.solution, solved.kinks, solved.fine
    n = assembly.problem.bodies.dynamic_count
    velocity = judged.velocity(sound)
    decay = np.exp(-joint_damping * assembly.problem.step)
    if decay < 1.0:
        pose = solution.position, solution.orientation
        velocity = damp_joints(velocity, assembly.problem.bodies, assembly.joint_links, pose, decay)
    led, rides, struck = assembly.problem.bodies.velocity, None, struck_within(assembly, solution, state, phase)
    if phase.assembler.prescribes:
        until, number, near = state.time + assembly.problem.step, assembly.numbering, near_movers(assembly.problem)
        led = phase.assembler.hand_over.led(until, state, number, led, solution.orientation, near)
        led = strikers(assembly, solution, state, phase, struck, led)
        rides = on_lifts(assembly.problem, solution.contact_impulse[:, 0] > 0.0, led, phase.fast)
    # What misses its aim, or is held as it overlaps, would be lifted by as much again in each frame to come.
    stuck = solved.statistics.held | (judged.body[:n] > solved.tolerance)
    part = assembly.problem.step / (phase.assembler.frame or assembly.problem.step)
    off = part * np.where(stuck, phase.slow, phase.fast)
    limit = EnergyLimit(assembly, solution, judged, phase.fast, led, off, stuck)
    gained = limit.exceeded(velocity)
    left = np.zeros(n) if state.left is None else state.left[assembly.numbering.scene[:n]]
    rolls = judged.rolls | remembered(assembly, left)
    need = asked_for = _asked(solved, judged, state, phase) | gained | rolls
    for asks in (solved.leans, rolling(assembly, solution), rides):
        if asks is not None:
            need = need | groups_with(assembly.island, asks, len(need))
    (flying, loose), off = unheld(assembly, solution), solved.off
    hits = in_flight(assembly.problem, solution, flying, phase.fast)
    if len(struck):
        need[assembly.island[moving_first(assembly.problem.contacts)[0][struck]]] = True
    if len(hits):
        need[assembly.island[assembly.problem.contacts.body_a[hits]]] = True
        off = np.zeros(len(assembly.problem.contacts), bool) if off is None else off.copy()
        off[hits] = True
    out = EndVelocity(velocity, 0, 0, np.zeros(n), np.zeros(len(phase.joints.joints)), gained[assembly.island])
    out.hits = hits
    if some(need):
        mask, before = need[assembly.island], _ruled(state, assembly.numbering.scene[:n])
        problem, loaded, taken = velocity_problem(
            assembly, solution, phase.judge, judged, velocity, mask, off, phase.fast
        )
        problem.bodies.velocity, problem.bodies.free_velocity[n:] = led, led[n:]
        if rides is not None:
            only = groups_with(assembly.island, rides, len(need)) & ~asked_for
            part = loaded & moves(assembly.problem.contacts, only[assembly.island], len(led))
            problem.contacts = dragged(problem.contacts, assembly.problem, part, led)
        if kinks is not None:
            problem.bodies.free_velocity[kinks.body] = kinks.free_velocity(
                assembly.problem.bodies, assembly.end_velocity
            )
        tolerance = _aimed(assembly, solved.tolerance) * min(1.0, assembly.problem.step / LONGEST_STEP)
        eps = np.maximum(state.eps[assembly.numbering.scene[:n]], EPS_SMALLEST)
        options = SolveOptions(tolerance, eps, solved.tolerance >= phase.fast, velocity)

        def solve(problem, done, loaded=loaded):
            return phase.solver.solve_velocity(problem, replace(options, done=done), loaded)[0]

        speed, tells = after_hits(problem, loaded, assembly, solve)
        if tells:
            problem = replace(problem, contacts=replace(problem.contacts, rebound_speed=speed))
        result = solve(problem, None if every(mask) else ~mask)
        for told in tells:
            result.newton_iterations += told.newton_iterations
            result.linear_iterations += told.linear_iterations
        limit.add_drives(problem.joints, result.joint_impulse)
        middle, along = _by_middle(assembly)
        spared = groups_with(assembly.island, along, len(need))
        problem, result, kept, slowed = held_to(limit, problem, result, velocity, solve, spared)
        rolls, waits = rolls & ~kept & ~spared, None
        if len(loaded) and some(rolls & limit.held):
            known = before[1], left
            rolled, waits, out.left, out.pieces = roll_on(limit, rolls, (problem, result, loaded), solve, phase, known)
            kept |= rolled
        asked, lent = problem, None
        fitted = before[0], phase.fast / LONGEST_STEP, phase.fast
        alone = led_midway(assembly, solution, judged, (problem, result), fitted) & need & ~kept & ~slowed
        if some(alone):
            allows = before[1], tolerance / assembly.problem.step
            asked, result, lent = push_midway(assembly, solution, (problem, result), solve, alone, allows)
        out.ruled = ruled = mask & ~(kept | slowed)[assembly.island]
        out.newton, out.linear = result.newton_iterations, result.linear_iterations
        residuals, body = phase.judge.end(asked, result, loaded)
        if (alone := roll_alone(assembly, solution, phase.fast)) is not None:
            give_back(limit, result.velocity[:n], velocity, alone & ~(kept | slowed)[assembly.island])
            asks = pieces_of(assembly, solution, alone)
            out.pieces = asks if out.pieces is None else np.maximum(out.pieces, asks)
        if solved.leans is not None:
            middle, along = middle | solved.leans, along | solved.leans
        if (rolls := phase.surfaces.along(assembly)) is not None:
            middle, along = middle | rolls, along | rolls
        if some(middle):
            beyond = np.zeros(n) if state.beyond is None else state.beyond[assembly.numbering.scene[:n]]
            lost = None
            if fine is not None and some(fine & along):
                lost = taken_by_facets(assembly, solution, (problem, result, velocity), fine & along)
            out.beyond = limit.slow(result.velocity[:n], middle, along, beyond, lost)
        out.velocity = result.velocity[:n] if every(mask) else np.where(mask[:, None], result.velocity[:n], velocity)
        known = sound, *before, phase.fast / LONGEST_STEP
        late = problem, result
        kept = keep_energy(out.velocity, assembly, solution, judged, late, known, decay, phase.fast)
        out.velocity, out.owed, out.strays, out.lacks = kept
        if lent is not None:
            out.owed = np.where(out.owed[:, 1:] > 0.0, out.owed, lent)
        if waits is not None:
            out.owed = np.where(out.left[:, None] > 0.0, waits, out.owed)
        out.body = body[:n] if every(ruled) else np.where(ruled, body[:n], 0.0)
        np.maximum.at(out.joint, problem.joints.joint, residuals.joint_row)
        out.phase, out.kinks = (problem, result, taken), kinks
        out.gained = limit.exceeded(out.velocity)[assembly.island]
    if len(loose):
        balls = phase.collider.model.balls[assembly.numbering.scene[:n]]
        kept = keep_angular_momentum(out.velocity, assembly, solution, loose, out.gained, balls)
        out.velocity, out.spun, sound = kept
        out.gained = out.gained & ~sound
    return out


def _aimed(assembly, tolerance):
    """(n,) [m] that bodies aim at in the phase: ``tolerance`` (n,), of those that rebound by themselves ALONE of it.

    What a solve leaves is to one side, and each bounce makes more of it; an iteration more costs next to nothing.
    """
    contacts, n = assembly.problem.contacts, len(tolerance)
    if contacts.rebound_speed is None or not some(contacts.rebound_speed):
        return tolerance
    hits = np.zeros(n + 1, bool)
    hits[np.minimum(np.minimum(contacts.body_a, contacts.body_b)[contacts.rebound_speed != 0.0], n)] = True
    alone = hits[:n] & (np.bincount(assembly.island)[assembly.island] == 1)
    return np.where(alone, ALONE * tolerance, tolerance)


def _asked(solved, judged, state, phase):
    """(islands,) bool: those that the judge wants the velocity phase for, but for what lands on what goes on evenly."""
    if not some(judged.lands):
        return judged.need
    return judged.need & ~(judged.lands & go_on(solved.assembly, solved.solution, phase.assembler, state, phase.fast))


def _ruled(state, scene):
    """State.ruled and State.owed of the bodies ``scene`` (n,) numbers, of which nothing is known in the first step."""
    if state.ruled is None:
        return np.zeros(len(scene), bool), np.zeros((len(scene), 2))
    return state.ruled[scene], state.owed[scene]


def _by_middle(assembly):
    """Two (n,) bool: bodies that go by mid-step though contacts hold them, if something that does not move holds their
    island, with those that joints hold to them; and those of them that a curve carries.
    """
    problem, island, jointed = assembly.problem, assembly.island, assembly.island_jointed
    n, contacts, along = problem.bodies.dynamic_count, problem.contacts, np.zeros(problem.bodies.dynamic_count, bool)
    if contacts.glides is None:
        return along, along
    if assembly.curved is not None:
        along = (assembly.curved > 0) & (problem.bodies.midpoint[:n] > 0.0)
        along |= whole_groups(island, along) & jointed[island]
    glide = np.minimum(contacts.body_a, contacts.body_b)[contacts.glides]
    swings = whole_groups(island, anchored(assembly.joint_links, n)) & whole_groups(island, glide)
    return along | swings, along


def moved_state(state, assembly, solution, statistics, end, bent=None):
    """The State a step leads to: time, poses, velocities, what each body's island goes on with, and who is on a curve.

    end: its EndVelocity; bent: (n,) bool, bodies that a curve carried in it, or None.
    """
    number, bodies, n = assembly.numbering, assembly.problem.bodies, assembly.problem.bodies.dynamic_count
    place = number.solver[:-1]
    moved = replace(
        state, time=state.time + assembly.problem.step, position=solution.position.take(place, 0),
        orientation=solution.orientation.take(place, 0), eps=state.eps.copy(), swept=np.zeros(len(state.eps)),
        velocity=np.concatenate([end.velocity, bodies.velocity[n:]]).take(place, 0),
    )  # fmt: skip
    factor = EPS_FACTORS.take(statistics.newton, mode="clip")
    eps = np.minimum(factor * statistics.eps, FIRST_EPS)
    if not every(statistics.constrained):
        eps[~statistics.constrained] = FIRST_EPS
    moved.eps[number.scene[:n]] = eps
    if end.phase is not None or state.ruled is not None:
        moved.ruled, moved.owed = np.zeros(len(state.eps), bool), np.zeros((len(state.eps), 2))
        moved.ruled[number.scene[:n]], moved.owed[number.scene[:n]] = end.ruled, end.owed
        moved.left = np.zeros(len(state.eps))
        moved.left[number.scene[:n]] = end.left
    moved.swept[number.scene[:n]] = statistics.swept
    if state.locked is not None or some(statistics.held):
        moved.locked = np.zeros(len(state.eps), bool) if state.locked is None else state.locked.copy()
        moved.locked[number.scene[:n]] = statistics.held
    if end.beyond is not None:
        moved.beyond = np.zeros(len(state.eps)) if state.beyond is None else state.beyond.copy()
        moved.beyond[number.scene[:n]] = end.beyond
    if state.along is not None or bent is not None:
        along = np.zeros(len(state.eps)) if state.along is None else state.along
        moved.along = np.maximum(along - assembly.problem.step, 0.0)
        if bent is not None:
            moved.along[number.scene[:n][bent]] = RIDE
    return moved
