# SPDX-License-Identifier: GPL-3.0-or-later
"""Launches recorded as a graph, on either device."""

from functools import cache

import warp as wp


def recorded(device, launch):
    """The graph of what ``launch()`` launches.  On CUDA it must have run before: recording there must not compile.

    The structs that kernels take must hold the same arrays all the while.
    """
    _keep_arrays_only()
    with wp.ScopedCapture(device=device) as capture:
        launch()
    return capture.graph


@cache
def _keep_arrays_only():
    """Let a recording on the CPU keep the arrays that its launches take, without a list of where they lie.

    To make that list took half the time of a recording, and to replay by it would write the address of each array once
    more at every launch, 50 of them for some kernels, where it lies already.  A graph to be saved (``apic=True``) has
    it, because its arrays will lie elsewhere.  Warp names no public way; where it has another shape, recording and
    replay take as long as they did.
    """
    try:
        from warp._src.apic.capture import APICapture
        from warp._src.codegen import StructInstance

        look_up = APICapture._walk_value_pointers
    except (ImportError, AttributeError):
        return

    def walk(self, arg_type, value, packed, offset, found):
        if getattr(self, "apic_savable", True):
            look_up(self, arg_type, value, packed, offset, found)
            return
        kept = vars(self).setdefault("_axion_kept", {})
        if id(value) not in kept:
            arrays = [getattr(value, name) for name in value._cls.vars] if isinstance(value, StructInstance) else ()
            kept[id(value)] = value, arrays  # the struct, too, so that no other gets its number

    APICapture._walk_value_pointers = walk
