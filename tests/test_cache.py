# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache of a bake: what is in it is not solved again, and what comes out has the bits of an uninterrupted bake."""

import dataclasses
import errno
import json
import os
import subprocess
import sys

import axion.solver
import numpy as np
import pytest
from axion.axion_blender.cache import Cache, CacheError, Place, cache_size, cached_solve, free_cache, inputs
from axion.axion_blender.cache.inputs import inputs_of
from axion.axion_blender.cache.lock import Lock
from axion.solver import Axis, FrameResult, Joint, Sphere, StepReport, made_of, simulate
from cached import CPU, OWNER, assert_same, bake, first_to_solve, small_files, table
from scenes import pile
from test_determinism import crowd


@pytest.fixture(autouse=True)
def three_frames_a_file(monkeypatch):
    small_files(monkeypatch)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_whole_bake_is_found_again_without_the_solver(tmp_path):
    folder = tmp_path / "caches" / "one"
    first = bake(folder, crowd(), 13)
    assert names(folder) == [
        *(f"{a:06d}-{b:06d}.frames" for a, b in ((1, 3), (4, 6), (7, 9), (10, 12), (13, 13))),
        *("head", "lock", "progress.json"),
    ]
    again = bake(folder, crowd(), 13, simulate=lambda *given, **named: pytest.fail("the solver ran"))
    assert first.solved == list(range(1, 14)) and again.solved == [] and again.found == first.solved
    assert again.said == ["all 13 frames are in the cache"] and again.warned == []
    assert first.trajectory.broken_joints
    assert_same(again.trajectory, first.trajectory)
    assert_same(again.trajectory, simulate(crowd(), 13, config=CPU))


@pytest.mark.parametrize("stop_at", [1, 3, 7])
def test_a_stopped_bake_goes_on_where_it_was(tmp_path, stop_at):
    stopped = bake(tmp_path, pile(3), 10, stop_at=stop_at)
    assert len(stopped.trajectory.reports) == stop_at
    resumed = bake(tmp_path, pile(3), 10, first=5)
    assert resumed.solved == list(range(stop_at + 1, 11)) and resumed.found == list(range(1, stop_at + 1))
    assert resumed.said == [f"resuming at frame {5 + stop_at + 1}"]
    assert_same(resumed.trajectory, simulate(pile(3), 10, config=CPU))


def test_recorded_forces_come_back(tmp_path):
    config = dataclasses.replace(CPU, record_forces=True)
    whole = simulate(crowd(), 8, config=config)
    bake(tmp_path, crowd(), 8, stop_at=4, config=config)
    for found in ([1, 2, 3, 4], [1, 2, 3, 4, 5, 6, 7, 8]):
        again = bake(tmp_path, crowd(), 8, config=config)
        assert again.found == found
        kept, wanted = again.trajectory.forces.tree(), whole.forces.tree()
        assert len(wanted["contact_gap"]) > 20 and kept.keys() == wanted.keys()
        assert all(np.array_equal(kept[name], wanted[name]) for name in wanted)


def test_more_frames_go_on_and_fewer_are_there(tmp_path):
    bake(tmp_path, pile(2), 6)
    assert bake(tmp_path, pile(2), 9).solved == [7, 8, 9]
    fewer = bake(tmp_path, pile(2), 5)
    assert fewer.solved == [] and len(fewer.trajectory.reports) == 5
    assert_same(fewer.trajectory, simulate(pile(2), 5, config=CPU))
    assert first_to_solve(tmp_path, pile(2), 9) == 10, "the bake of fewer frames has taken none away"


def test_no_resume_begins_at_the_first_frame(tmp_path):
    bake(tmp_path, pile(2), 4)
    anew = bake(tmp_path, pile(2), 4, resume=False)
    assert anew.solved == [1, 2, 3, 4] and anew.found == []
    assert first_to_solve(tmp_path, pile(2), 4) == 5


def heavier(scene):
    scene.bodies[1].mass = 2.0
    return scene


def test_other_inputs_begin_anew_and_take_the_cache_over(tmp_path):
    bake(tmp_path, pile(2), 4)
    assert first_to_solve(tmp_path, pile(2), 4, fps=25.0) == 1
    assert first_to_solve(tmp_path, pile(2), 4, config=dataclasses.replace(CPU, quality="preview")) == 1
    assert first_to_solve(tmp_path, heavier(pile(2)), 4) == 1
    assert first_to_solve(tmp_path, pile(2), 4) == 5, "asking has changed nothing"
    bake(tmp_path, heavier(pile(2)), 4)
    assert first_to_solve(tmp_path, pile(2), 4) == 1 and first_to_solve(tmp_path, heavier(pile(2)), 4) == 5


