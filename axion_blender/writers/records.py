# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake changed on an object, kept on the object itself until the bake is cleared.

The record is a custom property: it survives saving, renaming, appending to another file and Blender without the
extension.  ``curves.py`` keeps the F-curves that a bake replaces.
"""

import json

import bpy

from ...solver import SceneError
from .. import compat
from . import actions, curves, pushed, rotation_modes

RECORD = "axion_bake"  # custom property of a baked object: JSON
ORIGINAL_ACTION = "axion_bake_original_action"  # custom property: the action that a private copy stands in for
VALUES_RECORD = "axion_bake_values"  # the same of an object that only custom properties are baked on
POINTS_RECORD = "axion_points_hidden"  # of a body that is shown as a point: how it was hidden before
CLAIMED = {"animation_data", "last_slot", "action", "slot", "created"}
FIELDS = {
    RECORD: CLAIMED | {"location", "rotation_mode", "baked_mode", "rotation"},
    VALUES_RECORD: CLAIMED,
    POINTS_RECORD: {"hide_viewport", "hide_render"},
}
CURES = dict.fromkeys((RECORD, VALUES_RECORD), f'delete the channels in its group "{curves.GROUP}"')
CURES[POINTS_RECORD] = "enable it again in viewports and renders"
VALUES = ("axion_speed", "axion_spin", "axion_contact_force", "axion_force", "axion_torque")
"""Custom properties that ``custom_properties.py`` may bake beside the motion.  The record of the bake lists those that
it made, as "values": only they end with it."""
CHOSEN_MODE = "chosen_mode"
"""In the record of a hidden bake: the rotation mode that somebody gave the object since it was baked, which stays."""
ROTATION_PATHS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
ROTATIONS = (*ROTATION_PATHS.values(), "rotation_euler")


def rotation_path(mode):
    """The rotation channel that a rotation mode plays."""
    return ROTATION_PATHS.get(mode, "rotation_euler")


def rotation_size(path):
    """Number of channels at a rotation's path."""
    return 4 if path in ROTATION_PATHS.values() else 3


def is_baked(item):
    """Whether an object holds a bake."""
    return RECORD in item


def check(items):
    """Raises SceneError where a record of an object's bake, which anybody can edit, says nothing, and in tweak mode."""
    whole = set()  # thousands of points have few records
    for item in items:
        if (RECORD in item or VALUES_RECORD in item) and item.animation_data and item.animation_data.use_tweak_mode:
            raise SceneError(
                f"{item.name} has an NLA strip in tweak mode, which hides its action: leave tweak mode to bake, apply "
                "or clear"
            )
        for key, fields in FIELDS.items():
            if key not in item or (isinstance(item[key], str) and (key, item[key]) in whole):
                continue
            if _is_whole(item[key], fields):
                whole.add((key, item[key]))
            else:
                raise SceneError(
                    f"{item.name}: the record of its bake is broken: delete its custom property {key} and {CURES[key]}"
                )


def _is_whole(text, fields):
    try:
        record = json.loads(text)
        return record.keys() >= fields and set(VALUES).issuperset(record.get("values", ()))
    except (TypeError, ValueError, AttributeError):
        return False


def begin(item, scene, mode, staged):
    """Write down how an object goes back from its bake, and let it play slot ``staged`` (see ``staging.py``).

    An object with an action gets the new channels beside its other ones; one without plays the slot itself; one whose
    slot moves other objects too, or whose action is linked, gets a private copy of it.  Returns the channelbag that the
    staged curves must be copied to, or None where the object plays them.
    """
    record = {
        "location": list(item.location),
        "rotation_mode": item.rotation_mode,
        "baked_mode": mode,
        "rotation": {path: list(getattr(item, path)) for path in ROTATIONS},  # a change of mode rewrites all of them
    }
    item.rotation_mode = mode
    bag = claim(item, scene, record, staged)
    plays = item.animation_data.action_slot == staged
    record["start"] = _start(bag if plays else staged.id_data.layers[0].strips[0].channelbag(staged))
    item[RECORD] = json.dumps(record)
    if plays:
        return None
    curves.prepare(bag, ("location", rotation_path(mode)))
    return bag


def _start(bag):
    """Frame and values of a bake's first keys, by which ``moved.py`` tells that somebody changed them."""
    values = {}
    for curve in bag.fcurves:
        values.setdefault(curve.data_path, []).append(curve.keyframe_points[0].co[1])
    return {"frame": bag.fcurves[0].keyframe_points[0].co[0], "values": values}


def claim(item, scene, record, staged=None):
    """The channelbag for new curves on an object; ``record`` takes in what ``give_action_back`` needs.

    staged: a slot for an object that has no action; None makes one in the shared action.
    """
    record |= {"animation_data": item.animation_data is not None, "action": "own", "slot": True, "created": []}
    data = item.animation_data_create()
    record["last_slot"] = data.last_slot_identifier
    created = record["created"]
    if data.action is None:
        record["action"] = "none"
        data.action = actions.shared_action(scene) if staged is None else staged.id_data
        data.action_slot = staged  # assigning an action picks a slot of the same name, which is another object's
        if staged is not None:
            record["slot"] = False
            created += ["slot", "bag"]
    elif not data.action.is_editable or (data.action_slot is not None and len(data.action_slot.users()) > 1):
        record["action"] = "copy"
        item[ORIGINAL_ACTION], identifier = data.action, data.action_slot.identifier if data.action_slot else None
        data.action = data.action.copy()
        data.action.use_fake_user = False  # which says that somebody keeps it
        data.action[actions.COPIED], record["original_slot"] = True, identifier
        data.action_slot = data.action.slots[identifier] if identifier else None
    if data.action_slot is None:
        record["slot"] = False
        data.action_slot = data.action.slots.new("OBJECT", item.name)
        created.append("slot")
    return actions.ensure_bag(data.action, data.action_slot, created)


