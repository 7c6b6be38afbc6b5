# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact law on the device against NumPy, its curvature against differences, and what Newton needs of both."""

from functools import cache

import numpy as np
import pytest
import warp as wp
from axion.solver.constraints.friction import contact_law

DISC, CONE = 0, 1


@cache
def kernels():
    law = contact_law()
    impulse, curvature, next_dual, going_on = law.impulse, law.curvature, law.next_dual, law.going_on
    scalar, vec2, vec3, mat33 = wp.float64, wp.vec2d, wp.vec3d, wp.mat33d

    @wp.kernel(module="axion_test_friction", enable_backward=False)
    def evaluate(
        mode: wp.int32,
        primal_dual: wp.int32,
        y: wp.array(dtype=vec3),
        mu: wp.array(dtype=scalar),
        r: wp.array(dtype=scalar),
        d: wp.array(dtype=vec2),
        dy: wp.array(dtype=vec2),
        p: wp.array(dtype=vec3),
        P: wp.array(dtype=mat33),
        dual: wp.array(dtype=vec2),
    ):
        i = wp.tid()
        p[i] = impulse(mode, y[i], mu[i], r[i])
        P[i] = curvature(mode, y[i], mu[i], r[i], d[i], primal_dual)
        dual[i] = next_dual(y[i], dy[i], r[i], d[i])

    @wp.kernel(module="axion_test_friction", enable_backward=False)
    def assume(
        mode: wp.int32,
        centre: wp.array(dtype=vec3),
        y: wp.array(dtype=vec3),
        mu: wp.array(dtype=scalar),
        r: wp.array(dtype=scalar),
        p: wp.array(dtype=vec3),
        P: wp.array(dtype=mat33),
    ):
        i = wp.tid()
        curve = curvature(mode, y[i], mu[i], r[i], vec2(scalar(0.0)), 0)
        there, curve = going_on(mode, centre[i], y[i], mu[i], impulse(mode, y[i], mu[i], r[i]), curve)
        p[i] = there
        P[i] = curve

    return evaluate, assume


def evaluate(mode, y, mu, r, d=None, dy=None, primal_dual=0):
    """(p (N, 3), curvature (N, 3, 3), next dual (N, 2)) of the device functions."""
    kernel, _ = kernels()
    count = len(y)
    zero = np.zeros((count, 2))

    def to_device(values, dtype):
        return wp.array(np.asarray(values, float), dtype=dtype, device="cpu")

    out = [wp.zeros(count, dtype=dtype, device="cpu") for dtype in (wp.vec3d, wp.mat33d, wp.vec2d)]
    inputs = [to_device(y, wp.vec3d), to_device(mu, wp.float64), to_device(r, wp.float64)]
    inputs += [to_device(zero if values is None else values, wp.vec2d) for values in (d, dy)]
    wp.launch(kernel, dim=count, inputs=[mode, primal_dual, *inputs, *out], device="cpu")
    return [array.numpy().astype(float) for array in out]


def on_disc(y, mu, r):
    """p_n = max(0, y_n); p_t = y_t within the disc of radius r, else its nearest point."""
    length = np.hypot(y[:, 1], y[:, 2])
    share = np.where(length > r, r / np.where(length > 0, length, 1.0), 1.0)
    return np.column_stack([np.maximum(y[:, 0], 0.0), share[:, None] * y[:, 1:]])


def on_cone(y, mu, r):
    """Nearest point of the cone |p_t| <= mu p_n: y itself, the tip, or y projected on the ray (1, mu e) / |(1, mu)|."""
    length = np.hypot(y[:, 1], y[:, 2])
    e = y[:, 1:] / np.where(length > 0, length, 1.0)[:, None]
    ray = np.column_stack([np.ones_like(mu), mu[:, None] * e]) / np.sqrt(1.0 + mu**2)[:, None]
    p = np.maximum(0.0, np.sum(ray * y, axis=1))[:, None] * ray
    p[length <= mu * y[:, 0]] = y[length <= mu * y[:, 0]]
    return p


