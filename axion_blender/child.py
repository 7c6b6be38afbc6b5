# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving in a process of its own: Blender outlives a crash of the driver or the device, and never waits for Python.

``solve`` has the signature of solver.simulate.  It starts this very file by ``sys.executable`` on a folder with the
scene, and hands on the frames as they arrive.  No bpy, and no pickle: a line of JSON says what follows.

    parent -> child, on its stdin:  the end of the file, or "stop": end after the frame at hand
    child -> parent, on its stdout: {"kind": "said", "text"}, {"kind": "warned", "text"}
                                    {"kind": "found", "count"}: so many frames come from the cache
                                    {"kind": "frame", "frame", "time", "bodies", "report"}, then float64 arrays
                                    {"kind": "done"}: the trajectory lies in the folder
                                    {"kind": "error", "type", "text", "problems"}
"""

import contextlib
import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

SCENE, SETTINGS, TRAJECTORY, LOG = "scene.npz", "settings.json", "trajectory.npz", "log.txt"
WARNING = re.compile(r"Warp (\w+ )?warning|\s*$|.*Warning: ", re.IGNORECASE)
"""Lines of the log that tell no cause of death: without a graphics card Warp begins with one."""
NICE = 5
"""By how much the child steps back behind programs that somebody waits for."""
FAREWELL = 5.0
"""Seconds that a child has to end when its work is done."""
GRACE = 10.0
"""Seconds that a child without a parent has to end in order, its last frames in the cache."""
STATE = (("position", 3), ("orientation", 4), ("linear_velocity", 3), ("angular_velocity", 3))
"""Arrays of a frame, in order, and their columns."""


def solve(
    scene, frames, fps, config, on_frame, *,
    kernels=None, place=None, resume=True, first=1, say=None, warn=None, on_found=None, started=None,
):  # fmt: skip
    """``solving.solve`` in another process; arguments, return value and errors are the same.

    started: called with a function that ends the process at once.  Raises RuntimeError, one sentence, where the process
    dies.
    """
    with tempfile.TemporaryDirectory(prefix="axion-bake-") as name:
        folder = Path(name)
        scene.save(folder / SCENE)
        settings = {
            "frames": frames,
            "fps": fps,
            "config": dataclasses.asdict(config),
            "kernels": _text(kernels),
            "place": place and {**dataclasses.asdict(place), "folder": str(place.folder), "seed": _text(place.seed)},
            "resume": resume,
            "first": first,
        }
        (folder / SETTINGS).write_text(json.dumps(settings), encoding="utf-8")
        with (folder / LOG).open("wb") as log:
            process = _start(folder, log)
            if started is not None:
                started(process.kill)
            try:
                return _Listener(process, folder, on_frame, {"said": say, "warned": warn}, on_found).listen()
            finally:
                _end(process)


def _text(path):
    return None if path is None else str(path)


def _start(folder, log):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(os.path.isdir, sys.path))}
    hidden = {}
    if sys.platform == "win32":
        hidden["creationflags"] = subprocess.CREATE_NO_WINDOW | subprocess.BELOW_NORMAL_PRIORITY_CLASS
    command = [sys.executable or "python", "-P", __file__, str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": log}
    try:
        if not Path(command[0]).stem.lower().startswith("python"):  # a Blender that was built without its own
            raise OSError(f"{command[0]} is no Python")
        return subprocess.Popen(command, **pipes, env=environment, **hidden)
    except OSError as error:
        raise RuntimeError(
            f"Blender's Python cannot be started as a process of its own ({error}): set Solve In to Blender in Axion's "
            "preferences"
        ) from error


def _end(process):
    """No child is left: one that does not know that it should go is ended."""
    process.stdout.close()
    with contextlib.suppress(OSError):  # a "stop" that a dead child did not take is still to be flushed
        process.stdin.close()
    try:
        process.wait(timeout=FAREWELL)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class _Listener:
    """The parent's side of the conversation."""

    def __init__(self, process, folder, on_frame, ears, on_found):
        self.process, self.folder, self.on_frame, self.ears, self.on_found = process, folder, on_frame, ears, on_found
        self.solved, self.stopped, self.spoken = 0, False, False

    def listen(self):
        from ..solver import Trajectory

        while True:
            message = self._message()
            if message["kind"] in self.ears:
                self._hear(message)
            elif message["kind"] == "error":
                raise _error(message)
            elif message["kind"] == "done":
                return Trajectory.load(self.folder / TRAJECTORY)
            elif message["kind"] == "found":
                found = [self._result(self._message()) for _ in range(message["count"])]
                if self.on_found is not None:
                    self.on_found(found)
            else:
                self._take(self._result(message))

    def _hear(self, message):
        ear = self.ears[message["kind"]]
        if ear is not None:
            ear(message["text"])

    def _take(self, result):
        if self.stopped:  # the child was a frame ahead
            return
        if self.on_frame(result) is False:
            self.stopped = True
            try:
                self.process.stdin.write(b"stop\n")
                self.process.stdin.flush()
            except OSError:
                return  # it died meanwhile, which the next message will tell

    def _message(self):
        while True:
            line = self.process.stdout.readline()
            if not line.endswith(b"\n"):
                raise RuntimeError(self._obituary())
            try:
                message = json.loads(line)
            except ValueError:
                message = None
            if isinstance(message, dict) and "kind" in message:
                self.spoken = True
                return message
            if self.spoken:
                raise RuntimeError(
                    f"The process that solved the bake sent {line[:80]!r}, which means nothing: bake again"
                )
            # Before the child has its own way out, whatever starts with Python there may print: sitecustomize.

    def _result(self, message):
        from ..solver import FrameResult, StepReport

        state = {}
        for name, columns in STATE:
            size = 8 * message["bodies"] * columns
            data = self.process.stdout.read(size)
            if len(data) < size:
                raise RuntimeError(self._obituary())
            state[name] = np.frombuffer(data).reshape(-1, columns)
        self.solved = message["frame"]
        return FrameResult(message["frame"], message["time"], **state, report=StepReport(**message["report"]))

    def _obituary(self):
        """One sentence on a child that died without a word."""
        status = self.process.wait()
        cause = f"exit status {status}"
        if status < 0:
            names = {number.value: number.name for number in signal.Signals}
            cause = f"signal {names.get(-status, -status)}"
        lines = (self.folder / LOG).read_text(encoding="utf-8", errors="replace").strip().splitlines()
        lines = [line for line in lines if not WARNING.match(line)]
        last = f': "{lines[-1].strip()[:200]}"' if lines else ""
        where = f"after frame {self.solved}" if self.solved else "before the first frame"
        memory = ", with other programs closed if memory ran out" if -status == getattr(signal, "SIGKILL", None) else ""
        return (
            f"The process that solved the bake died {where} ({cause}){last}; bake again{memory}, on the CPU if the "
            "graphics card is to blame"
        )


