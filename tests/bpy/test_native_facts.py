# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender's own engine does, measured: the ground that the conversion stands on.

Each test plays the native scene, converts it, and asks Axion's settings for the same number.
"""

import math

import bpy
import numpy as np
import pytest
from axion.axion_blender import native
from blend_scenes import box_mesh, extract, key
from native_scenes import LOCKED, body, constraint, play, world

DEGREE = math.pi / 180


def converted():
    """solver.Scene of the native scene."""
    bpy.context.scene.frame_set(1)
    native.convert_native(bpy.context.scene, bpy.context.evaluated_depsgraph_get())
    return extract().scene


def weightless(gravity=(0, 0, 0)):
    bpy.context.scene.gravity = gravity
    world()


def pair(swapped, **settings):
    """A post that stands and an arm; returned in the order of object 1, object 2."""
    post = body("Post", box_mesh((0.2, 0.2, 0.2)), type="PASSIVE", collision_shape="BOX")
    free = {"linear_damping": 0.0, "angular_damping": 0.0, "use_deactivation": False, "collision_shape": "BOX"}
    arm = body("Arm", box_mesh((0.2, 0.2, 0.2)), **free, **settings)
    return (arm, post) if swapped else (post, arm)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("kind", ["SLIDER", "PISTON", "GENERIC"])
@pytest.mark.parametrize("push", [-5.0, 5.0])
def test_linear_limits(kind, swapped, push):
    weightless((push, 0, 0))
    first, second = pair(swapped)
    limits = {"use_limit_lin_x": True, "limit_lin_x_lower": -0.2, "limit_lin_x_upper": 1.0}
    constraint("Joint", kind, first, second, disable_collisions=True, **(LOCKED if kind == "GENERIC" else {}) | limits)
    stops_at = play(bpy.data.objects["Arm"], 50).translation.x
    axis = converted().joints[0].axes["x"]
    # The coordinate is that of B against A: of the arm where it is B, else of the post as seen from the arm.
    coordinate = -stops_at if swapped else stops_at
    assert math.isclose(coordinate, axis.upper if coordinate > 0 else axis.lower, abs_tol=2e-3)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(
    ("kind", "letter"), [("HINGE", "z"), ("PISTON", "x"), ("GENERIC", "x"), ("GENERIC", "y"), ("GENERIC", "z")]
)
@pytest.mark.parametrize("push", [-1, 1])
def test_angular_limits(kind, letter, swapped, push):
    # The arm's centre stands 1 m from the pivot along the axis after the joint's; gravity pushes it about the joint's.
    axis = "xyz".index(letter)
    along, across = (axis + 1) % 3, (axis + 2) % 3
    weightless([5.0 * push * (i == across) for i in range(3)])
    first, second = pair(swapped)
    arm = bpy.data.objects["Arm"]
    arm.rigid_body.linear_damping = arm.rigid_body.angular_damping = 0.9
    arm.location[along] = 1.0
    limits = {
        f"use_limit_ang_{letter}": True,
        f"limit_ang_{letter}_lower": -10 * DEGREE,
        f"limit_ang_{letter}_upper": 30 * DEGREE,
    }
    locked = LOCKED if kind == "GENERIC" else {"use_limit_lin_x": True, "limit_lin_x_lower": 0, "limit_lin_x_upper": 0}
    constraint("Joint", kind, first, second, disable_collisions=True, **locked | limits)
    place = play(arm, 60).translation
    turned = math.atan2(place[across], place[along])
    made = converted().joints[0].axes[f"r{letter}"]
    angle = -turned if swapped else turned
    assert math.isclose(angle, made.upper if angle > 0 else made.lower, abs_tol=0.8 * DEGREE)


@pytest.mark.parametrize("swapped", [False, True])
def test_motors(swapped):
    weightless()
    first, second = pair(swapped)
    both = {"use_motor_lin": True, "motor_lin_target_velocity": 0.5, "motor_lin_max_impulse": 1e3}
    both |= {"use_motor_ang": True, "motor_ang_target_velocity": 1.5, "motor_ang_max_impulse": 1e3}
    constraint("Joint", "MOTOR", first, second, disable_collisions=True, **both)
    matrix = play(bpy.data.objects["Arm"], 25)  # one second
    sign = -1.0 if swapped else 1.0
    axes = converted().joints[0].axes
    assert math.isclose(sign * matrix.translation.x, axes["x"].target, abs_tol=0.02)
    assert math.isclose(sign * matrix.to_euler().x, axes["rx"].target, abs_tol=0.02)


@pytest.mark.parametrize(("substeps", "speed"), [(10, 1.0), (40, 1.0), (10, 2.0)])
def test_motor_impulse_is_a_force(substeps, speed):
    # x = F t^2 / (2 m) after one second of the animation.
    weightless()
    world().substeps_per_frame, world().time_scale = substeps, speed
    first, second = pair(True, mass=0.5)
    constraint(
        *("Joint", "MOTOR", first, second), use_motor_lin=True, motor_lin_target_velocity=99, motor_lin_max_impulse=0.1
    )
    moved = play(bpy.data.objects["Arm"], 25).translation.x
    assert math.isclose(moved, converted().joints[0].axes["x"].max_force * speed**2 / (2 * 0.5), rel_tol=0.02)


@pytest.mark.parametrize(("substeps", "speed"), [(10, 1.0), (20, 1.0), (10, 2.0)])
def test_breaking_threshold(substeps, speed):
    # A weight of 2 kg x 10 m/s^2 hangs; it is the force at which the conversion says that the joint gives way.
    weight = 20.0
    weightless((0, 0, -10))
    world().substeps_per_frame, world().time_scale = substeps, speed
    first, second = pair(False, mass=2.0)
    impulse = weight / 24 / substeps * speed
    item = constraint("Joint", "FIXED", first, second, disable_collisions=True, use_breaking=True)
    held = []
    for factor in (0.95, 1.05):
        item.rigid_body_constraint.breaking_threshold = factor * impulse
        bpy.context.scene.frame_set(1)
        held.append(play(bpy.data.objects["Arm"], 12).translation.z > -0.1)
    assert held == [False, True]
    assert math.isclose(converted().joints[0].break_force, 1.05 * weight, rel_tol=1e-5)


@pytest.mark.parametrize("kind", ["SPRING1", "SPRING2"])
def test_angular_springs(kind):
    # A weight of 2 kg x 1 m/s^2 at 1 m turns the spring until k angle = torque cos(angle); damping lets it rest there.
    # With few iterations, springs of Blender 2.8 give way here by a multiple.
    weightless((0, 1, 0))
    world().solver_iterations = 1000
    first, second = pair(False, mass=2.0)
    second.location.x, second.rigid_body.linear_damping = 1.0, 0.99
    spring = {"use_limit_ang_z": False, "use_spring_ang_z": True, "spring_stiffness_ang_z": 5.0, "spring_type": kind}
    constraint("Joint", "GENERIC_SPRING", first, second, disable_collisions=True, **LOCKED | spring)
    place = play(second, 150).translation
    angle = math.atan2(place.y, place.x)
    assert math.isclose(converted().joints[0].axes["rz"].stiffness * angle, 2.0 * math.cos(angle), rel_tol=0.02)


@pytest.mark.parametrize(("kind", "damping"), [("SPRING1", 0.5), ("SPRING2", 0.0), ("SPRING2", 2.0)])
def test_springs(kind, damping):
    # m x'' + d x' + k x = m g from rest: the frame where it turns back first, and how far it came.
    weightless((1, 0, 0))
    first, second = pair(False, mass=2.0)
    settings = LOCKED | {"use_limit_lin_x": False, "use_spring_x": True, "spring_stiffness_x": 10.0}
    settings |= {"spring_type": kind, "spring_damping_x": damping}
    constraint("Joint", "GENERIC_SPRING", first, second, disable_collisions=True, **settings)
    arm, seen = bpy.data.objects["Arm"], []
    scene = bpy.context.scene
    scene.frame_end = 40
    for frame in range(1, 41):
        scene.frame_set(frame)
        seen.append(arm.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation.x)
    axis = converted().joints[0].axes["x"]
    time = np.arange(40) / 24
    rate = axis.damping / (2 * 2.0)
    omega = math.sqrt(axis.stiffness / 2.0 - rate**2)
    swing = np.exp(-rate * time) * (np.cos(omega * time) + rate / omega * np.sin(omega * time))
    assert np.allclose(seen, 2.0 / axis.stiffness * (1 - swing), atol=4e-3)


def test_damping():
    # v' = g - k v.
    weightless((0, 0, -10))
    body("Falling", collision_shape="BOX", linear_damping=0.3)
    fallen = play(bpy.data.objects["Falling"], 25).translation.z
    k = converted().bodies[0].linear_damping
    assert math.isclose(fallen, -10 / k * (1 - (1 - math.exp(-k)) / k), rel_tol=0.01)


def test_gravity_weight_and_speed():
    # z = g t^2 / 2, with t the simulated time.
    weightless((0, 0, -10))
    world().effector_weights.gravity, world().effector_weights.all, world().time_scale = 0.5, 0.8, 2.0
    body("Falling", collision_shape="BOX", linear_damping=0.0)
    fallen = play(bpy.data.objects["Falling"], 25).translation.z
    scene = converted()
    seconds = 24 / extract().fps
    assert math.isclose(seconds, 2.0, rel_tol=1e-6)
    assert math.isclose(fallen, 0.5 * scene.gravity[2] * seconds**2, rel_tol=0.01)


def test_body_that_is_not_dynamic_stands():
    weightless((0, 0, -10))
    body("Standing", location=(0, 0, 3), enabled=False, collision_shape="BOX")
    assert math.isclose(play(bpy.data.objects["Standing"], 20).translation.z, 3.0)
    assert converted().bodies[0].motion == "static"


def test_hull_balances_on_its_origin():
    # On a narrow support below its origin, a hull with nearly all its volume to one side does not tip.
    weightless((0, 0, -10))
    body("Edge", box_mesh((0.6, 1, 1)), (0, 0, -0.5), type="PASSIVE", collision_shape="BOX", friction=1.0)
    item = body(
        "Lever", box_mesh((4, 1, 0.2), (1.5, 0, 0.1)), (0, 0, 0.05), collision_shape="CONVEX_HULL", friction=1.0
    )
    matrix = play(item, 40)
    assert abs(matrix.to_euler().y) < 0.05, "its volume's middle, 1.5 m beside the edge, would tip it"
    lever = next(b for b in converted().bodies if b.name == "Lever")
    assert np.allclose(lever.mass_properties()[1], 0.0, atol=1e-6)


def rest_height(shape, data=None, scale=(1, 1, 1), on="BOX", **settings):
    """Where a body of about 1 m comes to rest above the top of a floor."""
    weightless((0, 0, -10))
    quiet = {"linear_damping": 0.0, "angular_damping": 0.9, "use_deactivation": False}
    body("Floor", box_mesh((6, 6, 1)), (0, 0, -0.5), type="PASSIVE", collision_shape=on, mesh_source="BASE")
    item = body("Body", data or box_mesh(), (0, 0, 2.6), collision_shape=shape, **quiet | settings)
    item.scale = scale
    return play(item, 60).translation.z


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("shape", ["BOX", "SPHERE", "CAPSULE", "CYLINDER", "CONE", "CONVEX_HULL"])
def test_margins_keep_off_cones_and_hulls_that_use_theirs(shape, used):
    gap = rest_height(shape, use_margin=used, collision_margin=0.1) - 0.5
    assert math.isclose(gap, 0.1 if shape == "CONE" or (shape == "CONVEX_HULL" and used) else 0.0, abs_tol=2e-3)
    mentioned = [note for note in converted_notes() if note.startswith("Body ") and "margin" in note]
    assert bool(mentioned) == (gap > 0.05)


def test_margins_keep_off_meshes_always():
    assert math.isclose(rest_height("BOX", on="MESH"), 0.54, abs_tol=2e-3)
    assert any(note.startswith("Floor ") and "margin" in note for note in converted_notes())


def converted_notes():
    bpy.context.scene.frame_set(1)
    return native.convert_native(bpy.context.scene, bpy.context.evaluated_depsgraph_get()).notes


@pytest.mark.parametrize("source", ["BASE", "DEFORM", "FINAL"])
def test_primitives_fill_the_final_bounding_box(source):
    weightless((0, 0, -10))
    body("Floor", box_mesh((6, 6, 1)), (0, 0, -0.5), type="PASSIVE", collision_shape="BOX")
    item = body("Body", location=(0, 0, 1.2), collision_shape="BOX", mesh_source=source)
    double = item.modifiers.new("Array", "ARRAY")
    double.use_relative_offset, double.use_constant_offset = False, True
    double.constant_offset_displace, double.count = (0, 0, -1), 2
    assert math.isclose(play(item, 40).translation.z, 1.0, abs_tol=5e-3), "half the height of both, about the origin"
    (made,) = [b for b in converted().bodies if b.name == "Body"]
    assert np.allclose(made.shapes[0].half_extents, (0.5, 0.5, 1.0))


@pytest.mark.parametrize(("scale", "height"), [((2, 1, 1), 1.0), ((1, 1, 2), 0.5)])
def test_spheres_follow_the_scale_of_x_alone(scale, height):
    assert math.isclose(rest_height("SPHERE", scale=scale), height, abs_tol=5e-3)
    assert any("unevenly" in note for note in converted_notes())


def test_scale_of_a_part_is_left_out():
    weightless((0, 0, -10))
    body("Floor", box_mesh((6, 6, 1)), (0, 0, -0.5), type="PASSIVE", collision_shape="BOX")
    parent = body("Parent", box_mesh((0.1, 0.1, 0.1)), (0, 0, 2), collision_shape="COMPOUND", use_deactivation=False)
    part = body("Part", collision_shape="BOX")
    part.parent, part.scale = parent, (2, 2, 2)
    assert math.isclose(play(parent, 50).translation.z, 0.5, abs_tol=5e-3)
    assert any(note.startswith("Part ") and "scale" in note for note in converted_notes())


def test_animated_goes_off_a_frame_before_its_key():
    # The fall at the key's own frame is already that of one frame.  The location is keyed, too, because only then does
    # Blender surely evaluate the animation before the simulation.
    weightless((0, 0, -10))
    world().substeps_per_frame = 100
    item = body("Body", collision_shape="BOX", linear_damping=0.0)
    key(item, "location", [(1, (0, 0, 0)), (25, (0, 0, 0))])
    key(item, "rigid_body.kinematic", [(1, True), (13, False)], "CONSTANT")
    assert math.isclose(play(item, 13).translation.z, -5.0 / 24**2, rel_tol=0.02)
    assert math.isclose(converted().bodies[0].release_time(), 11 / 24)


def test_animated_goes_on_at_its_key():
    weightless((0, 0, -10))
    item = body("Body", collision_shape="BOX", linear_damping=0.0, use_deactivation=False)
    key(item, "location", [(1, (0, 0, 0)), (25, (0, 0, 0))])
    key(item, "rigid_body.kinematic", [(1, False), (9, True)], "CONSTANT")
    fallen = [play(item, frame).translation.z for frame in (8, 9, 12)]
    assert fallen[0] < -0.3 and fallen[1:] == [0.0, 0.0]


def test_constraints_do_not_hold_parts_of_compounds():
    weightless((0, 0, -10))
    post = body("Post", location=(0, 0, 5), type="PASSIVE", collision_shape="BOX")
    parent = body("Parent", box_mesh((0.1, 0.1, 0.1)), collision_shape="COMPOUND", linear_damping=0.0)
    part = body("Part", collision_shape="BOX")
    part.parent = parent
    constraint("Joint", "FIXED", post, part)
    assert math.isclose(play(parent, 25).translation.z, -5.0, rel_tol=0.02)
    assert converted().joints == []


def test_constraint_that_is_off_still_lets_its_pair_pass():
    weightless((0, 0, -10))
    floor = body("Floor", box_mesh((6, 6, 1)), (0, 0, -0.5), type="PASSIVE", collision_shape="BOX")
    item = body("Body", location=(0, 0, 0.6), collision_shape="BOX")
    constraint("Joint", "FIXED", floor, item, enabled=False, disable_collisions=True)
    assert play(item, 25).translation.z < -2.0
    assert any("keeps its two objects from colliding" in note for note in converted_notes())


def test_broken_constraint_still_lets_its_pair_pass():
    weightless((0, 0, -10))
    floor = body("Floor", box_mesh((6, 6, 1)), (0, 0, -0.5), type="PASSIVE", collision_shape="BOX")
    item = body("Body", location=(0, 0, 0.6), collision_shape="BOX")
    breaking = {"use_breaking": True, "breaking_threshold": 1e-6}
    constraint("Joint", "FIXED", floor, item, disable_collisions=True, **breaking)
    assert play(item, 25).translation.z < -2.0
    assert any("in Axion they collide then" in note for note in converted_notes())


def test_locked_axes_are_heeded():
    weightless((1, 2, -10))
    item = body("Body", collision_shape="BOX", linear_damping=0.0)
    item.lock_location[2] = True
    assert np.allclose(play(item, 25).translation, (0.5, 1.0, 0.0), atol=0.01)
    assert any("locked on Z" in note for note in converted_notes())


@pytest.mark.parametrize("start", [1, 5])
def test_body_that_is_not_dynamic_stops_where_the_simulation_starts(start):
    # Blender builds the world one frame after the cache's first, in parallel with that frame's animation: the body is
    # built at the pose of the first frame or at the next one's, whichever thread comes first.
    world().point_cache.frame_start = start
    item = body("Body", collision_shape="BOX", enabled=False)
    key(item, "location", [(1, (0, 0, 0)), (25, (6, 0, 0))])
    x = {}
    for frame in range(1, 26):
        bpy.context.scene.frame_set(frame)
        x[frame] = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation.x
    first = (start - 1) * 0.25
    assert math.isclose(x[start], first), "up to the first frame it follows its animation"
    assert any(math.isclose(x[start + 1], place, abs_tol=1e-6) for place in (first, first + 0.25))
    assert x[25] == x[start + 1], "and then it stands"
    assert any("follows its animation throughout" in note for note in converted_notes())


@pytest.mark.parametrize("kind", ["SPRING1", "SPRING2"])
@pytest.mark.parametrize("push", [-1, 1])
def test_angular_limits_of_springs(kind, push):
    weightless((0, 5.0 * push, 0))
    first, second = pair(False)
    second.rigid_body.linear_damping = second.rigid_body.angular_damping = 0.9
    second.location.x = 1.0
    limits = {"limit_ang_z_lower": -10 * DEGREE, "limit_ang_z_upper": 30 * DEGREE}
    constraint("Joint", "GENERIC_SPRING", first, second, disable_collisions=True, spring_type=kind, **LOCKED | limits)
    place = play(second, 60).translation
    made = converted().joints[0].axes["rz"]
    assert math.isclose(math.atan2(place.y, place.x), made.upper if push > 0 else made.lower, abs_tol=0.8 * DEGREE)


@pytest.mark.parametrize(("damping", "felt"), [(0.5, False), (0.99, True), (1.0, True)])
def test_old_springs_brake_only_near_one(damping, felt):
    # Undamped, it swings back to the start after a whole period; 240 / 10 (1 - d) k x is the speed it may reach.
    weightless((10, 0, 0))
    first, second = pair(False)
    settings = LOCKED | {"use_limit_lin_x": False, "use_spring_x": True, "spring_stiffness_x": 10.0}
    settings |= {"spring_type": "SPRING1", "spring_damping_x": damping}
    constraint("Joint", "GENERIC_SPRING", first, second, disable_collisions=True, **settings)
    period = 2 * math.pi / math.sqrt(10.0)
    back = play(second, 1 + round(24 * period)).translation.x
    assert (back > 0.1) == felt
    assert any("2.7" in note for note in converted_notes()) == felt
