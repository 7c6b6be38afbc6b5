# SPDX-License-Identifier: GPL-3.0-or-later
"""Every example runs: it builds its scene, and the scene that is committed is the one that it builds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("bpy", reason="examples are scenes for Blender")
ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("[0-9][0-9]_*.py"))
SIZE_LIMIT = 300_000

# The examples import axion like any user would; this gives them the checkout, installed or not.
BOOTSTRAP = f"""
import runpy, sys
sys.path.insert(0, {str(ROOT / "tests")!r})
import conftest
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run(example, *arguments):
    """Run an example as a program; returns what it printed."""
    command = [sys.executable, "-c", BOOTSTRAP, str(example), *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_committed_scene_is_small(example):
    assert example.with_suffix(".blend").stat().st_size < SIZE_LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_leaves_what_it_promises(example, tmp_path):
    printed = run(example, "--output", tmp_path, "--frames", "4", "--no-picture")
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert [entry["frame"] for entry in report["frames"]] == [1, 2, 3]
    assert (tmp_path / "demo.blend").stat().st_size > 0
    for word in ("worst penetration", "worst joint error", "missed the tolerance"):
        assert word in printed
