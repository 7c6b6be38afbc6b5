# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders that Axion writes to.  Never its own: an extension's folder is replaced at every update."""

import importlib.metadata
import os
import tomllib
from pathlib import Path

import bpy

from . import preferences


def kernel_cache():
    """Folder for compiled kernels; None where Warp's own choice stands: WARP_CACHE_PATH is set, or on the bpy wheel."""
    package = preferences.base_package()
    if "WARP_CACHE_PATH" in os.environ or not package.startswith("bl_ext."):
        return None
    chosen = preferences.get("kernel_folder")
    return Path(
        bpy.path.abspath(chosen) if chosen else bpy.utils.extension_path_user(package, path="kernels", create=True)
    )


def version():
    """Version of Axion: the manifest's, or of the installed package, which comes without one."""
    manifest = Path(__file__).resolve().parents[1] / "blender_manifest.toml"
    if not manifest.is_file():
        return importlib.metadata.version("axion-blender")
    return tomllib.loads(manifest.read_text(encoding="utf-8"))["version"]
