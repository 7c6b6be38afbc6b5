# SPDX-License-Identifier: GPL-3.0-or-later
"""States within frames are those of a simulation at so many times the frame rate; reports stay one a frame."""

import dataclasses

import cached
import numpy as np
import pytest
from axion.solver import Body, Box, Plane, Scene, SceneError, SolverConfig, Sphere, Trajectory, simulate

PARTS = 4
FINE = SolverConfig(device="cpu", states_per_frame=PARTS)
WORST = ("penetration", "gap_residual", "joint_error", "friction_residual", "momentum_residual", "residual")


def bounce():
    """A ball and a tumbling box that hit the ground within a frame."""
    scene = Scene()
    scene.add(Body("Ground", [Plane()], motion="static"))
    scene.add(Body("Ball", [Sphere(0.1)], position=(0, 0, 0.4), linear_velocity=(1, 0, -3), restitution=0.8))
    turn = {"angular_velocity": (3, 5, 1), "linear_velocity": (0, 1, -2)}
    scene.add(Body("Box", [Box((0.1, 0.2, 0.15))], position=(1, 0, 0.5), **turn))
    return scene


def test_they_are_the_states_of_so_many_times_the_frame_rate():
    frames = 10
    found = simulate(bounce(), frames, fps=24.0, config=FINE)
    fast = simulate(bounce(), frames * PARTS, fps=24.0 * PARTS, config=SolverConfig(device="cpu"))
    # The steps are the same ones, solve by solve, so the bits are.
    position, orientation = found.every_state()
    assert np.array_equal(position, fast.position) and np.array_equal(orientation, fast.orientation)
    assert np.array_equal(found.position, fast.position[::PARTS]), "a frame's own state is that of its end"
    assert np.array_equal(found.linear_velocity, fast.linear_velocity[::PARTS])
    assert found.states_per_frame == PARTS and len(found.reports) == frames and len(found.times) == frames + 1
    for number, report in enumerate(found.reports):
        parts = fast.reports[PARTS * number : PARTS * (number + 1)]
        assert report.substeps == sum(part.substeps for part in parts) >= PARTS
        assert report.frame == number + 1 and report.converged == all(part.converged for part in parts)
        for name in WORST:
            assert getattr(report, name) == max(getattr(part, name) for part in parts), name


def test_by_default_there_are_none():
    found = simulate(bounce(), 2, config=SolverConfig(device="cpu"))
    assert found.states_per_frame == 1 and found.between_position is None
    assert found.every_state()[0] is found.position


@pytest.mark.parametrize(("substeps", "taken"), [(1, 4), (4, 4), (5, 8)])
def test_a_number_of_steps_is_rounded_up_to_a_multiple(substeps, taken):
    config = dataclasses.replace(FINE, substeps=substeps)
    found = simulate(bounce(), 2, config=config)
    assert [report.substeps for report in found.reports] == [taken, taken]
    assert found.between_position.shape == (2, PARTS - 1, 3, 3)


def test_they_come_back_from_a_file_and_files_that_do_not_fit_are_refused(tmp_path):
    found = simulate(bounce(), 3, config=FINE)
    found.save(tmp_path / "motion.npz")
    kept = Trajectory.load(tmp_path / "motion.npz")
    for own, other in zip(kept.every_state(), found.every_state(), strict=True):
        assert np.array_equal(own, other)
    broken = dataclasses.replace(found, between_orientation=found.between_orientation[:, 1:])
    broken._shapes = found._shapes  # so that it can be written at all
    broken.save(tmp_path / "broken.npz")
    with pytest.raises(SceneError, match="between_orientation has shape"):
        Trajectory.load(tmp_path / "broken.npz")


def test_a_stopped_bake_goes_on_with_the_same_bits(tmp_path, monkeypatch):
    cached.small_files(monkeypatch)
    whole = cached.bake(tmp_path / "whole", bounce(), 8, config=FINE)
    cached.bake(tmp_path / "cut", bounce(), 8, config=FINE, stop_at=4)
    gone_on = cached.bake(tmp_path / "cut", bounce(), 8, config=FINE)
    assert gone_on.found == [1, 2, 3, 4] and gone_on.solved == [5, 6, 7, 8]
    again = cached.bake(tmp_path / "cut", bounce(), 8, config=FINE)
    assert again.solved == []
    for bake in (gone_on, again):
        cached.assert_same(bake.trajectory, whole.trajectory)
        assert np.array_equal(bake.trajectory.between_position, whole.trajectory.between_position)
        assert np.array_equal(bake.trajectory.between_orientation, whole.trajectory.between_orientation)


def test_another_number_of_states_is_another_bake(tmp_path):
    cached.bake(tmp_path, bounce(), 3, config=FINE)
    assert cached.first_to_solve(tmp_path, bounce(), 3, config=dataclasses.replace(FINE, states_per_frame=2)) == 1
    assert cached.first_to_solve(tmp_path, bounce(), 3, config=FINE) == 4
