# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake says of itself: the worst is found, and the JSON can be read by anyone."""

import csv
import dataclasses
import io
import json
import math
from types import SimpleNamespace

from axion.axion_blender import report
from axion.solver import StepReport

REPORTS = [
    StepReport(1, penetration=1e-5, joint_error=2e-6, wall_time=0.25),
    StepReport(2, penetration=3e-4, joint_error=1e-6, wall_time=0.5, converged=False, worst_bodies=("Crate", "Floor")),
    StepReport(3, penetration=2e-5, joint_error=5e-6, wall_time=0.25, joint_error_angle=1e-3),
]
TORN = StepReport(
    4, converged=False, residual=0.2, velocity_residual=1e-3, worst_bodies=("Crate", "Door"),
    worst_joints=("Hinge", "Rod"), contradictory_joints=("Rod", "Hinge"),
)  # fmt: skip


def strict(text):
    """Parse JSON as the standard has it: NaN and Infinity are errors."""

    def refuse(token):
        raise ValueError(token)

    return json.loads(text, parse_constant=refuse)


def test_summary_is_the_worst_of_all_frames_with_blenders_frame_numbers():
    summary = report.summary(REPORTS, 10, {"Hinge": 0.1})
    assert (summary["worst_penetration"], summary["worst_penetration_frame"]) == (3e-4, 12)
    assert (summary["worst_joint_error"], summary["worst_joint_error_frame"]) == (5e-6, 13)
    assert summary["worst_joint_error_angle"] == 1e-3
    assert (summary["missed"], summary["missed_frames"]) == (1, [12])
    assert summary["worst_bodies"] == ["Crate", "Floor"]
    assert summary["wall_time"] == 1.0 and summary["frames"] == 3


def test_what_came_to_be_inside_each_other_later_was_not_placed_so():
    deep = {"overlap": 0.1, "overlapping_bodies": ["Shard", "Other"]}
    for number, told, cure in ((1, "were placed", "let them not collide"), (3, "came to be", "Substeps Per Frame")):
        reports = [StepReport(k, **(deep if k == number else {})) for k in (1, 2, 3)]
        text = "\n".join(report.summary_lines(report.summary(reports, 10)))
        assert f"but for bodies that {told} inside each other" in text and cure in text
        when = "at frame 10" if number == 1 else "between the frames 12 and 13"
        assert f"Shard and Other are inside each other {when}, 100.0000 mm deep" in text
    old = {name: value for name, value in report.summary(reports, 10).items() if name != "frame_start"}
    assert "were placed" in "\n".join(report.summary_lines(old))


def test_what_was_placed_inside_each_other_and_never_left_was_placed_so_whenever_it_is_worst():
    """It was told to take more substeps, though it was placed so; a pair that came to be in the meantime still is."""
    placed, later = ["Shard", "Other"], ["Crate", "Floor"]
    named = placed, [*reversed(placed)], [*placed, *later]
    reports = [StepReport(k + 1, overlap=0.1 + 1e-6 * k, overlapping_bodies=each) for k, each in enumerate(named)]
    text = "\n".join(report.summary_lines(report.summary(reports, 10)))
    assert "Shard and Other are inside each other from frame 10 on, 100.0020 mm deep: move them apart, or let" in text
    assert "Crate and Floor are inside each other between the frames 12 and 13, at most 100.0020 mm deep" in text
    reports[1] = StepReport(2)
    text = "\n".join(report.summary_lines(report.summary(reports, 10)))
    assert "Shard and Other are inside each other between the frames 12 and 13" in text


def test_a_nan_is_worse_than_any_number():
    reports = [StepReport(1, penetration=1.0), StepReport(2, penetration=math.nan), StepReport(3, penetration=2.0)]
    summary = report.summary(reports, 0)
    assert math.isnan(summary["worst_penetration"]) and summary["worst_penetration_frame"] == 2


def test_json_has_every_field_of_every_frame_and_no_bare_nan():
    reports = [*REPORTS, StepReport(4, gap_residual=math.inf, momentum_residual=math.nan, converged=False)]
    trajectory = SimpleNamespace(reports=reports, broken_joints={})
    document = strict(report.to_json(report.document(trajectory, 5, 24.0, scene="Scene")))
    names = {field.name for field in dataclasses.fields(StepReport)}
    assert all(names <= set(frame) for frame in document["frames"])
    assert [frame["blender_frame"] for frame in document["frames"]] == [6, 7, 8, 9]
    assert document["frames"][3]["gap_residual"] is None and document["frames"][3]["momentum_residual"] is None
    assert document["frames"][1]["worst_bodies"] == ["Crate", "Floor"]
    assert document["fps"] == 24.0 and document["scene"] == "Scene"


