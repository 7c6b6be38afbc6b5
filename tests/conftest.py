# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the checkout importable as ``axion`` whatever its folder is called."""

import importlib
import importlib.util
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
if "PYTEST_XDIST_WORKER" in os.environ:  # each has a core of its own, and NumPy's threads would wait for each other
    os.environ["OMP_NUM_THREADS"] = "1"


def _import_root_as_axion():
    if "axion" in sys.modules:
        return
    spec = importlib.util.spec_from_file_location("axion", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    module = importlib.util.module_from_spec(spec)
    sys.modules["axion"] = module
    spec.loader.exec_module(module)


_import_root_as_axion()


def pytest_configure(config):
    """AXION_TEST_DEVICE=cuda:0 runs every simulation of the tests there, with AXION_TEST_PRECISION=float64 so.

    AXION_TEST_DEVICE=cpu chooses what is factored as on CUDA: with AXION_TEST_PRECISION=float32 it solves as that does.
    """
    device, precision = os.environ.get("AXION_TEST_DEVICE"), os.environ.get("AXION_TEST_PRECISION", "auto")
    if device is None:
        return
    frames = importlib.import_module("axion.solver.simulate")
    find, resolve = frames._device, frames.resolve

    def resolved(config):
        name, found = resolve(config)
        return name, precision if config.precision == "auto" and precision != "auto" else found

    if device == "cpu":
        importlib.import_module("axion.solver.device_problem").columns_alone = lambda device: True
    frames._device, frames.resolve = lambda name: find(device if name in ("auto", "cpu") else name), resolved


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """Leave at once where bpy is loaded: some bpy wheels hang or crash at interpreter exit."""
    if "bpy" in sys.modules:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(getattr(config, "_axion_exit_status", 1))


def pytest_terminal_summary(terminalreporter):
    """Print the figures of passing tests, too, where AXION_FIGURES collects them (figures.py)."""
    path = os.environ.get("AXION_FIGURES")
    if path is None or not os.path.exists(path):
        return
    terminalreporter.section("figures of laws: scene, quantity, value, bound, unit")
    with open(path, encoding="utf-8") as file:
        terminalreporter.write("".join(sorted(file)))


def pytest_sessionfinish(session, exitstatus):
    session.config._axion_exit_status = int(exitstatus)
