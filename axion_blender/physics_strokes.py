# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene and its last bake -> the strokes of its overlays at the current frame, in Blender units."""

import numpy as np

from . import last_bake, strokes
from .extract.joints import ALL, LIMITS
from .properties.overlays import AXION_PG_overlays

CROSS, ANCHOR = 0.1, 0.4  # of the size of joint frames: contact points, anchors of rods and ropes


def key(scene, active=None):
    """What the strokes depend on; while it is equal and Blender told of no change of an object, so are they.

    Blender tells of moved objects, but not of edited joint settings: those of the ``active`` object are looked at.
    """
    settings, joint = scene.axion.overlays, ()
    shown = tuple(getattr(settings, name) for name in AXION_PG_overlays.__annotations__)
    if active is not None and active.axion_joint.enabled:
        own = active.axion_joint
        joint = active.name_full, own.type, *limits(own), own.object1, own.object2, *own.anchor1, *own.anchor2
    return scene.session_uid, scene.frame_current, last_bake.stamp(scene), shown, joint


def build(scene, view_layer):
    """The Strokes of a scene now.  Raises SceneError where its recorded forces are damaged."""
    settings, made = scene.axion.overlays, strokes.Strokes()
    recorded = last_bake.forces(scene)
    now = recorded.frame(scene.frame_current) if recorded is not None else None
    chosen = {item.name_full for item in view_layer.objects.selected} if settings.selected_only else None
    joints = [item for item in _joints(scene) if chosen is None or chosen & _names(item)]
    _draw_joints(made, settings, joints, recorded, now)
    if now is not None:
        _draw_forces(made, settings, recorded, now, chosen)
    return made


def _joints(scene):
    return [item for item in scene.objects if item.axion_joint.enabled]


def _names(item):
    """Full names of a joint and its two bodies."""
    owners = (item, item.axion_joint.object1, item.axion_joint.object2)
    return {owner.name_full for owner in owners if owner is not None}


def limits(settings):
    """[(coordinate, lower, upper)] of the limits that count for a joint (``Object.axion_joint``)."""
    found = []
    generic = settings.type in ("GENERIC", "GENERIC_SPRING")
    for name in ALL if generic else LIMITS.get(settings.type, ()):
        kind, letter = ("lin", name) if len(name) == 1 else ("ang", name[1])
        if getattr(settings, f"use_limit_{kind}_{letter}"):
            lower, upper = (getattr(settings, f"limit_{kind}_{letter}_{end}") for end in ("lower", "upper"))
            found.append((name, lower, upper))
    return found


def pose_now(scene, item):
    """(position (3,), orientation (4,) xyzw) of a joint's frame: where the bake carried it, or where it is set up."""
    recorded = last_bake.forces(scene)
    now = None if recorded is None else recorded.frame(scene.frame_current)
    if now is None or item.name_full not in recorded.history.joint_names:
        return _pose(item)
    index = recorded.history.joint_names.index(item.name_full)
    return now.joint_anchor[index, 0] / recorded.metres, now.joint_frame[index, 0]


def _pose(item):
    """(position (3,), orientation (4,) xyzw) of an object, without its scale."""
    location, rotation, _ = item.matrix_world.decompose()
    return np.array(location), np.array((*rotation[1:], rotation[0]))


def _draw_joints(made, settings, joints, recorded, now):
    """Frames and limits, where the bake carried them or, without one, where they are set up."""
    if not joints or not (settings.show_joints or settings.show_limits or settings.show_worst):
        return
    number = {} if now is None else {name: i for i, name in enumerate(recorded.history.joint_names)}
    carried = [number.get(item.name_full) for item in joints]
    position, orientation, frame_b = np.empty((len(joints), 3)), np.empty((len(joints), 4)), np.empty((len(joints), 4))
    bad = np.zeros(len(joints), bool)
    for k, (item, index) in enumerate(zip(joints, carried, strict=True)):
        if index is None:
            position[k], orientation[k] = _pose(item)
            frame_b[k] = orientation[k]
        else:
            position[k] = now.joint_anchor[index, 0] / recorded.metres
            orientation[k], frame_b[k] = now.joint_frame[index]
            bad[k] = settings.show_worst and _is_off(now, index, recorded.tolerance)
    if settings.show_limits:
        _draw_limits(made, settings.size, joints, position, orientation, frame_b)
    if settings.show_joints:
        _draw_rods(made, settings.size, joints, carried, recorded, now)
    kept = bad | settings.show_joints
    strokes.frames(made, position[kept], orientation[kept], settings.size, bad[kept])


