# SPDX-License-Identifier: GPL-3.0-or-later
"""A wrecking ball of 1.4 tonnes on links of 2 kg, a brick wall, rings over a post, and a turnstile moved by keyframes.

Everything here is hard on a rigid-body solver: a mass ratio of 700 along a chain of joints, a stack that must stand
until it is hit, concave meshes that must thread a post, and a collider that an animator moves.

    python examples/01_first_bake.py                      writes the scene to bake, examples/01_first_bake.blend
    python examples/01_first_bake.py --output build/demo  bakes it: demo.blend, demo.png and report.json are left there
"""

import argparse
import json
import math
import os
import sys
import time
from pathlib import Path

import axion
import bpy
from axion.axion_blender import cli
from mathutils import Matrix, Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))
import studio

FRAMES = 84
PICTURES = (1, 12, 24, 29, 38, 84)
BRICK = Vector((0.25, 0.5, 0.25))
ROWS = 5
PIVOT = Vector((-0.75, 0.0, 3.7))
LINKS, LINK_LENGTH = 6, 0.4
BALL_RADIUS = 0.35
POST = (2.0, -1.9)
SWING = math.radians(65.0)
"""Angle of the taut chain from the vertical at the first frame."""


def mesh_object(name, surface, add, **options):
    """Call one of ``bpy.ops.mesh.primitive_*_add``, name the result and give it a material."""
    add(**options)
    item = bpy.context.object
    item.name = item.data.name = name
    item.data.materials.append(surface)
    return item


def box(name, surface, location, size):
    """A box of edges ``size`` [m], kept as object scale: Axion needs no Ctrl-A."""
    item = mesh_object(name, surface, bpy.ops.mesh.primitive_cube_add, size=1.0, location=location)
    item.scale = size
    return item


def make_body(item, kind, shape, mass=1.0, friction=0.5, density=None):
    """Switch Axion on for an object; ``mass`` in kg, unless ``density`` in kg/m^3 is given."""
    settings = item.axion
    settings.enabled = True
    settings.type = kind
    settings.collision_shape = shape
    settings.mass = mass
    settings.friction = friction
    if density is not None:
        settings.use_density, settings.density = True, density


def ball_joint(name, location, first, second):
    """Join two objects (``first`` may be None: the world) at ``location`` [m]."""
    item = bpy.data.objects.new(name, None)
    item.empty_display_size = 0.15
    item.location = location
    bpy.context.scene.collection.objects.link(item)
    joint = item.axion_joint
    joint.enabled = True
    joint.type = "POINT"
    joint.object1, joint.object2 = first, second


def add_ground():
    """A floor, and the gallows that the chain hangs from."""
    floor = box("Floor", studio.material("Concrete", (0.36, 0.33, 0.29), 0.9), (0, 0, -0.25), (60, 60, 0.5))
    make_body(floor, "PASSIVE", "BOX", friction=0.7)
    steel = studio.material("Gallows", (0.85, 0.55, 0.05), 0.4)
    height = PIVOT.z + 0.1
    post = box("Gallows post", steel, (PIVOT.x, 1.8, height / 2), (0.18, 0.18, height))
    make_body(post, "PASSIVE", "BOX")
    box("Gallows beam", steel, (PIVOT.x, 0.84, height), (0.22, 2.2, 0.22))


def brick_mesh(name, length):
    """A box of BRICK's section and ``length`` [m] along Y, with rounded edges; its data is shared by many objects."""
    item = mesh_object(name, None, bpy.ops.mesh.primitive_cube_add, size=1.0)
    item.data.transform(Matrix.Diagonal((BRICK.x, length, BRICK.z, 1.0)))
    data = item.data
    bpy.data.objects.remove(item)
    return data


def add_wall():
    """Bricks in running bond, loose on each other, with half bricks at the ends of every second row."""
    colors = ((0.5, 0.11, 0.05), (0.62, 0.2, 0.1), (0.42, 0.1, 0.06))
    surfaces = [studio.material(f"Brick {number + 1}", color, 0.85) for number, color in enumerate(colors)]
    whole, half = brick_mesh("Brick", BRICK.y), brick_mesh("Half brick", BRICK.y / 2)
    courses = ([whole] * 4, [half, whole, whole, whole, half])
    count = 0
    for row in range(ROWS):
        edge = -2 * BRICK.y
        for data in courses[row % 2]:
            length = BRICK.y if data is whole else BRICK.y / 2
            brick = bpy.data.objects.new("Brick", data)
            bpy.context.scene.collection.objects.link(brick)
            brick.location = (0.0, edge + length / 2, (row + 0.5) * BRICK.z)
            brick.material_slots[0].link = "OBJECT"
            brick.material_slots[0].material = surfaces[count % 3]
            bevel = brick.modifiers.new("Rounded edges", "BEVEL")
            bevel.width, bevel.segments = 0.012, 2
            make_body(brick, "ACTIVE", "BOX", friction=0.6, density=1900.0)
            edge += length
            count += 1


