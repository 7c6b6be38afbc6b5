# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes of the benchmark that grow with a number; they obey the rules of comparison_scenes.py."""

import sys
from pathlib import Path

import checkout  # noqa: F401

# isort: split
import numpy as np
from axion.solver import Body, Box, Joint, Plane, Scene, Sphere, TriangleMesh
from comparison_scenes import UNTOUCHABLE, pile

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

import table_scenes

FRICTION = 0.5
LAYERS = 5


def falling_boxes(count):
    """The first ``count`` cubes of the smallest lattice of ``comparison_scenes.pile`` that holds as many."""
    side = int(np.ceil(count ** (1 / 3) - 1e-9))
    scene = pile(side)
    del scene.bodies[1 + count :]
    return scene


def falling_layers(count):
    """The first ``count`` cubes of LAYERS layers of it: however many there are, they fall as far."""
    scene = pile(_side_of_layers(count), LAYERS)
    del scene.bodies[1 + count :]
    return scene


def resting_boxes(count):
    """``count`` cubes of 1 m in layers as wide as the heap is high, each layer set off against the one below.

    Every cube lies on up to four others with its middle above them, so that all are one heap that stays where it is.
    """
    return _resting(count, int(np.ceil(count ** (1 / 3) - 1e-9)))


def resting_layers(count):
    """The same in LAYERS layers."""
    return _resting(count, _side_of_layers(count))


def _side_of_layers(count):
    return int(np.ceil((count / LAYERS) ** 0.5 - 1e-9))


def _resting(count, side):
    scene = Scene(bodies=[Body("Floor", [Plane()], motion="static", friction=FRICTION)])
    for i in range(count):
        column, row, layer = i % side, i // side % side, i // side**2
        shift = 0.2 * (layer % 2) - 0.5 * (side - 1) * 1.02
        place = (1.02 * column + shift, 1.02 * row + shift, 0.5 + layer)
        scene.add(Body(f"Box {i}", [Box((0.5, 0.5, 0.5))], position=place, mass=1.0, friction=FRICTION))
    return scene


def rope_net(side, pitch=0.5):
    """A net of ``side`` by ``side`` knots and the bars between them, hung along one edge, let go at the horizontal.

    Knots and bars are joined by ball joints; nothing collides.
    """
    scene = Scene()
    half = (0.5 * pitch, 0.02, 0.02)
    quarter = (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5))

    def knot(column, row):
        return f"Knot {column}.{row}"

    def bar(start, end, orientation):
        (column, row), (to_column, to_row) = start, end
        name = f"Bar {column}.{row} to {to_column}.{to_row}"
        place = pitch * 0.5 * np.array([column + to_column, row + to_row, 0.0])
        scene.add(
            Body(name, [Box(half)], position=place, orientation=orientation, mass=0.1, collision_mask=UNTOUCHABLE)
        )
        for which, (x, y) in (("from", start), ("to", end)):
            ends = (knot(x, y), name) if which == "from" else (name, knot(x, y))
            scene.add(Joint(f"{name}, {which}", "ball", *ends, position=(pitch * x, pitch * y, 0.0)))

    for column in range(side):
        for row in range(side):
            place = (pitch * column, pitch * row, 0.0)
            scene.add(Body(knot(column, row), [Sphere(0.05)], position=place, mass=0.1, collision_mask=UNTOUCHABLE))
            if column == 0:
                scene.add(Joint(f"Hook {row}", "ball", None, knot(0, row), position=place))
    # From the hung edge outwards, so that every joint hangs a body on one that hangs already or closes a loop.
    for column in range(side):
        for row in range(side):
            if column:
                bar((column - 1, row), (column, row), (0.0, 0.0, 0.0, 1.0))
    for column in range(1, side):
        for row in range(1, side):
            bar((column, row - 1), (column, row), quarter)
    return scene


def ragdolls(count):
    """``count`` ragdolls of ten capsules side by side over stairs, up to three above each other."""
    return table_scenes.ragdolls(count, columns=max(3, int(np.ceil(count / 3))))


def struck_wall():
    """A wall of 180 bricks and the ball of 2 t that flies into it."""
    return table_scenes.struck_wall()


CROSS = tuple(Box(0.15 + 0.35 * np.eye(3)[axis]) for axis in range(3))
"""The bars of a concave body: three boxes crossing in its middle, as in a game of jacks."""


def _cross_mesh():
    """(vertices, triangles) of the surface of CROSS."""
    grid = np.array([-0.5, -0.15, 0.15, 0.5])
    solid = np.zeros((5, 5, 5), bool)  # cells 1 to 3 along each axis; the rest is outside
    solid[2, 2, 1:4] = solid[2, 1:4, 2] = solid[1:4, 2, 2] = True
    numbers, triangles = {}, []
    for cell in np.argwhere(solid):
        for axis in range(3):
            for side in (0, 1):
                beyond = cell.copy()
                beyond[axis] += 2 * side - 1
                if solid[tuple(beyond)]:
                    continue
                u, v = (axis + 1) % 3, (axis + 2) % 3
                face = []
                for du, dv in ((0, 0), (1, 0), (1, 1), (0, 1)):
                    corner = cell - 1
                    corner[axis] += side
                    corner[u] += du
                    corner[v] += dv
                    face.append(numbers.setdefault(tuple(corner), len(numbers)))
                face = face if side else face[::-1]
                triangles += [[face[0], face[1], face[2]], [face[0], face[2], face[3]]]
    return grid[np.array(list(numbers))], np.array(triangles)


def crosses(count):
    """``count`` concave bodies, ``CROSS`` as one mesh each, falling into a heap; fixed seed."""
    mesh = TriangleMesh(*_cross_mesh())
    scene = Scene(bodies=[Body("Floor", [Plane()], motion="static", friction=FRICTION)])
    random, side = np.random.default_rng(1), int(np.ceil(count ** (1 / 3) - 1e-9))
    for i in range(count):
        cell = np.array([i % side, i // side % side, i // side**2])
        turn = random.standard_normal(4)
        place = 1.5 * (cell - (0.5 * (side - 1), 0.5 * (side - 1), 0.0)) + (0.0, 0.0, 1.0)
        turn /= np.linalg.norm(turn)
        scene.add(Body(f"Cross {i}", [mesh], position=place, orientation=turn, mass=1.0, friction=FRICTION))
    return scene


def crosses_of_boxes(scene):
    """``crosses`` with the three boxes of each, which is what the judge of overlaps can measure."""
    bodies = [
        Body(body.name, [*CROSS], position=body.position, orientation=body.orientation, mass=1.0)
        if body.motion == "dynamic"
        else body
        for body in scene.bodies
    ]
    return Scene(gravity=scene.gravity, bodies=bodies)
