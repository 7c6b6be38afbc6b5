# SPDX-License-Identifier: GPL-3.0-or-later
"""A beam engine run backwards: a motor turns the crank, a rod rocks the beam, and a ram pushes crates off a table.

All pins are hinges and the ram is a slider.  In a plane that is more than enough, and they hold.

    python examples/04_linkage_with_motor.py                    writes the scene to bake
    python examples/04_linkage_with_motor.py --output FOLDER    bakes it, checks what it promises, takes a picture
"""

import math
import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))
import studio
import workshop
from measures import Promise, usual

FRAMES = 73
PICTURES = (1, 16, 41)
SPEED = math.radians(180.0)
"""What the motor holds [rad/s]: half a turn a second, 7.5 degrees a frame."""
ABOUT_Y = (math.radians(-90.0), 0.0, 0.0)
"""Turns a hinge's Z axis into the world's Y."""
CRANK, CRANK_PIN = Vector((-1.4, 0.0, 1.0)), Vector((-1.0, 0.0, 1.0))
BEAM, BEAM_LEFT, BEAM_RIGHT = Vector((0.0, 0.0, 2.6)), Vector((-1.2, 0.0, 2.6)), Vector((0.0, 0.0, 1.4))
RAM = Vector((1.5, 0.0, 1.1))
TABLE_TOP = 0.9


def bar(name, surface, start, end, y, width=0.14):
    """A bar of rounded edges between two points [m] in the plane at ``y``, its X axis along it."""
    along = end - start
    data = workshop.primitive(name, surface, bpy.ops.mesh.primitive_cube_add, size=1.0)
    for vertex in data.vertices:
        vertex.co = (vertex.co.x * (along.length + width), vertex.co.y * 0.1, vertex.co.z * width)
    middle = (start + end) / 2
    item = workshop.put(name, data, (middle.x, y, middle.z), along.to_track_quat("X", "Z"))
    bevel = item.modifiers.new("Rounded edges", "BEVEL")
    bevel.width, bevel.segments = 0.03, 3
    return item


def pin(name, place, first, second, **settings):
    """A hinge about the world's Y axis at a point [m]."""
    return workshop.joint(name, "HINGE", place, first, second, ABOUT_Y, **settings)


def add_engine():
    """Crank, rod, beam with two arms, push rod and ram, each in a plane of its own so that nothing rubs."""
    steel = studio.material("Steel", (0.35, 0.37, 0.4), 0.3, metallic=0.9)
    red = studio.material("Crank", (0.6, 0.07, 0.04), 0.35)
    green = studio.material("Beam", (0.05, 0.28, 0.12), 0.4)
    crank = bar("Crank", red, CRANK, CRANK_PIN, -0.24)
    rod = bar("Rod", steel, CRANK_PIN, BEAM_LEFT, -0.12)
    left = bar("Beam", green, BEAM_LEFT, BEAM, 0.0, width=0.2)
    right = bar("Arm", green, BEAM, BEAM_RIGHT, 0.0, width=0.17)
    push = bar("Push rod", steel, BEAM_RIGHT, RAM, 0.12)
    ram = workshop.box("Ram", red, RAM, (0.3, 0.4, 0.3))
    moving = [crank, rod, left, right, push, ram]
    workshop.bodies(moving, "ACTIVE", "STEEL", "BOX", restitution=0.0)
    for item in moving[:-1]:  # the bars pass the table and the crates: they share no collision collection with them
        item.axion.collision_collections = [False, True, *[False] * 18]
    pin("Motor", CRANK, None, crank, use_motor_ang=True, motor_ang_target_velocity=SPEED, motor_ang_max_torque=20000.0)
    pin("Crank pin", CRANK_PIN, crank, rod)
    pin("Beam's left pin", BEAM_LEFT, rod, left)
    pin("Beam's bearing", BEAM, None, left)
    workshop.joint("Weld", "FIXED", BEAM, left, right)
    pin("Arm's pin", BEAM_RIGHT, right, push)
    pin("Ram's pin", RAM, push, ram)
    workshop.joint("Guide", "SLIDER", RAM, None, ram)


def add_surroundings():
    """The floor, the table, the stand of the machine, and three crates in the ram's way."""
    floor = workshop.box("Floor", studio.material("Ground", (0.32, 0.3, 0.28), 0.9), (0, 0, -0.25), (40, 40, 0.5))
    wood = studio.material("Wood", (0.42, 0.25, 0.11), 0.6)
    table = workshop.box("Table", wood, (2.335, 0.0, TABLE_TOP - 0.04), (1.23, 1.0, 0.08))
    workshop.bodies([floor, table], "PASSIVE", "WOOD_OAK", "BOX", restitution=0.0)
    for x in (1.85, 2.85):
        workshop.box(f"Leg {x:g}", wood, (x, 0.0, TABLE_TOP / 2 - 0.04), (0.1, 0.8, TABLE_TOP - 0.08))
    paint = studio.material("Stand", (0.1, 0.12, 0.15), 0.5)
    for name, point, y in (("Crank's stand", CRANK, -0.42), ("Beam's stand", BEAM, 0.3)):
        workshop.box(name, paint, (point.x, y, point.z / 2 + 0.1), (0.2, 0.16, point.z + 0.2))
    colors = ((0.75, 0.45, 0.06), (0.06, 0.3, 0.65), (0.6, 0.1, 0.3))
    crates = []
    for number, color in enumerate(colors):
        surface = studio.material(f"Crate {number + 1}", color, 0.5)
        place = (1.95 + 0.42 * number, 0.0, TABLE_TOP + 0.2)
        crates.append(workshop.box(f"Crate {number + 1}", surface, place, (0.4, 0.4, 0.4)))
    workshop.bodies(crates, "ACTIVE", "WOOD_PINE", "BOX", restitution=0.0)


def build_scene():
    """Replace what is open in Blender by this example's scene; Axion must be registered."""
    workshop.new_scene(FRAMES)
    add_engine()
    add_surroundings()
    studio.add_camera((2.6, -8.2, 2.6), (0.85, 0.0, 1.35), lens=52.0)
    studio.add_sun((0.3, 0.8, -0.9), 4.0, math.radians(5), (1.0, 0.95, 0.88))
    studio.set_sky((0.6, 0.72, 0.9), 0.7)
    studio.set_render(400, 300, samples=8)


def crank_speeds(motion):
    """(F - 1,) angular velocity of the crank about the world's Y axis over each frame [rad/s]."""
    along = motion.pose("Crank")[:, :3, 0]
    angles = np.unwrap(np.arctan2(-along[:, 2], along[:, 0]))
    return np.diff(angles) * motion.fps


def promises(motion):
    """The motor holds its speed whatever the ram meets, once it has brought the engine to it, and the pins hold."""
    yield from usual(motion, reach=20.0)
    off = np.abs(crank_speeds(motion)[1:] / SPEED - 1.0).max()  # 20 kN m need half a frame for the engine's inertia
    yield Promise("crank off the motor's speed, on the worst frame after the first", 100.0 * off, "%", upper=1.0)
    if motion.whole:
        turns = crank_speeds(motion).sum() / motion.fps / math.tau
        yield Promise("turns of the crank", turns, "", lower=1.49, upper=1.51)
        fallen = motion.place("Crate 3")[0, 2] - motion.place("Crate 3")[-1, 2]
        yield Promise("last crate falls off the table", fallen, "m", lower=0.8)


if __name__ == "__main__":
    workshop.main(build_scene, promises, PICTURES, __file__)
