# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs tests inside the Blender that the environment variable BLENDER names, with that Blender's own Python and NumPy.

    BLENDER=/path/to/blender python tools/run_blender_tests.py [--jobs N] [PYTEST ARGUMENTS, default tests/bpy]

pytest, Warp and newton are lent by the environment that runs this program; they hold no code compiled for one Python.
With --jobs, N Blenders share the tests: each takes the next that nobody has taken yet.
"""

import argparse
import contextlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LENT = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments", "warp", "newton", "coacd")
TAKEN = "taken"  # folder with an empty file for each test that a Blender has begun


def lend(folder):
    """Link the packages of LENT into ``folder``, apart from this environment's compiled ones such as NumPy."""
    for name in LENT:
        spec = importlib.util.find_spec(name)
        if spec is None:
            raise SystemExit(f"{name} is not installed here: run this program with the Python of make .venv")
        origin = Path(spec.origin)
        origin = origin.parent if origin.name == "__init__.py" else origin
        (Path(folder) / (name if origin.is_dir() else origin.name)).symlink_to(origin, origin.is_dir())


def outside(arguments):
    """Start Blender on this very file, as often as --jobs says; returns the first exit status that is not 0, or 0."""
    blender = os.environ.get("BLENDER")
    if not blender:
        raise SystemExit("the environment variable BLENDER names no Blender program")
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--jobs", type=int, default=1)
    options, arguments = parser.parse_known_args(arguments)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        lend(folder)
        (Path(folder) / TAKEN).mkdir()
        command = [blender, "-b", "--factory-startup", "--python-exit-code", "1", "--python", __file__, "--", folder]
        started = []
        for job in range(options.jobs):
            profile = Path(folder) / f"profile{job}"
            profile.mkdir()
            environment = {**os.environ, "BLENDER_USER_RESOURCES": str(profile)}
            told = stack.enter_context(tempfile.TemporaryFile()) if job else None  # the first may be watched
            process = subprocess.Popen([*command, *arguments], env=environment, cwd=ROOT, stdout=told, stderr=told)
            started.append((process, told))
        for process, told in started:
            process.wait()
            if told is not None:
                told.seek(0)
                print(told.read().decode(errors="replace"), flush=True)
        return next((process.returncode for process, _ in started if process.returncode), 0)


class Shared:
    """pytest plugin: runs the tests that no other Blender has taken."""

    def __init__(self, folder):
        self.folder = folder

    def take(self, number):
        """Whether the test with this number is left; then it is no longer."""
        try:
            (self.folder / str(number)).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def pytest_runtestloop(self, session):
        """Pytest's own loop, over fewer tests: what is torn down after one depends on the next that is taken."""
        if session.testsfailed:
            raise session.Interrupted(f"{session.testsfailed} errors during collection")
        mine = (item for number, item in enumerate(session.items) if self.take(number))
        item = next(mine, None)
        while item is not None:
            following = next(mine, None)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
            if session.shouldstop:
                raise session.Interrupted(session.shouldstop)
            item = following
        return True


def inside(folder, arguments):
    """Run pytest in Blender and leave at once: its own end may hang or crash after scripts."""
    sys.path.insert(0, folder)
    os.chdir(ROOT)
    import pytest

    plugins = [Shared(Path(folder) / TAKEN)]
    status = pytest.main(["-p", "no:cacheprovider", *(arguments or ["tests/bpy"])], plugins)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(status))


if __name__ == "__main__":
    if "--" in sys.argv:
        inside(sys.argv[sys.argv.index("--") + 1], sys.argv[sys.argv.index("--") + 2 :])
    else:
        sys.exit(outside(sys.argv[1:]))
