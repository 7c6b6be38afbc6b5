# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmark runs: scenes with the time that a frame of Axion may take, and scenes that grow."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import bench_scenes
import comparison_scenes
import judge
from rows import FPS, PILE, ROWS, Figure, Row

ALL, MOVING, REST = "all", "moving", "rest"
"""Frames of a run: all after the warm-up, those before the bodies have come to rest, those after."""


@dataclass(frozen=True)
class Bound:
    """What ``ours`` must stay below: the ``share`` of the CPU time of a frame that ``engine`` took in the same run."""

    engine: str
    share: float = 1.0
    phase: str = ALL
    ours: str = "axion"


@dataclass(frozen=True)
class BenchRow:
    """A Row, the engines that run it, the bounds on its time, and the phases told apart; ``cpu_limit`` [s] a cell."""

    row: Row
    engines: tuple[str, ...]
    bounds: tuple[Bound, ...] = ()
    phases: tuple[str, ...] = (ALL,)
    cpu_limit: float = 30.0


@dataclass(frozen=True)
class Series:
    """A scene that grows.

    Attributes:
        title: for the page.
        unit: what is counted, e.g. "boxes".
        build: (count) -> Scene.
        sizes: the counts.
        figures: what is judged.
        frames: of every cell, so that all sizes are timed over the same stretch of the motion.
        fitted_from: smallest count that the exponent is fitted to.
        exponent: bound of the growth of Axion's time, or None.
        cpu_limit: [s] a cell.
    """

    title: str
    unit: str
    build: Callable
    sizes: tuple[int, ...]
    figures: tuple[Figure, ...]
    engines: tuple[str, ...]
    frames: int = 30
    fitted_from: int = 10
    exponent: float | None = None
    judged: Callable | None = None
    cpu_limit: float = 45.0

    def row(self, size):
        """The BenchRow of one size."""
        judged = {"judged": self.judged} if self.judged else {}
        row = Row(
            f"{self.title}, {size} {self.unit}", partial(self.build, size), self.frames / FPS, self.figures, **judged
        )
        return BenchRow(row, self.engines, cpu_limit=self.cpu_limit)


EVERY = (
    *("axion", "axion_cuda", "bullet", "bullet_cheapest", "mujoco_soft", "mujoco_cheapest", "mujoco"),
    *("newton_xpbd", "newton_kamino"),
)
LARGE = ("axion", "axion_cuda", "bullet", "mujoco_soft", "mujoco", "newton_xpbd")
"""Engines of a thousand bodies."""
CURVES = ("axion", "axion_cuda", "bullet", "mujoco_soft")
MUJOCO = (Bound("mujoco"),)
CHEAPEST = (Bound("mujoco_cheapest"), Bound("bullet_cheapest", 0.3))
PENETRATION = Figure("penetration", judge.penetration, "mm", 1e3)
JOINTS = Figure("joint error", judge.joint_error, "mm", 1e3, upper=0.1)
CLOSE = replace(PENETRATION, upper=0.1)
CLOSE_ENOUGH = replace(PENETRATION, upper=5.0)
LOOSE_CHAIN = (replace(JOINTS, upper=1.0), ROWS["chain"].figures[-1])  # an engine that starts over misses the second
PREVIEW = Figure("frames within 0.5 mm", judge.share_within_half_millimetre, "%", 1e2, lower=99.0, ideal=100.0)

BENCH_ROWS = {
    "heavy_1000": BenchRow(ROWS["heavy_1000"], EVERY, CHEAPEST),
    "heavy_10000": BenchRow(ROWS["heavy_10000"], EVERY, CHEAPEST),
    "chain": BenchRow(ROWS["chain"], EVERY),
    "chain_1mm": BenchRow(
        replace(ROWS["chain"], title="The same chain, joints within 1 mm", figures=LOOSE_CHAIN),
        ("axion", "axion_cuda", "bullet_cheapest", "mujoco_cheapest"),
        (Bound("mujoco_cheapest", 0.1), Bound("bullet_cheapest", 0.05)),
    ),
    "arch_stands": BenchRow(ROWS["arch_stands"], EVERY, MUJOCO),
    "stack_30": BenchRow(ROWS["stack_30"], EVERY, MUJOCO),
    "cards": BenchRow(ROWS["cards"], EVERY, MUJOCO),
    "pile_125": BenchRow(
        ROWS["pile_125"],
        EVERY,
        (Bound("bullet", phase=REST), Bound("bullet", 1.5, MOVING)),
        phases=(ALL, MOVING, REST),
    ),
    "pile_125_preview": BenchRow(
        Row("Lattice of 125 boxes that falls together, preview", comparison_scenes.pile, 5, (CLOSE_ENOUGH, *PILE[2:])),
        ("axion_preview", "bullet"),
        (Bound("bullet", 1.5, MOVING, "axion_preview"),),
        phases=(ALL, MOVING, REST),
    ),
    "pile_1000_preview": BenchRow(
        Row(
            "Lattice of 1000 boxes that falls together, preview",
            partial(comparison_scenes.pile, 10),
            3,
            (PREVIEW, *PILE[1:]),
        ),
        ("axion_preview", "bullet"),
        (Bound("bullet", ours="axion_preview"),),
        cpu_limit=90.0,
    ),
    "pile_1000": BenchRow(
        Row("Lattice of 1000 boxes that falls together", partial(comparison_scenes.pile, 10), 3, PILE),
        (*LARGE, "bullet_high"),
        (Bound("mujoco", 0.3), Bound("bullet_high", 0.15)),
        cpu_limit=90.0,
    ),
    "ragdolls_10": BenchRow(
        Row(
            "10 ragdolls of 10 capsules with joint limits on stairs",
            partial(bench_scenes.ragdolls, 10),
            5,
            (JOINTS, *PILE),
        ),
        ("axion", "axion_cuda", "bullet", "mujoco_soft", "mujoco", "newton_xpbd"),
        MUJOCO,
    ),
    "struck_wall": BenchRow(
        Row("Wall of 180 bricks that a ball of 2 t strikes at 12 m/s", bench_scenes.struck_wall, 2, PILE),
        ("axion", "axion_cuda", "bullet", "mujoco_soft", "mujoco", "newton_xpbd"),
        cpu_limit=60.0,
    ),
    "incline_26": BenchRow(ROWS["incline_26"], EVERY),
    "incline_27_5": BenchRow(ROWS["incline_27_5"], EVERY),
    "stack_10": BenchRow(ROWS["stack_10"], EVERY),
    "four_bar": BenchRow(ROWS["four_bar"], EVERY),
    "bounce": BenchRow(ROWS["bounce"], EVERY),
    "free_spin": BenchRow(ROWS["free_spin"], EVERY),
    "dominoes": BenchRow(ROWS["dominoes"], EVERY),
}
"""Name in the CSV files -> BenchRow, in the order of the page."""

