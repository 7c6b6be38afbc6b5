# SPDX-License-Identifier: GPL-3.0-or-later
"""``WindowManager.axion``: what the panels show of the session and no file keeps."""

import bpy
from bpy.props import BoolProperty, StringProperty


class AXION_PG_session(bpy.types.PropertyGroup):
    """State of the running Blender."""

    running: BoolProperty(name="Baking", description="A bake is running", options={"SKIP_SAVE"})
    problems: StringProperty(
        name="Problems", description="What the last check of the scene found, a line each", options={"SKIP_SAVE"}
    )


def in_object_mode(operator, context):
    """Whether the mode lets an operator run; a script or a tooltip that asks why not is told."""
    if context.mode == "OBJECT":
        return True
    operator.poll_message_set(f"Blender is in {context.mode.replace('_', ' ').title()} Mode: go to Object Mode first")
    return False


CLASSES = (AXION_PG_session,)


def attach():
    """Give the window manager its state."""
    bpy.types.WindowManager.axion = bpy.props.PointerProperty(type=AXION_PG_session)


def detach():
    """Take it away again."""
    del bpy.types.WindowManager.axion
