# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets as ascending arrays against what NumPy says of them."""

import numpy as np
import pytest
from axion.solver.ordered import among, distinct, union, without


@pytest.mark.parametrize("seed", range(40))
def test_they_agree_with_numpy(seed):
    random = np.random.default_rng(seed)
    values, others = (random.integers(0, 12, random.integers(0, 9)) for _ in range(2))
    first, second = distinct(values), distinct(others)
    np.testing.assert_array_equal(first, np.unique(values))
    np.testing.assert_array_equal(among(values, second), np.isin(values, second))
    np.testing.assert_array_equal(without(first, second), np.setdiff1d(first, second))
    np.testing.assert_array_equal(union(first, second), np.union1d(first, second))
