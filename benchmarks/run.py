# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the benchmark scenes and writes one CSV line a scene: how well the laws were kept, and how long it took.

make bench          the sizes in benchmarks/scenes.py, 96 frames -> benchmarks/results/<label>.csv
make bench-quick    small sizes, 24 frames, printed only
"""

import argparse
import csv
import platform
import statistics
import sys
import time
from pathlib import Path

from axion.solver import SolverConfig, simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))
from scenes import SCENES

RESULTS = Path(__file__).resolve().parent / "results"
FIELDS = (
    *("scene", "bodies", "joints", "frames", "device", "quality", "frames_missed", "worst_penetration_m"),
    *("worst_joint_error_m", "median_frame_s", "slowest_frame_s", "total_s", "newton_iterations", "linear_iterations"),
)


def measure(name, size, frames, config):
    """Simulate one scene and return its line as a dict.  A first, short run keeps compilation out of the times."""
    build = SCENES[name][0]
    simulate(build(size), frames=1, config=config)
    scene = build(size)
    began = time.perf_counter()
    reports = simulate(scene, frames=frames, config=config).reports
    total = time.perf_counter() - began
    times = [report.wall_time for report in reports]
    return {
        "scene": f"{name}_{size}",
        "bodies": sum(body.motion == "dynamic" for body in scene.bodies),
        "joints": len(scene.joints),
        "frames": len(reports),
        "device": config.device,
        "quality": config.quality,
        "frames_missed": sum(not report.converged for report in reports),
        "worst_penetration_m": f"{max(report.penetration for report in reports):.3g}",
        "worst_joint_error_m": f"{max(report.joint_error for report in reports):.3g}",
        "median_frame_s": f"{statistics.median(times):.4g}",
        "slowest_frame_s": f"{max(times):.4g}",
        "total_s": f"{total:.4g}",
        "newton_iterations": sum(report.newton_iterations for report in reports),
        "linear_iterations": sum(report.linear_iterations for report in reports),
    }


def main():
    """Measure every scene, print a line as soon as it is known, and save the table of a full run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, few frames, nothing saved")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda:0")
    parser.add_argument("--quality", default="normal", help="preview, normal or final")
    parser.add_argument("--label", default=platform.machine(), help="name of the machine, for the file's name")
    parser.add_argument("scenes", nargs="*", metavar="SCENE", help=f"any of {', '.join(SCENES)} (default: all)")
    arguments = parser.parse_args()
    unknown = set(arguments.scenes) - set(SCENES)
    if unknown:
        parser.error(f"unknown scene {', '.join(sorted(unknown))}: choose from {', '.join(SCENES)}")
    config = SolverConfig(device=arguments.device, quality=arguments.quality)

    lines = []
    for name in arguments.scenes or SCENES:
        _, size, quick_size = SCENES[name]
        lines.append(measure(name, quick_size if arguments.quick else size, 24 if arguments.quick else 96, config))
        print("  ".join(f"{key} {value}" for key, value in lines[-1].items()), flush=True)
    if not arguments.quick:
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"{arguments.label}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(lines)
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
