# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own rigid bodies, constraints and world -> Axion's properties.  The native ones stay, switched off.

Values are read, never defaults.  What Bullet does with them was measured (tests/bpy/test_native_facts.py checks it):

    masses and springs      as they stand; springs of type "Blender 2.7" have no damping below 1
    friction, bounciness    the pair takes the product
    damping                 part of the velocity lost each second
    centre of mass          the object's origin for hulls, meshes and compounds, the middle of the shape for primitives
    angular limits          of object 1 against object 2 (hinge, generic), of object 2 against object 1 (piston)
    motors                  drive object 1 against object 2; "max impulse" is a force
    breaking threshold      an impulse per substep
"""

from dataclasses import dataclass, field

import numpy as np

from . import compat, conventions, native_joints
from .extract import motion

PLAIN = ("mesh_source", "collision_shape", "mass", "friction", "collision_collections")
"""Properties of a body that mean the same on both sides."""
MOST_DAMPING = 0.9999
OFF_CENTER = 1e-3
"""Distance of a primitive's middle from the origin, relative to its size, that is worth a word."""


@dataclass
class Conversion:
    """What was converted.

    Attributes:
        bodies, joints: numbers of objects that take part now.
        notes: sentences about what could not be carried, each naming its object.
    """

    bodies: int = 0
    joints: int = 0
    notes: list = field(default_factory=list)


def convert_native(scene, depsgraph):
    """Convert the rigid body world of a scene.

    A world that is off and whose bodies are Axion's already was converted before: it is left alone, so that no later
    change is lost.

    depsgraph: evaluated, of the scene's current frame.  Returns a Conversion.
    """
    world, done = scene.rigidbody_world, Conversion()
    if world is None or _was_converted(world):
        return done
    for item in _members(world.collection, "rigid_body"):
        if _writable(item, done.notes):
            convert_body(item, depsgraph, done.notes)
            done.bodies += 1
    impulse_rate = _impulse_rate(scene, world, done.notes)
    metres = conventions.metres_per_unit(scene.unit_settings.system, scene.unit_settings.scale_length)
    for item in _members(world.constraints, "rigid_body_constraint"):
        if _writable(item, done.notes):
            done.joints += native_joints.convert(item, impulse_rate, metres, done.notes)
    if done.bodies or done.joints:
        _convert_world(scene, world, done.notes)
    return done


def convert_body(item, depsgraph, notes):
    """Carry one native body (``item.rigid_body``) over."""
    native, own = item.rigid_body, item.axion
    own.enabled = True
    own.type = native.type
    if native.type == "ACTIVE" and not native.enabled:
        own.type = "PASSIVE"
        notes.append(f"{item.name} is not Dynamic, so it stands like a passive body")
    for name in PLAIN:
        setattr(own, name, getattr(native, name))
    own.use_density = False
    own.restitution = min(native.restitution, 1.0)
    if native.restitution > 1.0:
        notes.append(f"{item.name} has a bounciness of {native.restitution:g}, which would create energy: it is 1 now")
    for name in ("linear_damping", "angular_damping"):
        value = getattr(native, name)
        setattr(own, name, min(value, MOST_DAMPING))
        if value > MOST_DAMPING:
            notes.append(
                f"{item.name} has a {name.replace('_', ' ')} of {value:g}, which stops it: it is {MOST_DAMPING} now"
            )
    own.linear_velocity = own.angular_velocity = (0.0, 0.0, 0.0)
    own.kinematic = native.kinematic and own.type == "ACTIVE"
    _convert_center(item, depsgraph, notes)
    _convert_animation(item, notes)
    _mention(item, notes)


