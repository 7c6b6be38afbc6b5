# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in Blender: notes what has been imported once Blender has started with the extension switched on."""

import json
import sys

import addon_utils
import bpy

found = {
    "enabled": "bl_ext.user_default.axion_blender" in bpy.context.preferences.addons,
    "heavy": [name for name in ("warp", "newton") if name in sys.modules],
    "warnings": {str(name): str(said) for name, said in addon_utils._extensions_warnings_get().items()},
}
with open(sys.argv[-1], "w", encoding="utf-8") as file:
    json.dump(found, file)
