# SPDX-License-Identifier: GPL-3.0-or-later
"""One engine's try at one row: simulated, and judged from the poses."""

import numpy as np
from judge import Motion
from truth_table import COMPLETE

FAR = 1e4
"""Distance beyond which a scene has exploded [m]."""
DIGITS = 4


def attempt(row, module, settings, watch, frames=None, simulated=None):
    """Run an engine on a row.

    Args:
        row: rows.Row.
        module: the engine's file of ``engines/``.
        settings: arguments of its ``run``.
        watch: engines.common.Watch; a run that it ends is not judged.
        frames: how many; None for those of the row.
        simulated: called between the run and its judging.

    Returns:
        (outcome, {name of a figure: value}, Motion): COMPLETE or in words why there are no values; the Motion is None
        then.
    """
    scene, wanted = row.build(), frames or round(row.seconds * row.fps)
    try:
        position, orientation = module.run(scene, wanted, row.fps, watch, **settings)
    except NotImplementedError as reason:
        return f"not translated: {reason}", {}, None
    if simulated is not None:
        simulated()
    if not (np.isfinite(position).all() and np.isfinite(orientation).all() and np.abs(position).max() < FAR):
        return "exploded", {}, None
    if len(position) - 1 < wanted:
        frames = len(position) - 1
        return f"{watch.cpu_limit:g} s of CPU time spent after {frames} of {wanted} frames", {}, None
    motion = Motion(row.judged(scene), position, orientation, row.fps)
    values = {figure.name: float(f"{figure.scale * figure.measure(motion):.{DIGITS}g}") for figure in row.figures}
    return COMPLETE, values, motion
