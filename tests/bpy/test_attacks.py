# SPDX-License-Identifier: GPL-3.0-or-later
"""What once got through to the bake, its cache, its outputs and its report: now one sentence each, nothing lost."""

import json
import math
import os
import pickle

import pytest

bpy = pytest.importorskip("bpy")

import blend_scenes as build  # noqa: E402
from axion.axion_blender import baking, cli, kept_motion, last_bake  # noqa: E402
from axion.axion_blender.writers import exchange, keyframes, points  # noqa: E402
from axion.solver import SceneError, Trajectory  # noqa: E402
from test_bad_input import bake  # noqa: E402


def make(frames=3):
    scene = bpy.context.scene
    scene.frame_end, scene.axion.device = frames, "CPU"
    build.plane(collision_shape="MESH")
    build.box("Box", (0.3, 0.3, 0.3), (0, 0, 1))
    return scene


def bend(item, value):
    """Shape keys that take the first vertex to ``value``, x."""
    item.shape_key_add(name="Basis")
    key = item.shape_key_add(name="Bent")
    key.data[0].co = (value, 0, 0)
    for frame, amount in ((1, 0.0), (3, 1.0)):
        key.value = amount
        key.keyframe_insert("value", frame=frame)


@pytest.mark.parametrize("shape", ("MESH", "BOX"))
def test_a_vertex_that_becomes_no_number_names_the_object_and_the_frame(shape):
    make()
    ground = bpy.data.objects["Ground"]
    ground.axion.collision_shape = shape
    bend(ground, math.nan)
    problems, _ = baking.check(bpy.context)
    assert len(problems) == 1
    assert problems[0].startswith("Ground: 1 of its vertices are NaN or infinite at frame 1.25: mend its shape keys")


def test_a_vertex_that_flies_to_infinity_is_refused():
    make()
    bend(bpy.data.objects["Ground"], 1e30)
    with pytest.raises(RuntimeError, match="Ground: moving_vertices .* reach 1e.30 m .*1e.12 m"):
        bpy.ops.axion.bake()
    assert not any(keyframes.holds(item) for item in bpy.data.objects)


@pytest.mark.parametrize("name", ("guide_stiffness", "guide_damping", "guide_angular_stiffness"))
def test_a_guide_without_a_number_is_refused_rather_than_left_out(name):
    make()
    own = bpy.data.objects["Box"].axion
    own.use_guide = True
    setattr(own, name, math.nan)
    with pytest.raises(RuntimeError, match=f"Guide of Box: .*{name.rpartition('_')[2]} is nan: give a finite number"):
        bpy.ops.axion.bake()


def cached(tmp_path):
    """The folder of the cache of a scene that was baked."""
    scene = make()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert bpy.ops.axion.bake() == {"FINISHED"}
    return tmp_path / "axion_cache" / scene.axion.uuid


@pytest.mark.skipif(os.name == "nt", reason="links need rights there that tests do not have")
def test_a_link_in_place_of_the_lock_does_not_lead_to_somebodys_file(tmp_path):
    folder, precious = cached(tmp_path), tmp_path / "precious.txt"
    precious.write_text("years of work")
    (folder / "lock").unlink(missing_ok=True)
    (folder / "lock").symlink_to(precious)
    with pytest.raises(RuntimeError, match="cache folder .* choose another Cache Folder"):
        bpy.ops.axion.bake()
    assert precious.read_text() == "years of work"


def test_a_foreign_file_among_the_frames_stops_the_bake_and_stays(tmp_path):
    folder, content = cached(tmp_path), pickle.dumps("somebody's")
    frames = min(folder.glob("*.frames"))  # one or, on a slow machine, two
    frames.write_bytes(content)
    with pytest.raises(RuntimeError, match="is no file of an Axion cache: move it away"):
        bpy.ops.axion.bake()
    assert frames.read_bytes() == content


def test_a_head_that_cannot_be_read_has_a_cure(tmp_path):
    folder = cached(tmp_path)
    (folder / "head").unlink()
    (folder / "head").mkdir()
    with pytest.raises(RuntimeError, match="cannot be read .*choose another Cache Folder"):
        bpy.ops.axion.bake()


@pytest.fixture
def exported(monkeypatch):
    """A scene with keys and a trajectory, without the solver."""
    box = build.box("Box")
    bake(box)
    zero = [[(0, 0, 0)]] * 2
    motion = Trajectory(["Box"], [0, 1], zero, [[(0, 0, 0, 1)]] * 2, zero, zero, [], {})
    monkeypatch.setattr(kept_motion, "find", lambda scene: motion)


@pytest.mark.parametrize("kind", exchange.FORMATS)
def test_a_motion_that_cannot_be_written_names_the_place_and_the_cure(exported, tmp_path, kind):
    if kind != "NPZ" and not getattr(bpy.app.build_options, kind.lower()):
        pytest.skip("this Blender was built without it")
    ending = exchange.FORMATS[kind]
    for path, cure in (
        (tmp_path / "nowhere" / f"motion{ending}", "give an existing folder"),
        (tmp_path, "the name of a file"),
        (tmp_path / ("m" * 300 + ending), "choose another folder or name"),
    ):
        with pytest.raises(RuntimeError) as refused:
            bpy.ops.axion.export_motion(filepath=str(path), format=kind)
        text = str(refused.value)
        assert str(path) in text and cure in text and "Traceback" not in text and "Errno" not in text
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ("USD", "ALEMBIC"))
def test_an_exporter_that_leaves_no_file_is_not_believed(exported, tmp_path, kind, monkeypatch):
    if not getattr(bpy.app.build_options, kind.lower()):
        pytest.skip("this Blender was built without it")
    old = tmp_path / f"motion{exchange.FORMATS[kind]}"
    old.mkdir()  # in the way of the exporters, which say that they are done nevertheless
    monkeypatch.setattr(exchange.os.path, "isfile", lambda path: True)
    with pytest.raises(RuntimeError, match="was not written"):
        bpy.ops.axion.export_motion(filepath=str(old), format=kind)


