# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies between the host and a CUDA device through page-locked memory beside each array.

From there copies go on while the host works; from ordinary memory each holds it up.  The host waits when it reads,
once for all that it reads together, and where it would overwrite what may still be on its way.
"""

from collections import Counter
from types import SimpleNamespace

import warp as wp

_waits = Counter()  # how often the host waited for each device


def to_write(array):
    """The NumPy array in which the host prepares the next ``send`` to ``array``."""
    mirror = _mirror(array)
    if mirror.sent == _waits[array.device.alias]:
        _wait(array.device)
    return mirror.view


def send(array, count):
    """Copy the first ``count`` elements of ``to_write(array)`` to ``array``, some time before the next kernel."""
    mirror = _mirror(array)
    wp.copy(array, mirror.array, count=count)
    mirror.sent = _waits[array.device.alias]


def fetch(wanted):
    """NumPy arrays of each (array, count) of one device, of which the first ``count`` are good until the next ``send``.

    Of tables all columns are.
    """
    mirrors = [_mirror(array) for array, _ in wanted]
    copied = False
    for mirror, (array, count) in zip(mirrors, wanted, strict=True):
        if count:
            wp.copy(mirror.array, array, count=count if array.ndim == 1 else array.size)
            copied = True
    if copied:
        _wait(wanted[0][0].device)
    return [mirror.view for mirror in mirrors]


def _wait(device):
    wp.synchronize_stream(device.stream)
    _waits[device.alias] += 1


def _mirror(array):
    mirror = getattr(array, "axion_mirror", None)
    if mirror is None:
        there = wp.zeros(array.shape, dtype=array.dtype, device="cpu", pinned=True)
        mirror = array.axion_mirror = SimpleNamespace(array=there, view=there.numpy(), sent=-1)
    return mirror