def on_line(y, mu):
    """Y projected on the line through (1, mu e) and the tip of the cone, ahead of it or behind."""
    length = np.hypot(y[:, 1], y[:, 2])
    ray = np.column_stack([np.ones_like(mu), mu[:, None] * y[:, 1:] / length[:, None]])
    return (np.sum(ray * y, axis=1) / (1.0 + mu**2))[:, None] * ray


LAWS = {DISC: on_disc, CONE: on_cone}


def samples(seed, count=2000):
    rng = np.random.default_rng(seed)
    mu = rng.uniform(0.0, 1.5, count)
    r = np.where(rng.random(count) < 0.1, 0.0, rng.uniform(0.0, 1.5, count))
    return rng.normal(size=(count, 3)), mu, r


def smooth(mode, y, mu, r, margin=1e-3):
    """Samples that are not within ``margin`` of an edge of the law, where it has no derivative."""
    t = np.hypot(y[:, 1], y[:, 2])
    edges = [y[:, 0], t - r, r] if mode == DISC else [t - mu * y[:, 0], mu * t + y[:, 0], mu]
    return np.all(np.abs(edges) > margin, axis=0) & (t > margin)


def differences(of, y, s=1e-5):
    """(N, 3, 3) central differences of ``of(y)``: error s^2 times the third derivative (~1 / t^2), and rounding / s."""
    steps = s * np.eye(3)
    return np.stack([(of(y + step) - of(y - step)) / (2 * s) for step in steps], axis=2)


@pytest.mark.parametrize("mode", [DISC, CONE])
def test_impulse_is_the_projection(mode):
    y, mu, r = samples(0)
    p = evaluate(mode, y, mu, r)[0]
    assert np.abs(p - LAWS[mode](y, mu, r)).max() < 1e-14


@pytest.mark.parametrize("mode", [DISC, CONE])
def test_curvature_is_the_derivative_of_the_impulse(mode):
    y, mu, r = samples(1)
    keep = smooth(mode, y, mu, r, margin=1e-2)
    y, mu, r = y[keep], mu[keep], r[keep]
    P = evaluate(mode, y, mu, r)[1]
    assert np.abs(differences(lambda at: evaluate(mode, at, mu, r)[0], y) - P).max() < 1e-6


@pytest.mark.parametrize(("mode", "primal_dual"), [(DISC, 0), (DISC, 1), (CONE, 0)])
def test_curvature_is_symmetric_and_between_zero_and_one(mode, primal_dual):
    # A projection's derivative lies between 0 and 1; then H = M + J^T P J / sigma is positive definite.
    y, mu, r = samples(2)
    d = 2.0 * np.random.default_rng(3).normal(size=(len(y), 2))
    P = evaluate(mode, y, mu, r, d=d, primal_dual=primal_dual)[1]
    assert np.array_equal(P, P.transpose(0, 2, 1))
    eigenvalues = np.linalg.eigvalsh(P)
    assert eigenvalues.min() > -1e-14
    # |d| <= r, so the primal-dual form is at most (r + |d|) / t <= 2; the others are true derivatives.
    assert eigenvalues.max() < (2.0 if primal_dual else 1.0) + 1e-14


def test_primal_dual_form_is_the_derivative_where_the_dual_has_arrived():
    # With d = p_t the Chan-Golub-Mulet form is the plain derivative of the projection.
    y, mu, r = samples(4)
    keep = smooth(DISC, y, mu, r)
    y, mu, r = y[keep], mu[keep], r[keep]
    d = on_disc(y, mu, r)[:, 1:]
    plain, dual = evaluate(DISC, y, mu, r)[1], evaluate(DISC, y, mu, r, d=d, primal_dual=1)[1]
    assert np.abs(plain - dual).max() < 1e-12


def test_dual_stays_in_the_disc_whatever_the_step():
    rng = np.random.default_rng(5)
    y, mu, r = samples(6)
    d, dy = rng.normal(size=(2, len(y), 2)) * 10.0 ** rng.uniform(-3, 3, (2, len(y), 1))
    dual = evaluate(DISC, y, mu, r, d=d, dy=dy)[2]
    assert np.all(np.hypot(*dual.T) <= r * (1.0 + 1e-14))


