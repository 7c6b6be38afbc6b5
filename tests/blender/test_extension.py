# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension in a real Blender: built, installed into a profile of its own, switched on and off, used, done without.

The environment variable BLENDER names the program.  The scripts that run inside Blender lie in ``inside/``.
"""

import json
import shutil
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from real_blender import INSIDE, MARKS, blender, script
from test_packaging import ROOT

pytestmark = MARKS
GRAVITY = 9.81
FPS = 24


def test_blender_accepts_folder_and_zip(extension):
    for source in (ROOT, extension.zip):
        done = blender(extension.folder, "--command", "extension", "validate", source)
        assert done.returncode == 0, done.stdout + done.stderr


def test_blenders_own_build_packs_the_same_files(extension, tmp_path):
    # The exclude patterns of the manifest and the list of our own build are two texts for one set of files.
    source = tmp_path / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".*", "build", "dist", "wheels", "*.blend"))
    done = blender(
        extension.folder, "--command", "extension", "build", "--source-dir", source, "--output-dir", tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    theirs = set(zipfile.ZipFile(next(tmp_path.glob("*.zip"))).namelist())
    ours = set(zipfile.ZipFile(extension.zip).namelist())
    files = {name for name in theirs if not name.endswith("/")}
    assert files == {name for name in ours if not name.startswith("wheels/")}


def test_switching_on_and_off_three_times_leaves_nothing(extension, tmp_path):
    rounds = script(extension.profile, "switch.py", tmp_path / "switch.json")
    assert len(rounds["enabled"]) == len(rounds["disabled"]) == 3
    for state in rounds["enabled"]:
        assert state["types"] and state["operators"], "switched on, the extension offers classes and operators"
        assert state == rounds["enabled"][0]
    for state in rounds["disabled"]:
        assert state == rounds["before"]
    assert rounds["before"]["types"] == [], "before the first time there is nothing of Axion"


def test_starting_blender_starts_neither_warp_nor_newton(extension, tmp_path):
    # Warp and newton take seconds to import: they wait for the first bake, and a drawn panel must not fetch them.
    start = script(extension.profile, "start.py", tmp_path / "start.json")
    assert start["enabled"]
    assert start["heavy"] == []
    assert start["warnings"] == {}, "Blender's policy check found something"


@pytest.fixture(scope="module")
def baked(extension):
    """A falling box, set up and saved by Blender, then baked by the command."""
    setup, result, report = (extension.folder / name for name in ("in.blend", "out.blend", "report.json"))
    made = blender(
        extension.profile, "-b", "--python-exit-code", "1", "--python", INSIDE / "falling_box.py", "--", setup
    )
    assert made.returncode == 0, made.stdout + made.stderr
    command = ("--command", "axion_bake", setup, "-o", result, "--frames", "1", "13", "--report", report)
    done = blender(extension.profile, *command)
    assert done.returncode == 0, done.stdout + done.stderr
    return SimpleNamespace(output=done.stdout, result=result, report=report)


def test_command_bakes_and_tells_its_progress(baked):
    assert "Compiling kernels, first run only" in baked.output
    for frame in (2, 13):
        assert any(f"{frame}" in line and "frame" in line.lower() for line in baked.output.splitlines())
    assert json.loads(baked.report.read_text(encoding="utf-8"))


def test_bake_plays_without_the_extension(baked, tmp_path):
    # A profile that never heard of Axion.  The box falls freely from z = 10 m: after t the centre is at 10 - g t^2 / 2.
    # The step of a frame or less is at worst first order in time: the error stays below g t h / 2, h = 1/24 s.
    output = tmp_path / "play.json"
    empty = tmp_path / "empty"
    empty.mkdir()
    played = blender(
        empty,
        "-b",
        baked.result,
        "--factory-startup",
        "--python-exit-code",
        "1",
        "--python",
        INSIDE / "play.py",
        "--",
        output,
    )
    assert played.returncode == 0, played.stdout + played.stderr
    heights = json.loads(output.read_text(encoding="utf-8"))
    assert heights["axion"] is False
    for frame, height in zip(heights["frames"], heights["z"], strict=True):
        time = (frame - 1) / FPS
        assert height == pytest.approx(10 - GRAVITY * time**2 / 2, abs=GRAVITY * time / FPS / 2 + 1e-5)
    assert heights["z"][-1] < 9


def test_bake_in_the_program_keeps_to_blenders_rules(extension, baked, tmp_path):
    # After a bake Warp and newton are loaded: still no module outside bl_ext.*, and kernels lie in the user's folder.
    state = script(extension.profile, "bake.py", tmp_path / "bake.json")
    assert state["status"] == ["FINISHED"]
    assert state["warnings"] == {}
    assert state["moved"] < -0.1
    kernels = Path(state["kernels"])
    assert kernels.is_relative_to(extension.profile), "compiled kernels lie in the extension's user folder"
    assert any(kernels.rglob("*"))
    assert state["said"] == [], "Check finds the kernels that the bake compiled"


def test_missing_file_is_one_line_and_exit_status_1(extension, tmp_path):
    result = tmp_path / "out.blend"
    done = blender(extension.profile, "--command", "axion_bake", tmp_path / "missing.blend", "-o", result)
    assert done.returncode == 1
    assert "missing.blend" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert not result.exists()
