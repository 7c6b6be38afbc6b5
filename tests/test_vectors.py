# SPDX-License-Identifier: GPL-3.0-or-later
"""Products and lengths of many vectors: to the last bit what ``numpy.sum`` and ``numpy.linalg.norm`` make of them."""

import numpy as np
import pytest
from axion.solver.vectors import inner, length, moved


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (7, 3), (4000, 3), (5, 40, 3)])
def test_they_add_up_as_numpy_does(shape):
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape) * 10.0 ** random.uniform(-9, 9, shape) for _ in range(2))
    for one, other in ((a, b), (a[..., ::-1], b), (np.zeros(shape), -b)):
        expected = (one * other).sum(axis=-1)
        np.testing.assert_array_equal(inner(one, other), expected)
        np.testing.assert_array_equal(np.signbit(inner(one, other)), np.signbit(expected))
        np.testing.assert_array_equal(length(one), np.linalg.norm(one, axis=-1))


def test_vectors_that_moved_are_those_with_any_part():
    parts = np.array([0.0, -0.0, 1e-300, -2.0, np.inf, np.nan])
    a = np.stack(np.meshgrid(parts, parts, parts), axis=-1)
    np.testing.assert_array_equal(moved(a), a.any(axis=-1))
