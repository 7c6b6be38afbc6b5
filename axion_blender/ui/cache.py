# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache in a panel: how much room a scene's frames take on the disk, and the button that frees it."""

from .. import cache_place


def draw_cache(layout, scene):
    """Draw the size of the scene's cache and Free Cache into any panel's layout."""
    row = layout.row()
    size = cache_place.size(scene)
    row.label(text=f"Cache: {cache_place.size_text(size)}" if size else "Cache: empty")
    row.operator("axion.free_cache")
