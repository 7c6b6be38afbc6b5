# SPDX-License-Identifier: GPL-3.0-or-later
"""What a joint kept from colliding collides once the joint has broken, as under Bullet, whose broken constraints are
disabled and then forbid nothing.
"""

import numpy as np
import pytest
from axion.solver import Body, Box, ConvexHull, Joint, Plane, Scene, SolverConfig, TriangleMesh, simulate
from figures import figure

CPU = SolverConfig(device="cpu")
SIZE = 0.2
AGAINST_THE_WALL = np.array([0.7 - 1.5 * SIZE, 0.7 - 0.5 * SIZE])
CORNERS = SIZE * (np.array([(k & 1, k >> 1 & 1, k >> 2) for k in range(8)]) - 0.5)


def cube(kind):
    if kind == "box":
        return Box((SIZE / 2,) * 3)
    hull = ConvexHull(CORNERS)
    return hull if kind == "hull" else TriangleMesh(CORNERS, hull.triangles)


def pushed(kind="box", **joint):
    """A body that runs after another one to which it is glued, towards a wall, in space."""
    scene = Scene(gravity=(0, 0, 0))
    scene.add(Body("Behind", [cube(kind)], position=(0, 0, 0), linear_velocity=(0.2, 0, 0)))
    scene.add(Body("Front", [cube(kind)], position=(SIZE, 0, 0), linear_velocity=(0.5, 0, 0)))
    scene.add(Body("Wall", [Box((0.1, 1, 1))], position=(0.8, 0, 0), motion="static"))
    scene.add(Joint("Glue", "fixed", "Behind", "Front", (SIZE / 2, 0, 0), **joint))
    return scene


@pytest.mark.parametrize("kind", ["box", "hull", "mesh"])
def test_bodies_whose_joint_broke_collide(kind):
    # They went through each other: at the end both were at 0.6 m, in frames that had converged.
    trajectory = simulate(pushed(kind, break_force=1e-3), 96, config=CPU)
    assert list(trajectory.broken_joints) == ["Glue"]
    off = np.abs(trajectory.position[-1, :2, 0] - AGAINST_THE_WALL).max()
    assert figure(f"{kind} behind another, glue broken", "off its place at the wall", off, 1e-4, "m") < 1e-4
    assert all(report.converged for report in trajectory.reports)


def test_second_joint_still_keeps_them_apart():
    scene = pushed(break_force=1e-3)
    scene.add(Joint("Leash", "rope", "Behind", "Front", anchors=((0, 0, 0), (SIZE, 0, 0)), length=5.0))
    trajectory = simulate(scene, 96, config=CPU)
    assert list(trajectory.broken_joints) == ["Glue"]
    place = trajectory.position[-1, 0, 0]  # into the one in front, as the rope has it
    assert figure("boxes on a rope, glue broken", "place of the one behind", place, "> 0.5", "m") > 0.5


def test_second_joint_that_breaks_later_lets_them_collide_then():
    scene = pushed(break_force=1e-3)
    scene.add(
        Joint("Leash", "rope", "Behind", "Front", anchors=((0, 0, 0), (SIZE, 0, 0)), length=0.25, break_force=1e-3)
    )
    trajectory = simulate(scene, 120, config=CPU)
    assert set(trajectory.broken_joints) == {"Glue", "Leash"}
    off = np.abs(trajectory.position[-1, :2, 0] - AGAINST_THE_WALL).max()
    assert figure("boxes on a rope, glue and rope broken", "off its place at the wall", off, 1e-4, "m") < 1e-4


def test_wall_of_glued_bricks_that_comes_down_lies_in_a_heap():
    # Each brick is glued to its neighbours, none of which it may touch as long as the glue holds.
    scene, wide, high = Scene(), 6, 5
    scene.add(Body("Floor", [Plane()], motion="static"))
    for z in range(high):
        for x in range(wide):
            scene.add(Body(f"{x} {z}", [cube("box")], position=(x * SIZE, 0, (z + 0.5) * SIZE)))
    for z in range(high):
        for x in range(wide):
            for dx, dz in ((1, 0), (0, 1)):
                if x + dx < wide and z + dz < high:
                    place = ((x + 0.5 * dx) * SIZE, 0, (z + 0.5 + 0.5 * dz) * SIZE)
                    pair = f"{x} {z}", f"{x + dx} {z + dz}"
                    scene.add(Joint("-".join(pair), "fixed", *pair, place, break_force=400.0, break_torque=40.0))
    scene.add(Body("Ball", [cube("box")], position=(2.5 * SIZE, -1.0, 0.7), density=8000.0, linear_velocity=(0, 12, 2)))
    trajectory = simulate(scene, 96, config=CPU)
    name = "wall of 30 glued bricks"
    assert figure(name, "joints broken", len(trajectory.broken_joints), "> 10") > 10
    ends = trajectory.position[-1, 1:-1]
    near = np.linalg.norm(ends[:, None] - ends[None], axis=2)[np.triu_indices(len(ends), 1)]
    nearest = SIZE - near.min()  # middles of two cubes that touch are a side apart, or more
    assert figure(name, "nearest two middles, less than a side by", nearest, 1e-4, "m") < 1e-4
