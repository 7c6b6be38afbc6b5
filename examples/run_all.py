# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake the worked examples to their ends, and write what they measured where the manual takes it from.

    python examples/run_all.py [--output build/examples] [--report examples/figures.json] [--only 03 04]

writes the figures, the tables of docs/examples.md and the pictures docs/images/example_*.jpg.  Examples that are not
run keep their figures.  The exit status is 1 if a promise was broken.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "examples.md"
EXAMPLES = sorted(path for path in HERE.glob("[0-9][0-9]_*.py") if not path.name.startswith("01"))
BLOCK = re.compile(r"(<!-- figures (\d\d) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(figures):
    """Markdown table of one example's figures."""
    worst = figures["summary"]
    lines = ["| promise | bound | measured |", "|---|---|---|"]
    for promise in figures["promises"]:
        measured = f"{promise['value']:.4g} {promise['unit']}".strip()
        lines.append(f"| {promise['text']} | {promise['bound']} | {measured} |")
    lines += [
        "",
        f"The report: {worst['frames']} frames in {worst['wall_time']:.0f} s of solving, worst penetration "
        f"{1e3 * worst['worst_penetration']:.4f} mm, worst joint error {1e3 * worst['worst_joint_error']:.4f} mm, "
        f"{worst['missed'] or 'no'} {'frame' if worst['missed'] == 1 else 'frames'} missed the tolerance.",
    ]
    return "\n".join(lines) + "\n"


def page(text, figures):
    """The manual's page with each table written anew from the figures {number: ...}."""
    return BLOCK.sub(lambda found: f"{found[1]}{table(figures[found[2]])}{found[3]}", text)


def run(example, folder):
    """Bake one example into a folder.  Returns its figures and whether every promise was kept.

    Raises RuntimeError if the program failed before it could measure.
    """
    figures = folder / "figures.json"
    figures.unlink(missing_ok=True)
    done = subprocess.run([sys.executable, str(example), "--output", str(folder)], check=False, env=os.environ)
    if not figures.is_file():
        raise RuntimeError(
            f"{example.name} ended with {done.returncode} and left no figures: read what it printed above"
        )
    return json.loads(figures.read_text(encoding="utf-8")), done.returncode == 0


def main():
    """The program; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=HERE.parent / "build" / "examples", metavar="FOLDER")
    parser.add_argument("--report", type=Path, default=HERE / "figures.json", metavar="FILE")
    parser.add_argument("--only", nargs="+", metavar="NN", help="numbers of the examples to run")
    arguments = parser.parse_args()
    known = json.loads(arguments.report.read_text(encoding="utf-8")) if arguments.report.is_file() else {}
    status = 0
    for example in EXAMPLES:
        number = example.name[:2]
        if arguments.only and number not in arguments.only:
            continue
        folder = arguments.output.resolve() / number
        shutil.rmtree(folder, ignore_errors=True)  # a cache of an earlier bake would be taken instead of solving
        print(f"{example.name} -> {folder}", flush=True)
        figures, kept = run(example, folder)
        known[number] = {"example": example.stem, "processor": platform.machine(), "cores": os.cpu_count(), **figures}
        status = status if kept else 1
        shutil.copy(folder / "demo.jpg", PAGE.parent / "images" / f"example_{number}.jpg")
        arguments.report.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    if set(known) >= {example.name[:2] for example in EXAMPLES}:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), known), encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
