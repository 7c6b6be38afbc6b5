# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that start inside each other: Check and the report name both, the depth and the cure."""

import bpy
import pytest
from axion.axion_blender import baking, last_bake, solving
from axion.axion_blender.operators.report import select_guilty
from axion.solver import warm_up
from blend_scenes import box, plane


@pytest.fixture
def twins(empty_file):
    """Two equal boxes of 1 m, 12.5 cm apart."""
    empty_file.frame_end, empty_file.axion.device = 4, "CPU"
    plane()
    box("Left", (1, 1, 1), (0, 0, 0.5))
    box("Right", (1, 1, 1), (0.125, 0, 0.5))
    return empty_file


def test_check_names_them_once_the_kernels_are_compiled(twins, monkeypatch):
    assert bpy.ops.axion.bake() == {"FINISHED"}
    assert bpy.ops.axion.check_scene() == {"FINISHED"}
    session = bpy.context.window_manager.axion
    found = [entry for entry in session.findings if "inside each other" in entry.text]
    assert [(entry.name, entry.kind) for entry in found] == [("Left", "INFO")]
    assert found[0].text == (
        "Left and Right start inside each other, 875 mm deep: move them apart, or let them not collide"
    )
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    bpy.data.objects["Right"].location.x = 1.0
    assert not any("inside each other" in text for text in baking.check(bpy.context)[1])
    monkeypatch.setattr(solving, "start_warp", lambda folder: True)
    assert "before a first bake has compiled" in baking.check(bpy.context)[1][-1]


def test_after_an_update_the_bake_says_that_it_compiles_and_check_does_not_stand_still(twins, monkeypatch, capfd):
    assert bpy.ops.axion.bake() == {"FINISHED"}
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    # The folder holds kernels, but those of another version.
    monkeypatch.setattr(warm_up, "is_compiled", lambda module, device: False)
    assert baking.check(bpy.context)[1][-1] == solving.NOT_LOOKED_FOR
    twins.axion.use_cache = False
    assert bpy.ops.axion.bake() == {"FINISHED"}
    assert "Compiling kernels, first run only: 0 of " in capfd.readouterr().out


def test_check_says_where_the_device_is_missing(twins):
    twins.axion.device, twins.axion.device_index = "CUDA", 77
    (problem,) = baking.check(bpy.context)[0]
    assert problem.startswith("Scene cannot be solved here: device") and "cuda:77" in problem


def test_the_bake_does_not_say_that_all_is_well(twins, capfd):
    assert bpy.ops.axion.bake() == {"FINISHED"}
    said = capfd.readouterr().out
    assert "Left and Right overlap by 875.0" in said
    assert "Every frame kept the tolerance but for bodies that were placed inside each other" in said
    assert "Left and Right are inside each other at frame 1, 875.0" in said and "move them apart" in said
    twins.frame_set(2)
    assert set(select_guilty(bpy.context)[0]) >= {"Left", "Right"}
    document = last_bake.document(twins)
    assert document["summary"]["worst_overlap"] == pytest.approx(0.875, abs=1e-4)
    assert set(document["frames"][0]["overlapping_bodies"]) == {"Left", "Right"}
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    bpy.data.objects["Right"].location.x = 1.5
    assert bpy.ops.axion.bake() == {"FINISHED"}
    assert "Every frame kept the tolerance\n" in capfd.readouterr().out