def test_an_ending_that_the_exporter_does_not_know_is_refused(exported, tmp_path):
    if not bpy.app.build_options.usd:
        pytest.skip("this Blender was built without it")
    with pytest.raises(RuntimeError, match="end it with .usdc"):
        bpy.ops.axion.export_motion(filepath=str(tmp_path / "motion.foo"), format="USD")


@pytest.mark.filterwarnings("ignore:AXION_OT_export_motion.filepath")
def test_a_place_beside_a_file_without_a_name_is_refused(exported):
    with pytest.raises(RuntimeError, match="no name yet: save it, or give a whole path"):
        bpy.ops.axion.export_motion(filepath="//motion.npz")


@pytest.mark.parametrize(
    "tree",
    (
        [],
        {"frames": [{}], "summary": {}},
        {"frames": {}, "summary": {}},
        {"frames": [], "summary": None},
        {"frames": [{"blender_frame": "x", "converged": True, "worst_bodies": [], "residual": 0.0}], "summary": {}},
        {"frames": [{"blender_frame": 1, "converged": True, "worst_bodies": 3, "residual": 0.0}], "summary": {}},
        {"frames": [{"blender_frame": 1, "converged": True, "worst_bodies": [], "residual": "x"}], "summary": {}},
    ),
)
def test_a_report_that_somebody_edited_counts_as_none(tree):
    scene = bpy.context.scene
    text = bpy.data.texts.new("Axion Report")
    text[last_bake.SUMMARY], text[last_bake.STAMP] = scene, "edited"
    text.from_string(json.dumps(tree))
    last_bake._read.clear()
    for operator in (bpy.ops.axion.report_jump, bpy.ops.axion.export_report, bpy.ops.axion.select_guilty):
        with pytest.raises(RuntimeError, match="bake first"):
            operator()


@pytest.mark.parametrize("summary", ("junk", 7, "[]", "{}", '{"missed": 0}'))
def test_a_summary_that_somebody_edited_leaves_the_panel_alive(summary):
    bpy.context.scene[baking.SUMMARY] = summary
    assert baking.last_summary(bpy.context.scene) is None


@pytest.mark.parametrize("record", ("junk", "[]", "{}", 7))
def test_a_broken_record_of_points_is_told_and_nothing_is_touched(record):
    scene, box = bpy.context.scene, build.box("Box")
    bake(build.box("Whole"))
    box[points.HIDDEN] = record
    for operator in (bpy.ops.axion.clear_bake, bpy.ops.axion.bake):
        with pytest.raises(RuntimeError, match=f"Box: the record of its bake is broken: .*{points.HIDDEN}"):
            operator()
    assert keyframes.holds(scene.objects["Whole"])


def test_clear_leaves_the_bakes_of_linked_objects_to_their_file(tmp_path, capfd):
    bake(build.box("Box"))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"), copy=True)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Box"]
    (linked,) = wanted.objects
    bpy.context.scene.collection.objects.link(linked)
    assert bpy.ops.axion.clear_bake() == {"CANCELLED"}
    assert keyframes.holds(linked) and "Box is linked from another file and keeps its bake" in capfd.readouterr().out
    bake(build.box("Local"))
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert keyframes.holds(linked) and not keyframes.holds(bpy.data.objects["Local"])


@pytest.fixture
def pipe(tmp_path):
    """What is there and no file.  Never a device: who fails this test may be allowed to replace those."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def test_an_output_that_is_no_file_is_not_replaced(exported, pipe, capsys):
    source = pipe.with_name("in.blend")
    bpy.ops.wm.save_as_mainfile(filepath=str(source), copy=True)
    assert cli.main([str(source), "-o", str(pipe)]) == 1
    assert cli.main([str(source), "-o", str(pipe.with_name("out.blend")), "--report", str(pipe)]) == 1
    assert capsys.readouterr().err.count(f"{pipe} cannot be written") == 2
    with pytest.raises(RuntimeError, match="cannot be written"):
        bpy.ops.axion.export_motion(filepath=str(pipe))
    assert pipe.is_fifo()


def test_a_parent_that_shrinks_to_nothing_is_named():
    box, carrier = build.box("Box"), build.add("Carrier")
    box.parent = carrier
    build.key(carrier, "scale", ((1, (1, 1, 1)), (2, (0, 0, 0))))
    with pytest.raises(SceneError, match="^Box cannot hold its motion: its parent Carrier, .* scale of 0"):
        bake(box)
    assert not keyframes.holds(box)


def test_an_object_that_was_shrunk_to_nothing_during_the_bake_is_named():
    box = build.box("Box")
    box.scale = (0, 1, 1)
    with pytest.raises(SceneError, match="^Box: its scale is .0, 1, 1.: all three must differ from 0"):
        bake(box)


def test_a_strength_that_becomes_no_number_is_named_with_its_time():
    make()
    bpy.ops.object.effector_add(type="WIND")
    wind = bpy.context.object
    for frame, strength in ((1, 1.0), (3, math.nan)):
        wind.field.strength = strength
        wind.keyframe_insert("field.strength", frame=frame)
    problems, _ = baking.check(bpy.context)
    assert len(problems) == 1 and problems[0].startswith(f"{wind.name}: strength is nan at ")
