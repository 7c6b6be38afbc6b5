# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact manifolds that persist per shape pair, and impulses that follow their contact points.

A detector that answers a pile at rest with slightly different points every step never lets it rest.  So the whole
manifold of a shape pair is kept while the pair has hardly moved since the manifold was made: kept points are material
points of both bodies, the normal turns with body b, and gaps are evaluated afresh.  manifold_kernels.py does that.
"""

from dataclasses import dataclass, fields
from operator import attrgetter

import numpy as np

from .flags import numbers, places
from .ordered import run_lengths, segments
from .vectors import moved

GAP_FLOOR = 0.04  # contacts closer than this times the pair's smallest half extent are always reported
NOISE = 1e-5  # of the smallest half extent: detection is in single precision, and no finer among many bodies


def turn(rotation, vector):
    """Vectors (N, 3) turned by rotation matrices (N, 3, 3)."""
    return np.einsum("kij,kj->ki", rotation, vector)


def turn_back(rotation, vector):
    """Vectors (N, 3) turned by the inverses of rotation matrices (N, 3, 3)."""
    return np.einsum("kji,kj->ki", rotation, vector)


@dataclass
class Manifolds:
    """K contact points, sorted by shape pair.  Points and margins as in ``problem.Contacts``."""

    pair: np.ndarray  # (K,) int64, ascending
    body_a: np.ndarray  # (K,) int
    body_b: np.ndarray  # (K,) int
    point_a: np.ndarray  # (K, 3) in a's frame
    point_b: np.ndarray  # (K, 3) in b's frame
    margin_a: np.ndarray  # (K,)
    margin_b: np.ndarray  # (K,)
    normal: np.ndarray  # (K, 3) in b's frame, unit, from b to a
    size: np.ndarray  # (K,) the pair's smallest half extent: thresholds scale with it
    lever: np.ndarray  # (K,) radius of the pair's smaller shape: turns an angle into a distance
    place: np.ndarray  # (K, 3) point_a in b's frame when the manifold was made
    tilt: np.ndarray  # (K, 3, 3) a's orientation in b's frame then

    def __len__(self):
        return len(self.pair)

    def take(self, index):
        """The contacts at ``index`` (indices or mask)."""
        index = numbers(index)
        return Manifolds(*(column.take(index, 0) for column in columns_of(self)))

    def and_then(self, other, index):
        """The contacts at ``index`` (indices) of these and the Manifolds ``other``, which count on from here."""
        columns = zip(columns_of(self), columns_of(other), strict=True)
        return Manifolds(*(np.concatenate(both).take(index, 0) for both in columns))

    @staticmethod
    def join(parts):
        """All contacts of ``parts``, sorted by pair (stable).  Returns them and the order that sorted them."""
        order = np.argsort(np.concatenate([part.pair for part in parts]), kind="stable")
        return (
            Manifolds(*(np.concatenate([getattr(part, f.name) for part in parts])[order] for f in fields(Manifolds))),
            order,
        )


columns_of = attrgetter(*(item.name for item in fields(Manifolds)))
"""All columns of Manifolds, or of arrays named like them."""


def relative_place(contacts, position, rotation):
    """point_a in b's frame (K, 3) at the body poses position (B, 3), rotation (B, 3, 3)."""
    offset = position[contacts.body_a] - position[contacts.body_b]
    return turn_back(rotation[contacts.body_b], offset + turn(rotation[contacts.body_a], contacts.point_a))


def gaps_of(found, position, rotation):
    """(K,) signed distance of each contact of Manifolds [m], at poses as above."""
    apart = relative_place(found, position, rotation) - found.point_b
    return np.einsum("ki,ki->k", found.normal, apart) - found.margin_a - found.margin_b


def locate(wanted, available):
    """Index of each wanted value in the sorted ``available``, or -1."""
    if not len(available):
        return np.full(len(wanted), -1, np.intp)
    index = np.minimum(np.searchsorted(available, wanted), len(available) - 1)
    return np.where(available[index] == wanted, index, -1)


def along_runs(count):
    """(run, offset) of runs that are ``count`` (N,) long: the run of each of their elements, and its place in it."""
    run = np.arange(len(count)).repeat(count)
    return run, np.arange(len(run)) - (count.cumsum() - count).take(run)


