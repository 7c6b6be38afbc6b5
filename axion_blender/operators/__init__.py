# SPDX-License-Identifier: GPL-3.0-or-later
"""``bpy.ops.axion.*``: one file a subject.  Each returns FINISHED, or CANCELLED with the reason as its report."""

from . import bake, bodies, cache, check, joints, native, session

CLASSES = (
    *session.CLASSES,
    *bodies.CLASSES,
    *joints.CLASSES,
    *native.CLASSES,
    *check.CLASSES,
    *bake.CLASSES,
    *cache.CLASSES,
)

attach, detach = session.attach, session.detach
