# SPDX-License-Identifier: GPL-3.0-or-later
"""A wrecking ball a thousand times as heavy as each link of its chain swings into a wall that a monkey sits on.

python examples/02_chain_and_wrecking_ball.py                    writes the scene to bake
python examples/02_chain_and_wrecking_ball.py --output FOLDER    bakes it, checks what it promises, takes a picture
"""

import math
import sys
from pathlib import Path

import bpy
from mathutils import Matrix, Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))
import studio
import workshop
from measures import Promise, usual

FRAMES = 60
PICTURES = (1, 34, 60)
LINKS, LINK_LENGTH, LINK_MASS = 15, 0.25, 1.0
BALL_RADIUS, BALL_MASS = 0.4, 1000.0
PIVOT = Vector((-0.6, 0.0, 5.0))
SWING = math.radians(60.0)
"""Angle of the taut chain from the vertical at the first frame."""
BRICK = Vector((0.3, 0.5, 0.3))
ROWS, COLUMNS = 6, 5


def add_ground():
    """The floor, and a gallows that stands out of the way."""
    floor = workshop.box("Floor", studio.material("Concrete", (0.36, 0.33, 0.29), 0.9), (0, 0, -0.25), (60, 60, 0.5))
    workshop.bodies([floor], "PASSIVE", "CONCRETE", "BOX", restitution=0.0)
    steel = studio.material("Gallows", (0.85, 0.55, 0.05), 0.4)
    workshop.box("Gallows post", steel, (PIVOT.x, 2.6, 2.6), (0.2, 0.2, 5.2))
    workshop.box("Gallows beam", steel, (PIVOT.x, 1.25, 5.1), (0.2, 2.7, 0.2))


def add_wall():
    """Loose bricks of one mesh; the bevel is for the eye, the collision shape is the box."""
    surface = studio.material("Brick", (0.5, 0.13, 0.06), 0.85)
    data = workshop.primitive("Brick", surface, bpy.ops.mesh.primitive_cube_add, size=1.0)
    data.transform(Matrix.Diagonal((*BRICK, 1.0)))
    bricks = []
    for row in range(ROWS):
        for column in range(COLUMNS):
            y = (column - (COLUMNS - 1) / 2) * (BRICK.y + 0.01) + 0.12 * (row % 2)
            brick = workshop.put(f"Brick {row + 1}.{column + 1}", data, (0.0, y, (row + 0.5) * BRICK.z))
            bevel = brick.modifiers.new("Rounded edges", "BEVEL")
            bevel.width, bevel.segments = 0.015, 2
            bricks.append(brick)
    workshop.bodies(bricks, "ACTIVE", "BRICK", "BOX", restitution=0.0, friction=0.6)


def add_monkey():
    """Blender's monkey, sitting on the wall: the convex hull of its mesh, as heavy as its volume of oak."""
    surface = studio.material("Monkey", (0.1, 0.45, 0.16), 0.35)
    data = workshop.primitive("Suzanne", surface, bpy.ops.mesh.primitive_monkey_add, size=0.7)
    monkey = workshop.put("Suzanne", data, (0, 0.1, ROWS * BRICK.z + 0.36), (math.radians(-22), 0, math.radians(-90)))
    workshop.bodies([monkey], "ACTIVE", "WOOD_OAK", "CONVEX_HULL", restitution=0.0, friction=0.6)


def add_chain():
    """Links along the taut chain, joined in the order of their names, and the ball on the last one."""
    along = Vector((-math.sin(SWING), 0.0, -math.cos(SWING)))
    brass = studio.material("Brass", (0.75, 0.5, 0.18), 0.3, metallic=1.0)
    ring = workshop.primitive(
        "Link",
        brass,
        bpy.ops.mesh.primitive_torus_add,
        major_radius=0.075,
        minor_radius=0.022,
        major_segments=20,
        minor_segments=8,
    )
    ring.transform(Matrix.Diagonal((1.9, 1.0, 1.0, 1.0)))
    lying = along.to_track_quat("X", "Y")
    links = []
    for number in range(LINKS):
        turn = lying @ Matrix.Rotation(math.pi / 2 * (number % 2), 3, "X").to_quaternion()
        place = PIVOT + along * (LINK_LENGTH * (number + 0.5))
        links.append(workshop.put(f"Link {number + 1:02}", ring, place, turn))
    workshop.bodies(links, "ACTIVE", shape="CONVEX_HULL", mass=LINK_MASS)
    # Midway between the origins of two links is where they meet.
    workshop.select(*links)
    bpy.ops.axion.connect_selected(type="POINT", connection_pattern="CHAIN_NAME", pivot_type="CENTER")
    workshop.joint("Upper end", "POINT", PIVOT, None, links[0])

    iron = studio.material("Iron", (0.05, 0.05, 0.06), 0.35, metallic=0.9)
    sphere = workshop.primitive(
        "Wrecking ball", iron, bpy.ops.mesh.primitive_uv_sphere_add, segments=48, ring_count=24, radius=BALL_RADIUS
    )
    end = PIVOT + along * (LINKS * LINK_LENGTH)
    ball = workshop.put("Wrecking ball", sphere, end + along * BALL_RADIUS)
    workshop.bodies([ball], "ACTIVE", shape="SPHERE", mass=BALL_MASS)
    workshop.joint("Lower end", "POINT", end, links[-1], ball)


def build_scene():
    """Replace what is open in Blender by this example's scene; Axion must be registered."""
    workshop.new_scene(FRAMES)
    for part in (add_ground, add_wall, add_monkey, add_chain):
        part()
    studio.add_camera((5.5, -9.5, 3.4), (-0.8, 0.0, 2.2), lens=46.0)
    studio.add_sun((0.45, 0.75, -0.9), 4.2, math.radians(6), (1.0, 0.93, 0.82))
    studio.set_sky((0.5, 0.7, 0.95), 0.6)
    studio.set_render(400, 300, samples=8)


def promises(motion):
    """The chain keeps its length under the load, and the wall falls."""
    yield from usual(motion, reach=40.0)
    reach = ((motion.place("Wrecking ball") - PIVOT) ** 2).sum(axis=1) ** 0.5
    yield Promise("ball farther from the pivot than the taut chain", 1e3 * (reach - reach[0]).max(), "mm", upper=1.0)
    if motion.whole:
        thrown = sum(motion.moved(name)[-1] > 0.3 for name in motion.active() if name.startswith("Brick"))
        yield Promise("bricks thrown by more than 0.3 m", thrown, "", lower=8)


if __name__ == "__main__":
    workshop.main(build_scene, promises, PICTURES, __file__)
