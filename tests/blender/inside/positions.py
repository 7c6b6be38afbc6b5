# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in Blender: plays the open file and writes where each object is on each frame; arguments: last frame, output."""

import json
import sys

import bpy

last_frame, output = int(sys.argv[-2]), sys.argv[-1]
found = {item.name: [] for item in bpy.context.scene.objects}
for frame in range(1, last_frame + 1):
    bpy.context.scene.frame_set(frame)
    for name, places in found.items():
        places.append(list(bpy.data.objects[name].matrix_world.translation))
with open(output, "w", encoding="utf-8") as file:
    json.dump(found, file)
