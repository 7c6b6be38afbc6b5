# SPDX-License-Identifier: GPL-3.0-or-later
"""axion_bake: exit status, one line of reason, and an output that is whole or not there.

The solver is replaced by free fall, except where the program runs as a process of its own, where it ends before it
solves anything.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import axion
import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import axion.solver  # noqa: E402
import native_scenes  # noqa: E402
from axion.axion_blender import cli, solving  # noqa: E402
from axion.solver import FrameResult, StepReport, Trajectory  # noqa: E402

TESTS = Path(__file__).resolve().parents[1]
wheel_only = pytest.mark.skipif(not bpy.app.module, reason="a process of its own needs the bpy wheel")
"""Blender's Python cannot import bpy outside Blender."""


def free_fall(scene, frames, fps, config, on_frame, converged=True, say=None):
    """Exact free fall from rest, and reports that hold an infinity."""
    start = np.array([body.position for body in scene.bodies], float)
    orientation = np.array([body.orientation for body in scene.bodies], float)
    times = np.arange(frames + 1) / fps
    position = start - (4.905 * times**2)[:, None, None] * [0, 0, 1]
    zero, reports = np.zeros_like(start), []
    for frame in range(1, frames + 1):
        reports.append(StepReport(frame, converged=converged, gap_residual=np.inf, worst_bodies=("Box",)))
        result = FrameResult(frame, times[frame], position[frame], orientation, zero, zero, reports[-1])
        if on_frame(result) is False:
            break
    n = len(reports) + 1
    still = np.zeros((n, *start.shape))
    turned = np.repeat(orientation[None], n, axis=0)
    names = [body.name for body in scene.bodies]
    return Trajectory(names, times[:n], position[:n], turned, still, still, reports, {"Hinge": 0.1})


@pytest.fixture
def solver(monkeypatch):
    """Puts a function in the place of the solver; free fall at first."""
    monkeypatch.setattr(solving, "start_warp", lambda folder: False)

    def use(function):
        monkeypatch.setitem(vars(axion.solver), "simulate", function)

    use(free_fall)
    return use


@pytest.fixture
def blend(tmp_path, solver):
    """A file with one box, 10 m up, and frames 1 to 13."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    axion.register()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 13, 24
    bpy.ops.mesh.primitive_cube_add(size=1, location=(0, 0, 10))
    bpy.context.object.name = "Box"
    bpy.ops.axion.add_bodies(type="ACTIVE")
    return save(tmp_path / "in.blend")


def save(path):
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    return path


def spoiled(path, change):
    """The open scene with ``change`` made to the box, saved at ``path``."""
    change(bpy.data.objects["Box"])
    return save(path)


def run(*arguments):
    return cli.main([str(argument) for argument in arguments])


def keys(path, name="Box"):
    """Keys of the Z location: {frame: value}."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    data = bpy.data.objects[name].animation_data
    if data is None or data.action is None:
        return {}
    bag = data.action.layers[0].strips[0].channelbag(data.action_slot)
    return {key.co[0]: key.co[1] for key in bag.fcurves.find("location", index=2).keyframe_points}


def test_baked_file_holds_keys_and_the_input_does_not(blend, tmp_path, capfd):
    out, before = tmp_path / "out.blend", blend.read_bytes()
    assert run(blend, "-o", out) == 0
    said = capfd.readouterr()
    assert [line.split()[1] for line in said.out.splitlines() if line.startswith("frame")] == [
        f"{frame}/13" for frame in range(2, 14)
    ]
    assert blend.read_bytes() == before
    found = keys(out)
    assert list(found) == list(range(1, 14))
    assert found[13] == pytest.approx(10 - 4.905 * 0.5**2, abs=1e-5)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.blend", "out.blend"]


def test_frames_quality_and_device_replace_the_scenes(blend, tmp_path, solver):
    seen = []

    def look(scene, frames, fps, config, on_frame, say=None):
        seen.append((frames, fps, config.device, config.quality))
        return free_fall(scene, frames, fps, config, on_frame)

    solver(look)
    out = tmp_path / "out.blend"
    assert run(blend, "-o", out, "--frames", 5, 9, "--device", "cpu", "--quality", "preview", "--no-resume") == 0
    assert seen == [(4, 24.0, "cpu", "preview")]
    assert list(keys(out)) == [5, 6, 7, 8, 9]
    assert not bpy.context.scene.axion.use_frame_range, "the setup in the file stays as it was"


