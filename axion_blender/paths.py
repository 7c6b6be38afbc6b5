# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders that Axion writes to.  Never its own: an extension's folder is replaced at every update."""

import importlib.metadata
import os
import sys
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


def start_warp(folder=None):
    """Import Warp.  Returns whether Axion's kernels have yet to be compiled.

    folder: for compiled kernels, from ``kernel_cache``; None for Warp's own.  Asks Blender nothing, so any thread may
    call it.  Takes a second or more at the first call, so only a bake calls it.  Raises ImportError where Warp is not installed.
    """
    import warp

    if folder is not None:
        warp.config.kernel_cache_dir = str(folder)
    warp.config.log_level = warp.LOG_WARNING  # its greeting and its list of loaded modules are not for artists
    warp.init()
    return not any(Path(warp.config.kernel_cache_dir).glob("wp_*axion*"))


def settle_newton():
    """Let newton import what it puts off until first looked at.

    Blender's policy check looks at every module in turn, and fails when new ones appear meanwhile.
    """
    for module in [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "newton"]:
        getattr(module, "__file__", None)
