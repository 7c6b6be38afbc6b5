# SPDX-License-Identifier: GPL-3.0-or-later
"""``some`` and ``every`` say what NumPy's ``any`` and ``all`` say."""

import numpy as np
import pytest
from axion.solver.flags import every, some


@pytest.mark.parametrize("flags", [[], [False], [True], [False, False], [True, False], [True, True]])
def test_they_agree_with_numpy(flags):
    flags = np.array(flags, bool)
    assert (some(flags), every(flags)) == (flags.any(), flags.all())


def test_views_and_tables_count_as_well():
    table = np.eye(3) > 0.5
    assert some(table[::2]) and not every(table)
    assert every(table[0, ::3])
