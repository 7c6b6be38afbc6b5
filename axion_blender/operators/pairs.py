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

    neighbors: of each body for NEAREST.  max_distance between origins for NEAREST, 0 for any.
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


def _place(item):
    return item.matrix_world.translation


def _chain(bodies):
    left, found = list(bodies[:-1]), []
    end = bodies[-1]
    while left:
        here = _place(end)
        following = min(left, key=lambda item: ((_place(item) - here).length, item.name))
        left.remove(following)
        found.append((end, following))
        end = following
    return found


def _nearest(bodies, neighbors, max_distance):
    tree = mathutils.kdtree.KDTree(len(bodies))
    for number, item in enumerate(bodies):
        tree.insert(_place(item), number)
    tree.balance()
    found = {}
    for number, item in enumerate(bodies):
        others = [entry for entry in tree.find_n(_place(item), neighbors + 1) if entry[1] != number][:neighbors]
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