def test_every_input_counts():
    """Another value of any field of bodies, shapes and joints is another motion."""

    def scene(body=None, joint=None, axis=None, shape=None):
        made = pile(1)
        made.add(Joint("Hinge", "hinge", None, "Box 1", axes={"rz": Axis(**(axis or {}))}, **(joint or {})))
        if shape is not None:
            made.bodies[1].shapes = [shape]
        for name, value in (body or {}).items():
            setattr(made.bodies[1], name, value)
        return inputs_of(made, 24.0, CPU)

    assert pile(1).bodies[1].name == "Box 1"
    changes = [
        *({"body": {name: value}} for name, value in (("friction", 0.25), ("density", 2.0), ("mass", 1.0))),
        *({"body": {name: (0.0, 0.0, -0.0)}} for name in ("linear_velocity", "surface_velocity")),
        *({"body": {"collision_mask": 3}}, {"body": {"inertia": np.eye(3)}}, {"joint": {"compliance": 1e-6}}),
        *({"axis": {"lower": 0.0}}, {"axis": {"target": ((0.0, 1.0), (0.0, 0.0))}}, {"shape": Sphere(0.1)}),
    ]
    first = scene()
    assert first.same_until(scene()) == np.inf and first.digest == scene().digest
    assert all(first.same_until(scene(**change)) == -np.inf for change in changes)
    assert len({scene(**change).digest for change in changes}) == len(changes)


def test_what_the_cache_takes_no_checkpoint_refuses():
    # Both say how far a step looks ahead; the cache may use only public names of the solver.
    assert inputs.AHEAD == made_of.AHEAD and inputs.MARGIN > made_of.MARGIN


def test_animation_that_changed_from_a_frame_on_goes_back_before_it(tmp_path):
    # Samples at frames 0, 0.5, 1, ...: that of frame 8 is the first to differ, and a step looks two frames ahead.
    times = np.arange(25) / 48.0
    bake(tmp_path, table(times), 12)
    changed = table(times, lambda t: 0.1 * np.sin(5.0 * t) + 0.05 * (t > 7.75 / 24.0))
    second = bake(tmp_path, changed, 12)
    assert second.found == [1, 2, 3] and second.solved == [4, 5, 6, 7, 8, 9, 10, 11, 12]
    assert_same(second.trajectory, simulate(changed, 12, config=CPU))
    assert first_to_solve(tmp_path, changed, 12) == 13 and first_to_solve(tmp_path, table(times), 12) == 4


def test_the_first_sample_that_changed_decides(tmp_path):
    # One sample a frame.  When sample n differs, the way from n - 1 on does; a step looks two frames ahead, and time is
    # added up and may be a rounding error beyond n - 1 there, so what is used ends with frame n - 4 or before.
    times = np.arange(13) / 24.0
    bake(tmp_path, table(times), 12)
    for changed_at, first in ((0, 1), (1, 1), (4, 1), (6, 1), (7, 4), (9, 4), (10, 7), (12, 7)):
        changed = table(times, lambda t, n=changed_at: np.where(24.0 * t > n - 0.5, 0.2, 0.1 * np.sin(5.0 * t)))
        assert first_to_solve(tmp_path, changed, 12) == first


def test_a_drive_that_changed_late_goes_back_before_it(tmp_path):
    times = np.arange(13) / 24.0

    def swing(last):
        scene = pile(2)
        values = np.sin(times)
        values[9:] += last
        axis = Axis(drive="position", stiffness=100.0, damping=2.0, target=(times, values))
        scene.add(Joint("Motor", "hinge", None, "Box 1", scene.bodies[1].position, axes={"rz": axis}))
        return scene

    bake(tmp_path, swing(0.0), 12)
    second = bake(tmp_path, swing(0.5), 10)
    assert second.found == [1, 2, 3]
    assert_same(second.trajectory, simulate(swing(0.5), 10, config=CPU))


def test_a_longer_animation_goes_on_and_a_shorter_one_leaves_the_cache(tmp_path):
    bake(tmp_path, table(np.arange(10) / 24.0), 9)
    longer = bake(tmp_path, table(np.arange(13) / 24.0), 12)
    assert longer.found == [1, 2, 3, 4, 5, 6], "frame 9 was solved without the sample that follows"
    assert_same(longer.trajectory, simulate(table(np.arange(13) / 24.0), 12, config=CPU))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name != "progress.json"}
    shorter = bake(tmp_path, table(np.arange(6) / 24.0), 5)
    assert shorter.found == [], "frame 3 was solved with a sample beyond its last"
    assert_same(shorter.trajectory, simulate(table(np.arange(6) / 24.0), 5, config=CPU))
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name != "progress.json"}


