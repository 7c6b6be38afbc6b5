# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts from afar that contradict what is touched.

A contact is a half-space.  Just inside the edge of a face the one with a corner above it reaches far beyond that edge:
the tip of a gear's tooth, which slides out over the land of the next rack tooth before it goes down beside it, was held
above that land while the tooth's flank was led on.  No step is short enough while the corner is above the land, and
each tooth missed a frame.  So what misses at the last halving is solved once more without what pushes from afar, and
taken if all of it holds, and nothing is in anything at its end or went through it.  That is for slow motion: what
contacts bound at any speed would come through thin walls.
"""

import numpy as np

from .copies import replace
from .flags import some
from .reference.rows import start_gaps
from .velocity_phase import moves


def contradicting(solved, missed, close):
    """(C,) bool: contacts of the dynamic bodies ``missed`` (n,) bool that carry load though their gap at the start of
    the Solved step was more than ``close`` [m]; None: there are none.
    """
    problem = solved.assembly.problem
    if not some(missed) or not len(problem.contacts):
        return None
    afar = (solved.solution.contact_impulse[:, 0] > 0.0) & (start_gaps(problem) > close)
    afar &= moves(problem.contacts, missed, len(problem.bodies.mass))
    return afar if some(afar) else None


def better(trial, solved, missed):
    """The Solved ``trial`` where all bodies ``missed`` (n,) bool hold in it, or ``solved``; what slipped through others
    in that one is told in any case.
    """
    if not holds(trial, missed):
        return replace(solved, solves=trial.solves)
    if solved.seen:
        trial.check = (trial.check or solved.check).after(solved.check)
    return trial


def holds(solved, missed):
    """Whether all bodies ``missed`` (n,) bool hold to their tolerance in a Solved step, and end in nothing."""
    if some(missed & ~(solved.statistics.residual <= solved.tolerance)):
        return False
    check = solved.check
    if check is None:  # nothing moved far enough
        return True
    if not solved.seen:
        return False
    excess = check.excess[solved.assembly.numbering.scene[: len(missed)]]
    return not len(check.passed) and not np.any((excess > solved.tolerance)[missed])
