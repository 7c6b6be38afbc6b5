# SPDX-License-Identifier: GPL-3.0-or-later
"""Free motion: momentum and energy of the torque-free body, its flip period, damping, and gravity."""

import numpy as np
import pytest
from axion.solver import rotations
from axion.solver.predict import FreeMotion
from axion.solver.problem import frozen
from axion.solver.reference import free_motion
from axion.solver.reference.free_motion import reach
from axion.solver.reference.rotation import world_inertia
from step_problems import unit

MOMENTS = np.array([[1.0, 2.0, 3.0]])
WOBBLE = np.array([[0.01, 5.0, 0.01]])  # about the middle axis: unstable, so it flips over
KERNEL = FreeMotion()


def moved(q, u, inertia, gravity, linear_damping, angular_damping, step):
    """Orientation (n, 4) and velocity (n, 6) after a step of the kernel."""
    count, damping = len(q), np.broadcast_to(linear_damping, len(q))
    decay, turn_decay = np.exp(-damping * step), np.exp(-np.broadcast_to(angular_damping, count) * step)
    pose, order = (np.zeros((count, 3)), q), np.arange(count + 1)
    end = KERNEL.run(pose, u, order, inertia, gravity, reach(damping, step), decay, turn_decay, step)
    return end[4][:count], end[5][:count]


def rotation_of_kernel(q, w, inertia, step):
    q, u = moved(q, np.hstack([np.zeros_like(w), w]), inertia, np.zeros(3), 0.0, 0.0, step)
    return q, u[:, 3:]


def velocity_of_kernel(velocity, gravity, linear_damping, angular_damping, step):
    count = len(velocity)
    ball, q = np.ones((count, 3)), np.tile(rotations.IDENTITY, (count, 1))
    return moved(q, velocity, ball, gravity, linear_damping, angular_damping, step)[1]


@pytest.fixture(params=["reference", "kernel"])
def free_rotation(request):
    return free_motion.free_rotation if request.param == "reference" else rotation_of_kernel


@pytest.fixture(params=["reference", "kernel"])
def free_velocity(request):
    return free_motion.free_velocity if request.param == "reference" else velocity_of_kernel


@pytest.mark.parametrize("spin", [0.0, 0.3, 20.0, 400.0])
def test_kernel_is_the_reference(spin):
    # Any moments in any order, balls and discs too, any spin: the same but for rounding, which each sub-step adds to.
    rng = np.random.default_rng(3)
    count, step = 60, 1 / 24
    inertia = rng.uniform(0.1, 3.0, (count, 3))
    inertia[:5], inertia[5:15, :2], inertia[15:25, 1:] = 0.7, 1.1, 1.3
    q, x, velocity = unit(rng, count, 4), rng.normal(size=(count, 3)), rng.normal(size=(count, 6))
    velocity[:, 3:] *= spin
    d, a = rng.uniform(0.0, 3.0, (2, count)) * (rng.random((2, count)) < 0.5)
    gravity = rng.normal(size=(count, 3))
    want = free_motion.free_velocity(velocity, gravity, d, a, step)
    turned, want[:, 3:] = free_motion.free_rotation(q, want[:, 3:], inertia, step)
    order, still = rng.permutation(count + 2), np.array([[1.0, 2, 3, 4, 5, 6]])
    order = np.concatenate([order[order < count], [count, count + 1]])
    state = (np.vstack([x, [[7.0, 8, 9]]]), np.vstack([q, unit(rng, 1, 4)])), np.vstack([velocity, still])
    laws = (
        values[order[:count]] for values in (inertia, gravity, reach(d, step), np.exp(-d * step), np.exp(-a * step))
    )
    got = KERNEL.run(*state, order, *laws, step)
    for k, begin in enumerate((*state[0], state[1])):
        assert np.array_equal(got[k][:-1], begin[order[:-1]])
        assert np.array_equal(got[k + 3][count], begin[count])  # held: as it was
    exact = 1e-13 * max(1.0, spin)
    assert got[3][:count] == pytest.approx((x + step * want[:, :3])[order[:count]], abs=1e-14)
    assert got[4][:count] == pytest.approx(turned[order[:count]], abs=exact)
    assert got[5][:count] == pytest.approx(want[order[:count]], abs=exact * max(1.0, spin))
    world = [values[-1].tolist() for values in got]
    assert world == 2 * [[0, 0, 0], [0, 0, 0, 1], [0] * 6]


