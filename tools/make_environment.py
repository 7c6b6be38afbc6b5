# SPDX-License-Identifier: GPL-3.0-or-later
"""Creates the virtual environment that every make target works in.

The bpy wheel of each Blender exists for exactly one Python version, so this program looks for a Python that fits: the
one it runs on, then those on the PATH.  Packages come from wherever pip is configured to find them.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEWEST_BPY = {(3, 11): "5.0.1", (3, 13): "5.2.2"}
"""Python version -> the newest bpy this project is tested with there."""
PYTHON_OF_BPY = {"4.5": (3, 11), "5.0": (3, 11), "5.1": (3, 13), "5.2": (3, 13)}


def python_version(program):
    """(major, minor) of a Python that can create environments, or None where it does not run or lacks ensurepip."""
    probe = "import ensurepip, sys, venv; print(*sys.version_info[:2])"
    try:
        done = subprocess.run([program, "-c", probe], capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        return None
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else None


def find_python(wanted):
    """The first Python whose version is in ``wanted``: (program, version), or None."""
    names = [f"python{major}.{minor}" for major, minor in wanted]
    for program in [sys.executable, *filter(None, map(shutil.which, names))]:
        version = python_version(program)
        if version in wanted:
            return program, version
    return None


def choose(bpy):
    """Pick (program, bpy version) for the wanted bpy ('' = newest tested).  Leaves with one line where none fits."""
    series = ".".join(bpy.split(".")[:2])
    if bpy and series not in PYTHON_OF_BPY:
        raise SystemExit(f"bpy {bpy} is not supported: choose one of the series {', '.join(PYTHON_OF_BPY)}.")
    wanted = [PYTHON_OF_BPY[series]] if bpy else list(NEWEST_BPY)
    found = find_python(wanted)
    if found is None:
        versions = " or ".join(f"{major}.{minor}" for major, minor in wanted)
        raise SystemExit(
            f"Blender's Python module (bpy{' ' + bpy if bpy else ''}) needs Python {versions}, and this is "
            f"{sys.version.split()[0]} with no other on the PATH: install Python {versions} with its venv module, "
            "then run the same command again (or name it with PYTHON=/path/to/python)."
        )
    program, version = found
    return program, bpy or NEWEST_BPY[version]


def main():
    """Create the folder, install the package with its development tools, and leave a stamp for make."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the environment to create or bring up to date")
    parser.add_argument("--bpy", default="", help="bpy version, e.g. 4.5.15 (default: the newest tested)")
    parser.add_argument("--extra", default="", help="optional dependencies of pyproject.toml to install as well")
    arguments = parser.parse_args()

    program, bpy = choose(arguments.bpy)
    python = arguments.folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not python.exists():
        print(f"Creating {arguments.folder} with {program} for bpy {bpy}", flush=True)
        subprocess.run([program, "-m", "venv", str(arguments.folder)], check=True)
    print(f"Installing bpy {bpy}, Warp, Newton and the development tools (once, about 1 GB)", flush=True)
    extras = ",".join(filter(None, ("dev", arguments.extra)))
    install = [str(python), "-m", "pip", "install", "--quiet", "--editable", f"{ROOT}[{extras}]", f"bpy=={bpy}"]
    status = subprocess.run(install, check=False).returncode
    if status:
        raise SystemExit(f"pip could not install the packages into {arguments.folder}; its message is above.")
    for stamp in filter(None, (".complete", arguments.extra and f".complete-{arguments.extra}")):
        (arguments.folder / stamp).write_text(f"bpy {bpy}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
