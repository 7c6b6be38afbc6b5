# SPDX-License-Identifier: GPL-3.0-or-later
"""Tries other values of the proximal method's constants on nine scenes, one at a time, and writes a page of it.

make bench-constants                      runs all -> benchmarks/results/constants.csv -> docs/constants.md
python benchmarks/constants.py --page     the page alone, from the file as it is

What counts is work, in Newton and linear iterations, and frames beyond the tolerance: neither depends on the machine's
load.  The solver is left as it is: a constant is changed in the solver object or in its module, for one run.
"""

import argparse
import csv
import importlib
import math
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

ROOT = Path(__file__).resolve().parent.parent
TABLE, PAGE = ROOT / "benchmarks" / "results" / "constants.csv", ROOT / "docs" / "constants.md"
FRAMES = 24
FIELDS = (
    *("constant", "as_it_is", "value", "scene", "frames", "missed", "solves", "newton", "linear"),
    *("penetration_m", "joint_error_m"),
)
ACCEPTED = "none"
"""Constant changed in the run that changes nothing."""


@dataclass(frozen=True)
class Constant:
    """A constant and what else it might be.

    place: where it lives, "solver" (a dotted path from a ProximalSolver) or modules of axion.solver that hold its name.
    """

    title: str
    name: str
    others: tuple
    place: tuple = ("solver",)


CONSTANTS = (
    Constant("Newton iterations a round, at most", "_limits.inner", (8, 32)),
    Constant("rounds a solve, at most", "_limits.outer", (20, 80)),
    Constant("rounds no better than the best, at most", "_limits.stale", (10, 40)),
    Constant("gradient left by a round", "_limits.inner_reduction", (1e-2, 1e-6)),
    Constant("Newton iterations of an easy round", "_limits.easy", (5, 16)),
    Constant("round from which Gauss-Seidel helps in motion", "_limits.late", (4, 100)),
    Constant("round from which Gauss-Seidel helps at rest", "_limits.stalled", (4, 100)),
    Constant("the same on friction cones", "_limits.cone_late", (2, 100)),
    Constant("Gauss-Seidel sweeps", "_limits.sweeps", (0, 100, 400)),
    Constant("line-search trials, at most", "_limits.search", (1, 5)),
    Constant("eps, at most", "_limits.eps_largest", (1e-2, 1.0)),
    Constant("eps, at least", "_limits.eps_smallest", (1e-3, 1e-7)),
    Constant("eps of joints at first", "_eps_joint", (1e-4, 1e-8)),
    Constant("eps of joints, at least", "_limits.eps_joint_smallest", (1e-6, 1e-9)),
    Constant("aim of contacts at rest, of the tolerance", "resting", (0.02, 0.5)),
    Constant("residual left by conjugate gradients", "problem.cg_reduction", (0.1, 1e-4)),
    Constant("eps at an island's first step", "FIRST_EPS", (1e-1, 1e-3), ("step_end", "stepped_scene")),
    Constant("eps handed on, at least", "EPS_SMALLEST", (1e-2, 1e-6), ("step_end", "handed_eps")),
    Constant("eps handed on at rest, at least", "eps_at_rest", (1e-4, 1e-9)),
    Constant("aim of islands in motion, of the tolerance", "AIM", (0.5,), ("position_phase",)),
    Constant("gaps left as they are, of the tolerance", "HELD", (0.0, 0.9), ("assemble", "position_phase")),
    Constant("halvings of a step, at most", "DEEPEST", (0, 2, 6), ("halving", "stepped_scene")),
)


def scenes():
    """Name in the table -> function that builds the scene: what moves, what rests, and what hangs on joints."""
    import table_scenes as large
    from cut_scenes import cut_block

    return {
        "chain of 50, ball 1000 times as heavy": large.hung_ball,
        "arch of 51 stones": lambda: large.arch(51, 0.107),
        "house of cards": large.card_house,
        "lattice of 64 boxes, falling": lambda: large.dropped_pile(64),
        "64 boxes tumbling": large.tumbling_pile,
        "wrecking ball": large.wrecking_ball,
        "rope bridge": large.rope_bridge,
        "2 ragdolls on stairs": lambda: large.ragdolls(2),
        "block cut into 12 pieces": lambda: cut_block(12),
    }


def current(constant):
    """The value of a Constant in a solver made now."""
    if constant.place != ("solver",):
        (value,) = {float(getattr(module, constant.name)) for module in _modules(constant)}
        return value
    holder, name = _holder(_simulation().ProximalSolver("cpu", "float64"), constant)
    return float(getattr(holder, name))


def _simulation():
    """The module that makes the solver: the package gives its function ``simulate`` the same name."""
    return importlib.import_module("axion.solver.simulate")


def _modules(constant):
    return [importlib.import_module(f"axion.solver.{name}") for name in constant.place]