def add_chain():
    """The wrecking ball on its chain, held up to the left, taut."""
    brass = studio.material("Brass", (0.75, 0.5, 0.18), 0.3, metallic=1.0)
    along = Vector((-math.sin(SWING), 0.0, -math.cos(SWING)))
    above, point = None, PIVOT
    for number in range(LINKS):
        link = mesh_object(
            f"Link {number + 1}", brass, bpy.ops.mesh.primitive_torus_add, major_radius=0.12, minor_radius=0.032
        )
        link.data.transform(Matrix.Diagonal((2.0, 1.0, 1.0, 1.0)))
        link.location = point + along * (LINK_LENGTH / 2)
        link.rotation_mode = "QUATERNION"
        quarter_turn = Matrix.Rotation(math.pi / 2 * (number % 2), 3, "X").to_quaternion()
        link.rotation_quaternion = along.to_track_quat("X", "Y") @ quarter_turn
        bpy.ops.object.shade_smooth()
        make_body(link, "ACTIVE", "CONVEX_HULL", mass=2.0)
        ball_joint(f"Joint {number + 1}", point, above, link)
        above, point = link, point + along * LINK_LENGTH
    iron = studio.material("Iron", (0.05, 0.05, 0.06), 0.35, metallic=0.9)
    ball = mesh_object(
        "Wrecking ball",
        iron,
        bpy.ops.mesh.primitive_uv_sphere_add,
        segments=48,
        ring_count=24,
        radius=BALL_RADIUS,
        location=point + along * BALL_RADIUS,
    )
    bpy.ops.object.shade_smooth()
    make_body(ball, "ACTIVE", "SPHERE", mass=1400.0)
    ball_joint(f"Joint {LINKS + 1}", point, above, ball)


def add_monkey():
    """Blender's monkey on top of the wall: a concave mesh, closed by a Remesh modifier."""
    surface = studio.material("Monkey", (0.1, 0.45, 0.16), 0.35)
    top = ROWS * BRICK.z
    monkey = mesh_object("Suzanne", surface, bpy.ops.mesh.primitive_monkey_add, location=(0, 0, top + 0.36), size=0.7)
    monkey.rotation_euler = (math.radians(-22), 0, math.radians(38))
    remesh = monkey.modifiers.new("Closed", "REMESH")
    remesh.mode, remesh.voxel_size, remesh.use_smooth_shade = "VOXEL", 0.03, True
    make_body(monkey, "ACTIVE", "MESH", mass=30.0, friction=0.6)


def add_rings():
    """Three rings above a post: their holes are real, a convex hull would land on the tip."""
    wood = studio.material("Wood", (0.42, 0.25, 0.11), 0.6)
    post = mesh_object(
        "Post", wood, bpy.ops.mesh.primitive_cylinder_add, radius=0.1, depth=1.1, location=(*POST, 0.55), vertices=32
    )
    make_body(post, "PASSIVE", "CYLINDER")
    colors = ((0.75, 0.06, 0.08), (0.9, 0.55, 0.04), (0.05, 0.3, 0.7))
    for number, color in enumerate(colors):
        surface = studio.material(f"Ring {number + 1}", color, 0.3)
        ring = mesh_object(
            f"Ring {number + 1}",
            surface,
            bpy.ops.mesh.primitive_torus_add,
            location=(POST[0] + 0.05 * (number - 1), POST[1] + 0.04 * (number % 2), 1.5 + 0.7 * number),
            rotation=(0.25 - 0.2 * number, 0.2 * number - 0.1, 0),
            major_radius=0.32,
            minor_radius=0.09,
            major_segments=32,
            minor_segments=12,
        )
        bpy.ops.object.shade_smooth()
        make_body(ring, "ACTIVE", "MESH", mass=6.0)


