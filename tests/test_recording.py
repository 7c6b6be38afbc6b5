# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings: they see what the arrays of a struct hold when they run, and those of other programs can be saved."""

import gc
import weakref

import numpy as np
import pytest
import warp as wp
from axion.solver.arrays import allocate, host_view
from axion.solver.recording import recorded


@wp.struct
class Sum:
    term: wp.array(dtype=wp.float64)
    total: wp.array(dtype=wp.float64)
    empty: wp.array(dtype=wp.vec3)


@wp.kernel(enable_backward=False)
def add(sums: Sum, more: wp.array(dtype=wp.float64)):
    i = wp.tid()
    sums.total[i] = sums.total[i] + sums.term[i] + more[i]


def made():
    sums, more = allocate(Sum, {}, 3, "cpu"), wp.zeros(3, dtype=wp.float64, device="cpu")
    return sums, more, lambda: wp.launch(add, dim=3, inputs=[sums, more], device="cpu")


def test_a_recording_reads_and_writes_the_arrays_of_a_struct_as_they_are_when_it_runs():
    sums, more, launch = made()
    other, _, launch_other = made()
    graph = recorded("cpu", lambda: (launch(), launch_other(), launch()))
    host_view(sums.term)[:], host_view(other.term)[:] = (1.0, 2.0, 3.0), 100.0
    host_view(more)[:] = 10.0
    wp.capture_launch(graph)
    np.testing.assert_array_equal(host_view(sums.total), [22.0, 24.0, 26.0])
    np.testing.assert_array_equal(host_view(other.total), 100.0)


@pytest.mark.parametrize("savable", (False, True))
def test_only_recordings_to_be_saved_list_where_their_arrays_lie(savable, monkeypatch):
    from warp._src.apic import capture

    recorded("cpu", made()[2])  # from here on Warp is changed
    listed, build = [], capture.APICapture.build_launch_info

    def counted(self, *arguments, **named):
        info = build(self, *arguments, **named)
        listed.append(info.num_relocs)
        return info

    monkeypatch.setattr(capture.APICapture, "build_launch_info", counted)
    _, _, launch = made()
    with wp.ScopedCapture(device="cpu", apic=savable):
        launch()
        launch()
    # data and gradient of the array that is an argument itself, and of the struct's three
    assert listed == [8 * savable] * 2


def test_a_recording_keeps_the_arrays_it_was_made_with():
    sums, more, launch = made()
    views = host_view(sums.total), host_view(more)
    graph = recorded("cpu", launch)
    gone = [weakref.ref(array) for array in (sums.total, more)]
    sums.total = wp.zeros(3, dtype=wp.float64, device="cpu")
    del sums, more, launch
    gc.collect()
    assert all(array() is not None for array in gone)
    views[1][:] = 2.0
    wp.capture_launch(graph)
    np.testing.assert_array_equal(views[0], 2.0)
    del graph
    gc.collect()
    assert all(array() is None for array in gone)
