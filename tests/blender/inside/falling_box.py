# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in Blender with the extension on: saves a scene of one box 10 m above a floor."""

import sys

import bpy

bpy.ops.wm.read_homefile(use_empty=True)
scene = bpy.context.scene
scene.render.fps, scene.frame_start, scene.frame_end = 24, 1, 13
bpy.ops.mesh.primitive_plane_add(size=20)
bpy.context.object.name = "Floor"
bpy.ops.axion.add_bodies(type="PASSIVE")
bpy.ops.mesh.primitive_cube_add(size=1, location=(0, 0, 10))
bpy.context.object.name = "Box"
bpy.ops.axion.add_bodies(type="ACTIVE")
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[-1])
