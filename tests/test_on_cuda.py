# SPDX-License-Identifier: GPL-3.0-or-later
"""The program and the switch for a machine with a CUDA device, tried on the CPU."""

import os
import subprocess
import sys
from pathlib import Path

import on_cuda
import pytest
import records

ROOT = Path(__file__).resolve().parents[1]

DEVICE = "some device"


def test_a_line_holds_where_it_keeps_its_bound():
    def line(value, bound):
        return on_cuda.Line(DEVICE, "chain", "float32", "worst joint", value, "m", bound)

    assert line(1e-5, "<= 0.0001").holds and line(1.0, ">= 0.99").holds and line(None, "").holds
    assert not line(1e-3, "<= 0.0001").holds and not line(float("nan"), "<= 1").holds and not line(None, ">= 1").holds


def test_every_scene_is_a_part_in_both_precisions():
    made = on_cuda.parts()
    assert len(made) == len(set(made)) == 2 * len(on_cuda.SCENES) + 1 and on_cuda.ROOFLINE in made
    assert set(on_cuda.SCENES) <= set(on_cuda.BENCH_ROWS)


def test_figures_of_a_scene(monkeypatch):
    monkeypatch.setitem(on_cuda.SCENES, "stack_10", (5, True))
    lines = {quantity: (value, bound) for quantity, value, _, bound in on_cuda.measured("stack_10", "float64", "cpu")}
    assert lines["frames within tolerance"] == (1.0, ">= 0.99")
    assert lines["a second run has the same bits"] == (1.0, ">= 1")
    assert lines["apart from the CPU at the end"][0] == 0.0  # it is the CPU
    assert all(value > 0.0 for name, (value, _) in lines.items() if name.startswith(("a frame", "first frame")))


def test_a_part_that_fails_or_hangs_says_so():
    (line,) = on_cuda.lines_of(("no_such_scene", "float32", ""), "cpu", DEVICE, 60.0)
    assert "no_such_scene" in line.quantity and line.device == DEVICE and not line.holds
    (line,) = on_cuda.lines_of(("stack_10", "float32", ""), "cpu", DEVICE, 0.1)
    assert line.quantity == "stopped after 0 s" and not line.holds


def test_what_there_was_no_time_for_is_written(tmp_path, monkeypatch, capsys):
    into = tmp_path / "cuda.csv"
    arguments = ["on_cuda.py", "--device", "cpu", "--minutes", "0", "--output", str(into), "--parts", "chain"]
    monkeypatch.setattr(sys, "argv", arguments)
    assert on_cuda.main() == 0 and "no time was left" in capsys.readouterr().out
    lines = records.read(into, on_cuda.Line)
    assert [(line.part, line.precision, line.device) for line in lines] == [
        ("chain", precision, records.machine()) for precision in on_cuda.PRECISIONS
    ]


@pytest.mark.skipif(on_cuda.wp.is_cuda_available(), reason="there is a CUDA device")
def test_without_the_device_it_says_so(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["on_cuda.py"])
    assert on_cuda.main() == 2 and "no CUDA device here" in capsys.readouterr().err


def test_the_tests_run_on_the_device_that_the_environment_names(tmp_path):
    probe = tmp_path / "test_probe.py"
    probe.write_text(
        "from axion.solver import SolverConfig\n"
        "from axion.solver.simulate import resolve\n"
        "def test_it():\n"
        "    assert resolve(SolverConfig(device='cpu')) == ('cpu', 'float32')\n"
    )
    options = ["-q", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml"), "-p", "conftest", str(probe)]
    environment = {**os.environ, "AXION_TEST_PRECISION": "float32", "PYTHONPATH": str(ROOT / "tests")}
    for device, word in (("cpu", "1 passed"), ("cuda:99", "cuda:99")):
        environment["AXION_TEST_DEVICE"] = device
        command = [sys.executable, "-m", "pytest", *options]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert (run.returncode == 0) == (device == "cpu") and word in run.stdout, run.stdout
