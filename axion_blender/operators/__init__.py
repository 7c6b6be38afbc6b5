# SPDX-License-Identifier: GPL-3.0-or-later
"""``bpy.ops.axion.*``: one file a subject.  Each returns FINISHED, or CANCELLED with the reason as its report."""

from . import bake, bodies, cache, check, joints, materials, native, selecting, session

CLASSES = (
    *session.CLASSES,
    *bodies.CLASSES,
    *materials.CLASSES,
    *joints.CLASSES,
    *selecting.CLASSES,
    *native.CLASSES,
    *check.CLASSES,
    *bake.CLASSES,
    *cache.CLASSES,
)

attach, detach = session.attach, session.detach
