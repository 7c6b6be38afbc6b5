# SPDX-License-Identifier: GPL-3.0-or-later
"""Slotted actions, the same for Blender 4.5, 5.0 and 5.2: one layer, one keyframe strip, one channelbag a slot.

Every function that adds something says so in ``created``, a list of words that ``records`` keeps until the bake is
cleared.
"""

import bpy

SHARED = "axion_shared_action"  # custom property that marks the action of a scene's bakes
COPIED = "axion_bake_copy"  # custom property of private copies; actions that others put in their place are theirs
TAKE = "Take"  # group of the channels of a take that somebody keeps


def shared_name(scene):
    """Name of ``shared_action``, if nothing else has it."""
    return f"Axion {scene.name}"


def has_shared(scene):
    """Whether there is a shared action already."""
    return _found(scene) is not None


def shared_action(scene):
    """The one action for the bakes of a scene's objects that had no action of their own; made at the first call."""
    action = _found(scene)
    if action is None:
        action = bpy.data.actions.new(shared_name(scene))
        action[SHARED] = True
    return action


def replace_shared(scene, action):
    """Make ``action`` the shared one, or remove it where it holds no slot; what an earlier one still holds stays."""
    earlier = _found(scene)
    if len(action.slots) and earlier is not None and earlier != action:
        earlier.name = f"{shared_name(scene)} Earlier"
    action.name, action[SHARED] = shared_name(scene), True
    remove_if_empty(action)


def _found(scene):
    action = bpy.data.actions.get(shared_name(scene))
    return action if action is not None and SHARED in action and action.is_editable else None


def ensure_bag(action, slot, created):
    """The channelbag of a slot, with the layer and strip it needs."""
    if not len(action.layers):
        action.layers.new("Layer")
        created.append("layer")
    layer = action.layers[0]
    if not len(layer.strips):
        layer.strips.new(type="KEYFRAME")
        created.append("strip")
    strip = layer.strips[0]
    bag = None if "slot" in created else strip.channelbag(slot)  # Blender looks through all bags for it
    if bag is None:
        bag = strip.channelbag(slot, ensure=True)
        created.append("bag")
    return bag


def remove_bag(action, bag):
    """Delete a channelbag with all its curves; its slot stays."""
    action.layers[0].strips[0].channelbags.remove(bag)


def remove_created(action, slot, created):
    """Take back what ``ensure_bag`` and a new slot added, as far as nobody else has used it since."""
    layer = action.layers[0] if len(action.layers) else None
    strip = layer.strips[0] if layer is not None and len(layer.strips) else None
    bag = strip.channelbag(slot) if strip is not None and slot is not None else None
    unused = bag is None or not len(bag.fcurves)
    if bag is not None and unused and "bag" in created:
        strip.channelbags.remove(bag)
    if slot is not None and unused and "slot" in created and not slot.users():
        action.slots.remove(slot)
    if strip is not None and "strip" in created and not len(strip.channelbags):
        layer.strips.remove(strip)
    if layer is not None and "layer" in created and not len(layer.strips):
        action.layers.remove(layer)


def is_take(action):
    """Whether a bake made an action that somebody keeps with a fake user, as assets have one, too."""
    return action is not None and action.use_fake_user and (SHARED in action or COPIED in action)


def release_takes():
    """Let kept actions that no object plays any more be actions like any others, so that no bake touches them."""
    for action in [action for action in bpy.data.actions if is_take(action) and action.is_editable]:
        if not any(slot.users() for slot in action.slots):
            if any(action.name == shared_name(scene) for scene in bpy.data.scenes):
                action.name = f"{action.name} {TAKE}"
            for key in (SHARED, COPIED):
                if key in action:
                    del action[key]


def remove_unused():
    """Delete from the shared bake actions what belonged to objects that are gone, unless a fake user keeps it."""
    for action in [a for a in bpy.data.actions if SHARED in a and a.is_editable and not a.use_fake_user]:
        for slot in [slot for slot in action.slots if not slot.users()]:
            action.slots.remove(slot)
        remove_if_empty(action)


def remove_if_empty(action):
    """Delete a shared bake action that holds no slot any more."""
    if SHARED in action and not len(action.slots):
        bpy.data.actions.remove(action)
