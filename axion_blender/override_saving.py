# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps Axion's settings of library overrides when a file is saved.

Where the object in the library never had Axion's properties, Blender from 5.0 on (5.0.1 and 5.2.2 were tried) saves the
group as a whole, which it cannot read again: the settings are lost.  With the group there, it saves property by
property.  So the linked original, which is never saved here, gets the group with its defaults before each save.
"""

import bpy

CLASSES = ()
GROUPS = ((bpy.types.Object, "axion"), (bpy.types.Object, "axion_joint"), (bpy.types.Scene, "axion"))


@bpy.app.handlers.persistent
def complete_originals(*_):
    """Before a save: give the originals of all overrides Axion's property groups."""
    for items, kind in ((bpy.data.objects, bpy.types.Object), (bpy.data.scenes, bpy.types.Scene)):
        for item in items:
            original = None if item.override_library is None else item.override_library.reference
            if original is not None:
                for name in (name for owner, name in GROUPS if owner is kind):
                    _touch(getattr(original, name))


def _touch(group):
    name = next(d.identifier for d in group.bl_rna.properties if d.type == "BOOLEAN" and not d.is_readonly)
    setattr(group, name, getattr(group, name))


def attach():
    """Watch saves."""
    bpy.app.handlers.save_pre.append(complete_originals)


def detach():
    """Watch them no longer."""
    bpy.app.handlers.save_pre.remove(complete_originals)
