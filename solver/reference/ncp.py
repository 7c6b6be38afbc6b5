# SPDX-License-Identifier: GPL-3.0-or-later
"""Coulomb friction as a nonlinear complementarity problem, solved to high accuracy in float64.

    u = W r + q,    K_mu contains r  perpendicular to  u + mu |u_t| n  in the dual cone K*_mu

for n contacts with three components each, (normal, t1, t2); K_mu is the cone |r_t| <= mu r_n, and mu |u_t| n De Saxce's
shift, which makes the law a projection: r = P_K(r - rho (u + mu |u_t| n)) for any rho > 0 (De Saxce and Feng 1998).

Two methods take turns, on the problem scaled to a mean diagonal of 1 (the same factor for the three components of a
contact, which leaves the cone as it is):
    splitting   x = (W + rho)^-1 (...), z = P_K(...) (Douglas and Rachford 1956; ADMM): slow, but it always comes near;
    Newton      semismooth, on Alart and Curnier's equations (1991) of the proximal problem W + alpha, q - alpha r,
                whose alpha shrinks: W of a hyperstatic heap has no inverse, and W + alpha does.
The natural map at rho = 1 decides; it is the error measure of Siconos (fc3d_compute_error).
"""

import numpy as np

_ROUNDS = 7
_PATIENT_ROUNDS = 5
_SPLITTING_STEPS = 200  # in the first round, twice as many in each next one
_RHO, _RELAXATION = 0.3, 1.6
_ALPHA_START, _ALPHA_LEAST, _ALPHA_MOST = 1e-3, 1e-10, 0.1
_NEWTON_STEPS, _MEMORY, _HOPE = 20, 5, 6


def solve_ncp(W, q, mu, tolerance=5e-9):
    """Contact impulses r of u = W r + q with Coulomb friction.

    Args:
        W: (3n, 3n) Delassus matrix J M^-1 J^T, an array or anything with ``toarray()``.
        q: (3n,) velocities without contact impulses.
        mu: coefficient of friction, a number or (n,).
        tolerance: wanted ``natural_map_error``.

    Returns:
        r (3n,).  Its error is at most ``tolerance``, or at most 1e-6 where five rounds did not reach ``tolerance``.

    Raises:
        ValueError: arrays that do not fit together, values that are not finite, mu < 0, a contact between bodies that
            cannot move.
        ArithmeticError: no solution was found; the message gives the error that is left.  The problem may have none.
    """
    W, q, mu = _checked(W, q, mu)
    best = np.zeros_like(q)
    if natural_map_error(W, q, mu, best) == 0.0:
        return best
    scale = np.repeat(1.0 / np.sqrt(W.diagonal().reshape(-1, 3).mean(axis=1)), 3)
    scaled_w, scaled_q = scale[:, None] * W * scale, scale * q

    def error(r):
        return natural_map_error(W, q, mu, scale * r)

    splitting = _Splitting(scaled_w, scaled_q, mu)
    least = np.inf
    for turn in range(_ROUNDS):
        r = splitting.run(_SPLITTING_STEPS * 2**turn)
        enough = tolerance if turn + 1 < _PATIENT_ROUNDS else max(tolerance, 1e-6)
        if error(r) > enough:
            r = _proximal_newton(scaled_w, scaled_q, mu, r, error, tolerance)
        if error(r) < least:
            best, least = scale * r, error(r)
        if least <= enough:
            return best
    raise ArithmeticError(
        f"{len(mu)} contacts: the best impulses found leave an error of {least:.3g}, more than the 1e-6 allowed; check "
        "that the bodies can move apart at all."
    )


def natural_map_error(W, q, mu, r):
    """|r - P_K(r - (u + mu |u_t| n))| / |q| with u = W r + q; 0 where q and the difference are 0."""
    impulse, u = np.reshape(r, (-1, 3)), (W @ r + q).reshape(-1, 3)
    shifted = u + 0.0
    shifted[:, 0] += mu * np.hypot(u[:, 1], u[:, 2])
    difference = np.linalg.norm(impulse - project_cone(impulse - shifted, mu))
    return float(difference / np.linalg.norm(q)) if difference > 0.0 else 0.0


def project_cone(x, mu):
    """Nearest points (n, 3) of the cones |x_t| <= mu x_n to the points x (n, 3)."""
    normal, tangent = x[:, 0], x[:, 1:]
    length = np.hypot(tangent[:, 0], tangent[:, 1])
    on_cone = (normal + mu * length) / (1.0 + mu * mu)
    out = np.empty_like(x)
    out[:, 0] = on_cone
    out[:, 1:] = (mu * on_cone / np.where(length > 0.0, length, 1.0))[:, None] * tangent
    inside = length <= mu * normal
    out[inside] = x[inside]
    out[mu * length <= -normal] = 0.0
    return out


class _Splitting:
    """Douglas-Rachford iteration whose state goes on from call to call."""

    def __init__(self, W, q, mu):
        self.inverse = np.linalg.inv(W + _RHO * np.eye(len(q)))
        self.q, self.mu, self.state = q, mu, np.zeros_like(q)

    def run(self, steps):
        """The impulse after ``steps`` more iterations."""
        for _ in range(steps):
            point = self.state.reshape(-1, 3)
            z = project_cone(point, self.mu)
            slip = _RHO * (z - point)[:, 1:]  # rho (z - state) = u + mu |u_t| n
            target = _RHO * (2.0 * z - point) - self.q.reshape(-1, 3)
            target[:, 0] -= self.mu * np.hypot(slip[:, 0], slip[:, 1])
            self.state = self.state + _RELAXATION * (self.inverse @ target.ravel() - z.ravel())
        return project_cone(self.state.reshape(-1, 3), self.mu).ravel()


