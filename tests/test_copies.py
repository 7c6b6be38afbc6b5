# SPDX-License-Identifier: GPL-3.0-or-later
"""Changed copies of tables are those that dataclasses.replace makes."""

import dataclasses
from functools import cached_property

import pytest
from axion.solver.copies import replace


@dataclasses.dataclass
class Table:
    first: int
    second: int = 2

    @cached_property
    def total(self):
        return self.first + self.second


@pytest.mark.parametrize("cached", [False, True])
def test_a_copy_has_the_changes_and_nothing_that_was_cached(cached):
    table = Table(1)
    if cached:
        assert table.total == 3
    copy = replace(table, second=5)
    assert copy == dataclasses.replace(table, second=5)
    assert (copy.total, table.second) == (6, 2)


def test_a_name_that_is_no_field_is_refused():
    with pytest.raises(TypeError, match="a Table has no third: its fields are first, second"):
        replace(Table(1), third=3)