def test_report_is_json_that_every_reader_accepts(blend, tmp_path):
    report = tmp_path / "report.json"
    assert run(blend, "-o", tmp_path / "out.blend", "--report", report) == 0

    def refuse(token):
        raise ValueError(token)

    document = json.loads(report.read_text(encoding="utf-8"), parse_constant=refuse)
    assert len(document["frames"]) == 12 and document["frames"][0]["gap_residual"] is None
    assert document["summary"]["missed"] == 0 and document["fps"] == 24.0
    assert document["version"] and document["scene"] == "Scene"
    assert document["summary"]["broken_joints"] == {"Hinge": 0.1}


@pytest.mark.parametrize("name", ("report.xyz", "report"))
def test_a_report_of_an_unknown_kind_is_wrong_usage(blend, tmp_path, capsys, name):
    assert run(blend, "-o", tmp_path / "out.blend", "--report", tmp_path / name) == 2
    said = f"--report {(tmp_path / name).resolve()}: its ending says what is written: give it .csv, .json or .png"
    assert said in capsys.readouterr().err
    assert not (tmp_path / name).exists() and not (tmp_path / "out.blend").exists()


def test_scenes_that_are_not_baked_are_named(blend, tmp_path, capsys):
    body, empty, linked, other = bpy.context.object, *(bpy.data.scenes.new(name) for name in ("Bare", "Same", "Other"))
    linked.collection.objects.link(body)
    other.collection.objects.link(body.copy())
    assert not empty.objects
    save(blend)
    assert run(blend, "-o", tmp_path / "out.blend") == 0
    (told,) = [line for line in capsys.readouterr().out.splitlines() if "is not baked" in line]
    assert told.startswith("Warning: Other has bodies, too, and is not baked: the command bakes Scene, the scene that ")


@pytest.mark.parametrize(("suffix", "begin"), [("csv", b"blender_frame,"), ("png", b"\x89PNG")])
def test_report_as_a_table_and_as_graphs(blend, tmp_path, suffix, begin):
    report = tmp_path / f"report.{suffix}"
    assert run(blend, "-o", tmp_path / "out.blend", "--report", report) == 0
    assert report.read_bytes().startswith(begin)


def test_strict_is_3_where_frames_missed_and_the_bake_is_kept(blend, tmp_path, solver):
    solver(lambda *given, **named: free_fall(*given, **named, converged=False))
    assert run(blend, "-o", tmp_path / "a.blend") == 0
    assert run(blend, "-o", tmp_path / "b.blend", "--strict") == 3
    assert len(keys(tmp_path / "b.blend")) == 13


def test_the_output_may_be_the_input(blend):
    assert run(blend, "-o", blend) == 0
    assert len(keys(blend)) == 13


