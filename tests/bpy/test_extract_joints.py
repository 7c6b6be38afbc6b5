# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint objects become joints of the solver: frames, limits, springs, motors, and every refusal."""

import math

import bpy
import numpy as np
import pytest
from axion.axion_blender import conventions
from axion.solver import JOINT_TYPES, SceneError
from blend_scenes import add, box, extract, joint, key

ALL = ("x", "y", "z", "rx", "ry", "rz")


@pytest.fixture
def pair():
    """A passive post and an active arm."""
    return box("Post", type="PASSIVE"), box("Arm", location=(3, 0, 0))


def only_joint():
    (made,) = extract().scene.joints
    return made


@pytest.mark.parametrize(
    ("kind", "free"),
    [
        ("FIXED", ""),
        ("POINT", "rx ry rz"),
        ("HINGE", "rz"),
        ("SLIDER", "x"),
        ("PISTON", "x rx"),
        ("GENERIC", "x y z rx ry rz"),
        ("GENERIC_SPRING", "x y z rx ry rz"),
        ("MOTOR", "x y z rx ry rz"),
    ],
)
def test_types_free_what_blender_frees(pair, kind, free):
    joint("Joint", kind, *pair)
    made = only_joint()
    assert {name for name in ALL if not made.is_locked(name)} == set(free.split())
    assert (made.body_a, made.body_b) == ("Post", "Arm") and not made.collide_connected
    assert made.break_force == made.break_torque == math.inf


def test_every_type_of_the_panel_exists_in_the_solver(pair):
    kinds = [item.identifier for item in pair[0].axion_joint.bl_rna.properties["type"].enum_items]
    assert len(kinds) == 10
    for kind in kinds:
        joint(f"Joint {kind}", kind, *pair)
    assert {made.kind for made in extract().scene.joints} <= set(JOINT_TYPES)


def test_frame_is_that_of_the_object_at_the_first_frame(pair):
    item = joint("Hinge", "HINGE", *pair, location=(1, 2, 3))
    item.rotation_euler = 0.3, -0.4, 0.5
    item.scale = 2, 3, 4
    key(item, "location", [(1, (1, 2, 3)), (25, (9, 9, 9))])
    bpy.context.scene.frame_set(25)
    made = only_joint()
    assert np.allclose(made.position, (1, 2, 3))
    expected = np.array(item.rotation_euler.to_matrix())
    assert np.allclose(conventions.rotation_matrix(made.orientation), expected, atol=1e-6)


def test_options(pair):
    joint("Joint", "FIXED", *pair, disable_collisions=False, compliance=1e-4, angular_compliance=2e-3)
    made = only_joint()
    assert made.collide_connected
    assert np.allclose((made.compliance, made.angular_compliance), (1e-4, 2e-3), rtol=1e-6)


def test_breaking(pair):
    item = joint("Joint", "FIXED", *pair, break_force=120.0, break_torque=7.0)
    assert only_joint().break_force == math.inf
    item.axion_joint.use_breaking = True
    assert (only_joint().break_force, only_joint().break_torque) == (120.0, 7.0)


def test_joint_to_the_world(pair):
    joint("Joint", "POINT", None, pair[1])
    made = only_joint()
    assert (made.body_a, made.body_b) == (None, "Arm")


def test_switched_off_joint_is_left_out(pair):
    joint("Joint", "FIXED", *pair).axion_joint.enabled = False
    assert extract().scene.joints == []


@pytest.mark.parametrize(("kind", "axis", "name"), [("HINGE", "ang_z", "rz"), ("PISTON", "ang_x", "rx")])
def test_angular_limits(pair, kind, axis, name):
    item = joint("Joint", kind, *pair)
    setattr(item.axion_joint, f"limit_{axis}_lower", -0.5)
    assert name not in only_joint().axes
    setattr(item.axion_joint, f"use_limit_{axis}", True)
    made = only_joint().axes[name]
    assert np.allclose((made.lower, made.upper), (-0.5, math.radians(45)))


@pytest.mark.parametrize("kind", ["SLIDER", "PISTON", "GENERIC"])
def test_linear_limits_are_lengths(pair, kind):
    joint("Joint", kind, *pair, use_limit_lin_x=True, limit_lin_x_lower=-10.0, limit_lin_x_upper=20.0)
    bpy.context.scene.unit_settings.scale_length = 0.01
    made = only_joint().axes["x"]
    assert np.allclose((made.lower, made.upper), (-0.1, 0.2))


