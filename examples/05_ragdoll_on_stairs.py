# SPDX-License-Identifier: GPL-3.0-or-later
"""Three ragdolls fall down a flight of stairs: capsules of a person's masses, and joints that bend as far as ours.

python examples/05_ragdoll_on_stairs.py                    writes the scene to bake
python examples/05_ragdoll_on_stairs.py --output FOLDER    bakes it, checks what it promises, takes a picture
"""

import math
import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Euler, Matrix, Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))
import bmesh  # on the wheel it is there once bpy is
import studio
import workshop
from measures import Promise, usual

FRAMES = 72
PICTURES = (1, 13, 72)
STEPS, TREAD, RISE = 8, 0.4, 0.22
DOLLS = (
    ((-0.9, 1.1, 2.9), (0.25, 0.0, 0.1)),
    ((0.0, 1.4, 3.1), (-0.2, 0.1, 0.6)),
    ((0.9, 1.0, 2.8), (0.1, 0.15, -0.4)),
)
"""Middle of the torso [m] and Euler angles [rad]."""
SPEED = (0.0, -3.0, 0.0)
"""At the first frame, all parts alike [m/s]."""

TRUNK = {"Torso": ((0, 0, 0), 0.15, 0.12, 20.0), "Head": ((0, 0, 0.42), 0.03, 0.09, 4.0)}
LIMBS = {
    "Upper arm": ((0.30, 0, 0.17), 0.09, 0.05, 2.5),
    "Forearm": ((0.58, 0, 0.17), 0.09, 0.04, 1.5),
    "Thigh": ((0.09, 0, -0.45), 0.13, 0.07, 7.0),
    "Shin": ((0.09, 0, -0.83), 0.13, 0.05, 4.0),
}
"""Part -> middle, half height of the capsule's straight part, radius [m], mass [kg].

Arms lie along X, all else along Z.
"""
JOINTS = {
    "Shoulder": ("Torso", "Upper arm", (0.15, 0, 0.17), "XYZ", 80.0),
    "Elbow": ("Upper arm", "Forearm", (0.44, 0, 0.17), "Z", 75.0),
    "Hip": ("Torso", "Thigh", (0.09, 0, -0.24), "XYZ", 57.0),
    "Knee": ("Thigh", "Shin", (0.09, 0, -0.64), "X", 75.0),
}
"""Joint -> upper and lower part, place [m], the axes it turns about, and how far either way [degrees]."""


def capsule_mesh(name, half, radius, surface):
    """A capsule along Z; one mesh serves all parts of a kind."""
    mesh = bmesh.new()
    bmesh.ops.create_uvsphere(mesh, u_segments=20, v_segments=10, radius=radius)
    for vertex in mesh.verts:  # the ring at the equator goes to the lower half
        vertex.co.z += half if vertex.co.z > 1e-6 else -half
    data = bpy.data.meshes.new(name)
    mesh.to_mesh(data)
    mesh.free()
    data.materials.append(surface)
    for face in data.polygons:
        face.use_smooth = True
    return data


def part(tag, name, kind, values, at, side=1):
    """One part of a doll as a body; values: a line of TRUNK or LIMBS.  at: world matrix of the torso."""
    middle, half, radius, mass = values
    colors = {
        "Torso": (0.1, 0.3, 0.6),
        "Head": (0.8, 0.55, 0.35),
        "Thigh": (0.12, 0.12, 0.15),
        "Shin": (0.12, 0.12, 0.15),
    }
    color = colors.get(kind, (0.75, 0.5, 0.3))
    data = bpy.data.meshes.get(kind) or capsule_mesh(kind, half, radius, studio.material(kind, color, 0.6))
    lying = Matrix.Rotation(math.radians(90.0), 4, "Y") if "arm" in kind.lower() else Matrix()
    place = at @ Matrix.Translation((side * middle[0], middle[1], middle[2])) @ lying
    item = workshop.put(f"{tag} {name}", data, place.to_translation(), place.to_quaternion())
    workshop.bodies([item], "ACTIVE", shape="CAPSULE", mass=mass, friction=0.4, linear_velocity=SPEED)
    return item


