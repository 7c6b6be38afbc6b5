# SPDX-License-Identifier: GPL-3.0-or-later
"""Input that nobody should give and somebody will: each is refused in one sentence, and nothing is harmed by it."""

import math
import os
from pathlib import Path

import axion
import pytest

bpy = pytest.importorskip("bpy")

import blend_scenes as build  # noqa: E402
from axion.axion_blender import baking, cli, compat  # noqa: E402
from axion.axion_blender.writers import keyframes  # noqa: E402
from axion.solver import SceneError, Trajectory  # noqa: E402


@pytest.fixture
def blend(tmp_path):
    build.box("Box")
    path = tmp_path / "in.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    return path


def bake(*items):
    """Keys for objects that stand still."""
    zero = [[(0, 0, 0)] * len(items)] * 2
    still = Trajectory([i.name for i in items], [0, 1], zero, [[(0, 0, 0, 1)] * len(items)] * 2, zero, zero, [], {})
    keyframes.write(still, {item.name: item for item in items}, 1)


def run(*arguments):
    return cli.main([str(argument) for argument in arguments])


@pytest.mark.parametrize("report", ("in.blend", "out.blend"))
def test_a_report_in_the_place_of_a_scene_is_refused_as_it_would_destroy_it(blend, report, capsys):
    before = blend.read_bytes()
    assert run(blend, "-o", blend.with_name("out.blend"), "--report", blend.with_name(report)) == 2
    assert report in capsys.readouterr().err
    assert blend.read_bytes() == before


@pytest.mark.parametrize("frames", ((1, 99999999999), (-1048575, 3), (1048570, 1048580)))
def test_frames_that_blender_cannot_play_are_wrong_usage(blend, frames, capsys):
    assert run(blend, "-o", blend.with_name("out.blend"), "--frames", *frames) == 2
    assert "1048574" in capsys.readouterr().err


def test_a_folder_that_takes_no_file_is_told_before_anything_is_read(blend, monkeypatch, capsys):
    def full(path, *given, **named):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(cli.Path, "touch", full)  # permissions themselves do not stop root, who runs tests too
    monkeypatch.setattr(axion.axion_blender.baking, "make_job", lambda *given: pytest.fail("the scene was read"))
    out = blend.with_name("out.blend")
    assert run(blend, "-o", out) == 1
    said = f"axion_bake: {out.resolve()} cannot be written: Permission denied: choose another folder or name"
    assert capsys.readouterr().err.splitlines() == [said]


def test_a_frame_range_beyond_blenders_names_the_scene():
    build.box("Box")
    settings = bpy.context.scene.axion
    settings.use_frame_range, settings.frame_start, settings.frame_end = True, -(2**31), 2**31 - 1
    problems, _ = baking.check(bpy.context)
    assert len(problems) == 1 and problems[0].startswith("Scene: ") and "1048574" in problems[0]


@pytest.mark.parametrize("vertices", (((0, 0, 0), (1, 0, 0), (0, 1, 0)), ((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0))))
def test_an_active_sheet_is_told_its_cure(vertices):
    build.add("Sheet", build.mesh("sheet", vertices, [(0, 1, 2)]), collision_shape="MESH")
    problems, _ = baking.check(bpy.context)
    assert len(problems) == 1 and problems[0].startswith("Sheet: ") and "Solidify" in problems[0]


def test_an_animated_scale_of_an_active_body_is_warned_of():
    build.key(build.box("Box"), "scale", ((1, (1, 1, 1)), (9, (2, 2, 2))))
    problems, warnings = baking.check(bpy.context)
    assert not problems and any(text.startswith("Box ") and "scale" in text for text in warnings)


@pytest.mark.parametrize("change", ("constant", "late", "noisy", "driven"))
def test_keys_of_a_scale_that_stays_are_no_word_worth(change):
    item = build.box("Box")
    build.key(item, "scale", ((1, (2, 1, 1)), (20, (2, 1, 1))))
    if change == "late":
        build.key(item, "scale", ((bpy.context.scene.frame_end + 1, (2, 1, 1)), (99, (1, 1, 1))))
    if change == "noisy":
        compat.curves_of(item)[0].modifiers.new("NOISE")
    if change == "driven":
        item.animation_data_clear()
        item.driver_add("scale", 0).driver.expression = "1 + frame / 100"
    problems, warnings = baking.check(bpy.context)
    assert not problems
    assert any("animated scale" in text for text in warnings) == (change in ("noisy", "driven"))


