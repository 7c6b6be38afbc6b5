# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a step that missed is done again in halves, and how where few of its islands missed (see parts.py)."""

import numpy as np

from . import whips
from .attempt import Spent
from .copies import replace
from .crushed import crushed, in_vain
from .flags import some
from .parts import Carried, ReachedError, Snapshot, kept_state
from .passing import FINER, HALVED, LAST

DEEPEST = 4  # a step is halved at most this often, but for what whips round (whips.py),
MORE = 6  # and so often more where bodies went through each other: what has 100 m/s gets 4 mm far then


def halves(stepper, attempt, depth, failed):
    """Whether a step of this ``depth`` is done again in parts where bodies ``failed`` (B,) bool in an Attempt.

    What tells that bodies went through each other tells it at any length of step, and what is light and small may be
    turned by radians in a sixteenth of a frame.  Once they did, any miss of theirs in a part of the step counts as
    that: impulses that turn them by radians give them energy, too.  Not what is crushed: a press that shuts on it
    pushes it through at any length of step.  So are links halved that whip round.
    """
    if depth < stepper.deepest or attempt.pieces > 1:
        return True
    if stepper.deepest == DEEPEST and depth < whips.DEEPEST:
        if some(failed[attempt.dynamic()] & whips.whips(attempt, stepper.fast)):
            return True
    known = stepper.collider.turning
    if not _finer(stepper, depth) or not (attempt.went_through() or (known is not None and some(failed & known))):
        return False
    look_for_room(stepper, attempt)
    return some(failed & ~attempt.islands_of(attempt.crushed.bodies))


def _finer(stepper, depth):
    """Whether a step of this ``depth``, the last, is halved further where bodies go through each other."""
    return stepper.deepest == DEEPEST and depth < DEEPEST + MORE


def last_resort(stepper, depth):
    """One of passing.py, for a step of this ``depth``."""
    return HALVED if depth < stepper.deepest else FINER if _finer(stepper, depth) else LAST


def futile(stepper, attempt):
    """Whether shorter steps would miss, too: what missed is crushed, and was when halving had come to its end."""
    known = stepper.crushed | stepper.without_room
    if not some(known):
        return False
    look_for_room(stepper, attempt)
    return some(attempt.crushed.bodies) and in_vain(attempt, known, stepper.fast)


def look_for_room(stepper, attempt):
    """Find out which bodies of an Attempt that missed are ``crushed``."""
    free, known = stepper.assembler.free(attempt.state.time), stepper.crushed | stepper.without_room
    attempt.crushed = crushed(attempt, free, known, stepper.fast)


def few(stepper, attempt):
    """Whether an Attempt is worth keeping for the islands that did not fail: the others are the smaller part."""
    start, assembler = stepper.state.time, stepper.assembler
    same = np.array_equal(assembler.free(start), assembler.free(start + attempt.assembly.problem.step))
    return same and 2 * np.count_nonzero(attempt.failed) < attempt.assembly.numbering.dynamic_count


def halve_part(stepper, step, depth, attempt):
    """The StepOutcomes of a ``step`` [s] of ``depth``, kept where the Attempt is sound and done in halves where not."""
    before, moved, failed = Snapshot(stepper), attempt.moved(), attempt.failed
    dynamic = np.zeros(len(failed), bool)
    dynamic[attempt.dynamic()] = True
    spent, tried = attempt.spent, 0
    while True:
        kept = dynamic & ~failed
        stepper.state = kept_state(stepper.joints, stepper.frames, attempt, kept)
        stepper.collider.accept(attempt.sleep.contacts)
        stepper.assembler.carried = Carried.over(stepper.state, moved, kept, before.carried)
        if stepper.recorder is not None:
            stepper.records.append((attempt, kept))
        try:
            parts = stepper.parts(step, depth, attempt)
            break
        except ReachedError as reached:
            before.restore()
            _observe_again(stepper, attempt, step)
            spent = Spent(*np.add(spent, reached.spent))
            more = np.zeros(len(kept), bool)
            more[reached.bodies] = True
            if not (more & kept).any():
                raise ReachedError(reached.bodies, spent) from None
            tried += np.count_nonzero(failed)
            attempt.failed = failed = failed | attempt.islands_of(more)
            # What goes on to reach more takes longer, a few bodies at a time, than all bodies in halves.
            if not few(stepper, attempt) or tried > attempt.assembly.numbering.dynamic_count:
                return stepper.parts(step, depth, attempt, spent)
    stepper.assembler.carried = before.carried
    stepper.state = _joined(stepper.state, moved, kept)
    return [attempt.outcome(kept).after(*spent), *(replace(part, partial=True) for part in parts)]


def _observe_again(stepper, attempt, step):
    """Have the joints see the start of an Attempt once more: parts of its step have seen theirs (caught.py)."""
    state = attempt.state
    velocity = stepper.assembler.prescribed_velocity(state, step)
    stepper.joints.observe(state.position, state.orientation, velocity, state.time)


def _joined(state, moved, kept):
    """State ``state`` with the bodies ``kept`` (B,) bool as in State ``moved``."""
    columns = {}
    for name in ("position", "orientation", "velocity", "eps", "swept"):
        columns[name] = getattr(state, name).copy()
        columns[name][kept] = getattr(moved, name)[kept]
    for name in ("along", "beyond", "locked", "ruled", "owed", "left"):
        own, other = getattr(state, name), getattr(moved, name)
        if own is not None or other is not None:
            column = columns[name] = np.zeros_like(other) if own is None else own.copy()
            column[kept] = False if other is None else other[kept]
    return replace(state, **columns)
