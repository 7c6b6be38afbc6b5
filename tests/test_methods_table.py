# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/methods.md is what benchmarks/methods.py makes of the committed table, and the table holds both methods."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPEC = importlib.util.spec_from_file_location("benchmark_methods", ROOT / "benchmarks" / "methods.py")
methods = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(methods)


def test_page_is_that_of_the_table():
    assert methods.PAGE.read_text(encoding="utf-8") == methods.page(*methods.read())


def test_every_scene_was_run_by_both_methods():
    lines, _ = methods.read()
    assert [(line["scene"], line["method"]) for line in lines] == [
        (scene, method) for scene in methods.scenes() for method in methods.METHODS
    ]