def regroup(item):
    """Put baked curves that somebody took out of their group back: those that still begin as the bake wrote them."""
    start, bag = json.loads(item[RECORD]).get("start"), compat.channelbag(item)
    if start is None or bag is None or not bag.id_data.is_editable:
        return
    for path, values in start["values"].items():
        for i, value in enumerate(values):
            curve = bag.fcurves.find(path, index=i)
            if curve is None or not len(curve.keyframe_points) or bag.fcurves.find(curves.HIDDEN + path, index=i):
                continue
            if curve.group is not None and curve.group.name == curves.GROUP:
                continue
            if tuple(curve.keyframe_points[0].co) == (start["frame"], value):
                curve.group = bag.groups.get(curves.GROUP) or bag.groups.new(curves.GROUP)


def hide(item):
    """Let an object stand and move as if it were not baked, until ``show``."""
    regroup(item)
    record, mode = json.loads(item[RECORD]), item.rotation_mode
    played = [curves.hide(bag) for bag in baked_bags(item)]
    if mode != record["baked_mode"] and (any(played) or mode != record["rotation_mode"]):
        record[CHOSEN_MODE] = mode
        item[RECORD] = json.dumps(record)
    _restore_values(item, record)


def show(item):
    """Let a hidden bake play again."""
    record = json.loads(item[RECORD])
    for bag in baked_bags(item):
        curves.show(bag)
    item.rotation_mode = record.get(CHOSEN_MODE, record["baked_mode"])
    if CHOSEN_MODE in record:
        del record[CHOSEN_MODE]
        item[RECORD] = json.dumps(record)
    item.update_tag()


def baked_bags(item):
    """The channelbags that a baked object plays: of its action, and of NLA strips it was pushed down into."""
    own = compat.channelbag(item)
    return [*([] if own is None else [own]), *(bag for bag in pushed.bags(item) if bag != own)]


def end(item):
    """Take an object's bake back: its channels, its action, and the values they had.  False where it holds none."""
    if RECORD not in item:
        return False
    record = json.loads(item[RECORD])
    if CHOSEN_MODE not in record and item.rotation_mode != record["baked_mode"]:
        record[CHOSEN_MODE] = item.rotation_mode
    regroup(item)
    pushed.remove(item)
    leave_take(item)
    data = item.animation_data
    action, slot = (data.action, data.action_slot) if data is not None else (None, None)
    if data is not None or record["action"] == "copy":
        bag = compat.channelbag(item)
        if bag is not None and "bag" in record["created"] and curves.all_baked(bag):
            actions.remove_bag(action, bag)  # at once, and not curve by curve
            bag = None
        if bag is not None:
            curves.remove(bag)
        give_action_back(item, record, action, slot, bag)
    _restore_values(item, record)
    forget(item, RECORD, ORIGINAL_ACTION, *record.get("values", ()))
    return True


def leave_take(item):
    """Take an object's hands off a baked action that somebody keeps, with the baked curves in it."""
    data = item.animation_data
    if data is None or not actions.is_take(data.action):
        return
    bag = compat.channelbag(item)
    if bag is not None:
        curves.keep(bag, actions.TAKE)
    data.action = None


def forget(item, *keys):
    """Delete those of the custom properties that an object or action has."""
    for key in keys:
        if key in item:
            del item[key]


def _restore_values(item, record):
    item.rotation_mode = record["rotation_mode"]
    item.location = record["location"]
    for path, values in record["rotation"].items():
        setattr(item, path, values)
    if CHOSEN_MODE in record:
        _turn_over(item, record[CHOSEN_MODE])
    item.update_tag()


def _turn_over(item, mode):
    """Give an object another rotation mode and the rotation that it has; Blender keeps angles in any order of axes."""
    turn = rotation_modes.quaternion(getattr(item, rotation_path(item.rotation_mode)), item.rotation_mode)
    item.rotation_mode, path = mode, rotation_path(mode)
    setattr(item, path, rotation_modes.values(turn, mode, item.rotation_euler))


def give_action_back(item, record, action, slot, bag):
    """Undo ``claim``, once the curves are gone from the bag."""
    data = item.animation_data_create()  # somebody may have taken action, slot or all of it away since
    used = bag is not None and len(bag.fcurves) > 0
    if record["action"] == "copy":
        original = item.get(ORIGINAL_ACTION)
        data.action = original
        if original is not None:
            identifier = record.get("original_slot", slot.identifier if slot is not None else "")
            data.action_slot = original.slots.get(identifier) if record["slot"] else None
        if action is not None and actions.COPIED in action and not action.users:
            bpy.data.actions.remove(action)
    elif record["action"] == "none" and not used:  # keys that came after the bake stay, and so does their action then
        data.action = None
    elif action is not None and not record["slot"] and not used:
        data.action_slot = None
    if action is not None and record["action"] != "copy":
        actions.remove_created(action, slot, record["created"])
        actions.remove_if_empty(action)
    if data.action is None and not record["animation_data"] and not data.drivers and not data.nla_tracks:
        item.animation_data_clear()
    else:
        data.last_slot_identifier = record["last_slot"]
