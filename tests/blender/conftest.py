# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension, built and installed into a Blender profile of its own, once for all tests of this folder."""

import shutil
import sys
from types import SimpleNamespace

import pytest
from real_blender import blender
from test_packaging import build_extension

PLATFORM = {"win32": "windows-x64", "darwin": "macos-arm64"}.get(sys.platform, "linux-x64")


@pytest.fixture(scope="session")
def extension(tmp_path_factory):
    """The zip for this platform, and a profile in which Blender has installed and enabled it."""
    folder = tmp_path_factory.mktemp("extension")
    path = build_extension.build(PLATFORM, folder)
    profile = folder / "profile"
    profile.mkdir()
    done = blender(profile, "--command", "extension", "install-file", "-r", "user_default", "-e", path)
    assert done.returncode == 0, done.stdout + done.stderr
    yield SimpleNamespace(zip=path, profile=profile, folder=folder)
    shutil.rmtree(folder)  # half a gigabyte
