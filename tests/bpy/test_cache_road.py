# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache from Blender's side: whose it is, the command that resumes, the operator that takes keys from it."""

import json
import os
import re
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import axion
import pytest

bpy = pytest.importorskip("bpy")

import axion.solver  # noqa: E402
from axion.axion_blender import cache_place, cli  # noqa: E402
from axion.axion_blender.cache import Cache  # noqa: E402
from axion.axion_blender.ui import cache as cache_ui  # noqa: E402
from blend_scenes import box, key, plane  # noqa: E402
from cached import small_files  # noqa: E402

TESTS = Path(__file__).resolve().parents[1]
wheel_only = pytest.mark.skipif(not bpy.app.module, reason="a process of its own needs the bpy wheel")


def make(path=None, frames=9):
    """A box falls on the ground; saved at ``path``."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.axion.device = 1, frames, "CPU"
    plane()
    box("Box", (0.4, 0.4, 0.4), (0, 0, 0.25))
    if path is not None:
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return scene


def claim(scene, **owner):
    """The place of the scene's cache, with a head in it as a bake leaves one."""
    place = cache_place.place(scene)
    with Cache(place.folder) as cache:
        cache.begin(axion.axion_blender.cache.inputs.Inputs("", {}), found(), {**place.owner, **owner}, {})
    return place


def found():
    return axion.axion_blender.cache.store.Found()


def heights(name="Box", frames=range(1, 10)):
    """Bits of the keyed heights of the loaded file."""
    curves = axion.axion_blender.compat.curves_of(bpy.data.objects[name])
    curve = next(c for c in curves if c.data_path == "location" and c.array_index == 2)
    assert [key.co[0] for key in curve.keyframe_points] == list(frames)
    return [key.co[1] for key in curve.keyframe_points]


def test_a_saved_file_has_its_cache_beside_it_and_finds_it_again(tmp_path):
    scene = make(tmp_path / "shot.blend")
    first = cache_place.place(scene)
    assert first.folder.parent == tmp_path / "axion_cache" and first.folder.name == scene.axion.uuid
    assert first.owner == {"blend": "shot.blend", "scene": scene.name} and first.seed is None
    scene.axion.uuid = ""  # the file was not saved since, or undo took it back
    assert cache_place.place(scene).folder == first.folder
    scene.axion.use_cache = False
    assert cache_place.place(scene) is None


def test_the_name_in_the_file_leads_nowhere_else(tmp_path):
    scene = make(tmp_path / "shot.blend")
    for evil in ("../../somewhere", "/etc", "..", "x" * 300, "{" + str(uuid.uuid4()) + "}/.."):
        scene.axion.uuid = evil
        folder = cache_place.place(scene).folder
        assert folder.parent == tmp_path / "axion_cache" and uuid.UUID(folder.name)


def test_a_file_without_a_name_keeps_its_cache_and_takes_it_along_when_saved(tmp_path):
    scene = make()
    first = claim(scene)
    assert first.folder.parent == cache_place.user_folder() and cache_place.place(scene).folder == first.folder
    scene.axion.uuid = ""
    assert cache_place.place(scene).folder == first.folder, "undo took the property back"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    saved = cache_place.place(bpy.context.scene)
    assert saved.folder == tmp_path / "axion_cache" / first.folder.name
    assert saved.seed == first.folder and saved.moves
    assert cache_place.existing(bpy.context.scene) == first.folder, "until the next bake it is where it was"
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert cache_place.size(bpy.context.scene) > 0 and bpy.ops.axion.free_cache() == {"FINISHED"}
    assert cache_place.existing(bpy.context.scene) is None and not first.folder.exists()


def test_caches_of_files_that_were_never_saved_go_after_a_month(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_place, "user_folder", lambda: tmp_path)
    scene = make()
    old, mine = claim(scene).folder, tmp_path / "mine"
    mine.mkdir()
    (mine / "head.txt").write_text("mine")
    bpy.ops.wm.read_homefile(use_empty=True)
    fresh = cache_place.place(bpy.context.scene).folder
    assert fresh != old and old.exists(), "of today"
    month_ago = os.stat(old / "head").st_mtime - 31 * 24 * 3600
    os.utime(old / "head", (month_ago, month_ago))
    cache_place.place(bpy.context.scene)
    assert not old.exists() and (mine / "head.txt").exists()


def test_a_copy_of_a_scene_has_a_cache_of_its_own(tmp_path):
    scene = make(tmp_path / "shot.blend")
    first = claim(scene)
    copy = scene.copy()
    assert copy.axion.uuid == scene.axion.uuid
    second = cache_place.place(copy)
    assert second.folder != first.folder and second.seed == first.folder and not second.moves
    assert cache_place.place(scene).folder == first.folder
    scene.name = "Renamed"
    assert cache_place.place(scene).folder == first.folder, "its name alone makes no other cache"


