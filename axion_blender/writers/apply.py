# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply: a bake becomes ordinary animation, and the scene forgets that Axion made it."""

from ...solver import SceneError
from . import actions, curves, custom_properties, keyframes, outputs, players, points, records, shared

GROUP = "Object Transforms"
"""Blender's own name for the group of location and rotation channels."""


def apply(scene):
    """Keep what was baked in a scene, and drop its Axion setup.

    What the bake had set aside, an earlier animation of the same channels, is gone then.  Returns (how many objects
    kept their motion, sentences on those that had none left).  Raises SceneError, before anything is changed, where an
    object's record of its bake is broken, a body or joint cannot be changed, or no motion is left.
    """
    items = list(scene.objects)
    records.check(items)
    members = [item for item in items if item.axion.enabled or item.axion_joint.enabled]
    keyed = [item for item in items if keyframes.holds(item) or custom_properties.holds(item)]
    for item in [*members, *keyed]:
        if not item.is_editable:
            raise SceneError(f"{item.name} is linked from another file and cannot be changed: make it local first")
    for item in keyed:
        fixed = [bag.id_data.name for bag in records.baked_bags(item) if not bag.id_data.is_editable]
        if fixed:
            raise SceneError(
                f"{item.name}: its action {fixed[0]} is linked from another file and cannot be changed: make it local "
                "first"
            )
    shared.claim_points(scene)
    for owner in shared.owners_of_points(scene):
        raise SceneError(
            f"{scene.name} shows points that {owner.name} made of objects they share: apply the bake there"
        )
    shown = players.shown(scene)
    baked = [item for item in items if outputs.holds(item)]
    lost = [item.name for item in baked if not (shown if points.holds(item) else _moves(item))]
    kept = len(baked) - len(lost)
    warnings = [f"The motion of {', '.join(lost[:3])} was deleted, so none of it was kept"] if lost else []
    if shown and not any(points.holds(item) for item in baked):
        warnings.append(f"The bodies of {shown[0].name} were deleted: it stays as an ordinary object")
    elif not kept and lost:
        raise SceneError(
            f"{lost[0]} has no motion any more, it was deleted: Clear Bake removes what is left of the bake"
        )
    for item in keyed:
        _keep_keys(item)
    points.keep(scene)
    for item in members:
        for group in (item.axion, item.axion_joint):
            _reset(group)
    _reset(scene.axion)
    return kept, warnings


def _moves(item):
    records.regroup(item)
    return any(curves.are_baked(bag) for bag in records.baked_bags(item))


def _keep_keys(item):
    for bag in records.baked_bags(item):
        curves.keep(bag, GROUP)
        records.forget(bag.id_data, actions.SHARED, actions.COPIED)
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