def test_frames_of_a_solve_that_broke_down_are_kept(tmp_path):
    def break_down(result):
        if result.frame == 5:
            raise MemoryError("the device gave out")

    with pytest.raises(MemoryError):
        cached_solve(Place(tmp_path, OWNER), simulate, pile(2), 9, 24.0, CPU, break_down)
    progress = json.loads((tmp_path / "progress.json").read_bytes())
    assert progress["phase"] == "failed" and progress["error"] == "the device gave out"
    resumed = bake(tmp_path, pile(2), 9)
    assert resumed.found == [1, 2, 3, 4, 5]
    assert_same(resumed.trajectory, simulate(pile(2), 9, config=CPU))


def test_a_device_that_is_gone_is_no_fault_of_the_cache(tmp_path, monkeypatch):
    bake(tmp_path, pile(2), 3)
    monkeypatch.setattr("warp.is_cuda_available", lambda: False)
    cuda = dataclasses.replace(CPU, device="cuda")
    monkeypatch.setattr(
        "axion.axion_blender.cache.solve.inputs_of", lambda scene, fps, config: inputs_of(scene, fps, CPU)
    )
    with pytest.raises(ValueError, match="no CUDA device was found: choose"):
        bake(tmp_path, pile(2), 6, config=cuda)
    assert first_to_solve(tmp_path, pile(2), 6) == 4


def test_frames_that_cannot_be_gone_on_from_are_not_kept(tmp_path):
    def stranger(scene, frames, fps, config, on_frame):
        state = [np.zeros((len(scene.bodies), n)) for n in (3, 4, 3, 3)]
        for frame in range(1, frames + 1):
            on_frame(FrameResult(frame, frame / fps, *state, StepReport(frame)))
        return "trajectory"

    made = bake(tmp_path / "a" / "b", pile(2), 4, simulate=stranger)
    assert made.solved == [1, 2, 3, 4] and made.trajectory == "trajectory"
    assert names(tmp_path) == [], "no folder is left without frames"


def test_progress_is_whole_at_every_moment(tmp_path, monkeypatch):
    monkeypatch.setattr("axion.axion_blender.cache.progress.EVERY", 0.0)
    seen = []

    def look(result):
        seen.append(json.loads((tmp_path / "progress.json").read_bytes()))

    _, told = cached_solve(Place(tmp_path, OWNER), simulate, pile(2), 6, 24.0, CPU, look, first=101)
    assert [entry["frame"] for entry in seen] == [102, 103, 104, 105, 106, 107]
    assert [entry["frames_done"] for entry in seen] == [1, 2, 3, 4, 5, 6]
    assert {(entry["phase"], entry["frames"], entry["frame_end"], entry["scene"]) for entry in seen} == {
        ("solving", 6, 107, "Scene")
    }
    left = [entry["time_left"] for entry in seen]
    assert left[0] > 0.0 and left[-1] == 0.0
    worst = [entry["worst_residual"] for entry in seen]
    assert worst == sorted(worst) and worst[-1] > 0.0
    told.end("done")
    assert json.loads((tmp_path / "progress.json").read_bytes())["phase"] == "done"


def test_a_copy_begins_with_the_frames_of_the_cache_it_comes_from(tmp_path):
    bake(tmp_path / "one", pile(2), 6)
    solved = []
    place = Place(tmp_path / "two", {"blend": "copy.blend", "scene": "Scene"}, tmp_path / "one")
    cached_solve(place, simulate, pile(2), 8, 24.0, CPU, lambda result: solved.append(result.frame))
    assert solved == [7, 8] and first_to_solve(tmp_path / "one", pile(2), 6) == 7
    moved = Place(tmp_path / "three", OWNER, tmp_path / "two", moves=True)
    cached_solve(moved, simulate, pile(2), 8, 24.0, CPU, lambda result: pytest.fail("solved again"))
    assert names(tmp_path) == ["one", "three"]


def test_freeing_leaves_what_is_not_of_the_cache(tmp_path):
    bake(tmp_path / "one", pile(2), 6)
    assert cache_size(tmp_path / "one") == sum(path.stat().st_size for path in (tmp_path / "one").iterdir())
    (tmp_path / "one" / "notes.txt").write_text("mine")
    size = cache_size(tmp_path / "one")
    assert size > 1000 and free_cache(tmp_path / "one") == size
    assert names(tmp_path / "one") == ["notes.txt"]
    assert cache_size(tmp_path / "one") == 0 == free_cache(tmp_path / "none")


