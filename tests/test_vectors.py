# SPDX-License-Identifier: GPL-3.0-or-later
"""Products and lengths of many vectors: to the last bit what ``numpy.sum`` and ``numpy.linalg.norm`` make of them."""

import numpy as np
import pytest
from axion.solver.vectors import inner, length


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (7, 3), (4000, 3), (5, 40, 3)])
def test_they_add_up_as_numpy_does(shape):
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape) * 10.0 ** random.uniform(-9, 9, shape) for _ in range(2))
    for one, other in ((a, b), (a[..., ::-1], b), (np.zeros(shape), -b)):
        expected = (one * other).sum(axis=-1)
        np.testing.assert_array_equal(inner(one, other), expected)
        np.testing.assert_array_equal(np.signbit(inner(one, other)), np.signbit(expected))
        np.testing.assert_array_equal(length(one), np.linalg.norm(one, axis=-1))
