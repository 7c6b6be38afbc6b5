# SPDX-License-Identifier: GPL-3.0-or-later
"""One file, the same motion: baked by this environment's bpy and by the real Blender.

They differ in Blender, Python and NumPy.  The scene is built of Blender's own rigid bodies only, with every collision
shape, an animated paddle, a hinge and a point constraint; both convert it and bake it.
"""

import json
import subprocess
import sys

import pytest
from real_blender import INSIDE, MARKS, blender
from test_packaging import ROOT

pytest.importorskip("bpy", reason="the motion is compared with that of the bpy wheel")
pytestmark = MARKS
LAST_FRAME = 25
"""One second at 24 frames per second."""
WHEEL = f"""
import os, sys
sys.path[:0] = [{str(ROOT / "tests")!r}]
import conftest
import axion, bpy
axion.register()
"""
BUILD = """
import native_road
bpy.ops.wm.read_homefile(use_empty=True)
native_road.build()
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[1])
os._exit(0)
"""
BAKE = """
from axion.axion_blender import cli
status = cli.main(sys.argv[1:], "axion-bake")
sys.stdout.flush(), sys.stderr.flush()
os._exit(status)
"""
PLAY = (INSIDE / "positions.py").read_text(encoding="utf-8")


def wheel(code, *arguments):
    """Run Python code on the bpy wheel, in a process of its own."""
    command = [sys.executable, "-c", WHEEL + code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def positions(file, output):
    """{object name: its position on each of the frames}, as the wheel plays a baked file."""
    wheel("bpy.ops.wm.open_mainfile(filepath=sys.argv[1])\n" + PLAY + "\nos._exit(0)", file, LAST_FRAME, output)
    return json.loads(output.read_text(encoding="utf-8"))


def test_the_wheel_and_the_real_blender_bake_the_same(extension, tmp_path):
    # Deterministic kernels leave only rounding between them; a second is short enough for it not to grow to 1e-4 m.
    setup = tmp_path / "setup.blend"
    wheel(BUILD, setup)
    options = ("--convert-native", "--frames", "1", str(LAST_FRAME))
    wheel(BAKE, setup, "-o", tmp_path / "wheel.blend", *options)
    done = blender(extension.profile, "--command", "axion_bake", setup, "-o", tmp_path / "real.blend", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    ours = positions(tmp_path / "wheel.blend", tmp_path / "wheel.json")
    theirs = positions(tmp_path / "real.blend", tmp_path / "real.json")
    assert ours.keys() == theirs.keys()
    moved = [name for name, path in ours.items() if abs(path[-1][2] - path[0][2]) > 0.1]
    assert len(moved) > 5, "there is motion to compare"
    for name, path in ours.items():
        assert path == [pytest.approx(place, abs=1e-4) for place in theirs[name]], name
