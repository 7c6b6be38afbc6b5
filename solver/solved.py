# SPDX-License-Identifier: GPL-3.0-or-later
"""A step whose position phase is solved, and what was found out about it on the way."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .copies import replace
from .curves import on_what_is_not_solved


@dataclass
class Solved:
    """A step whose end pose is found."""

    assembly: object  # Assembly
    solution: object  # StepSolution
    statistics: object  # SolveStatistics
    solves: int  # it took
    tolerance: np.ndarray  # (n,) [m] that the island of each body is held to
    left_out: np.ndarray  # (P,) numbers of pairs of scene bodies, see ghosts.py
    kept: object = None  # (K,) numbers of the step's contacts that take part in it; None: all
    check: object = None  # EndCheck or None
    done: object = None  # (n,) bool: bodies that go the same way as when ``check`` was made; None: before that
    bent: object = None  # (n,) bool: bodies carried along a curve; None: none
    too_long: object = None  # (n,) bool: those whose step is too long for it, or for what they hit on their rebound
    kinks: object = None  # curves.Bends at which balls were hit, or None
    fine: object = None  # (n,) bool: bodies carried along a curve of facets that turn by little; None: none
    off: object = None  # (C,) bool: contacts of what hit and tumbled on past it, see tumbled.py; None: none
    leans: object = None  # (n,) bool: bodies that spin and lean on one place, see leaning.py; None: none

    @cached_property
    def on_ground(self):
        """(C,) bool: contacts of ``on_what_is_not_solved``."""
        return on_what_is_not_solved(self.assembly, self.solution)

    @property
    def seen(self):
        """Whether detection looked at its end pose."""
        return self.check is not None and self.check.found is not None

    def too_long_for(self, bodies):
        """The Solved step with ``bodies`` (n,) bool, or None, among those whose step is too long."""
        if bodies is None:
            return self
        return replace(self, too_long=bodies if self.too_long is None else bodies | self.too_long)

    def leaving(self, out):
        """(The Solved step without contacts ``out`` (C,) bool, not solved anew; (n,) bool, bodies that had them)."""
        assembly, problem, count = self.assembly, self.assembly.problem, len(self.assembly.contacts)
        contacts, changed = problem.contacts, np.zeros(len(problem.bodies.mass), bool)
        for side in (contacts.body_a, contacts.body_b):
            changed[side[out]] = True
        left = replace(
            assembly, problem=replace(problem, contacts=contacts.take(~out)),
            contacts=assembly.contacts.take(~out[:count]), pressed=assembly.pressed[~out],
            struck=None if assembly.struck is None else assembly.struck[~out], glance=None,
            turning=None if assembly.turning is None else assembly.turning.among(~out),
        )  # fmt: skip
        solution = replace(self.solution, contact_impulse=self.solution.contact_impulse[~out])
        kept = (np.arange(count) if self.kept is None else self.kept)[~out[:count]]
        kinks = None if self.kinks is None else self.kinks.among(~out)
        solved = replace(self, assembly=left, solution=solution, kept=kept, kinks=kinks)
        return solved, changed[: problem.bodies.dynamic_count]
