# SPDX-License-Identifier: GPL-3.0-or-later
"""What the worked examples share: objects turned into bodies and joints by Axion's operators, and the program around.

Run without arguments, an example writes its scene beside itself.  With ``--output FOLDER`` it bakes it and leaves
demo.blend, demo.jpg, report.json and figures.json there; its exit status is 1 if a promise was broken.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

import axion
import bpy
import studio
from axion.axion_blender import cli, report
from measures import Motion


def new_scene(frames, fps=24):
    """Replace what is open in Blender by an empty scene of ``frames`` frames; Axion must be registered."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, frames, fps
    return scene


def mesh_data(name, vertices, faces, surface=None):
    """A mesh of its own, with one material.  vertices [m]; faces: indices, outward by the right-hand rule."""
    data = bpy.data.meshes.new(name)
    data.from_pydata([tuple(map(float, vertex)) for vertex in vertices], [], faces)
    data.update()
    if surface is not None:
        data.materials.append(surface)
    return data


def primitive(name, surface, add, **options):
    """Mesh made by one of ``bpy.ops.mesh.primitive_*_add``, without an object: many objects may share it."""
    add(**options)
    item = bpy.context.object
    data = item.data
    data.name = name
    data.materials.append(surface)
    bpy.data.objects.remove(item)
    return data


def put(name, data, location=(0.0, 0.0, 0.0), rotation=None):
    """A new object of the scene at ``location`` [m]; rotation: Euler angles [rad] or a Quaternion."""
    item = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(item)
    item.location = location
    if rotation is not None and len(rotation) == 4:
        item.rotation_mode, item.rotation_quaternion = "QUATERNION", rotation
    elif rotation is not None:
        item.rotation_euler = rotation
    return item


def box(name, surface, location, size):
    """A box of edges ``size`` [m], kept as object scale."""
    data = bpy.data.meshes.get("Box") or primitive("Box", surface, bpy.ops.mesh.primitive_cube_add, size=1.0)
    item = put(name, data, location)
    item.scale = size
    item.material_slots[0].link, item.material_slots[0].material = "OBJECT", surface
    return item


def select(*items):
    """Select these objects alone; the last one becomes the active one."""
    bpy.context.view_layer.update()
    for item in list(bpy.context.selected_objects):
        item.select_set(False)
    for item in items:
        item.select_set(True)
    bpy.context.view_layer.objects.active = items[-1]


def bodies(items, kind="ACTIVE", material=None, shape=None, **settings):
    """Make bodies of objects, as Add Bodies, Apply Material and Change Shape do; settings: more of ``Object.axion``."""
    select(*items)
    bpy.ops.axion.add_bodies(type=kind)
    if material is not None:
        bpy.ops.axion.apply_material(material=material)
    if shape is not None:
        bpy.ops.axion.change_shape(type=shape)
    for item in items:
        for name, value in settings.items():
            setattr(item.axion, name, value)


def joint(name, kind, location, first, second, rotation=(0.0, 0.0, 0.0), **settings):
    """Join two bodies (first may be None: the world) at a point [m], as Add Joint does at the 3D cursor.

    Returns the joint's empty.
    """
    cursor = bpy.context.scene.cursor
    cursor.location, cursor.rotation_mode, cursor.rotation_euler = location, "XYZ", rotation
    select(*(item for item in (first, second) if item is not None))
    bpy.ops.axion.add_joint(type=kind, pivot_type="CURSOR")
    item = bpy.context.object
    item.name, item.empty_display_size = name, 0.1
    # The operator joins the active body to the other: which of them is first stands here.
    item.axion_joint.object1, item.axion_joint.object2 = first, second
    for key, value in settings.items():
        setattr(item.axion_joint, key, value)
    return item


def bake(promises, frames=None):
    """Bake the open scene and measure it.  Returns (the report, list of Promise, seconds).

    promises: function of a Motion.  frames: last frame, if fewer than the scene's.  Raises RuntimeError if the bake
    fails.
    """
    scene, began = bpy.context.scene, time.perf_counter()
    whole = frames is None or frames >= scene.frame_end
    if not whole:
        scene.frame_end = frames
    if bpy.ops.axion.bake() != {"FINISHED"}:
        raise RuntimeError("the bake was not finished")
    seconds = time.perf_counter() - began
    text = next(text for text in bpy.data.texts if text.name.startswith("Axion Report"))
    document = json.loads(text.as_string())
    return document, list(promises(Motion(scene, whole, document))), seconds


def tell(document, kept, seconds):
    """Print what the report says at its worst, and each promise with its figure."""
    worst = document["summary"]
    for name, key in (("worst penetration  ", "worst_penetration"), ("worst joint error  ", "worst_joint_error")):
        print(f"{name}  {1e3 * worst[key]:.4f} mm  at frame {worst[f'{key}_frame']}")
    print(f"missed the tolerance {worst['missed']} of {worst['frames']} frames")
    for promise in kept:
        print(f"{'kept  ' if promise.kept else 'BROKEN'}  {promise}")
    print(f"{seconds:.1f} s in all", flush=True)


def main(build_scene, promises, pictures, example):
    """The program of an example.  Does not return: bpy may hang while Python ends.

    build_scene: makes the scene.  promises: see ``bake``.  pictures: frames to render.  example: path of its file.
    """
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="bake, and leave the results in this folder")
    parser.add_argument("--frames", type=int, help="last frame to bake (default: the scene's)")
    parser.add_argument("--no-picture", action="store_true", help="do not render")
    arguments = parser.parse_args()
    axion.register()
    build_scene()
    if arguments.output is None:
        save(Path(example).resolve().with_suffix(".blend"))
        leave(cli.BAKED)
    folder = arguments.output.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    save(folder / "setup.blend")
    document, kept, seconds = bake(promises, arguments.frames)
    save(folder / "demo.blend")
    (folder / "report.json").write_text(report.to_json(document, indent=1), encoding="utf-8")
    figures = {"bake_seconds": round(seconds, 1), "summary": document["summary"], "promises": [p.plain() for p in kept]}
    (folder / "figures.json").write_text(report.to_json(figures, indent=1), encoding="utf-8")
    tell(document, kept, seconds)
    if not arguments.no_picture:
        studio.render_strip(folder / "demo.jpg", pictures, columns=len(pictures))
    broken = [promise for promise in kept if not promise.kept]
    leave(cli.FAILED if broken else cli.BAKED)


def save(path):
    """Write the open file to a path, compressed."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)


def leave(status):
    """End the program."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
