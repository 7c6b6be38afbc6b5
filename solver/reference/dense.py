# SPDX-License-Identifier: GPL-3.0-or-later
"""The dense walk-through: rigid bodies and distance constraints assembled into one linear system, as it is written.

    M a = F + J^T lam,   J a = rhs   ->   (J M^-1 J^T) lam = rhs - J M^-1 F,   a = M^-1 (F + J^T lam)
    C = (|d|^2 - L^2) / 2,   d = attachment on j minus attachment on i        [m^2]
    F = (force, torque - w x I w)                                             [N, N m], in world axes
    rhs = -(1 + beta) J v - alpha C                                           (Baumgarte's stabilisation)

Each body has six degrees of freedom, (linear, angular) in world axes, in the order of the list of bodies.
"""

import numpy as np

from .rotation import cross, matrix


class RigidBody6DOF:
    """A rigid body and the force on it.

    Args:
        name: for messages.
        mass: [kg].
        inertia_tensor_body: (3, 3) about the centre of mass in body axes [kg m^2]; (3,) stands for a diagonal.
        position: (3,) of the centre of mass in the world [m].
        orientation_xyzw: (4,) quaternion from body to world axes; normalised here.
        linear_velocity: (3,) of the centre of mass, world [m/s].
        angular_velocity: (3,) world [rad/s].

    Raises:
        ValueError: a mass that is not positive, or an inertia tensor that is not symmetric and positive definite.
    """

    def __init__(self, name, mass, inertia_tensor_body, position, orientation_xyzw, linear_velocity, angular_velocity):
        inertia = np.array(inertia_tensor_body, float)
        inertia = np.diag(inertia) if inertia.ndim == 1 else inertia
        if not (np.isfinite(mass) and mass > 0.0):
            raise ValueError(f"Body {name!r}: mass {mass} kg must be positive and finite; give the body's real mass.")
        if not np.allclose(inertia, inertia.T) or np.linalg.eigvalsh(inertia).min() <= 0.0:
            raise ValueError(
                f"Body {name!r}: inertia tensor {inertia.tolist()} kg m^2 must be symmetric with positive principal "
                "moments; give the tensor about the centre of mass."
            )
        self.name = name
        self.mass = float(mass)
        self.inertia_tensor_body = inertia
        self.position = np.array(position, float)
        orientation = np.array(orientation_xyzw, float)
        self.orientation_xyzw = orientation / np.linalg.norm(orientation)
        self.linear_velocity = np.array(linear_velocity, float)
        self.angular_velocity = np.array(angular_velocity, float)
        self.applied = np.zeros(6)  # force at the centre of mass [N] and torque [N m], world axes

    def inertia_world(self):
        """R I R^T (3, 3) [kg m^2]."""
        r = matrix(self.orientation_xyzw)
        return r @ self.inertia_tensor_body @ r.T

    def inv_mass_matrix_world(self):
        """Inverse of diag(m 1, I) (6, 6) in world axes."""
        inverse = np.zeros((6, 6))
        inverse[:3, :3] = np.eye(3) / self.mass
        inverse[3:, 3:] = np.linalg.inv(self.inertia_world())
        return inverse

    def generalized_force(self):
        """Applied force and torque with the gyroscopic torque -w x I w (6,) [N, N m]."""
        spin = self.inertia_world() @ self.angular_velocity
        return self.applied - np.concatenate([np.zeros(3), cross(self.angular_velocity, spin)])

    def apply_force(self, f):
        """Add a force at the centre of mass (3,) [N], or a force and a torque (6,) [N, N m], in world axes."""
        f = np.asarray(f, float)
        self.applied[: len(f)] += f

    def clear_forces(self):
        """Take all applied forces and torques away."""
        self.applied[:] = 0.0

    def velocity(self):
        """Linear and angular velocity (6,) in world axes."""
        return np.concatenate([self.linear_velocity, self.angular_velocity])


