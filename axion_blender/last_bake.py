# SPDX-License-Identifier: GPL-3.0-or-later
"""What a .blend keeps of a scene's last bake: the report, and what contacts and joints carried.

Both live in one text datablock, the report as its text and the forces as bytes in a custom property: it is saved with
the file, undone with the bake, and no dependency graph ever copies it.  What was read is remembered until it changes.
"""

import json
import uuid

import bpy

from . import bake_inputs, recording, report

SUMMARY = "axion_bake_summary"
"""Custom property of a baked scene: the summary of its report, JSON; of its text: the scene."""
FORCES, STAMP, INPUTS = "axion_bake_forces", "axion_bake_stamp", "axion_bake_inputs"
"""Custom properties of the text: bytes of a Recording, a name that no other bake has, and what ``bake_inputs`` read."""
REMEMBERED = 4

_read = {}  # (stamp, what) -> what was read


def text_of(scene):
    """The text that holds a scene's report, or None."""
    return next((text for text in bpy.data.texts if text.get(SUMMARY) == scene), None)


def packed(trajectory, first_frame, tolerance, metres):
    """Bytes of a trajectory's forces for ``keep``, or None where it has none; seconds for a million contacts.

    tolerance: in metres; metres: per Blender unit.  On any thread.
    """
    if trajectory.forces is None:
        return None
    return recording.pack(recording.Recording(trajectory.forces, trajectory.names, first_frame, tolerance, metres))


def keep(text, forces, inputs):
    """Put what ``packed`` made and the tree of ``bake_inputs.read`` beside the report in ``text``; earlier ones go."""
    text[STAMP] = uuid.uuid4().hex
    text[INPUTS] = json.dumps(inputs)
    if FORCES in text:
        del text[FORCES]  # Blender 5.2 ends bytes that replace others at the first zero
    if forces is not None:
        text[FORCES] = forces


def document(scene):
    """The whole report, the tree that ``report.document`` made; None where there is none or somebody broke it."""
    return _remembered(scene, "document", _parsed)


def forces(scene):
    """The Recording of the last bake, or None.  Raises SceneError where it is damaged."""
    return _remembered(scene, "forces", lambda text: recording.unpack(text[FORCES]) if FORCES in text else None)


def inputs(scene):
    """What ``bake_inputs`` read for the last bake; None where there is none or somebody broke it."""
    return _remembered(scene, "inputs", _inputs)


def stamp(scene):
    """A name of the scene's last bake that no other bake has, or ""."""
    text = text_of(scene)
    return "" if text is None else str(text.get(STAMP, ""))


def _parsed(text):
    try:
        tree = json.loads(text.as_string())
    except (ValueError, RecursionError):
        return None
    return tree if report.is_document(tree) else None


def _inputs(text):
    try:
        tree = json.loads(text.get(INPUTS, ""))
    except (ValueError, TypeError, RecursionError):
        return None
    return tree if bake_inputs.is_tree(tree) else None


def _remembered(scene, what, read):
    text = text_of(scene)
    if text is None:
        return None
    key = str(text.get(STAMP, "")), what
    if key not in _read:
        while len(_read) >= REMEMBERED:
            del _read[next(iter(_read))]
        _read[key] = read(text)
    return _read[key]
