# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own rigid bodies, which are Bullet, through the bpy wheel."""

import bpy
import numpy as np
from axion.solver import Box, Capsule, Sphere, TriangleMesh, rotations
from axion.solver.convex_hull import convex_hull
from mathutils import Quaternion, Vector

from .common import (
    angle_limits,
    collides,
    drive_of,
    dynamic_bodies,
    fixed_boxes,
    has_floor,
    joint_bodies,
    only_shape,
    pair_material,
    record,
    spring_of,
)

LEAD = 4
"""Frames before the start in which bodies with a velocity are carried by keyframes: Blender has no other way."""
CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
FLOOR_SIZE = 200.0
UPRIGHT = (0.0, 0.0, 0.0, 1.0)


def version():
    """What ran."""
    return f"Bullet of Blender {bpy.app.version_string}"


def run(scene, frames, fps, watch, substeps=10, iterations=10):
    """See the package.  ``substeps`` a frame, solver ``iterations`` a substep."""
    world = _World(scene, fps, substeps, iterations)
    if has_floor(scene):
        place = (0, 0, -FLOOR_SIZE / 4)
        world.body("Floor", FLOOR_SIZE * CORNERS * (1, 1, 0.25), "BOX", place, UPRIGHT, 0.0)
    for body in fixed_boxes(scene):
        world.body(body.name, CORNERS * only_shape(body).half_extents, "BOX", body.position, body.orientation, 0.0)
    objects = [world.dynamic(body) for body in dynamic_bodies(scene)]
    world.add_joints(scene, objects)
    moving = any(np.any(body.linear_velocity) or np.any(body.angular_velocity) for body in dynamic_bodies(scene))
    lead = LEAD if moving else 0
    world.last_frame(frames + lead + 5)
    if moving:
        for item, body in zip(objects, dynamic_bodies(scene), strict=True):
            _carry(item, body, fps)
    for frame in range(1, lead + 2):
        world.scene.frame_set(frame)
    frame = lead + 1

    def advance():
        nonlocal frame
        frame += 1
        world.scene.frame_set(frame)

    def read():
        places = [item.matrix_world.decompose()[:2] for item in objects]
        return [tuple(place) for place, _ in places], [(turn.x, turn.y, turn.z, turn.w) for _, turn in places]

    return record(scene, frames, watch, read, advance)


def _carry(item, body, fps):
    """Keyframes that move the object into its start with its velocity, and let it go there."""
    for frame in range(1, LEAD + 2):
        time = (frame - LEAD - 1) / fps
        item.location = body.position + time * body.linear_velocity
        turn = rotations.multiply(rotations.exponential(time * body.angular_velocity), body.orientation)
        item.rotation_quaternion = (turn[3], *turn[:3])
        item.keyframe_insert("location", frame=frame)
        item.keyframe_insert("rotation_quaternion", frame=frame)
    # What is free at a frame was already free on the way there.
    for frame, kinematic in ((1, True), (LEAD + 1, True), (LEAD + 2, False)):
        item.rigid_body.kinematic = kinematic
        item.rigid_body.keyframe_insert("kinematic", frame=frame)


