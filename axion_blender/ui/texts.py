# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences in panels: broken into lines that fit, because a label of Blender's is cut off at its end."""

import textwrap

LETTER = 7.0
"""Mean width of a letter in the interface font at scale 1 [pixels]."""
MARGIN = 50.0
"""Width that a panel's frame, scroll bar and icon take at scale 1 [pixels]."""
UNKNOWN_WIDTH = 300.0


def wrapped(text, context, taken=0.0):
    """Lines of ``text`` that fit the region's width.  taken: part of the width that other things fill, 0 to 1."""
    region = context.region
    width = UNKNOWN_WIDTH if region is None else region.width / context.preferences.system.ui_scale
    return textwrap.wrap(text, max(16, int((width * (1.0 - taken) - MARGIN) / LETTER)))


def note(layout, context, text, icon="NONE", alert=False):
    """Draw a sentence over as many lines as it takes; the icon stands in front of the first."""
    column = layout.column(align=True)
    column.alert = alert
    column.scale_y = 0.8
    blank = "NONE" if icon == "NONE" else "BLANK1"
    for number, line in enumerate(wrapped(text, context)):
        column.label(text=line, icon=blank if number else icon)
