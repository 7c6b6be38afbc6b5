# SPDX-License-Identifier: GPL-3.0-or-later
"""``bpy.ops.axion.*``: one file a subject.  Each returns FINISHED, or CANCELLED with the reason as its report."""

from . import anchors, bake, bodies, cache, check, joints, limits, materials, native, output, report, selecting, session

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
    *report.CLASSES,
    *limits.CLASSES,
    *anchors.CLASSES,
    *output.CLASSES,
)

attach, detach = session.attach, session.detach
