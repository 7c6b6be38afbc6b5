# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation functions of the kernels against NumPy, in both precisions, from no turn at all to several."""

from functools import cache

import numpy as np
import pytest
import warp as wp
from axion.solver import rotations
from axion.solver.mathx.real import real_types
from axion.solver.mathx.rotation import rotation_functions
from axion.solver.problem import tangents

DTYPES = {"float64": wp.float64, "float32": wp.float32}
ACCURACY = {"float64": 1e-14, "float32": 1e-6}


@cache
def kernel_of(precision):
    real = real_types(DTYPES[precision])
    functions = rotation_functions(real)
    exponential, matrix, tangent, point_velocity, six = (
        functions.exponential, functions.matrix, functions.tangent, functions.point_velocity, functions.six,
    )  # fmt: skip
    vec3, quat = real.vec3, real.quat

    @wp.kernel(module=f"axion_test_rotation_{real.name}", enable_backward=False)
    def evaluate(
        w: wp.array(dtype=vec3),
        n: wp.array(dtype=vec3),
        r: wp.array(dtype=vec3),
        q: wp.array(dtype=quat),
        t: wp.array(dtype=vec3),
        v: wp.array(dtype=vec3),
        m: wp.array(dtype=real.mat33),
    ):
        i = wp.tid()
        q[i] = exponential(w[i])
        t[i] = tangent(n[i])
        v[i] = point_velocity(six(n[i], w[i]), r[i])
        m[i] = matrix(q[i])

    return real, evaluate


def evaluate(w, n, r, precision):
    real, kernel = kernel_of(precision)
    inputs = [wp.array(x.astype(real.dtype), dtype=real.vec3, device="cpu") for x in (w, n, r)]
    out = [wp.zeros(len(w), dtype=dtype, device="cpu") for dtype in (real.quat, real.vec3, real.vec3, real.mat33)]
    wp.launch(kernel, dim=len(w), inputs=[*inputs, *out], device="cpu")
    return [array.numpy().astype(float) for array in out]


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_kernel_functions_agree_with_numpy(precision):
    rng = np.random.default_rng(0)
    n = rng.normal(size=(400, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    n[:4] = (0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -1, 0)
    size = 10.0 ** rng.uniform(-8, 1, (400, 1))
    size[:20] = 10.0 ** np.linspace(-4.1, -3.9, 20)[:, None]  # around the change of formula
    w = size * rng.normal(size=(400, 3))
    w[:3] = 0.0
    r = rng.normal(size=(400, 3))
    q, t, v, m = evaluate(w, n, r, precision)
    # the angle itself is rounded: its error is the angle times the rounding
    limit = ACCURACY[precision] * (1.0 + np.linalg.norm(w, axis=1))
    assert np.all(np.abs(q - rotations.exponential(w)).max(axis=1) < limit)
    assert np.abs(np.einsum("nij,nj->ni", m, r) - rotations.rotate(q, r)).max() < 10 * ACCURACY[precision]
    assert np.abs(t - tangents(n)[0]).max() < ACCURACY[precision]
    assert np.abs(np.sum(t * n, axis=1)).max() < ACCURACY[precision]
    assert np.all(np.abs(v - n - np.cross(w, r)).max(axis=1) < 5 * limit)