def add_turnstile():
    """An arm turned by keyframes, and the balls it sweeps: a moving collider needs no checkbox."""
    surface = studio.material("Turnstile", (0.04, 0.32, 0.5), 0.4)
    centre = Vector((-0.9, -2.0, 0.22))
    hub = mesh_object("Turnstile", surface, bpy.ops.mesh.primitive_cube_add, size=1.0, location=centre)
    hub.data.transform(Matrix.Diagonal((1.7, 0.08, 0.36, 1.0)))
    make_body(hub, "PASSIVE", "BOX", friction=0.3)
    for frame, turn in ((1, 0.0), (FRAMES, -2.2 * math.pi)):
        hub.rotation_euler.z = turn
        hub.keyframe_insert("rotation_euler", index=2, frame=frame)
    for number in range(5):
        angle = 2 * math.pi * (number + 0.25) / 5  # beside the arm, on both sides
        shade = studio.material(
            f"Marble {number}", ((0.9, 0.75, 0.2), (0.85, 0.3, 0.5), (0.3, 0.7, 0.75))[number % 3], 0.15
        )
        marble = mesh_object(
            f"Marble {number + 1}",
            shade,
            bpy.ops.mesh.primitive_uv_sphere_add,
            radius=0.14,
            location=centre + Vector((0.65 * math.cos(angle), 0.65 * math.sin(angle), -0.08)),
        )
        bpy.ops.object.shade_smooth()
        make_body(marble, "ACTIVE", "SPHERE", mass=3.0)


def build_scene():
    """Replace what is open in Blender by this example's scene; Axion must be registered."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    scene.render.fps = 24
    for part in (add_ground, add_wall, add_chain, add_monkey, add_rings, add_turnstile):
        part()
    scene.frame_set(1)
    studio.add_camera((5.2, -8.0, 2.7), (-0.1, -0.2, 1.4), lens=38.0)
    studio.add_sun((0.45, 0.75, -0.9), 4.2, math.radians(6), (1.0, 0.93, 0.82))
    studio.add_light("Fill", (6.0, -2.0, 4.0), (0, 0, 0.8), 4.0, 350.0, (0.8, 0.88, 1.0))
    studio.set_sky((0.5, 0.7, 0.95), 0.6)
    studio.set_render(520, 325, samples=16)


def summarise(report, seconds):
    """The closing lines of the demo: what the report says at its worst."""
    worst = report["summary"]
    print()
    print(
        f"worst penetration    {1e3 * worst['worst_penetration']:.4f} mm  at frame {worst['worst_penetration_frame']}"
    )
    print(
        f"worst joint error    {1e3 * worst['worst_joint_error']:.4f} mm  at frame {worst['worst_joint_error_frame']}"
    )
    print(f"missed the tolerance {worst['missed']} of {worst['frames']} frames")
    print(f"time                 {worst['wall_time']:.1f} s solving, {seconds:.1f} s in all")


def bake(folder, last_frame, picture):
    """Build, bake and, if ``picture``, render the scene into ``folder``.  Returns the exit status of the bake."""
    began = time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    setup, result, report = (folder / name for name in ("setup.blend", "demo.blend", "report.json"))
    build_scene()
    bpy.ops.wm.save_as_mainfile(filepath=str(setup), compress=True)
    frames = ["--frames", "1", str(last_frame)]
    status = cli.main([str(setup), "-o", str(result), "--report", str(report), *frames], "axion-bake")
    if status != cli.BAKED:
        return status
    if picture:
        bpy.ops.wm.open_mainfile(filepath=str(result))
        studio.render_strip(folder / "demo.png", PICTURES, columns=3)
        print(f"Wrote {folder / 'demo.png'}")
    summarise(json.loads(report.read_text(encoding="utf-8")), time.perf_counter() - began)
    return status


def main():
    """Write the scene, or bake it where ``--output`` is given.  Does not return: bpy may hang while Python ends."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="bake, and leave the results in this folder")
    parser.add_argument("--frames", type=int, default=FRAMES, help=f"last frame to bake (default {FRAMES})")
    parser.add_argument("--no-picture", action="store_true", help="do not render")
    arguments = parser.parse_args()
    axion.register()
    if arguments.output is None:
        build_scene()
        target = Path(__file__).resolve().with_suffix(".blend")
        bpy.ops.wm.save_as_mainfile(filepath=str(target), compress=True)
        status = cli.BAKED
    else:
        status = bake(arguments.output.resolve(), arguments.frames, not arguments.no_picture)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
