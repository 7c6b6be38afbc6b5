# SPDX-License-Identifier: GPL-3.0-or-later
"""Native scenes whose motion follows a law: falls, slopes, pendulums, springs, motors, joints that break."""

import math

import bpy
from blend_scenes import box_mesh, key
from native_gallery import BLOCK, DEGREE, FREE, GRAVITY, STAND, ball, entry, floor, lead, start
from native_scenes import LOCKED, body, constraint


@entry
def free_fall():
    start()
    return {body("Box", location=(0, 0, 5), **BLOCK): lead(1.0)}  # z = -g t^2 / 2


@entry
def damped_fall():
    start()
    # v' = -g - k v, k = -ln(1 - 0.3): Blender's lead is no larger than without damping.
    return {body("Box", location=(0, 0, 5), **BLOCK | {"linear_damping": 0.3}): lead(1.0)}


@entry
def slow_world_with_weak_gravity():
    own = start(time_scale=0.5)
    own.effector_weights.gravity, own.effector_weights.all = 0.5, 0.5
    return {body("Box", **BLOCK): lead(0.5, pull=GRAVITY / 4)}


@entry
def fast_world():
    start(time_scale=3.0, substeps=300)
    return {body("Box", **BLOCK): lead(3.0, substeps=100)}


@entry
def tilted_gravity_at_30_drop_frames():
    start(31, fps=30)
    bpy.context.scene.render.fps_base = 1.001
    bpy.context.scene.gravity = (3.0, -2.0, -5.0)
    return {body("Box", **BLOCK): lead(1.0, fps=30, pull=6.2)}


@entry
def no_gravity():
    start()
    bpy.context.scene.use_gravity = False
    return {body("Box", **BLOCK): 1e-5}


@entry
def centimetres():
    bpy.context.scene.unit_settings.scale_length = 0.01
    start()
    bpy.context.scene.gravity = (0, 0, -981.0)
    floor(size=400.0)
    # The scale of the unit changes nothing of the motion in Blender units.
    return {body("Box", box_mesh((20, 20, 20)), (0, 0, 520), **BLOCK): lead(1.0, pull=981.0)}


@entry
def imperial_units():
    bpy.context.scene.unit_settings.system, bpy.context.scene.unit_settings.scale_length = "IMPERIAL", 0.3048
    start()
    return {body("Box", **BLOCK): lead(1.0)}


@entry
def slope_that_is_slid_down():
    # a = g (sin 30 - mu cos 30), mu = 0.6 x 0.5 by the product.  Blender follows it to a millimetre; Axion, which takes
    # implicit Euler steps h under contacts, one a frame here, is a t h / 2 ahead.
    start()
    ramp = body("Ramp", box_mesh((14, 4, 1)), friction=0.6, **STAND)
    ramp.rotation_euler.y = 30 * DEGREE
    up = (math.sin(30 * DEGREE), 0, math.cos(30 * DEGREE))
    item = body("Box", location=up, friction=0.5, **BLOCK)
    item.rotation_euler.y = 30 * DEGREE
    return {item: GRAVITY * (0.5 - 0.3 * math.cos(30 * DEGREE)) / 48 + 1e-3}


@entry
def slope_that_holds():
    # mu = 0.9 x 0.8 > tan 30: it stays.
    start()
    ramp = body("Ramp", box_mesh((14, 4, 1)), friction=0.9, **STAND)
    ramp.rotation_euler.y = 30 * DEGREE
    item = body("Box", location=(math.sin(30 * DEGREE), 0, math.cos(30 * DEGREE)), friction=0.8, **BLOCK)
    item.rotation_euler.y = 30 * DEGREE
    return {item: 2e-3}


@entry
def bouncing_balls():
    # Bouncinesses multiply; each impact comes up to a step late in Blender, so that the balls are only baked.
    start(49)
    floor(restitution=0.9)
    for k, bounce in enumerate((0.0, 0.5, 1.0)):
        body(f"Ball {k}", ball(), (2 * k - 2, 0, 2), collision_shape="SPHERE", restitution=bounce, **FREE)
    return {}


@entry
def point_pendulum():
    # A ball on a rod without mass: Blender's energy error per swing is of the order of h, its path within a centimetre.
    start(49)
    bob = body("Bob", ball(0.2), (1, 0, 0), collision_shape="SPHERE", mass=3.0, **FREE)
    constraint("Pivot", "POINT", body("Hook", box_mesh((0.2, 0.2, 0.2)), (0, 0, 0.3), **STAND), bob)
    return {bob: 0.02}


@entry
def hinge_pendulum():
    start(49)
    arm = body("Arm", box_mesh((1, 0.2, 0.1)), (0.5, 0, 0), **BLOCK)
    link = constraint("Hinge", "HINGE", body("Hook", box_mesh((0.1, 0.1, 0.1)), **STAND), arm, disable_collisions=True)
    link.rotation_euler.x = 90 * DEGREE
    return {arm: 0.02}


@entry
def hinge_that_stops():
    start(49)
    arm = body("Arm", box_mesh((1, 0.2, 0.1)), (0.5, 0, 0), **BLOCK | {"angular_damping": 0.9, "linear_damping": 0.9})
    limits = {"use_limit_ang_z": True, "limit_ang_z_lower": -40 * DEGREE, "limit_ang_z_upper": 40 * DEGREE}
    hook = body("Hook", box_mesh((0.1, 0.1, 0.1)), **STAND)
    constraint("Hinge", "HINGE", hook, arm, disable_collisions=True, **limits).rotation_euler.x = 90 * DEGREE
    return {}


