# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares method="proximal" with method="schur" on the same scenes, and writes the page that shows it.

make bench-methods              runs both -> benchmarks/results/methods.csv -> docs/methods.md
python benchmarks/methods.py --page     the page alone, from the file as it is
"""

import argparse
import csv
import platform
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE, PAGE = ROOT / "benchmarks" / "results" / "methods.csv", ROOT / "docs" / "methods.md"
FRAMES = 24
PATIENCE = 60.0  # [s] a scene is stopped at the first frame that ends later
METHODS = ("proximal", "schur")
FIELDS = (
    *("scene", "method", "frames", "missed", "penetration_m", "joint_error_m", "friction_m_s", "momentum_m_s"),
    *("solves", "newton", "linear", "seconds"),
)


def scenes():
    """Name in the table -> function that builds the scene."""
    import method_scenes as large
    import scenes as plain

    return {
        "box that sticks on a slope": plain.slope,
        "box that slides down a slope": lambda: plain.slope(angle=0.55),
        "stack of 10 boxes": lambda: plain.stack(10),
        "box on one of a thousandth its mass": lambda: plain.stack(2, heavier=1000.0),
        "pendulum": plain.pendulum,
        "four-bar linkage with a motor": plain.four_bar,
        "door on two hinges": plain.door,
        "swinging chain of 10 links": lambda: plain.chain(10, sideways=True),
        "ball on 6 links of a thousandth its mass": lambda: large.heavy_pendulum(6),
        "brick wall of 4 courses": lambda: large.brick_wall(4),
        "8 boxes falling in a heap": lambda: plain.pile(8),
        "20 boxes falling in a heap": lambda: large.falling_boxes(20),
    }


def measure(name, build, method, device):
    """One line of the table.  A first frame keeps compilation out of the time."""
    from axion.solver import SolverConfig, simulate

    config = SolverConfig(device=device, method=method)
    simulate(build(), frames=1, config=config)
    began = time.perf_counter()
    reports = simulate(
        build(), FRAMES, config=config, on_frame=lambda _: time.perf_counter() - began < PATIENCE
    ).reports
    seconds = time.perf_counter() - began

    def most(field):
        return f"{max(getattr(report, field) for report in reports):.1e}"

    return {
        "scene": name,
        "method": method,
        "frames": len(reports),
        "missed": sum(not report.converged for report in reports),
        "penetration_m": most("penetration"),
        "joint_error_m": most("joint_error"),
        "friction_m_s": most("friction_residual"),
        "momentum_m_s": most("momentum_residual"),
        "solves": sum(report.substeps for report in reports),
        "newton": sum(report.newton_iterations for report in reports),
        "linear": sum(report.linear_iterations for report in reports),
        "seconds": f"{seconds:.2f}",
    }


def page(lines, machine):
    """The page in Markdown, from lines of the table."""
    columns = (
        *("scene", "method", "frames", "missed", "overlap [m]", "joints [m]", "friction [m/s]", "momentum [m/s]"),
        *("solves", "Newton", "linear", "time [s]"),
    )
    out = [
        "<!-- SPDX-License-Identifier: GPL-3.0-or-later -->",
        "<!-- Written by benchmarks/methods.py from benchmarks/results/methods.csv: change those, not this. -->",
        "# The two methods compared",
        "",
        '`method="proximal"` is the default. `method="schur"` is the published baseline: Newton on',
        "Fischer-Burmeister rows, a Schur complement in the impulses, conjugate residuals.",
        "[solver.md](solver.md) tells how both work. They share detection, the two phases of a step, halving and",
        "the judge, so what differs here is the solve alone.",
        "",
        f"{FRAMES} frames at 24 fps, quality normal, {machine}. A run that took longer than {PATIENCE:.0f} s",
        "was stopped: it has fewer frames. Missed: frames beyond the tolerance (1e-5 m slow, 1e-4 m fast; steps are",
        "halved only beyond the second). Residuals are the worst of any step, by the judge in float64. Solves: steps",
        "and what was solved again. Two of the 20 boxes start inside each other and are parted in the first frame: a",
        "step that is halved shows what is left of that on the way. `make bench-methods` runs everything anew and",
        "writes this page.",
        "",
        "| " + " | ".join(columns) + " |",
        "|---|---|" + "--:|" * (len(columns) - 2),
    ]
    for line in lines:
        out.append("| " + " | ".join(str(line[field]) for field in FIELDS) + " |")
    return "\n".join([*out, "", *verdict(lines), ""])


def verdict(lines):
    """Where the baseline loses, and where it does not, in numbers from the table."""
    of = {method: {line["scene"]: line for line in lines if line["method"] == method} for method in METHODS}
    missed = {method: sum(int(line["missed"]) for line in of[method].values()) for method in METHODS}
    ran = {method: sum(int(line["frames"]) for line in of[method].values()) for method in METHODS}
    stopped = {method: [s for s, line in of[method].items() if int(line["frames"]) < FRAMES] for method in METHODS}
    pace = {
        method: {scene: float(line["seconds"]) / int(line["frames"]) for scene, line in of[method].items()}
        for method in METHODS
    }
    slower = [pace["schur"][scene] / pace["proximal"][scene] for scene in pace["proximal"]]
    cut = {method: ", ".join(stopped[method]) or "none" for method in METHODS}
    return [
        "Frames missed: " + ", ".join(f"{method} {missed[method]} of {ran[method]}" for method in METHODS) + ".",
        f"Stopped for time: proximal {cut['proximal']}; schur {cut['schur']}.",
        f"A frame takes schur {min(slower):.1f} to {max(slower):.1f} times as long.",
        "",
        "Linear iterations of proximal are conjugate gradients; islands that are factorised count none.",
        "Those of schur come in tens, between two looks at the residual. Part of schur's time is its loop on the",
        "host, where proximal replays a recorded graph. Times are rough where the machine was shared.",
    ]


def read():
    """Lines of the committed table, and the machine it was made on."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        machine = file.readline().lstrip("# ").strip()
        return list(csv.DictReader(file)), machine


def main():
    """Measure, save the table, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", action="store_true", help="write the page from the table as it is")
    parser.add_argument("--device", default="cpu", help="auto, cpu or cuda:0")
    arguments = parser.parse_args()
    if not arguments.page:
        sys.path.append(str(ROOT / "tests"))
        lines = []
        for name, build in scenes().items():
            for method in METHODS:
                lines.append(measure(name, build, method, arguments.device))
                print("  ".join(f"{key} {value}" for key, value in lines[-1].items()), flush=True)
        TABLE.parent.mkdir(exist_ok=True)
        with TABLE.open("w", newline="", encoding="utf-8") as file:
            file.write(f"# {platform.machine()}, device {arguments.device}\n")
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
    PAGE.write_text(page(*read()), encoding="utf-8", newline="\n")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
