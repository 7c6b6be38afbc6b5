# SPDX-License-Identifier: GPL-3.0-or-later
"""One attempt at a step: what was solved, how well, for which bodies it failed, and what is reported of it."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .copies import replace
from .flags import every, some
from .parts import of_islands, worst_of
from .step_end import moved_state


class Spent(NamedTuple):
    """Work done."""

    newton: int
    linear: int
    solves: int


NOTHING = Spent(0, 0, 0)
SLACK = 1e-6  # of a step, by which rounding makes it longer than its bodies bear


@dataclass
class StepOutcome:
    """How one accepted step went."""

    residuals: object  # with rest.KINDS as attributes
    converged: bool
    residual: float  # worst of all, at the length of this step [m]
    velocity_residual: float  # of the velocity phase [m/s]
    worst: np.ndarray  # (B,) worst residual of each scene body [m]
    worst_joint: np.ndarray  # (J,) worst residual of each joint's rows [m or rad]
    contacts: int
    newton: int
    linear: int
    solves: int
    given_up: tuple | None = None  # StepProblem, StepSolution, (n,) bool bodies that missed; no halving was left
    crushed: object = None  # Crushed, where it was given up
    partial: bool = False  # some of the scene's islands needed a shorter step than the others

    def after(self, newton, linear, solves):
        """The outcome with the work of an attempt that was thrown away added."""
        return replace(self, newton=self.newton + newton, linear=self.linear + linear, solves=self.solves + solves)


@dataclass
class Attempt:
    """A step solved from ``state``; the fields after ``spent`` come one after the other."""

    state: object  # State it starts from
    sleep: object  # rest.Sleep
    assembly: object  # Assembly
    solution: object  # StepSolution
    statistics: object  # SolveStatistics
    check: object  # EndCheck or None
    spent: Spent
    residuals: object = None  # StepResiduals
    reached: np.ndarray | None = None  # (R,) JudgedStep.reached
    error: np.ndarray | None = None  # (n,) worst residual each body has a part in [m]
    tolerance: np.ndarray | None = None  # (n,) [m]
    spurious: np.ndarray | None = None  # (n,) bool: energy out of nothing
    sound: np.ndarray | None = None  # (n,) bool: within the loose tolerance
    failed: np.ndarray | None = None  # (B,) bool: scene bodies of islands with a body that missed
    too_long: np.ndarray | None = None  # (B,) bool: see Solved.too_long; None: nobody asked
    bent: np.ndarray | None = None  # (n,) bool: see Solved.bent; None: none
    share: float | tuple | None = None  # of the step, at which it is to be split (stops.py), or several; None: half way
    asked: np.ndarray | bool = False  # (B,) bool: islands in which something within the step asks for parts
    slices: int = 0  # that this share is to be done in (catches.py), none of them a halving; 0: it is one
    pieces: int = 1  # that what ``failed`` needs the step in (pace.py); 1: it is done in halves
    crushed: object = None  # Crushed, where somebody looked
    end: object = None  # EndVelocity
    again: bool = False  # the step must be put together anew: a joint broke, or what rested was struck

    def judge(self, fast):
        """Find what is ``sound`` and what ``failed``.  fast: the loose tolerance [m]."""
        self.sound = (self.error <= fast) & ~self.spurious  # NaN is not
        bad = ~self.sound
        if self.check is not None:
            bad = bad | (self.check.excess[self.dynamic()] > fast)
        self.failed = of_islands(self.assembly, bad)
        if self.too_long is not None:
            self.failed |= self.too_long

    def lasts_too_long(self, bodies):
        """Have islands done again that have one of ``bodies`` (n,) bool; None: none."""
        if bodies is not None:
            found = of_islands(self.assembly, bodies)
            self.too_long = found if self.too_long is None else found | self.too_long

    def cut(self, longest):
        """Have islands done in pieces that have a body whose ``longest`` (B,) step [s] is shorter than this one."""
        asked = np.ceil(self.assembly.problem.step / longest[self.dynamic()] - SLACK)
        if some(asked > 1.0):
            self.pieces = int(asked.max())
            self.lasts_too_long(asked > 1.0)

    def went_through(self):
        """Whether some bodies went through each other."""
        return self.check is not None and self.check.through is not None and some(self.check.through)

    def finish(self, end, fast):
        """Take over the EndVelocity, and judge by it, too.  fast: the loose tolerance [m]."""
        self.end = end
        if end.phase is not None:
            self.spent = Spent(self.spent.newton + end.newton, self.spent.linear + end.linear, self.spent.solves)
            np.maximum(self.error, self.assembly.problem.step * end.body, out=self.error)
            self.spurious = self.spurious | end.gained
            self.judge(fast)

    def strays(self, bodies):
        """Have islands done again in halves that have one of ``bodies`` (n,) bool; their joints are not judged."""
        self.lasts_too_long(bodies)
        self.ask_again(of_islands(self.assembly, bodies))

    def tell(self, lacks):
        """Report by how much the velocity of bodies is off, ``lacks`` (n,) [m/s], though their step is kept."""
        rows, end, step = self.assembly.problem.joints, self.end, self.assembly.problem.step
        end.body = np.maximum(end.body, lacks)
        np.maximum(self.error, step * lacks, out=self.error)
        wide = np.append(lacks, np.zeros(len(self.assembly.problem.bodies.mass) - len(lacks)))
        np.maximum.at(end.joint, rows.joint, np.maximum(wide[rows.body_a], wide[rows.body_b]))

    def split(self, share, launched, slices=0):
        """Have the islands of ``launched`` (n,) bool done again in parts, the first of them a ``share`` of the
        step, itself in ``slices``; half of it where others missed.
        """
        if not some(self.failed):
            self.share, self.slices = share, slices
        self.ask_again(of_islands(self.assembly, launched))

    def ask_again(self, bodies):
        """Have scene bodies (B,) bool of whole islands done again, as something within the step asks for it."""
        self.asked, self.failed = self.asked | bodies, self.failed | bodies

    def stays(self):
        """(n,) bool: sound bodies, but for those of islands that are done again as something asks for parts."""
        return self.sound if self.asked is False else self.sound & ~self.asked[self.dynamic()]

    def dynamic(self):
        """(n,) scene numbers of the bodies that were solved."""
        return self.assembly.numbering.scene[: self.assembly.numbering.dynamic_count]

    def islands_of(self, bodies):
        """(B,) bool: scene bodies of the islands that have one of ``bodies`` (B,) bool."""
        return of_islands(self.assembly, bodies[self.dynamic()])

    def still(self):
        """(B,) bool: bodies within the tolerance they are held to, or not solved."""
        still = np.ones(len(self.failed), bool)
        still[self.dynamic()] = self._kept()
        return still

    def moved(self):
        """The State it leads to, as far as poses, velocities and what solves go on with."""
        return moved_state(self.state, self.assembly, self.solution, self.statistics, self.end, self.bent)

    def _kept(self):
        return ~self.spurious & (self.error <= self.tolerance) & (self._hidden() == 0.0)

    def _hidden(self):
        """(n,) EndCheck.hidden or .slipped of the dynamic bodies [m], or 0 for all."""
        hidden = 0.0 if self.check is None else np.maximum(self.check.hidden, self.check.slipped)
        return hidden if np.isscalar(hidden) else hidden[self.dynamic()]

    def outcome(self, part=None):
        """The StepOutcome; with ``part`` (B,) bool that of those bodies alone, without the work."""
        problem, dynamic, residuals = self.assembly.problem, self.dynamic(), self.residuals
        rows, joint, error = problem.joints, problem.step * self.end.joint, residuals.joint_row
        shown, taken = slice(None), slice(None)
        if part is None:
            worst = self.sleep.add_to(residuals, self.state)
        else:
            worst, shown = np.zeros(len(self.failed)), part[dynamic]
            wide = np.append(shown, np.zeros(len(problem.bodies.mass) - len(dynamic), bool))
            taken = wide[rows.body_a] | wide[rows.body_b]
            joint[rows.joint[~taken]] = 0.0
            residuals = worst_of(residuals, problem, wide)
            if self.check is not None:
                seen = self.check.deepest[dynamic[shown]]
                residuals.penetration = max(residuals.penetration, float(seen.max(initial=0.0)))
        np.maximum.at(joint, rows.joint[taken], error[taken])
        worst[dynamic[shown]] = np.maximum(self.error, self._hidden())[shown]
        unsolved = 0.0 if part is not None or self.check is None else self.check.unsolved
        spent = self.spent if part is None else NOTHING
        given_up = part is None and some(self.failed)
        return StepOutcome(
            residuals=residuals,
            converged=every(self._kept()[shown]) and not given_up,
            residual=float(np.maximum(worst.max(initial=0.0), unsolved)),
            velocity_residual=float(self.end.body[shown].max(initial=0.0)),
            worst=worst,
            worst_joint=joint,
            contacts=len(self.sleep.contacts) + len(problem.contacts) - len(self.assembly.contacts),
            given_up=(problem, self.solution, ~self.sound) if given_up else None,
            crushed=self.crushed if given_up else None,
            newton=spent.newton,
            linear=spent.linear,
            solves=spent.solves,
        )
