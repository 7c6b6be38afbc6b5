# SPDX-License-Identifier: GPL-3.0-or-later
"""One rotation as the values of an object's rotation channel, in any of Blender's rotation modes."""

from mathutils import Euler, Quaternion


def quaternion(values, mode):
    """Quaternion of the values of the rotation channel that ``mode`` plays: (w, x, y, z), (angle, axis) or angles."""
    if mode == "QUATERNION":
        return Quaternion(values).normalized()
    if mode == "AXIS_ANGLE":
        return Quaternion(values[1:], values[0])
    return Euler(values, mode).to_quaternion()


def values(turn, mode, near):
    """Values of the rotation channel that ``mode`` plays, a list, of a Quaternion; Euler angles are those next to
    ``near``, angles, too.
    """
    if mode == "QUATERNION":
        return list(turn)
    if mode == "AXIS_ANGLE":
        axis, angle = turn.to_axis_angle()
        return [angle, *axis]
    return list(turn.to_euler(mode, Euler(near, mode)))
