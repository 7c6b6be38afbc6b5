# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own rigid bodies, constraints and world -> Axion's properties.  The native ones stay, switched off.

Values are read, never defaults.  What Bullet does with them was measured (tests/bpy/test_native_facts.py checks it):

    masses and springs      as they stand; springs of type "Blender 2.7" have no damping unless weak or damped near 1
    friction, bounciness    the pair takes the product
    damping                 part of the velocity lost each second
    centre of mass          the object's origin for hulls, meshes and compounds, the middle of the shape for primitives
    primitives              fill the bounding box of the final mesh, whatever the mesh source says
    margins                 keep others off meshes and cones, and off hulls whose margin is set; inside all others
    angular limits          of object 1 against object 2 (hinge, generic), of object 2 against object 1 (piston)
    motors                  drive object 1 against object 2; "max impulse" is a force
    breaking threshold      an impulse per substep; Bullet looks at each axis alone, Axion at the whole force
    keyed "Animated"        is heeded a frame before its key, so the keys move; drivers cannot, which is said
    constraints             hold nothing at a part of a compound; switched off, they still let their pair pass

Inertia is not carried: Bullet takes that of the bounding box, Axion that of the shape.
"""

from contextlib import contextmanager

from . import animation, bodies, joints, store, world
from .report import Conversion

__all__ = ["Conversion", "convert_native", "store"]
PREFIXES = ("rigid_body.", "rigid_body_constraint.", "rigidbody_world.")


def convert_native(scene, depsgraph):
    """Convert the rigid body world of a scene.

    A world that is off and whose bodies are Axion's already was converted before: it is left alone, so that no later
    change is lost.

    depsgraph: evaluated, of the scene's current frame.  Values that are animated are read at the first frame of the
    simulation.  Returns a report.Conversion; ``store.keep`` leaves it in the scene.
    """
    done = Conversion(reason=_obstacle(scene))
    if done.reason:
        return done
    native = scene.rigidbody_world
    items = world.members(native.collection, "rigid_body")
    links = world.members(native.constraints, "rigid_body_constraint")
    own_entry = done.entry(scene.name, "WORLD")
    around = world.surroundings(scene, depsgraph.view_layer, own_entry)
    with _at_first_frame(scene, [scene, *items, *links]):
        for item in items:
            entry = done.entry(item.name, "BODY")
            if _convertible(item, scene, around, entry):
                bodies.convert(item, around, depsgraph, entry)
                around.converted[item] = entry
        for item, entry in around.converted.items():
            bodies.mention_leaders(item, around, entry)
        for item in links:
            entry = done.entry(item.name, "JOINT")
            if _writable(item, entry):
                _mention_place(item, scene, around, entry)
                done.joints += joints.convert(item, around, entry)
        done.bodies = len(around.converted)
        world.convert(scene, own_entry)
    return done


def _obstacle(scene):
    """Why there is nothing to convert, or ""."""
    native = scene.rigidbody_world
    if native is None:
        return f"{scene.name} has no rigid body world, so there is nothing to convert"
    if not scene.is_editable:
        return f"{scene.name} is linked from another file and was not converted: convert it there, or make it local"
    items = world.members(native.collection, "rigid_body")
    if not items:
        return f"The rigid body world of {scene.name} has no bodies, so there is nothing to convert"
    if not native.enabled and any(item.axion.enabled for item in items):
        return f"{scene.name} was converted before: switch its rigid body world on again to convert it anew"
    return ""


def _convertible(item, scene, around, entry):
    if not _writable(item, entry):
        return False
    if item.type != "MESH":
        entry.lost("type", "is no mesh, so Blender does not simulate it, and it was not converted")
        return False
    _mention_place(item, scene, around, entry)
    return True


def _mention_place(item, scene, around, entry):
    if scene not in item.users_scene:
        entry.lost("place", f"is not in {scene.name}: Blender simulates it unseen, Axion leaves it out")
    elif item not in around.layer:
        entry.lost(
            "place", "lies in a collection that is excluded from the view layer: Blender simulates it, Axion does not"
        )


def _writable(item, entry):
    if not item.is_editable:
        entry.lost("type", "is linked from another file and was not converted: make a library override of it")
    return item.is_editable


@contextmanager
def _at_first_frame(scene, owners):
    """Shows animated values as they are at the first frame of the native simulation, for a while."""
    now, first = (scene.frame_current, scene.frame_subframe), scene.rigidbody_world.point_cache.frame_start
    moved = now != (first, 0.0) and any(animation.animated(owner, PREFIXES) for owner in owners)
    if moved:
        scene.frame_set(first)
    try:
        yield
    finally:
        if moved:
            scene.frame_set(now[0], subframe=now[1])
