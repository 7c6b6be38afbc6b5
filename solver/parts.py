# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of which only a part is done again: where a few islands missed, the others keep what they have.

Islands do not touch, so a step that some missed is right for the rest.  The rest is carried through it along the way it
was found to go, from its start pose to its end pose, and the islands that missed are solved again in halves, with what
is carried as prescribed bodies.  Should they press on something carried after all, that island is done again with
them: nothing is ever pushed that does not push back.
"""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from . import rotations
from .caught import note
from .constraints.breaking import row_forces
from .copies import replace
from .flags import some
from .gliding import whole_impulses
from .late_forces import LateForces, late_contacts
from .problem import Coordinate, world_impulses
from .rest import KINDS
from .topology import whole_groups


class ReachedError(Exception):
    """Bodies that are solved press on bodies that are carried: these must be solved as well."""

    def __init__(self, bodies, spent):
        """bodies: scene numbers of carried ones; spent: Newton and linear iterations and solves."""
        super().__init__()
        self.bodies, self.spent = bodies, spent


@dataclass
class Carried:
    """Bodies on their way through a step that they have already done.  B bodies of the scene."""

    mask: np.ndarray  # (B,) bool
    start: np.ndarray  # (B,) [s]
    position: np.ndarray  # (B, 3) at ``start``, solver frames
    orientation: np.ndarray  # (B, 4)
    velocity: np.ndarray  # (B, 6) constant

    @classmethod
    def over(cls, state, moved, mask, outer):
        """Bodies ``mask`` on their way from State ``state`` to State ``moved``, and those of Carried ``outer``."""
        some, velocity = np.flatnonzero(mask), np.zeros((len(mask), 6))
        back = rotations.conjugate(state.orientation[some])
        velocity[some, :3] = moved.position[some] - state.position[some]
        velocity[some, 3:] = rotations.logarithm(rotations.multiply(moved.orientation[some], back))
        velocity /= moved.time - state.time
        inner = cls(mask, np.full(len(mask), state.time), state.position, state.orientation, velocity)
        if outer is None:
            return inner
        columns = {}
        for name in ("start", "position", "orientation", "velocity"):
            columns[name] = getattr(inner, name).copy()
            columns[name][outer.mask] = getattr(outer, name)[outer.mask]
        return cls(mask | outer.mask, **columns)

    def pose(self, time):
        """(numbers, position, orientation) of the bodies carried, at ``time`` [s]."""
        bodies = np.flatnonzero(self.mask)
        gone = (time - self.start[bodies])[:, None]
        turn = rotations.exponential(gone * self.velocity[bodies, 3:])
        place = self.position[bodies] + gone * self.velocity[bodies, :3]
        return bodies, place, rotations.multiply(turn, self.orientation[bodies])


class Snapshot:
    """All that a step changes when it is accepted, to go back to."""

    def __init__(self, stepper):
        joints = stepper.joints
        self._stepper, self.state = stepper, stepper.state
        self._joints = {name: getattr(joints, name).copy() for name in ("force", "angle", "caught", "alive", "broken")}
        collider = stepper.collider
        self._accepted, self._records = (collider.accepted, collider.sunk, collider.ways), len(stepper.records)
        self.carried = stepper.assembler.carried

    def restore(self):
        """Put everything back."""
        stepper = self._stepper
        stepper.state = self.state
        for name, values in self._joints.items():
            setattr(stepper.joints, name, values.copy())
        collider = stepper.collider
        collider.accepted, collider.sunk, collider.ways = self._accepted
        del stepper.records[self._records :]
        stepper.assembler.carried = self.carried


def of_islands(assembly, bodies):
    """(B,) bool, scene bodies of all islands that have one of the dynamic ``bodies`` (n,) bool."""
    number = assembly.numbering
    scene = np.zeros(len(number.scene) - 1, bool)
    if some(bodies):
        scene[number.scene[: number.dynamic_count]] = whole_groups(assembly.island, bodies)
    return scene


def pressed(assembly, solution, carried):
    """Scene numbers of the bodies of ``carried`` (a Carried or None) on which something solved presses."""
    if carried is None:
        return np.zeros(0, int)
    contacts, scene = assembly.problem.contacts, assembly.numbering.scene
    loaded = solution.contact_impulse.any(axis=1)
    bodies = np.unique(scene[np.concatenate([contacts.body_a[loaded], contacts.body_b[loaded]])])
    return bodies[np.append(carried.mask, False)[bodies]]


def worst_of(residuals, problem, part):
    """The maxima KINDS of StepResiduals over the solver bodies ``part`` (B,) bool alone."""
    contact = part[problem.contacts.body_a] | part[problem.contacts.body_b]
    row = part[problem.joints.body_a] | part[problem.joints.body_b]
    angle = residuals.joint_row_is_angle
    values = {
        "penetration": residuals.contact_penetration[contact],
        "gap_residual": residuals.contact_gap[contact],
        "joint_error": residuals.joint_row[row & ~angle],
        "joint_error_angle": residuals.joint_row[row & angle],
        "friction_residual": residuals.contact_friction[contact],
        "momentum_residual": residuals.body_momentum[part],
    }
    return SimpleNamespace(**{name: float(values[name].max(initial=0.0)) for name in KINDS})


def kept_forces(joints, attempt, part=None):
    """(C, 3) world force on body a that each contact carries at the end of an Attempt [N], those of what rests too; the
    forces and angles of its joint rows go into the JointTable.

    part: (B,) bool, scene bodies that take part; the other contacts keep what they carried before.  None: all.
    """
    assembly, solution, sleep = attempt.assembly, attempt.solution, attempt.sleep
    problem, count = assembly.problem, len(assembly.contacts)
    contacts, rows = problem.contacts, problem.joints
    known, taken = slice(count), slice(None)
    impulse = world_impulses(contacts.normal[known], solution.contact_impulse[known])
    impulse = whole_impulses(problem, impulse, known)
    if part is not None:
        wide = np.append(part, False)[assembly.numbering.scene]
        own = wide[contacts.body_a[:count]] | wide[contacts.body_b[:count]]
        impulse = np.where(own[:, None], impulse, sleep.awake()[1])
        taken = wide[rows.body_a] | wide[rows.body_b]
    if len(rows):
        joints.force[assembly.row_number[taken]] = row_forces(assembly, solution)[taken]
        note(joints, attempt, None if part is None else taken)
        twist = np.flatnonzero(rows.coordinate == int(Coordinate.TWIST))
        if part is not None:
            twist = twist[taken[twist]]
        if len(twist):
            joints.angle[assembly.row_number[twist]] = (rows.offset + attempt.reached)[twist]
    return sleep.impulses_after(impulse) / problem.step


def kept_state(joints, frames, attempt, part):
    """The State an Attempt started from, with the contacts of the attempt and what those and the joints of the scene
    bodies ``part`` (B,) bool carry at its end; frames: BodyFrames.
    """
    force, way = kept_forces(joints, attempt, part), attempt.state.way
    way = np.zeros(len(part)) if way is None else np.where(np.isfinite(way), 0.0, way)  # they were found where it is
    told = late_contacts(attempt.assembly, attempt.solution, part)
    late = LateForces.of(attempt.assembly, attempt.solution, frames, told)
    return replace(attempt.state, contacts=attempt.sleep.contacts, contact_force=force, late=late, way=way)