def _blocks(first_start, first_count, second_start, second_count):
    """Index pairs (i, j) of every element of each first run with every element of its second run."""
    run, offset = along_runs(first_count * second_count)
    width = second_count[run]
    return first_start[run] + offset // width, second_start[run] + offset % width


def _same_pair(first, second):
    """Index pairs (i, j) of equal values in two ascending arrays of shape pairs."""
    start_i, value_i = segments(first)
    start_j, value_j = segments(second)
    run = locate(value_i, value_j)
    found = run >= 0
    count_i, count_j = run_lengths(start_i, len(first)), run_lengths(start_j, len(second))
    return _blocks(start_i[found], count_i[found], start_j[run[found]], count_j[run[found]])


def _distance(first, second, i, j):
    """How far a contact point wandered: on the body on which it wandered less (a rolling ball keeps its centre)."""
    on_a, on_b = first.point_a[i] - second.point_a[j], first.point_b[i] - second.point_b[j]
    return np.sqrt(np.minimum(np.einsum("ki,ki->k", on_a, on_a), np.einsum("ki,ki->k", on_b, on_b)))


def match(new, old, reach=0.1):
    """For each new contact the old contact of the same pair that it continues, or -1.  One to one, nearest first.

    ``reach``: how far apart two points may be, in units of the pair's smallest half extent.  Mutually nearest points
    are paired, taken out, and the rest looked at again: the result of taking pairs by growing distance.
    """
    link = _same_order(new, old, 0.1 * reach)
    open_new, open_old = places(link < 0), np.ones(len(old), bool)
    open_old[link[link >= 0]] = False
    if not len(open_new):
        return link
    open_old = places(open_old)
    i, j = _same_pair(new.pair[open_new], old.pair[open_old])
    i, j = open_new[i], open_old[j]
    distance = _distance(new, old, i, j)
    near = distance <= reach * new.size[i]
    i, j, distance = i[near], j[near], distance[near]
    while len(i):
        order = np.lexsort((j, i, distance))
        i, j, distance = i[order], j[order], distance[order]
        first_of_i, first_of_j = np.zeros(len(i), bool), np.zeros(len(i), bool)
        first_of_i[np.unique(i, return_index=True)[1]] = True
        first_of_j[np.unique(j, return_index=True)[1]] = True
        mutual = first_of_i & first_of_j
        link[i[mutual]] = j[mutual]
        free = ~np.isin(i, i[mutual]) & ~np.isin(j, j[mutual])
        i, j, distance = i[free], j[free], distance[free]
    return link


def _same_order(new, old, reach):
    """Matches of the pairs whose points all come as before, one by one: what nearly every pair does."""
    link = np.full(len(new), -1, np.intp)
    start_i, value_i = segments(new.pair)
    start_j, value_j = segments(old.pair)
    count_i, count_j = run_lengths(start_i, len(new)), run_lengths(start_j, len(old))
    run = locate(value_i, value_j)
    same = places((run >= 0) & (count_i == count_j[run]))
    if not len(same):
        return link
    count = count_i[same]
    first = np.cumsum(count) - count
    offset = np.arange(count.sum()) - np.repeat(first, count)
    i, j = np.repeat(start_i[same], count) + offset, np.repeat(start_j[run[same]], count) + offset
    near = np.repeat(np.logical_and.reduceat(_distance(new, old, i, j) <= reach * new.size[i], first), count)
    link[i[near]] = j[near]
    return link


def carry(values, old, new, link):
    """Values (M, n) of ``old`` contacts laid on N ``new`` ones: matched by ``link``, the others added to the nearest.

    An old value whose pair has no contact any more is lost.  Both have ``pair``, ``point_a`` and ``point_b`` and are
    sorted by pair.  Returns (N, n).
    """
    if not len(values):
        return np.zeros((len(link), values.shape[1]))
    new_ones = link < 0
    result, loose = values.take(link, 0, mode="clip"), moved(values)
    result[places(new_ones)] = 0.0
    loose[link[~new_ones]] = False
    index = places(loose)
    if not len(index):
        return result
    i, j = _same_pair(old.pair[index], new.pair)
    order = np.lexsort((j, _distance(old, new, index[i], j), i))
    i, j = i[order], j[order]
    first = np.unique(i, return_index=True)[1]
    np.add.at(result, j[first], values[index[i[first]]])
    return result
