# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps what a bake left on library overrides when a file is saved.

Blender saves no custom property of an override that its original lacks, and so would lose the record of a bake while it
saves the keys.  In the file each scene holds those of its overrides, in a custom property of its own; once the file is
read they are the objects' again.
"""

import bpy

from .writers import records

CLASSES = ()
KEPT = "axion_override_records"
"""Custom property of a scene in a file: {number: {"object": the override, name of a property: its value}}."""
NAMES = (*records.FIELDS, records.ORIGINAL_ACTION, *records.VALUES)


@bpy.app.handlers.persistent
def put_aside(*_):
    """Before a save: let each scene hold what its overrides have of a bake."""
    for scene in _scenes():
        found = {}
        for item in scene.objects:
            own = {} if item.override_library is None else {name: item.get(name) for name in NAMES}
            own = {name: value for name, value in own.items() if value is not None}
            if own:
                found[str(len(found))] = {"object": item, **own}
        if found:
            scene[KEPT] = found


@bpy.app.handlers.persistent
def give_back(*_):
    """After a file was read: give the overrides back what ``put_aside`` found."""
    for scene in _scenes():
        for kept in scene.get(KEPT, {}).values():
            item = kept.get("object")
            if item is not None and item.is_editable:
                _give(item, {name: kept[name] for name in NAMES if kept.get(name) is not None})
    forget()


@bpy.app.handlers.persistent
def forget(*_):
    """After a save: the objects have it."""
    for scene in _scenes():
        records.forget(scene, KEPT)


def _give(item, values):
    for name, value in values.items():
        item[name] = value
    item.update_tag()


def _scenes():
    return [scene for scene in bpy.data.scenes if scene.is_editable]


def _handlers():
    own = bpy.app.handlers
    return (
        *((own.save_pre, put_aside), (own.save_post, forget), (own.save_post_fail, forget)),
        *((own.load_post, give_back), (own.blend_import_post, give_back)),
    )


def attach():
    """Watch saving and loading; a file that is open already was loaded without."""
    for handlers, watcher in _handlers():
        handlers.append(watcher)
    if hasattr(bpy.data, "scenes"):
        give_back()
    else:  # Blender shows no data to what it switches on
        bpy.app.timers.register(give_back, first_interval=0.0)


def detach():
    """Watch them no longer."""
    for handlers, watcher in _handlers():
        handlers.remove(watcher)
    if bpy.app.timers.is_registered(give_back):
        bpy.app.timers.unregister(give_back)
