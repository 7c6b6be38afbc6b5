# SPDX-License-Identifier: GPL-3.0-or-later
"""Packs the Blender extension: one zip a platform in dist/, each with the wheels of what it uses for that platform.

Blender is not needed.  The wheels come from wherever pip is configured to find them and are kept in wheels/.
"""

import argparse
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WHEEL_TAGS = {
    "linux-x64": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64"),
    "windows-x64": ("win_amd64",),
    "macos-arm64": ("macosx_11_0_arm64",),
}
"""Blender's name of a platform -> the tags of wheels that run there: asked for one, pip takes no older one."""
BUNDLED = ("warp-lang", "newton", "coacd")
"""NumPy is not among them: every Blender has its own."""
OLDEST_PYTHON = "3.11"
"""Python of the oldest Blender supported; the wheels hold no code compiled for one Python only."""
MANIFEST_MARK = re.compile(r"^# \(tools/build_extension\.py writes .*\)$", re.MULTILINE)
EPOCH = (1980, 1, 1, 0, 0, 0)
"""Time stamp of every packed file, so that the same sources give the same zip."""


def project():
    """The ``[project]`` table of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def requirements():
    """The version ranges of the bundled packages, as pyproject.toml states them."""
    stated = project()["dependencies"] + project()["optional-dependencies"]["convex"]
    found = [line for line in stated if re.match(r"[\w-]+", line)[0] in BUNDLED]
    if len(found) != len(BUNDLED):
        raise SystemExit(f"pyproject.toml must bound each of {', '.join(BUNDLED)}; it states only {found}.")
    return found


def fetch_wheels(platform, folder):
    """Download the wheels for ``platform`` into ``folder`` and return their paths, one for each bundled package."""
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("*.whl"):
        stale.unlink()
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    for tag in WHEEL_TAGS[platform]:
        command += ["--platform", tag]
    command += ["--python-version", OLDEST_PYTHON, "--dest", str(folder)]
    if subprocess.run([*command, *requirements()], check=False).returncode:
        raise SystemExit(f"pip found no wheels of {', '.join(BUNDLED)} for {platform}; its message is above.")
    return sorted(folder.glob("*.whl"))


def manifest(platform, wheels):
    """Text of the manifest to pack: the committed one plus the platform and its wheels."""
    text = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    names = "".join(f'  "./wheels/{wheel.name}",\n' for wheel in wheels)
    written, count = MANIFEST_MARK.subn(f'platforms = ["{platform}"]\nwheels = [\n{names}]', text)
    if count != 1:
        raise SystemExit("blender_manifest.toml must hold the line '# (tools/build_extension.py writes ...)' once.")
    return written


def sources():
    """Files of the extension besides the manifest: paths relative to the root, sorted."""
    modules = [path for folder in ("axion_blender", "solver") for path in (ROOT / folder).rglob("*.py")]
    files = [ROOT / "__init__.py", ROOT / "LICENSE", ROOT / "THIRD_PARTY.md", *modules]
    return sorted(path.relative_to(ROOT) for path in files)


def pack(platform, wheels, target):
    """Write the extension for ``platform`` with ``wheels`` (paths) to the zip ``target``."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_suffix(".part")
    with zipfile.ZipFile(unfinished, "w") as archive:

        def add(name, data, compression):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, compression)

        add("blender_manifest.toml", manifest(platform, wheels), zipfile.ZIP_DEFLATED)
        for path in sources():
            add(path.as_posix(), (ROOT / path).read_bytes(), zipfile.ZIP_DEFLATED)
        for wheel in wheels:  # a wheel is a zip already
            add(f"wheels/{wheel.name}", wheel.read_bytes(), zipfile.ZIP_STORED)
    unfinished.replace(target)
    return target


def build(platform, output=ROOT / "dist"):
    """Fetch the wheels for ``platform`` and pack the extension; return the path of the zip."""
    wheels = fetch_wheels(platform, ROOT / "wheels" / platform)
    return pack(platform, wheels, output / f"axion_blender-{project()['version']}-{platform}.zip")


def main():
    """Build for each platform asked for and print what was written."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "platforms", nargs="*", metavar="PLATFORM", help=f"any of {', '.join(WHEEL_TAGS)} (default: all)"
    )
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="folder of the zips (default: dist)")
    arguments = parser.parse_args()
    unknown = set(arguments.platforms) - set(WHEEL_TAGS)
    if unknown:
        parser.error(f"unknown platform {', '.join(sorted(unknown))}: choose from {', '.join(WHEEL_TAGS)}")
    for platform in arguments.platforms or WHEEL_TAGS:
        target = build(platform, arguments.output)
        print(f"{target}  {target.stat().st_size / 1e6:.0f} MB", flush=True)


if __name__ == "__main__":
    main()