@pytest.mark.parametrize("operator", ("bake", "clear_bake", "check_scene", "add_joint", "add_bodies"))
def test_edit_mode_is_given_as_the_reason(operator):
    bpy.context.view_layer.objects.active = build.box("Box")
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="Object Mode"):
        getattr(bpy.ops.axion, operator)()
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("record", ("junk", "[]", "{}", 7))
def test_a_broken_record_of_a_bake_is_told_and_nothing_is_touched(record):
    whole, broken = build.box("Whole"), build.box("Broken")
    bake(whole, broken)
    kept, broken["axion_bake"] = whole["axion_bake"], record
    for function in (keyframes.clear, keyframes.suspend):
        with pytest.raises(SceneError, match="^Broken: .*axion_bake"):
            function(bpy.context.scene)
    assert whole["axion_bake"] == kept and whole.animation_data.action is not None
    assert [text.partition(":")[0] for text in baking.check(bpy.context)[0]] == ["Broken"]
    with pytest.raises(RuntimeError, match="Broken: "):
        bpy.ops.axion.clear_bake()


def test_clear_leaves_nothing_of_bodies_that_were_deleted_after_the_bake():
    stays, goes = build.box("Stays"), build.box("Goes")
    bake(stays, goes)
    bpy.data.objects.remove(goes)
    assert keyframes.clear(bpy.context.scene) == 1
    assert not bpy.data.actions


def test_a_scene_that_was_renamed_keeps_hold_of_its_report():
    scene = bpy.context.scene

    class Done:
        trajectory = Trajectory([], [0], [[]], [[]], [[]], [[]], [], {})
        first_frame, fps, wall_time, warnings, config = 1, 24.0, 0.0, [], axion.solver.SolverConfig()
        forces = inputs = None

    baking.keep_report(scene, Done)
    scene.name = "Renamed"
    baking.keep_report(scene, Done)
    assert len(bpy.data.texts) == 1
    baking.forget_report(scene)
    assert not bpy.data.texts


def test_a_scene_in_which_nothing_can_move_is_warned_of():
    build.plane()
    assert any("no active body" in text for text in baking.check(bpy.context)[1])


def test_a_linked_body_whose_library_is_gone_is_named(blend):
    library = blend.with_name("library.blend")
    blend.rename(library)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.objects = ["Box"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    build.box("Free", location=(3, 0, 0))
    bpy.ops.wm.save_as_mainfile(filepath=str(blend), copy=True)
    library.unlink()
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    assert any(text.startswith("Box ") and "library.blend" in text for text in baking.check(bpy.context)[1])


@pytest.mark.parametrize("name", ["fps_base", "time_scale"])
def test_a_frame_rate_that_is_no_number_is_named(name):
    build.plane()
    build.box("Box", (0.3, 0.3, 0.3), (0, 0, 1))
    scene = bpy.context.scene
    setattr(scene.render if name == "fps_base" else scene.axion, name, math.nan)
    problems, _ = baking.check(bpy.context)
    assert problems == [f"Scene: its {name} is nan: give a finite number above 0"]


@pytest.mark.parametrize("folder", ["cache", "./deep/cache"])
def test_a_cache_folder_that_leads_to_the_working_folder_is_refused(folder, tmp_path):
    build.plane()
    build.box("Box", (0.3, 0.3, 0.3), (0, 0, 1))
    scene = bpy.context.scene
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scene = bpy.context.scene
    scene.axion.cache_folder = folder
    problems, _ = baking.check(bpy.context)
    assert len(problems) == 1 and problems[0].startswith(f"Scene: its Cache Folder {folder!r} would lie in ")
    assert os.getcwd() in problems[0] and "begin it with //" in problems[0]
    with pytest.raises(RuntimeError, match="Cache Folder"):
        bpy.ops.axion.bake()
    assert not Path(folder).exists()
    scene.axion.use_cache = False
    assert baking.check(bpy.context)[0] == []


@pytest.mark.skipif(os.name == "nt", reason="links need rights there that tests do not have")
def test_a_cache_folder_that_is_a_link_to_nowhere_has_a_cure(tmp_path):
    build.plane()
    build.box("Box", (0.3, 0.3, 0.3), (0, 0, 1))
    scene = bpy.context.scene
    scene.frame_end = 3
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    scene.axion.cache_folder = str(tmp_path / "link")
    with pytest.raises(RuntimeError, match="is no folder, or a link that leads nowhere: remove it"):
        bpy.ops.axion.bake()
