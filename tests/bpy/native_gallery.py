# SPDX-License-Identifier: GPL-3.0-or-later
"""What the native scenes of native_motions.py and native_setups.py are built of, and the list of them.

A builder fills the empty scene and returns {object: tolerance in Blender units, and radians} of the bodies whose native
motion is right, so that the baked one must match it in every frame; the law and the bound stand in a comment.
Blender's steps have errors of their own: semi-implicit Euler with step h is g t h / 2 ahead in free fall.
"""

import math

import bpy
from blend_scenes import box_mesh, mesh
from native_scenes import body, world

GALLERY = {}
GRAVITY = 9.81
DEGREE = math.pi / 180
FREE = {"linear_damping": 0.0, "angular_damping": 0.0, "use_deactivation": False}
BLOCK = {"collision_shape": "BOX", **FREE}
STAND = {"collision_shape": "BOX", "type": "PASSIVE"}


def entry(build):
    """Puts a builder into the gallery."""
    GALLERY[build.__name__] = build
    return build


def start(frames=25, substeps=100, fps=24, **settings):
    """The world of a scene; substeps many, so that Blender's own error stays small."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, frames, fps
    own = world()
    own.substeps_per_frame = substeps
    for name, value in settings.items():
        setattr(own, name, value)
    return own


def lead(seconds, substeps=100, fps=24, pull=GRAVITY):
    """How far Blender is ahead after so long a fall: g t h / 2, doubled, for what keyframes and float32 add."""
    return pull * seconds / (fps * substeps)


def floor(top=0.0, size=12.0, **settings):
    return body("Floor", box_mesh((size, size, 1)), (0, 0, top - 0.5), **STAND | settings)


def ball(radius=0.5, segments=12):
    points, faces = [(0, 0, -radius), (0, 0, radius)], []
    rings = segments // 2
    for i in range(1, rings):
        for j in range(segments):
            a, b = math.pi * i / rings, 2 * math.pi * j / segments
            around = math.sin(a) * math.cos(b), math.sin(a) * math.sin(b), -math.cos(a)
            points.append([radius * c for c in around])
    for j in range(segments):
        n = (j + 1) % segments
        faces += [(0, 2 + n, 2 + j), (1, len(points) - segments + j, len(points) - segments + n)]
        for i in range(rings - 2):
            low, high = 2 + i * segments, 2 + (i + 1) * segments
            faces.append((low + j, low + n, high + n, high + j))
    return mesh("ball", points, faces)
