# SPDX-License-Identifier: GPL-3.0-or-later
"""From the report to the frame and the objects it blames, and out into files."""

import errno
from pathlib import Path

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty
from bpy_extras.io_utils import ExportHelper

from ...solver import SceneError
from .. import last_bake, report, report_files, whole_files
from .session import is_left_to_step, may_select, place_of

TARGETS = (
    ("FRAME", "Frame", "The frame that is given"),
    ("NEXT", "Next", "The next frame that missed the tolerance"),
    ("PREVIOUS", "Previous", "The previous frame that missed the tolerance"),
    ("WORST", "Worst", "The frame with the worst residual"),
)


def has_report(operator, context):
    """Whether the scene has a report; a tooltip that asks why not is told."""
    if last_bake.document(context.scene) is not None:
        return True
    operator.poll_message_set("There is no report: bake first")
    return False


def select_guilty(context):
    """Select what the report blames for the current frame.  Returns (names selected, names not to be had)."""
    scene = context.scene
    entry = report.of_frame(last_bake.document(scene), scene.frame_current)
    names = [name for part in report.guilty(entry) for name in part] if entry is not None else []
    there = {item.name_full: item for item in context.view_layer.objects}
    found = [there[name] for name in names if name in there and there[name].visible_get(view_layer=context.view_layer)]
    if found:
        for item in context.view_layer.objects.selected[:]:
            item.select_set(False)
        for item in found:
            item.select_set(True)
        context.view_layer.objects.active = found[0]
    chosen = [item.name_full for item in found]
    return chosen, [name for name in names if name not in chosen]


class AXION_OT_select_guilty(bpy.types.Operator):
    """Select the objects that the report blames for the current frame."""

    bl_idname = "axion.select_guilty"
    bl_label = "Select Guilty"
    bl_description = "Select the bodies and joints with the worst errors at the current frame"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return may_select(cls, context) and has_report(cls, context)

    def execute(self, context):
        frame = context.scene.frame_current
        chosen, missing = select_guilty(context)
        if missing:
            self.report({"WARNING"}, f"Not in this view layer, or hidden: {', '.join(missing)}")
        if not chosen:
            self.report({"WARNING"}, f"The report blames nothing that can be selected at frame {frame}")
            return {"CANCELLED"}
        self.report({"INFO"}, f"Worst at frame {frame}: {', '.join(chosen)}")
        return {"FINISHED"}


class AXION_OT_report_jump(bpy.types.Operator):
    """Go to a frame of the report and select the objects it blames there."""

    bl_idname = "axion.report_jump"
    bl_label = "Jump to Frame"
    bl_description = "Go to a frame of the report and select the objects it blames there"
    bl_options = {"REGISTER", "UNDO"}

    frame: IntProperty(
        name="Frame", description="Blender's number of the frame that becomes the current one", default=1
    )
    target: EnumProperty(name="Target", description="Which frame to go to", items=TARGETS, default="FRAME")

    @classmethod
    def poll(cls, context):
        return may_select(cls, context) and has_report(cls, context) and is_left_to_step(cls)

    def execute(self, context):
        document, scene = last_bake.document(context.scene), context.scene
        frame = self.frame if self.target == "FRAME" else _target(document, self.target, scene.frame_current)
        if frame is None or report.of_frame(document, frame) is None:
            what = f"frame {frame}" if frame is not None else f"{self.target.lower()} frame that missed the tolerance"
            self.report({"WARNING"}, f"The report has no {what}")
            return {"CANCELLED"}
        scene.frame_set(frame)
        chosen, _ = select_guilty(context)
        self.report({"INFO"}, f"Frame {frame}: {', '.join(chosen) or 'nothing to blame'}")
        return {"FINISHED"}


def _target(document, target, now):
    frames = document["frames"]
    if target == "WORST":
        worst = max(frames, key=lambda f: float("inf") if f.get("residual") is None else f["residual"], default=None)
        return None if worst is None else worst["blender_frame"]
    bad = [frame["blender_frame"] for frame in frames if not frame["converged"]]
    if target == "NEXT":
        return min((frame for frame in bad if frame > now), default=None)
    return max((frame for frame in bad if frame < now), default=None)


class AXION_OT_export_report(bpy.types.Operator, ExportHelper):
    """Write the report of the last bake to a file."""

    bl_idname = "axion.export_report"
    bl_label = "Export Report"
    bl_description = "Write the report of the last bake as a table (.csv), as everything (.json) or as graphs (.png)"

    filepath: StringProperty(
        name="File Path",
        description="Where to write the report; its ending says what is written",
        subtype="FILE_PATH",
        options={"SKIP_SAVE", "PATH_SUPPORTS_BLEND_RELATIVE"},
    )
    filename_ext = ".csv"
    check_extension = None  # the suffix that is given says what is written
    filter_glob: StringProperty(default="*.csv;*.json;*.png", options={"HIDDEN"})

    @classmethod
    def poll(cls, context):
        return has_report(cls, context)

    def execute(self, context):
        try:
            path = Path(place_of(self.filepath)).absolute()
        except SceneError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        try:
            made = report_files.contents(last_bake.document(context.scene), path.suffix.lower())
            if path.exists() and not path.is_file():  # such as /dev/null, which a file would replace
                raise FileExistsError(errno.EEXIST, "what is there is no file")
            whole_files.write(path, lambda beside: beside.write_bytes(made))
        except ValueError as error:
            self.report({"ERROR"}, f"{path.name} cannot be written, {error}")
            return {"CANCELLED"}
        except OSError as error:
            self.report(
                {"ERROR"}, f"The report was not written to {path}, {error.strerror or error}: choose another place"
            )
            return {"CANCELLED"}
        self.report({"INFO"}, f"Report written to {path}")
        return {"FINISHED"}


CLASSES = (AXION_OT_select_guilty, AXION_OT_report_jump, AXION_OT_export_report)
