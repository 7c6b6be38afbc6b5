# SPDX-License-Identifier: GPL-3.0-or-later
"""Launches are counted as often as they run, also inside recorded loops, with what they move and compute."""

import pytest
import roofline
import warp as wp
from roofline import Tally, array_bytes, operations

wp.config.quiet = True


@wp.struct
class Pair:
    first: wp.array(dtype=wp.vec3)
    count: int


@wp.func
def square(x: float):
    return x * x


@wp.kernel
def grow(values: wp.array(dtype=float), left: wp.array(dtype=wp.int32)):
    i = wp.tid()
    values[i + 1 - 1] = square(values[i]) / 2.0 + 1.0
    if i == 0:
        left[0] = left[0] - 1


@wp.kernel
def start(left: wp.array(dtype=wp.int32), rounds: int):
    left[0] = rounds


def test_bytes_of_arrays_and_of_arrays_in_structs():
    pair = Pair()
    pair.first, pair.count = wp.zeros(10, dtype=wp.vec3, device="cpu"), 3
    assert array_bytes([pair, 2.0, wp.zeros(7, dtype=wp.float64, device="cpu")]) == 10 * 12 + 7 * 8


def test_operations_outside_of_indices_and_in_functions():
    # square: 1; the line around it: / and +; the last line: -.  i + 1 - 1 is an index.
    assert operations(grow.func) == 4
    assert operations(start.func) == 0


@pytest.mark.parametrize("recorded", [False, True])
def test_launches_in_loops_count_as_often_as_they_run(recorded):
    values, left = wp.zeros(5, dtype=float, device="cpu"), wp.zeros(1, dtype=wp.int32, device="cpu")

    def work():
        wp.launch(start, dim=1, inputs=[left, 3], device="cpu")
        wp.capture_while(left, lambda: wp.launch(grow, dim=5, inputs=[values, left], device="cpu"))

    with Tally("cpu") as tally:
        work()
        if recorded:
            with wp.ScopedCapture(device="cpu") as capture:
                work()
            for _ in range(4):
                wp.capture_launch(capture.graph)
        found = tally.launches()
    times = 1 + 4 * recorded
    assert {key[0].split(".")[-1]: count for key, count in found.items()} == {"start": times, "grow": 3 * times}
    (grown,) = (key for key in found if "grow" in key[0])
    assert grown[1:] == (5 * 4 + 4, 5 * 4)
    assert wp.launch is tally.own["launch"], "the tally leaves Warp as it was"


def test_line_of_a_row_on_the_cpu():
    # Any limits do: the shares are what was counted over the time, against them.
    roof, kernels = roofline.measure("heavy_1000", "cpu", (20.0, 10.0), frames=4)
    assert roof.launches > 10 and roof.ms > 0.0
    assert roof.launches == pytest.approx(sum(kernel.launches for kernel in kernels))
    assert roof.megabytes == pytest.approx(sum(kernel.megabytes for kernel in kernels))
    assert roof.memory == pytest.approx(100.0 * (roof.megabytes / 1e3) / (roof.ms / 1e3) / 20.0)
    assert roof.compute == pytest.approx(100.0 * (roof.megaflop / 1e3) / (roof.ms / 1e3) / 10.0)