BAD = {
    "mass": lambda box: setattr(box.axion, "mass", -1.0),
    "nan mass": lambda box: setattr(box.axion, "mass", float("nan")),
    "flat": lambda box: setattr(box, "scale", (1, 1, 0)),
    "no mesh": lambda box: box.data.clear_geometry(),
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_a_scene_that_cannot_be_baked_is_1_and_one_line_with_its_name(blend, tmp_path, capfd, change):
    bad, out, report = spoiled(tmp_path / "bad.blend", change), tmp_path / "out.blend", tmp_path / "r.json"
    assert run(bad, "-o", out, "--report", report) == 1
    lines = capfd.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and "Box" in lines[0], lines
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.blend", "in.blend"]


def test_a_scene_without_bodies_is_1(blend, tmp_path, capfd):
    bad = spoiled(tmp_path / "bad.blend", lambda box: setattr(box.axion, "enabled", False))
    assert run(bad, "-o", tmp_path / "out.blend") == 1
    assert "bod" in capfd.readouterr().err.lower()
    assert not (tmp_path / "out.blend").exists()


@pytest.mark.parametrize("length", (249, 300, 5000))
def test_names_that_are_too_long_are_told_with_the_cure(blend, tmp_path, capfd, length):
    long = tmp_path / ("m" * length + ".blend")
    for arguments in ((blend, "-o", long), (blend, "-o", tmp_path / "out.blend", "--report", long), (long, "-o", long)):
        assert run(*arguments) == 1
        said = capfd.readouterr().err
        assert len(said.strip().splitlines()) == 1 and "Errno" not in said
        if arguments[0] == blend or length > 249:
            assert "too long" in said and said.strip().endswith("choose another folder or name")


@pytest.mark.parametrize("error", (RuntimeError("device lost"), MemoryError(), KeyError("a bug")))
def test_a_breakdown_is_one_line_without_traceback_and_no_output(blend, tmp_path, solver, capfd, error):
    def break_down(*given, **named):
        raise error

    solver(break_down)
    assert run(blend, "-o", tmp_path / "out.blend") == 1
    said = capfd.readouterr()
    assert len(said.err.strip().splitlines()) == 1 and "Traceback" not in said.out + said.err
    assert not (tmp_path / "out.blend").exists()


def test_ctrl_c_is_130_after_the_frame_at_hand_and_the_handler_is_put_back(blend, tmp_path, solver, capfd):
    def interrupted(scene, frames, fps, config, on_frame, say=None):
        def stop_at_3(result):
            if result.frame == 3:
                signal.raise_signal(signal.SIGINT)
            return on_frame(result)

        return free_fall(scene, frames, fps, config, stop_at_3)

    solver(interrupted)
    before = signal.getsignal(signal.SIGINT)
    assert run(blend, "-o", tmp_path / "out.blend") == 130
    assert signal.getsignal(signal.SIGINT) is before
    said = capfd.readouterr()
    assert "frame 4/13" in said.out and "frame 5/13" not in said.out
    assert len(said.err.strip().splitlines()) == 1
    assert not (tmp_path / "out.blend").exists()


def test_ctrl_c_while_blender_starts_is_not_lost(blend, tmp_path, solver, capfd, monkeypatch):
    solver(lambda *given, **named: pytest.fail("the solver ran"))

    def start():  # as bpy does, which swallows what is raised while it is imported
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(axion.axion_blender, "register", start)
    before = signal.getsignal(signal.SIGINT)
    assert run(blend, "-o", tmp_path / "out.blend") == 130
    assert signal.getsignal(signal.SIGINT) is before
    assert "stopped, nothing was written" in capfd.readouterr().err
    assert not (tmp_path / "out.blend").exists()


def test_ctrl_c_while_files_are_written_leaves_both_or_none(blend, tmp_path, monkeypatch):
    made = cli.whole_files.write

    def write(path, make, keep=True):
        made(path, make, keep)
        if keep:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(cli.whole_files, "write", write)
    assert run(blend, "-o", tmp_path / "out.blend", "--report", tmp_path / "report.json") == 0
    assert (tmp_path / "out.blend").is_file() and (tmp_path / "report.json").is_file()


def test_an_output_that_cannot_be_written_is_told_before_anything_is_solved(blend, tmp_path, solver, capfd):
    def never(*given, **named):
        pytest.fail("the solver ran")

    solver(never)
    assert run(blend, "-o", tmp_path / "nowhere" / "out.blend") == 1
    assert "nowhere" in capfd.readouterr().err


def program(*arguments):
    """``axion-bake`` as a process."""
    script = f"import sys; sys.path.insert(0, {str(TESTS)!r}); import conftest\n"
    script += "from axion.axion_blender.cli import main_wheel; main_wheel()"
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env={**os.environ})


@wheel_only
@pytest.mark.parametrize("content", (None, b"this is not a .blend", b"BLENDER-v500" + bytes(100)))
def test_a_missing_or_broken_file_is_1_and_one_line_that_names_it(tmp_path, content):
    path, out = tmp_path / "broken.blend", tmp_path / "out.blend"
    if content is not None:
        path.write_bytes(content)
    done = program(path, "-o", out)
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if "axion-bake" in line]
    assert len(lines) == 1 and "broken.blend" in lines[0]
    assert "Traceback" not in done.stdout + done.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    "arguments",
    (
        (),
        ("in.blend",),
        ("in.blend", "-o", "o.blend", "--frames", "9", "9"),
        ("in.blend", "-o", "o.blend", "--quality", "superb"),
        ("in.blend", "-o", "o.blend", "--device", "abacus"),
    ),
)
def test_wrong_usage_is_2(arguments, capsys):
    assert cli.main(list(arguments)) == 2
    assert "usage: axion_bake" in capsys.readouterr().err


def test_a_name_that_is_no_blender_files_is_wrong_usage(blend, tmp_path, capsys):
    (tmp_path / "out.png").write_bytes(b"a picture")
    assert run(blend, "-o", tmp_path / "out.png") == 2
    said = capsys.readouterr().err.strip()
    assert "out.png" in said and ".blend" in said and len(said.splitlines()) == 1
    assert (tmp_path / "out.png").read_bytes() == b"a picture"


def test_rigid_bodies_of_blenders_own_are_pointed_to_the_option(tmp_path, solver, capsys):
    bpy.ops.wm.read_homefile(use_empty=True)
    native_scenes.body("Box", location=(0, 0, 3))
    blend = save(tmp_path / "in.blend")
    assert run(blend, "-o", tmp_path / "out.blend") == 1
    assert "--convert-native" in capsys.readouterr().err
    assert run(blend, "-o", tmp_path / "out.blend", "--convert-native") == 0


def test_help_is_0_and_names_every_option(capsys):
    assert cli.main(["--help"]) == 0
    said = capsys.readouterr().out
    for option in ("--frames", "--device", "--quality", "--report", "--convert-native", "--no-resume", "--strict"):
        assert option in said
