# SPDX-License-Identifier: GPL-3.0-or-later
"""Who touches whom in one step: islands, body pairs and the index lists kernels walk (NumPy, deterministic)."""

from collections import deque
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .components import connected_components
from .flags import places
from .ordered import segments
from .problem import frozen

KEPT = 4  # structures: a step may have four, with its velocity phase, halves and contacts that show later


@dataclass(eq=False)
class Topology:
    """Index structure of a StepProblem.  ``start`` arrays are CSR offsets into the ``index`` array beside them.

    Equal structures that follow each other are the same read-only object.
    """

    body_island: np.ndarray  # (n,) island of each dynamic body
    island_count: int
    constrained: np.ndarray  # (islands,) bool: has a contact or a joint row
    constrained_index: np.ndarray  # (K,) int32 numbers of those that have
    jointed: np.ndarray  # (islands,) bool: has a joint row
    looped: np.ndarray  # (islands,) bool: its joints close a loop, so that some of their rows may be redundant
    contact_order: np.ndarray  # (C,) sorts the problem's contacts by island, then by body pair
    contact_island: np.ndarray  # (C,) after sorting
    row_island: np.ndarray  # (R,)
    island_contact_start: np.ndarray
    island_row_start: np.ndarray
    island_row_index: np.ndarray
    island_body_start: np.ndarray
    island_body_index: np.ndarray
    island_run_start: np.ndarray
    island_pair_start: np.ndarray
    run_start: np.ndarray  # (runs + 1,) contacts of one pair each, whether both move or one, in their order
    body_contact_start: np.ndarray
    body_contact_index: np.ndarray
    body_row_start: np.ndarray
    body_row_index: np.ndarray
    pair_i: np.ndarray  # (P,) i < j, both dynamic; sorted by island, then by i and j
    pair_j: np.ndarray
    pair_island: np.ndarray
    pair_joined: np.ndarray  # (P,) bool: coupled by a joint row
    pair_contact_start: np.ndarray
    pair_contact_end: np.ndarray
    pair_row_start: np.ndarray
    pair_row_index: np.ndarray
    neighbour_start: np.ndarray
    neighbour_body: np.ndarray
    neighbour_pair: np.ndarray  # k: block k; -k-1: its transpose


def whole_groups(label, members):
    """(n,) bool: nodes of groups that have one of ``members`` (n,) bool or numbers; label: (n,) int of each node."""
    return groups_with(label, members, int(label.max(initial=-1)) + 1)[label]


def groups_with(label, members, count):
    """(count,) bool: groups that have one of ``members``, as in ``whole_groups``."""
    marked = np.zeros(count, bool)
    marked[label[members]] = True
    return marked


def group(keys, count):
    """CSR of the positions of each key 0..count-1 in ``keys``: (start (count + 1,), index), in order of position."""
    order = _in_order(keys, count)
    return np.searchsorted(keys.take(order), np.arange(count + 1)).astype(np.int32), order.astype(np.int32)


def _in_order(keys, count):
    """Positions of ``keys`` (K,) from 0 to ``count`` in their order, equal ones as they come."""
    # NumPy sorts numbers of 16 bits by counting them, which takes a third of the time
    return np.argsort(keys.astype(np.uint16) if count < 1 << 16 else keys, kind="stable")


def incidence(a, b, count):
    """CSR of the constraints around each of ``count`` bodies; entries of a, b beyond it are immovable and left out."""
    body = np.concatenate([a, b])
    item = np.concatenate([np.arange(len(a)), np.arange(len(b))])
    movable = body < count
    start, order = group(body[movable], count)
    return start, item[movable][order].astype(np.int32)


def build_topology(problem):
    """The Topology of a StepProblem."""
    contacts, rows, bodies = problem.contacts, problem.joints, problem.bodies
    count, sides = len(bodies.mass), (contacts.body_a, contacts.body_b, rows.body_a, rows.body_b, rows.joint)
    for total, dynamic, known, topology in _recent:
        same = total == count and dynamic == bodies.dynamic_count
        if same and all(old is new for old, new in zip(known, sides, strict=True)):
            return topology
    topology = _topology(bodies.dynamic_count, count, *[_packed(side) for side in sides])
    if not any(side.flags.writeable for side in sides if len(side)):
        _recent.append((count, bodies.dynamic_count, sides, topology))
    return topology


_recent = deque(maxlen=1)  # the last structure of arrays that cannot change: (bodies, dynamic ones, arrays, Topology)


def _packed(values):
    """The bytes of ``values`` as int32."""
    if values.dtype != np.int32:
        values = np.asarray(values, np.int32)
    return values.tobytes() if len(values) else b""


def same_blocks(first, second):
    """Whether two Topologies couple the same bodies, by joints or not, and take the same islands for constrained and
    jointed.
    """
    names = "body_island", "pair_i", "pair_j", "pair_joined", "constrained", "jointed"
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in names)


def loops(count, a, b):
    """(E,) bool: joints between bodies a and b (E,) of a group that closes a loop.

    Bodies from number ``count`` on do not move: they are one, the ground.  A group with one loop has as many joints as
    bodies, the ground among them.
    """
    linked = (a < count) & (b < count)
    label = connected_components(count, a[linked], b[linked])
    of_joint = label[np.minimum(a, b)]
    groups = int(label.max(initial=-1)) + 1
    bodies, joints = np.bincount(label, minlength=groups), np.bincount(of_joint, minlength=groups)
    bodies[np.unique(of_joint[~linked])] += 1
    return (joints >= bodies)[of_joint]


