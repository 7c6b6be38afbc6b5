# SPDX-License-Identifier: GPL-3.0-or-later
"""How a step that missed is done again in halves, where only a few of its islands missed (see parts.py)."""

import numpy as np

from .attempt import Spent
from .copies import replace
from .parts import Carried, ReachedError, Snapshot, kept_state


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