class _World:
    """A new Blender scene with a rigid body world."""

    def __init__(self, scene, fps, substeps, iterations):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.scene = bpy.context.scene
        self.scene.render.fps = fps
        self.scene.gravity = scene.gravity
        bpy.ops.rigidbody.world_add()
        self.world = self.scene.rigidbody_world
        self.world.substeps_per_frame, self.world.solver_iterations = substeps, iterations
        self.world.collection = self.bodies = bpy.data.collections.new("Bodies")
        self.world.constraints = self.constraints = bpy.data.collections.new("Constraints")
        friction, restitution = pair_material(scene)
        self.friction, self.restitution = np.sqrt(friction), np.sqrt(restitution)  # Bullet multiplies those of a pair
        self.layers = 0

    def last_frame(self, frame):
        self.world.point_cache.frame_end = self.scene.frame_end = frame

    def body(self, name, vertices, shape, position, orientation, mass, triangles=None):
        """An object with a rigid body; passive where the mass is 0.  ``triangles``: those of the hull if None."""
        mesh = bpy.data.meshes.new(name)
        faces = convex_hull(vertices) if triangles is None else triangles
        mesh.from_pydata([tuple(vertex) for vertex in vertices], [], [tuple(map(int, face)) for face in faces])
        mesh.update()
        item = bpy.data.objects.new(name, mesh)
        item.location, item.rotation_mode = position, "QUATERNION"
        item.rotation_quaternion = (orientation[3], *orientation[:3])
        self.scene.collection.objects.link(item)
        self.bodies.objects.link(item)
        rigid = item.rigid_body
        rigid.collision_shape, rigid.friction, rigid.restitution = shape, self.friction, self.restitution
        rigid.linear_damping = rigid.angular_damping = 0.0
        if mass > 0.0:
            rigid.mass = mass
        else:
            rigid.type = "PASSIVE"
        return item

    def dynamic(self, body):
        """The object of a dynamic body."""
        shape, triangles = only_shape(body), None
        if isinstance(shape, Box):
            vertices, kind = CORNERS * shape.half_extents, "BOX"
        elif isinstance(shape, Sphere):
            vertices, kind = shape.radius * _ball(), "SPHERE"  # Blender takes the radius from the bounding box
        elif isinstance(shape, Capsule):  # likewise, and its axis is Z
            ball = shape.radius * _ball()
            vertices = ball + np.where(ball[:, 2:] > 0.0, 1.0, -1.0) * (0.0, 0.0, shape.half_height)
            kind = "CAPSULE"
        elif isinstance(shape, TriangleMesh):
            vertices, triangles, kind = shape.vertices, shape.triangles, "MESH"
        else:
            vertices, kind = shape.vertices, "CONVEX_HULL"
        mass = body.mass_properties()[0]
        item = self.body(body.name, vertices, kind, body.position, body.orientation, mass, triangles)
        if not collides(body):
            self._alone(item)
        return item

    def _alone(self, item):
        """Give the object a collision layer to itself, of the 19 beside the first: neighbours never share one."""
        self.layers = self.layers % 19 + 1
        item.rigid_body.collision_collections = [layer == self.layers for layer in range(20)]

    def add_joints(self, scene, objects):
        """Empties with rigid body constraints; the world is a passive box far away."""
        if not scene.joints:
            return
        anchor = self.body("Anchor", 0.01 * CORNERS, "BOX", (0, 0, -50), UPRIGHT, 0.0)
        self._alone(anchor)
        object_of = {body.name: item for body, item in zip(dynamic_bodies(scene), objects, strict=True)}
        for joint in scene.joints:
            a, b = joint_bodies(scene, joint)
            pair = (anchor if a is None else object_of[a.name], object_of[b.name])
            # Blender's hinge turns about the empty's Z, as the joint's frame does, and its motor about the empty's X.
            turn = Quaternion((joint.orientation[3], *joint.orientation[:3]))
            limits = angle_limits(joint)
            kind = "HINGE" if joint.kind == "hinge" else "GENERIC" if limits else "POINT"
            spring = spring_of(joint)
            if spring is not None:
                self._spring(joint, spring, turn, pair)
                continue
            made = self._constraint(joint, kind, turn, pair)
            for name, limit in limits.items():
                _limit(made, f"ang_{name[1]}", limit)
            if kind == "GENERIC":
                for name in "xyz":
                    _limit(made, f"lin_{name}", 0.0)
            drive = drive_of(joint)
            if drive is not None:
                axis = turn @ Vector((0, 0, 1))
                motor = self._constraint(joint, "MOTOR", Vector((1, 0, 0)).rotation_difference(axis), pair)
                motor.use_motor_ang = True
                motor.motor_ang_target_velocity = -drive.target  # Blender turns the first body against the second
                motor.motor_ang_max_impulse = drive.max_force

    def _spring(self, joint, spring, turn, pair):
        """A hinge with a spring: Blender's generic constraint with one angle free."""
        made = self._constraint(joint, "GENERIC_SPRING", turn, pair)
        made.spring_type = "SPRING2"
        for name in ("lin_x", "lin_y", "lin_z", "ang_x", "ang_y"):
            _limit(made, name, 0.0)
        made.use_spring_ang_z = True
        made.spring_stiffness_ang_z, made.spring_damping_ang_z = spring.stiffness, spring.damping

    def _constraint(self, joint, kind, turn, pair):
        empty = bpy.data.objects.new(f"{joint.name} {kind}", None)
        empty.location, empty.rotation_mode, empty.rotation_quaternion = joint.position, "QUATERNION", turn
        self.scene.collection.objects.link(empty)
        self.constraints.objects.link(empty)
        bpy.context.view_layer.objects.active = empty
        if empty.rigid_body_constraint is None:
            bpy.ops.rigidbody.constraint_add()
        constraint = empty.rigid_body_constraint
        constraint.type = kind
        constraint.object1, constraint.object2 = pair
        constraint.disable_collisions = True
        return constraint


def _limit(constraint, name, limit):
    setattr(constraint, f"use_limit_{name}", True)
    setattr(constraint, f"limit_{name}_lower", -limit)
    setattr(constraint, f"limit_{name}_upper", limit)


def _ball():
    """Points of the unit sphere."""
    around, down = np.meshgrid(np.linspace(0, 2 * np.pi, 33)[:-1], np.linspace(0, np.pi, 17))
    around, down = around.ravel(), down.ravel()
    return np.stack([np.sin(down) * np.cos(around), np.sin(down) * np.sin(around), np.cos(down)], axis=1)
