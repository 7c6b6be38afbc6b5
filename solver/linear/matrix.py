# SPDX-License-Identifier: GPL-3.0-or-later
"""Device-side layout of the Newton matrix, and of what conjugate gradients keep."""

from functools import cache

import warp as wp

from ..mathx.real import real_types


@cache
def matrix_struct(real):
    """The arrays in one real type.  ``real``: RealTypes of mathx/real.py.

    It is that of what conjugate gradients read, which is where the bytes are.  The matrix of islands that are factored
    is float64 in any: beside joints as stiff as theirs single precision rounds a hundredth of a mass off.
    """
    exact66, mat66, vec6 = real_types(wp.float64).mat66, real.mat66, real.vec6

    @wp.struct
    class MatrixArrays:
        diagonal: wp.array(dtype=mat66)  # (bodies,)
        block: wp.array(dtype=mat66)  # (pairs,) that of (i, j)
        exact_diagonal: wp.array(dtype=exact66)  # where a factor is asked for
        exact_block: wp.array(dtype=exact66)
        cholesky: wp.array(dtype=mat66)
        found: wp.array(dtype=vec6)  # so far of d, and what is left of r
        left: wp.array(dtype=vec6)
        z: wp.array(dtype=vec6)
        s: wp.array(dtype=vec6)  # (2 bodies,) direction, the present one and the last
        hs: wp.array(dtype=vec6)

    return MatrixArrays
