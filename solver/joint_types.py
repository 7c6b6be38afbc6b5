# SPDX-License-Identifier: GPL-3.0-or-later
"""The joint types, as data: which of the six coordinates of the joint frame each type locks.  A new type is one line.

Coordinates: x y z are the displacement of B's joint frame along axes fixed in A [m], rx ry rz the rotation about them
[rad].  All are zero at the start.

One locked angle beside two free ones makes a universal joint: Y of A and Z of B stay square where rx is locked, Z of A
and X of B where ry is, X of A and Y of B where rz is.  The angle by the formula of the others is not zero then, once
both of them have turned.
"""

from dataclasses import dataclass

AXES = ("x", "y", "z", "rx", "ry", "rz")
LINEAR, ANGULAR = AXES[:3], AXES[3:]


@dataclass(frozen=True)
class JointType:
    """One joint type.

    Attributes:
        name: the ``kind`` of a Joint.
        locked: coordinates that stay zero, see above.
        blender: identifier of Blender's own rigid body constraint, or "" where Blender has none.
        anchors: True where the joint holds the distance of two anchor points instead of a joint frame.
        slack: True where the anchors may come nearer than the length (a rope).
    """

    name: str
    locked: frozenset
    blender: str = ""
    anchors: bool = False
    slack: bool = False


def _type(name, locked, blender="", **options):
    return JointType(name, frozenset(locked.split()), blender, **options)


JOINT_TYPES = {
    entry.name: entry
    for entry in (
        _type("fixed", "x y z rx ry rz", "FIXED"),
        _type("ball", "x y z", "POINT"),
        _type("hinge", "x y z rx ry", "HINGE"),  # turns about Z
        _type("slider", "y z rx ry rz", "SLIDER"),  # slides along X
        _type("piston", "y z ry rz", "PISTON"),  # slides along X and turns about it
        _type("generic", "", "GENERIC"),
        _type("distance", "", anchors=True),
        _type("rope", "", anchors=True, slack=True),
    )
}