def _proximal_newton(W, q, mu, r, error, tolerance):
    """Proximal points r <- solution of (W + alpha, q - alpha r), while they come nearer; returns the nearest one."""
    best, least = r, error(r)
    alpha, failures, idle = _ALPHA_START, 2, 0  # where even the first one fails, r is not near enough yet
    while least > tolerance and failures < 3 and idle < 5:
        step, solved = _newton(W + alpha * np.eye(len(q)), q - alpha * r, mu, r)
        found = error(step)
        idle = 0 if found < 0.5 * least else idle + 1
        if found < least:
            best, least = step, found
        if solved:
            r, failures, alpha = step, 0, max(alpha / 10.0, _ALPHA_LEAST)
        else:
            failures, alpha = failures + 1, min(alpha * 10.0, _ALPHA_MOST)
    return best


def _newton(W, q, mu, r):
    """Semismooth Newton with a non-monotone line search on |F|; the last iterate and whether it solves F = 0."""
    limit = 1e-12 * np.linalg.norm(q)
    value, matrix = _alart_curnier(W, q, mu, r)
    sizes = [np.linalg.norm(value)]
    for _ in range(_NEWTON_STEPS):
        if sizes[-1] <= limit or (len(sizes) > _HOPE and sizes[-1] > 0.3 * sizes[-1 - _HOPE]):
            break
        direction = _solve(matrix, -value)
        if direction is None:
            break
        reference, fraction = max(sizes[-_MEMORY:]), 1.0
        for _ in range(12):
            trial = r + fraction * direction
            size = np.linalg.norm(_alart_curnier(W, q, mu, trial, derivative=False)[0])
            if size <= (1.0 - 1e-4 * fraction) * reference:
                break
            fraction *= 0.5
        else:
            break
        r = trial
        sizes.append(size)
        value, matrix = _alart_curnier(W, q, mu, r)
    return r, sizes[-1] <= 1e3 * limit


def _solve(matrix, right):
    """The Newton direction, or None where the active set makes the matrix singular."""
    try:
        return np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        return None


def _alart_curnier(W, q, mu, r, derivative=True):
    """F = r - (max(0, y_n), projection of y_t on the disc of radius mu max(0, y_n)), y = r - (W r + q), and dF/dr."""
    n = len(mu)
    y = (r - (W @ r + q)).reshape(n, 3)
    touching = y[:, 0] > 0.0
    radius = mu * np.maximum(y[:, 0], 0.0)
    length = np.hypot(y[:, 1], y[:, 2])
    sliding = length > radius
    ratio = np.where(sliding, radius / np.where(length > 0.0, length, 1.0), 1.0)
    image = np.column_stack([np.maximum(y[:, 0], 0.0), ratio * y[:, 1], ratio * y[:, 2]])
    value = r - image.ravel()
    if not derivative:
        return value, None
    along = np.where(sliding, 1.0, 0.0)[:, None] * y[:, 1:] / np.where(length > 0.0, length, 1.0)[:, None]
    slope = np.zeros((n, 3, 3))  # d image / d y
    slope[:, 0, 0] = touching
    slope[:, 1:, 0] = (touching * mu)[:, None] * along
    slope[:, 1:, 1:] = ratio[:, None, None] * (np.eye(2) - np.einsum("ci,cj->cij", along, along))
    inner = (np.eye(3 * n) - W).reshape(n, 3, 3 * n)
    return value, np.eye(3 * n) - np.matmul(slope, inner).reshape(3 * n, 3 * n)


def _checked(W, q, mu):
    W = np.asarray(W.toarray() if hasattr(W, "toarray") else W, float)
    q = np.asarray(q, float).ravel()
    n = len(q) // 3
    if len(q) != 3 * n or W.shape != (3 * n, 3 * n):
        raise ValueError(f"W has shape {W.shape} and q {q.shape}; n contacts need (3n, 3n) and (3n,).")
    if np.shape(mu) not in ((), (n,)):
        raise ValueError(f"mu has shape {np.shape(mu)}; give one number, or one for each of the {n} contacts.")
    mu = np.broadcast_to(np.asarray(mu, float), (n,))
    if not (np.isfinite(W).all() and np.isfinite(q).all() and np.isfinite(mu).all()):
        raise ValueError("W, q and mu must be finite; look for a NaN or an infinite value in the bodies' data.")
    if (mu < 0.0).any():
        raise ValueError(f"Contact {mu.argmin()}: friction {mu.min()} must not be negative; use 0 for no friction.")
    diagonal = W.diagonal().reshape(n, 3).mean(axis=1)
    if (diagonal <= 0.0).any():
        raise ValueError(
            f"Contact {diagonal.argmin()}: mean diagonal {diagonal.min()} of W must be positive; leave out contacts "
            "between bodies that cannot move."
        )
    return W, q, mu