def bend(name, first, second, place, about, degrees, at):
    """A joint that locks all movement, and turns about the axes in ``about`` up to ``degrees`` either way."""
    where = at @ Vector(place)
    limits = {}
    for axis in "xyz":
        limits |= {f"use_limit_lin_{axis}": True, f"limit_lin_{axis}_lower": 0.0, f"limit_lin_{axis}_upper": 0.0}
        angle = math.radians(degrees) if axis.upper() in about else 0.0
        limits |= {f"use_limit_ang_{axis}": True, f"limit_ang_{axis}_lower": -angle, f"limit_ang_{axis}_upper": angle}
    return workshop.joint(name, "GENERIC", where, first, second, at.to_euler(), **limits)


def add_doll(tag, place, turn):
    """One ragdoll of ten parts and nine joints."""
    at = Matrix.LocRotScale(Vector(place), Euler(turn), None)
    parts = {name: part(tag, name, name, values, at) for name, values in TRUNK.items()}
    bend(f"{tag} Neck", parts["Torso"], parts["Head"], (0, 0, 0.29), "XYZ", 35.0, at)
    for side, sign in (("left", 1), ("right", -1)):
        for name, values in LIMBS.items():
            parts[side, name] = part(tag, f"{side} {name.lower()}", name, values, at, sign)
        for name, (upper, lower, point, about, degrees) in JOINTS.items():
            first = parts[upper] if upper in parts else parts[side, upper]
            mirrored = (sign * point[0], point[1], point[2])
            bend(f"{tag} {side} {name.lower()}", first, parts[side, lower], mirrored, about, degrees, at)


def add_stairs():
    """Steps down along Y, and the floor at their foot."""
    floor = workshop.box("Floor", studio.material("Ground", (0.34, 0.32, 0.3), 0.9), (0, 0, -0.25), (40, 40, 0.5))
    surface = studio.material("Step", (0.55, 0.5, 0.44), 0.8)
    steps = []
    for number in range(STEPS):
        height = RISE * (STEPS - number)
        y = 1.2 - TREAD * number
        steps.append(workshop.box(f"Step {number + 1}", surface, (0, y, height / 2), (4.0, TREAD, height)))
    workshop.bodies([floor, *steps], "PASSIVE", "CONCRETE", "BOX", restitution=0.0)


def build_scene():
    """Replace what is open in Blender by this example's scene; Axion must be registered."""
    scene = workshop.new_scene(FRAMES)
    scene.axion.joint_damping = 1.0
    add_stairs()
    for number, (place, turn) in enumerate(DOLLS):
        add_doll(f"Doll {number + 1}", place, turn)
    studio.add_camera((5.4, -6.6, 3.2), (0.0, -0.4, 0.9), lens=44.0)
    studio.add_sun((-0.6, 0.6, -0.9), 4.0, math.radians(5), (1.0, 0.95, 0.88))
    studio.set_sky((0.6, 0.72, 0.9), 0.7)
    studio.set_render(400, 300, samples=8)


def promises(motion):
    """Joints hold and bend no farther than they may; the dolls come down the stairs."""
    yield from usual(motion, reach=20.0)
    worst = max(knee_angle(motion, f"Doll {number + 1}", side) for number in range(3) for side in ("left", "right"))
    yield Promise("widest angle of a knee, which may bend by 75", worst, "degrees", upper=75.1)
    if motion.whole:
        falls = [np.ptp(motion.place(f"Doll {number + 1} Torso")[:, 2]) for number in range(3)]
        yield Promise("shortest fall of a torso", min(falls), "m", lower=1.0)


def knee_angle(motion, tag, side):
    """Largest angle between thigh and shin of a doll [degrees]; they start in line."""
    axes = [motion.pose(f"{tag} {side} {name}")[:, :3, 2] for name in ("thigh", "shin")]
    return max(math.degrees(math.acos(min(1.0, max(-1.0, dot)))) for dot in (axes[0] * axes[1]).sum(axis=1))


if __name__ == "__main__":
    workshop.main(build_scene, promises, PICTURES, __file__)
