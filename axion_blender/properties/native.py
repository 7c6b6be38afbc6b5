# SPDX-License-Identifier: GPL-3.0-or-later
"""``Scene.axion_native``: the report of the last conversion of Blender's own rigid bodies."""

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, StringProperty

STATUSES = (
    ("CARRIED", "Carried", "The same in Axion"),
    ("CHANGED", "Changed", "Carried as something near it"),
    ("LOST", "Not Carried", "There is nothing like it in Axion"),
)
KINDS = (
    ("BODY", "Body", "A rigid body"),
    ("JOINT", "Joint", "A rigid body constraint"),
    ("WORLD", "World", "The rigid body world"),
)


def _show(report, context):
    """Whoever chooses a line wants to see its object."""
    from ..operators.session import select

    row = report.rows[report.active_index] if 0 <= report.active_index < len(report.rows) else None
    if row is not None and row.kind != "WORLD":
        select(context, row.name)


class AXION_PG_native_row(bpy.types.PropertyGroup):
    """One line of the report; ``name`` is that of the object, or of the scene."""

    kind: EnumProperty(name="Kind", description="What was converted", items=KINDS)
    status: EnumProperty(name="Status", description="What became of the settings", items=STATUSES)
    settings: StringProperty(name="Settings", description="Names of Blender's own settings that the line is about")
    needless: StringProperty(name="Not Needed", description="Settings without effect, or that Axion does not need")
    sentence: StringProperty(name="What Happened", description="What became of the settings, a sentence")


class AXION_PG_native(bpy.types.PropertyGroup):
    """Report of a conversion."""

    rows: CollectionProperty(
        type=AXION_PG_native_row, name="Report", description="What became of each object's settings, line by line"
    )
    active_index: IntProperty(
        name="Line", description="Click a line to read it in full and to select its object", options=set(), update=_show
    )
    show_carried: BoolProperty(
        name="Carried", description="Show what is the same in Axion, too", default=False, options=set()
    )
    bodies: IntProperty(name="Bodies", description="Number of bodies that were converted", options={"HIDDEN"})
    joints: IntProperty(name="Joints", description="Number of joints that were converted", options={"HIDDEN"})
