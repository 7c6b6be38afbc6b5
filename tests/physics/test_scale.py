# SPDX-License-Identifier: GPL-3.0-or-later
"""The same scene at 2 cm, 1 m and 50 m: lengths scale by s, times by sqrt(s), and so does all that happens."""

import numpy as np
import pytest
from axion.solver import SolverConfig, simulate
from figures import figure
from scenes import GRAVITY, downhill, pendulum, pendulum_period, slope, stack

CPU = SolverConfig(device="cpu")
SIZES = [0.02, 1.0, 50.0]


def stepped(scene, size, frames, fps=24.0):
    """As many steps of its own time sqrt(size) for each size."""
    return simulate(scene, frames, fps / np.sqrt(size), CPU)


@pytest.mark.parametrize("size", SIZES)
def test_pendulum_swings_alike_at_every_size(size):
    # The angle after the same number of steps is the same, to 0.1 % of its swing of 1 rad: 2 cm has 12 steps a swing at
    # 170 fps.
    trajectory = stepped(pendulum(size, 1.0, radius=0.1 * size), size, 48)
    model = stepped(pendulum(1.0, 1.0, radius=0.1), 1.0, 48)
    angle, want = (np.arctan2(t.position[:, 0, 0], -t.position[:, 0, 2]) for t in (trajectory, model))
    off = np.abs(angle - want).max()
    name = f"pendulum of {size:g} m"
    assert figure(name, "angle off that of 1 m, 2 sqrt(L) s", off, 1e-3, "rad") < 1e-3
    assert all(report.converged for report in trajectory.reports)


@pytest.mark.parametrize("size", SIZES)
def test_pendulum_keeps_its_swing_at_24_frames(size):
    # 24 fps whatever the size: 2 cm swings 3.5 times a second, 7 frames each.  Mid-step keeps the amplitude: 1 % in the
    # 5 swings that 1 m makes in 10 s (50 m: in 0.9), and what it loses goes with (w h)^3, of which 1 % more; the period
    # is long by (w h)^2 / 12 at most.
    frames = {0.02: 34, 1.0: 240, 50.0: 300}[size]
    trajectory = simulate(pendulum(size, 0.2, radius=0.1 * size), frames, config=CPU)
    omega, step = 2.0 * np.pi / pendulum_period(size, 0.1 * size), 1.0 / 24.0
    angle = np.arctan2(trajectory.position[:, 0, 0], -trajectory.position[:, 0, 2])
    rate = trajectory.angular_velocity[:, 0, 1]
    left = np.arccos(np.clip(np.cos(angle[-1]) - rate[-1] ** 2 / (2.0 * omega**2), -1.0, 1.0))
    name = f"pendulum of {size:g} m at 24 fps"
    bound = 0.01 + 0.01 * (omega * step) ** 3
    kept = figure(name, "amplitude in the end over that at the start", left / 0.2, f"1 +- {bound:.3g}")
    assert kept == pytest.approx(1.0, abs=bound)
    i = np.nonzero((angle[:-1] > 0) != (angle[1:] > 0))[0]
    zero = trajectory.times[i] + step * angle[i] / (angle[i] - angle[i + 1])
    period = 2.0 * (zero[-1] - zero[0]) / (len(zero) - 1) * omega / (2.0 * np.pi)
    bound = 0.01 + (omega * step) ** 2 / 12.0
    assert figure(name, "period over the exact one", period, f"1 +- {bound:.3g}") == pytest.approx(1.0, abs=bound)


@pytest.mark.parametrize("size", SIZES)
def test_box_stays_or_slides_at_every_size(size):
    # 2 degrees either side of the limit for 0.5, at 24 fps: creep below 1e-5 m/s, or what that is at the scale of a
    # small one; the way of the discrete law.
    half = np.array([0.4, 0.3, 0.1]) * size
    below, above = (np.arctan(0.5) + np.radians(d) for d in (-2.0, 2.0))
    rest = simulate(slope(below, 0.5, half), 96, config=CPU)
    creep = np.linalg.norm(rest.position[-1, 1] - rest.position[48, 1]) / 2.0
    bound = 1e-5 * min(1.0, np.sqrt(size))
    assert figure(f"box of {size:g} m 2 degrees below", "creep", creep, bound, "m/s") < bound
    sliding = simulate(slope(above, 0.5, half), 48, config=CPU)
    law = GRAVITY * (np.sin(above) - 0.5 * np.cos(above)) / 24.0**2 * 48 * 49 / 2.0
    way = (sliding.position[-1, 1] - sliding.position[0, 1]) @ downhill(above)
    name = f"box of {size:g} m 2 degrees above"
    assert figure(name, "way over that of the discrete law", way / law, "1 +- 1e-3") == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("size", SIZES)
def test_stack_stands_at_every_size(size):
    # Ten boxes of `size`, two seconds: they move by less than 1e-3 of their size, 1 mm at most, and come to rest:
    # 1 mm/s, or what that is at the scale of small ones.
    trajectory = simulate(stack(10, size), 48, config=CPU)
    drift = np.linalg.norm(trajectory.position - trajectory.position[0], axis=2).max()
    name, bound = f"stack of 10 boxes of {size:g} m", 1e-3 * min(1.0, size)
    assert figure(name, "moved", drift, bound, "m") < bound
    speed, bound = np.sqrt((trajectory.linear_velocity[-1] ** 2).sum(axis=1).mean()), 1e-3 * min(1.0, np.sqrt(size))
    assert figure(name, "rms speed at the end", speed, bound, "m/s") < bound