def test_dual_step_is_newtons_on_the_disc_equation():
    # max(r, |y|) d = r y, linearised at (y, d): |y| d' + (e . dy) d = r (y + dy) outside the disc, d' = y + dy inside.
    rng = np.random.default_rng(7)
    y, mu, r = samples(8)
    keep = smooth(DISC, y, mu, r)
    y, mu, r = y[keep], mu[keep], r[keep]
    d, dy = on_disc(rng.normal(size=y.shape), mu, 0.9 * r)[:, 1:], 1e-4 * rng.normal(size=(len(y), 2))
    t = np.hypot(y[:, 1], y[:, 2])
    along = np.sum(y[:, 1:] * dy, axis=1) / t
    want = np.where(
        (t > r)[:, None], (r[:, None] * (y[:, 1:] + dy) - along[:, None] * d) / t[:, None], y[:, 1:] + dy
    )  # fmt: skip
    length = np.hypot(*want.T)
    want *= np.minimum(1.0, r / length)[:, None]
    assert np.abs(evaluate(DISC, y, mu, r, d=d, dy=dy)[2] - want).max() < 1e-13


def test_sliding_friction_opposes_the_slip_with_all_it_has():
    # Fixed point p = law(p - v / sigma): with p_n > 0 and slip v_t, p_t = -mu p_n v_t / |v_t|.
    rng = np.random.default_rng(9)
    v = np.column_stack([np.zeros(50), rng.normal(size=(50, 2))])
    mu, normal, sigma = rng.uniform(0.1, 1.0, 50), rng.uniform(0.1, 2.0, 50), 0.01
    p = np.column_stack([normal, -(mu * normal)[:, None] * v[:, 1:] / np.hypot(v[:, 1], v[:, 2])[:, None]])
    assert evaluate(DISC, p - v / sigma, mu, mu * normal)[0] == pytest.approx(p, abs=1e-13)


@pytest.mark.parametrize("mode", [DISC, CONE])
def test_what_pushes_and_sticks_goes_on_by_the_law_without_its_edges(mode):
    # p = y and P = 1 where the centre lies within the cone or disc.  Where it slides: on discs p_n = y_n and the law
    # across, without a link; on cones the nearest point of the mantle's line, wherever on it.
    y, mu, r = samples(4)
    normal = np.random.default_rng(5).uniform(0.1, 1.0, len(y))
    share = np.where(np.arange(len(y)) % 2, 1.0, 0.9)  # every other one slides
    centre = np.column_stack([normal, share * mu * normal, np.zeros(len(y))])
    _, kernel = kernels()
    given = ((centre, wp.vec3d), (y, wp.vec3d), (mu, wp.float64), (r, wp.float64))
    p, P = wp.zeros(len(y), dtype=wp.vec3d, device="cpu"), wp.zeros(len(y), dtype=wp.mat33d, device="cpu")
    arrays = [wp.array(values, dtype=dtype, device="cpu") for values, dtype in given]
    wp.launch(kernel, dim=len(y), inputs=[mode, *arrays, p, P], device="cpu")
    p, P, sliding = p.numpy(), P.numpy(), share == 1.0
    assert np.array_equal(p[~sliding], y[~sliding]) and np.all(P[~sliding] == np.eye(3))
    law, curve = evaluate(mode, y, mu, r)[:2]
    if mode == CONE:
        line, slope = on_line(y, mu)[sliding], differences(lambda at: on_line(at, mu), y)[sliding]
        clear = np.hypot(y[:, 1], y[:, 2])[sliding] > 0.05
        assert p[sliding] == pytest.approx(line, abs=1e-14)
        ahead = clear & (line[:, 0] > 1e-3)  # behind the tip the part across would be negative, and is left out
        assert ahead.sum() > 100 and (~ahead).sum() > 100
        assert np.abs(P[sliding][ahead] - slope[ahead]).max() < 1e-5
        assert np.linalg.eigvalsh(P[sliding]).min() > -1e-12
        return
    assert np.array_equal(p[sliding], np.column_stack([y[sliding, 0], law[sliding, 1:]]))
    expected = curve[sliding].copy()
    expected[:, 0], expected[:, :, 0], expected[:, 0, 0] = 0.0, 0.0, 1.0
    assert np.array_equal(P[sliding], expected)
