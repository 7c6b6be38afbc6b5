# SPDX-License-Identifier: GPL-3.0-or-later
"""Constraint forces by Lagrange multipliers, with feedback against drift.

From C'' = J q'' + J' q' = -k_s C - k_d C' and q'' = W (Q + J^T lam), with W the inverse mass matrix:

    J W J^T lam = -J' q' - J W Q - k_s C - k_d C'

Along the motion the error then follows C'' + k_d C' + k_s C = 0: it dies out, fastest without swinging at
k_d = 2 sqrt(k_s).
"""

import numpy as np


def constraint_multipliers(J, W, Q, Jdot_qdot, C, Cdot, ks, kd):
    """Multipliers lam (m,) of m constraints on n coordinates.

    Args:
        J: (m, n) dC/dq.
        W: (n, n) inverse mass matrix.
        Q: (n,) applied generalised force, with what belongs to velocity (gyroscopic torque).
        Jdot_qdot: (m,) the part of C'' that does not depend on q''.
        C: (m,) constraint values.
        Cdot: (m,) their rates, J q'.
        ks: gain on C [1/s^2], a number or (m,).
        kd: gain on Cdot [1/s], a number or (m,).

    Returns:
        lam (m,); of repeated constraints the multipliers of least norm.
    """
    J, W = np.asarray(J, float), np.asarray(W, float)
    right = -np.asarray(Jdot_qdot, float) - J @ W @ Q - ks * np.asarray(C, float) - kd * np.asarray(Cdot, float)
    return np.linalg.lstsq(J @ W @ J.T, right, rcond=None)[0]


def constraint_force(J, lam):
    """Generalised force J^T lam (n,) of the constraints: it does no work on motions that the constraints allow."""
    return np.asarray(J, float).T @ lam
