# SPDX-License-Identifier: GPL-3.0-or-later
"""Blows without restitution that are over within a frame: what is struck leaves with the speed of the blow.

Law of impact with e = 0: both bodies have their common speed right after it, m_a v / (m_a + m_b), or that of what
keyframes move; then each goes on by itself.  It was taken from the way of the frame, and what went on pushed to its
end: a puck was braked with the crate that struck it, and a ball left an eased bat with the speed and along the normal
that this had at the end of the frame.
"""

import numpy as np
import pytest
from axion.solver import Body, Box, MotionPath, Scene, SolverConfig, Sphere, simulate
from figures import figure
from scenes import GRAVITY

CPU, FPS = SolverConfig(device="cpu"), 24.0
SAMPLES = 4  # of a path in a frame, as the add-on has them
SPEED, HALF = 3.0, 0.1
STRUCK = {"box": Box((HALF,) * 3), "ball": Sphere(HALF)}


def sliding(gap, friction, struck, mass):
    """A crate of 1 kg that slides at 3 m/s on ground with ``friction``, and what it strikes, which slides on ice."""
    scene = Scene(gravity=(0.0, 0.0, -GRAVITY), friction_combine="multiply")
    scene.add(Body("Ground", [Box((20.0, 20.0, 0.5))], motion="static", position=(0.0, 0.0, -0.5), friction=1.0))
    crate = {"mass": 1.0, "friction": friction, "linear_velocity": (SPEED, 0.0, 0.0)}
    scene.add(Body("Crate", [Box((HALF,) * 3)], position=(-2.0 * HALF - gap, 0.0, HALF), **crate))
    scene.add(Body("Struck", [STRUCK[struck]], position=(0.0, 0.0, HALF), mass=mass, friction=0.0))
    return scene


@pytest.mark.parametrize("phase", [0.1, 0.3, 0.5, 0.7, 0.9])
@pytest.mark.parametrize(
    "struck, mass, friction", [("box", 1.0, 0.8), ("box", 1.0, 0.3), ("ball", 1.0, 0.8), ("ball", 0.2, 0.5)]
)
def test_what_a_crate_on_rough_ground_strikes_leaves_it(struck, mass, friction, phase):
    """It has 1 / (1 + m) of the speed that friction left the crate.

    By backward Euler the crate comes a h t / 2 less far than by law until it strikes, with a = mu g.
    """
    at, brakes = phase / FPS, friction * GRAVITY
    way, arrives = SPEED * at - 0.5 * brakes * at**2, SPEED - brakes * at
    motion = simulate(sliding(way, friction, struck, mass), 6, FPS, CPU)
    late = brakes * (0.5 * brakes * at**2 / arrives) / arrives  # of its speed, by which it strikes late
    bound = 0.005 + late
    ratio = motion.linear_velocity[-1, 2, 0] * (1.0 + mass) / arrives
    name = f"{struck} of {mass} kg struck after {phase} of a frame by a crate on ground of {friction}"
    assert figure(name, "speed over the law", ratio, f"1 +- {bound:.3f}") == pytest.approx(1.0, abs=bound)
    energy = [report.kinetic_energy for report in motion.reports]
    assert np.diff(energy).max() < 1e-3 and all(report.converged for report in motion.reports)


@pytest.mark.parametrize("phase", [0.2, 0.5, 0.8])
def test_a_box_that_lands_on_one_at_rest_stays_there(phase):
    """Without restitution, on the ground: nobody leaves anybody."""
    scene, fallen = Scene(gravity=(0.0, 0.0, -GRAVITY)), 0.5 * GRAVITY * ((6.0 + phase) / FPS) ** 2
    scene.add(Body("Ground", [Box((20.0, 20.0, 0.5))], motion="static", position=(0.0, 0.0, -0.5)))
    scene.add(Body("Lower", [Box((HALF,) * 3)], position=(0.0, 0.0, HALF)))
    scene.add(Body("Upper", [Box((HALF,) * 3)], position=(0.0, 0.0, 3.0 * HALF + fallen)))
    motion = simulate(scene, 24, FPS, CPU)
    assert np.abs(motion.linear_velocity[9:, 1:]).max() < 1e-3
    assert np.abs(motion.position[9:, 1:, 2] - [HALF, 3.0 * HALF]).max() < 2.0 * CPU.tolerances()[1]
    assert all(report.converged for report in motion.reports)