def _error(message):
    from ..solver import Problem, SceneError

    kinds = {"ValueError": ValueError, "OSError": OSError, "MemoryError": MemoryError, "ImportError": ImportError}
    if message["type"] == "SceneError":
        return SceneError(message["text"], [Problem(*problem) for problem in message["problems"]])
    return kinds.get(message["type"], RuntimeError)(message["text"])


def main(folder):
    """The child."""
    if hasattr(os, "nice"):  # the interface goes first; on Windows the parent has seen to that
        os.nice(NICE)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Warp and others print belongs in the log
    folder, stop, orphaned = Path(folder), threading.Event(), threading.Event()
    threading.Thread(target=_wait_for_stop, args=(folder, stop, orphaned), daemon=True).start()
    try:
        _solve(folder, out, stop)
        _send(out, kind="done")
    except Exception as error:  # noqa: BLE001  the parent says it
        problems = [dataclasses.astuple(problem) for problem in getattr(error, "problems", ())]
        kind = next((cls.__name__ for cls in type(error).__mro__ if cls.__name__ in KNOWN), "RuntimeError")
        _send(out, kind="error", type=kind, text=str(error) or type(error).__name__, problems=problems)
    finally:
        if orphaned.is_set():
            shutil.rmtree(folder, ignore_errors=True)


KNOWN = ("SceneError", "ValueError", "OSError", "MemoryError", "ImportError", "RuntimeError")


def _solve(folder, out, stop):
    from ..solver import Scene, SolverConfig
    from . import solving
    from .cache import Place

    settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    place = settings["place"]
    if place is not None:
        seed = place["seed"]
        place = Place(Path(place["folder"]), place["owner"], seed and Path(seed), place["moves"])

    def send_frame(result):
        report = dataclasses.asdict(result.report)
        _send(out, kind="frame", frame=result.frame, time=result.time, bodies=len(result.position), report=report)
        for name, _ in STATE:
            out.write(np.ascontiguousarray(getattr(result, name), float).tobytes())
        out.flush()
        return not stop.is_set()

    def send_found(results):
        _send(out, kind="found", count=len(results))
        for result in results:
            send_frame(result)

    trajectory = solving.solve(
        *(Scene.load(folder / SCENE), settings["frames"], settings["fps"]),
        SolverConfig(**settings["config"]),
        send_frame,
        kernels=settings["kernels"],
        place=place,
        resume=settings["resume"],
        first=settings["first"],
        say=lambda line: _send(out, kind="said", text=line),
        warn=lambda line: _send(out, kind="warned", text=line),
        on_found=send_found,
    )
    trajectory.save(folder / TRAJECTORY)


def _send(out, **message):
    out.write(json.dumps(message).encode() + b"\n")
    out.flush()


def _wait_for_stop(folder, stop, orphaned):
    """Tell of a "stop", or of the end of the parent, whose folder and solve are then nobody's."""
    # Past the buffered sys.stdin, whose lock a thread that still reads would hold when the interpreter ends, which
    # aborts it.
    if not os.read(0, 64):
        orphaned.set()
    stop.set()
    if orphaned.is_set():
        time.sleep(GRACE)
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)  # whatever takes so long: the cache is whole at any moment


def _run_as_child():
    """Load the package this file belongs to, whatever it is called in the parent, and be the child."""
    import importlib.util

    root = Path(__file__).resolve().parents[1]
    spec = importlib.util.spec_from_file_location("axion", root / "__init__.py", submodule_search_locations=[str(root)])
    sys.modules["axion"] = package = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    importlib.import_module("axion.axion_blender.child").main(sys.argv[1])
    sys.stderr.flush()
    os._exit(0)  # all is written, and Python would take Warp and newton apart for seconds while the parent waits


if __name__ == "__main__":
    _run_as_child()
