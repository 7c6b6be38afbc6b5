# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion in and out: how a body is tied to its animation, and what a bake is written to."""

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

STILL = {"options": set(), "override": {"LIBRARY_OVERRIDABLE"}}


OUTPUTS = (
    ("KEYFRAMES", "Keyframes", "Keys of location and rotation on the objects themselves"),
    (
        "POINTS",
        "Point Instances",
        "One object that shows all bodies as instances by geometry nodes, for thousands of them",
    ),
)
ROTATIONS = (
    ("KEEP", "As It Is", "Keys in each object's own rotation mode, without jumps"),
    ("QUATERNION", "Quaternion", "Turn the rotation mode of all baked objects to quaternions"),
)


class SceneOutput:
    """Mixed into AXION_PG_scene."""

    output: EnumProperty(
        name="Output", description="What the motion is written to", items=OUTPUTS, default="KEYFRAMES", **STILL
    )
    output_rotation: EnumProperty(
        name="Rotation", description="Rotation mode of the keys", items=ROTATIONS, default="KEEP", **STILL
    )
    keys_per_frame: IntProperty(
        name="Keys Per Frame",
        description="States written per frame, for the motion blur of fast things (each is a step of the simulation, "
        "so more take longer)",
        default=1,
        min=1,
        soft_max=8,
        max=64,
        **STILL,
    )


class BodyMotion:
    """Mixed into AXION_PG_body."""

    blend_frames: FloatProperty(
        name="Blend",
        description="Frames in which a body that becomes Animated again glides to its animation (0 puts it there)",
        default=0.0,
        min=0.0,
        soft_max=50.0,
        step=100,
        precision=1,
        **STILL,
    )
    use_guide: BoolProperty(
        name="Guide",
        description="Pull the active body along its animation by a spring, so that collisions can push it off",
        default=False,
        **STILL,
    )
    guide_stiffness: FloatProperty(
        name="Guide Stiffness",
        description="Force per distance from the animation in newtons per metre (0 follows the velocity alone)",
        default=100.0,
        min=0.0,
        soft_max=10000.0,
        step=1000,
        precision=1,
        **STILL,
    )
    guide_damping: FloatProperty(
        name="Guide Damping",
        description="Force per velocity relative to the animation in newton seconds per metre",
        default=10.0,
        min=0.0,
        soft_max=1000.0,
        step=100,
        precision=2,
        **STILL,
    )
    guide_angular_stiffness: FloatProperty(
        name="Guide Angular Stiffness",
        description="Torque per angle from the animation in newton metres per radian",
        default=10.0,
        min=0.0,
        soft_max=1000.0,
        step=100,
        precision=2,
        **STILL,
    )
    guide_angular_damping: FloatProperty(
        name="Guide Angular Damping",
        description="Torque per angular velocity relative to the animation in newton metre seconds per radian",
        default=1.0,
        min=0.0,
        soft_max=100.0,
        step=10,
        precision=3,
        **STILL,
    )
    use_guide_limit: BoolProperty(
        name="Guide Limit Force",
        description="Let the guide give way where it would pull harder than this",
        default=False,
        **STILL,
    )
    guide_max_force: FloatProperty(
        name="Guide Max Force",
        description="Most force of the guide along each axis in newtons",
        default=100.0,
        min=0.0,
        soft_max=10000.0,
        step=1000,
        precision=1,
        **STILL,
    )
    guide_max_torque: FloatProperty(
        name="Guide Max Torque",
        description="Most torque of the guide about each axis in newton metres",
        default=10.0,
        min=0.0,
        soft_max=1000.0,
        step=100,
        precision=2,
        **STILL,
    )
