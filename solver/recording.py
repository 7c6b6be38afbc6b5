# SPDX-License-Identifier: GPL-3.0-or-later
"""Launches recorded as a graph, on either device."""

from functools import cache

import warp as wp


def recorded(device, launch):
    """The graph of what ``launch()`` launches.  On CUDA it must have run before: recording there must not compile.

    The structs that kernels take must hold the same arrays all the while.
    """
    _walk_structs_once()
    with wp.ScopedCapture(device=device) as capture:
        launch()
    return capture.graph


@cache
def _walk_structs_once():
    """Let Warp look up the arrays of a struct once in a recording, and not at every launch that takes it.

    Recording a solve on the CPU took 50 ms for that.  And let a replay take arguments as they were recorded: it would
    write the address of each array once more at every launch, 50 of them for some kernels, where it lies already.  A
    graph to be saved (``apic=True``) keeps that list, because its arrays will lie elsewhere.  Warp names no public way;
    where it has another shape, recording and replay take as long as they did.
    """
    try:
        from warp._src.apic.capture import APIC_RELOC_NULL, APICapture
        from warp._src.codegen import StructInstance

        look_up = APICapture._walk_value_pointers
    except (ImportError, AttributeError):
        return

    def walk(self, arg_type, value, packed, offset, found):
        places = found if getattr(self, "apic_savable", True) else []
        if offset or not isinstance(value, StructInstance):
            look_up(self, arg_type, value, packed, offset, places)  # the graph keeps the arrays it sees there
            return
        known = vars(self).setdefault("_axion_structs", {})
        if id(value) not in known:
            seen = []
            look_up(self, arg_type, value, packed, offset, seen)
            seen = [place for place in seen if place.kind != APIC_RELOC_NULL]  # the value is zero there already
            known[id(value)] = value, seen  # the struct, too, so that no other gets its number
        places.extend(known[id(value)][1])

    APICapture._walk_value_pointers = walk
