# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of the selected bodies a Connect Selected joins: each pattern turns bodies into pairs."""

import itertools

import mathutils

PATTERNS = (
    ("SELECTED_TO_ACTIVE", "Selected to Active", "Join each selected body to the active one, as spokes to a hub"),
    (
        "CHAIN_DISTANCE",
        "Chain by Distance",
        "Join the bodies in a chain from the active one, each to the nearest one that is not in it yet",
    ),
    (
        "CHAIN_NAME",
        "Chain by Name",
        "Join the bodies in a chain in the order of their names, such as Link.001, Link.002",
    ),
    ("NEAREST", "Nearest", "Join each body to the nearest ones, as for a wall or a cloud of pieces"),
    ("PARENT", "Parent and Child", "Join each body to the nearest selected one among its parents"),
)
"""The first two are Blender's own."""


def pairs(pattern, bodies, neighbors=1, max_distance=0.0):
    """[(first, second)] of bodies; the active one is the last of ``bodies``.

    neighbors: of each body for NEAREST.  max_distance between middles for NEAREST, 0 for any.
    """
    if pattern == "CHAIN_DISTANCE":
        return _chain(bodies)
    if pattern == "CHAIN_NAME":
        ordered = sorted(bodies, key=lambda item: item.name)
        return list(itertools.pairwise(ordered))
    if pattern == "NEAREST":
        return _nearest(bodies, neighbors, max_distance)
    if pattern == "PARENT":
        return _families(bodies)
    return [(item, bodies[-1]) for item in bodies[:-1]]


def _middle(item):
    """Middle of an object's bounding box, in the world: pieces of a wall may have their origins all in one place."""
    corners = [mathutils.Vector(corner) for corner in item.bound_box]
    return item.matrix_world @ (sum(corners, mathutils.Vector()) / len(corners))


def _chain(bodies):
    left, found = list(bodies[:-1]), []
    end, middles = bodies[-1], {item: _middle(item) for item in bodies}
    while left:
        here = middles[end]
        following = min(left, key=lambda item: ((middles[item] - here).length, item.name))
        left.remove(following)
        found.append((end, following))
        end = following
    return found


def _nearest(bodies, neighbors, max_distance):
    tree, middles = mathutils.kdtree.KDTree(len(bodies)), [_middle(item) for item in bodies]
    for number, middle in enumerate(middles):
        tree.insert(middle, number)
    tree.balance()
    found = {}
    for number, middle in enumerate(middles):
        others = [entry for entry in tree.find_n(middle, neighbors + 1) if entry[1] != number][:neighbors]
        for _, other, distance in others:
            if max_distance == 0.0 or distance <= max_distance:
                found[min(number, other), max(number, other)] = True
    return [(bodies[a], bodies[b]) for a, b in found]


def _families(bodies):
    found, inside = [], set(bodies)
    for item in bodies:
        parent = item.parent
        while parent is not None and parent not in inside:
            parent = parent.parent
        if parent is not None:
            found.append((parent, item))
    return found
