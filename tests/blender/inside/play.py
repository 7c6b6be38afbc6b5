# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in a Blender without the extension: plays the open file and notes the height of the object called Box."""

import json
import sys

import bpy

frames = [1, 2, 4, 7, 10, 13]
heights = []
for frame in frames:
    bpy.context.scene.frame_set(frame)
    heights.append(bpy.data.objects["Box"].matrix_world.translation.z)
with open(sys.argv[-1], "w", encoding="utf-8") as file:
    json.dump({"frames": frames, "z": heights, "axion": hasattr(bpy.types, "AXION_OT_bake")}, file)
