# SPDX-License-Identifier: GPL-3.0-or-later
"""Islands at rest: what has come to rest is proven to be in equilibrium once, and not solved again until disturbed.

A body is quiet once it has stayed at one pose for REST seconds, but for what solves at rest leave.  An island (bodies
linked by joints or by contacts) whose bodies are all quiet is put to the judge as it stands: velocity zero, pose as it
is, the impulses that its contacts and joints carry.  Where every residual is within the tolerance, but for overlap that
friction locks and that solves leave (State.locked), the island rests: it keeps that pose, exactly, those forces and
those residuals.  It is solved again in the very step in which detection finds a contact with something awake, something
it touches or hangs on begins to move, a drive's target or a field's force changes, or one of its bodies is taken or let
go.
"""

from dataclasses import dataclass

import numpy as np

from .components import connected_components
from .contact_set import no_contacts
from .copies import replace
from .flags import some
from .metrics import body_residuals, step_residuals
from .problem import StepSolution, frozen, tangents
from .reference.rows import start_gaps
from .topology import whole_groups

REST = 0.5  # [s]
SOFT = 8.0  # times as long, for islands with springs and dampers: they may still creep
SAME_FORCE = 1e-4  # of a field's acceleration: less is no change
SLACK = 1e-9  # [s] times are sums of steps
KINDS = ("penetration", "gap_residual", "joint_error", "joint_error_angle", "friction_residual", "momentum_residual")
RESIDUAL, FIELD = len(KINDS), slice(len(KINDS) + 1, len(KINDS) + 4)  # columns of State.proof after KINDS
COLUMNS = len(KINDS) + 4


@dataclass
class Sleep:
    """What rests in one step, among all its contacts."""

    asleep: np.ndarray  # (B,) bool
    contacts: object  # ContactSet of all bodies
    impulses: np.ndarray  # (C, 3) world, on body a, that they are expected to carry in the step [N s]
    solved: np.ndarray | None = None  # (K,) numbers of the contacts that take part in the step; None: all
    anybody: bool = True  # whether anything rests at all

    def awake(self):
        """The ContactSet of those that take part, and their impulses."""
        if self.solved is None:
            return self.contacts, self.impulses
        return self.contacts.take(self.solved), self.impulses[self.solved]

    def only(self, kept):
        """The same, where of those that take part all but the contacts ``kept`` (K,) carry nothing; None: all do."""
        if kept is None:
            return self
        took = np.arange(len(self.contacts)) if self.solved is None else self.solved
        impulses = self.impulses.copy()
        impulses[np.delete(took, kept)] = 0.0
        return replace(self, impulses=impulses, solved=took[kept])

    def impulses_after(self, impulses):
        """(C, 3) of all contacts, where those that took part carry ``impulses`` (K, 3)."""
        if self.solved is None:
            return impulses
        whole = self.impulses.copy()
        whole[self.solved] = impulses
        return whole

    def struck(self, assembly):
        """Numbers of resting scene bodies that contacts found at the end of the step touch."""
        if not self.anybody:
            return np.zeros(0, int)
        late, scene = slice(len(assembly.contacts), None), assembly.numbering.scene
        found = assembly.problem.contacts
        bodies = np.unique(scene[np.concatenate([found.body_a[late], found.body_b[late]])])
        bodies = bodies[bodies < len(self.asleep)]
        return bodies[self.asleep[bodies]]

    def add_to(self, residuals, state):
        """Raise the maxima of ``residuals`` (with KINDS as attributes) to what rests; returns the worst of each body
        (B,), 0 where awake.
        """
        if not self.anybody:
            return np.zeros(len(self.asleep))
        proof = np.where(self.asleep[:, None], state.proof, 0.0)
        for name, kept in zip(KINDS, proof[:, : len(KINDS)].max(axis=0, initial=0.0), strict=True):
            setattr(residuals, name, max(getattr(residuals, name), float(kept)))
        return proof[:, RESIDUAL]


