# SPDX-License-Identifier: GPL-3.0-or-later
"""How near a frame of Axion comes to what its device can do: bytes and operations against measured limits.

    python benchmarks/roofline.py [--device cuda:0] [--rows ROW ...] [--save]

Launches inside recorded graphs are counted too: every recording and every body of a loop or branch in it gets a
counter on the device.  Of a launch count all arrays that it is given, whole (at most), and the arithmetic signs in the
source of its kernel outside of indices, times its threads, with loops and vectors once (at least).  The limits are
measured: a copy, and a kernel that does nothing but multiply and add.  --save writes the files of the page; make bench
does so where there is a CUDA device.
"""

import argparse
import ast
import functools
import inspect
import textwrap
import time
from collections import Counter

import numpy as np
import records
import warp as wp
from bench_engines import BENCH_ENGINES
from bench_rows import BENCH_ROWS
from bench_table import KERNELS, ROOFS, Kernel, Roof
from cell import WARM_UP
from engines.common import Watch
from rows import FPS

SLOTS = 1 << 16
FRAMES = 30
CHAINS = 8
ROUNDS = wp.constant(256)
TRIES = 5
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)


@wp.kernel
def _tick(slot: int, counters: wp.array(dtype=wp.int32)):
    counters[slot] = counters[slot] + 1


def _multiply_and_add(real):
    @wp.kernel(module="unique")
    def kernel(factor: real, out: wp.array(dtype=real)):
        i = wp.tid()
        a = real(i)
        b, c, d, e = a + real(1.0), a + real(2.0), a + real(3.0), a + real(4.0)
        f, g, h = a + real(5.0), a + real(6.0), a + real(7.0)
        for _ in range(ROUNDS):
            a = a * factor + real(1.0)
            b = b * factor + real(1.0)
            c = c * factor + real(1.0)
            d = d * factor + real(1.0)
            e = e * factor + real(1.0)
            f = f * factor + real(1.0)
            g = g * factor + real(1.0)
            h = h * factor + real(1.0)
        out[i] = a + b + c + d + e + f + g + h

    return kernel


class Tally:
    """Counts the launches of kernels while it is entered, in ``launches``, by (kernel, bytes, operations)."""

    def __init__(self, device):
        self.device = wp.get_device(device)
        self.direct, self.recorded, self.stack, self.slots = Counter(), [], [], 0

    def __enter__(self):
        self.counters = wp.zeros(SLOTS, dtype=wp.int32, device=self.device)
        self.own = {name: getattr(wp, name) for name in ("launch", "capture_while", "capture_if", "ScopedCapture")}
        self._mark(0)  # compiles the kernel: nothing may compile in a recording
        wp.launch, wp.capture_while, wp.capture_if = self._launch, self._while, self._if
        wp.ScopedCapture = self._capture()
        return self

    def __exit__(self, *_):
        for name, own in self.own.items():
            setattr(wp, name, own)

    def launches(self):
        """Counter of the launches so far: {(kernel, bytes, operations): number}."""
        times, found = self.counters.numpy(), self.direct.copy()
        for slot, launch in self.recorded:
            found[launch] += int(times[slot])
        return found

    def _mark(self, slot):
        self.own["launch"](_tick, dim=1, inputs=[slot, self.counters], device=self.device)

    def _open(self):
        self.slots += 1
        if self.slots >= SLOTS:
            raise RuntimeError(f"more than {SLOTS} recordings and loops: raise SLOTS")
        self.stack.append(self.slots)
        self._mark(self.slots)

    def _launch(self, kernel, dim, inputs=(), outputs=(), **options):
        threads = int(np.prod(dim))
        launch = (kernel.key, array_bytes([*inputs, *outputs]), threads * operations(kernel.func))
        if self.stack:
            self.recorded.append((self.stack[-1], launch))
        else:
            self.direct[launch] += 1
        return self.own["launch"](kernel, dim, inputs, outputs, **options)

    def _counted(self, body):
        if body is None or not self.stack or not callable(body):
            return body

        @functools.wraps(body)
        def counted(**options):
            self._open()
            body(**options)
            self.stack.pop()

        return counted

    def _while(self, condition, while_body, **options):
        return self.own["capture_while"](condition, self._counted(while_body), **options)

    def _if(self, condition, on_true=None, on_false=None, **options):
        return self.own["capture_if"](condition, self._counted(on_true), self._counted(on_false), **options)

    def _capture(tally):  # noqa: N805
        class CountedCapture(tally.own["ScopedCapture"]):
            def __enter__(self):
                entered = super().__enter__()
                tally._open()
                return entered

            def __exit__(self, *raised):
                tally.stack.pop()
                return super().__exit__(*raised)

        return CountedCapture


