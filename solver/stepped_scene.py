# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene that is stepped: its parts, what it keeps from step to step, and how it rests."""

from types import SimpleNamespace

import numpy as np

from .assemble import Assembler
from .attempt import StepOutcome
from .collision import Collider
from .contact_set import carry_impulses, no_contacts
from .copies import replace
from .force_recorder import ForceRecorder
from .glued import Glue
from .halving import DEEPEST
from .late_forces import LateForces, late_contacts, with_late
from .parts import kept_forces
from .plausible import PairOverlap, plausible, way_moved
from .position_phase import PositionPhase
from .rest import KINDS, Rest, Sleep
from .state import State
from .step_end import FIRST_EPS, LONGEST_STEP
from .straight_flight import StraightFlight

PATIENCE = 3  # frames given up on before steps are halved less


class SteppedScene:
    """One scene, its present state and what solves its steps."""

    def __init__(self, scene, frames, joints, model, solver, config):
        self.assembler = Assembler(scene, frames, joints, config)
        self.collider = Collider(model)
        self.frames, self.joints, self.solver, self.model = frames, joints, solver, model
        slow, self.fast = tolerances = config.tolerances()
        self.position_phase = PositionPhase(
            self.assembler, self.collider, frames, joints, solver, tolerances, scene.bodies
        )
        self.collider.tolerance = self.fast
        self.glue = Glue(scene.joints, model.names, model.movable, self.fast)
        self.straight = StraightFlight(joints, model.body_size)
        self.rest = Rest(self.assembler, joints, model, tolerances, solver.stirring * slow)
        self.state, self.joint_damping, self.deepest, self.failures = None, config.joint_damping, DEEPEST, 0
        self.recorder = ForceRecorder(scene, frames, joints) if config.record_forces else None
        self.carried = None  # parts.Carried that only went along in the step last accepted
        self.crushed = np.zeros(len(model.names), bool)  # (B,) bodies without room in the step last advanced by,
        self.without_room = self.crushed  # and in the one under way
        self.longest = None  # (B,) step that each body bears [s], or None where all bear any (pace.py)
        self.records = []  # Attempts accepted in the step under way, with the bodies (B,) bool they are kept for

    def start(self, position, orientation, velocity):
        """Begin from solver poses (B, 3), (B, 4) and velocities (B, 6)."""
        eps, swept = np.full(len(position), FIRST_EPS), np.zeros(len(position))
        self.state = State(0.0, position, orientation, velocity, eps, swept)

    def learn(self, given_up):
        """After a frame.  True where halving was in vain frame after frame: the constraints contradict each other.

        Then steps are halved less and less, so that the bake goes on; one good frame restores trust.
        """
        self.failures = self.failures + 1 if given_up else 0
        self.deepest = max(0, DEEPEST - max(0, self.failures - PATIENCE))
        return self.failures > PATIENCE

    def contacts(self, step, velocity):
        """Contacts at the present state, and the impulses [N s] they carried, for a warm start.

        velocity: (B, 6), that of prescribed bodies the mean over the step.
        """
        state = self.state
        if not self.model.may_touch:
            return no_contacts(), np.zeros((0, 3))
        position, orientation = self.frames.to_body(state.position, state.orientation)
        free = self.assembler.free(self.state.time)
        self.collider.deform(state.time, step)
        self.collider.alive = self.joints.alive
        held = self.assembler.prescribes and state.contacts is not None
        self.collider.released = free & np.isinf(state.way) if held else None
        self.collider.jointed = self.straight.look(free, state.orientation, velocity[:, 3:], step)
        poses = position, orientation, velocity[:, :3], velocity[:, 3:]
        contacts = self.glue.collide(self.collider, state.contacts, *poses, step, free)
        if (old := state.contacts) is None:
            return contacts, np.zeros((len(contacts), 3))
        known = PairOverlap(old.body_a, old.body_b, old.gap, len(state.way))
        contacts = plausible(contacts, known, state.way, self.model, self.collider.sunk)
        impulses = carry_impulses(old, state.contact_force * step, contacts)
        if state.late is not None:
            impulses += step * state.late.laid_on(contacts, len(state.way))
        return contacts, impulses

    def touching(self):
        """The ContactSet of the present state."""
        return self.contacts(LONGEST_STEP, self.assembler.prescribed_velocity(self.state, LONGEST_STEP))[0]

    def idle(self, seconds):
        """Whether nothing will move in the next ``seconds``, and ``pause`` may take the place of ``advance``."""
        return self.rest.everything(self.state, seconds)

    def pause(self, seconds, steps):
        """Let ``seconds`` go by in which everything rests; ``steps`` it counts as.  Returns its StepOutcome."""
        state, found = self.state, self.state.contacts
        sleep = Sleep(self.assembler.free(state.time), found, state.contact_force * seconds)
        residuals = SimpleNamespace(**dict.fromkeys(KINDS, 0.0))
        worst = sleep.add_to(residuals, state)
        if self.recorder is not None:
            self.recorder.add_resting(sleep, seconds, state)
        self.state = replace(state, time=state.time + seconds)
        joint, residual = np.zeros(len(self.joints.joints)), float(worst.max(initial=0.0))
        return StepOutcome(residuals, True, residual, 0.0, worst, joint, len(found), 0, 0, steps, None)

    def _accept(self, attempt):
        """Make the end of the attempt the present."""
        assembly, sleep, moved = attempt.assembly, attempt.sleep, attempt.moved()
        number, radius, solution = assembly.numbering, self.model.body_radius, attempt.solution
        velocity = solution.velocity.take(number.solver[:-1], 0)
        way = moved.way = way_moved(velocity, radius, assembly.problem.step)
        if assembly.bounces is not None:
            flown, made = assembly.bounces.ways(assembly.problem.bodies, solution, radius[number.scene[:-1]])
            way[number.scene[flown]] = np.maximum(way[number.scene[flown]], made)
        if self.assembler.prescribes:
            way[self.model.movable & ~self.assembler.free(self.state.time)] = np.inf  # nobody looked at their overlaps
        told = late_contacts(assembly, solution)
        moved.contacts, moved.late = sleep.contacts, LateForces.of(assembly, solution, self.frames, told)
        if moved.late is not None:  # their manifolds lack corners
            start = self.frames.to_body(self.state.position, self.state.orientation)
            found = assembly.problem.contacts.take(told[1])
            moved.contacts = with_late(sleep.contacts, moved.late, found, start, self.model)
        moved.contact_force = kept_forces(self.joints, attempt)
        self.collider.accept(moved.contacts)
        self.carried = self.assembler.carried
        self.assembler.hand_over.apply(self.state, moved)
        self.rest.track(moved, attempt.still(), sleep.asleep)
        self.state = moved
