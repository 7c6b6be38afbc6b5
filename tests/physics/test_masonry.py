# SPDX-License-Identifier: GPL-3.0-or-later
"""Masonry arches a little thicker and thinner than the thinnest that can stand.

Limit analysis of rigid stones without tension (Heyman 1966): an arch stands where some line of thrust stays within
it.  The thinnest semicircular arch has t / R = 0.1075 (Milankovitch 1907); for few stones it is THINNEST_ARCH.
A contact that lies s inside the true edge acts like a thickness less by 2 s, so the edges must be met to some per cent
of 5 % of t / 2: 0.3 mm per metre of radius.
"""

from itertools import groupby

import numpy as np
import pytest
from axion.solver import SolverConfig, rotations, simulate
from figures import figure
from judges import farthest_moved, overlaps
from table_scenes import THINNEST_ARCH, arch

CPU = SolverConfig(device="cpu")
SLOW, FAST = CPU.tolerances()
RADIUS = 10.0
FALLEN = 0.1 * RADIUS  # drop of the keystone


def build(stones, factor, seconds, until_fallen=False):
    """The scene, its trajectory and the drop (F + 1,) of the keystone [m]."""
    scene = arch(stones, factor * THINNEST_ARCH[stones], RADIUS)
    key = stones // 2 + 1
    start = scene.bodies[key].position[2]

    def stands(result):
        return not until_fallen or start - result.position[key, 2] < FALLEN

    trajectory = simulate(scene, 24 * seconds, config=CPU, on_frame=stands)
    return scene, trajectory, start - trajectory.position[:, key, 2]


@pytest.mark.parametrize("factor", [1.03, 1.05, 1.08])
@pytest.mark.parametrize("stones", THINNEST_ARCH)
def test_arch_stands_when_a_little_thicker_than_the_thinnest(stones, factor):
    scene, trajectory, drop = build(stones, factor, 5)
    name = f"arch of {stones} stones, {factor} x thinnest"
    speed = np.linalg.norm(trajectory.linear_velocity[-1], axis=-1).max()
    crown, moved = np.abs(drop).max(), farthest_moved(scene, trajectory).max()
    depth = overlaps(scene, trajectory, range(1, 121, 8)).max()
    assert figure(name, "crown drop in 5 s", crown, 1e-3 * RADIUS, "m") < 1e-3 * RADIUS
    assert figure(name, "farthest any corner moves", moved, 1e-3 * RADIUS, "m") < 1e-3 * RADIUS
    assert figure(name, "speed at the end", speed, 1e-4, "m/s") < 1e-4
    assert figure(name, "penetration", depth, SLOW, "m") < SLOW
    assert all(report.converged for report in trajectory.reports)


@pytest.mark.parametrize("factor", [0.97, 0.95, 0.92])
@pytest.mark.parametrize("stones", THINNEST_ARCH)
def test_arch_falls_when_a_little_thinner_than_the_thinnest(stones, factor):
    scene, trajectory, drop = build(stones, factor, 3, until_fallen=True)
    name = f"arch of {stones} stones, {factor} x thinnest"
    figure(name, "time until the crown has dropped by a tenth of the radius", trajectory.times[-1], 3.0, "s")
    assert figure(name, "crown drop", drop[-1], f"> {FALLEN}", "m") > FALLEN
    depth = overlaps(scene, trajectory).max()
    assert figure(name, "penetration", depth, FAST, "m") < FAST
    assert all(report.converged for report in trajectory.reports)


def openings(trajectory, stones, thickness, frame):
    """(2, stones + 1) distance [m] of the inner and of the outer edges that lay on each other at each joint, from the
    ground at +x to that at -x.
    """
    x, q = trajectory.position, trajectory.orientation
    out = []
    for radius in RADIUS * (1.0 + thickness * np.array([[-0.5], [0.5]])):
        angle = np.pi * np.arange(stones + 1) / stones
        edge = radius * np.column_stack([np.cos(angle), 0.0 * angle, np.sin(angle)])
        carried = []
        for body in (np.arange(stones + 1), np.arange(1, stones + 2) % (stones + 1)):  # 0: the ground
            arm = rotations.rotate(rotations.conjugate(q[0, body]), edge - x[0, body])
            carried.append(x[frame, body] + rotations.rotate(q[frame, body], arm))
        out.append(np.linalg.norm(carried[1] - carried[0], axis=1))
    return np.array(out)


@pytest.mark.parametrize("factor", [0.95, 0.92])
@pytest.mark.parametrize("stones", THINNEST_ARCH)
def test_falling_arch_turns_about_edges_outside_and_inside_by_turns(stones, factor):
    # Five hinges take all it has: at the outer edges of both feet and of the crown, at the inner edges of the haunches.
    # An odd number of stones has two joints beside its keystone, which open together.  Open are those that are so by
    # more than a tenth of the widest.  About a hinge that lies s inside the true edge that edge opens by s / t of what
    # the other opens: 1 % of t is a fifth of what the arch of 0.95 lacks.
    thickness = factor * THINNEST_ARCH[stones]
    _, trajectory, drop = build(stones, factor, 3, until_fallen=True)
    inner, outer = openings(trajectory, stones, thickness, int(np.argmax(drop > 0.01 * RADIUS)))
    widest = np.maximum(inner, outer)
    hinge = widest > 0.1 * widest.max()
    edges = ["outer" if closed else "inner" for closed in (outer < inner)[hinge]]
    name = f"arch of {stones} stones, {factor} x thinnest"
    figure(name, "hinges when the crown has dropped by 1 %", hinge.sum(), "5 or 6: outer inner outer inner outer")
    assert [edge for edge, _ in groupby(edges)] == ["outer", "inner", "outer", "inner", "outer"]
    assert hinge[0] and hinge[-1] and hinge.sum() <= 6
    inset = (np.minimum(inner, outer) / widest)[hinge].max()
    assert figure(name, "hinge inside the true edge, of the thickness", inset, 0.01) < 0.01


@pytest.mark.parametrize(("friction", "stands"), [(0.27, False), (0.35, True)])
def test_thick_arch_slides_apart_where_friction_is_too_little(friction, stands):
    # t / R = 0.3, 15 stones: no equilibrium exists below mu = 0.309 (a linear programme; for stones that slide as
    # Coulomb says it proves falls, and only suggests what stands).
    scene = arch(15, 0.3, RADIUS, friction)
    key = 8
    start = scene.bodies[key].position[2]

    def stands_still(result):
        return stands or start - result.position[key, 2] < FALLEN

    trajectory = simulate(scene, 120, config=CPU, on_frame=stands_still)
    drop = start - trajectory.position[-1, key, 2]
    name = f"arch of 15 stones, t / R = 0.3, mu = {friction}"
    figure(name, "crown drop in 5 s", drop, f"{'<' if stands else '>'} {1e-3 * RADIUS if stands else FALLEN}", "m")
    assert drop < 1e-3 * RADIUS if stands else drop > FALLEN