@lru_cache(maxsize=KEPT)
def _topology(n, total, *sides):
    """The Topology of ``total`` bodies, n of them dynamic.

    sides: bytes of the contacts' bodies, of the rows' bodies and of the rows' joints.
    """
    ca, cb, ra, rb, joint = (np.frombuffer(side, np.int32).astype(np.int64) for side in sides)
    both = (np.concatenate([ca, ra]), np.concatenate([cb, rb])) if len(ra) else (ca, cb)
    linked = (both[0] < n) & (both[1] < n)
    body_island = connected_components(n, both[0][linked], both[1][linked])
    island_count = int(body_island.max()) + 1 if n else 0

    low = np.minimum(ca, cb)
    contact_island, pair_key = body_island.take(low), low * total + np.maximum(ca, cb)
    contact_order = pair_key.argsort(kind="stable")
    contact_order = contact_order.take(_in_order(contact_island.take(contact_order), island_count))
    ca, cb, pair_key, contact_island = (x.take(contact_order) for x in (ca, cb, pair_key, contact_island))
    # contacts of one pair are neighbours after the sort, whatever island order put between pairs
    first = segments(pair_key)[0]
    edges = np.append(first, len(ca))
    runs = places((ca.take(first) < n) & (cb.take(first) < n))
    pairs, starts, ends = pair_key.take(first.take(runs)), edges.take(runs), edges.take(runs + 1)

    constrained, jointed, looped = (np.zeros(island_count, bool) for _ in range(3))
    constrained[contact_island] = True
    if len(ra):
        low = np.minimum(ra, rb)
        row_island, row_key, row_linked = body_island[low], low * total + np.maximum(ra, rb), (ra < n) & (rb < n)
        joined = np.unique(np.concatenate([pairs, row_key[row_linked]]))
        order = np.argsort(body_island[joined // total], kind="stable")
        place, (start, end) = np.empty_like(order), np.zeros((2, len(joined)), int)
        place[order] = np.arange(len(joined))
        slot = place[np.searchsorted(joined, pairs)]
        start[slot], end[slot] = starts, ends
        row_of_pair = np.nonzero(row_linked)[0]
        pair_row_start, order = group(place[np.searchsorted(joined, row_key[row_of_pair])], len(joined))
        pairs, starts, ends = joined[np.argsort(place)], start, end
        pair_row_index = row_of_pair[order].astype(np.int32)
        constrained[row_island] = jointed[row_island] = True
        first_row = np.unique(joint, return_index=True)[1]
        looped[row_island[first_row[loops(n, ra[first_row], rb[first_row])]]] = True
        island_row_start, island_row_index = group(row_island, island_count)
        body_row_start, body_row_index = incidence(ra, rb, n)
    else:
        row_island = np.zeros(0, np.int64)
        pair_row_start, island_row_start, body_row_start = (
            np.zeros(count + 1, np.int32) for count in (len(pairs), island_count, n)
        )
        pair_row_index, island_row_index, body_row_index = (np.zeros(0, np.int32) for _ in range(3))
    pair_i, pair_j = pairs // max(total, 1), pairs % max(total, 1)
    pair_island = body_island[pair_i]
    number = np.arange(len(pairs))
    neighbour_start, order_n = group(np.concatenate([pair_i, pair_j]), n)
    body_contact_start, body_contact_index = incidence(ca, cb, n)
    island_body_start, island_body_index = group(body_island, island_count)
    topology = Topology(
        body_island=body_island,
        island_count=island_count,
        constrained=constrained,
        constrained_index=places(constrained).astype(np.int32),
        jointed=jointed,
        looped=looped,
        contact_order=contact_order,
        contact_island=contact_island,
        row_island=row_island,
        island_contact_start=np.searchsorted(contact_island, np.arange(island_count + 1)),
        island_row_start=island_row_start,
        island_row_index=island_row_index,
        island_body_start=island_body_start,
        island_body_index=island_body_index,
        island_run_start=np.searchsorted(contact_island.take(first), np.arange(island_count + 1)),
        island_pair_start=np.searchsorted(pair_island, np.arange(island_count + 1)),
        run_start=edges.astype(np.int32),
        body_contact_start=body_contact_start,
        body_contact_index=body_contact_index,
        body_row_start=body_row_start,
        body_row_index=body_row_index,
        pair_i=pair_i,
        pair_j=pair_j,
        pair_island=pair_island,
        pair_joined=pair_row_start[1:] > pair_row_start[:-1],
        pair_contact_start=starts.astype(np.int32),
        pair_contact_end=ends.astype(np.int32),
        pair_row_start=pair_row_start,
        pair_row_index=pair_row_index,
        neighbour_start=neighbour_start,
        neighbour_body=np.concatenate([pair_j, pair_i])[order_n],
        neighbour_pair=np.concatenate([number, -number - 1])[order_n],
    )
    for values in vars(topology).values():
        if isinstance(values, np.ndarray):
            frozen(values)
    return topology
