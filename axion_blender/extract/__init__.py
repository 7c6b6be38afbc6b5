# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluated Blender data -> solver.Scene.  Nothing here changes the scene for good."""

from .config import solver_config
from .scene import Extraction, extract_scene, extraction_slices

__all__ = ["Extraction", "extract_scene", "extraction_slices", "solver_config"]
