# SPDX-License-Identifier: GPL-3.0-or-later
"""Axion inside Blender: what is registered, in which order.

Each module of MODULES offers CLASSES, and may offer ``attach`` and ``detach`` for what is not a class.  Nothing here
imports bpy, Warp or newton: bpy comes with ``register``, the other two with the first bake.
"""

import importlib
from contextlib import ExitStack

MODULES = (
    "properties",
    "preferences",
    "operators",
    "ui",
    "running",
    "out_of_date",
    "cli",
    "override_saving",
    "override_records",
)

_registered = None


def register():
    """Register everything, or nothing if a part fails.  A second call does nothing."""
    global _registered
    if _registered is not None:
        return
    import bpy

    with ExitStack() as undo:
        for name in MODULES:
            module = importlib.import_module(f".{name}", __package__)
            for cls in module.CLASSES:
                bpy.utils.register_class(cls)
                undo.callback(bpy.utils.unregister_class, cls)
            if hasattr(module, "attach"):
                module.attach()
                undo.callback(module.detach)
        _registered = undo.pop_all()


def unregister():
    """Remove everything, the last first."""
    global _registered
    if _registered is not None:
        undo, _registered = _registered, None
        undo.close()
