# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply: a bake becomes ordinary animation, and the scene forgets that Axion made it."""

from ...solver import SceneError
from .. import compat
from . import actions, curves, keyframes, points, records

GROUP = "Object Transforms"
"""Blender's own name for the group of location and rotation channels."""


def apply(scene):
    """Keep the motion that was baked in a scene, and drop its Axion setup.  Returns how many objects kept a bake.

    What the bake had set aside, an earlier animation of the same channels, is gone then.  Raises SceneError, before
    anything is changed, where an object's record of its bake is broken or a body or joint cannot be changed.
    """
    items = list(scene.objects)
    records.check(items)
    members = [item for item in items if item.axion.enabled or item.axion_joint.enabled]
    for item in [*members, *(item for item in items if keyframes.holds(item))]:
        if not item.is_editable:
            raise SceneError(f"{item.name} is linked from another file and cannot be changed: make it local first")
    kept = 0
    for item in items:
        if keyframes.holds(item):
            _keep_keys(item)
            kept += 1
    kept += points.keep(scene)
    for item in members:
        for group in (item.axion, item.axion_joint):
            _reset(group)
    _reset(scene.axion)
    return kept


def _keep_keys(item):
    bag = compat.channelbag(item)
    if bag is not None:
        curves.keep(bag, GROUP)
        action = item.animation_data.action
        if actions.SHARED in action:
            del action[actions.SHARED]
    for key in (records.RECORD, records.ORIGINAL_ACTION):
        if key in item:
            del item[key]


def _reset(group):
    for prop in group.bl_rna.properties:
        if prop.identifier in ("rna_type", "name"):
            continue
        value = getattr(group, prop.identifier)
        if prop.type == "POINTER" and hasattr(value, "property_unset") and not hasattr(value, "id_type"):
            _reset(value)
        else:
            group.property_unset(prop.identifier)