class Rest:
    """Decides which islands of one scene rest.  Keeps nothing itself: State.still and State.proof do."""

    def __init__(self, assembler, joints, model, tolerances, noise):
        """tolerances: [m] of slow and of fast islands; noise: [m] that solves of islands at rest may be off."""
        self.assembler, self.joints, self.model = assembler, joints, model
        (self.tolerance, self.fast), self.noise = tolerances, noise
        self._awake = None  # State.proof where nothing rests
        axes = [[joint.axis(name) for name in joint.axes] for joint in joints.joints]
        self._series = [
            (k, axis) for k, each in enumerate(axes) for axis in each if axis.drive and isinstance(axis.target, tuple)
        ]
        self._turning = np.array([any(_runs(axis) for axis in each) for each in axes], bool)
        self._soft = np.array([any(axis.stiffness or axis.damping for axis in each) for each in axes], bool)

    def everything(self, state, step):
        """Whether nothing at all is awake in the ``step`` [s] to come, so that only time goes on."""
        if state.proof is None or self.model.deforming is not None:
            return False
        free = self.assembler.free(state.time)
        if some(free & (state.proof[:, RESIDUAL] == np.inf)):
            return False
        if not np.array_equal(free, self.assembler.free(state.time + step)):
            return False
        if self.assembler.prescribes and self.assembler.prescribed_velocity(state, step)[~free].any():
            return False
        return not (self._restless_joints(state, step).any() or self._blown(state, free, step).any())

    def moving(self, state):
        """((B,) bool: bodies that move freely and do not rest; numbers (L,), (L,) of bodies at both ends of every
        contact known and row of a joint that holds, the world is the last).
        """
        free = self.assembler.free(state.time)
        links = self._links(no_contacts() if state.contacts is None else state.contacts, free)[:2]
        return (free if state.proof is None else free & np.isinf(state.proof[:, RESIDUAL])), links

    def sleep(self, state, contacts, impulses, velocity, step):
        """(Sleep, State) of a step of ``step`` seconds; resting bodies of the State have velocity zero and a proof.

        contacts: ContactSet of all bodies; impulses: (C, 3) world, on body a [N s]; velocity: (B, 6) of all bodies,
        for held ones the mean over the step.
        """
        free = self.assembler.free(state.time)
        since = np.zeros(len(free)) if state.still is None else state.time - state.still[:, 0]
        asleep = free & (since >= REST - SLACK)
        if some(asleep):
            group, resting = self._resting_groups(state, contacts, velocity, step, free, since)
            asleep = free & resting[group]
        if not some(asleep):
            return self._split(asleep, free, contacts, impulses), state
        state = replace(state, proof=state.proof.copy())
        wanted = asleep & whole_groups(group, asleep & np.isinf(state.proof[:, RESIDUAL]))
        if wanted.any():
            missed = self._prove(state, contacts, impulses, wanted, step)
            again = asleep & whole_groups(group, missed)
            state.proof[again] = np.inf
            state.still = state.still.copy()
            state.still[again, 0] = state.time
            asleep &= ~again
        state.velocity = np.where(asleep[:, None], 0.0, state.velocity)
        return self._split(asleep, free, contacts, impulses), state

    def _split(self, asleep, free, contacts, impulses):
        """Contacts that touch nothing awake keep their forces and take no part."""
        anybody, carried = some(asleep), self.assembler.carried
        if carried is None and not anybody:  # contacts without a free body were not looked for
            return Sleep(asleep, contacts, impulses, anybody=False)
        awake = free & ~asleep
        if carried is not None:
            awake &= ~carried.mask
        part = awake[contacts.body_a] | awake[contacts.body_b]
        return Sleep(asleep, contacts, impulses, None if part.all() else np.flatnonzero(part), anybody)

    def wake(self, state, bodies):
        """The State with the islands of ``bodies`` (numbers), which rested, awake."""
        proof, still = state.proof.copy(), state.still.copy()
        reached = whole_groups(self._groups(state.contacts, self.assembler.free(state.time)), bodies)
        proof[reached], still[reached, 0] = np.inf, state.time
        return replace(state, proof=proof, still=still)

    def track(self, moved, sound, asleep):
        """Note in State ``moved``, in place, which bodies stayed where they were, and which rest.  What turns once a
        step is back where it was, but did not stay there.

        sound: (B,) bool, bodies within the tolerance; asleep: (B,) bool.
        """
        count = len(moved.position)
        if moved.still is None:
            moved.still, moved.proof = np.full((count, 8), -np.inf), np.full((count, COLUMNS), np.inf)
            gone = np.ones(count, bool)
        elif not some(calm := (moved.way <= self.noise) & sound & self.assembler.free(moved.time)):
            moved.still, moved.proof = np.empty((count, 8)), self._proof(moved, asleep)
            gone = slice(None)
        else:
            apart = moved.position - moved.still[:, 1:4]
            turn = np.minimum(
                np.abs(moved.orientation - moved.still[:, 4:]).max(axis=1),
                np.abs(moved.orientation + moved.still[:, 4:]).max(axis=1),
            )
            way = np.abs(apart).max(axis=1) + 2.0 * self.model.body_radius * turn
            gone = ~(calm & (way <= self.noise))
            moved.still, moved.proof = moved.still.copy(), self._proof(moved, asleep)
        moved.still[gone, 0] = moved.time
        moved.still[gone, 1:4], moved.still[gone, 4:] = moved.position[gone], moved.orientation[gone]

    def _proof(self, moved, asleep):
        """State.proof with what is not ``asleep`` (B,) bool awake; read-only where that is everybody."""
        if some(asleep):
            return np.where(asleep[:, None], moved.proof, np.inf)
        if self._awake is None:
            self._awake = frozen(np.full((len(asleep), COLUMNS), np.inf))
        return self._awake

    def _links(self, contacts, free):
        """Scene bodies at both ends of every contact and row of a joint that holds; the world is the last."""
        rows = self.joints.fixed
        alive = self.joints.alive[rows.joint] if len(rows) else np.zeros(0, bool)
        a, b = np.append(contacts.body_a, rows.body_a[alive]), np.append(contacts.body_b, rows.body_b[alive])
        return a, b, np.append(free, False)

    def _groups(self, contacts, free):
        """(B,) label of each body's island; bodies that are not free are alone."""
        a, b, movable = self._links(contacts, free)
        both = movable[a] & movable[b]
        return connected_components(len(free), a[both], b[both])

    def _resting_groups(self, state, contacts, velocity, step, free, since):
        """(B,) label of each body's island and (islands,) bool, which of them may rest."""
        group = self._groups(contacts, free)
        a, b, movable = self._links(contacts, free)
        restless, linked = np.zeros((2, int(group.max(initial=-1)) + 1), bool)
        restless[group[free & (since < REST - SLACK)]] = True
        pushed = np.append(~free & velocity.any(axis=1), False)
        for one, other in ((a, b), (b, a)):
            linked[group[one[movable[one]]]] = True
            restless[group[one[movable[one] & pushed[other]]]] = True
        self._mark(restless, group, movable, self._restless_joints(state, step))
        if self.model.deforming is not None:
            runs = contacts.deforms >= 0
            for side in (contacts.body_a[runs], contacts.body_b[runs]):
                restless[group[side[free[side]]]] = True
        restless[group[self._blown(state, free, step)]] = True
        if self.assembler.carried is not None:
            restless[group[self.assembler.carried.mask]] = True
        if self._soft.any():
            soft = np.zeros(len(restless), bool)
            self._mark(soft, group, movable, self._soft & self.joints.alive)
            restless[group[soft[group] & free & (since < SOFT * REST - SLACK)]] = True
        return group, linked & ~restless

    def _mark(self, which, group, movable, joints):
        """Set ``which`` (islands,) where one of ``joints`` (J,) bool has a free body."""
        if not joints.any():
            return
        rows = self.joints.fixed
        for side in (rows.body_a, rows.body_b):
            side = side[joints[rows.joint]]
            which[group[side[movable[side]]]] = True

    def _restless_joints(self, state, step):
        """(J,) bool: joints that hold, with a drive that runs or whose target changes within the step."""
        restless = self._turning.copy()
        for k, axis in self._series:
            now, then = axis.target_at(state.time), axis.target_at(state.time + step)
            restless[k] |= now != then or now[1] != 0.0 or (axis.drive == "velocity" and then[0] != 0.0)
        return restless & self.joints.alive

    def _blown(self, state, free, step):
        """(B,) bool: proven bodies on which force fields have another effect than when they came to rest."""
        blown = np.zeros(len(free), bool)
        if self.assembler.force_fields is None:
            return blown
        proven = np.flatnonzero(free & ~np.isinf(state.proof[:, RESIDUAL]))
        if len(proven):
            now, then = self._field(state, proven, step), state.proof[proven, FIELD]
            blown[proven] = np.any(np.abs(now - then) > SAME_FORCE * np.abs(then).max(axis=1, keepdims=True), axis=1)
        return blown

    def _field(self, state, bodies, step):
        still = replace(state, velocity=np.zeros_like(state.velocity))
        return self.assembler.force_fields.on(bodies, still, step)[0]

    def _prove(self, state, contacts, impulses, wanted, step):
        """Fill State.proof, in place, for the bodies ``wanted`` (B,) bool: the judge's residuals of standing still.

        Returns (B,) bool, which of them miss the tolerance.  Overlap that friction locks stays as it is: no miss.
        """
        assembler, free = self.assembler, self.assembler.free(state.time)
        standing = replace(state, velocity=np.where(wanted[:, None], 0.0, state.velocity))
        part = wanted[contacts.body_a] | wanted[contacts.body_b]
        with assembler.sleeping(free & ~wanted):
            assembly = assembler.build(standing, step, contacts.take(part), impulses[part])
        problem, n = assembly.problem, assembly.numbering.dynamic_count
        bodies, touches = problem.bodies, problem.contacts
        velocity, position, orientation = bodies.velocity.copy(), bodies.position.copy(), bodies.orientation.copy()
        position[n:], orientation[n:] = bodies.free_position[n:], bodies.free_orientation[n:]
        along = (touches.normal, *tangents(touches.normal))
        impulse = np.stack([np.einsum("ci,ci->c", axis, touches.impulse) for axis in along], axis=1)
        solution = StepSolution(velocity, position, orientation, impulse, problem.joints.impulse)
        residuals = step_residuals(problem, solution)
        scene = assembly.numbering.scene[:n]
        proof = np.zeros((len(bodies.mass), COLUMNS))
        columns = {
            "penetration": (touches, residuals.contact_penetration),
            "gap_residual": (touches, residuals.contact_gap),
            "friction_residual": (touches, residuals.contact_friction),
            "joint_error": (problem.joints, np.where(residuals.joint_row_is_angle, 0.0, residuals.joint_row)),
            "joint_error_angle": (problem.joints, np.where(residuals.joint_row_is_angle, residuals.joint_row, 0.0)),
        }
        for name, (table, values) in columns.items():
            for side in (table.body_a, table.body_b):
                np.maximum.at(proof[:, KINDS.index(name)], side, values)
        proof[:, KINDS.index("momentum_residual")] = residuals.body_momentum
        proof[:, RESIDUAL] = body_residuals(problem, residuals, penetration=False)
        state.proof[scene] = proof[:n]
        bad, missed = ~(proof[:n, RESIDUAL] <= self.tolerance), np.zeros(len(free), bool)
        if state.locked is not None and some(bad & state.locked[scene]):
            left = replace(residuals, contact_gap=np.where(self._locked(state, assembly), 0.0, residuals.contact_gap))
            bad = ~(body_residuals(problem, left, penetration=False)[:n] <= self.tolerance)
        missed[scene] = bad
        if assembler.force_fields is not None:
            state.proof[scene, FIELD] = self._field(state, scene, step)
        return missed

    def _locked(self, state, assembly):
        """(C,) bool: contacts of an Assembly that start with overlap such as a solve leaves where friction locks it."""
        contacts, gap = assembly.problem.contacts, start_gaps(assembly.problem)
        locked = np.append(state.locked, False)[assembly.numbering.scene]
        return (locked[contacts.body_a] | locked[contacts.body_b]) & (gap < 0.0) & (gap >= -self.fast)


def _runs(axis):
    """Whether an axis is driven at a constant speed, so that it only seems to rest."""
    return axis.drive == "velocity" and not isinstance(axis.target, tuple) and axis.target != 0.0
