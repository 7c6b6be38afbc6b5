# SPDX-License-Identifier: GPL-3.0-or-later
"""The engines of the benchmark: those of the comparison, with the settings that their users have and cheaper ones."""

import json
from dataclasses import dataclass, replace

import records
from engines import ENGINES

CHEAPEST = records.RESULTS / "cheapest.csv"
BULLET_GRID = sorted(
    ({"substeps": s, "iterations": i} for s in (10, 20, 40, 80, 160, 320) for i in (10, 30, 100, 300)),
    key=lambda setting: (setting["substeps"] * setting["iterations"], setting["substeps"]),
)
MUJOCO_GRID = [{"substeps": substeps} for substeps in (2, 4, 10, 20, 40, 80, 160)]
GRIDS = {"bullet_cheapest": BULLET_GRID, "mujoco_cheapest": MUJOCO_GRID}
"""Engine -> the settings that benchmarks/cheapest.py tries on each row, from the cheapest upwards."""

HEAPS = 100_000
"""Moving bodies up to which the engines of the largest heaps are run."""

BENCH_ENGINES = {
    "axion": replace(ENGINES["axion"], largest=HEAPS),
    "axion_preview": replace(
        ENGINES["axion"], label="Axion, preview", described="quality preview", settings={"quality": "preview"}
    ),
    "axion_cuda": replace(
        ENGINES["axion"],
        label="Axion, cuda:0",
        described="defaults, cuda:0, float32",
        settings={"device": "cuda:0"},
        largest=HEAPS,
    ),
    "bullet": replace(ENGINES["bullet"], largest=HEAPS),
    "bullet_cheapest": replace(
        ENGINES["bullet"],
        label="Bullet, cheapest",
        described=f"the first that holds every bound of the row, of {len(BULLET_GRID)} settings in the order of "
        "substeps times iterations",
        settings={},
    ),
    "bullet_high": ENGINES["bullet_high"],
    "mujoco_soft": replace(
        ENGINES["mujoco"],
        label="MuJoCo, soft",
        described="20 substeps, elliptic cones, implicitfast, its own contact parameters",
        settings={"substeps": 20, "hard": False},
    ),
    "mujoco_cheapest": replace(
        ENGINES["mujoco"],
        label="MuJoCo, cheapest",
        described=f"the first that holds every bound of the row, of {len(MUJOCO_GRID)} numbers of substeps, hard",
        settings={},
    ),
    "mujoco": replace(ENGINES["mujoco"], label="MuJoCo, hard"),
    "newton_xpbd": ENGINES["newton_xpbd"],
    "newton_kamino": ENGINES["newton_kamino"],
}
"""Name in the CSV files -> Engine, in the order of the page."""
KERNELS = ("axion", "axion_cuda", "newton_xpbd", "newton_kamino")
"""Engines that compile kernels when they first run."""


@dataclass(frozen=True)
class Cheapest:
    """What a sweep found: the cheapest setting of ``engine`` that holds every bound of ``row``, as JSON, or ""."""

    row: str
    engine: str
    setting: str
    tried: int
    version: str


def found():
    """{(row, engine): Cheapest} of the committed sweeps."""
    return {(entry.row, entry.engine): entry for entry in records.read(CHEAPEST, Cheapest)}


def settings_for(name, row, sweeps):
    """(settings, None), or (None, why there are none) of an engine on a row; ``sweeps``: see ``found``."""
    if name not in GRIDS:
        return BENCH_ENGINES[name].settings, None
    entry = sweeps.get((row, name))
    if entry is None:
        return None, "not swept: benchmarks/cheapest.py"
    if not entry.setting:
        return None, f"none of {entry.tried} settings holds the bounds"
    return json.loads(entry.setting), None


def present(name):
    """Whether the machine has what the engine runs on."""
    if name != "axion_cuda":
        return True
    import warp as wp

    wp.config.quiet = True
    return wp.is_cuda_available()