def test_a_folder_that_axion_did_not_make_stays(tmp_path):
    for parent, chosen, stays in (("mine", False, True), ("axion_cache", True, True), ("axion_cache", False, False)):
        folder = tmp_path / parent / "one"
        folder.parent.mkdir(exist_ok=True)
        with Cache(folder):
            pass
        assert folder.parent.is_dir() and not folder.exists(), "closing an empty cache"
        folder.mkdir()
        (folder / "head").write_bytes(b"old")
        assert free_cache(folder, chosen) > 0 and folder.parent.is_dir() == stays and not folder.exists()


def test_a_folder_that_goes_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    taken = []

    def lock(path):
        taken.append(path)
        if len(taken) == 1:
            path.parent.rmdir()
        return Lock(path)

    monkeypatch.setattr("axion.axion_blender.cache.store.Lock", lock)
    with Cache(tmp_path / "one"):
        assert names(tmp_path / "one") == ["lock"] and len(taken) == 2


@pytest.mark.parametrize("end", [lambda folder: Cache(folder).open().close(), free_cache], ids=("close", "free"))
def test_who_takes_the_lock_when_it_is_released_keeps_its_files(tmp_path, monkeypatch, end):
    release, folder = Lock.release, tmp_path / "one"
    folder.mkdir()

    def take(lock):
        release(lock)
        folder.mkdir(exist_ok=True)
        for name in ("head", "000001-000003.frames", "lock"):
            (folder / name).write_bytes(b"another's")

    monkeypatch.setattr("axion.axion_blender.cache.store.KEEPS_OPEN_FILES", True)
    monkeypatch.setattr(Lock, "release", take)
    end(folder)
    assert {"head", "000001-000003.frames"} <= set(names(folder))


def test_frames_of_another_device_are_told(tmp_path, monkeypatch):
    config = dataclasses.replace(CPU, device="auto", precision="auto")
    with monkeypatch.context() as patch:
        patch.setattr("warp.is_cuda_available", lambda: False)
        bake(tmp_path, pile(2), 3, config=config)
        assert bake(tmp_path, pile(2), 6, config=config).warned == []
        patch.setitem(vars(axion.solver), "resolve", lambda config: ("NVIDIA H100", "float32"))
        (warning,) = bake(tmp_path, pile(2), 9, config=config).warned
    assert "up to 7 were computed with device cpu, precision float64, the others with device NVIDIA H100" in warning


def test_a_cache_has_one_writer(tmp_path):
    bake(tmp_path, pile(2), 3)
    with Cache(tmp_path):
        for act in (lambda: bake(tmp_path, pile(2), 3), lambda: free_cache(tmp_path)):
            with pytest.raises(CacheError, match="Another bake .process .* is writing the cache"):
                act()
    assert first_to_solve(tmp_path, pile(2), 3) == 4
    other = f"import fcntl, os; fcntl.flock(os.open({str(tmp_path / 'lock')!r}, os.O_RDWR), fcntl.LOCK_EX); print(1)"
    if os.name != "nt":  # another process that dies gives the lock back
        subprocess.run([sys.executable, "-c", other], check=True)
        assert first_to_solve(tmp_path, pile(2), 3) == 4


def test_a_read_only_folder_gives_a_whole_bake_and_nothing_else(tmp_path, monkeypatch):
    first = bake(tmp_path, pile(2), 6)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def refuse(*given, **named):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("axion.axion_blender.cache.lock.os.open", refuse)
    monkeypatch.setattr("axion.axion_blender.cache.files.os.replace", refuse)
    for frames in (6, 4):
        again = bake(tmp_path, pile(2), frames, simulate=lambda *given, **named: pytest.fail("the solver ran"))
        assert again.found == list(range(1, frames + 1)) and again.said == [f"all {frames} frames are in the cache"]
        assert np.array_equal(again.trajectory.position, first.trajectory.position[: frames + 1])
    for scene, frames, more in ((pile(2), 7, {}), (pile(3), 6, {}), (pile(2), 6, {"resume": False})):
        with pytest.raises(CacheError, match="cannot be written, it is read-only"):
            bake(tmp_path, scene, frames, **more)
    monkeypatch.undo()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_file_system_without_locks_is_one_sentence(tmp_path, monkeypatch):
    def refuse(handle):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("axion.axion_blender.cache.lock._take", refuse)
    with pytest.raises(CacheError, match="has no locks .No locks available.: choose another Cache Folder"):
        bake(tmp_path, pile(2), 3)
