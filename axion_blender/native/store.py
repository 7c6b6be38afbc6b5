# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a conversion in the scene: ``Scene.axion_native``, what the panel shows and scripts read."""

from .report import CARRIED


def keep(scene, conversion):
    """Leave the report of ``conversion`` (report.Conversion) in the scene; it replaces the one before."""
    kept = scene.axion_native
    forget(scene)
    kept.bodies, kept.joints = conversion.bodies, conversion.joints
    for entry in conversion.entries:
        for note in entry.notes:
            _add(kept, entry, note.status, note.name, note.sentence)
        if entry.carried or entry.needless:
            row = _add(kept, entry, CARRIED, ", ".join(entry.carried), "")
            row.needless = ", ".join(entry.needless)


def _add(kept, entry, status, settings, sentence):
    row = kept.rows.add()
    row.name, row.kind, row.status, row.settings, row.sentence = entry.name, entry.kind, status, settings, sentence
    return row


def forget(scene):
    """Remove the report."""
    scene.axion_native.rows.clear()
    scene.axion_native.active_index = 0


def read(scene):
    """The kept report: a list of dicts with the keys name, kind, status, settings and needless (lists), sentence."""
    return [
        {
            "name": row.name,
            "kind": row.kind,
            "status": row.status,
            "settings": [name for name in row.settings.split(", ") if name],
            "needless": [name for name in row.needless.split(", ") if name],
            "sentence": row.sentence,
        }
        for row in scene.axion_native.rows
    ]


def missing(scene):
    """Number of lines on what was not carried as it stood."""
    return sum(row.status != CARRIED for row in scene.axion_native.rows)
