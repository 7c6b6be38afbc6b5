# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a program inside the window of the Blender that the environment variable BLENDER names, with Axion switched on.

Needs a display; Warp and newton are lent by the environment that runs this.  A program for the window is a file that
calls ``start`` when run by Python and ``play`` when run by Blender; ``in_blender`` tells which.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))


def in_blender():
    """Whether this Python is Blender's."""
    return "bpy" in sys.modules


def start(file, arguments, size=(1280, 800), simulate=False, limit=1200):
    """Start Blender on ``file`` in an empty profile; returns its exit status.

    simulate: mouse and keys come from the program (``Window.event_simulate``) and from nowhere else.  limit: seconds.
    """
    from run_blender_tests import lend

    blender = os.environ.get("BLENDER")
    if not blender:
        raise SystemExit("the environment variable BLENDER names no Blender program")
    with tempfile.TemporaryDirectory() as folder:
        lend(folder)
        (Path(folder) / "profile").mkdir()
        environment = {**os.environ, "BLENDER_USER_RESOURCES": str(Path(folder) / "profile")}
        geometry = ["--window-geometry", "0", "0", *map(str, size), "--no-window-focus"]
        command = [blender, "--factory-startup", *geometry, "--python-exit-code", "1"]
        command += ["--enable-event-simulate"] if simulate else []
        command += ["--python", file, "--", folder, *arguments]
        try:
            return subprocess.run(command, env=environment, cwd=ROOT, check=False, timeout=limit).returncode
        except subprocess.TimeoutExpired:
            print(f"Blender was ended after {limit} s", file=sys.stderr)
            return 1


def pictures(file, steps, description, size):
    """The whole program of a ``file`` that takes pictures: ``steps(folder, capture)`` is a generator for ``play``.

    capture: a command that writes a picture of the screen to {}, where Blender cannot read its own window.
    """
    if in_blender():
        play(steps(*arguments()))
        return
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("folder", nargs="?", default="docs/images")
    parser.add_argument("--capture", default="")
    given = parser.parse_args()
    sys.exit(start(file, [str(Path(given.folder).resolve()), given.capture], size, simulate=True))


def arguments():
    """What ``start`` was given, seen from inside; makes the lent packages and ``axion`` importable."""
    folder, *given = sys.argv[sys.argv.index("--") + 1 :]
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location("axion", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    sys.modules["axion"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.register()
    return given


def play(steps, on_failure=None):
    """Run a generator in the window: it yields how many seconds to leave Blender alone.  Ends Blender with it.

    on_failure: called after an error, before Blender ends.
    """
    import bpy

    bpy.context.preferences.view.show_splash = False

    def go_on():
        try:
            return next(steps)
        except StopIteration:
            status = 0
        except BaseException:  # noqa: BLE001  Blender would swallow it, and wait for ever
            traceback.print_exc()
            status = 1
            if on_failure is not None:
                on_failure()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)

    bpy.app.timers.register(go_on, first_interval=1.0, persistent=True)
