# SPDX-License-Identifier: GPL-3.0-or-later
"""Gauss's principle of least constraint: of all accelerations the constraints allow, the nearest to the free ones.

    minimise  Z(a) = 1/2 (a - a_free)^T M (a - a_free)   subject to   J a = b          (maximal coordinates)
    H(q) q'' + h(q, q') = sum_k J_k^T w_k                                              (reduced coordinates)

The reduced form is the same minimum with a_k = J_k q'' + J_k' q' put in: H = sum J_k^T M_k J_k,
h = sum J_k^T (M_k J_k' q' + n_k), M_k = diag(m 1, I), gyroscopic term n_k = (0, w x I w), w_k the applied force and
torque.
"""

import numpy as np

from .rotation import cross


def least_constraint_acceleration(M, a_free, J, b):
    """The acceleration a (n,) with J a = b that is nearest to a_free in the mass metric.

    With M = L L^T and y = L^T (a - a_free) it is the y of least norm with (J L^-T) y = b - J a_free, so no multipliers
    are needed and repeated constraints do no harm (Udwadia and Kalaba 1992).

    Args:
        M: (n, n) mass matrix, symmetric and positive definite.
        a_free: (n,) acceleration without constraints.
        J: (m, n) constraint directions.
        b: (m,) what J a must be; -J' q' for constraints that hold along the motion.

    Raises:
        ValueError: no acceleration satisfies the constraints.
    """
    a_free, J, b = np.asarray(a_free, float), np.asarray(J, float), np.asarray(b, float)
    L = np.linalg.cholesky(M)
    y = np.linalg.lstsq(np.linalg.solve(L, J.T).T, b - J @ a_free, rcond=None)[0]
    a = a_free + np.linalg.solve(L.T, y)
    error = np.abs(J @ a - b).max(initial=0.0)
    limit = 1e-6 * (np.abs(J) @ (np.abs(a) + np.abs(a_free)) + np.abs(b)).max(initial=0.0)
    if error > limit:
        raise ValueError(
            f"No acceleration satisfies the constraints: J a differs from b by {error:.3g}, more than {limit:.3g}; "
            "remove one of the constraints that contradict each other."
        )
    return a


def deviation(a, a_free, M):
    """Gauss's deviation Z = 1/2 (a - a_free)^T M (a - a_free) of an acceleration a (n,)."""
    difference = np.asarray(a, float) - a_free
    return 0.5 * float(difference @ np.asarray(M, float) @ difference)


def reduced_equations(J_k, Jdot_qdot_k, mass_k, inertia_k, omega_k):
    """H and h of H q'' + h = sum_k J_k^T (force_k, torque_k) for n solids and d generalised coordinates.

    Args:
        J_k: (n, 6, d) (velocity of the centre of mass, angular velocity) = J_k q', world axes.
        Jdot_qdot_k: (n, 6) the part of their accelerations that does not depend on q''.
        mass_k: (n,) [kg].
        inertia_k: (n, 3, 3) about the centres of mass, in world axes [kg m^2].
        omega_k: (n, 3) angular velocities, world [rad/s].

    Returns:
        H (d, d) symmetric, h (d,).

    Raises:
        ValueError: the arrays do not speak of the same number of solids.
    """
    J = np.asarray(J_k, float)
    n = len(J)
    bias, mass = np.asarray(Jdot_qdot_k, float), np.asarray(mass_k, float)
    inertia, omega = np.asarray(inertia_k, float), np.asarray(omega_k, float)
    shapes = {"J_k": (J[..., 0], (n, 6)), "Jdot_qdot_k": (bias, (n, 6)), "mass_k": (mass, (n,))}
    shapes |= {"inertia_k": (inertia, (n, 3, 3)), "omega_k": (omega, (n, 3))}
    for name, (array, shape) in shapes.items():
        if array.shape != shape:
            raise ValueError(f"{name} has shape {array.shape} where {n} solids need {shape}; give one entry a solid.")
    M = np.zeros((n, 6, 6))
    M[:, :3, :3] = mass[:, None, None] * np.eye(3)
    M[:, 3:, 3:] = inertia
    inertial = np.einsum("nij,nj->ni", M, bias)
    inertial[:, 3:] += cross(omega, np.einsum("nij,nj->ni", inertia, omega))
    H = np.einsum("nia,nij,njb->ab", J, M, J)
    return H, np.einsum("nia,ni->a", J, inertial)