def test_what_the_table_keeps_from_step_to_step_is_never_another_steps():
    """Read-only columns may stay where they lie; new ones, changed ones and more bodies than before may not."""
    rng, motion, step = np.random.default_rng(5), FreeMotion(), 1 / 24

    def columns(count):
        return np.arange(count + 1), rng.uniform(0.5, 2.0, (count, 3)), *rng.uniform(0.1, 1.0, (3, count))

    def ends(kernel, order, inertia, *rest):
        count, rows = len(inertia), np.random.default_rng(len(inertia))
        pose, velocity = (rows.normal(size=(count, 3)), unit(rows, count, 4)), rows.normal(size=(count, 6))
        return kernel.run(pose, velocity, order, inertia, np.ones(3), *rest, step)

    few, others, many = columns(4), columns(4), columns(40)
    for column in (*few, *many):
        frozen(column)
    for each in (few, few, many, few, others, few, others):
        others[1][:] = rng.uniform(0.5, 2.0, others[1].shape)
        for got, want in zip(ends(motion, *each), ends(FreeMotion(), *each), strict=True):
            assert np.array_equal(got, want)


def momentum(q, w, inertia):
    return np.einsum("nij,nj->ni", world_inertia(q, inertia), w)


def energy(q, w, inertia):
    return 0.5 * np.sum(w * momentum(q, w, inertia), axis=1)


def test_momentum_is_kept_to_rounding_for_any_moments(free_rotation):
    rng = np.random.default_rng(0)
    inertia = rng.uniform(0.01, 10.0, (50, 3))
    q, w = unit(rng, 50, 4), 10.0 * rng.normal(size=(50, 3))
    new, turned = free_rotation(q, w, inertia, 0.04)
    before = momentum(q, w, inertia)
    assert np.abs(momentum(new, turned, inertia) - before).max() < 1e-13 * np.abs(before).max()
    assert np.abs(np.linalg.norm(new, axis=1) - 1.0).max() < 1e-15


def test_energy_of_the_flipping_body_does_not_drift(free_rotation):
    # 10 s at 24 fps: sub-steps of 0.5 rad and sixth order are off by 1e-8, not more in the end; second order by 1e-2.
    q, w = rotations.IDENTITY[None], WOBBLE.copy()
    start, seen = energy(q, w, MOMENTS)[0], []
    for _ in range(240):
        q, w = free_rotation(q, w, MOMENTS, 1 / 24)
        seen.append(energy(q, w, MOMENTS)[0] / start - 1.0)
    assert np.abs(seen).max() < 1e-7


@pytest.mark.parametrize("step", [1 / 24, 1 / 240])
def test_flip_period(step, free_rotation):
    # Time between flips of I = (1, 2, 3), w = (.01, 5, .01): half of 4K(m)/omega is one flip; the period is 10.05186 s.
    q, w = rotations.IDENTITY[None], WOBBLE.copy()
    times, spin = [], []
    for k in range(round(16 / step)):
        q, w = free_rotation(q, w, MOMENTS, step)
        times.append((k + 1) * step)
        spin.append(rotations.rotate(rotations.conjugate(q), w)[0, 1])
    spin = np.array(spin)
    down = np.nonzero((spin[:-1] > 0) & (spin[1:] <= 0))[0]
    up = np.nonzero((spin[:-1] < 0) & (spin[1:] >= 0))[0]
    cross = [times[i] + step * spin[i] / (spin[i] - spin[i + 1]) for i in sorted([*down, *up])]
    # the instant is read off two steps by a straight line: as good as the square of the step over the flip
    assert 2.0 * (cross[1] - cross[0]) == pytest.approx(10.05186, rel=1e-7 + 0.05 * step**2)


def integrated(w, inertia, step, count=400):
    """Pose after ``step`` from body velocity w, by Runge-Kutta of Euler's equations and of q' = q w / 2."""

    def rate(y):
        q, w = y[:4], y[4:]
        return np.append(0.5 * rotations.multiply(q, np.append(w, 0.0)), np.cross(inertia * w, w) / inertia)

    y, h = np.append(rotations.IDENTITY, w), step / count
    for _ in range(count):
        a = rate(y)
        b = rate(y + 0.5 * h * a)
        c = rate(y + 0.5 * h * b)
        y = y + h / 6.0 * (a + 2.0 * b + 2.0 * c + rate(y + h * c))
    return y[:4] / np.linalg.norm(y[:4])


