# SPDX-License-Identifier: GPL-3.0-or-later
"""Starting Warp and the solver, in this process or another.  No bpy, so that the other process can use it too."""

import sys
from pathlib import Path

FIRST_RUN = "Compiling kernels, first run only"


def start_warp(folder=None):
    """Import Warp.  Returns whether Axion's kernels have yet to be compiled.

    folder: for compiled kernels; None for Warp's own.  Takes a second or more at the first call.  Raises ImportError
    where Warp is not installed.
    """
    import warp

    if folder is not None:
        warp.config.kernel_cache_dir = str(folder)
    warp.config.log_level = warp.LOG_WARNING  # its greeting and its list of loaded modules are not for artists
    warp.init()
    return not any(Path(warp.config.kernel_cache_dir).glob("wp_*axion*"))


def settle_newton():
    """Let newton import what it puts off until first looked at.

    Blender's policy check looks at every module in turn, and fails when new ones appear meanwhile.
    """
    for module in [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "newton"]:
        getattr(module, "__file__", None)
