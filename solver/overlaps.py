# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that stand inside each other: no step makes that, only how they were placed, or let go by their animation.

They are pushed apart at a bounded speed, and every law is kept meanwhile; so somebody has to say it.  But what pushes
them is no load, and inside a body there is no surface to rub: limbs, which joints hold, part without friction.  It
would wedge those that are in each other both ways round for ever, whatever pushes them.
"""

from dataclasses import dataclass

import numpy as np

from .plausible import SLACK, PairOverlap


@dataclass(frozen=True)
class Overlap:
    """Two bodies of the scene inside each other; depth [m].  As text: a sentence with the cure."""

    body_a: str
    body_b: str
    depth: float

    def __str__(self):
        return (
            f"{self.body_a} and {self.body_b} start inside each other, {1e3 * self.depth:.4g} mm deep: move them apart,"
            " or let them not collide"
        )


def overlapping(gap, size, tolerance):
    """(C,) bool: gaps (C,) deeper than a step leaves them.  size: (C,) smaller half extents; tolerance; all in [m]."""
    return gap < -np.maximum(tolerance, SLACK * size)


def without_friction(friction, inside, bodies, prescribed, rows):
    """Coefficients ``friction`` (C,) of contacts of two ``bodies`` (C,), (C,), none for limbs ``inside`` (C,) bool each
    other: for what joints, of JointRows, hold on both sides.

    What closes on a body by its animation grips it still: contacts of bodies numbered ``prescribed`` keep theirs.
    """
    ends = np.setdiff1d(np.concatenate([rows.body_a, rows.body_b]), prescribed)
    return np.where(inside & np.isin(bodies[0], ends) & np.isin(bodies[1], ends), 0.0, friction)


def deep_overlaps(contacts, size, tolerance):
    """[(depth [m], body a, body b)], deepest first, of pairs deeper than a step leaves them.

    contacts: ContactSet at the start of a step; size: (B,) smallest half extents [m]; tolerance: [m].
    """
    a, b, gap = contacts.body_a, contacts.body_b, contacts.gap
    if not len(gap) or gap.min() > -tolerance:
        return []
    deep = overlapping(gap, np.minimum(size[a], size[b]), tolerance)
    if not deep.any():
        return []
    a, b, gap = np.minimum(a, b)[deep], np.maximum(a, b)[deep], gap[deep]
    pairs = np.unique(np.stack([a, b], axis=1), axis=0)
    depth = -PairOverlap(a, b, gap, len(size)).of(*pairs.T)
    return sorted(((float(d), int(i), int(j)) for d, (i, j) in zip(depth, pairs, strict=True)), key=lambda o: -o[0])
