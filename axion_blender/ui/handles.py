# SPDX-License-Identifier: GPL-3.0-or-later
"""What the handles on the active joint have in common: where they are shown, and how they look."""

DOT = 0.12  # on the screen


class Handles:
    """Mixed into a gizmo group that has ``fits(item)``: whether an object is a joint with such handles.

    Attributes:
        switch: the overlay setting that shows them.
    """

    bl_space_type, bl_region_type, bl_options = "VIEW_3D", "WINDOW", {"3D", "PERSISTENT"}
    switch = "show_handles"

    @classmethod
    def poll(cls, context):
        """Whether Blender shows the group."""
        settings, item = context.scene.axion.overlays, context.object
        if not (settings.show and getattr(settings, cls.switch) and context.space_data.overlay.show_overlays):
            return False
        return item is not None and item.select_get() and context.mode == "OBJECT" and cls.fits(item)


def dot(gizmos, color, size=DOT, alpha=0.8):
    """A new gizmo: a dot that faces the viewer."""
    made = gizmos.new("GIZMO_GT_move_3d")
    made.draw_style, made.draw_options, made.scale_basis = "RING_2D", {"FILL", "ALIGN_VIEW"}, size
    return bright(made, color, alpha)


def bright(gizmo, color, alpha=0.8):
    """Give a gizmo its colour, and white below the mouse; returns it."""
    gizmo.color, gizmo.alpha = color[:3], alpha
    gizmo.color_highlight, gizmo.alpha_highlight = (1.0, 1.0, 1.0), 1.0
    return gizmo
