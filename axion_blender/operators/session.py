# SPDX-License-Identifier: GPL-3.0-or-later
"""``WindowManager.axion``: what the panels show of the session and no file keeps."""

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, StringProperty

from ...solver import SceneError
from .. import running
from ..job import Phase
from ..properties.joint import TYPES
from .placing import ORIENTATIONS, PIVOTS

KINDS = (
    ("ERROR", "Problem", "It stands in the way of a bake"),
    ("INFO", "Warning", "The bake can go on, but something is not as it seems"),
)
KEPT = {"options": {"SKIP_SAVE"}}


class AXION_PG_finding(bpy.types.PropertyGroup):
    """One sentence that a check found; ``name`` is that of the object it speaks of, or empty."""

    text: StringProperty(name="Text", description="The whole sentence", **KEPT)
    kind: EnumProperty(name="Kind", description="How much it matters", items=KINDS, **KEPT)


def refresh_findings(session, context):
    """List ``problems`` and ``warnings`` line by line."""
    session.findings.clear()
    scene = context.scene
    names = [] if scene is None else sorted((item.name for item in scene.objects), key=len, reverse=True)
    for kind, text in (("ERROR", session.problems), ("INFO", session.warnings)):
        for sentence in text.splitlines():
            found = session.findings.add()
            found.text, found.kind = sentence, kind
            found.name = next((name for name in names if sentence.startswith((f"{name}: ", f"{name} "))), "")


def list_findings(context, scene, problems, warnings):
    """Show what was found in a scene, sentences or what turns into them by ``str``, in the sidebar's list."""
    session = context.window_manager.axion
    session.problems, session.warnings = "\n".join(map(str, problems)), "\n".join(map(str, warnings))
    session.checked = scene.session_uid


def select_finding(session, context):
    """Select the object of the finding that was clicked."""
    if session.finding_index < len(session.findings):
        select(context, session.findings[session.finding_index].name)


def select_joint(session, context):
    """Select the joint that was clicked."""
    items = context.scene.objects
    if session.joint_index < len(items):
        select(context, items[session.joint_index].name)


class AXION_PG_session(bpy.types.PropertyGroup):
    """State of the running Blender."""

    running: BoolProperty(
        name="Baking",
        description="A simulation is under way, and the setup had better stay as it is until it ends",
        get=lambda self: running.current() is not None,
    )
    problems: StringProperty(
        name="Problems",
        description="What the last check found that stands in the way of a bake, a line each",
        update=refresh_findings,
        **KEPT,
    )
    warnings: StringProperty(
        name="Warnings",
        description="What the last check found that does not stop a bake, a line each",
        update=refresh_findings,
        **KEPT,
    )
    show_preview: BoolProperty(
        name="Preview",
        description="Draw the simulated objects in the viewport while they are baked. It follows the newest frame; "
        "move the playhead to look at another one",
        default=True,
        **KEPT,
    )
    checked: IntProperty(
        name="Checked", description="Number of the scene that the findings speak of, 0 where none was looked at", **KEPT
    )
    findings: CollectionProperty(
        name="Findings", description="Problems and warnings of the last check as a list", type=AXION_PG_finding, **KEPT
    )
    finding_index: IntProperty(
        name="Finding", description="Click a problem to select its object", update=select_finding, **KEPT
    )
    joint_type: EnumProperty(
        name="Type",
        description="Which movements the joints allow that are added next",
        items=TYPES,
        default="HINGE",
        **KEPT,
    )
    joint_pivot: EnumProperty(
        name="Location",
        description="Where the joints stand that are added next",
        items=PIVOTS,
        default="CENTER",
        **KEPT,
    )
    joint_orientation: EnumProperty(
        name="Orientation",
        description="How the axes of the joints lie that are added next: hinges turn about Z, sliders slide along X",
        items=ORIENTATIONS,
        default="LOCATION",
        **KEPT,
    )
    joint_index: IntProperty(name="Joint", description="Click a joint to select it", update=select_joint, **KEPT)


def select(context, name, extend=False):
    """Select the object called ``name`` and make it active.  Returns why not, or an empty text."""
    if context.mode != "OBJECT":
        return f"{name} cannot be selected outside Object Mode: go there first"
    item = context.view_layer.objects.get(name)
    if item is None:
        return f"{name or 'The scene itself'} is no object of this view layer, so it cannot be selected"
    if not item.visible_get():
        return f"{name} is hidden, so it cannot be selected: show it first"
    if not extend:
        for other in context.selected_objects:
            other.select_set(False)
    item.select_set(True)
    context.view_layer.objects.active = item
    return ""


def in_object_mode(operator, context):
    """Whether mode and bakes let an operator run; a script or a tooltip that asks why not is told."""
    return is_unlocked(operator) and _is_in_object_mode(operator, context)


def has_active(operator, context):
    """Whether there is an active object."""
    if context.active_object is not None:
        return True
    operator.poll_message_set("No object is active: click one first")
    return False


def may_step(operator, context):
    """Whether an operator may go through frames, or change keys that a render is reading."""
    return in_object_mode(operator, context) and is_left_to_step(operator)


def may_change_scene(operator, context):
    """``may_step``, for operators that change the whole scene."""
    scene = context.scene
    if scene.library is not None:
        operator.poll_message_set(f"{scene.name} is linked from another file: open that file to change it")
        return False
    return may_step(operator, context)


def is_left_to_step(operator):
    """Whether no render goes through the frames."""
    if not running.is_rendering():
        return True
    operator.poll_message_set("Blender is rendering, and would render wrong frames: wait for its end, or cancel it")
    return False


def may_select(operator, context):
    """Whether an operator may select objects: also beside a bake that is being solved, as it changes no setup.

    Not while the bake reads or writes the scene, for an undo step of that moment would hold the scene half written.
    """
    bake = running.current()
    if bake is not None and (bake.ticker is None or bake.ticker.writing or bake.job.phase is Phase.READY):
        operator.poll_message_set("The running bake reads or writes the scene: wait until it has done so")
        return False
    return _is_in_object_mode(operator, context)


def _is_in_object_mode(operator, context):
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


def place_of(filepath):
    """The path an operator was given, whole also where it is beside the open file.  SceneError: it names no file."""
    if not filepath:
        raise SceneError("no file was named: give filepath")
    if filepath.startswith("//") and not bpy.data.filepath:
        raise SceneError(f"{filepath} is beside a file that has no name yet: save it, or give a whole path")
    return bpy.path.abspath(filepath)


CLASSES = (AXION_PG_finding, AXION_PG_session)


def attach():
    """Give the window manager its state."""
    bpy.types.WindowManager.axion = bpy.props.PointerProperty(type=AXION_PG_session)


def detach():
    """Take it away again."""
    del bpy.types.WindowManager.axion
