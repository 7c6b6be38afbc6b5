# SPDX-License-Identifier: GPL-3.0-or-later
"""Two arches of loose stones: one thick enough to stand by friction and shape alone, one too thin, which falls.

A semicircular arch of 11 stones has an equilibrium when it is thicker than 0.1049 of its mean radius (Milankovitch
1907; Makris and Alexakis 2013).  The two here have 0.14 and 0.09.

    python examples/03_masonry_arch.py                    writes the scene to bake
    python examples/03_masonry_arch.py --output FOLDER    bakes it, checks what it promises, takes a picture
"""

import math
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import studio
import workshop
from measures import Promise, usual

FRAMES = 60
PICTURES = (1, 22, 60)
STONES, RADIUS, WIDTH = 11, 2.5, 0.8
ARCHES = {"Thick": (0.14, 1.0), "Thin": (0.09, -1.0)}
"""Name -> thickness in mean radii, and Y of the arch's middle [m]."""


def stone_mesh(name, thickness, surface):
    """One stone about its middle: a wedge whose two flat faces point to the arch's centre."""
    inner, outer, half = RADIUS * (1 - thickness / 2), RADIUS * (1 + thickness / 2), math.pi / STONES / 2
    corners = [
        (radius * math.cos(angle) - RADIUS, y, radius * math.sin(angle))
        for y in (-WIDTH / 2, WIDTH / 2)
        for radius, angle in ((inner, -half), (outer, -half), (outer, half), (inner, half))
    ]
    faces = [(0, 1, 2, 3), (7, 6, 5, 4), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)]
    return workshop.mesh_data(name, corners, faces, surface)


def add_arch(name, thickness, y, color):
    """One arch on the floor, its first stone on the right."""
    data = stone_mesh(f"{name} stone", thickness, studio.material(f"{name} stone", color, 0.9))
    stones = []
    for number in range(STONES):
        angle = (number + 0.5) * math.pi / STONES
        place = (RADIUS * math.cos(angle), y, RADIUS * math.sin(angle))
        stone = workshop.put(f"{name} {number + 1}", data, place, (0.0, -angle, 0.0))
        bevel = stone.modifiers.new("Worn edges", "BEVEL")
        bevel.width, bevel.segments = 0.02, 2
        stones.append(stone)
    # An arch stands on the edges of its joints, so the bevel must stay out of the collision shape.
    workshop.bodies(stones, "ACTIVE", "STONE", "CONVEX_HULL", mesh_source="BASE", restitution=0.0)


def build_scene():
    """Replace what is open in Blender by this example's scene; Axion must be registered."""
    workshop.new_scene(FRAMES)
    floor = workshop.box("Floor", studio.material("Ground", (0.3, 0.27, 0.22), 0.95), (0, 0, -0.25), (40, 40, 0.5))
    workshop.bodies([floor], "PASSIVE", "STONE", "BOX", restitution=0.0)
    for (name, (thickness, y)), color in zip(ARCHES.items(), ((0.45, 0.4, 0.33), (0.5, 0.25, 0.16)), strict=True):
        add_arch(name, thickness, y, color)
    studio.add_camera((4.6, -9.0, 3.2), (0.2, 0.0, 1.1), lens=56.0)
    studio.add_sun((0.5, 0.8, -0.8), 4.0, math.radians(5), (1.0, 0.94, 0.84))
    studio.set_sky((0.5, 0.7, 0.95), 0.6)
    studio.set_render(400, 300, samples=8)


def promises(motion):
    """The thick arch keeps still, the thin one comes down."""
    yield from usual(motion, reach=20.0)
    moved = max(motion.moved(f"Thick {number + 1}").max() for number in range(STONES))
    yield Promise("farthest that a stone of the thick arch ever moves", 1e3 * moved, "mm", upper=1.0)
    crown = STONES // 2 + 1
    sinks = motion.place(f"Thick {crown}")[0, 2] - motion.place(f"Thick {crown}")[:, 2].min()
    yield Promise("crown of the thick arch sinks", 1e3 * sinks, "mm", upper=1.0)
    if motion.whole:
        fell = float(np.ptp(motion.place(f"Thin {crown}")[:, 2]))
        yield Promise("crown of the thin arch falls", fell, "m", lower=1.0)


if __name__ == "__main__":
    workshop.main(build_scene, promises, PICTURES, __file__)
