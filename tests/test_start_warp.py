# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels are kept in one folder, however often a session bakes, checks or changes its preferences."""

import subprocess
import sys

import pytest
from test_packaging import ROOT

SESSION = f"""
import sys
sys.path[:0] = [{str(ROOT / "tests")!r}]
import conftest
import warp
from pathlib import Path
from axion.axion_blender import solving

for folder in map(Path, sys.argv[1:]):
    wanted = folder / warp.config.version
    first = solving.start_warp(folder)
    assert Path(warp.config.kernel_cache_dir).samefile(wanted), (warp.config.kernel_cache_dir, str(wanted))
    assert first == (not (wanted / "wp_axion").exists()), "does not see what was compiled"
    (wanted / "wp_axion").mkdir(exist_ok=True)
"""


@pytest.mark.parametrize("folders", [("one", "one", "one"), ("one", "two", "one")])
def test_every_start_of_a_session_finds_the_kernels_of_the_first(tmp_path, folders):
    for _ in range(2):  # the second session finds those of the first one
        done = subprocess.run(
            [sys.executable, "-c", SESSION, *(str(tmp_path / name) for name in folders)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0 and "previous Warp version" not in done.stdout + done.stderr, done.stderr
    assert not list(tmp_path.glob("*/wp_*")), "kernels beside the folder of their version"
