# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs next to dampers of other rows (reference/coupled_springs.py) against the exact solution of linear systems."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Joint, Scene, Sphere
from axion.solver.constraints.rows import JointTable
from axion.solver.frames import body_frames
from axion.solver.reference.coupled_springs import factor, own_dampers, stepped

H = 1.0 / 24.0


def exact(stiffness, damping, lever):
    """(2K, 2K) of (y, y') over a step, by 2^16 steps of the implicit midpoint rule."""
    square, count = lever @ lever.T, len(stiffness)
    rate = np.zeros((2 * count, 2 * count))
    rate[:count, count:], rate[count:, :count], rate[count:, count:] = (
        np.eye(count), -square * stiffness, -square * damping,
    )  # fmt: skip
    rate *= H / 2.0**17
    return np.linalg.matrix_power(np.linalg.solve(np.eye(2 * count) - rate, np.eye(2 * count) + rate), 2**16)


def energy(stiffness, lever, y, rate):
    moving = np.linalg.lstsq(lever, rate, rcond=None)[0]
    return (stiffness * y * y).sum() + moving @ moving


def random_system(seed):
    """Stiffness, damping (K,) and lever (K, r) of rows between bodies in a line, some of which vibrate fast."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 9))
    bodies = count + int(rng.integers(0, 3))
    mass, wide = 10.0 ** rng.uniform(-1, 1, bodies), np.zeros((count, bodies))
    for row in wide:
        a, b = rng.choice(bodies, 2, replace=False)
        row[a], row[b] = mass[a] ** -0.5, -rng.choice([0, 1, 1, 1]) * mass[b] ** -0.5
    mobility, swing = (wide**2).sum(axis=1), 10.0 ** rng.uniform(-0.5, 1.5, count) / H
    stiffness = swing**2 / mobility * (rng.random(count) < 0.6)
    damping = 2.0 * 10.0 ** rng.uniform(-2, 1.5, count) * swing / mobility * (rng.random(count) < 0.5)
    return stiffness, damping, factor(wide @ wide.T), rng


def swinging(stiffness, damping, lever):
    """Numbers of the springs that a step does not follow and that swing."""
    square, decay = H**2 * stiffness * (lever**2).sum(axis=1), H * damping * (lever**2).sum(axis=1)
    return np.flatnonzero((square > 1.0) & (decay**2 < 4.0 * square))


def off_by(seed, with_own):
    """(greatest, least) of what a random system has beyond the exact one in 12 steps, of what it had; None: no springs
    are fast.
    """
    stiffness, damping, lever, rng = random_system(seed)
    which, springs = swinging(stiffness, damping, lever), np.flatnonzero(stiffness > 0.0)
    if not len(which) or not damping.any():
        return None
    count, n, root = len(stiffness), len(springs), np.sqrt(stiffness[springs])
    y, moving = np.zeros(count), rng.normal(size=lever.shape[1]) * rng.choice([0.0, 1.0])
    y[springs] = rng.normal(size=n) / root
    truth, step = np.append(y, lever @ moving), exact(stiffness, damping, lever)
    state, first = np.append(root * y[springs], moving), energy(stiffness, lever, y, lever @ moving)
    off, last = [], first
    for _ in range(12):
        all_of_it = damping.copy()
        if with_own:
            y[springs] = state[:n] / root
            all_of_it[which] += own_dampers((stiffness, damping), lever, which, H, (y, lever @ state[n:]))
        state = stepped(springs, (stiffness, all_of_it), lever, H, state[:, None])[:, 0]
        assert state @ state <= last * (1.0 + 1e-9), "no step may amplify"
        truth, last = step @ truth, state @ state
        off.append((last - energy(stiffness, lever, truth[:count], truth[count:])) / first)
    return max(off), min(off)


def test_energy_of_coupled_rows_is_near_that_of_the_exact_solution():
    # Each row by its own laws alone leaves up to 0.84 of the energy that dampers have long taken, and more than 0.1 in
    # a quarter of the systems.  A damper of its own for each spring has one decay for what are several modes.
    found, before = (
        np.array([off for off in (off_by(seed, own) for seed in range(120)) if off is not None])
        for own in (True, False)
    )  # fmt: skip
    assert len(found) > 60
    assert found[:, 0].max() < 0.2 and np.quantile(found[:, 0], 0.9) < 0.1
    assert found[:, 1].min() > before[:, 1].min() - 0.05 and np.quantile(found[:, 1], 0.1) > -0.1
    assert before[:, 0].max() > 0.5 and np.quantile(before[:, 0], 0.75) > 0.1, "or the test tells nothing"


def test_one_row_alone_steps_by_its_own_law():
    # det of the map is exp(-h d / m), with or without a spring: reference/springs.py
    lever = np.array([[0.5]])
    for stiffness, damping in ((0.0, 3.0), (4000.0, 0.0), (4000.0, 9.0)):
        springs = np.arange(int(stiffness > 0.0))
        map_ = stepped(springs, (np.array([stiffness]), np.array([damping])), lever, H, np.eye(len(springs) + 1))
        assert np.linalg.det(map_) == pytest.approx(np.exp(-H * damping * 0.25), rel=1e-9)


def test_springs_without_dampers_and_those_at_rest_are_left_alone():
    stiffness, lever = (
        np.array([1e4, 3e4, 0.0]),
        factor(np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])),
    )
    nothing = own_dampers((stiffness, np.zeros(3)), lever, np.array([0, 1]), H)
    assert np.abs(nothing).max() < 1e-6
    # nor is one whose damper acts on something that is not linked with it
    apart = own_dampers((stiffness, np.array([0.0, 0.0, 50.0])), lever, np.array([0, 1]), H)
    assert np.abs(apart).max() < 1e-6


@pytest.mark.parametrize(
    ("stiffness", "mid", "lacks"), [(4000.0, 1.0, True), (100.0, 1.0, False), (4000.0, 0.0, False)]
)
def test_rows_of_joints_get_what_they_lack(stiffness, mid, lacks):
    # A spring of 4000 N/m on 1 kg against 2 kg turns by 3.2 rad in a step, which does not follow that, as it does 0.5.
    # Where steps end in their velocity, all dissipates.
    scene = Scene(gravity=(0, 0, 0))
    for name, mass, x in (("Near", 2.0, 0.0), ("Far", 1.0, 0.5)):
        scene.add(Body(name, [Sphere(0.1)], mass=mass, position=(x, 0, 0), collision_mask=0))
    scene.add(Joint("Damper", "slider", None, "Near", (-0.2, 0, 0), axes={"x": Axis(damping=60.0)}))
    scene.add(Joint("Spring", "slider", "Near", "Far", (0.2, 0, 0), axes={"x": Axis(stiffness=stiffness, rest=0.1)}))
    table = JointTable(scene, body_frames(scene))
    table.observe(np.array([b.position for b in scene.bodies]), np.tile([0.0, 0, 0, 1], (2, 1)), np.zeros((2, 6)))
    spring = next(k for k, ask in enumerate(table._asks) if ask.axis is not None and ask.axis.stiffness > 0.0)
    for _ in range(2):  # and it is none that is added to
        table.rows(H, H, np.full(2, mid))
        damping = table.start.damping[spring]
        assert (damping > 1.0) == lacks and (lacks or damping == 0.0)
        critical = 2.0 * np.sqrt(stiffness * 2.0 / 3.0)
        assert damping <= critical * (1.0 + 1e-9)
