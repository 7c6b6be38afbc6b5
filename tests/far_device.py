# SPDX-License-Identifier: GPL-3.0-or-later
"""A device whose memory the host cannot reach, for machines without a GPU: the solver takes it for a CUDA device.

Warp takes it for the CPU, on which it allocates, launches and records.  To the solver it is another device: it gets
copies of arrays, never views; every copy is counted; and what CUDA forbids raises an error: kernels over arrays of the
other side, and copies, allocations or looks at numbers while a graph is recorded.
"""

import importlib
import sys
from collections import Counter
from contextlib import contextmanager

import warp as wp
from axion.solver import teams
from warp._src import context


class FarDeviceError(AssertionError):
    """The solver did what a CUDA device does not allow."""


def _asks(depth=2):
    """Whether the code that asks is the solver's."""
    return sys._getframe(depth).f_globals.get("__name__", "").startswith("axion.")


def _recording():
    return context.runtime._apic_capture is not None


class FarDevice(context.Device):
    """Device "cuda:0" of the solver."""

    def __init__(self):
        self.__dict__.update(wp.get_device("cpu").__dict__)
        self.alias = self.name = "far"

    @property
    def is_cpu(self):
        return not _asks()

    @property
    def is_cuda(self):
        return _asks()

    @property
    def stream(self):
        return self

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return self is not other

    def __hash__(self):
        return id(self)


def _arrays(value):
    """The Warp arrays in an argument of a kernel."""
    if isinstance(value, wp.array):
        yield value
    elif hasattr(value, "_cls") and hasattr(value._cls, "vars"):  # an instance of a Warp struct
        for name in value._cls.vars:
            yield from _arrays(getattr(value, name))


@contextmanager
def far_device(monkeypatch):
    """Make simulate() run on a FarDevice whatever device its config names.  Yields (device, Counter of what it did).

    The Counter holds "to host", "to device" (copies), "launch" (kernels one by one), "replay" and "record" (graphs).
    """
    frames = importlib.import_module("axion.solver.simulate")
    far, count = FarDevice(), Counter()
    launch, copy, numpy, assign = wp.launch, wp.copy, wp.array.numpy, wp.array.assign
    replay, zeros, array = wp.capture_launch, wp.zeros, wp.array

    def checked_launch(kernel, dim, inputs=(), *rest, device=None, **more):
        if _asks():
            for value in (*inputs, *more.get("outputs", ())):
                for found in _arrays(value):
                    if found.size and (found.device is far) != (device is far):
                        raise FarDeviceError(f"{kernel.key} on {device}: an array of it is on {found.device}")
            if device is far and not _recording():
                count["launch"] += 1
        return launch(kernel, dim, inputs, *rest, device=device, **more)

    def counted_copy(dest, src, *rest, **more):
        if _asks() and dest.device is not src.device:
            _must_not_record("a copy")
            count["to device" if dest.device is far else "to host"] += 1
        return copy(dest, src, *rest, **more)

    def copied_numpy(self):
        if self.device is not far or not _asks():
            return numpy(self)
        caller = sys._getframe(1).f_code.co_name
        if caller == "host_view":
            raise FarDeviceError("the host keeps a view of an array on the device")
        _must_not_record("a look at numbers")
        count["to host"] += 1
        return numpy(self).copy()

    def counted_assign(self, source):
        if self.device is far and _asks():
            _must_not_record("a copy")
            count["to device"] += 1
        return assign(self, source)

    def checked_zeros(*rest, pinned=False, **more):
        if _asks():
            _must_not_record("an allocation")
        return zeros(*rest, **more)

    def counted_replay(graph, *rest, **more):
        count["replay"] += _asks()
        return replay(graph, *rest, **more)

    def counted_wait(stream=None):
        _must_not_record("a wait")
        count["wait"] += 1

    class CountedCapture(wp.ScopedCapture):
        def __enter__(self):
            count["record"] += 1
            return super().__enter__()

    def _must_not_record(what):
        if _recording():
            raise FarDeviceError(f"{what} while a graph is recorded")

    with monkeypatch.context() as patch:
        patch.setattr(frames, "_device", lambda name: far)
        patch.setattr(frames, "order_sums", lambda device, deterministic: None)  # one thread has one order
        patch.setattr(frames, "order_again", lambda device, deterministic: None)
        for name, value in (("WIDTH", 1), ("PER_BLOCK", 1 << 30)):
            patch.setattr(teams, name, value)
        for name in (far, far.alias):
            patch.setitem(context.runtime.device_map, name, far)
        for name, made in (
            ("launch", checked_launch), ("copy", counted_copy), ("zeros", checked_zeros),
            ("capture_launch", counted_replay), ("ScopedCapture", CountedCapture), ("synchronize_stream", counted_wait),
        ):  # fmt: skip
            patch.setattr(wp, name, made)
        patch.setattr(array, "numpy", copied_numpy)
        patch.setattr(array, "assign", counted_assign)
        yield far, count
