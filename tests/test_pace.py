# SPDX-License-Identifier: GPL-3.0-or-later
"""Who sets the pace of a frame: spin asks for steps, which what it touches takes, and all others where it pays."""

import numpy as np
from axion.solver import Body, Box, Cylinder, Scene, SolverConfig, simulate
from axion.solver.pace import paces
from axion.solver.step import Stepper
from scenes import ground

NONE = np.zeros(0, int), np.zeros(0, int)


def crowd(count, *spinners):
    """Steps (count,) asked for: 8 by the bodies ``spinners``, 1 by the others; and that all move."""
    asked = np.ones(count, int)
    asked[list(spinners)] = 8
    return asked, np.ones(count, bool)


def test_one_among_many_goes_at_its_own_pace():
    steps, wanted = paces(*crowd(200, 7), NONE)
    assert steps == 1 and wanted[7] == 8 and wanted.sum() == 207


def test_few_bodies_take_its_steps():
    assert paces(*crowd(3, 1), NONE)[0] == 8


def test_what_touches_it_goes_along_and_most_of_a_scene_takes_all_with_it():
    links = np.array([7, 8]), np.array([8, 9])
    steps, wanted = paces(*crowd(200, 7), links)
    assert steps == 1 and np.flatnonzero(wanted > 1).tolist() == [7, 8, 9]
    everything = np.arange(150), np.arange(1, 151)
    assert paces(*crowd(200, 7), everything)[0] == 8


def test_what_stands_connects_nothing():
    asked, moving = crowd(200, 7)
    moving[100] = False
    links = np.arange(200), np.where(np.arange(200) % 2, 100, 200)  # some touch body 100, others the world
    steps, wanted = paces(asked, moving, links)
    assert steps == 1 and np.flatnonzero(wanted > 1).tolist() == [7]


def test_several_paces():
    asked, moving = np.ones(300, int), np.ones(300, bool)
    asked[:200], asked[200] = 2, 16
    steps, wanted = paces(asked, moving, NONE)
    assert steps == 2 and wanted.max() == 16


def coin_beside(boxes):
    """A coin that spins on its rim, and boxes that fall onto each other far away."""
    scene = Scene()
    ground(scene)
    upright = (np.sin(np.pi / 4), 0.0, 0.0, np.cos(np.pi / 4))
    spun = {"orientation": upright, "angular_velocity": (0.0, 0.0, 25.0)}
    scene.add(Body("Coin", [Cylinder(0.3, 0.02)], mass=1.0, position=(0.0, 0.0, 0.301), **spun))
    for k in range(boxes):
        place = (20.0 + 0.7 * (k // 4), 0.05 * (k % 2), 0.3 + 0.6 * (k % 4))
        scene.add(Body(f"Box {k}", [Box((0.25, 0.25, 0.25))], position=place))
    return scene


def coin_of(run):
    """(height, spin) of the coin in each frame, and solves a frame."""
    coin = run.names.index("Coin")
    assert all(report.converged for report in run.reports)
    return run.position[:, coin, 2], np.linalg.norm(run.angular_velocity[:, coin], axis=1)


def test_a_coin_spins_alike_whoever_else_moves(monkeypatch):
    cpu, taken = SolverConfig(device="cpu"), []

    def noted(stepper, step):
        taken[-1] += 1
        return advance(stepper, step)

    def run(boxes):
        taken.append(0)
        return simulate(coin_beside(boxes), 24, config=cpu)

    advance = Stepper.advance
    monkeypatch.setattr(Stepper, "advance", noted)
    alone, among = run(0), run(80)
    (height, spin), (lone_height, lone_spin) = coin_of(among), coin_of(alone)
    print(f"spin {spin[-1]:.3f} rad/s, alone {lone_spin[-1]:.3f}; steps of all in 24 frames: {taken}")
    assert np.abs(height - lone_height).max() < 1e-3
    assert np.abs(spin - lone_spin).max() < 0.02 * lone_spin[0]
    assert 3 * taken[1] < taken[0]  # until the boxes rest and the coin is nearly all that moves


def test_a_bake_goes_on_alike_where_some_rest_and_one_spins():
    cpu, seen = SolverConfig(device="cpu"), {}

    def note(result):
        if result.frame == 36:
            seen["then"] = result.checkpoint()

    whole = simulate(coin_beside(40), 40, config=cpu, on_frame=note)
    rest = simulate(coin_beside(40), 40, config=cpu, resume=seen["then"])
    assert not whole.linear_velocity[36, 2:].any()  # the boxes rest
    assert np.array_equal(whole.position[36:], rest.position)