class DistanceConstraint:
    """Keeps two points of two bodies at a distance: C = (|d|^2 - L^2) / 2 = 0.

    Args:
        world_bodies: list of all RigidBody6DOF; it fixes the order of the unknowns.
        body_i: the first body, or its place in the list.
        body_j: the second body, or its place in the list.
        attach_i_local: (3,) point in body i's axes, from its centre of mass [m].
        attach_j_local: (3,) point in body j's axes, from its centre of mass [m].
        length: L [m].
    """

    def __init__(self, world_bodies, body_i, body_j, attach_i_local, attach_j_local, length):
        self.world_bodies = world_bodies
        self.index_i, self.index_j = (_place(world_bodies, body) for body in (body_i, body_j))
        self.attach_i_local = np.array(attach_i_local, float)
        self.attach_j_local = np.array(attach_j_local, float)
        self.length = float(length)

    def rows(self):
        """Number of scalar equations: 1."""
        return 1

    def index_map(self):
        """Columns (12,) of the whole system that the Jacobian's columns stand for: six of body i, six of body j."""
        return np.concatenate([6 * self.index_i + np.arange(6), 6 * self.index_j + np.arange(6)])

    def jacobian(self):
        """dC/dt = J (v_i, w_i, v_j, w_j) (1, 12), J = [-d, -r_i x d, d, r_j x d]."""
        r_i, r_j, d = self._geometry()
        return np.concatenate([-d, -cross(r_i, d), d, cross(r_j, d)])[None, :]

    def evaluate(self):
        """C (1,) [m^2]."""
        _, _, d = self._geometry()
        return np.array([0.5 * (d @ d - self.length**2)])

    def _geometry(self):
        i, j = self.world_bodies[self.index_i], self.world_bodies[self.index_j]
        r_i = matrix(i.orientation_xyzw) @ self.attach_i_local
        r_j = matrix(j.orientation_xyzw) @ self.attach_j_local
        return r_i, r_j, j.position + r_j - i.position - r_i


def _place(world_bodies, body):
    if isinstance(body, RigidBody6DOF):
        return next(k for k, each in enumerate(world_bodies) if each is body)
    return int(body)


def assemble_system(bodies, constraints, alpha=0.0, beta=0.0):
    """The whole system for n bodies and m constraint rows.

    Args:
        bodies: list of RigidBody6DOF.
        constraints: objects with ``rows index_map jacobian evaluate`` as DistanceConstraint has them.
        alpha: gain on C.
        beta: gain on dC/dt = J v.

    Returns:
        Minv (6n, 6n), J (m, 6n), F (6n,), rhs (m,) = -(1 + beta) J v - alpha C, v (6n,).
    """
    n, m = 6 * len(bodies), sum(constraint.rows() for constraint in constraints)
    Minv, J, C = np.zeros((n, n)), np.zeros((m, n)), np.zeros(m)
    for k, body in enumerate(bodies):
        Minv[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = body.inv_mass_matrix_world()
    F = np.concatenate([np.zeros(0), *(body.generalized_force() for body in bodies)])
    v = np.concatenate([np.zeros(0), *(body.velocity() for body in bodies)])
    first = 0
    for constraint in constraints:
        rows = slice(first, first + constraint.rows())
        J[rows, constraint.index_map()] += constraint.jacobian()
        C[rows] = constraint.evaluate()
        first = rows.stop
    return Minv, J, F, -(1.0 + beta) * (J @ v) - alpha * C, v


def solve_kkt(Minv, J, F, rhs):
    """Accelerations a (n,) and multipliers lam (m,) of M a = F + J^T lam, J a = rhs.

    The force of the constraints is J^T lam.  Of repeated constraints the multipliers of least norm are taken.

    Raises:
        ValueError: the constraints contradict each other.
    """
    lam = np.linalg.lstsq(J @ Minv @ J.T, rhs - J @ Minv @ F, rcond=None)[0]
    a = Minv @ (F + J.T @ lam)
    error = np.abs(J @ a - rhs).max(initial=0.0)
    limit = 1e-6 * (np.abs(J) @ np.abs(a) + np.abs(rhs)).max(initial=0.0)
    if error > limit:
        raise ValueError(
            f"The constraints contradict each other: J a differs from the right side by {error:.3g}, more than "
            f"{limit:.3g}; remove one of the constraints."
        )
    return a, lam
