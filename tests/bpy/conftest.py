# SPDX-License-Identifier: GPL-3.0-or-later
"""Each test in this folder starts from an empty file with the add-on registered."""

import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender as a module: pip install bpy")


@pytest.fixture(scope="session")
def addon():
    """Register the add-on once; the files that tests open keep it."""
    import axion

    axion.register()
    return axion


@pytest.fixture(autouse=True)
def empty_file(addon):
    """An empty scene, 24 frames long."""
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 25, 24
    scene.frame_set(1)
    return scene
