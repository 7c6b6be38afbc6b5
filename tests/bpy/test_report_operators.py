# SPDX-License-Identifier: GPL-3.0-or-later
"""From the report to frames, objects and files."""

import csv
import json
from types import SimpleNamespace

import bpy
import pytest
from axion.axion_blender import baking, last_bake, report, whole_files
from axion.axion_blender.ui import report_graph
from axion.solver import StepReport
from blend_scenes import add, box, joint


@pytest.fixture
def reported(empty_file):
    """Three objects and a report of five frames, the third and the fifth bad."""
    for name in ("Crate", "Floor", "Hinge"):
        add(name)
    reports = [StepReport(i, converged=i not in (3, 5), residual=1e-5, worst_bodies=["Floor"]) for i in range(1, 6)]
    reports[2].worst_bodies, reports[2].worst_joints, reports[2].residual = ["Crate", "Gone"], ["Hinge"], 1.0
    keep(empty_file, reports)
    return empty_file


def keep(scene, reports):
    trajectory = SimpleNamespace(reports=reports, broken_joints={})
    document = report.document(trajectory, scene.frame_start, 24.0, tolerance=1e-4)
    text = bpy.data.texts.new("Axion Report")
    text[last_bake.SUMMARY], text[last_bake.STAMP] = scene, "some"
    text.from_string(report.to_json(document))
    last_bake._read.clear()


def selected():
    return {item.name for item in bpy.context.view_layer.objects.selected}


def test_jump_goes_to_the_frame_and_selects_who_is_to_blame(reported, capfd):
    bpy.data.objects["Floor"].select_set(True)
    assert bpy.ops.axion.report_jump(frame=4) == {"FINISHED"}
    assert reported.frame_current == 4 and selected() == {"Crate", "Hinge"}
    assert bpy.context.view_layer.objects.active.name == "Crate"
    assert bpy.ops.axion.report_jump(frame=2) == {"FINISHED"}
    assert selected() == {"Floor"}
    assert bpy.ops.axion.report_jump(frame=77) == {"CANCELLED"}
    assert reported.frame_current == 2 and "no frame 77" in capfd.readouterr().out


def test_next_previous_and_worst(reported, capfd):
    reported.frame_set(1)
    for target, frame in (("NEXT", 4), ("NEXT", 6), ("PREVIOUS", 4), ("WORST", 4)):
        assert bpy.ops.axion.report_jump(target=target) == {"FINISHED"}
        assert reported.frame_current == frame
    assert bpy.ops.axion.report_jump(target="PREVIOUS") == {"CANCELLED"}
    assert "no previous frame that missed" in capfd.readouterr().out and reported.frame_current == 4


def test_select_guilty_tells_whom_it_cannot_select(reported, capfd):
    reported.frame_set(4)
    bpy.data.objects["Hinge"].hide_set(True)
    assert bpy.ops.axion.select_guilty() == {"FINISHED"}
    assert selected() == {"Crate"}
    out = capfd.readouterr().out
    assert "Gone, Hinge" in out
    reported.frame_set(1)  # the start has no report
    assert bpy.ops.axion.select_guilty() == {"CANCELLED"}
    assert selected() == {"Crate"}


def test_export(reported, tmp_path):
    for suffix in ("csv", "json", "png", "PNG"):
        assert bpy.ops.axion.export_report(filepath=str(tmp_path / f"report.{suffix}")) == {"FINISHED"}
    rows = list(csv.DictReader((tmp_path / "report.csv").open(newline="")))
    assert [row["blender_frame"] for row in rows] == ["2", "3", "4", "5", "6"]
    assert json.loads((tmp_path / "report.json").read_text())["summary"]["missed_frames"] == [4, 6]
    picture = bpy.data.images.load(str(tmp_path / "report.png"))
    assert tuple(picture.size) == (1200, 900)


def test_export_refuses_with_a_sentence(reported, tmp_path):
    with pytest.raises(RuntimeError, match="no file was named"):
        bpy.ops.axion.export_report(filepath="")
    with pytest.raises(RuntimeError, match="suffix is '.txt': give it .csv, .json or .png"):
        bpy.ops.axion.export_report(filepath=str(tmp_path / "report.txt"))
    with pytest.raises(RuntimeError, match="was not written"):
        bpy.ops.axion.export_report(filepath=str(tmp_path / "missing" / "report.csv"))
    assert not list(tmp_path.iterdir())
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(RuntimeError, match="what is there is no file: choose another place"):
        bpy.ops.axion.export_report(filepath=str(tmp_path / "folder.csv"))


def test_an_export_that_fails_leaves_the_old_file(reported, tmp_path, monkeypatch):
    path = tmp_path / "report.csv"
    path.write_text("the old one", encoding="utf-8")

    def fail(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(whole_files.os, "replace", fail)
    with pytest.raises(RuntimeError, match="No space left on device: choose another place"):
        bpy.ops.axion.export_report(filepath=str(path))
    assert path.read_text(encoding="utf-8") == "the old one" and list(tmp_path.iterdir()) == [path]


def test_without_a_report_nothing_can_be_asked(empty_file, tmp_path):
    for name in ("export_report", "report_jump", "select_guilty"):
        with pytest.raises(RuntimeError, match=r"bake first|poll\(\) failed"):
            getattr(bpy.ops.axion, name)()


def test_a_text_that_somebody_edited_is_no_report(reported):
    last_bake.text_of(reported).from_string("not JSON")
    last_bake._read.clear()
    assert last_bake.document(reported) is None
    assert not bpy.ops.axion.select_guilty.poll()


def test_a_bake_can_be_exported(empty_file, tmp_path):
    empty_file.frame_end = 4
    box("Box", (0.1, 0.1, 0.1), (0, 0, 1))
    assert bpy.ops.axion.bake() == {"FINISHED"}
    assert bpy.ops.axion.export_report(filepath=str(tmp_path / "report.json")) == {"FINISHED"}
    assert json.loads((tmp_path / "report.json").read_text())["tolerance"] == 1e-4
    assert report_graph._table(empty_file).tolerance == 1e-4


@pytest.mark.parametrize(("count", "lines"), [(3, 3), (12, 1)])
def test_many_joints_that_broke_are_one_line(empty_file, count, lines):
    """There was a line for each: four hundred filled the sidebar over the whole length of its scroll bar."""
    empty_file.frame_end, empty_file.axion.use_cache = 4, False
    anchor = box("Anchor", (0.1, 0.1, 0.1), (0, 0, 9), type="PASSIVE")
    for number in range(count):
        crate = box(f"Crate {number:02}", location=(2 * number, 0, 2))
        joint(f"J{number:02}", "FIXED", anchor, crate, crate.location, use_breaking=True, break_force=0.1)
    assert bpy.ops.axion.bake() == {"FINISHED"}
    told = [line for line in report.summary_lines(baking.last_summary(empty_file)) if "broke" in line]
    assert len(told) == lines and "J00" in told[0]
    if count == 12:
        assert told[0].startswith("12 joints broke, first J00 after 0.0") and "exported as .json" in told[0]
    assert len(last_bake.document(empty_file)["summary"]["broken_joints"]) == count
