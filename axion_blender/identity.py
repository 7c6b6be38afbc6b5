# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes and objects across time: a reference dies with an undo or a new file, a session's number does not."""

import bpy


def scene_of(uid):
    """The scene whose ``session_uid`` that is, or None."""
    return next((scene for scene in bpy.data.scenes if scene.session_uid == uid), None)


def numbers(objects):
    """{name: Object} -> {name: session_uid}."""
    return {name: item.session_uid for name, item in objects.items()}


def objects_of(scene, uids):
    """{name: session_uid} -> {name: Object} of those that the scene still holds, and a list of the names it lost."""
    here = {item.session_uid: item for item in scene.objects}
    found = {name: here[uid] for name, uid in uids.items() if uid in here}
    return found, [name for name in uids if name not in found]
