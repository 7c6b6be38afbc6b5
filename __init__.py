# SPDX-License-Identifier: GPL-3.0-or-later
"""Axion: rigid bodies that hold.  The repository root is both the Blender extension and the package ``axion``.

Nothing here imports bpy at module level, so ``axion.solver`` works without Blender.
"""


def register():
    """Register the add-on with Blender (called by the extension system, or by hand on the bpy wheel)."""
    from . import axion_blender

    axion_blender.register()


def unregister():
    """Remove everything ``register`` added."""
    from . import axion_blender

    axion_blender.unregister()
