# SPDX-License-Identifier: GPL-3.0-or-later
"""The report in the sidebar: what the bake says of itself, and the ways to the frames that are bad."""

from .. import baking, last_bake, report

SHOWN = 10
"""Runs of bad frames listed; an exported report has all frames."""


def draw_report(layout, context, wrapped):
    """Draw the report of the scene's last bake.  wrapped: (text, context) -> lines that fit the region."""
    column = layout.column()
    summary = baking.last_summary(context.scene)
    if summary is None:
        layout.label(text="The report cannot be read: bake again", icon="ERROR")
        return
    column.alert = bool(summary["missed"])
    for line in report.summary_lines(summary):
        for part in wrapped(line, context):
            column.label(text=part)
    document = last_bake.document(context.scene)
    if document is None:
        layout.label(text="The text with the report is gone", icon="INFO")
        return
    layout.prop(context.scene.axion.overlays, "graph")
    row = layout.row(align=True)
    for target, icon in (("PREVIOUS", "TRIA_LEFT"), ("NEXT", "TRIA_RIGHT")):
        row.operator("axion.report_jump", text=f"{target.title()} Bad", icon=icon).target = target
    row = layout.row(align=True)
    row.operator("axion.report_jump", text="Worst Frame").target = "WORST"
    row.operator("axion.select_guilty")
    _draw_runs(layout, report.bad_runs(document))
    layout.operator("axion.export_report", icon="EXPORT")


def _draw_runs(layout, runs):
    if not runs:
        return
    column = layout.column(align=True)
    column.label(text="Frames that missed the tolerance:")
    for first, last, worst, names in runs[:SHOWN]:
        frames = str(first) if first == last else f"{first}-{last}"
        jump = column.operator("axion.report_jump", text=f"{frames}: {', '.join(names[:3])}", icon="ERROR")
        jump.frame, jump.target = worst, "FRAME"
    if len(runs) > SHOWN:
        column.label(text=f"and {len(runs) - SHOWN} more: export the report")
