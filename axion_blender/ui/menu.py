# SPDX-License-Identifier: GPL-3.0-or-later
"""Object > Axion in the 3D viewport: the entries of Blender's own Rigid Body menu in its order, and ours."""

import bpy


class AXION_MT_object(bpy.types.Menu):
    """What can be done to the selected objects."""

    bl_label = "Axion"

    def draw(self, context):
        layout = self.layout
        layout.operator("axion.add_bodies", text="Add Active").type = "ACTIVE"
        layout.operator("axion.add_bodies", text="Add Passive").type = "PASSIVE"
        layout.separator()
        layout.operator("axion.remove_bodies", text="Remove")
        layout.separator()
        layout.operator_menu_enum("axion.change_shape", "type", text="Change Shape")
        layout.operator_menu_enum("axion.apply_material", "material", text="Material")
        layout.operator_menu_enum("axion.calculate_mass", "material", text="Calculate Mass")
        layout.operator("axion.copy_settings", text="Copy from Active")
        layout.separator()
        layout.operator_menu_enum("axion.add_joint", "type", text="Add Joint")
        layout.operator_menu_enum("axion.connect_selected", "connection_pattern", text="Connect")
        layout.operator("axion.remove_joints")
        layout.separator()
        layout.operator("axion.convert_native", text="Convert Rigid Bodies")
        layout.separator()
        layout.operator("axion.check_scene")
        layout.operator("axion.bake")
        layout.operator("axion.cancel_bake", text="Cancel Bake")
        layout.operator("axion.clear_bake")


def draw_entry(self, context):
    """The entry in the Object menu."""
    self.layout.menu(AXION_MT_object.__name__)


CLASSES = (AXION_MT_object,)


def attach():
    """Put the entry into the Object menu."""
    bpy.types.VIEW3D_MT_object.append(draw_entry)


def detach():
    """Take it away again."""
    bpy.types.VIEW3D_MT_object.remove(draw_entry)