@pytest.mark.parametrize("moments", [(1.0, 2.0, 3.0), (3.0, 1.0, 2.0), (2.0, 1.0, 3.0), (0.02, 1.0, 1.01)])
@pytest.mark.parametrize("w", [(0.01, 5.0, 0.01), (4.0, -3.0, 2.0), (0.3, 0.2, -9.0)])
def test_pose_is_that_of_eulers_equations(moments, w, free_rotation):
    # What a step turns is off by less than 1e-6 of itself, so angular momentum read off poses is: one of second order
    # in 0.1 rad was off by 1e-4.  Even and odd orders of the moments, and a thin rod.
    moments, w = np.array(moments), np.array(w)
    got, _ = free_rotation(rotations.IDENTITY[None], w[None], moments[None], 1 / 24)
    want = integrated(w, moments, 1 / 24)
    off = np.linalg.norm(rotations.logarithm(rotations.multiply(got[0], rotations.conjugate(want))))
    assert off < 1e-6 * np.linalg.norm(w) / 24


def test_free_rotation_is_of_sixth_order(free_rotation):
    # error(step) / error(step / 2) = 64, from steps small enough that the splitting takes one round.
    q, w = rotations.IDENTITY[None], np.array([[1.0, 2.0, -1.5]])
    step, exact = 0.2, (q, w)
    for _ in range(64):
        exact = free_rotation(*exact, MOMENTS, step / 64)
    errors = []
    for count in (1, 2):
        got = q, w
        for _ in range(count):
            got = free_rotation(*got, MOMENTS, step / count)
        errors.append(np.abs(got[1] - exact[1]).max())
    assert errors[0] / errors[1] == pytest.approx(64.0, rel=0.3)


def test_bodies_turn_alike_whoever_turns_beside_them(free_rotation):
    # Sub-steps are those of each body: a fast one beside it changes no bit.
    w = np.array([[1.0, 2.0, -1.5], [90.0, 40.0, 200.0]])
    inertia, q = np.tile(MOMENTS, (2, 1)), np.tile(rotations.IDENTITY, (2, 1))
    both, alone = free_rotation(q, w, inertia, 0.04), free_rotation(q[:1], w[:1], inertia[:1], 0.04)
    assert np.array_equal(both[0][0], alone[0][0]) and np.array_equal(both[1][0], alone[1][0])


@pytest.mark.parametrize("moments", [(0.3, 0.3, 0.3), (0.2, 0.3, 0.3), (0.3, 0.5, 0.3)])
def test_symmetric_body_turns_exactly(moments, free_rotation):
    # About its angular momentum at |L| / I, and about its own axis: q(t) = exp(L t / I) q exp((1/I3 - 1/I) L3 t e3).
    rng = np.random.default_rng(1)
    q, w = unit(rng, 5, 4), 20.0 * rng.normal(size=(5, 3))
    moments = np.array(moments)
    across = np.median(moments)
    new, turned = free_rotation(q, w, np.tile(moments, (5, 1)), 0.1)
    local = rotations.rotate(rotations.conjugate(q), w) * moments
    about = rotations.exponential(0.1 * rotations.rotate(q, local) / across)
    want = rotations.multiply(
        rotations.multiply(about, q), rotations.exponential(0.1 * local * (1 / moments - 1 / across))
    )
    assert np.linalg.norm(rotations.logarithm(rotations.multiply(new, rotations.conjugate(want))), axis=1).max() < 1e-12
    back = rotations.rotate(rotations.conjugate(want), rotations.rotate(q, local)) / moments
    assert turned == pytest.approx(rotations.rotate(want, back), abs=1e-11)


def test_damping_is_exponential_whatever_the_step(free_velocity):
    # v' = g - d v: two half steps are one step; v = v0 exp(-d t) + g (1 - exp(-d t)) / d.
    v = np.array([[1.0, -2.0, 3.0, 0.5, 1.5, -2.5], [1.0, -2.0, 3.0, 0.5, 1.5, -2.5]])
    g, d, a = np.array([0, 0, -9.81]), np.array([3.0, 0.0]), np.array([2.0, 0.0])
    once = free_velocity(v, g, d, a, 0.5)
    twice = free_velocity(free_velocity(v, g, d, a, 0.25), g, d, a, 0.25)
    assert once == pytest.approx(twice, abs=1e-14)
    decay = np.exp(-1.5)
    assert once[0, :3] == pytest.approx(v[0, :3] * decay + g * (1 - decay) / 3.0)
    assert once[0, 3:] == pytest.approx(v[0, 3:] * np.exp(-1.0))
    assert once[1] == pytest.approx(v[1] + np.append(0.5 * g, np.zeros(3)))
    assert free_velocity(v, g, d, a, 100.0)[0, 2] == pytest.approx(-9.81 / 3.0)  # terminal velocity
