# SPDX-License-Identifier: GPL-3.0-or-later
"""The types that kernels are built with."""

import numpy as np
import pytest
import warp as wp
from axion.solver.mathx.real import real_types


def test_real_types_are_one_object_for_each_real_type():
    double, single = real_types(wp.float64), real_types(wp.float32)
    assert real_types(wp.float64) is double and real_types(wp.float32) is single
    assert (double.name, single.name) == ("f64", "f32")
    assert (double.dtype, single.dtype) == (np.float64, np.float32)
    assert double.mat66 is not single.mat66
    with pytest.raises(TypeError, match=r"wp\.float64 or wp\.float32, not"):
        real_types(wp.float16)