def _convert_center(item, depsgraph, notes):
    own = item.axion
    own.use_center_of_mass = False
    if own.collision_shape in ("CONVEX_HULL", "MESH", "COMPOUND"):
        own.use_center_of_mass, own.center_of_mass = own.type == "ACTIVE", (0.0, 0.0, 0.0)
        return
    corners = np.array(item.evaluated_get(depsgraph).bound_box)
    middle, size = 0.5 * (corners.min(axis=0) + corners.max(axis=0)), np.ptp(corners, axis=0)
    if own.collision_shape == "CONE":
        own.use_center_of_mass, own.center_of_mass = own.type == "ACTIVE", middle
    if np.abs(middle).max() > OFF_CENTER * size.max():
        notes.append(
            f"{item.name} has its origin off the middle of its bounding box: "
            f"Blender puts the {own.collision_shape.lower()} around the origin, Axion around the mesh"
        )


def _convert_animation(item, notes):
    for curve in compat.curves_of(item):
        if curve.data_path == "rigid_body.kinematic":
            if item.axion.type == "ACTIVE":
                compat.copy_curve(item, curve, "axion.kinematic")
        elif curve.data_path.startswith("rigid_body."):
            notes.append(f"{item.name} animates {curve.data_path.split('.')[1]}, which is read at the first frame only")
    for driver in compat.drivers_of(item):
        if driver.data_path == "rigid_body.kinematic" and item.axion.type == "ACTIVE":
            item.animation_data.drivers.from_existing(src_driver=driver).data_path = "axion.kinematic"
        elif driver.data_path.startswith("rigid_body."):
            notes.append(f"{item.name} drives {driver.data_path.split('.')[1]}, which is read at the first frame only")


def _mention(item, notes):
    native, own = item.rigid_body, item.axion
    if native.use_start_deactivated and own.type == "ACTIVE":
        notes.append(f"{item.name} starts deactivated: Axion lets it move from the first frame")
    if native.use_margin and native.collision_margin > 0.0:
        notes.append(
            f"{item.name} has a collision margin of {native.collision_margin:g}: Axion collides with the surface itself"
        )
    if native.use_deform:
        notes.append(f"{item.name} deforms during the simulation: Axion needs colliders that stay rigid")
    if own.type == "PASSIVE" and not native.kinematic and motion.can_move(item):
        notes.append(f"{item.name} may move although Animated is off: Axion's passive bodies push while they move")


def _convert_world(scene, world, notes):
    settings, cache = scene.axion, world.point_cache
    settings.friction_combine = settings.restitution_combine = "MULTIPLY"
    weights = world.effector_weights
    settings.gravity_factor = weights.gravity * weights.all
    settings.time_scale = world.time_scale
    if settings.time_scale != world.time_scale:
        notes.append(f"{scene.name} has a simulation speed of {world.time_scale:g}: it is {settings.time_scale:g} now")
    first, last = cache.frame_start, min(cache.frame_end, scene.frame_end)
    settings.use_frame_range = first < last and (first, last) != (scene.frame_start, scene.frame_end)
    if settings.use_frame_range:
        settings.frame_start, settings.frame_end = first, last
    for item in scene.objects:
        if item.field is not None and item.field.type != "NONE":
            notes.append(f"{item.name} is a force field: Axion has none")
    for curve in compat.curves_of(scene) + compat.drivers_of(scene):
        if curve.data_path.startswith("rigidbody_world."):
            notes.append(
                f"{scene.name} animates {curve.data_path.split('.', 1)[1]}, which is read at the first frame only"
            )
    world.enabled = False


def _was_converted(world):
    return not world.enabled and any(item.axion.enabled for item in _members(world.collection, "rigid_body"))


def _members(collection, kind):
    return [] if collection is None else [item for item in collection.all_objects if getattr(item, kind) is not None]


def _writable(item, notes):
    if not item.is_editable:
        notes.append(f"{item.name} is linked from another file and was not converted: make a library override of it")
    return item.is_editable


def _impulse_rate(scene, world, notes):
    """Substeps per second of simulated time: an impulse per substep times this is a force."""
    speed = world.time_scale
    if not speed > 0.0:
        notes.append(f"{scene.name} has a simulation speed of 0: breaking thresholds are read at speed 1")
        speed = 1.0
    return scene.render.fps / scene.render.fps_base * world.substeps_per_frame / speed