def test_a_copy_of_a_file_has_a_cache_of_its_own_and_a_renamed_file_keeps_its(tmp_path):
    scene = make(tmp_path / "shot.blend")
    first = claim(scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "copy.blend"))
    copy = cache_place.place(bpy.context.scene)
    assert copy.folder != first.folder and copy.seed == first.folder
    assert cache_place.place(bpy.context.scene).folder == copy.folder
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    os.rename(tmp_path / "shot.blend", tmp_path / "renamed.blend")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "renamed.blend"))
    bpy.context.scene.axion.uuid = first.folder.name
    assert cache_place.place(bpy.context.scene).folder == first.folder, "the owner is gone: it was only renamed"


def test_a_chosen_folder_is_used(tmp_path):
    scene = make(tmp_path / "shot.blend")
    scene.axion.cache_folder = str(tmp_path / "else")
    assert cache_place.place(scene).folder.parent == tmp_path / "else"
    scene.axion.cache_folder = "//near"
    assert cache_place.place(scene).folder.parent == tmp_path / "near"


def test_a_second_bake_takes_its_keys_from_the_cache_and_the_operator_frees_it(tmp_path, capfd, monkeypatch):
    scene = make(tmp_path / "shot.blend")
    assert bpy.ops.axion.bake() == {"FINISHED"}
    first = heights()
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    capfd.readouterr()
    with monkeypatch.context() as patch:
        patch.setitem(vars(axion.solver), "simulate", lambda *given, **named: pytest.fail("the solver ran"))
        assert bpy.ops.axion.bake() == {"FINISHED"}
    assert "all 8 frames are in the cache" in capfd.readouterr().out
    assert heights() == first
    folder = cache_place.existing(scene)
    progress = json.loads((folder / "progress.json").read_bytes())
    assert progress["phase"] == "done" and progress["frame"] == progress["frame_end"] == 9
    size = cache_place.size(scene)
    assert size == sum(path.stat().st_size for path in folder.iterdir())
    assert bpy.ops.axion.free_cache() == {"FINISHED"} and not (tmp_path / "axion_cache").exists()
    assert bpy.ops.axion.free_cache() == {"CANCELLED"}
    assert heights() == first, "the keys stay"


def test_a_collider_whose_keys_changed_late_goes_back_before_them(tmp_path, capfd, monkeypatch):
    small_files(monkeypatch)
    make(tmp_path / "shot.blend", 16)
    table = box("Table", (2, 2, 0.2), (0, 0, -0.1), type="PASSIVE")
    key(table, "location", [(1, (0, 0, -0.1)), (10, (0, 0, 0.2)), (16, (0, 0, 0.2))])
    assert bpy.ops.axion.bake() == {"FINISHED"}
    assert bpy.ops.axion.bake() == {"FINISHED"}
    assert "all 15 frames are in the cache" in capfd.readouterr().out
    key(table, "location", [(16, (0, 0, 0.5))])
    assert bpy.ops.axion.bake() == {"FINISHED"}
    assert "resuming at frame 8" in capfd.readouterr().out.splitlines(), "frames 1 to 10 are as before: three a file"
    changed = heights(frames=range(1, 17))
    assert bpy.ops.axion.free_cache() == {"FINISHED"} and bpy.ops.axion.bake() == {"FINISHED"}
    assert heights(frames=range(1, 17)) == changed
    bpy.context.scene.frame_end = 12
    capfd.readouterr()
    assert bpy.ops.axion.bake() == {"FINISHED"} and "resuming at frame 8" in capfd.readouterr().out
    bpy.context.scene.frame_end = 16
    assert bpy.ops.axion.bake() == {"FINISHED"} and "all 15 frames" in capfd.readouterr().out


def test_clear_bake_and_undo_do_not_touch_the_cache(tmp_path):
    scene = make(tmp_path / "shot.blend", 5)
    bpy.ops.axion.bake()
    before = cache_place.existing(scene)
    bpy.ops.axion.clear_bake()
    assert cache_place.existing(scene) == before


def test_a_cache_that_cannot_be_written_is_one_error(tmp_path, capfd):
    scene = make(tmp_path / "shot.blend")
    (tmp_path / "axion_cache").write_text("mine")
    with pytest.raises(RuntimeError, match="The cache folder .* cannot be written"):
        bpy.ops.axion.bake()
    scene.axion.use_cache = False
    assert bpy.ops.axion.bake() == {"FINISHED"}
    assert (tmp_path / "axion_cache").read_text() == "mine"


def too_long(tmp_path):
    return tmp_path / ("x" * 300)


def closed(tmp_path):
    (tmp_path / "closed" / "caches").mkdir(parents=True)
    (tmp_path / "closed").chmod(0)
    return tmp_path / "closed" / "caches"


CLOSES = pytest.mark.skipif(not getattr(os, "geteuid", lambda: 0)(), reason="folders are closed to nobody here")


@pytest.mark.parametrize("folder", [too_long, pytest.param(closed, marks=CLOSES)])
def test_a_cache_folder_that_cannot_be_looked_at_is_one_sentence(folder, tmp_path):
    scene = make()
    scene.axion.cache_folder = str(folder(tmp_path))
    assert bpy.ops.axion.check_scene() == {"FINISHED"}
    for _ in range(2):
        with pytest.raises(RuntimeError, match="The cache folder .* cannot be written, .*: .* Cache Folder") as told:
            bpy.ops.axion.bake()
        assert "Traceback" not in str(told.value)
    assert cache_place.existing(scene) is None and cache_place.size(scene) == 0
    assert bpy.ops.axion.free_cache() == {"CANCELLED"} and bpy.ops.axion.clear_bake() == {"CANCELLED"}


