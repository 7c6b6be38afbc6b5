# SPDX-License-Identifier: GPL-3.0-or-later
"""Guided bodies: a spring and damper to a path, so that collisions can push a body off it and it comes back.

The guide is a kinematic body without shapes that follows the path, and a joint whose six coordinates are driven to zero
against it: so the drive is part of the step's implicit system, with the path's own velocity, however stiff it is.
"""

from math import inf

from . import rotations
from .scene import Axis, Body, Joint


def guide(
    scene,
    body,
    path,
    stiffness=0.0,
    damping=0.0,
    angular_stiffness=0.0,
    angular_damping=0.0,
    max_force=inf,
    max_torque=inf,
    name=None,
):
    """Add to ``scene`` a guide that pulls Body ``body`` along MotionPath ``path``.

    stiffness [N/m] and damping [N s/m] act on the centre of mass, angular_stiffness [N m/rad] and angular_damping
    [N m s/rad] on the rotation; both relative to the path as it moves; an axis with neither stays free.  max_force [N]
    and max_torque [N m] limit each axis of them.  The body's place on the path is the one it has at the start.

    Returns (Body, Joint), both called ``name``, or "Guide of <body>" where that is None.
    """
    name = f"Guide of {body.name}" if name is None else name
    ghost = scene.add(Body(name, [], motion="kinematic", path=path, center_of_mass=body.mass_properties()[1]))
    place, turn = body.start()
    axes = {}
    for names, k, d, most in (
        ("x y z", stiffness, damping, max_force),
        ("rx ry rz", angular_stiffness, angular_damping, max_torque),
    ):
        if k != 0.0:  # what is no number gets its axis, too, so that it is refused
            own = Axis(stiffness=k, damping=d, drive="position", max_force=most)
        else:
            own = Axis(damping=d, drive="velocity", max_force=most)
        if k != 0.0 or d != 0.0:
            axes |= dict.fromkeys(names.split(), own)
    anchor = place + rotations.rotate(turn, ghost.center_of_mass)
    return ghost, scene.add(Joint(name, "generic", name, body.name, anchor, turn, axes))
