# SPDX-License-Identifier: GPL-3.0-or-later
"""The page on scripting, run from top to bottom as an artist would paste it."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from axion.axion_blender.writers import outputs  # noqa: E402
from axion.solver import Trajectory  # noqa: E402

PAGE = Path(__file__).resolve().parents[2] / "docs/scripting.md"


def test_the_page_does_what_it_says(empty_file, capfd):
    text = PAGE.read_text(encoding="utf-8")
    *before, last = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names = {}
    exec("\n".join(before), names)
    scene, arm, crate = names["scene"], names["arm"], names["crate"]
    said = capfd.readouterr().out
    assert "nothing stands in the way" in said and "24 frames, 0 missed" in said
    assert outputs.holds(arm) and outputs.holds(crate) and not outputs.holds(names["post"])
    scene.frame_set(13)
    assert arm.matrix_world.translation.z < 2.45, "the arm swings down"
    assert crate.matrix_world.translation.y > 0.05, "the crate slides"
    exec(last, names)
    assert not any(outputs.holds(item) for item in scene.objects)
    folder = Path(names["folder"])
    moved = Trajectory.load(folder / "bake.npz")
    assert np.isfinite(moved.position).all() and len(moved.times) == 25
    assert len((folder / "bake.csv").read_text().splitlines()) >= 25
    for path in folder.iterdir():
        os.remove(path)
    folder.rmdir()


def test_operators_and_properties_of_the_page_exist(empty_file):
    text = PAGE.read_text(encoding="utf-8")
    operators = set(re.findall(r"bpy\.ops\.axion\.(\w+)\(", text))
    assert len(operators) > 8 and operators <= set(dir(bpy.ops.axion))
