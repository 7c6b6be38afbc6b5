# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in Blender with the extension on: bakes a falling box by the operator and notes what that did to Blender."""

import json
import sys

import addon_utils
import bpy

bpy.ops.wm.read_homefile(use_empty=True)
scene = bpy.context.scene
scene.render.fps, scene.frame_start, scene.frame_end = 24, 1, 7
bpy.ops.mesh.primitive_cube_add(size=1, location=(0, 0, 10))
box = bpy.context.object
bpy.ops.axion.add_bodies(type="ACTIVE")
status = bpy.ops.axion.bake()
scene.frame_set(7)
warp = sys.modules["warp"]
bpy.ops.axion.check_scene()
found = {
    "said": [entry.text for entry in bpy.context.window_manager.axion.findings],
    "status": sorted(status),
    "moved": box.matrix_world.translation.z - 10,
    "warnings": {str(name): str(said) for name, said in addon_utils._extensions_warnings_get().items()},
    "kernels": str(warp.config.kernel_cache_dir),
}
with open(sys.argv[-1], "w", encoding="utf-8") as file:
    json.dump(found, file)
