# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply: a bake becomes ordinary animation, and the scene forgets that Axion made it."""

from ...solver import SceneError
from .. import compat
from . import actions, curves, custom_properties, keyframes, outputs, points, records

GROUP = "Object Transforms"
"""Blender's own name for the group of location and rotation channels."""


def apply(scene):
    """Keep what was baked in a scene, and drop its Axion setup.  Returns how many objects kept their motion.

    What the bake had set aside, an earlier animation of the same channels, is gone then.  Raises SceneError, before
    anything is changed, where an object's record of its bake is broken or a body or joint cannot be changed.
    """
    items = list(scene.objects)
    records.check(items)
    members = [item for item in items if item.axion.enabled or item.axion_joint.enabled]
    keyed = [item for item in items if keyframes.holds(item) or custom_properties.holds(item)]
    for item in [*members, *keyed]:
        if not item.is_editable:
            raise SceneError(f"{item.name} is linked from another file and cannot be changed: make it local first")
    kept = sum(outputs.holds(item) for item in items)
    for item in keyed:
        _keep_keys(item)
    points.keep(scene)
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
    records.forget(item, records.RECORD, records.ORIGINAL_ACTION, custom_properties.RECORD)


def _reset(group):
    for prop in group.bl_rna.properties:
        if prop.identifier in ("rna_type", "name"):
            continue
        value = getattr(group, prop.identifier)
        if prop.type == "POINTER" and hasattr(value, "property_unset") and not hasattr(value, "id_type"):
            _reset(value)
        else:
            group.property_unset(prop.identifier)
