# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmark measures beside frames: how long a start takes, and where Axion's time goes."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import turns
from bench_engines import BENCH_ENGINES, KERNELS
from bench_rows import BENCH_ROWS
from bench_table import Share, Start

PATIENCE = 1200.0
"""Time after which a start is given up [s]: all kernels may have to be compiled, on a machine with other work."""
PROFILED = 30
"""Frames of a profile."""


def starts(engines):
    """The Starts of the engines that compile kernels: with an empty cache of kernels, then with the filled one."""
    for engine in (name for name in engines if name in KERNELS):
        with tempfile.TemporaryDirectory() as folder:
            arguments = turns.command("start", 0, engine, "--setting", json.dumps(BENCH_ENGINES[engine].settings))
            cold, warm = (_start(arguments, folder) for _ in range(2))
            size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) / 1024.0**2
        yield Start(engine, cold.get("wall_s"), cold.get("cpu_s"), warm.get("wall_s"), warm.get("cpu_s"), size)


def _start(arguments, folder):
    return turns.take_turns({"start": arguments}, PATIENCE, {"WARP_CACHE_PATH": folder})["start"]


def shares(rows):
    """The Shares of these rows."""
    environment = {**os.environ, **dict.fromkeys(turns.THREADS, "1")}
    for name in rows:
        bounds = BENCH_ROWS[name].bounds
        engine = bounds[0].ours if bounds else "axion"
        command = [sys.executable, str(Path(__file__).with_name("profiled.py")), name, engine, str(PROFILED)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=PATIENCE, check=False)
        if done.returncode:
            raise SystemExit(f"the profile of {name} failed: {done.stderr[-2000:]}")
        for part, percent in json.loads(done.stdout.splitlines()[-1]):
            yield Share(name, part, percent)


def roofline():
    """Let roofline.py measure the first CUDA device and keep its files."""
    program = Path(__file__).with_name("roofline.py")
    subprocess.run([sys.executable, str(program), "--device", "cuda:0", "--save"], timeout=PATIENCE, check=True)
