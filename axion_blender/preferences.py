# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on's preferences, and their values where there are none: on the bpy wheel and in tests."""

import bpy


def base_package():
    """Name of the root package: ``bl_ext.<repository>.axion_blender`` in Blender, ``axion`` on the bpy wheel."""
    return __package__.rpartition(".")[0]


class AXION_AP_preferences(bpy.types.AddonPreferences):
    """Settings of this machine, not of a scene."""

    bl_idname = base_package()

    kernel_folder: bpy.props.StringProperty(
        name="Kernel Folder",
        description="Where compiled kernels are kept; empty for the extension's user folder",
        subtype="DIR_PATH",
    )

    solve_in: bpy.props.EnumProperty(
        name="Solve In",
        description="Where a bake that was started from the interface is solved. Scripts and background bakes always "
        "solve in Blender itself",
        items=(
            ("PROCESS", "Separate Process", "Blender stays quick, and outlives a crash of the graphics driver"),
            ("THREAD", "Blender", "Saves the start of another process, about two seconds, and its memory"),
        ),
        default="PROCESS",
    )

    def draw(self, context):
        self.layout.use_property_split = True
        self.layout.prop(self, "solve_in")
        self.layout.prop(self, "kernel_folder")


CLASSES = (AXION_AP_preferences,)


def get(name):
    """Value of a preference, or its default where the add-on is not enabled in Blender's preferences."""
    addon = bpy.context.preferences.addons.get(base_package())
    if addon is not None and addon.preferences is not None:
        return getattr(addon.preferences, name)
    return AXION_AP_preferences.bl_rna.properties[name].default
