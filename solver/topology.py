# SPDX-License-Identifier: GPL-3.0-or-later
"""Who touches whom in one step: islands, body pairs and the index lists kernels walk."""

from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter

import numpy as np

from .components import connected_components
from .flags import equal, places
from .index_lists import IndexLists
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
    contact_tied: np.ndarray  # (C,) bool, after sorting: joints tie the two bodies to each other, the ground among them
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


_lists = IndexLists()
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
    return all(map(equal, _BLOCKS(first), _BLOCKS(second)))


_BLOCKS = attrgetter("body_island", "pair_i", "pair_j", "pair_joined", "constrained", "jointed")


def groups(count, a, b):
    """(count,) int: moving bodies that joints between bodies a and b (E,) link to each other share a number.

    Bodies from number ``count`` on do not move: they are one, the ground.
    """
    linked = (a < count) & (b < count)
    return connected_components(count, a[linked], b[linked])


def loops(label, a, b):
    """(E,) bool: joints between bodies a and b (E,) of a group, with a number in ``label`` of ``groups``, that closes a
    loop: it has as many joints as bodies, the ground among them.
    """
    of_joint, grounded = label[np.minimum(a, b)], np.maximum(a, b) >= len(label)
    groups = int(label.max(initial=-1)) + 1
    bodies, joints = np.bincount(label, minlength=groups), np.bincount(of_joint, minlength=groups)
    bodies[np.unique(of_joint[grounded])] += 1
    return (joints >= bodies)[of_joint]


def _tied(label, joints, contacts):
    """(C,) bool: contacts whose bodies joints tie to each other, what does not move being one body, the ground.

    label: of ``groups``; joints, contacts: both bodies of each.
    """
    count, (a, b) = len(label), contacts
    group = np.append(label, -1)  # of the ground
    own, other = group[np.minimum(a, b)], group[np.minimum(np.maximum(a, b), count)]
    grounded = np.append(groups_with(label, np.minimum(*joints)[np.maximum(*joints) >= count], count), False)
    return np.where(other < 0, grounded[own], own == other)


@lru_cache(maxsize=KEPT)
def _of_joints(n, *sides):
    """Both bodies of each joint, ``groups`` of n dynamic bodies, and first rows of the joints that close ``loops``.

    sides: bytes of the rows' bodies and of the rows' joints.
    """
    a, b, joint = (np.frombuffer(side, np.int32) for side in sides)
    first_row = np.unique(joint, return_index=True)[1]
    joints = a[first_row], b[first_row]
    group = groups(n, *joints)
    return joints, group, first_row[loops(group, *joints)]


@lru_cache(maxsize=KEPT)
def _topology(n, total, *sides):
    """The Topology of ``total`` bodies, n of them dynamic.

    sides: bytes of the contacts' bodies, of the rows' bodies and of the rows' joints.
    """
    ca, cb, ra, rb = (np.frombuffer(side, np.int32) for side in sides[:4])
    of_bodies, contacts, rows, of_pairs = _lists.of(n, total, (ca, cb), (ra, rb))
    islands, runs, pairs, linked = of_bodies.count[4:].tolist()
    starts, row_island = islands + 1, rows.island[: len(ra)].copy()
    looped, tied, order = np.zeros(islands, bool), np.zeros(len(ca), bool), contacts.order[: len(ca)].copy()
    if len(ra):
        joints, group, closing = _of_joints(n, *sides[2:])
        looped[row_island[closing]] = True
        tied = _tied(group, joints, (ca[order], cb[order]))
    constrained = of_bodies.constrained[:islands].copy()
    pair_row_start = of_pairs.row_start[: pairs + 1].copy()
    topology = Topology(
        body_island=of_bodies.body_island[:n].copy(),
        island_count=islands,
        constrained=constrained,
        constrained_index=places(constrained).astype(np.int32),
        jointed=of_bodies.jointed[:islands].copy(),
        looped=looped,
        contact_order=order,
        contact_island=contacts.island[: len(ca)].copy(),
        contact_tied=tied,
        row_island=row_island,
        island_contact_start=of_bodies.island_contact_start[:starts].copy(),
        island_row_start=of_bodies.island_row_start[:starts].copy(),
        island_row_index=rows.of_island[: len(ra)].copy(),
        island_body_start=of_bodies.island_body_start[:starts].copy(),
        island_body_index=of_bodies.island_body_index[:n].copy(),
        island_run_start=of_bodies.island_run_start[:starts].copy(),
        island_pair_start=of_bodies.island_pair_start[:starts].copy(),
        run_start=contacts.run_start[: runs + 1].copy(),
        body_contact_start=of_bodies.body_contact_start[: n + 1].copy(),
        body_contact_index=contacts.around[: of_bodies.body_contact_start[n]].copy(),
        body_row_start=of_bodies.body_row_start[: n + 1].copy(),
        body_row_index=rows.around[: of_bodies.body_row_start[n]].copy(),
        pair_i=of_pairs.i[:pairs].copy(),
        pair_j=of_pairs.j[:pairs].copy(),
        pair_island=of_pairs.island[:pairs].copy(),
        pair_joined=pair_row_start[1:] > pair_row_start[:-1],
        pair_contact_start=of_pairs.contact_start[:pairs].copy(),
        pair_contact_end=of_pairs.contact_end[:pairs].copy(),
        pair_row_start=pair_row_start,
        pair_row_index=of_pairs.row_index[:linked].copy(),
        neighbour_start=of_bodies.neighbour_start[: n + 1].copy(),
        neighbour_body=of_pairs.neighbour_body[: 2 * pairs].copy(),
        neighbour_pair=of_pairs.neighbour_pair[: 2 * pairs].copy(),
    )
    for values in vars(topology).values():
        if isinstance(values, np.ndarray):
            frozen(values)
    return topology
