# SPDX-License-Identifier: GPL-3.0-or-later
"""A vaulted ceiling breaks into a thousand pieces that fall over the floor and a plinth.

One tile is cut into 25 cells, each all that is nearer to one seed than to the others; forty tiles share these meshes.

    python examples/06_thousand_pieces.py                    writes the scene to bake
    python examples/06_thousand_pieces.py --output FOLDER    bakes it, checks what it promises, takes a picture
"""

import math
import sys
from pathlib import Path

import bpy
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))
import bmesh  # on the wheel it is there once bpy is
import studio
import workshop
from measures import Promise, usual

FRAMES = 30
PICTURES = (1, 15, 30)
TILE, THICK, SIDE = 1.5, 0.12, 5
"""Edge and thickness of a tile [m], and cells along its edge."""
ROWS, COLUMNS = 5, 8
GAP = 0.025
"""Width of the cracks [m], cut into the meshes: with narrower ones the pieces rub as they turn, which costs a lot."""
SPRING, RISE = 1.6, 1.4
"""Height of the vault's edge, and of its crown above that [m]."""
SPIN = 0.8
"""Fastest spin of a piece that has just broken off, both ways together [rad/s]."""
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def scatter(number, step=GOLDEN):
    """A number from -0.5 to 0.5 that looks drawn by chance and is always the same."""
    return (number * step + 0.5 * step) % 1.0 - 0.5


def seeds():
    """One point in each cell of a tile, off a regular grid by up to a third of a cell."""
    edge = TILE / SIDE
    found = []
    for number in range(SIDE * SIDE):
        x = (number % SIDE - (SIDE - 1) / 2 + 0.6 * scatter(number)) * edge
        y = (number // SIDE - (SIDE - 1) / 2 + 0.6 * scatter(number, math.sqrt(2.0) - 1.0)) * edge
        found.append(Vector((x, y, 0.3 * scatter(number, math.sqrt(3.0) - 1.0) * THICK)))
    return found


def cut_cell(tile, seed, others):
    """The part of a closed convex ``tile`` (BMesh) that is nearer to ``seed`` than to ``others``, as a new BMesh."""
    cell = tile.copy()
    for other in others:
        away = (other - seed).normalized()
        middle = (seed + other) / 2 - away * (GAP / 2)
        everything = [*cell.verts, *cell.edges, *cell.faces]
        cut = bmesh.ops.bisect_plane(cell, geom=everything, dist=1e-7, plane_co=middle, plane_no=away, clear_outer=True)
        edges = [part for part in cut["geom_cut"] if isinstance(part, bmesh.types.BMEdge)]
        if edges:
            bmesh.ops.contextual_create(cell, geom=edges)
    bmesh.ops.recalc_face_normals(cell, faces=cell.faces)
    return cell


def cell_meshes(surface):
    """[(mesh about its middle, that middle in the tile [m])] of the pieces of a tile."""
    tile = bmesh.new()
    bmesh.ops.create_cube(tile, size=1.0)
    bmesh.ops.scale(tile, vec=(TILE - GAP, TILE - GAP, THICK), verts=tile.verts)
    points, found = seeds(), []
    for number, seed in enumerate(points):
        cell = cut_cell(tile, seed, [other for other in points if other is not seed])
        middle = sum((vertex.co for vertex in cell.verts), Vector()) / len(cell.verts)
        bmesh.ops.translate(cell, vec=-middle, verts=cell.verts)
        data = bpy.data.meshes.new(f"Cell {number + 1:02}")
        cell.to_mesh(data)
        cell.free()
        data.materials.append(surface)
        found.append((data, middle))
    tile.free()
    return found


def add_ground():
    """The floor, and a plinth in its middle."""
    floor = workshop.box("Floor", studio.material("Ground", (0.3, 0.27, 0.22), 0.95), (0, 0, -0.25), (60, 60, 0.5))
    plinth = workshop.box("Plinth", studio.material("Plinth", (0.36, 0.3, 0.24), 0.85), (0, 0, 0.3), (1.5, 1.5, 0.6))
    workshop.bodies([floor, plinth], "PASSIVE", "STONE", "BOX", restitution=0.0)


def add_vault():
    """The pieces of all tiles, lifted to a barrel vault; each starts with a little spin."""
    cells = cell_meshes(studio.material("Plaster", (0.68, 0.62, 0.52), 0.7))
    pieces = []
    for tile in range(ROWS * COLUMNS):
        corner = Vector(((tile % COLUMNS - (COLUMNS - 1) / 2) * TILE, (tile // COLUMNS - (ROWS - 1) / 2) * TILE, 0.0))
        for data, middle in cells:
            place = corner + middle
            place.z += SPRING + RISE * math.cos(math.pi * place.y / (ROWS * TILE))
            pieces.append(workshop.put(f"Piece {len(pieces) + 1:04}", data, place))
    workshop.bodies(pieces, "ACTIVE", "CONCRETE", "CONVEX_HULL", restitution=0.0)
    for number, piece in enumerate(pieces):
        piece.axion.angular_velocity = (SPIN * scatter(number, math.sqrt(2.0) - 1.0), SPIN * scatter(number), 0.0)


def build_scene():
    """Replace what is open in Blender by this example's scene; Axion must be registered."""
    workshop.new_scene(FRAMES)
    add_ground()
    add_vault()
    studio.add_camera((9.5, -13.0, 5.5), (0.0, 0.0, 1.5), lens=38.0)
    studio.add_sun((0.5, 0.8, -0.8), 4.0, math.radians(5), (1.0, 0.94, 0.84))
    studio.set_sky((0.5, 0.7, 0.95), 0.6)
    studio.set_render(400, 300, samples=8)


def promises(motion):
    """All thousand pieces stay above the floor, and come down."""
    yield from usual(motion, reach=30.0)
    names = motion.active()
    yield Promise("pieces", len(names), "", lower=1000, upper=1000)
    if motion.whole:
        up = max(motion.place(name)[-1, 2] for name in names)
        yield Promise("highest piece at the end, the plinth being 0.6 m high", up, "m", upper=0.9)


if __name__ == "__main__":
    workshop.main(build_scene, promises, PICTURES, __file__)
