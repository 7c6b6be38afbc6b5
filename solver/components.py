# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes edges link to each other: union and find, in one pass over the edges on the host."""

import threading

import numpy as np
import warp as wp

from .host import MANY, HostKernel, HostTable
from .predict import module

NODES, EDGES = wp.constant(0), wp.constant(1)


@wp.struct
class NodeTable:
    """The nodes."""

    count: wp.array(dtype=wp.int32)  # nodes, edges
    root: wp.array(dtype=wp.int32)  # scratch: a node of the same component, none greater; of the smallest one itself
    label: wp.array(dtype=wp.int64)  # out


@wp.struct
class EdgeTable:
    """The edges: both ends of each."""

    i: wp.array(dtype=wp.int32)
    j: wp.array(dtype=wp.int32)


@wp.func(module=module)
def root_of(root: wp.array(dtype=wp.int32), node: int):
    """The smallest node known of the component of ``node``; the way to it gets shorter."""
    at = node
    while root[at] != at:
        root[at] = root[root[at]]
        at = root[at]
    return at


@wp.func(module=module)
def unite(root: wp.array(dtype=wp.int32), i: int, j: int):
    """Put two nodes into one component."""
    first = root_of(root, i)
    second = root_of(root, j)
    root[wp.max(first, second)] = wp.min(first, second)


@wp.func(module=module)
def label_roots(root: wp.array(dtype=wp.int32), label: wp.array(dtype=wp.int64), count: int):
    """Label each node with the number of its component, in order of the smallest member.  How many there are."""
    found = int(0)
    for k in range(count):
        if root[k] == k:
            label[k] = wp.int64(found)
            found += 1
        else:
            label[k] = label[root[k]]
    return found


@wp.kernel(module=module, enable_backward=False)
def label_components(nodes: NodeTable, edges: EdgeTable):
    """One thread: label each node with the number of its component, in order of the smallest member."""
    for k in range(nodes.count[NODES]):
        nodes.root[k] = k
    for e in range(nodes.count[EDGES]):
        unite(nodes.root, edges.i[e], edges.j[e])
    label_roots(nodes.root, nodes.label, nodes.count[NODES])


class _Labels(threading.local):
    """The tables of one thread."""

    def __init__(self):
        self.nodes, self.edges = HostTable(NodeTable, count=2), HostTable(EdgeTable, MANY)
        self.kernel = HostKernel(label_components, self.nodes, self.edges, alone=True)


_labels = _Labels()


def connected_components(count, edge_i, edge_j):
    """Label of each of ``count`` nodes, 0, 1, ... in order of the smallest member.  Edges: (E,), (E,)."""
    size = len(edge_i)
    if not size:
        return np.arange(count)
    nodes, edges = _labels.nodes.reserve(count), _labels.edges.reserve(size)
    nodes.count[:] = count, size
    edges.i[:size], edges.j[:size] = edge_i, edge_j
    _labels.kernel.run()
    return nodes.label[:count].copy()


def joint_groups(joint_links, n):
    """(n + 1,) int: bodies that joints hold together share a number; -1, the last, of what does not move.

    joint_links: as in Assembly.
    """
    one, other = joint_links
    linked = np.maximum(one, other) < n
    return np.append(connected_components(n, one[linked], other[linked]), -1)


def anchored(joint_links, n):
    """Numbers of the bodies that joints hold to what does not move freely, one of each row; others as above."""
    own, other = np.minimum(*joint_links), np.maximum(*joint_links)
    return own[(own < n) & (other >= n)]
