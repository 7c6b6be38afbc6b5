# SPDX-License-Identifier: GPL-3.0-or-later
"""Both methods on every row of docs/methods.md: each frame converges by the judge, and what the two find agrees.

Overlap and joints are told from the poses alone.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from axion.solver import SolverConfig, simulate
from figures import figure
from judges import anchor_distances, energies, largest_rise, overlaps

ROOT = Path(__file__).resolve().parents[2]
FRAMES = 24
FAST = SolverConfig().tolerances()[1]
HEAPS = ("8 boxes falling in a heap", "20 boxes falling in a heap")  # no two methods need agree on a heap
DRIVEN = ("four-bar linkage with a motor",)


def rows():
    """Name -> builder, of the page's own program."""
    spec = importlib.util.spec_from_file_location("benchmark_methods", ROOT / "benchmarks" / "methods.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.scenes()


@pytest.fixture(scope="module")
def scenes():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        yield rows()