def eased(frames, begins, after=14):
    """Times (S,) [s] of a path's samples, and how far a curve with flat handles is at them, from 0 to 1."""
    times = np.arange(int((begins + frames + after) * SAMPLES) + 1) / (FPS * SAMPLES)
    share = np.clip((times * FPS - begins) / frames, 0.0, 1.0)
    return times, share**2 * (3.0 - 2.0 * share)


def met(way):
    """Share of an eased motion's time after which it is at ``way`` (0 to 1), and its rate there, in ways a time."""
    share = float(next(x.real for x in np.roots([-2.0, 3.0, 0.0, -way]) if 0.0 <= x.real <= 1.0 and abs(x.imag) < 1e-9))
    return share, 6.0 * share * (1.0 - share)


def bound_of(rate, frames):
    """Of a speed: between two samples it is known in their mean, half an interval early or late."""
    slope = 6.0  # the steepest change of the rate, in the time of the motion
    return 0.01 + 0.5 * slope / (SAMPLES * frames) / rate


@pytest.mark.parametrize("way", [0.55, 0.65, 0.75, 0.85])
@pytest.mark.parametrize("struck", STRUCK)
@pytest.mark.parametrize("frames", [6, 12, 24])
def test_what_an_eased_wall_strikes_leaves_with_its_speed(frames, struck, way):
    """A wall that slows down is left at once: v at the blow, not at the end of its frame."""
    length, (times, part) = 6.0, eased(frames, 5)
    places = np.zeros((len(times), 3))
    places[:, 0] = length * part
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    path = MotionPath(times, places, np.tile([0.0, 0.0, 0.0, 1.0], (len(times), 1)))
    scene.add(Body("Wall", [Box((0.1, 1.0, 1.0), position=(-0.1, 0.0, 0.0))], motion="kinematic", path=path))
    scene.add(Body("Struck", [STRUCK[struck]], position=(length * way + HALF, 0.0, 0.0), mass=1.0, friction=0.0))
    rate = met(way)[1]
    law, bound = length * rate * FPS / frames, bound_of(rate, frames)
    motion = simulate(scene, 5 + frames + 8, FPS, CPU)
    ratio = motion.linear_velocity[-1, 1, 0] / law
    name = f"{struck} struck by a wall eased over {frames} frames, at {way} of its way"
    assert figure(name, "speed over the law", ratio, f"1 +- {bound:.3f}") == pytest.approx(1.0, abs=bound)
    assert all(report.converged for report in motion.reports)


@pytest.mark.parametrize("way", [0.6, 0.7, 0.8])
@pytest.mark.parametrize("frames", [6, 12])
def test_what_an_eased_bat_strikes_leaves_along_its_normal(frames, way):
    """A bat that turns by 100 degrees and is past half of them: w r along the normal of the blow, not that of its frame

    Between two samples its path turns evenly, and it pushes until the next one.
    """
    swing, lever, thick, ball = np.radians(100.0), 0.8, 0.05, 0.05
    times, part = eased(frames, 5)
    turns = np.zeros((len(times), 4))
    turns[:, 2], turns[:, 3] = np.sin(0.5 * swing * part), np.cos(0.5 * swing * part)
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    path = MotionPath(times, np.zeros((len(times), 3)), turns)
    bat = Box((0.5, thick, thick), position=(0.5, 0.0, 0.0))
    scene.add(Body("Bat", [bat], motion="kinematic", path=path, friction=0.0))
    angle = swing * way
    along = np.array([np.cos(angle), np.sin(angle), 0.0])
    normal = np.array([-along[1], along[0], 0.0])
    place = lever * along + (thick + ball) * normal
    scene.add(Body("Ball", [Sphere(ball)], position=place, mass=1.0, friction=0.0))
    rate = met(way)[1]
    law, bound = swing * rate * FPS / frames * lever, bound_of(rate, frames)
    motion = simulate(scene, 5 + frames + 8, FPS, CPU)
    left = motion.linear_velocity[-1, 1]
    aside = np.degrees(np.arctan2(np.linalg.norm(np.cross(normal, left)), left @ normal))
    name = f"ball struck by a bat eased over {frames} frames, at {way} of its way"
    ratio = np.linalg.norm(left) / law
    assert figure(name, "speed over the law", ratio, f"1 +- {bound:.3f}") == pytest.approx(1.0, abs=bound)
    bound = 0.5 + np.degrees(swing * rate / (SAMPLES * frames))
    assert figure(name, "aside of its normal", aside, f"{bound:.1f}", "degrees") < bound
    assert all(report.converged for report in motion.reports)
