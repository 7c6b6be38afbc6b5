# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose a cache is: copies of files have their own, and nobody writes into another's."""

import os

import pytest

bpy = pytest.importorskip("bpy")

from axion.axion_blender import cache_place  # noqa: E402
from axion.axion_blender.cache import Cache  # noqa: E402
from test_cache_road import command, make  # noqa: E402


def caches(tmp_path):
    """{name of the file: frames} of the caches beside it."""
    folders = list((tmp_path / "axion_cache").iterdir())
    found = {Cache(folder).owner()["blend"]: Cache(folder).motion(1)[1].last for folder in folders}
    assert len(found) == len(folders), "no file has two"
    return found


def test_a_copy_whose_frames_are_all_in_the_cache_keeps_the_one_it_has(tmp_path, capfd):
    """Each bake copied the frames into one more folder, and the panel said that there is no cache."""
    make(tmp_path / "shot.blend")
    bpy.ops.axion.bake()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "copy.blend"))
    own = set()
    for _ in range(3):
        bpy.ops.axion.bake()
        own.add(cache_place.existing(bpy.context.scene))
        assert set(caches(tmp_path)) == {"shot.blend", "copy.blend"}
    assert capfd.readouterr().out.count("all 8 frames are in the cache") == 3
    assert len(own) == 1 and cache_place.size(bpy.context.scene) > 0
    bpy.context.scene.frame_end = 7
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "short.blend"))
    for _ in range(2):  # which leaves the frames of the longer bake as they are
        bpy.ops.axion.bake()
        assert set(caches(tmp_path)) == {"shot.blend", "copy.blend", "short.blend"}
    assert command(tmp_path / "copy.blend", tmp_path / "out.blend") == 0
    assert set(caches(tmp_path)) == {"shot.blend", "copy.blend", "short.blend"}, "nor where the file is not saved"


@pytest.mark.parametrize("became", ["saved", "renamed"])
def test_a_copy_leaves_the_cache_of_a_file_that_was_baked_under_another_name(became, tmp_path):
    """The frames went on to bear the earlier name, so that a copy took them and wrote its own in their place."""
    make(tmp_path / "old.blend" if became == "renamed" else None)
    bpy.ops.axion.bake()
    if became == "renamed":
        bpy.ops.wm.save_mainfile()
        os.rename(tmp_path / "old.blend", tmp_path / "shot.blend")
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    else:
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.axion.bake()
    bpy.ops.wm.save_mainfile()
    before = caches(tmp_path)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "copy.blend"))
    bpy.data.objects["Box"].axion.linear_velocity = (1, 0, 0)
    bpy.ops.axion.bake()
    after = caches(tmp_path)
    assert list(before) == ["shot.blend"] and set(after) == {"shot.blend", "copy.blend"}
    assert after["shot.blend"] == before["shot.blend"] != after["copy.blend"]
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert bpy.ops.axion.export_motion(filepath=str(tmp_path / "shot.npz"), format="NPZ") == {"FINISHED"}
