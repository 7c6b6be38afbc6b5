# SPDX-License-Identifier: GPL-3.0-or-later
"""How newton's kernels come to be: made once, and compiled in as little time as their speed allows.

With an empty cache they are a third of what the first bake compiles.  All modules keep Warp's flags for the CPU's
compiler: LLVM's options hold for the whole process, so Warp compiles what has others while nothing else is compiled,
and the two threads of warm_up.py wait for each other.  With less put into callers (-inline-threshold) newton's take a
third less work, and the first frame came after 30 s, not 20; the solver's kernels run 1.8 times as long by that.
"""

import importlib
import inspect
import sys
from functools import cache

SHARED_PARTS = "collision_convex", "mpr", "multicontact", "simplex_solver"
"""Modules of newton with functions that are put together from others."""
UNROLLED = 4  # rounds of newton's narrow phase: more take the CPU's compiler half as long again, and run no faster


@cache
def load_newton():
    """newton, imported when it is first asked for: that takes a second, in which warm_up.py has begun to compile."""
    return importlib.import_module("newton")


@cache
def share_kernels():
    """Let newton keep the kernels of its narrow phase, and the functions that it puts them together from.

    Made anew for each pipeline, Warp hashes their modules anew; and one kernel holds several functions twice, which the
    compiler works through twice.  newton names no public way to share them; where its functions get other names, the
    first bake starts a second later and each other one 0.1 s, no more.
    """
    narrow = inspect.getmodule(load_newton().geometry.NarrowPhase)
    package = narrow.__name__.rpartition(".")[0]
    for module in (narrow, *(sys.modules.get(f"{package}.{name}") for name in SHARED_PARTS)):
        for name, made in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("create_"):
                setattr(module, name, cache(made))


def unroll_less(narrow_phase):
    """Let the CPU's compiler unroll few rounds in the kernels of a newton.geometry.NarrowPhase not loaded yet."""
    kernels = (
        narrow_phase.narrow_phase_kernel,
        narrow_phase.primitive_kernel,
        narrow_phase.mesh_triangle_contacts_kernel,
    )
    for kernel in kernels:
        if kernel is not None and not kernel.module.execs:
            kernel.module.options["max_unroll"] = UNROLLED
            kernel.module.mark_modified()
