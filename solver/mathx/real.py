# SPDX-License-Identifier: GPL-3.0-or-later
"""The real type of what linear solvers iterate on: float64 on the CPU, float32 on the GPU.  All else is float64.

Kernels of either type are made by factory functions that take a ``RealTypes``.  Each real type has exactly one such
object, so arrays and kernels made in different files agree on their types.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import warp as wp


@dataclass(frozen=True, eq=False)
class RealTypes:
    """Warp's scalar, vector and matrix types over one real type; compared and hashed by identity."""

    name: str  # "f64" or "f32": goes into module names
    dtype: np.dtype
    scalar: type
    vec3: type
    quat: type
    vec6: type
    mat33: type
    mat66: type


@cache
def real_types(scalar):
    """The ``RealTypes`` over wp.float64 or wp.float32, the same object on each call; TypeError for anything else."""
    if scalar is wp.float64:
        name, vec3, quat, mat33 = "f64", wp.vec3d, wp.quatd, wp.mat33d
    elif scalar is wp.float32:
        name, vec3, quat, mat33 = "f32", wp.vec3f, wp.quatf, wp.mat33f
    else:
        raise TypeError(f"The solver's real type is wp.float64 or wp.float32, not {scalar!r}.")
    return RealTypes(
        name=name,
        dtype=np.dtype(wp.dtype_to_numpy(scalar)),
        scalar=scalar,
        vec3=vec3,
        quat=quat,
        vec6=wp.types.vector(length=6, dtype=scalar),
        mat33=mat33,
        mat66=wp.types.matrix(shape=(6, 6), dtype=scalar),
    )
