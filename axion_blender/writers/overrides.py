# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands in the way of keyframes: objects that cannot hold them, and things in Blender that win over them."""

from ..extract import holding, motion
from .records import rotation_path


def problems(objects):
    """Sentences on objects that cannot hold keyframes, to be known before anything is solved."""
    found = []
    for item in objects:
        data = item.animation_data
        if not item.is_editable:
            library = item.library.filepath if item.library is not None else "another file"
            found.append(
                f"{item.name} is linked from {library} and cannot hold keyframes: make it local or a library override."
            )
        elif data is not None and data.use_tweak_mode:
            found.append(
                f"{item.name} has an NLA strip in tweak mode, which hides its action: leave tweak mode to bake."
            )
    return found


def warnings(scene, objects):
    """Sentences on whatever acts on the objects after their keys."""
    found = []
    native = scene.rigidbody_world is not None and scene.rigidbody_world.enabled
    objects = list(objects)
    simulated = set(objects)
    for item in objects:
        found += _carried_by_bodies(item, simulated)
        for constraint in holding.active(item):
            if constraint.type not in holding.CARRYING:
                found.append(
                    f"{item.name}: the constraint {constraint.name} can override the baked keys; mute it if so."
                )
        if native and item.rigid_body is not None and item.rigid_body.type == "ACTIVE":
            found.append(
                f"{item.name}: Blender's rigid body overrides the baked keys; switch off the Rigid Body World."
            )
        if item.animation_data is not None:
            found += _animation_warnings(item)
    return found


def _carried_by_bodies(item, simulated):
    """Sentences on constraints of an object and its parents that follow what the simulation moves: where the keys are
    found it stands still, and then it carries the object off them.
    """
    found, owner = [], item
    while owner is not None and (owner == item or owner not in simulated):
        for constraint, whose in _carriers(owner, item):
            targets = motion.targets(constraint)
            ahead = [*targets, *(leader for target in targets for leader in motion.leaders(target))]
            body = next((other for other in ahead if other in simulated and other != item), None)
            if body is not None:
                found.append(
                    f"{item.name}: the constraint {constraint.name}{whose} follows {body.name}, which the simulation "
                    "moves, and carries it off the baked keys: mute it, or join the two"
                )
        owner = owner.parent
    return found


def _carriers(owner, item):
    """(constraint, words that say whose it is) of what carries ``item`` along with ``owner``, itself or a parent."""
    for constraint in holding.active(owner):
        if owner != item:
            yield constraint, f" of its parent {owner.name}"
        elif constraint.type in holding.CARRYING:  # the others are told as what they are
            yield constraint, ""
    if owner.parent is not None and owner.parent_type == "BONE":
        for constraint in motion.bone_constraints(owner.parent, owner.parent_bone):
            yield constraint, f" of {owner.parent.name}'s bone {owner.parent_bone}"


def _animation_warnings(item):
    data = item.animation_data
    paths = ("location", rotation_path(item.rotation_mode))
    driven = sorted({driver.data_path for driver in data.drivers if driver.data_path in paths and not driver.mute})
    found = [f"{item.name}: a driver on {path} overrides the baked keys; remove or mute it." for path in driven]
    solo = next((track for track in data.nla_tracks if track.is_solo), None)
    if solo is not None and data.use_nla:
        found.append(f"{item.name}: its NLA track {solo.name} is solo, which mutes the baked keys; end solo to bake.")
    elif data.nla_tracks and data.use_nla and (data.action_blend_type != "REPLACE" or data.action_influence < 1.0):
        found.append(
            f"{item.name}: its action is mixed with NLA strips ({data.action_blend_type}, influence"
            f" {data.action_influence:g}); let it replace them with influence 1."
        )
    return found
