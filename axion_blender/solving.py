# SPDX-License-Identifier: GPL-3.0-or-later
"""The solving of a bake, with Warp and the cache, in this process or another.  No bpy, so that threads may use it."""

import contextlib
import os
import sys
from pathlib import Path

from .cache import Cache, CacheError, cached_solve
from .cache.progress import Progress
from .job import Phase, wait_for_leaving

ENDS = {Phase.DONE: "done", Phase.CANCELLED: "cancelled", Phase.FAILED: "failed"}
FIRST_RUN = "Compiling kernels, first run only"
NOT_LOOKED_FOR = "Bodies that start inside each other are not looked for before a first bake has compiled the kernels"


def solve(
    scene, frames, fps, config, on_frame, *,
    kernels=None, place=None, resume=True, first=1, say=None, warn=None, on_found=None,
):  # fmt: skip
    """The Trajectory of solver.simulate, from a cache as far as that goes.

    kernels: folder for compiled kernels, or None.  place: cache.Place, or None.  resume, first, say, warn, on_found: as
    of ``cached_solve``; say hears of what takes long, too.  Raises what ``cached_solve`` and ``simulate`` raise, and
    ImportError where Warp is not installed.
    """

    def simulate_from(*given, **named):
        if start_warp(kernels) and say is not None:
            say(FIRST_RUN)  # already while the solver is imported
        from ..solver import simulate

        settle_newton()
        return simulate(*given, **named, say=say)

    if place is None:
        return simulate_from(scene, frames, fps=fps, config=config, on_frame=on_frame)
    trajectory, _ = cached_solve(
        *(place, simulate_from, scene, frames, fps, config, on_frame),
        resume=resume,
        say=say,
        warn=warn,
        on_found=on_found,
        first=first,
    )
    return trajectory


def tell_end(place, job):
    """Say in the cache's progress.json how a Job ended, unless there is no cache or another bake writes it now."""
    if not os.path.isdir(place.folder):
        return
    told = Progress(place.folder, job.first_frame, job.frames, place.owner.get("scene", ""))
    for report in job.reports:
        told.frame(report, write=False)
    with contextlib.suppress(CacheError, OSError), Cache(place.folder):
        told.end(ENDS[job.phase], job.error)


def overlaps(scene, config, kernels=None):
    """Sentences on the bodies of a solver.Scene that start inside each other.

    Where kernels have yet to be compiled, which takes a minute, one that says so: before the first bake, and before the
    first after an update.  Raises ValueError where the device
    does not exist, and ImportError where Warp is not installed.
    """
    wait_for_leaving()
    if start_warp(kernels):
        return [NOT_LOOKED_FOR]
    from ..solver import starting_overlaps

    settle_newton()
    found = starting_overlaps(scene, config, compile_kernels=False)
    return [NOT_LOOKED_FOR] if found is None else [str(overlap) for overlap in found]


def start_warp(folder=None):
    """Import Warp.  Returns whether none of Axion's kernels was ever compiled.

    folder: for compiled kernels; None for Warp's own.  Takes a second or more at the first call.  Raises ImportError
    where Warp is not installed.
    """
    import warp

    wanted = None if folder is None else Path(folder).resolve() / warp.config.version
    if wanted is not None and not _is_kernel_folder(wanted, warp):
        warp.config.kernel_cache_dir = str(folder)
    warp.config.log_level = warp.LOG_WARNING  # its greeting and its list of loaded modules are not for artists
    warp.init()  # its first call appends the version to the folder, later ones do nothing
    if wanted is not None and not _is_kernel_folder(wanted, warp):
        wanted.mkdir(parents=True, exist_ok=True)
        warp.config.kernel_cache_dir = str(wanted)
    return not any(Path(warp.config.kernel_cache_dir).glob("wp_*axion*"))


def _is_kernel_folder(folder, warp):
    """Whether Warp keeps its kernels in a folder, which it may spell in another way."""
    own = warp.config.kernel_cache_dir
    return own is not None and Path(own).is_dir() and folder.is_dir() and folder.samefile(own)


def settle_newton():
    """Let newton import what it puts off until first looked at.

    Blender's policy check looks at every module in turn, and fails when new ones appear meanwhile.
    """
    for module in [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "newton"]:
        getattr(module, "__file__", None)