@entry
def slider_on_a_slope():
    # x'' = g sin 20 until the limit at 0.8; Blender gives way there by a centimetre at most.
    start(25)
    cart = body("Cart", box_mesh((0.4, 0.4, 0.4)), **BLOCK)
    rail = body("Rail", box_mesh((0.2, 0.2, 0.2)), (0, 0, -1), **STAND)
    limits = {"use_limit_lin_x": True, "limit_lin_x_lower": -2.0, "limit_lin_x_upper": 0.8}
    constraint("Slider", "SLIDER", rail, cart, **limits).rotation_euler.y = 20 * DEGREE
    return {cart: 0.03}


@entry
def piston_that_turns():
    start(25)
    rod = body("Rod", box_mesh((1, 0.2, 0.4), (0, 0.3, 0)), **BLOCK | {"collision_shape": "CONVEX_HULL"})
    limits = {"use_limit_lin_x": True, "limit_lin_x_lower": -0.5, "limit_lin_x_upper": 0.5}
    limits |= {"use_limit_ang_x": True, "limit_ang_x_lower": -30 * DEGREE, "limit_ang_x_upper": 30 * DEGREE}
    hold = body("Cylinder", box_mesh((0.2, 0.2, 0.2)), (-2, 0, 0), **STAND)
    constraint("Piston", "PISTON", hold, rod, **limits).rotation_euler.y = 15 * DEGREE
    return {}


@entry
def generic_with_one_way_left():
    # Only Y is free: y'' = g_y.
    start()
    bpy.context.scene.gravity = (1.0, 2.0, -9.0)
    cart = body("Cart", box_mesh((0.4, 0.4, 0.4)), **BLOCK)
    rail = body("Rail", box_mesh((0.2, 0.2, 0.2)), (0, 0, -2), **STAND)
    constraint("Generic", "GENERIC", rail, cart, **LOCKED | {"use_limit_lin_y": False})
    return {cart: lead(1.0, pull=2.0) + 2e-3}


def spring(kind, damping):
    start(49)
    cart = body("Cart", box_mesh((0.4, 0.4, 0.4)), mass=2.0, **BLOCK)
    hook = body("Hook", box_mesh((0.2, 0.2, 0.2)), (0, 0, 3), **STAND)
    settings = {"use_limit_lin_z": False, "use_spring_z": True, "spring_stiffness_z": 40.0, "spring_damping_z": damping}
    constraint("Spring", "GENERIC_SPRING", hook, cart, spring_type=kind, **LOCKED | settings)
    # m z'' + d z' + k z = -m g, amplitude m g / k: Blender follows it to half a millimetre.  Axion's implicit midpoint
    # steps h, one a frame here, lag by (omega h)^2 / 12 of the phase omega t.
    omega, seconds = math.sqrt(40.0 / 2.0), 2.0
    return {cart: 2.0 * GRAVITY / 40.0 * omega * seconds * (omega / 24) ** 2 / 12 + 1e-3}


@entry
def spring_of_blender_28():
    return spring("SPRING2", 1.5)


@entry
def spring_of_blender_27():
    return spring("SPRING1", 0.5)


@entry
def motor():
    # Constant speeds from the first of Blender's steps on, but over Axion's first frame from rest: v / 48 behind.
    start()
    bpy.context.scene.gravity = (0, 0, 0)
    shaft = body("Shaft", box_mesh((1, 0.2, 0.2)), **BLOCK)
    block = body("Block", box_mesh((0.2, 0.2, 0.2)), (0, 0, -1), **STAND)
    drive = {"use_motor_lin": True, "motor_lin_target_velocity": 0.5, "motor_lin_max_impulse": 1e3}
    drive |= {"use_motor_ang": True, "motor_ang_target_velocity": 2.0, "motor_ang_max_impulse": 1e3}
    constraint("Motor", "MOTOR", block, shaft, **drive)
    return {shaft: 0.5 / 48 + 1e-3}


@entry
def weak_motor_that_is_animated():
    # x = F t^2 / (2 m): its largest force does not reach the speed asked for.
    start()
    bpy.context.scene.gravity = (0, 0, 0)
    shaft = body("Shaft", box_mesh((1, 0.2, 0.2)), mass=2.0, **BLOCK)
    block = body("Block", box_mesh((0.2, 0.2, 0.2)), (0, 0, -1), **STAND)
    link = constraint("Motor", "MOTOR", block, shaft, use_motor_lin=True, motor_lin_max_impulse=0.5)
    key(link, "rigid_body_constraint.motor_lin_target_velocity", [(1, 5.0), (25, 9.0)])
    return {shaft: 5e-3}


@entry
def glued_pair():
    start()
    first = body("First", location=(0, 0, 3), **BLOCK)
    second = body("Second", location=(1.5, 0, 3), mass=5.0, **BLOCK)
    constraint("Glue", "FIXED", first, second, (0.75, 0, 3))
    return {first: lead(1.0) + 5e-3, second: lead(1.0) + 5e-3}


def hanging(factor):
    start()
    weight = body("Weight", box_mesh((0.4, 0.4, 0.4)), (0, 0, -1), mass=2.0, **BLOCK)
    hook = body("Hook", box_mesh((0.2, 0.2, 0.2)), **STAND)
    threshold = factor * 2.0 * GRAVITY / 2400
    constraint("Glue", "FIXED", hook, weight, use_breaking=True, breaking_threshold=threshold)
    return weight


@entry
def joint_that_bears_its_load():
    return {hanging(1.1): 2e-3}


@entry
def joint_that_breaks():
    # It gives way in Blender's first step, and in Axion's.
    return {hanging(0.9): lead(1.0)}
