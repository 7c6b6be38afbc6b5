# SPDX-License-Identifier: GPL-3.0-or-later
"""Fischer-Burmeister functions on the device: values against the judge's, slopes against differences, roots."""

from functools import cache

import numpy as np
import pytest
import warp as wp
from axion.solver.mathx.complementarity import complementarity_functions
from axion.solver.metrics import fischer_burmeister

DELTA = 1e-6
BOUNDS = {"none": (-np.inf, np.inf), "lower": (-0.5, np.inf), "upper": (-np.inf, 0.7), "both": (-0.5, 0.7)}


@cache
def kernels():
    functions = complementarity_functions()
    pair, bounded_law, friction_law = functions.fischer_burmeister, functions.bounded, functions.friction
    scalar, vec2, vec3 = wp.float64, wp.vec2d, wp.vec3d
    kernel = wp.kernel(module="axion_test_complementarity", enable_backward=False)

    @kernel
    def evaluate_pair(a: wp.array(dtype=scalar), b: wp.array(dtype=scalar), out: wp.array(dtype=vec3)):
        i = wp.tid()
        out[i] = pair(a[i], b[i])

    @kernel
    def evaluate_bounded(
        v: wp.array(dtype=scalar), p: wp.array(dtype=scalar), w: scalar, lower: scalar, upper: scalar,
        out: wp.array(dtype=vec3),
    ):  # fmt: skip
        i = wp.tid()
        out[i] = bounded_law(v[i], p[i], w, lower, upper)

    @kernel
    def evaluate_friction(
        v: wp.array(dtype=vec2), p: wp.array(dtype=vec2), w: scalar, reach: wp.array(dtype=scalar),
        direction: wp.array(dtype=vec2), along: wp.array(dtype=vec3), across: wp.array(dtype=vec3),
    ):  # fmt: skip
        i = wp.tid()
        one = friction_law(v[i], p[i], w, reach[i])
        direction[i] = one.direction
        along[i] = one.along
        across[i] = one.across

    return evaluate_pair, evaluate_bounded, evaluate_friction


def sent(values, dtype):
    return wp.array(np.asarray(values, float), dtype=dtype, device="cpu")


def launched(kernel, inputs, *outputs):
    """Outputs (dtype each) of a test kernel as float64."""
    count = len(inputs[0])
    out = [wp.zeros(count, dtype=dtype, device="cpu") for dtype in outputs]
    wp.launch(kernel, dim=count, inputs=[*inputs, *out], device="cpu")
    return [array.numpy().astype(float) for array in out]


def pair(a, b):
    kernel, _, _ = kernels()
    return launched(kernel, [sent(a, wp.float64), sent(b, wp.float64)], wp.vec3d)[0].T


def bounded(v, p, w, bounds):
    _, kernel, _ = kernels()
    scalars = [wp.float64(x) for x in (w, *bounds)]
    return launched(kernel, [sent(v, wp.float64), sent(p, wp.float64), *scalars], wp.vec3d)[0].T


def friction(v, p, w, reach):
    """(e (N, 2), along (3, N), across (3, N))."""
    _, _, kernel = kernels()
    inputs = [sent(v, wp.vec2d), sent(p, wp.vec2d), wp.float64(w), sent(reach, wp.float64)]
    direction, along, across = launched(kernel, inputs, wp.vec2d, wp.vec3d, wp.vec3d)
    return direction, along.T, across.T


def test_value_is_the_judges():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 500))
    assert pair(a, b)[0] == pytest.approx(fischer_burmeister(a, b), abs=1e-14)


def test_value_and_slopes_survive_very_different_arguments():
    # b - b^2 / 2a + ... at b << a: what a + b - hypot(a, b) loses to cancellation
    scale = 1e12
    value, da, db = pair([scale, 1.0], [1.0, scale])
    assert value == pytest.approx(1.0, rel=1e-6)
    assert da[0] == pytest.approx(0.5 / scale**2, rel=1e-5)
    assert db[1] == pytest.approx(0.5 / scale**2, rel=1e-5)


def test_slopes_are_central_differences():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 500))
    _, da, db = pair(a, b)
    # second derivatives are at most 1 / |(a, b)|, third 3 / |(a, b)|^2
    room = 1e-9 + DELTA**2 / (a * a + b * b)
    assert np.all(np.abs(da - (pair(a + DELTA, b)[0] - pair(a - DELTA, b)[0]) / (2 * DELTA)) < room)
    assert np.all(np.abs(db - (pair(a, b + DELTA)[0] - pair(a, b - DELTA)[0]) / (2 * DELTA)) < room)


def test_the_origin_has_a_slope_between_its_neighbours():
    value, da, db = pair([0.0], [0.0])
    assert value[0] == 0.0
    assert 0.0 < da[0] == db[0] < 1.0


@pytest.mark.parametrize("name", BOUNDS)
def test_slopes_between_bounds_are_central_differences(name):
    rng = np.random.default_rng(2)
    v, p = rng.normal(size=(2, 500))
    w, law = 1.7, BOUNDS[name]
    _, dv, dp = bounded(v, p, w, law)
    by_v = (bounded(v + DELTA, p, w, law)[0] - bounded(v - DELTA, p, w, law)[0]) / (2 * DELTA)
    by_p = (bounded(v, p + DELTA, w, law)[0] - bounded(v, p - DELTA, w, law)[0]) / (2 * DELTA)
    assert dv == pytest.approx(by_v, abs=1e-6)
    assert dp == pytest.approx(by_p, abs=1e-6)
    assert (dv >= 0.0).all() and (dp >= 0.0).all()