def test_limits_of_axes_that_the_type_locks_do_not_count(pair):
    joint("Joint", "HINGE", *pair, use_limit_lin_x=True, use_limit_ang_x=True)
    assert only_joint().axes == {}


def test_equal_limits_at_zero_lock(pair):
    joint("Joint", "GENERIC", *pair, use_limit_ang_y=True, limit_ang_y_lower=0.0, limit_ang_y_upper=0.0)
    assert [name for name in ALL if only_joint().is_locked(name)] == ["ry"]


def test_springs(pair):
    item = joint("Joint", "GENERIC_SPRING", *pair, use_spring_y=True, spring_stiffness_y=50.0, spring_damping_y=2.0)
    item.axion_joint.use_spring_ang_z, item.axion_joint.spring_stiffness_ang_z = True, 7.0
    axes = only_joint().axes
    assert set(axes) == {"y", "rz"}
    assert (axes["y"].stiffness, axes["y"].damping, axes["y"].rest) == (50.0, 2.0, 0.0)
    assert (axes["rz"].stiffness, axes["rz"].damping) == (7.0, 0.5)
    item.axion_joint.type = "GENERIC"
    assert only_joint().axes == {}, "springs belong to Generic Spring"


@pytest.mark.parametrize(
    ("kind", "linear", "angular"),
    [("MOTOR", "x", "rx"), ("PISTON", "x", "rx"), ("HINGE", "", "rz"), ("SLIDER", "x", ""), ("POINT", "", "")],
)
def test_motors(pair, kind, linear, angular):
    joint("Joint", kind, *pair, use_motor_lin=True, use_motor_ang=True, motor_lin_target_velocity=2.0)
    bpy.context.scene.unit_settings.scale_length = 0.5
    axes = only_joint().axes
    assert set(axes) == {linear, angular} - {""}
    if linear:
        made = axes[linear]
        assert (made.drive, made.target, made.max_force) == ("velocity", 1.0, 1000.0)
    if angular:
        assert (axes[angular].drive, axes[angular].target) == ("velocity", 1.0)


def test_animated_motor(pair):
    item = joint("Joint", "HINGE", *pair, use_motor_ang=True)
    key(item, "axion_joint.motor_ang_target_velocity", [(1, 0.0), (25, 12.0)])
    times, values = only_joint().axes["rz"].target
    # Twelve radians per second gained in one second.
    assert np.allclose(values, 12.0 * np.asarray(times), atol=1e-4) and np.isclose(times[-1], 1.0)


def test_position_motors(pair):
    settings = {
        "motor_ang_type": "POSITION",
        "motor_lin_type": "POSITION",
        "use_motor_lin": True,
        "use_motor_ang": True,
    }
    places = {"motor_lin_target_position": 3.0, "motor_ang_target_angle": 1.5}
    give = {"motor_lin_stiffness": 7.0, "motor_lin_damping": 0.5, "motor_ang_stiffness": 9.0, "motor_ang_damping": 0.25}
    item = joint("Joint", "PISTON", *pair, **settings, **places, **give, motor_ang_max_torque=11.0)
    bpy.context.scene.unit_settings.scale_length = 0.5
    axes = only_joint().axes
    assert (axes["x"].drive, axes["x"].target, axes["x"].stiffness, axes["x"].damping) == ("position", 1.5, 7.0, 0.5)
    assert (axes["rx"].drive, axes["rx"].target, axes["rx"].max_force) == ("position", 1.5, 11.0)
    assert (axes["rx"].stiffness, axes["rx"].damping) == (9.0, 0.25)
    item.axion_joint.motor_lin_type = "VELOCITY"
    assert (only_joint().axes["x"].drive, only_joint().axes["x"].stiffness) == ("velocity", 0.0)


@pytest.mark.parametrize(
    ("kind", "name", "prop", "unit"),
    [("HINGE", "rz", "motor_ang_target_angle", 1.0), ("SLIDER", "x", "motor_lin_target_position", 0.5)],
)
def test_animated_servo(pair, kind, name, prop, unit):
    short = prop[:9]
    item = joint("Joint", kind, *pair, **{f"use_{short}": True, f"{short}_type": "POSITION"})
    bpy.context.scene.unit_settings.scale_length = 0.5
    key(item, f"axion_joint.{prop}", [(1, 0.0), (25, 2.0)])
    times, values = only_joint().axes[name].target
    assert np.allclose(values, 2.0 * unit * np.asarray(times), atol=1e-4)


