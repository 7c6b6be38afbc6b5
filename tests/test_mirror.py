# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies between the host and a device that it cannot reach into: what arrives, and when the host waits."""

import numpy as np
import warp as wp
from axion.solver.arrays import download, download_all, fetch, first_number, upload
from far_device import far_device


def test_numbers_arrive_and_the_host_waits_for_what_it_would_overwrite_and_for_what_it_reads(monkeypatch):
    with far_device(monkeypatch) as (far, count):
        values, table = wp.zeros(4, dtype=wp.float64, device=far), wp.zeros((2, 3), dtype=wp.int32, device=far)
        upload(values, (1.0, 2.0))
        assert count["wait"] == 0
        upload(values, (3.0,))  # the copy before may still be under way
        assert count["wait"] == 1
        np.testing.assert_array_equal(download(values, 3), [3.0, 2.0, 0.0])
        assert count["wait"] == 2
        upload(values, (4.0,))  # all that was sent has arrived since
        assert count["wait"] == 2 and count["to device"] == 3
        one, both = fetch((values, 1), (table, 2))
        assert count["wait"] == 3 and one == [4.0] and both.shape == (2, 2)


def test_what_is_downloaded_is_the_callers_and_in_double_precision(monkeypatch):
    with far_device(monkeypatch) as (far, count):
        lengths, numbers = (wp.full(3, 2, dtype=dtype, device=far) for dtype in (wp.float32, wp.int32))
        one, two = download_all((lengths, 3), (numbers, 2))
        assert one.dtype == np.float64 and two.dtype == np.int32 and count["wait"] == 1
        one[:], two[:] = 0.0, 0
        assert first_number(numbers) == 2 and (download(lengths, 3) == 2.0).all()
        assert len(download(lengths, 0)) == 0 and count["wait"] == 3  # nothing to wait for
