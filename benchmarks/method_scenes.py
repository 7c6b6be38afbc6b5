# SPDX-License-Identifier: GPL-3.0-or-later
"""The larger scenes of methods.py, each a function of a size; plain solver scenes, so no Blender is needed."""

import numpy as np
from axion.solver import Body, Box, Capsule, Joint, Plane, Scene, Sphere


def _with_floor(friction=0.5):
    scene = Scene()
    scene.add(Body("Floor", [Plane()], motion="static", friction=friction))
    return scene


def brick_wall(rows):
    """A wall of ``rows`` courses, eight bricks of 0.4 x 0.2 x 0.2 m in each, in running bond."""
    scene = _with_floor(0.6)
    for row in range(rows):
        for column in range(8):
            place = (0.4 * column + 0.2 * (row % 2), 0.0, 0.1 + 0.2 * row)
            scene.add(
                Body(f"Brick {row}.{column}", [Box((0.2, 0.1, 0.1))], position=place, density=1900.0, friction=0.6)
            )
    return scene


def heavy_pendulum(links):
    """A ball a thousand times as heavy as each of the ``links`` it hangs on, let go at the horizontal."""
    scene = Scene()
    length, upper = 0.3, None
    lying = (0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5))  # a capsule's axis turned from Z to X
    for number in range(links):
        name = f"Link {number}"
        place = (length * (number + 0.5), 0.0, 0.0)
        scene.add(Body(name, [Capsule(0.03, 0.1)], position=place, orientation=lying, mass=1.0))
        scene.add(Joint(f"Joint {number}", "ball", upper, name, position=(length * number, 0.0, 0.0)))
        upper = name
    scene.add(Body("Ball", [Sphere(0.25)], position=(length * links + 0.25, 0.0, 0.0), mass=1000.0))
    scene.add(Joint("Last joint", "ball", upper, "Ball", position=(length * links, 0.0, 0.0)))
    return scene


def falling_boxes(count):
    """``count`` boxes of three sizes dropped as a loose column; the layout is drawn with a fixed seed.

    Of 20, two start inside each other.
    """
    scene = _with_floor()
    generator = np.random.default_rng(1)
    for number in range(count):
        half = 0.1 * (1 + number % 3) * np.array((1.0, 0.7, 0.5))
        turn = generator.normal(size=4)
        place = (*generator.uniform(-0.5, 0.5, size=2), 0.6 + 0.25 * number)
        scene.add(Body(f"Box {number}", [Box(half)], position=place, orientation=turn / np.linalg.norm(turn)))
    return scene
