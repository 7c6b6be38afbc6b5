# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that contradict each other: the nearest pose there is to meeting all of them, and what stays wrong there.

    minimise |c(q)|^2 / 2 over the poses q of an island's bodies, by Newton's method with Levenberg's damping:
    (J^T J + B + lambda) d = -J^T c,  q <- q (+) d,  again and again            B = sum of c_i times the bend of row i

c: errors of rigid rows that must vanish, and of rigid limits and ropes as far as they are passed [m, rad]; a velocity
drive asks for the way that it makes in the step.  Drives of limited force, springs and compliant rows give way, so they
are left out.  Where all joints can be met, contacts of bodies that missed are looked at as well, each as a plane on one
body that a point of the other must not pass.  d: linear [m] and, times the radius of gyration, angular motion of each
body: all lengths.  A radian of a row counts as a metre.

Where J^T c = 0, what is left of c are errors that hold each other in balance: they cannot be met together.  Joints that
are redundant but agree, such as three hinges on one axis, leave nothing.  Without B, which is what tension does to a
chain, least squares crawl where errors stay.  Nocedal and Wright 2006, "Numerical Optimization", sections 3.4 and 10.3.
"""

from dataclasses import replace

import numpy as np

from .components import connected_components
from .metrics import joint_norms
from .problem import Coordinate, JointRows
from .reference.rows import coordinates, jacobians, start_gaps
from .rotations import conjugate, exponential, multiply, rotate

DENSE_MOST = 600  # unknowns, six a body, up to which the equations are solved as a dense matrix
WITH_CONTACTS = 50  # bodies of an island up to which contacts count: heaps have many, and may miss frame after frame
BEND_STEP = 1e-5  # [m, rad] of the central differences that give a row's bend from its slopes
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
    rows = _with_drives(problem)
    if not len(rows) or not (np.isfinite(solution.position).all() and np.isfinite(solution.orientation).all()):
        return []
    found = _off(problem.bodies, rows, solution, failed, tolerance)
    if not found and len(planes := _planes(problem, failed)):
        number = rows.joint.max() + 1
        planes.joint += number
        found = _off(problem.bodies, _stacked(rows, planes), solution, failed, tolerance, WITH_CONTACTS)
        found = {joint: error for joint, error in found.items() if joint < number}
    return sorted(found, key=lambda joint: -found[joint])


def _off(bodies, rows, solution, failed, tolerance, most=np.inf):
    """{joint: error} of what cannot be met in islands of ``rows`` that have a body that ``failed`` (n,), and not more
    than ``most``.
    """
    n, found = len(failed), {}
    linked = (rows.body_a < n) & (rows.body_b < n)
    island = connected_components(n, rows.body_a[linked], rows.body_b[linked])
    of_row = island[np.minimum(rows.body_a, rows.body_b)]
    for k in np.unique(island[failed]):
        chosen, members = np.flatnonzero(of_row == k), np.flatnonzero(island == k)
        if len(chosen) and len(members) <= most:
            found |= _what_stays(_Fit(bodies, rows.take(chosen), members, solution), tolerance)
    return found


def _with_drives(problem):
    """The ``rigid`` rows, and velocity drives of any force as rows that must end where their speed leads."""
    rows, bodies = problem.joints, problem.bodies
    firm = np.isposinf(rows.upper) & np.isneginf(rows.lower) & (rows.compliance == 0.0)
    drives = rows.take((rows.beta == 0.0) & firm)
    way = problem.step * drives.target_velocity
    # measured from where they are to end, so that twists are unwrapped around that
    drives.offset += coordinates(drives, bodies.position, bodies.orientation) + way
    drives.target[:], drives.beta[:] = 0.0, 1.0
    return _stacked(rigid(rows), drives)


def _planes(problem, failed):
    """Contacts of bodies that ``failed`` (n,) as rows of joints 0, 1, ...: a gap of 0 at least, or the overlap that may
    be left at the end of the step.
    """
    contacts, n = problem.contacts, len(failed)
    missed = np.append(failed, np.zeros(len(problem.bodies.mass) - n, bool))
    index = np.flatnonzero(missed[contacts.body_a] | missed[contacts.body_b])
    contacts, start = contacts.take(index), start_gaps(problem)[index]
    on_a = contacts.body_a >= n if contacts.face is None else contacts.face == contacts.body_a
    pick = on_a[:, None]
    rows = JointRows.of(len(index))
    rows.joint[:] = np.arange(len(index))
    rows.body_a[:] = np.where(on_a, contacts.body_a, contacts.body_b)
    rows.body_b[:] = np.where(on_a, contacts.body_b, contacts.body_a)
    rows.anchor_a[:] = np.where(pick, contacts.point_a, contacts.point_b)
    rows.anchor_b[:] = np.where(pick, contacts.point_b, contacts.point_a)
    out = np.where(pick, -1.0, 1.0) * contacts.normal
    rows.axis_a[:] = rotate(conjugate(problem.bodies.orientation[rows.body_a]), out)
    rows.offset[:] = contacts.margin_a + contacts.margin_b
    rows.target[:] = np.minimum(0.0, start + problem.step * problem.push_out_speed)
    rows.lower[:] = 0.0
    return rows


def rigid(rows):
    """Rows that must vanish, and rows that must not be passed, whatever the force."""
    above, below = np.isposinf(rows.upper), np.isneginf(rows.lower)
    firm = (above & below) | (above & (rows.lower == 0.0)) | (below & (rows.upper == 0.0))
    return rows.take((rows.beta == 1.0) & (rows.compliance == 0.0) & firm)


def _stacked(first, second):
    """Two JointRows as one."""
    return JointRows(**{name: np.concatenate([column, getattr(second, name)]) for name, column in vars(first).items()})


def _what_stays(fit, tolerance):
    """{joint: error} of the joints that stay off by more than the tolerance at the pose nearest to meeting all."""
    damping, error = LAMBDA_START, fit.error()
    for _ in range(ITERATIONS):
        joint = joint_norms(fit.rows, fit.angular, error)
        if not (joint > tolerance).any():
            return {}
        fit.linearise(error)
        pull = fit.gradient(error)
        if np.linalg.norm(pull) <= BALANCED * np.linalg.norm(error):
            off = joint > max(tolerance, SMALL * np.linalg.norm(error))
            return {int(k): float(joint[fit.rows.joint == k].max()) for k in np.unique(fit.rows.joint[off])}
        while damping < LAMBDA_MOST:
            direction = fit.direction(pull, damping)
            if direction is not None:
                trial = fit.moved(direction)
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
        slot = np.full(len(bodies.mass), -1)
        slot[index] = np.arange(len(index))
        self.slot = slot[np.stack([rows.body_a, rows.body_b], axis=1)]  # (R, 2), -1: immovable
        # each row with two bodies of its own, so that all of them are bent at once
        self.apart = replace(rows, body_a=np.arange(len(rows)), body_b=len(rows) + np.arange(len(rows)))
        self.dense = self.scale.size <= DENSE_MOST

    def error(self, pose=None):
        """(R,) at a pose; that of a limit or a rope is zero where it is kept."""
        rows, (position, orientation) = self.rows, self.pose if pose is None else pose
        off = coordinates(rows, position, orientation) - rows.target
        off = np.where(rows.lower == 0.0, np.minimum(off, 0.0), off)
        return np.where(rows.upper == 0.0, np.maximum(off, 0.0), off)

    def linearise(self, error):
        """Slopes J (R, 12) and bends B (R, 12, 12), error times second derivative, of the rows at the present pose."""
        rows, ends = self.rows, np.concatenate([self.rows.body_a, self.rows.body_b])
        position, orientation = (part[ends] for part in self.pose)
        idle = (error == 0.0) & ((rows.lower == 0.0) | (rows.upper == 0.0))
        scale = np.where((self.slot >= 0)[..., None] & ~idle[:, None, None], self.scale[self.slot], 0.0)
        scale = scale.reshape(len(rows), 12)
        self.jac = np.hstack(jacobians(self.apart, position, orientation)) * scale
        self.bend = np.empty((len(rows), 12, 12))
        for k in range(12):
            sides = []
            for sign in (1.0, -1.0):
                way = np.zeros((2, len(rows), 6))
                way[k // 6, :, k % 6] = sign * BEND_STEP
                way = way.reshape(-1, 6)
                pose = position + way[:, :3], multiply(exponential(way[:, 3:]), orientation)
                sides.append(np.hstack(jacobians(self.apart, *pose)))
            self.bend[:, k] = (sides[0] - sides[1]) * (0.5 / BEND_STEP)
        self.bend *= error[:, None, None] * scale[:, :, None] * scale[:, None, :]
        self.bend = 0.5 * (self.bend + self.bend.transpose(0, 2, 1))
        if self.dense:
            blocks = (self.bend + self.jac[:, :, None] * self.jac[:, None, :]).reshape(-1, 2, 6, 2, 6)
            matrix = np.zeros((len(self.index), len(self.index), 6, 6))
            for s, t in ((0, 0), (0, 1), (1, 0), (1, 1)):
                np.add.at(matrix, (self.slot[:, s], self.slot[:, t]), blocks[:, s, :, t])
            self.matrix = matrix.transpose(0, 2, 1, 3).reshape(self.scale.size, self.scale.size)

    def gathered(self, values):
        """(k, 6) of values (R, 12) on both bodies of each row."""
        out = np.zeros(self.scale.shape)
        for side in (0, 1):
            np.add.at(out, self.slot[:, side], values[:, 6 * side : 6 * side + 6])
        return out

    def gradient(self, error):
        """J^T c (k, 6)."""
        return self.gathered(self.jac * error[:, None])

    def direction(self, pull, damping):
        """Newton's direction (k, 6) with ``damping`` added to the matrix; None where that is not positive definite."""
        if not self.dense:
            return self._conjugate_gradients(-pull, damping)
        matrix = self.matrix + damping * np.eye(len(self.matrix))
        try:
            np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            return None
        return np.linalg.solve(matrix, -pull.ravel()).reshape(pull.shape)

    def _conjugate_gradients(self, right, damping):
        d, r = np.zeros_like(right), right.copy()
        s, size = r.copy(), np.sum(r * r)
        enough = CG_REDUCTION**2 * size
        for _ in range(CG_MOST):
            if size <= enough:
                break
            both = s[self.slot].reshape(-1, 12)
            image = self.jac * np.einsum("ri,ri->r", self.jac, both)[:, None] + np.einsum("rij,rj->ri", self.bend, both)
            image = self.gathered(image) + damping * s
            curve = np.sum(s * image)
            if curve <= 0.0:
                return d if d.any() else None
            step = size / curve
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
