# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that the benchmark leaves: bench.csv (times), bench_figures.csv (accuracy) and smaller ones beside them."""

from dataclasses import dataclass

from records import RESULTS

CELLS = RESULTS / "bench.csv"
FIGURES = RESULTS / "bench_figures.csv"
RUNS = RESULTS / "bench_machine.csv"
STARTS = RESULTS / "bench_start.csv"
SHARES = RESULTS / "bench_profile.csv"
ROOFS = RESULTS / "bench_roofline.csv"
KERNELS = RESULTS / "bench_kernels.csv"
ROAD = RESULTS / "road.csv"


@dataclass(frozen=True)
class Cell:
    """The time of one engine on one scene, over the frames of one phase.

    Attributes:
        row, size, engine, phase: which; see bench_rows.py.
        bodies: that move.
        frames: simulated, of ``wanted``; ``timed``: of the phase, without the warm-up.
        cpu_ms, wall_ms: of a frame, medians; cpu_ms_95, wall_ms_95: 95 % of the frames take less.  None: no frame.
        peak_mib: most memory that the process ever had [MiB].
        missed: bounds of the row's figures that are missed, None where nothing was judged.
        outcome: truth_table.COMPLETE, or in words what ended the run.
        setting: of the engine, as JSON.
    """

    row: str
    size: int
    engine: str
    phase: str
    bodies: int
    frames: int
    wanted: int
    timed: int
    cpu_ms: float | None
    cpu_ms_95: float | None
    wall_ms: float | None
    wall_ms_95: float | None
    peak_mib: float | None
    missed: float | None
    outcome: str
    setting: str


@dataclass(frozen=True)
class Start:
    """Time from the start of a process to the end of the first frame [s], with an empty and a warm kernel cache."""

    engine: str
    cold_wall_s: float | None
    cold_cpu_s: float | None
    warm_wall_s: float | None
    warm_cpu_s: float | None
    cache_mib: float | None


@dataclass(frozen=True)
class Share:
    """Share of Axion's time that is spent in one part of it, on one row [%]."""

    row: str
    part: str
    percent: float


@dataclass(frozen=True)
class Figure:
    """One line of road.csv: what the rest of the road, Blender's side, takes."""

    figure: str
    unit: str
    value: float
    bound: float | None
    machine: str
    date: str


@dataclass(frozen=True)
class Roof:
    """How near a frame of Axion comes to what the device can do, on one row; see roofline.py.

    Attributes:
        launches: of kernels a frame.
        megabytes: that they move a frame, at most; megaflop: that they compute, at least.
        ms: wall time of a frame.
        gb_s, gflop_s: what the device reaches in a loop that does nothing else.
        memory, compute: share of either limit [%], at most and at least.
    """

    row: str
    device: str
    launches: float
    megabytes: float
    megaflop: float
    ms: float
    gb_s: float
    gflop_s: float
    memory: float
    compute: float


@dataclass(frozen=True)
class Kernel:
    """One kernel of a frame: how often it is launched, and what all its launches move and compute."""

    row: str
    device: str
    kernel: str
    launches: float
    megabytes: float
    megaflop: float
