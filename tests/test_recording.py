# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings: they see what the arrays of a struct hold when they run, and those of other programs can be saved."""

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
    # data and gradient of the array that is an argument itself, and three arrays of the struct
    assert listed == [5 * savable] * 2
