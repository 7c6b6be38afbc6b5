# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains of links that only touch hang still, and swing as they do in short steps.

Levers of the step's start made the pull of the load on each link an explicit spring, which shook chains at rest at 9
rad/s after five frames.
"""

import numpy as np
import pytest
from axion.solver import Body, Scene, SolverConfig, rotations, simulate
from contact_scenes import BAR, LONG, link_of_capsules, torus
from figures import figure
from judges import largest_rise, reported_energies
from scenes import turned

CPU = SolverConfig(device="cpu")
STILL = 1e-3  # [rad/s]
NOISE = 0.3  # [rad/s] what 100 kg on links of a thousandth leave of a solve: those turned at 60 rad/s and let go


def capsules():
    """(shapes of a link, distance of two links [m])."""
    return link_of_capsules(), 2.0 * (LONG - BAR)


def tori():
    """The same of a mesh."""
    return [torus(0.03, 0.006, 24, 8)], 0.048


def chain(link, count, last, aside=0.0):
    """``count`` links that touch, each turned across the one before: the first is fixed, the last has its own mass.

    aside: angle by which those below the first lean [rad].
    """
    scene, (shapes, apart), lean = Scene(), link, turned("y", aside)
    upright = turned("x", 0.5 * np.pi)
    across = rotations.multiply(turned("z", 0.5 * np.pi), upright)
    for i in range(count):
        turn = upright if i % 2 else across
        if i == 0:
            scene.add(Body("Hook", shapes, motion="static", orientation=turn))
            continue
        place = rotations.rotate(lean, np.array([0.0, 0.0, (0.5 - i) * apart])) - [0.0, 0.0, 0.5 * apart]
        turn, mass = rotations.multiply(lean, turn), last if i == count - 1 else 0.1
        scene.add(Body(f"Link {i}", shapes, mass=mass, position=place, orientation=turn))
    return scene


@pytest.mark.parametrize("fps", [24, 96])
@pytest.mark.parametrize(
    ("kind", "count", "last", "still"),
    [
        ("capsules", 5, 5.0, STILL), ("capsules", 10, 0.1, STILL), ("capsules", 5, 100.0, NOISE),
        ("tori", 5, 5.0, STILL),
    ],
)  # fmt: skip
def test_chains_hang_still(kind, count, last, still, fps):
    link = capsules() if kind == "capsules" else tori()
    trajectory = simulate(chain(link, count, last), 2 * fps, fps, CPU)
    name = f"{count} links of {kind}, the last of {last:g} kg, at {fps} fps"
    spin = np.linalg.norm(trajectory.angular_velocity[-fps // 2 :, 1:], axis=2).max()
    turned_by = rotations.multiply(trajectory.orientation[-1], rotations.conjugate(trajectory.orientation[0]))
    turn = np.linalg.norm(rotations.logarithm(turned_by), axis=1).max()
    settled = reported_energies(trajectory)[fps // 2 :]
    weight = 9.81 * (0.1 * (count - 2) + last)
    figure(name, "fastest spin after 1.5 s", spin, still, "rad/s")
    figure(name, "largest turn", turn, still, "rad")
    figure(name, "energy gained from 0.5 s on", settled.max() - settled[0], 1e-5 * weight, "J")
    assert spin < still
    assert turn < still
    assert settled.max() - settled[0] <= 1e-5 * weight  # as much as lifts all of it by a hundredth of a millimetre
    assert all(report.converged for report in trajectory.reports)


def test_links_that_start_in_each_other_hang_once_they_are_apart():
    # Tori that lean start 1 mm in each other.  Led apart, they went on along that way alone as long as more than a
    # hundredth of a millimetre of it was left: the chain rose, through each other, by 0.15 J, in frames that converged.
    fps = 384
    scene = chain(tori(), 5, 0.1, 0.5)
    for body in scene.bodies:
        body.friction = 0.0
    trajectory = simulate(scene, 60, fps, CPU)
    energy = reported_energies(trajectory)
    rise = largest_rise(energy[5:])
    deepest = max(report.penetration for report in trajectory.reports[1:])
    bound = 4 * 0.1 * 9.81 * 1e-4  # what lifts all of it by the tolerance
    figure("tori that start in each other, at 384 fps", "energy gained", rise, bound, "J")
    figure("tori that start in each other, at 384 fps", "deepest after a frame", deepest, 1e-4, "m")
    assert rise < bound
    assert deepest <= 1e-4


def test_a_loaded_chain_swings_as_in_short_steps():
    # 5 kg on three links of 0.1 kg, from 0.2 rad: at 384 steps a second it keeps 26.3 of 26.4 mm, with 0.726 s a swing.
    fps, count = 96, 5
    trajectory = simulate(chain(capsules(), count, 5.0, 0.2), 3 * fps, fps, CPU)
    way = trajectory.position[:, count - 1, 0]
    last = np.abs(way[-fps:]).max() / np.abs(way[:fps]).max()
    k = np.nonzero(np.sign(way[1:]) != np.sign(way[:-1]))[0]
    period = 2.0 * np.diff((k + way[k] / (way[k] - way[k + 1])) / fps).mean()
    name = "a chain with 5 kg that swings at 96 fps"
    figure(name, "amplitude kept, 3 s", last, "0.85 to 1.02")
    figure(name, "period", period, "0.726 within 1 %", "s")
    assert 0.85 < last < 1.02
    assert period == pytest.approx(0.726, rel=0.01)


def test_a_loaded_chain_keeps_its_swing_at_24_fps():
    # By backward Euler 0.11 of it was left in the third second.
    trajectory = simulate(chain(capsules(), 5, 5.0, 0.2), 72, 24, CPU)
    way = np.abs(trajectory.position[:, 4, 0])
    last = way[48:].max() / way[:24].max()
    assert figure("a chain with 5 kg that swings at 24 fps", "amplitude kept, 3 s", last, "0.9 to 1") > 0.9
    energy = reported_energies(trajectory)
    bound = 5.3 * 9.81 * 1e-4  # what lifts all of it by the tolerance
    assert (
        figure("a chain with 5 kg that swings at 24 fps", "energy gained", max(energy[1:]) - energy[0], bound, "J")
        < bound
    )
