# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes this checkout importable as ``axion`` where it is not installed: on a machine with Warp and Newton alone."""

import importlib
import importlib.util
import sys
from pathlib import Path

if importlib.util.find_spec("axion") is None:
    sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))
    importlib.import_module("conftest")
