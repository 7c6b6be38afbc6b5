# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shipped, as a wheel and as an extension, agrees with the tree and with the rules of Blender's extensions."""

import importlib.util
import os
import re
import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MANIFEST = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
TARGETS = ("demo", "test", "lint", "format", "extension", "bench", "bench-quick", "bench-truth", "clean")


def load_tool(name):
    """Import a program of tools/ without running it."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


build_extension = load_tool("build_extension")
make_environment = load_tool("make_environment")


def test_wheel_lists_every_package_of_the_tree():
    packages = {"axion"}
    for folder in ("axion_blender", "solver"):
        for path in (ROOT / folder).rglob("*.py"):
            packages.add(".".join(("axion", *path.relative_to(ROOT).parts[:-1])))
    listed = PROJECT["tool"]["setuptools"]["packages"]
    assert sorted(listed) == sorted(packages)
    assert len(set(listed)) == len(listed)
    for package in packages:
        folder = ROOT.joinpath(*package.split(".")[1:])
        assert (folder / "__init__.py").is_file(), f"{package} is no package without __init__.py"


def test_one_version_everywhere():
    version = PROJECT["project"]["version"]
    assert MANIFEST["version"] == version
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[(Unreleased|{re.escape(version)})\]", changelog, re.MULTILINE)


def test_manifest_obeys_the_rules_of_extensions():
    # The rules are those of Blender's own validator: fields, lengths, no final punctuation, known permissions.
    assert MANIFEST["id"] == "axion_blender"
    assert MANIFEST["license"] == ["SPDX:GPL-3.0-or-later"]
    assert MANIFEST["blender_version_min"] == "4.5.0"
    for text in (MANIFEST["tagline"], *MANIFEST["permissions"].values()):
        assert len(text) <= 64
        assert text[-1].isalnum()
    assert set(MANIFEST["permissions"]) == {"files"}, "Axion reads and writes files and asks for nothing else"
    assert not {"wheels", "platforms"} & set(MANIFEST), "the build writes them into the copy that it packs"


def test_entry_point_names_a_module_of_the_wheel():
    module, function = PROJECT["project"]["scripts"]["axion-bake"].split(":")
    path = ROOT.joinpath(*module.split(".")[1:]).with_suffix(".py")
    assert re.search(rf"^def {function}\(", path.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.fixture(params=sorted(build_extension.WHEEL_TAGS))
def packed(request, tmp_path):
    """(platform, zip built with two stand-in wheels)."""
    wheels = [tmp_path / f"{package}-1.0-py3-none-any.whl" for package in ("warp_lang", "newton")]
    for wheel in wheels:
        wheel.write_bytes(b"stand-in " + wheel.name.encode())
    return request.param, build_extension.pack(request.param, wheels, tmp_path / "out" / "extension.zip")


def test_zip_holds_the_product_and_nothing_else(packed):
    platform, path = packed
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
        assert archive.testzip() is None
        wheel = archive.getinfo("wheels/newton-1.0-py3-none-any.whl")
        assert wheel.compress_type == zipfile.ZIP_STORED
    assert manifest["platforms"] == [platform]
    assert {f"./{name}" for name in names if name.startswith("wheels/")} == set(manifest["wheels"])
    assert {key: manifest[key] for key in MANIFEST} == MANIFEST
    assert {"__init__.py", "LICENSE", "THIRD_PARTY.md"} <= names
    folders = {name.split("/")[0] for name in names if "/" in name}
    assert folders == {"axion_blender", "solver", "wheels"}
    assert {name for name in names if name.startswith("solver/")} == {
        path.relative_to(ROOT).as_posix() for path in (ROOT / "solver").rglob("*.py")
    }


def test_same_sources_give_the_same_zip(packed, tmp_path):
    platform, path = packed
    again = build_extension.pack(platform, sorted(path.parent.parent.glob("*.whl"), reverse=True), tmp_path / "2.zip")
    assert zipfile.ZipFile(again).infolist()[0].date_time == zipfile.ZipFile(path).infolist()[0].date_time
    first = {
        entry.filename: entry.CRC for entry in zipfile.ZipFile(path).infolist() if "manifest" not in entry.filename
    }
    second = {
        entry.filename: entry.CRC for entry in zipfile.ZipFile(again).infolist() if "manifest" not in entry.filename
    }
    assert first == second


def test_bundled_wheels_are_bounded_to_tested_versions():
    # These libraries may change behaviour with any minor version, so a range must have both ends.
    assert len(build_extension.requirements()) == 3
    for requirement in build_extension.requirements():
        assert ">=" in requirement and "<" in requirement


def test_environment_refuses_a_blender_it_does_not_know():
    with pytest.raises(SystemExit, match="4.2.0 is not supported"):
        make_environment.choose("4.2.0")


def test_environment_names_the_python_that_is_missing(monkeypatch):
    monkeypatch.setattr(make_environment, "python_version", lambda program: (3, 99))
    with pytest.raises(SystemExit, match=r"bpy 4\.5\.15\) needs Python 3\.11"):
        make_environment.choose("4.5.15")


def test_makefile_runs_programs_that_exist():
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    outer = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "ARGS", "BPY"}  # of a make that runs this very test
    environment = {name: value for name, value in os.environ.items() if name not in outer}
    for target in TARGETS:
        command = ["make", "-n", target]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        for program in re.findall(r"\S+\.py\b", done.stdout):
            assert (ROOT / program).is_file(), f"make {target} runs {program}"


def test_no_address_of_a_package_index_is_committed():
    # pip must use the index its user configured.
    for path in (ROOT / "Makefile", ROOT / "pyproject.toml", *(ROOT / "tools").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"index-url|find-links|https?://\S*(pypi|simple)", text), path.name


def test_links_of_the_documents_lead_somewhere():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    assert len(pages) >= 4
    for page in pages:
        for target in re.findall(r"\]\((?!https?://|#)([^)#\s]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} points to {target}"