def _holder(solver, constant):
    *path, name = constant.name.split(".")
    for part in path:
        solver = getattr(solver, part)
    return solver, name


@contextmanager
def tried(constant, value):
    """A context in which simulations use ``value`` for a Constant."""
    from axion.solver.proximal import ProximalSolver

    class Changed(ProximalSolver):
        """The solver with one constant changed."""

        def __init__(self, *given):
            super().__init__(*given)
            holder, name = _holder(self, constant)
            setattr(holder, name, type(getattr(holder, name))(value))

    with ExitStack() as changes:
        if constant.place == ("solver",):
            changes.enter_context(patch.object(_simulation(), "ProximalSolver", Changed))
        else:
            for module in _modules(constant):
                kind = type(getattr(module, constant.name))
                changes.enter_context(patch.object(module, constant.name, kind(value)))
        yield


def measure(scene, build):
    """The columns of one run after those that name the constant."""
    from axion.solver import SolverConfig, simulate

    reports = simulate(build(), FRAMES, config=SolverConfig(device="cpu", substeps=1)).reports
    return {
        "scene": scene,
        "frames": len(reports),
        "missed": sum(not report.converged for report in reports),
        "solves": sum(report.substeps for report in reports),
        "newton": sum(report.newton_iterations for report in reports),
        "linear": sum(report.linear_iterations for report in reports),
        "penetration_m": f"{max(report.penetration for report in reports):.1e}",
        "joint_error_m": f"{max(report.joint_error for report in reports):.1e}",
    }


def run():
    """All lines of the table, printed as they come."""
    built = scenes()

    def lines(*names):
        for scene, build in built.items():
            yield {**dict(zip(FIELDS, names, strict=False)), **measure(scene, build)}

    found = list(lines(ACCEPTED, "", ""))
    for constant in CONSTANTS:
        now = f"{current(constant):g}"
        for value in constant.others:
            with tried(constant, value):
                found += lines(constant.title, now, f"{value:g}")
            print(summary(found[-len(built) :], found[: len(built)]), flush=True)
    return found


def summary(lines, accepted):
    """One row of the page: a run of all scenes against the run that changes nothing."""

    def shares(field):
        pairs = [(int(line[field]), int(other[field])) for line, other in zip(lines, accepted, strict=True)]
        return [line / other for line, other in pairs if line and other]

    def mean(field):
        logarithms = [math.log(share) for share in shares(field)]
        return f"{math.exp(math.fsum(logarithms) / len(logarithms)):.2f}" if logarithms else "–"

    newton = dict(zip((line["scene"] for line in lines), shares("newton"), strict=True))
    worst = max(newton, key=newton.get)
    missed = [f"{line['scene']} {line['missed']}" for line in lines if int(line["missed"])]
    cells = [lines[0][field] for field in ("constant", "as_it_is", "value")]
    cells += [mean("newton"), mean("linear"), mean("solves"), f"{worst} {newton[worst]:.2f}"]
    return "| " + " | ".join([*cells, ", ".join(missed) or "none"]) + " |"


def page(lines):
    """The page in Markdown, from lines of the table."""
    count = len({line["scene"] for line in lines})
    runs = [lines[n : n + count] for n in range(0, len(lines), count)]
    accepted = runs[0]
    out = [
        "<!-- SPDX-License-Identifier: GPL-3.0-or-later -->",
        "<!-- Written by benchmarks/constants.py from benchmarks/results/constants.csv: change those, not this. -->",
        "# The constants, and what others would do",
        "",
        "[solver.md](solver.md) says what the constants of the proximal method are for. Here each is changed alone, on",
        f"{count} scenes of {FRAMES} frames, one step a frame. Work is told as a share of what the solver does as it",
        "is, the geometric mean over the scenes: below 1 the other value needs less. Missed: frames beyond the",
        "tolerance, by scene.",
        "`make bench-constants` runs everything anew and writes this page.",
        "",
        "| scene | solves | Newton | linear | frames missed | overlap [m] | joints [m] |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    fields = "scene", "solves", "newton", "linear", "missed", "penetration_m", "joint_error_m"
    out += ["| " + " | ".join(str(line[field]) for field in fields) + " |" for line in accepted]
    out += [
        "",
        "| constant | as it is | tried | Newton | linear | solves | most Newtons more in | frames missed |",
        "|---|--:|--:|--:|--:|--:|---|---|",
    ]
    return "\n".join([*out, *(summary(each, accepted) for each in runs[1:]), ""])


def read():
    """Lines of the committed table."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def main():
    """Measure, save the table, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", action="store_true", help="write the page from the table as it is")
    if not parser.parse_args().page:
        sys.path.append(str(ROOT / "tests"))
        lines = run()
        with TABLE.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
    PAGE.write_text(page(read()), encoding="utf-8", newline="\n")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
