# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake and Clear Bake, or in their place the running bake: bar, time left, Cancel."""

from .. import out_of_date, progress, running
from .texts import note


def draw_bake(layout, context):
    """The end of the sidebar's way from objects to a bake."""
    bake = running.current()
    if bake is not None:
        draw_progress(layout, context, bake)
        return
    column = layout.column(align=True)
    row = column.row(align=True)
    row.scale_y = 1.5
    row.operator("axion.bake", icon="PHYSICS")
    column.operator("axion.clear_bake")
    column.operator("axion.apply_bake")
    column.operator_menu_enum("axion.export_motion", "format", text="Export Motion")
    sentence = out_of_date.sentence(context.scene)
    if sentence:
        note(layout, context, sentence, "ERROR")


def draw_progress(layout, context, bake):
    """A running bake."""
    job, column = bake.job, layout.column()
    row = column.row(align=True)
    row.progress(factor=job.progress, text=progress.status(job, bake.waits(context)))
    row.operator("axion.cancel_bake", text="", icon="CANCEL")
    for line in progress.details(job):
        column.label(text=line)
    column.prop(context.window_manager.axion, "show_preview")


def lock(layout):
    """Grey out settings while a bake runs that has read them."""
    layout.enabled = running.current() is None
