# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs tests inside the Blender that the environment variable BLENDER names, with that Blender's own Python and NumPy.

    BLENDER=/path/to/blender python tools/run_blender_tests.py [PYTEST ARGUMENTS, default tests/bpy]

pytest, Warp and newton are lent by the environment that runs this program; they hold no code compiled for one Python.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LENT = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments", "warp", "newton", "coacd")


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
    """Start Blender on this very file; returns its exit status."""
    blender = os.environ.get("BLENDER")
    if not blender:
        raise SystemExit("the environment variable BLENDER names no Blender program")
    with tempfile.TemporaryDirectory() as folder:
        lend(folder)
        profile = Path(folder) / "profile"
        profile.mkdir()
        command = [blender, "-b", "--factory-startup", "--python-exit-code", "1", "--python", __file__, "--", folder]
        environment = {**os.environ, "BLENDER_USER_RESOURCES": str(profile)}
        return subprocess.run([*command, *arguments], env=environment, cwd=ROOT, check=False).returncode


def inside(folder, arguments):
    """Run pytest in Blender and leave at once: its own end may hang or crash after scripts."""
    sys.path.insert(0, folder)
    os.chdir(ROOT)
    import pytest

    status = pytest.main(["-p", "no:cacheprovider", *(arguments or ["tests/bpy"])])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(status))


if __name__ == "__main__":
    if "--" in sys.argv:
        inside(sys.argv[sys.argv.index("--") + 1], sys.argv[sys.argv.index("--") + 2 :])
    else:
        sys.exit(outside(sys.argv[1:]))
