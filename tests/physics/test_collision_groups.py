# SPDX-License-Identifier: GPL-3.0-or-later
"""Who collides with whom, seen in the motion."""

import pytest
from axion.solver import Body, Box, Joint, Scene, SolverConfig, Sphere, simulate
from scenes import GRAVITY, ground

CPU = SolverConfig(device="cpu")
FALL = 1.0 - 0.5 * GRAVITY  # where a ball from 1 m would be after a second


@pytest.mark.parametrize(
    ("group", "mask", "falls"),
    [(1, 0xFFFFFFFF, False), (2, 0xFFFFFFFF, False), (1, 0, True), (1, 0xFFFFFFFE, True), (2, 1, False), (4, 2, True)],
)
def test_two_bodies_collide_when_each_is_in_the_others_mask(group, mask, falls):
    scene = Scene()
    ground(scene)  # group 1, every mask
    scene.add(Body("Ball", [Sphere(0.1)], position=(0, 0, 1), collision_group=group, collision_mask=mask))
    height = simulate(scene, 24, config=CPU).position[-1, 1, 2]
    assert height == pytest.approx(FALL if falls else 0.1, abs=1e-4)


@pytest.mark.parametrize("collide", [False, True])
def test_joined_bodies_collide_only_on_demand(collide):
    # Two overlapping boxes on one hinge: pushed apart only where the joint lets them collide.
    scene = Scene(gravity=(0, 0, 0))
    scene.add(Body("A", [Box((0.5, 0.1, 0.1))], motion="static"))
    scene.add(Body("B", [Box((0.5, 0.1, 0.1))], position=(0.95, 0, 0), mass=1.0))
    scene.add(Joint("Slider", "slider", "A", "B", (0.5, 0, 0), collide_connected=collide))
    moved = simulate(scene, 24, config=CPU).position[-1, 1, 0] - 0.95
    # nothing brakes the slider afterwards: a velocity within tolerance / h may carry it on for the rest of the second
    assert moved == pytest.approx(0.05 if collide else 0.0, abs=24 * 1e-4)