def _draw_rods(made, size, joints, carried, recorded, now):
    """Lines from anchor to anchor of distance joints and ropes, with a cross at either end."""
    for item, index in zip(joints, carried, strict=True):
        if has_anchors(item):
            ends = anchors(item) if index is None else now.joint_anchor[index] / recorded.metres
            made.add(ends[0], ends[1], strokes.LIMIT)
            strokes.crosses(made, ends, ANCHOR * size, strokes.LIMIT)


def has_anchors(item):
    """Whether an object is a joint that is tied to its bodies by a point each."""
    return item.axion_joint.enabled and item.axion_joint.type in ("DISTANCE", "ROPE")


def span(item):
    """Distance between the anchors of a joint, in Blender units."""
    return float(np.linalg.norm(np.subtract(*anchors(item))))


def anchors(item):
    """World places (2, 3) of the two ends of a distance joint or rope; of the world, the joint's own place."""
    settings = item.axion_joint
    ends = (settings.object1, settings.anchor1), (settings.object2, settings.anchor2)
    found = [item.matrix_world.translation if o is None else o.matrix_world @ point for o, point in ends]
    return np.array(found)


def _is_off(now, index, tolerance):
    return max(now.joint_error[index], now.joint_error_angle[index]) > tolerance


def _draw_limits(made, size, joints, position, orientation, frame_b):
    found = [(k, name, *ends) for k, item in enumerate(joints) for name, *ends in limits(item.axion_joint)]
    for linear in (True, False):
        rows = [row for row in found if (len(row[1]) == 1) == linear]
        if not rows:
            continue
        joint, name, lower, upper = zip(*rows, strict=True)
        joint, axis = np.array(joint), np.array(["xyz".index(n[-1]) for n in name])
        place = made, position[joint], orientation[joint], axis
        if linear:
            strokes.ranges(*place, lower, upper, 0.5 * size)
        else:
            strokes.arcs(*place, lower, upper, size)
            strokes.hands(*place, strokes.relative_angles(orientation[joint], frame_b[joint], axis), size)


def _draw_forces(made, settings, recorded, now, chosen):
    """Contact points, arrows, and what is off by more than the tolerance."""
    metres = recorded.metres
    scales = [settings.force_scale * scale / metres for scale in recorded.arrow_scales()]
    contacts, joints = _shown(recorded, now, chosen)
    point, force = now.contact_point[contacts] / metres, now.contact_force[contacts].astype(float)
    deep = now.contact_gap[contacts] < -recorded.tolerance
    if settings.show_contacts:
        strokes.crosses(made, point, CROSS * settings.size, strokes.CONTACT)
    if settings.show_worst:
        strokes.crosses(made, point[deep], 4.0 * CROSS * settings.size, strokes.BAD)
    if settings.show_contact_forces:
        strokes.arrows(made, point, force * scales[0], strokes.CONTACT_FORCE)
    if settings.show_joint_forces:
        anchor, pull = now.joint_anchor[joints, 1] / metres, now.joint_force[joints].astype(float)
        strokes.arrows(made, anchor, pull * scales[1], strokes.JOINT_FORCE)
    if settings.show_worst and len(now.joint_error):
        torn = now.joint_anchor[joints & (now.joint_error > recorded.tolerance)] / metres
        made.add(torn[:, 0], torn[:, 1], strokes.BAD)  # from end to end of the joint


def _shown(recorded, now, chosen):
    """Which contacts (C,) and joints (J,) take part, bool."""
    if chosen is None:
        return np.ones(len(now.contact_gap), bool), np.ones(len(now.joint_error), bool)
    body = np.array([name in chosen for name in recorded.bodies], bool)
    joint = np.array([name in chosen for name in recorded.history.joint_names], bool)
    return body[now.contact_body].any(axis=1), joint
