# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bodies the viewport and the render leave out, so that points that stand in for them leave them out as well."""

import json

import numpy as np

from . import records

FLAGS = ("hide_viewport", "hide_render")
"""Of objects and of collections."""


def flags_of(item):
    """{flag: value} of an object, as its user set them; those of a body that points stand in for are in its record."""
    if records.POINTS_RECORD in item:
        kept = json.loads(item[records.POINTS_RECORD])
        return {flag: bool(kept[flag]) for flag in FLAGS}
    return {flag: getattr(item, flag) for flag in FLAGS}


def hidden(scene, items):
    """{flag: (N,) of bool}: whether the viewport or the render leaves objects of a scene out, by themselves or by all
    the collections that they are in.
    """
    own = [flags_of(item) for item in items]
    found = {flag: np.array([flags[flag] for flags in own], bool) for flag in FLAGS}
    for flag in FLAGS:
        if any(getattr(collection, flag) for collection in scene.collection.children_recursive):
            seen = _seen(scene.collection, flag)
            found[flag] |= [item.name_full not in seen for item in items]
    return found


def _seen(root, flag):
    """Full names of the objects below a collection that no collection hides."""
    names, queue = set(), [root]
    while queue:
        collection = queue.pop()
        if not getattr(collection, flag):
            names.update(item.name_full for item in collection.objects)
            queue += collection.children
    return names
