# SPDX-License-Identifier: GPL-3.0-or-later
"""How easily springs, dampers and compliance move their coordinates, with all that rigid joints make go along.

    1 / m = J M^-1 J^T - J M^-1 G^T (G M^-1 G^T)^-1 G M^-1 J^T      J: the row, G: rigid rows of what is linked with it

The row alone takes the bodies of its joint for free.  A door that turns about its edge has four times the inertia, and
a slider on a light shaft that is held moves no more of it than of the wall: there J M^-1 J^T is far too large, and laws
fitted to it take a damper for stiffer than it is, and compliance for too stiff to vibrate: a load of 1 kg welded to a
plate of 10 g on a soft mount stood still at once, though a period took 12 steps.  Whatever else holds can only make m
larger, so that nothing rings.
"""

import numpy as np

from ..components import connected_components
from ..reference.row_laws import vibrates
from .observed import Observer

MOST = 200  # rigid rows of one group; larger ones, whose matrix takes longer than it is worth, stay with J M^-1 J^T
FAINT, LONGEST = 0.1, 1.0 / 24.0  # h d / m + h^2 k / m below which weights hardly depend on m; h of most steps [s]
SHIFT = 1e-10  # of each row's own part in G M^-1 G^T: rows may be redundant
FEW = 120  # rows of one group, rigid ones and all with compliance, up to which it counts what goes along with these
LEAST = 1e-9  # of J M^-1 J^T: what rigid rows lock altogether
LOCKED = 1e-8  # of it, below which rounding decides what they leave


def matters(stiffness, damping, mobility):
    """(K,) bool: rows stiff or damped enough for steps of any length that laws are fitted to what they move."""
    h = LONGEST
    return (damping > 0.0) & (h * mobility * (damping + h * stiffness) > FAINT)


class Held:
    """Rows of one scene that springs, dampers or compliance act on, bodies numbered as there; the world is number B."""

    def __init__(self, rows, soft, rigid, frames, most=np.inf):
        """rows: JointRows; soft: (K,) numbers of rows with springs, dampers or compliance; rigid: (G,) that hold.

        most: rows, rigid and soft, up to which a group is looked at.
        """
        moves = np.append(np.isfinite(frames.mass), False)
        both = np.concatenate([rigid, soft])
        group = groups_of(rows, both, moves)
        self._sets, taken, start = [], [], 0
        for each in np.unique(group[soft]):
            holds, places = rigid[group[rigid] == each], np.flatnonzero(group[soft] == each)
            if not 0 < len(holds) <= MOST or len(holds) + len(places) > most:
                continue
            index = np.append(holds, soft[places])
            part = slice(start, start + len(index))
            self._sets.append((part, len(holds), places, *spots_of(rows, index)))
            taken, start = [*taken, *index.tolist()], start + len(index)
        self._observer = Observer(rows.take(np.array(taken)), frames) if taken else None

    def mobility(self, position, orientation, own, matters):
        """(K,) acceleration by a unit force or torque along each row.

        position (B, 3), orientation (B, 4): solver poses; own: (K,) J M^-1 J^T; matters: (K,) bool, rows for which it
        is asked; others keep ``own``.
        """
        found = own.copy()
        asked = [each for each in self._sets if matters[each[2]].any()]
        if not asked:
            return found
        self._observer.look(position, orientation, 0.0)
        directions = self._observer.weighed()
        for some, count, places, shape, spots in asked:
            wide = laid_out(directions, some, shape, spots)
            square, along = across(wide, count)
            alone = np.maximum(np.diag(square) - (along**2).sum(axis=1), LEAST * own[places])
            found[places] = np.where(matters[places], alone, own[places])
        return found


def with_what_goes_along(held, softness, own, position, orientation):
    """(K,) how easily rows with compliance move: with all that goes along where that may make them vibrate, else own.

    held: Held of those rows; softness: (K,); own, position, orientation: as in ``Held.mobility``.  What rigid rows lock
    has no vibration.
    """
    firm = ~vibrates(softness, own, 2.0 * LONGEST)  # in some step that scenes have
    if not firm.any():
        return own
    found = held.mobility(position, orientation, own, firm)
    return np.where(found > LOCKED * own, found, own)


def groups_of(rows, index, moves):
    """(R,) number of the group of each of JointRows, of what rows ``index`` link; moves: (B + 1,) bool, the world's
    last.
    """
    linked = index[moves[rows.body_a[index]] & moves[rows.body_b[index]]]
    label = connected_components(len(moves), rows.body_a[linked], rows.body_b[linked])
    return label[np.where(moves[rows.body_a], rows.body_a, rows.body_b)]


def spots_of(rows, index):
    """((number of rows, of their bodies), (2, K)): where ``laid_out`` puts what rows ``index`` (K,) have of each of
    their two bodies.
    """
    bodies, number = np.unique(np.concatenate([rows.body_a[index], rows.body_b[index]]), return_inverse=True)
    return (len(index), len(bodies)), np.arange(len(index)) * len(bodies) + number.reshape(2, -1)


def laid_out(directions, part, shape, spots):
    """(K, 6 bodies) ``Observer.weighed`` directions of a ``part`` of its rows; shape, spots: see ``spots_of``."""
    wide = np.zeros((shape[0] * shape[1], 6))
    for j, spot in zip(directions, spots, strict=True):
        wide[spot] += j[part]
    return wide.reshape(shape[0], -1)


def across(rows, count):
    """((K, K) square of the last of rows (G + K, N), (K, G) what they have along the first ``count``, which hold): the
    square of what is left of them across those is square - along along^T.

    With a Cholesky factor of all: BLAS shares out even a solve of 17 rows among threads, which takes up to a
    millisecond where other work keeps them.
    """
    product, more = rows @ rows.T, len(rows) - count
    square, diagonal = product[count:, count:].copy(), product.ravel()[:: len(rows) + 1]
    own = diagonal[count:].copy()
    diagonal[:count] *= 1.0 + SHIFT
    diagonal += np.finfo(float).tiny  # those without a direction, as distances of 0, hold nothing
    product[count:, count:] = np.diag((more + 1) * own + np.finfo(float).tiny)  # more than they have along the others
    return square, np.linalg.cholesky(product)[count:, :count]