def test_a_cache_whose_files_may_not_be_listed_is_one_sentence(tmp_path, monkeypatch):
    scene = make(tmp_path / "shot.blend")
    bpy.ops.axion.bake()
    own = cache_place.existing(scene)

    def forbidden(folder, list_files=Path.iterdir):
        if folder == own:
            raise PermissionError(13, "Permission denied")
        return list_files(folder)

    monkeypatch.setattr(Path, "iterdir", forbidden)
    for _ in range(2):
        with pytest.raises(
            RuntimeError, match="The cache .* cannot be read .Permission denied.: .* Cache Folder"
        ) as told:
            bpy.ops.axion.bake()
        assert "Traceback" not in str(told.value)
    cache_place._sizes.clear()
    assert cache_place.size(scene) == 0
    with pytest.raises(RuntimeError, match="cannot be written, it is read-only"):
        bpy.ops.axion.free_cache()


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (3 << 20, "3.0 MiB"), (5 << 40, "5120.0 GiB")]
)
def test_sizes_are_told_in_blenders_units(size, text):
    assert cache_place.size_text(size) == text


def command(source, target, *options):
    return cli.main([str(source), "-o", str(target), *options])


def test_the_command_resumes_after_ctrl_c(tmp_path, capfd, monkeypatch):
    blend = tmp_path / "shot.blend"
    make(blend)
    real = axion.solver.simulate

    def interrupted(scene, frames, fps, config, on_frame, **more):
        def stop_at_3(result):
            if result.frame == 3:
                signal.raise_signal(signal.SIGINT)
            return on_frame(result)

        return real(scene, frames, fps=fps, config=config, on_frame=stop_at_3, **more)

    with monkeypatch.context() as patch:
        patch.setitem(vars(axion.solver), "simulate", interrupted)
        assert command(blend, tmp_path / "out.blend") == 130
    (folder,) = (tmp_path / "axion_cache").iterdir()
    assert json.loads((folder / "progress.json").read_bytes())["phase"] == "cancelled"
    assert "goes on from here" in capfd.readouterr().err and not (tmp_path / "out.blend").exists()
    assert command(blend, tmp_path / "out.blend") == 0
    said = capfd.readouterr().out
    assert "resuming at frame 5" in said.splitlines()
    assert re.findall(r"^frame (\d+)/9", said, re.MULTILINE) == ["5", "6", "7", "8", "9"]
    assert command(blend, tmp_path / "anew.blend", "--no-resume") == 0
    said = capfd.readouterr().out
    assert "resuming" not in said and len(re.findall(r"^frame", said, re.MULTILINE)) == 8
    motions = []
    for name in ("out.blend", "anew.blend"):
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / name))
        motions.append(heights())
    assert motions[0] == motions[1]


def test_the_command_says_in_one_line_why_it_cannot_keep_frames(tmp_path, capfd):
    blend, out = tmp_path / "shot.blend", tmp_path / "out.blend"
    make(blend, 3)
    (tmp_path / "axion_cache").write_text("mine")
    capfd.readouterr()
    assert command(blend, out) == 1
    (line,) = capfd.readouterr().err.strip().splitlines()
    assert "The cache folder" in line and "choose another Cache Folder" in line and not out.exists()


@wheel_only
@pytest.mark.once
@pytest.mark.slow
def test_a_command_that_is_killed_resumes(tmp_path):
    blend, out = tmp_path / "shot.blend", tmp_path / "out.blend"
    make(blend, 500)
    script = f"import sys; sys.path.insert(0, {str(TESTS)!r}); import conftest\n"
    script += "from axion.axion_blender.cli import main_wheel; main_wheel()"
    program = [sys.executable, "-c", script, blend, "-o", out]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            if line.startswith("frame ") and list((tmp_path / "axion_cache").glob("*/*.frames")):
                child.kill()
                break
    assert child.returncode not in (0, 1) and not out.exists()
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (first,) = re.findall(r"^resuming at frame (\d+)$", done.stdout, re.MULTILINE)
    assert 1 < int(first) < 500
    assert command(blend, tmp_path / "anew.blend", "--no-resume") == 0
    motions = []
    for path in (out, tmp_path / "anew.blend"):
        bpy.ops.wm.open_mainfile(filepath=str(path))
        motions.append(heights(frames=range(1, 501)))
    assert motions[0] == motions[1]


def test_the_panel_tells_the_size(tmp_path):
    make(tmp_path / "shot.blend", 3)
    shown = []

    class Layout:
        def row(self):
            return self

        def label(self, text):
            shown.append(text)

        def operator(self, name):
            shown.append(name)

    cache_ui.draw_cache(Layout(), bpy.context.scene)
    assert shown == ["Cache: empty", "axion.free_cache"]
