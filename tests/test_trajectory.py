# SPDX-License-Identifier: GPL-3.0-or-later
"""Trajectory: what is saved comes back, and foreign files are refused."""

import dataclasses

import numpy as np
import pytest
import scenes
from axion.solver import FrameResult, SceneError, StepReport, Trajectory, archive


def some(frames=3):
    random = np.random.default_rng(0)
    names = ["Ground", "Wörfel", "array"]
    vectors = [random.normal(size=(frames + 1, 3, 3)) for _ in range(3)]
    orientation = random.normal(size=(frames + 1, 3, 4))
    reports = [
        StepReport(
            i + 1, i != 1, 1e-6 * i, contacts=4 * i, wall_time=0.25, worst_bodies=tuple(names[:i]), residual=2e-6 * i
        )
        for i in range(frames)
    ]
    times = np.arange(frames + 1) / 24.0
    return Trajectory(names, times, vectors[0], orientation, *vectors[1:], reports, {"Hinge": 0.125, "dict": 1.0})


@pytest.mark.parametrize("frames", [0, 1, 3])
def test_everything_comes_back_bit_for_bit(tmp_path, frames):
    trajectory = some(frames)
    trajectory.save(tmp_path / "bake.npz")
    loaded = Trajectory.load(tmp_path / "bake.npz")
    for name in ("times", "position", "orientation", "linear_velocity", "angular_velocity"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(trajectory, name))
    assert loaded.reports == trajectory.reports
    assert (loaded.names, loaded.broken_joints) == (trajectory.names, trajectory.broken_joints)
    # Plain Python types, so that reports can be printed and written as JSON.
    for report in loaded.reports:
        assert [type(v) for v in dataclasses.astuple(report)] == [type(v) for v in dataclasses.astuple(StepReport(1))]


def test_reports_are_columns_of_numbers(tmp_path):
    some().save(tmp_path / "bake.npz")
    with np.load(tmp_path / "bake.npz", allow_pickle=False) as stored:
        assert all(stored[name].dtype.kind in "biuf" for name in stored.files)


def test_the_report_holds_what_is_promised():
    names = [field.name for field in dataclasses.fields(StepReport)]
    assert names == [
        "frame",
        "converged",
        "penetration",
        "gap_residual",
        "joint_error",
        "joint_error_angle",
        "friction_residual",
        "momentum_residual",
        "newton_iterations",
        "linear_iterations",
        "substeps",
        "contacts",
        "kinetic_energy",
        "potential_energy",
        "wall_time",
        "worst_bodies",
        "residual",
        "velocity_residual",
        "worst_joints",
        "contradictory_joints",
        "overlap",
        "overlapping_bodies",
        "crushed_bodies",
        "crushing_bodies",
    ]
    assert [field.name for field in dataclasses.fields(FrameResult)] == [
        "frame",
        "time",
        "position",
        "orientation",
        "linear_velocity",
        "angular_velocity",
        "report",
        "forces",
        "between_position",
        "between_orientation",
    ]


def test_files_from_before_a_field_was_added_are_read(tmp_path):
    trajectory = some()
    trajectory.save(tmp_path / "new.npz")
    tree = archive.read(tmp_path / "new.npz", "trajectory", Trajectory.VERSION, dict)
    for name in ("residual", "velocity_residual", "worst_joints", "contradictory_joints", "crushed_bodies"):
        del tree["reports"][name]
    archive.write(tmp_path / "old.npz", "trajectory", Trajectory.VERSION, tree)
    old = Trajectory.load(tmp_path / "old.npz").reports
    assert [r.residual for r in old] == [0.0, 0.0, 0.0]
    assert [r.worst_bodies for r in old] == [r.worst_bodies for r in trajectory.reports]


def test_a_file_of_another_kind_is_named(tmp_path):
    scenes.falling().save(tmp_path / "scene.npz")
    with pytest.raises(SceneError, match="holds an Axion scene"):
        Trajectory.load(tmp_path / "scene.npz")
    (tmp_path / "bake.npz").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(SceneError, match="bake.npz is damaged"):
        Trajectory.load(tmp_path / "bake.npz")


def test_arrays_that_do_not_fit_together_are_refused(tmp_path):
    trajectory = some()
    trajectory.position = trajectory.position[:-1]
    trajectory.save(tmp_path / "bake.npz")
    with pytest.raises(SceneError, match="position has shape"):
        Trajectory.load(tmp_path / "bake.npz")


def test_bodies_are_found_by_name():
    assert some().index("Wörfel") == 1
    with pytest.raises(KeyError, match="Kugel"):
        some().index("Kugel")


def test_a_broken_off_save_leaves_the_old_file(tmp_path):
    some().save(tmp_path / "bake.npz")
    before = (tmp_path / "bake.npz").read_bytes()
    bad = some()
    bad.broken_joints = {"Hinge": object()}
    with pytest.raises(SceneError, match="cannot be stored"):
        bad.save(tmp_path / "bake.npz")
    assert (tmp_path / "bake.npz").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["bake.npz"]


def test_what_is_there_and_no_file_is_not_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileExistsError, match="is no file"):
        Trajectory([], [0], [[]], [[]], [[]], [[]], [], {}).save(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
