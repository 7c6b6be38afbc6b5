# SPDX-License-Identifier: GPL-3.0-or-later
"""``WindowManager.axion``: what the panels show of the session and no file keeps."""

import bpy
from bpy.props import BoolProperty, StringProperty

from .. import running


class AXION_PG_session(bpy.types.PropertyGroup):
    """State of the running Blender."""

    running: BoolProperty(
        name="Baking", description="A bake is running", get=lambda self: running.current() is not None
    )
    problems: StringProperty(
        name="Problems", description="What the last check of the scene found, a line each", options={"SKIP_SAVE"}
    )
    show_preview: BoolProperty(
        name="Preview",
        description="Draw the simulated objects in the viewport while they are baked. It follows the newest frame; "
        "move the playhead to look at another one",
        default=True,
        options={"SKIP_SAVE"},
    )


def in_object_mode(operator, context):
    """Whether mode and bakes let an operator run; a script or a tooltip that asks why not is told."""
    if not is_unlocked(operator):
        return False
    if context.mode == "OBJECT":
        return True
    operator.poll_message_set(f"Blender is in {context.mode.replace('_', ' ').title()} Mode: go to Object Mode first")
    return False


def is_unlocked(operator):
    """Whether no bake runs, so that the setup may be edited."""
    if running.current() is None:
        return True
    operator.poll_message_set("A bake is running: cancel it first, or wait for its end")
    return False


CLASSES = (AXION_PG_session,)


def attach():
    """Give the window manager its state."""
    bpy.types.WindowManager.axion = bpy.props.PointerProperty(type=AXION_PG_session)


def detach():
    """Take it away again."""
    del bpy.types.WindowManager.axion
