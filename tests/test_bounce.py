# SPDX-License-Identifier: GPL-3.0-or-later
"""Free motion of one body that bounces off what stands still: the kernel, its reference in NumPy, and their law."""

import numpy as np
import pytest
from axion.solver.bounce_kernel import FlyingBodies, FlyingContacts, bounce_bodies
from axion.solver.host import HostKernel, HostTable
from axion.solver.reference.bounce import Flyer, Planes, bounce
from axion.solver.rotations import rotate
from step_problems import box_inertia, unit

STEP, CLOSE, SLOWEST, G = 1.0 / 24.0, 1e-4, 0.2, 9.81
HALF = np.array([0.2, 0.1, 0.15])
SIGNS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)


def thrown(seed):
    """(Flyer, pose, Planes): a box a little above the ground, thrown at it with spin, all of its corners contacts."""
    rng = np.random.default_rng(seed)
    damping = rng.uniform(0.0, 0.5, 2) * (seed % 2)
    flyer = Flyer(2.0, box_inertia(2.0, HALF), np.array([0, 0, -G]), *damping)
    q, count = unit(rng, 4), len(SIGNS)
    lowest = rotate(np.tile(q, (count, 1)), SIGNS * HALF)[:, 2].min()
    pose = np.array([0, 0, 0.03 - lowest]), q, np.append(rng.normal(size=2), [-3.0, *(3.0 * rng.normal(size=3))])
    up = np.tile([0.0, 0, 1], (count, 1))
    friction, restitution = (np.full(count, value) for value in rng.uniform(0.0, 1.0, 2))
    still = np.zeros((2, count, 3))
    return flyer, pose, Planes(SIGNS * HALF, np.zeros(count), up, np.zeros(count), friction, restitution, *still)


def by_reference(flyer, pose, planes):
    return bounce(flyer, pose, planes, STEP, np.full(len(planes.margin), SLOWEST), CLOSE)


def by_kernel(flyer, pose, planes):
    bodies, contacts = HostTable(FlyingBodies, count=1, setting=2), HostTable(FlyingContacts)
    count = len(planes.margin)
    v, w = bodies.reserve(2), contacts.reserve(count)
    v.count[0], v.setting[:], v.first[:2] = 1, (STEP, CLOSE), (0, count)
    for name, value in vars(flyer).items():
        getattr(v, name)[0] = value
    v.x[0], v.q[0], v.u[0] = pose
    for name, values in vars(planes).items():
        getattr(w, name)[:count] = values
    w.slowest[:count] = SLOWEST
    HostKernel(bounce_bodies, bodies, contacts).run()
    if not v.flown[0]:
        return None
    return (v.x[0].copy(), v.q[0].copy(), v.u[0].copy()), v.change[0].copy(), w.impulse[:count].copy()


@pytest.mark.parametrize("seed", range(12))
def test_the_kernel_does_what_the_reference_says(seed):
    case = thrown(seed)
    (pose, change, push), (wanted, wanted_change, wanted_push) = by_kernel(*case), by_reference(*case)
    for found, want in zip((*pose, change, push), (*wanted, wanted_change, wanted_push), strict=True):
        assert found == pytest.approx(want, abs=1e-6)
    assert np.linalg.norm(change) > 0.1


@pytest.mark.parametrize("seed", range(12))
def test_impacts_add_no_energy_and_carry_momentum(seed):
    flyer, pose, planes = thrown(seed)
    flyer.damping = flyer.turn_damping = 0.0
    (x, q, u), change, push = by_kernel(flyer, pose, planes)
    before = flyer.energy(*pose[1:]) + flyer.mass * G * pose[0][2]
    assert flyer.energy(q, u) + flyer.mass * G * x[2] <= before * (1.0 + 1e-9)
    assert push.sum(axis=0) == pytest.approx(flyer.mass * change[:3], abs=1e-12)
    size = np.linalg.norm(push[:, :2], axis=1)
    assert (size <= planes.friction * push[:, 2] + 1e-12).all()  # each impact keeps Coulomb's cone, so their sum does
    assert planes.gaps(x, q).min() > -CLOSE or planes.restitution[0] < 1.0


def carried(case, velocity, gain):
    """The case on a ground that moves at ``velocity`` (3,) and gets faster by ``gain`` (3,), and all else with it."""
    flyer, (x, q, u), planes = case
    flyer.acceleration = flyer.acceleration + gain
    planes.velocity[:], planes.gain[:] = velocity, gain
    return flyer, (x, q, u + np.append(velocity, np.zeros(3))), planes


@pytest.mark.parametrize("seed", range(0, 12, 2))  # without damping, which is that in the world
def test_on_a_ground_that_moves_all_is_as_on_one_that_stands(seed):
    velocity, gain = np.array([3.0, -1.0, 2.0]), np.array([1.0, 2.0, -1.0])
    pose, change, push = by_reference(*thrown(seed))
    for by in (by_reference, by_kernel):
        (x, q, u), found, pushed = by(*carried(thrown(seed), velocity, gain))
        assert x - STEP * (velocity + 0.5 * STEP * gain) == pytest.approx(pose[0], abs=1e-6)
        assert u[:3] - velocity - STEP * gain == pytest.approx(pose[2][:3], abs=1e-6)
        assert u[3:] == pytest.approx(pose[2][3:], abs=1e-6) and q == pytest.approx(pose[1], abs=1e-6)
        assert found == pytest.approx(change, abs=1e-6) and pushed == pytest.approx(push, abs=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_grounds_that_move_each_their_way_give_no_more_than_their_work(seed):
    flyer, pose, planes = thrown(seed)
    flyer.damping = flyer.turn_damping = 0.0
    planes.velocity[:] = np.random.default_rng(seed).normal(size=(8, 3))
    (x, q, u), _, push = by_kernel(flyer, pose, planes)
    before = flyer.energy(*pose[1:]) + flyer.mass * G * (pose[0][2] - x[2]) + np.sum(push * planes.velocity)
    assert flyer.energy(q, u) <= before + 1e-9 * (flyer.energy(q, u) + np.abs(push * planes.velocity).sum())


def test_a_corner_leaves_with_e_times_its_approach():
    # One corner without friction: p = (1 + e) v / (1 / m + (r x n).I^-1 (r x n)), at the lever of the impact.
    flyer, (x, q, u), planes = thrown(0)
    planes.friction[:], planes.restitution[:] = 0.0, 0.6
    u[3:], flyer.acceleration[:] = 0.0, 0.0
    lever = rotate(np.tile(q, (8, 1)), SIGNS * HALF)
    r = lever[lever[:, 2].argmin()]
    turn = rotate(q * (-1, -1, -1, 1), np.cross(r, [0, 0, 1]))
    impulse = 1.6 * 3.0 / (1.0 / flyer.mass + turn @ (turn / flyer.inertia))
    first = bounce(flyer, (x, q, u), planes, 0.03 / 3.0 + 1e-6, np.zeros(8), CLOSE)
    assert first[2].sum(axis=0) == pytest.approx([0, 0, impulse], abs=1e-9)
