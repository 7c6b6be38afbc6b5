# SPDX-License-Identifier: GPL-3.0-or-later
"""A copy of a scene that its owner cannot change any more: a simulation goes by the scene as it was at the start."""

from dataclasses import replace


def own_copy(scene):
    """A valid Scene with bodies, joints and fields of its own; shapes, paths and axes, which are frozen, are shared."""
    bodies = [replace(body) for body in scene.bodies]
    joints = [replace(joint, axes=dict(joint.axes)) for joint in scene.joints]
    return replace(scene, bodies=bodies, joints=joints, fields=[replace(field) for field in scene.fields])