@pytest.mark.parametrize(
    ("kind", "axes"),
    [
        ("POINT", {"rx": 3.0, "ry": 3.0, "rz": 3.0}),
        ("HINGE", {"rz": 3.0}),
        ("SLIDER", {"x": 2.0}),
        ("PISTON", {"x": 2.0, "rx": 3.0}),
        ("GENERIC", {"x": 2.0, "y": 2.0, "rx": 3.0, "ry": 3.0, "rz": 3.0}),
        ("FIXED", {}),
        ("ROPE", {}),
    ],
)
def test_friction_acts_on_what_is_free(pair, kind, axes):
    locked = {"use_limit_lin_z": True, "limit_lin_z_lower": 0.0, "limit_lin_z_upper": 0.0}
    joint("Joint", kind, *pair, friction_lin=2.0, friction_ang=3.0, **locked)
    found = {name: axis.friction for name, axis in only_joint().axes.items() if not axis.locked}
    assert found == axes


@pytest.mark.parametrize("kind", ["DISTANCE", "ROPE"])
def test_anchors(pair, kind):
    item = joint("Joint", kind, *pair, location=(0, 0, 9), anchor1=(0, 0, 0.5), anchor2=(-0.5, 0, 0))
    pair[1].scale = 2, 2, 2
    made = only_joint()
    assert np.allclose(made.anchors, [(0, 0, 0.5), (2, 0, 0)]) and made.length is None
    item.axion_joint.use_length, item.axion_joint.length = True, 4.0
    assert only_joint().length == 4.0
    item.axion_joint.object1 = None
    assert np.allclose(only_joint().anchors[0], (0, 0, 9)), "the world's end is where the joint's object is"


def test_anchors_are_read_at_the_first_frame():
    post = box("Post", type="PASSIVE")
    key(post, "location", [(1, (0, 0, 0)), (25, (9, 0, 0))])
    joint("Joint", "ROPE", post, box("Arm", location=(0, 0, -2)))
    bpy.context.scene.frame_set(25)
    assert np.allclose(only_joint().anchors, [(0, 0, 0), (0, 0, -2)])


def test_compound_parts_join_as_their_parent(pair):
    parent = add("Compound", None, type="ACTIVE", collision_shape="COMPOUND")
    part = box("Part")
    part.parent = parent
    joint("Joint", "FIXED", pair[0], part)
    assert only_joint().body_b == "Compound"


def test_an_object_can_be_body_and_joint(pair):
    own = pair[1].axion_joint
    own.enabled, own.type, own.object1, own.object2 = True, "HINGE", *pair
    made = only_joint()
    assert made.name == "Arm" and np.allclose(made.position, (3, 0, 0))


def broken(change, *parts):
    item = joint("Joint", "HINGE", bpy.data.objects["Post"], bpy.data.objects["Arm"])
    change(item.axion_joint)
    with pytest.raises(SceneError) as caught:
        extract()
    for part in ("Joint", *parts):
        assert part in str(caught.value)


def test_joint_without_objects(pair):
    broken(lambda j: (setattr(j, "object1", None), setattr(j, "object2", None)), "neither")


def test_joint_with_one_object_twice(pair):
    broken(lambda j: setattr(j, "object1", j.object2), "Arm", "itself")


def test_joint_with_an_object_that_takes_no_part(pair):
    add("Outsider", None)
    broken(lambda j: setattr(j, "object1", bpy.data.objects["Outsider"]), "Outsider", "takes no part")


def test_joint_with_crossed_limits(pair):
    def cross(own):
        own.use_limit_ang_z, own.limit_ang_z_lower, own.limit_ang_z_upper = True, 0.5, -0.5

    broken(cross, "lower limit", "0.5")


def test_joint_between_bodies_that_cannot_move(pair):
    pair[1].axion.type = "PASSIVE"
    broken(lambda j: None, "Post", "Arm")


def test_joint_object_with_zero_scale(pair):
    item = joint("Joint", "HINGE", *pair)
    item.scale.x = 0.0
    with pytest.raises(SceneError, match="Joint.*scale"):
        extract()