def test_lines_name_frames_millimetres_and_culprits():
    line = report.progress_line(REPORTS[1], 12, 13)
    assert line.startswith("frame 12/13") and "0.3000 mm" in line and "Crate" in line
    assert "missed" not in report.progress_line(REPORTS[0], 11, 13)
    text = "\n".join(report.summary_lines(report.summary(REPORTS, 10, {"Hinge": 0.1})))
    assert "1 frame missed the tolerance: 12 (worst: Crate, Floor)" in text and "Hinge broke" in text


def test_joints_to_blame_are_named():
    line = report.progress_line(TORN, 14, 14)
    assert "(worst: Crate, Door; joints Hinge, Rod)" in line
    assert line.endswith("Joints that contradict each other: Rod, Hinge")
    summary = report.summary([*REPORTS, TORN], 10)
    assert summary["contradictory_joints"] == ["Rod", "Hinge"] and summary["worst_joints"] == ["Hinge", "Rod"]
    assert summary["worst_bodies"] == ["Crate", "Floor", "Door"]
    assert (summary["worst_residual"], summary["worst_residual_frame"]) == (0.2, 14)
    assert summary["worst_velocity_residual"] == 1e-3
    assert "Joints that contradict each other: Rod, Hinge" in report.summary_lines(summary)
    many = StepReport(1, converged=False, contradictory_joints=tuple(f"J{i}" for i in range(11)))
    assert report.progress_line(many, 2, 2).endswith("J6, J7 and 3 more")
    alone = StepReport(1, converged=False, contradictory_joints=("Motor",))
    told = "Joint Motor contradicts its own drive or limits, or what its bodies touch"
    assert report.progress_line(alone, 2, 2).endswith(told)


def test_what_has_no_room_is_named_with_what_presses_on_it():
    crushed = StepReport(
        5, converged=False, worst_bodies=("Crate",), crushed_bodies=("Crate", "Ball"), crushing_bodies=("Press", "Wall")
    )
    said = "No room for Crate, Ball between Press, Wall: move these farther apart, or lower their friction"
    assert report.progress_line(crushed, 15, 15).endswith(said)
    summary = report.summary([*REPORTS, crushed], 10)
    assert said in report.summary_lines(summary)
    document = parsed([*REPORTS, crushed])
    assert report.is_document(document) and report.guilty(document["frames"][-1]) == (["Crate", "Ball"], [])
    del summary["crushed_bodies"], summary["crushing_bodies"]  # as an earlier version left it
    assert report.is_summary(summary) and said not in report.summary_lines(summary)


def test_the_summary_of_an_earlier_version_can_be_told():
    summary = report.summary([*REPORTS, TORN], 10)
    for name in ("worst_joints", "contradictory_joints", "worst_residual", "worst_velocity_residual"):
        del summary[name]
    assert any("2 frames missed" in line for line in report.summary_lines(summary))


def test_a_report_without_frames_is_a_report():
    summary = report.summary([], 1)
    assert summary["frames"] == 0 and summary["missed"] == 0
    assert strict(report.to_json(summary))


def parsed(reports=(*REPORTS, TORN)):
    trajectory = SimpleNamespace(reports=list(reports), broken_joints={})
    return strict(report.to_json(report.document(trajectory, 10, 24.0)))


def test_the_guilty_of_a_frame():
    document = parsed()
    assert report.guilty(report.of_frame(document, 12)) == (["Crate", "Floor"], [])
    assert report.guilty(report.of_frame(document, 14)) == (["Crate", "Door"], ["Hinge", "Rod"])
    assert report.of_frame(document, 10) is None


def test_bad_frames_in_a_row_that_blame_the_same_are_one_run():
    bad = [
        StepReport(i, converged=i in (1, 7), residual=1e-3 * i, worst_bodies=("A",) if i < 6 else ("B",))
        for i in range(1, 9)
    ]
    bad[3].residual = 1.0
    assert report.bad_runs(parsed(bad)) == [(12, 15, 14, ["A"]), (16, 16, 16, ["B"]), (18, 18, 18, ["B"])]
    assert report.bad_runs(parsed(REPORTS[:1])) == []


def test_csv_has_a_line_a_frame_and_a_column_a_field():
    rows = list(csv.DictReader(io.StringIO(report.to_csv(parsed()))))
    assert [row["blender_frame"] for row in rows] == ["11", "12", "13", "14"]
    assert set(rows[0]) == {"blender_frame", *(field.name for field in dataclasses.fields(StepReport))}
    assert float(rows[1]["penetration"]) == 3e-4 and rows[1]["converged"] == "False"
    assert rows[3]["worst_joints"] == "Hinge; Rod"
    assert report.to_csv(parsed([])).splitlines() == ["blender_frame,frame"]
