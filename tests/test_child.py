# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving in another process: the same bits, a stop, errors by their own name, and one clear sentence on a death."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from axion.axion_blender import child
from axion.axion_blender.cache import Place
from axion.solver import Body, Plane, Scene, SceneError, SolverConfig, Sphere, simulate

CPU = SolverConfig(device="cpu")


def ball(**settings):
    scene = Scene()
    scene.add(Body("Ground", [Plane()], motion="static"))
    scene.add(Body("Ball", [Sphere(0.1)], position=(0, 0, 0.15), restitution=0.5, **settings))
    return scene


def test_another_process_gives_the_same_bits_as_they_are_solved():
    here, there = [], []
    expected = simulate(ball(), 8, 24.0, CPU, here.append)
    found = child.solve(ball(), 8, 24.0, CPU, there.append)
    assert found.names == expected.names and len(there) == 8
    for name in ("times", "position", "orientation", "linear_velocity", "angular_velocity"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    for mine, theirs in zip(there, here, strict=True):
        assert mine.frame == theirs.frame and mine.time == theirs.time
        assert np.array_equal(mine.position, theirs.position)
        assert np.array_equal(mine.angular_velocity, theirs.angular_velocity)
        assert mine.report.residual == theirs.report.residual and mine.report.contacts == theirs.report.contacts


def test_stops_after_the_frame_at_hand():
    seen = []

    def on_frame(result):
        seen.append(result.frame)
        return result.frame < 3

    found = child.solve(ball(), 100_000, 24.0, CPU, on_frame)
    assert seen == [1, 2, 3]
    assert 3 <= len(found.reports) < 100_000, "the child may have been ahead"


def test_what_was_stopped_goes_on_from_its_cache(tmp_path):
    place, found, said = Place(tmp_path / "cache", {"blend": "", "scene": "Scene"}), [], []
    child.solve(ball(), 12, 24.0, CPU, lambda result: result.frame < 5, place=place)
    resumed = child.solve(
        ball(), 12, 24.0, CPU, lambda result: None, place=place, say=said.append, on_found=found.extend, first=101
    )
    expected = simulate(ball(), 12, 24.0, CPU)
    assert [result.frame for result in found] == list(range(1, len(found) + 1)) and 5 <= len(found) < 12
    assert f"resuming at frame {101 + len(found) + 1}" in said
    assert np.array_equal(resumed.position, expected.position)
    assert np.array_equal(resumed.angular_velocity, expected.angular_velocity)
    assert np.array_equal(found[2].position, expected.position[3])


def test_a_child_whose_parent_takes_its_time_ends_in_order(monkeypatch):
    codes, end = [], child._end

    def late(process):
        codes.append(process.wait(timeout=60.0))
        end(process)

    monkeypatch.setattr(child, "_end", late)
    child.solve(ball(), 1, 24.0, CPU, lambda result: None)
    assert codes == [0]


def test_an_error_keeps_its_kind_and_its_problems():
    with pytest.raises(SceneError, match="Ball") as caught:
        child.solve(ball(mass=-1.0), 2, 24.0, CPU, lambda result: None)
    assert [problem.object_name for problem in caught.value.problems] == ["Ball"]


def test_a_death_is_told_in_one_sentence():
    ends = []
    with pytest.raises(RuntimeError, match=r"^The process that solved the bake died after frame 2 \(.+\)") as caught:
        child.solve(ball(), 100_000, 24.0, CPU, lambda r: ends[0]() if r.frame == 2 else None, started=ends.append)
    assert "\n" not in str(caught.value)
    if os.name == "posix":
        assert "(signal SIGKILL); bake again, with other programs closed if memory ran out, on" in str(caught.value)


def test_a_stop_that_meets_a_dead_child_is_told_as_its_death(monkeypatch):
    processes, start = [], child._start

    def keep(*given):
        processes.append(start(*given))
        return processes[0]

    def kill(result):
        processes[0].kill()
        processes[0].wait()
        return False

    monkeypatch.setattr(child, "_start", keep)
    with pytest.raises(RuntimeError, match=r"^The process that solved the bake died after frame \d+ "):
        child.solve(ball(), 100_000, 24.0, CPU, kill)
    assert processes[0].stdin.closed and processes[0].stdout.closed


def test_a_child_that_cannot_start_is_told_with_its_last_words(monkeypatch, tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit('no such thing')\n", encoding="utf-8")
    monkeypatch.setattr(child, "__file__", str(broken))
    with pytest.raises(RuntimeError, match=r"before the first frame \(exit status 1\).*no such thing"):
        child.solve(ball(), 2, 24.0, CPU, lambda result: None)


@pytest.mark.parametrize("program", ("", "/opt/blender", "/no/such/folder/python3"))
def test_no_python_to_start_is_told_with_the_cure(monkeypatch, program):
    monkeypatch.setattr(child.sys, "executable", program)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RuntimeError, match=r"cannot be started .+ set Solve In to Blender"):
        child.solve(ball(), 2, 24.0, CPU, lambda result: None)


@pytest.fixture
def started(monkeypatch):
    """The processes that were started."""
    found, start = [], child._start

    def spy(*given):
        found.append(start(*given))
        return found[-1]

    monkeypatch.setattr(child, "_start", spy)
    return found


def test_the_process_ends_in_order_and_does_not_abort(started, monkeypatch):
    monkeypatch.setattr(child, "FAREWELL", 60.0)  # a busy machine may take its time
    child.solve(ball(), 2, 24.0, CPU, lambda result: None)
    child.solve(ball(), 100_000, 24.0, CPU, lambda result: result.frame < 2)
    assert [process.returncode for process in started] == [0, 0]


@pytest.mark.parametrize("work", ("time.sleep(100)", "stop.wait()"))
def test_a_child_without_a_parent_ends_and_leaves_nothing(tmp_path, work):
    """Blender was killed: whether the frame at hand takes for ever or ends in time."""
    folder = tmp_path / "axion-bake"
    folder.mkdir()
    (folder / child.LOG).write_text("")
    program = f"""
import sys, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
import conftest
from axion.axion_blender import child
child.GRACE = 0.3
def work(folder, out, stop):
    {work}
child._solve = work
child.main({str(folder)!r})
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.close()
    process.stdout.close()
    process.wait(timeout=60.0)
    assert not folder.exists()


def test_what_starts_with_python_may_print(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text('print("welcome to the studio")\nprint(7)\nprint([])')
    monkeypatch.syspath_prepend(tmp_path)
    assert len(child.solve(ball(), 2, 24.0, CPU, lambda result: None).reports) == 2


def test_a_python_that_only_prints_is_told(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text('import os\nprint("no", flush=True)\nos._exit(3)')
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RuntimeError, match="died before the first frame .exit status 3"):
        child.solve(ball(), 2, 24.0, CPU, lambda result: None)


def test_a_warning_of_warp_is_no_cause_of_death(monkeypatch, tmp_path):
    dying = tmp_path / "dying.py"
    say = "import os, sys\nprint({!r}, file=sys.stderr, flush=True)\nos.abort()\n"
    monkeypatch.setattr(child, "__file__", str(dying))
    warning = "Warp CUDA warning: Could not find or load the NVIDIA CUDA driver."
    for text, told in ((warning, r"\)"), (f"out of luck\n{warning}\n", r'\): "out of luck"')):
        dying.write_text(say.format(text), encoding="utf-8")
        with pytest.raises(RuntimeError, match=rf"died before the first frame \(.*{told}; bake again"):
            child.solve(ball(), 2, 24.0, CPU, lambda result: None)
