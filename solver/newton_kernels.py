# SPDX-License-Identifier: GPL-3.0-or-later
"""How newton's kernels come to be: made once, and compiled in as little time as their speed allows.

With an empty cache they are a third of what the first bake compiles.
"""

import inspect
import sys
from functools import cache

import newton
import warp as wp

PACKAGE = newton.__name__ + "._src."
SHARED_PARTS = "collision_convex", "mpr", "multicontact", "simplex_solver"
"""Modules of newton with functions that are put together from others."""
LAUNCHED = "geometry.bvh", "geometry.broad_phase_nxn", "sim.collide"
"""Modules of newton that a detection launches beside its narrow phase."""
UNROLLED = 4  # rounds of newton's narrow phase: more take the CPU's compiler half as long again, and run no faster
INLINED = "-march=native"
"""Flags for the CPU's compiler: functions of LLVM's own choice are put into their callers.

Warp's choice goes forty times as far.  The solver's kernels run twice as fast by it; newton's take half as long again
to compile, and a detection of 125 boxes 0.20 ms for 0.22.
"""


@cache
def share_kernels():
    """Let newton keep the kernels of its narrow phase, and the functions that it puts them together from.

    Made anew for each pipeline, Warp hashes their modules anew; and one kernel holds several functions twice, which the
    compiler works through twice.  newton names no public way to share them; where its functions get other names, the
    first bake starts a second later and each other one 0.1 s, no more.
    """
    narrow = inspect.getmodule(newton.geometry.NarrowPhase)
    package = narrow.__name__.rpartition(".")[0]
    for module in (narrow, *(sys.modules.get(f"{package}.{name}") for name in SHARED_PARTS)):
        for name, made in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("create_"):
                setattr(module, name, cache(made))


@cache
def compile_quickly():
    """Ask for a quick compiler for what newton launches while a model is built and contacts are found.

    Of the narrow phase, see ``compile_narrow_phase``.  Where newton's modules get other names, a first bake starts a
    second later, no more.
    """
    inverses = getattr(sys.modules.get(f"{PACKAGE}geometry.inertia"), "compute_body_inverses_kernel", None)
    for module in (*(wp.get_module(PACKAGE + name) for name in LAUNCHED), *([inverses.module] if inverses else [])):
        _set(module, cpu_compiler_flags=INLINED)


def compile_narrow_phase(narrow_phase):
    """The same for the kernels of a newton.geometry.NarrowPhase on the CPU."""
    kernels = (
        narrow_phase.narrow_phase_kernel,
        narrow_phase.primitive_kernel,
        narrow_phase.mesh_triangle_contacts_kernel,
    )
    for kernel in kernels:
        if kernel is not None:
            _set(kernel.module, max_unroll=UNROLLED, cpu_compiler_flags=INLINED)


def _set(module, **options):
    """Change options of a module that is not loaded yet."""
    if not module.execs:
        module.options.update(options)
        module.mark_modified()
