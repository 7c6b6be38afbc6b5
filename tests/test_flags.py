# SPDX-License-Identifier: GPL-3.0-or-later
"""``some`` and ``every`` say what NumPy's ``any`` and ``all`` say; ``numbers`` picks what a mask picks."""

import numpy as np
import pytest
from axion.solver.flags import every, numbers, some


@pytest.mark.parametrize("flags", [[], [False], [True], [False, False], [True, False], [True, True]])
def test_they_agree_with_numpy(flags):
    flags = np.array(flags, bool)
    assert (some(flags), every(flags)) == (flags.any(), flags.all())


def test_views_and_tables_count_as_well():
    table = np.eye(3) > 0.5
    assert some(table[::2]) and not every(table)
    assert every(table[0, ::3])


def test_numbers_pick_what_a_mask_picks():
    values, mask = np.arange(5) ** 2, np.array([True, False, True, True, False])
    np.testing.assert_array_equal(values[numbers(mask)], values[mask])
    np.testing.assert_array_equal(numbers([4, 0]), [4, 0])
    assert not len(numbers(np.zeros(0, bool)))
