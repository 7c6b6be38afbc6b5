# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose a cache is: copies of files have their own, and nobody writes into another's."""

import os
import shutil

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


def test_a_copy_exports_the_motion_of_the_original_until_it_has_a_cache_of_its_own(tmp_path):
    make(tmp_path / "shot.blend")
    bpy.ops.axion.bake()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "copy.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "copy.blend"))
    assert bpy.ops.axion.export_motion(filepath=str(tmp_path / "copy.npz"), format="NPZ") == {"FINISHED"}
    assert bpy.ops.axion.free_cache() == {"CANCELLED"}
    assert set(caches(tmp_path)) == {"shot.blend"}, "which is the original's"
    (tmp_path / "elsewhere").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "elsewhere" / "copy.blend"))
    with pytest.raises(RuntimeError, match=r"has no frames in .*elsewhere.* stayed where the file was before"):
        bpy.ops.axion.export_motion(filepath=str(tmp_path / "copy.npz"), format="NPZ")


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


def project(path, height, cache):
    """A file "shot.blend" in a folder of its own, baked with a given Cache Folder.  Returns the folder of its cache."""
    path.mkdir()
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = make(path / "shot.blend")
    bpy.data.objects["Box"].location.z, scene.axion.cache_folder = height, cache
    return bake_and_save()


def bake_and_save():
    bpy.ops.axion.bake()
    bpy.ops.wm.save_mainfile()
    return cache_place.existing(bpy.context.scene).resolve()


def resumes(path, capfd):
    """Whether a file takes all frames of its next bake from the cache."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    capfd.readouterr()
    bake_and_save()
    return "all 8 frames are in the cache" in capfd.readouterr().out


@pytest.mark.parametrize("chosen", ["whole", "relative"])
def test_files_of_one_name_share_a_cache_folder_and_no_cache(chosen, tmp_path, capfd):
    """They took the same folder in it, and each bake replaced the frames of the other one."""
    cache = str(tmp_path / "cache") if chosen == "whole" else "//../cache"
    first, second = (project(tmp_path / name, height, cache) for name, height in (("a", 3.0), ("b", 5.0)))
    assert first != second and first.parent == second.parent == (tmp_path / "cache").resolve()
    for name in ("a", "b"):
        assert resumes(tmp_path / name / "shot.blend", capfd)
        assert bpy.ops.axion.export_motion(filepath=str(tmp_path / "m.npz"), format="NPZ") == {"FINISHED"}
    bpy.context.scene.axion.uuid = ""
    assert cache_place.existing(bpy.context.scene).resolve() == second, "also where the file was not saved since"


def test_a_copy_in_another_folder_leaves_the_cache_to_the_original(tmp_path, capfd):
    first = project(tmp_path / "a", 3.0, str(tmp_path / "cache"))
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    assert resumes(tmp_path / "b" / "shot.blend", capfd), "it begins with a copy of the frames"
    assert cache_place.existing(bpy.context.scene) != first
    assert resumes(tmp_path / "a" / "shot.blend", capfd) and cache_place.existing(bpy.context.scene) == first
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_what_is_moved_together_with_its_cache_keeps_it(tmp_path, capfd):
    (tmp_path / "old").mkdir()
    first = project(tmp_path / "old" / "a", 3.0, str(tmp_path / "old" / "cache"))
    os.rename(tmp_path / "old", tmp_path / "new")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "new" / "a" / "shot.blend"))
    bpy.context.scene.axion.cache_folder = str(tmp_path / "new" / "cache")
    assert cache_place.existing(bpy.context.scene) == tmp_path / "new" / "cache" / first.name


@pytest.mark.parametrize("saved", [True, False])
def test_a_cache_from_before_folders_counted_goes_to_the_first_that_bakes(saved, tmp_path, capfd, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(cache_place, "_owner", lambda scene: {"blend": "shot.blend", "scene": scene.name})
        first = project(tmp_path / "a", 3.0, str(tmp_path / "cache"))
    if not saved:
        bpy.context.scene.axion.uuid = ""
        bpy.ops.wm.save_mainfile()
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    assert resumes(tmp_path / "a" / "shot.blend", capfd) and cache_place.existing(bpy.context.scene) == first
    resumes(tmp_path / "b" / "shot.blend", capfd)
    assert cache_place.existing(bpy.context.scene) != first
    assert resumes(tmp_path / "a" / "shot.blend", capfd) and cache_place.existing(bpy.context.scene) == first
    bpy.context.scene.axion.uuid = ""
    assert cache_place.existing(bpy.context.scene) == first
