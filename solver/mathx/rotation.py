# SPDX-License-Identifier: GPL-3.0-or-later
"""Warp functions for rotations and frames, one set per real type.

exponential(w)    quaternion xyzw of the rotation vector w [rad]
midway(p, q)      orientation in the middle between p and q on the shorter way
matrix(q)         the rotation matrix of q
tangent(n)        a unit vector at right angles to n (Duff et al. 2017); the second one is cross(n, tangent(n))
linear(u), angular(u)   the two halves of a six-vector
point_velocity(u, r)    velocity of a point of a body, r from the centre of mass, world axes
"""

from functools import cache
from types import SimpleNamespace

import warp as wp


@cache
def rotation_functions(real):
    """The functions above for one real type.  ``real``: RealTypes of mathx/real.py."""
    scalar, vec3, quat, vec6, mat33 = real.scalar, real.vec3, real.quat, real.vec6, real.mat33
    module = f"axion_rotation_{real.name}"

    @wp.func(module=module)
    def exponential(w: vec3):
        angle = wp.length(w)
        # sin(x/2)/x = 1/2 - x^2/48: below 1e-4 rad the next term is under 1e-18
        scale = scalar(0.5) - angle * angle * scalar(1.0 / 48.0)
        if angle > scalar(1.0e-4):
            scale = wp.sin(scalar(0.5) * angle) / angle
        return wp.normalize(quat(w[0] * scale, w[1] * scale, w[2] * scale, wp.cos(scalar(0.5) * angle)))

    @wp.func(module=module)
    def midway(p: quat, q: quat):
        return wp.normalize(p + wp.where(wp.dot(p, q) < scalar(0.0), -scalar(1.0), scalar(1.0)) * q)

    @wp.func(module=module)
    def matrix(q: quat):
        x, y, z, w = q[0], q[1], q[2], q[3]
        one = scalar(1.0)
        two = scalar(2.0)
        return mat33(
            one - two * (y * y + z * z), two * (x * y - z * w), two * (x * z + y * w),
            two * (x * y + z * w), one - two * (x * x + z * z), two * (y * z - x * w),
            two * (x * z - y * w), two * (y * z + x * w), one - two * (x * x + y * y),
        )  # fmt: skip

    @wp.func(module=module)
    def tangent(n: vec3):
        sign = wp.where(n[2] < scalar(0.0), -scalar(1.0), scalar(1.0))
        a = -scalar(1.0) / (sign + n[2])
        return vec3(scalar(1.0) + sign * n[0] * n[0] * a, sign * n[0] * n[1] * a, -sign * n[0])

    @wp.func(module=module)
    def linear(u: vec6):
        return vec3(u[0], u[1], u[2])

    @wp.func(module=module)
    def angular(u: vec6):
        return vec3(u[3], u[4], u[5])

    @wp.func(module=module)
    def point_velocity(u: vec6, r: vec3):
        return vec3(u[0], u[1], u[2]) + wp.cross(vec3(u[3], u[4], u[5]), r)

    @wp.func(module=module)
    def six(linear_part: vec3, angular_part: vec3):
        return vec6(
            linear_part[0], linear_part[1], linear_part[2], angular_part[0], angular_part[1], angular_part[2]
        )  # fmt: skip

    @wp.func(module=module)
    def measured(value: scalar):
        """float64 for an atomic maximum, which would skip a NaN: huge instead."""
        if wp.isfinite(value):
            return wp.float64(value)
        return wp.float64(1.0e30)

    return SimpleNamespace(
        measured=measured,
        exponential=exponential,
        midway=midway,
        matrix=matrix,
        tangent=tangent,
        linear=linear,
        angular=angular,
        point_velocity=point_velocity,
        six=six,
    )
