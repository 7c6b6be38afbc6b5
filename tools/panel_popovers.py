# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels that open over others: Blender draws no region of theirs that picture_panels.py could read."""

POPOVERS = {
    "AXION_PT_overlays": ("VIEW3D_PT_overlay", "popover_overlays.png"),
    "AXION_PT_material_presets": ("AXION_PT_material_presets", "popover_materials.png"),
}
"""{panel: (the popover that it stands in, its picture)}, taken by popover_pictures.py."""
