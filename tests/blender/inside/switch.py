# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in Blender: switches the extension off and on three times and notes what each state leaves registered."""

import json
import sys

import addon_utils
import bpy

MODULE = "bl_ext.user_default.axion_blender"


def draw_functions():
    """Names of the functions that add-ons have appended to any panel, menu or header."""
    found = []
    for name in dir(bpy.types):
        draw = getattr(getattr(bpy.types, name), "draw", None)
        found += [f"{name}: {f.__module__}" for f in getattr(draw, "_draw_funcs", []) if "axion" in f.__module__]
    return found


def state():
    """Everything an add-on can leave behind, in a form that can be compared."""
    handlers = {name: len(getattr(bpy.app.handlers, name)) for name in dir(bpy.app.handlers) if "_p" in name}
    keymaps = bpy.context.window_manager.keyconfigs.addon
    owners = (bpy.types.Object, bpy.types.Scene, bpy.types.WindowManager, bpy.types.Collection)
    return {
        "types": [name for name in dir(bpy.types) if "AXION" in name.upper()],
        "operators": [name for name in dir(bpy.ops.axion) if not name.startswith("_")],
        "properties": [
            f"{owner.__name__}.{p.identifier}"
            for owner in owners
            for p in owner.bl_rna.properties
            if "axion" in p.identifier
        ],
        "handlers": {name: count for name, count in handlers.items() if count},
        "timers": "axion" in str(getattr(bpy.app.timers, "_timers", "")),
        "keymap_items": sum(len(keymap.keymap_items) for keymap in keymaps.keymaps) if keymaps else 0,
        "draw_functions": draw_functions(),
    }


addon_utils.disable(MODULE)
found = {"before": state(), "enabled": [], "disabled": []}
for _ in range(3):
    addon_utils.enable(MODULE)
    found["enabled"].append(state())
    addon_utils.disable(MODULE)
    found["disabled"].append(state())
with open(sys.argv[-1], "w", encoding="utf-8") as file:
    json.dump(found, file)
