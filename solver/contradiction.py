# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that contradict each other: the nearest pose there is to meeting all of them, and what stays wrong there.

    minimise |c(q)|^2 / 2 over the poses q of an island's bodies, by the method of Levenberg and Marquardt:
    d = argmin |J d + c|^2 + lambda |d|^2,  q <- q (+) d,  again and again

c: errors of rigid rows that must vanish, and of rigid limits and ropes as far as they are passed [m, rad]; drives of
limited force, springs and compliant rows give way, so they are left out, and so are contacts.  d: linear [m] and, times
the radius of gyration, angular motion of each body: all lengths.  A radian of a row counts as a metre.

Where J^T c = 0, what is left of c are errors that hold each other in balance: they cannot be met together.  Joints that
are redundant but agree, such as three hinges on one axis, leave nothing.  Nocedal and Wright 2006, "Numerical
Optimization", section 10.3.
"""

import numpy as np

from .metrics import joint_norms
from .problem import Coordinate
from .reference.rows import coordinates, jacobians
from .rotations import exponential, multiply
from .topology import connected_components

DENSE_MOST = 600  # rows or unknowns, the fewer of the two, up to which the equations are solved as a dense matrix
CG_MOST, CG_REDUCTION = 500, 1e-6  # conjugate gradients above that
ITERATIONS = 60
BALANCED = 1e-3  # |J^T c| below this part of |c| is a minimum,
SMALL = 1e-2  # and there an error below this part of |c| is what the search has left, not part of the balance
LAMBDA_START, LAMBDA_LEAST, LAMBDA_MOST = 1e-3, 1e-9, 1e6


def contradictory_joints(problem, solution, failed, tolerance):
    """Numbers of the joints that cannot be met together, worst first.

    Args:
        problem: StepProblem that was given up on.
        solution: the StepSolution delivered for it; the search starts from its end pose.
        failed: (n,) bool, dynamic bodies that missed the tolerance; only what joints tie to one of them is looked at.
        tolerance: error a joint may keep [m, rad].

    Returns:
        list of int, numbers as in ``problem.joints.joint``; empty where all joints can be met, or no minimum was found.
    """
    rows, n = _rigid(problem.joints), problem.bodies.dynamic_count
    if not len(rows) or not (np.isfinite(solution.position).all() and np.isfinite(solution.orientation).all()):
        return []
    linked = (rows.body_a < n) & (rows.body_b < n)
    island = connected_components(n, rows.body_a[linked], rows.body_b[linked])
    of_row = island[np.minimum(rows.body_a, rows.body_b)]
    found = {}
    for k in np.unique(island[failed]):
        chosen = np.nonzero(of_row == k)[0]
        if len(chosen):
            bodies = np.nonzero(island == k)[0]
            found |= _what_stays(_Fit(problem.bodies, rows.take(chosen), bodies, solution), tolerance)
    return sorted(found, key=lambda joint: -found[joint])


def _rigid(rows):
    """Rows that must vanish, and rows that must not be passed, whatever the force."""
    above, below = np.isposinf(rows.upper), np.isneginf(rows.lower)
    firm = (above & below) | (above & (rows.lower == 0.0)) | (below & (rows.upper == 0.0))
    return rows.take((rows.beta == 1.0) & (rows.compliance == 0.0) & firm)


def _what_stays(fit, tolerance):
    """{joint: error} of the joints that stay off by more than the tolerance at the pose nearest to meeting all."""
    damping, error = LAMBDA_START, fit.error()
    for _ in range(ITERATIONS):
        joint = joint_norms(fit.rows, fit.angular, error)
        if not (joint > tolerance).any():
            return {}
        fit.linearise(error)
        pull = fit.transposed(error)
        if np.linalg.norm(pull) <= BALANCED * np.linalg.norm(error):
            off = joint > max(tolerance, SMALL * np.linalg.norm(error))
            return {int(k): float(joint[fit.rows.joint == k].max()) for k in np.unique(fit.rows.joint[off])}
        while damping < LAMBDA_MOST:
            trial = fit.moved(fit.direction(pull, damping))
            new = fit.error(trial)
            if new @ new < error @ error:
                fit.pose, error, damping = trial, new, max(0.1 * damping, LAMBDA_LEAST)
                break
            damping *= 10.0
        else:
            return {}
    return {}


class _Fit:
    """The rows of one island, as functions of the poses of its dynamic bodies."""

    def __init__(self, bodies, rows, index, solution):
        """index: (k,) the island's bodies."""
        self.rows, self.index = rows, index
        self.pose = solution.position.copy(), solution.orientation.copy()
        self.angular = np.isin(rows.coordinate, (Coordinate.DOT, Coordinate.TWIST))
        self.scale = np.ones((len(index), 6))
        self.scale[:, 3:] = 1.0 / bodies.gyration()[index, None]
        self.slot = np.full(len(bodies.mass), -1)
        self.slot[index] = np.arange(len(index))
        self.matrix = None

    def error(self, pose=None):
        """(R,) at a pose; that of a limit or a rope is zero where it is kept."""
        rows, (position, orientation) = self.rows, self.pose if pose is None else pose
        off = coordinates(rows, position, orientation) - rows.target
        off = np.where(rows.lower == 0.0, np.minimum(off, 0.0), off)
        return np.where(rows.upper == 0.0, np.maximum(off, 0.0), off)

    def linearise(self, error):
        """Take the directions of the present pose; limits that are kept have none."""
        rows = self.rows
        idle = (error == 0.0) & ((rows.lower == 0.0) | (rows.upper == 0.0))
        self.sides = []
        for body, jac in zip((rows.body_a, rows.body_b), jacobians(rows, *self.pose), strict=True):
            slot = self.slot[body]
            acts = (slot >= 0) & ~idle
            self.sides.append((np.maximum(slot, 0), np.where(acts[:, None], jac * self.scale[slot], 0.0)))
        self.matrix = None
        if min(len(rows), self.scale.size) <= DENSE_MOST:
            self.matrix = np.zeros((len(rows), *self.scale.shape))
            for slot, jac in self.sides:
                self.matrix[np.arange(len(rows)), slot] += jac
            self.matrix = self.matrix.reshape(len(rows), -1)

    def transposed(self, values):
        """J^T values (k, 6)."""
        out = np.zeros(self.scale.shape)
        for slot, jac in self.sides:
            np.add.at(out, slot, jac * values[:, None])
        return out

    def along(self, d):
        """J d (R,)."""
        return sum(np.einsum("ri,ri->r", jac, d[slot]) for slot, jac in self.sides)

    def direction(self, pull, damping):
        """The minimiser (k, 6) of |J d + c|^2 + damping |d|^2, where pull = J^T c."""
        if self.matrix is None:
            return self._conjugate_gradients(-pull, damping)
        a, b = self.matrix, -pull.ravel()
        if a.shape[0] >= a.shape[1]:
            return np.linalg.solve(a.T @ a + damping * np.eye(a.shape[1]), b).reshape(pull.shape)
        # the same through the smaller matrix J J^T (Woodbury)
        inner = np.linalg.solve(a @ a.T + damping * np.eye(a.shape[0]), a @ b)
        return ((b - a.T @ inner) / damping).reshape(pull.shape)

    def _conjugate_gradients(self, right, damping):
        d, r = np.zeros_like(right), right.copy()
        s, size = r.copy(), np.sum(r * r)
        enough = CG_REDUCTION**2 * size
        for _ in range(CG_MOST):
            if size <= enough:
                break
            image = self.transposed(self.along(s)) + damping * s
            step = size / np.sum(s * image)
            d, r = d + step * s, r - step * image
            size, before = np.sum(r * r), size
            s = r + size / before * s
        return d

    def moved(self, d):
        """The poses that d leads to."""
        position, orientation = (part.copy() for part in self.pose)
        way = d * self.scale
        position[self.index] += way[:, :3]
        orientation[self.index] = multiply(exponential(way[:, 3:]), orientation[self.index])
        return position, orientation
