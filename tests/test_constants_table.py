# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/constants.md is what benchmarks/constants.py makes of the committed table, and a constant tried is one used."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SPEC = importlib.util.spec_from_file_location("benchmark_constants", ROOT / "benchmarks" / "constants.py")
constants = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(constants)


def test_page_is_that_of_the_table():
    assert constants.PAGE.read_text(encoding="utf-8") == constants.page(constants.read())


def test_the_table_holds_every_constant_as_it_is_today():
    tried = {(line["constant"], line["as_it_is"], line["value"]) for line in constants.read()}
    expected = {
        (constant.title, f"{constants.current(constant):g}", f"{value:g}")
        for constant in constants.CONSTANTS
        for value in constant.others
    }
    assert tried - {(constants.ACCEPTED, "", "")} == expected


@pytest.mark.parametrize("constant", constants.CONSTANTS, ids=lambda constant: constant.title)
def test_a_constant_is_changed_for_one_run(constant):
    before = constants.current(constant)
    with constants.tried(constant, constant.others[0]):
        assert constants.current(constant) == pytest.approx(constant.others[0])
    assert constants.current(constant) == before