BEFORE_REST = 12
"""Frames in which Axion still solves what lies still: it takes half a second to trust it.  Most of 48 come after."""
PILE_SIZES = (10, 30, 100, 300, 1000, 3000, 10000)
GROWTH = {
    "boxes_falling": Series(
        "Boxes falling in a heap", "boxes", bench_scenes.falling_boxes, PILE_SIZES, (PENETRATION,), CURVES,
        fitted_from=100, exponent=1.1, cpu_limit=120.0,
    ),
    "boxes_awake": Series(
        "Boxes lying in a heap, before they rest", "boxes", bench_scenes.resting_boxes, PILE_SIZES, (CLOSE,), CURVES,
        frames=BEFORE_REST, fitted_from=100, exponent=1.1, cpu_limit=120.0,
    ),
    "boxes_resting": Series(
        "Boxes at rest in a heap", "boxes", bench_scenes.resting_boxes, PILE_SIZES, (CLOSE,), CURVES,
        frames=48, fitted_from=100, exponent=1.1, cpu_limit=120.0,
    ),
    "layers_falling": Series(
        "Boxes falling together in five layers", "boxes", bench_scenes.falling_layers, PILE_SIZES, (PENETRATION,),
        CURVES, fitted_from=100, exponent=1.1, cpu_limit=120.0,
    ),
    "layers_awake": Series(
        "Boxes lying in five layers, before they rest", "boxes", bench_scenes.resting_layers, PILE_SIZES, (CLOSE,),
        CURVES, frames=BEFORE_REST, fitted_from=100, exponent=1.1, cpu_limit=120.0,
    ),
    "layers_resting": Series(
        "Boxes at rest in five layers", "boxes", bench_scenes.resting_layers, PILE_SIZES, (CLOSE,), CURVES,
        frames=48, fitted_from=100, exponent=1.1, cpu_limit=120.0,
    ),
    "chain_links": Series(
        "Chain with a ball of 1000 links' weight", "links", comparison_scenes.chain, (10, 30, 100, 300, 1000),
        (JOINTS,), CURVES, exponent=1.1,
    ),
    "rope_net": Series(
        "Rope net hung along one edge", "knots a side", bench_scenes.rope_net, (3, 5, 10, 18), (JOINTS,), CURVES,
        fitted_from=3,
    ),
    "ragdolls": Series(
        "Ragdolls on stairs", "ragdolls", bench_scenes.ragdolls, (1, 3, 10, 30, 100), (JOINTS, PENETRATION), CURVES,
        frames=36, fitted_from=1,
    ),
    "crosses": Series(
        "Concave meshes falling in a heap", "meshes", bench_scenes.crosses, (1, 3, 10, 30, 100), (PENETRATION,),
        ("axion", "axion_cuda", "bullet"), frames=36, fitted_from=1, judged=bench_scenes.crosses_of_boxes,
    ),
}  # fmt: skip
"""Name in the CSV files -> Series, in the order of the page."""

TABLE_SIZE = 0
"""Size of the rows that do not grow, in the CSV files."""


def cells():
    """{(row, size): BenchRow} of everything, in the order of the page."""
    table = {(name, TABLE_SIZE): row for name, row in BENCH_ROWS.items()}
    return table | {(name, size): series.row(size) for name, series in GROWTH.items() for size in series.sizes}


QUICK = {
    **{(name, TABLE_SIZE): 48 for name in ("heavy_1000", "chain", "arch_stands", "stack_30", "cards", "pile_125")},
    ("boxes_resting", 10): 16,
    ("boxes_resting", 100): 16,
    ("boxes_falling", 10): 16,
    ("boxes_falling", 100): 16,
    ("ragdolls", 1): 16,
}
"""(row, size) -> frames of the quick run."""
QUICK_ENGINES = ("axion", "axion_cuda", "bullet", "mujoco_soft", "mujoco")