def array_bytes(arguments):
    """Bytes of all arrays among the arguments of a launch, also those in structs."""
    total = 0
    for argument in arguments:
        if isinstance(argument, wp.array):
            total += argument.size * wp.types.type_size_in_bytes(argument.dtype)
        elif hasattr(argument, "_cls"):
            total += array_bytes(getattr(argument, name) for name in argument._cls.vars)
    return total


@functools.cache
def operations(function):
    """Arithmetic signs in the source of a kernel or Warp function and of those it calls, outside of indices."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    known = inspect.getclosurevars(function)
    known = {**known.globals, **known.nonlocals}

    def count(node):
        if isinstance(node, ast.Subscript):
            return count(node.value)
        own = isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ARITHMETIC)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called = getattr(known.get(node.func.id), "func", None)
            own += operations(called) if called is not None else 0
        return int(own) + sum(count(child) for child in ast.iter_child_nodes(node))

    return sum(count(statement) for statement in tree.body[0].body)


def _fastest(task, device):
    times = []
    for _ in range(TRIES + 1):  # the first compiles and warms up
        wp.synchronize_device(device)
        began = time.perf_counter()
        task()
        wp.synchronize_device(device)
        times.append(time.perf_counter() - began)
    return min(times[1:])


def limits(device):
    """(GB/s of a copy, Gflop/s of multiplying and adding) of the device, in the precision that Axion has there."""
    cuda = wp.get_device(device).is_cuda
    count = 1 << (27 if cuda else 23)
    source, target = (wp.zeros(count, dtype=wp.float32, device=device) for _ in range(2))
    copied = 2 * 4 * count / _fastest(lambda: wp.copy(target, source), device)
    threads, real = 1 << (22 if cuda else 12), wp.float32 if cuda else wp.float64
    kernel, out = _multiply_and_add(real), wp.zeros(threads, dtype=real, device=device)
    seconds = _fastest(lambda: wp.launch(kernel, threads, inputs=[real(0.5), out], device=device), device)
    return copied / 1e9, 2 * CHAINS * int(ROUNDS) * threads / seconds / 1e9


class CountingWatch(Watch):
    """Looks at a Tally after the warm-up."""

    def __init__(self, tally):
        super().__init__()
        self.tally, self.before = tally, Counter()

    def stop(self):
        """See Watch."""
        more = super().stop()
        if len(self.cpu_ms) == WARM_UP:
            self.before = self.tally.launches()
        return more


def measure(name, device, reached, frames=FRAMES):
    """(Roof, [Kernel]) of one row; ``reached``: see ``limits``.  Two runs: one is counted, the other timed."""
    row, axion = BENCH_ROWS[name].row, BENCH_ENGINES["axion"].load()
    wanted = min(WARM_UP + frames, round(row.seconds * FPS))
    with Tally(device) as tally:
        counting = CountingWatch(tally)
        axion.run(row.build(), wanted, FPS, counting, device=device)
        launches = tally.launches()
    launches.subtract(counting.before)
    timing = Watch()
    axion.run(row.build(), wanted, FPS, timing, device=device)
    ms, counted = float(np.median(timing.wall_ms[WARM_UP:])), wanted - WARM_UP
    where = wp.get_device(device).name
    kernels = {}
    for (kernel, size, work), times in launches.items():
        sums = kernels.setdefault(kernel, np.zeros(3))
        sums += np.array([times, times * size / 1e6, times * work / 1e6]) / counted
    lines = [Kernel(name, where, kernel, *map(float, sums)) for kernel, sums in kernels.items() if sums[0] > 0.0]
    lines.sort(key=lambda line: -line.megabytes)
    total = sum(kernels.values(), np.zeros(3))
    memory, compute = 100.0 * total[1] / ms / reached[0], 100.0 * total[2] / ms / reached[1]
    return Roof(name, where, *map(float, total), ms, *reached, float(memory), float(compute)), lines


def main():
    """Print the lines, and keep them with --save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--rows", nargs="+", choices=BENCH_ROWS, default=["chain", "pile_125", "pile_1000"])
    parser.add_argument("--save", action="store_true")
    arguments = parser.parse_args()
    wp.config.quiet = True
    reached, roofs, kernels = limits(arguments.device), [], []
    for name in arguments.rows:
        roof, lines = measure(name, arguments.device, reached)
        roofs.append(roof)
        kernels += lines
        print(roof, flush=True)
    if arguments.save:
        records.write(ROOFS, Roof, roofs)
        records.write(KERNELS, Kernel, kernels)


if __name__ == "__main__":
    main()
