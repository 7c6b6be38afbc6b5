# SPDX-License-Identifier: GPL-3.0-or-later
"""kill -9 at twenty random moments of a bake, and at each step of writing a file: resumed, it has the same bits."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="bakes are forked; tests/bpy/test_cache_road.py kills one anywhere")
def test_killed_bakes_resume_with_the_same_bits(tmp_path):
    code = "import conftest, sys, killed_bakes, pathlib; killed_bakes.main(pathlib.Path(sys.argv[1]))"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent)}
    run = subprocess.run(
        [sys.executable, "-c", code, tmp_path], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    random, writing = ([int(kept) for kept in line.split()] for line in run.stdout.splitlines()[-2:])
    assert len(random) == 20 and len({kept for kept in random if 0 < kept < 12}) >= 3, "they were killed in mid-bake"
    assert writing == sorted(writing) and writing[-1] >= 4 and len(writing) >= 8, "each attempt kept what it had"
