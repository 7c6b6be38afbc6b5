# SPDX-License-Identifier: GPL-3.0-or-later
"""How the tests of this folder start the Blender that the environment variable BLENDER names."""

import json
import os
import subprocess
from pathlib import Path

import pytest

PROGRAM = os.environ.get("BLENDER")
INSIDE = Path(__file__).resolve().parent / "inside"
MARKS = [
    pytest.mark.blender,
    pytest.mark.slow,
    pytest.mark.skipif(not PROGRAM, reason="the environment variable BLENDER names no Blender program"),
]


def blender(profile, *arguments):
    """Run Blender with ``profile`` as its user folder; returns the finished process, output as text."""
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(profile)}
    environment.pop("WARP_CACHE_PATH", None)  # it would move the kernels out of the extension's folder
    command = [PROGRAM, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)


def script(profile, name, output, *options):
    """Run ``inside/name`` in background Blender; returns what it left in the JSON file ``output``."""
    done = blender(profile, *options, "-b", "--python-exit-code", "1", "--python", INSIDE / name, "--", output)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(Path(output).read_text(encoding="utf-8"))
