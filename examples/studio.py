# SPDX-License-Identifier: GPL-3.0-or-later
"""What the example scenes share: materials, light, camera, and a picture made of several rendered frames.

Rendering uses Cycles on the CPU, which needs neither a display nor a graphics driver.
"""

import tempfile
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector


def material(name, color, roughness=0.5, metallic=0.0):
    """A plain surface.  ``color``: linear RGB; the same name gives the same material."""
    found = bpy.data.materials.get(name)
    if found:
        return found
    surface = bpy.data.materials.new(name)
    surface.use_nodes = True
    surface.diffuse_color = (*color, 1.0)
    inputs = surface.node_tree.nodes["Principled BSDF"].inputs
    inputs["Base Color"].default_value = (*color, 1.0)
    inputs["Roughness"].default_value = roughness
    inputs["Metallic"].default_value = metallic
    return surface


def _aim(item, target):
    item.rotation_euler = (Vector(target) - item.location).to_track_quat("-Z", "Y").to_euler()


def add_camera(location, target, lens=50.0):
    """Add the scene's camera at ``location`` [m], looking at ``target`` [m] through a lens of ``lens`` millimetres."""
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.collection.objects.link(camera)
    camera.location = location
    camera.data.lens = lens
    _aim(camera, target)
    bpy.context.scene.camera = camera
    return camera


def add_light(name, location, target, size, power, color=(1.0, 1.0, 1.0)):
    """Add a square area light of edge ``size`` [m] and ``power`` [W] at ``location`` that shines towards ``target``."""
    light = bpy.data.objects.new(name, bpy.data.lights.new(name, "AREA"))
    bpy.context.scene.collection.objects.link(light)
    light.location = location
    light.data.size = size
    light.data.energy = power
    light.data.color = color
    _aim(light, target)
    return light


def add_sun(direction, strength, softness, color=(1.0, 1.0, 1.0)):
    """Add a sun of ``strength`` [W/m^2] that shines along ``direction``; ``softness``: apparent diameter [rad]."""
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    bpy.context.scene.collection.objects.link(sun)
    sun.data.energy = strength
    sun.data.angle = softness
    sun.data.color = color
    _aim(sun, direction)
    return sun


def set_sky(color, strength):
    """Give the world an even background light; ``color`` linear RGB."""
    scene = bpy.context.scene
    scene.world = scene.world or bpy.data.worlds.new("World")
    scene.world.use_nodes = True
    background = scene.world.node_tree.nodes["Background"].inputs
    background["Color"].default_value = (*color, 1.0)
    background["Strength"].default_value = strength


def set_render(width, height, samples):
    """Cycles on the CPU at ``width`` x ``height`` pixels with ``samples`` samples a pixel and motion blur."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.render.resolution_x, scene.render.resolution_y = width, height
    scene.render.resolution_percentage = 100
    scene.render.image_settings.file_format = "PNG"
    scene.render.use_persistent_data = True
    scene.render.use_motion_blur = True
    scene.render.motion_blur_shutter = 0.3
    scene.cycles.device = "CPU"
    scene.cycles.samples = samples
    scene.cycles.max_bounces = 3
    scene.cycles.use_denoising = True
    scene.view_settings.view_transform = "AgX"
    scene.view_settings.look = "AgX - Punchy"
    scene.view_settings.exposure = 0.5


def _pixels(path):
    image = bpy.data.images.load(str(path))
    width, height = image.size
    values = np.empty(width * height * 4, dtype=np.float32)
    image.pixels.foreach_get(values)
    bpy.data.images.remove(image)
    return values.reshape(height, width, 4)


def render_strip(path, frames, columns, gap=6):
    """Render ``frames`` into one PNG or JPEG at ``path``, row by row, ``columns`` in a row, ``gap`` pixels apart."""
    scene = bpy.context.scene
    tiles = []
    with tempfile.TemporaryDirectory() as folder:
        for frame in frames:
            scene.frame_set(frame)
            scene.render.filepath = str(Path(folder) / f"{frame:04d}.png")
            bpy.ops.render.render(write_still=True)
            tiles.append(_pixels(scene.render.filepath))
            print(f"rendered frame {frame}", flush=True)
    height, width, _ = tiles[0].shape
    rows = -(-len(tiles) // columns)
    sheet = np.ones((rows * (height + gap) - gap, columns * (width + gap) - gap, 4), dtype=np.float32)
    for index, tile in enumerate(tiles):
        row, column = rows - 1 - index // columns, index % columns  # pictures are stored from the bottom up
        bottom, left = row * (height + gap), column * (width + gap)
        sheet[bottom : bottom + height, left : left + width] = tile
    image = bpy.data.images.new("strip", sheet.shape[1], sheet.shape[0])
    image.pixels.foreach_set(sheet.ravel())
    image.filepath_raw = str(path)
    jpeg = Path(path).suffix == ".jpg"
    image.file_format = "JPEG" if jpeg else "PNG"
    image.save(quality=85)
    bpy.data.images.remove(image)