@pytest.mark.parametrize("name", BOUNDS)
def test_roots_between_bounds_are_the_law(name):
    # p = clip(p - v / w, lower, upper): zero there, and nowhere else.
    lower, upper = BOUNDS[name]
    rng = np.random.default_rng(3)
    p = np.clip(rng.normal(size=300), lower, upper)
    slip = np.abs(rng.normal(size=300))
    v = np.where(p == lower, slip, np.where(p == upper, -slip, 0.0))
    assert np.abs(bounded(v, p, 2.0, BOUNDS[name])[0]).max() < 1e-15
    v, p = rng.normal(size=(2, 300))
    off = np.abs(p - np.clip(p - v / 2.0, lower, upper))
    value = np.abs(bounded(v, p, 2.0, BOUNDS[name])[0])
    # phi lies within (2 - sqrt 2) and (2 + sqrt 2) of the natural map (Tseng 1996), here nested twice
    assert np.all(value >= (2.0 - np.sqrt(2.0)) ** 2 * 2.0 * off - 1e-12)
    assert np.all(value <= (2.0 + np.sqrt(2.0)) ** 2 * 2.0 * off + 1e-12)


def test_a_bound_of_no_force_at_all_allows_every_velocity():
    assert bounded([-2.0, 0.0, 3.0], [0.0] * 3, 1.0, (0.0, 0.0))[0] == pytest.approx([0.0] * 3, abs=1e-15)


def states_of_friction(rng, count, w=1.0):
    """Velocities, impulses, reach of contacts in every state, and how far from Coulomb's law each is."""
    v, p = rng.normal(size=(2, count, 2))
    reach = np.abs(rng.normal(size=count))
    wanted = w * p - v
    length = np.linalg.norm(wanted, axis=1)
    projected = wanted * np.minimum(1.0, reach / length)[:, None]
    return v, p, reach, np.linalg.norm(w * p - projected, axis=1)


def test_friction_vanishes_where_coulombs_law_holds():
    rng = np.random.default_rng(4)
    w = 0.8
    e, speed = rng.normal(size=(200, 2)), np.abs(rng.normal(size=200))
    e /= np.linalg.norm(e, axis=1)[:, None]
    reach = np.abs(rng.normal(size=200))
    slides = -speed[:, None] * e, reach[:, None] * e / w
    sticks = 0.0 * e, (reach * rng.uniform(0.0, 0.999, 200))[:, None] * e / w
    for v, p in (slides, sticks):
        _, along, across = friction(v, p, w, reach)
        assert np.abs(along[0]).max() < 1e-14
        assert np.abs(across[0]).max() < 1e-14


def test_friction_vanishes_nowhere_else():
    # Both equations together stay within constant factors of the natural map (that of phi to min is 2 -+ sqrt 2).
    v, p, reach, off = states_of_friction(np.random.default_rng(5), 2000)
    _, along, across = friction(v, p, 1.0, reach)
    value = np.hypot(along[0], across[0])
    assert np.all(value >= 0.3 * off)
    assert np.all(value <= 4.0 * off + 1e-12)


def test_an_impulse_outside_the_disc_does_not_stick():
    # At rest with twice the friction that is there: a weight divided by that impulse would call it solved.
    _, along, _ = friction([[0.0, 0.0]], [[2.0, 0.0]], 1.0, [1.0])
    assert along[0][0] == pytest.approx(-fischer_burmeister(0.0, -1.0))
    assert along[2][0] > 0.5  # and the linear equation pulls the impulse back in


def test_slopes_of_friction_are_central_differences():
    # Along e both arguments move without turning e.  Across it the slopes are those of the projection's natural map.
    w, d = 0.8, DELTA
    v, p, reach, _ = states_of_friction(np.random.default_rng(6), 400, w)
    e, along, across = friction(v, p, w, reach)
    f = np.stack([-e[:, 1], e[:, 0]], axis=1)

    def off(v, p):
        y = w * p - v
        length = np.linalg.norm(y, axis=1)
        return np.sum(f * (w * p - y * np.minimum(1.0, reach / length)[:, None]), axis=1)

    def slope(function, in_v, in_p):
        return (function(v + d * in_v, p + d * in_p) - function(v - d * in_v, p - d * in_p)) / (2 * d)

    def first(v, p):
        return friction(v, p, w, reach)[1][0]

    steep = np.abs(reach - np.linalg.norm(w * p - v, axis=1)) < 10 * d  # at the kink of the projection
    assert not steep.any()
    assert along[1] == pytest.approx(slope(first, e, 0 * e), abs=1e-5)
    assert along[2] == pytest.approx(slope(first, 0 * e, e), abs=1e-5)
    assert across[1] == pytest.approx(slope(off, f, 0 * f), abs=1e-6)
    assert across[2] == pytest.approx(slope(off, 0 * f, f), abs=1e-6)
    for slopes in (along, across):
        assert (slopes[1:] >= 0.0).all()
