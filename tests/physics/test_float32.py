# SPDX-License-Identifier: GPL-3.0-or-later
"""precision="float32" on the CPU, on request: the same kernels in the other real type keep the laws to 1e-4 m.

float32 has 7 digits: near the origin, on bodies of a metre, that is 1e-7 m a number.  The judge stays float64.
"""

import numpy as np
import pytest
from as_on_cuda import iterate_without_joints
from axion.solver import SolverConfig, simulate
from figures import figure
from judges import anchor_distances, overlaps
from scenes import chain, pendulum, slope, stack

SINGLE = SolverConfig(device="cpu", precision="float32")
BOUND = SINGLE.tolerances()[1]
BELOW = np.arctan(0.5) - np.radians(2.0)
SCENES = {
    "stack of 10": lambda: stack(10),
    "slope, 2 degrees below the limit": lambda: slope(BELOW),
    "slope of 30 degrees": slope,
    "swinging chain of 10": lambda: chain(10, sideways=True),
    "chain of 10, end 1000 times as heavy": lambda: chain(10, end_mass_ratio=1000.0),
    "pendulum": pendulum,
}
FRAMES = 48


@pytest.mark.parametrize("name", SCENES)
def test_every_frame_is_within_a_tenth_of_a_millimetre(name):
    scene = SCENES[name]()
    trajectory = simulate(scene, FRAMES, config=SINGLE)
    assert BOUND == 1e-4
    worst = max(report.residual for report in trajectory.reports)
    figure(f"{name} in float32", "worst residual", worst, BOUND, "m")
    assert worst <= BOUND
    # from the poses alone: shapes of a metre overlap no more, and anchors of joints stay together
    if any(report.contacts for report in trajectory.reports):
        assert figure(f"{name} in float32", "deepest overlap", overlaps(scene, trajectory).max(), BOUND, "m") <= BOUND
    if scene.joints and scene.joints[0].kind == "ball":
        apart = anchor_distances(scene, trajectory).max()
        assert figure(f"{name} in float32", "widest joint", apart, BOUND, "m") <= BOUND


@pytest.mark.parametrize("method", ["direct", "conjugate gradients"])
@pytest.mark.parametrize("ratio", [1000.0, 10000.0])
def test_a_light_box_under_a_heavy_one_comes_to_rest_at_once(ratio, method, monkeypatch):
    # Its contacts push with ratio g / fps and leave what float32 would round off them: it took hundreds of iterations.
    if method != "direct":
        iterate_without_joints(monkeypatch)
    scene = stack(2)
    scene.bodies[-1].mass = ratio * scene.bodies[-2].mass
    trajectory = simulate(scene, FRAMES, config=SINGLE)
    after = trajectory.reports[12:]
    assert max(report.residual for report in after) <= 0.2 * BOUND
    worst = figure(
        f"{ratio:g} on 1 in float32, {method}", "iterations a frame",
        np.mean([report.newton_iterations for report in after]), 30.0, "",
    )  # fmt: skip
    assert worst <= 30.0
    assert overlaps(scene, trajectory)[12:].max() <= 0.2 * BOUND
    assert overlaps(scene, trajectory).max() <= BOUND


def apart(name, steps):
    """By how much both precisions come to differ [m]."""
    scene = SCENES[name]()
    runs = [simulate(scene, steps, config=SolverConfig(device="cpu", precision=p)) for p in ("float32", "float64")]
    return np.abs(runs[0].position - runs[1].position).max()


def test_both_precisions_are_the_same_motion(monkeypatch):
    # A step may be off by the tolerance, and carries that on as a velocity: n (n + 1) / 2 of it after n steps.
    iterate_without_joints(monkeypatch)
    assert 0.0 < apart("stack of 10", 12) < 12 * 13 * BOUND  # and they are two computations


@pytest.mark.parametrize("name", ["stack of 10", "pendulum"])
def test_what_is_factored_is_the_same_to_the_last_bit(name):
    assert apart(name, 12) == 0.0
