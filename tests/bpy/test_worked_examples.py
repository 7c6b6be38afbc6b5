# SPDX-License-Identifier: GPL-3.0-or-later
"""The worked examples keep what they promise, and the manual states the figures that they measured."""

import importlib.util
import json
import sys
from pathlib import Path

import bpy
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("[0-9][0-9]_*.py") if not path.name.startswith("01"))
NUMBERS = [path.name[:2] for path in EXAMPLES]
FEW = {"06": 3}
"""Frames of the short bakes where they are not six."""
PICTURE_LIMIT = 150_000


def load(path, monkeypatch):
    """A file of the folder examples, as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def baked(path, frames, monkeypatch):
    """Report and promises of an example that was baked up to a frame (None: to its end)."""
    example = load(path, monkeypatch)
    example.build_scene()
    bpy.context.scene.axion.use_cache = False
    report, promises, _ = sys.modules["workshop"].bake(example.promises, frames)
    return report, promises


def test_there_are_five():
    assert NUMBERS == ["02", "03", "04", "05", "06"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_first_frames_keep_the_promises(path, addon, monkeypatch):
    frames = FEW.get(path.name[:2], 6)
    report, promises = baked(path, frames, monkeypatch)
    assert len(report["frames"]) == frames - 1
    assert report["summary"]["missed"] == 0
    assert promises
    assert [str(promise) for promise in promises if not promise.kept] == []


@pytest.mark.once
@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_all_frames_keep_the_promises(path, addon, monkeypatch):
    report, promises = baked(path, None, monkeypatch)
    assert [str(promise) for promise in promises if not promise.kept] == []
    assert [frame["frame"] for frame in report["frames"] if frame["overlap"] > 0.0] == []  # all are placed apart


@pytest.mark.parametrize("value", [0.2, float("nan")])
def test_a_promise_can_be_broken(value, monkeypatch):
    promise = load(ROOT / "examples" / "measures.py", monkeypatch).Promise("gap", value, "mm", upper=0.1)
    assert not promise.kept


def test_a_body_below_the_floor_and_an_open_joint_are_seen(addon, empty_file, monkeypatch):
    measures = load(ROOT / "examples" / "measures.py", monkeypatch)
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0, 0, 0.5))
    cube = bpy.context.object
    bpy.ops.axion.add_bodies(type="ACTIVE")
    bpy.ops.axion.add_joint(type="POINT", pivot_type="ACTIVE")
    for frame, place in ((1, 0.5), (5, 0.4)):
        cube.location.z = place
        cube.keyframe_insert("location", index=2, frame=frame)
    empty_file.frame_end = 5
    motion = measures.Motion(empty_file, True, {})
    assert motion.sunk() == pytest.approx(0.1, abs=1e-6)
    assert motion.joint_gaps() == pytest.approx(0.1, abs=1e-6)
    assert motion.lost(0.3) == 1


def test_the_manual_states_the_figures_that_were_measured(monkeypatch):
    run_all = load(ROOT / "examples" / "run_all.py", monkeypatch)
    figures = json.loads((ROOT / "examples" / "figures.json").read_text(encoding="utf-8"))
    assert sorted(figures) == NUMBERS
    page = run_all.PAGE.read_text(encoding="utf-8")
    assert [found[1] for found in run_all.BLOCK.findall(page)] == NUMBERS
    assert run_all.page(page, figures) == page, "run examples/run_all.py"


@pytest.mark.parametrize("number", NUMBERS)
def test_the_manual_has_a_small_picture_of_each(number):
    picture = ROOT / "docs" / "images" / f"example_{number}.jpg"
    assert picture.stat().st_size < PICTURE_LIMIT
    assert f"images/{picture.name}" in (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
