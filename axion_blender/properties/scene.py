# SPDX-License-Identifier: GPL-3.0-or-later
"""``Scene.axion``: settings of the whole simulation.  What they mean to the solver stands in ``extract/config.py``."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from .body import STILL
from .overlays import AXION_PG_overlays

QUALITIES = (
    ("PREVIEW", "Preview", "Half a millimetre: fast, for blocking"),
    ("NORMAL", "Normal", "A hundredth of a millimetre where things are slow, a tenth where they are fast"),
    ("FINAL", "Final", "A thousandth of a millimetre everywhere"),
)
DEVICES = (
    ("AUTO", "Automatic", "The first CUDA device, or the CPU where there is none"),
    ("CPU", "CPU", "The processor"),
    ("CUDA", "CUDA", "An NVIDIA graphics card"),
)
COMBINE = (
    ("MULTIPLY", "Multiply", "The product of both, as Blender's own rigid bodies do"),
    ("GEOMETRIC_MEAN", "Geometric Mean", "The square root of the product of both"),
    ("AVERAGE", "Average", "The mean of both"),
    ("MIN", "Minimum", "The smaller of both"),
    ("MAX", "Maximum", "The larger of both"),
)


class AXION_PG_scene(bpy.types.PropertyGroup):
    """Axion settings of a scene."""

    quality: EnumProperty(
        name="Quality",
        description="How exactly joints and contacts are kept: Preview to block out, Final for close shots",
        items=QUALITIES,
        default="NORMAL",
        **STILL,
    )
    use_tolerance: BoolProperty(
        name="Custom Tolerance",
        description="Set the tolerance by hand, for scenes much smaller or larger than a room",
        default=False,
        **STILL,
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="Largest gap in a joint or overlap in a contact that still counts as solved; smaller takes longer",
        default=1e-4,
        min=1e-9,
        soft_max=0.01,
        step=0.01,
        precision=6,
        unit="LENGTH",
        **STILL,
    )
    device: EnumProperty(
        name="Device",
        description="What computes the simulation: the processor or a graphics card",
        items=DEVICES,
        default="AUTO",
        **STILL,
    )
    device_index: IntProperty(
        name="Device Number", description="Which of several CUDA devices runs the simulation", default=0, min=0, **STILL
    )
    substeps: IntProperty(
        name="Substeps Per Frame",
        description="Steps of the simulation per frame (0 lets each frame choose, which is best for nearly all scenes)",
        default=0,
        min=0,
        soft_max=32,
        **STILL,
    )
    joint_damping: FloatProperty(
        name="Joint Damping",
        description="Rate per second at which joints lose motion (0 keeps the energy of a pendulum, 1 calms a ragdoll)",
        default=0.0,
        min=0.0,
        soft_max=10.0,
        step=10,
        precision=3,
        **STILL,
    )
    friction_combine: EnumProperty(
        name="Friction Combine",
        description="How the friction of two touching bodies becomes that of the pair",
        items=COMBINE,
        default="GEOMETRIC_MEAN",
        **STILL,
    )
    restitution_combine: EnumProperty(
        name="Bounciness Combine",
        description="How the bounciness of two touching bodies becomes that of the pair",
        items=COMBINE,
        default="MAX",
        **STILL,
    )
    time_scale: FloatProperty(
        name="Time Scale",
        description="Speed of the simulation against that of the animation (0.5 is slow motion)",
        default=1.0,
        min=0.001,
        max=100.0,
        step=1,
        precision=3,
        **STILL,
    )
    gravity_factor: FloatProperty(
        name="Gravity",
        description="Part of the scene's gravity that acts on the bodies (0 floats, 1 is all of it)",
        default=1.0,
        soft_min=0.0,
        soft_max=1.0,
        step=1,
        precision=3,
        **STILL,
    )
    use_frame_range: BoolProperty(
        name="Custom Frame Range",
        description="Bake other frames than those of the scene's frame range, to run in or to try a part",
        default=False,
        **STILL,
    )
    frame_start: IntProperty(name="Start", description="First frame of the bake", default=1, **STILL)
    frame_end: IntProperty(name="End", description="Last frame of the bake", default=250, **STILL)
    record_forces: BoolProperty(
        name="Record Forces",
        description="Keep what contacts and joints carried in the file, to be shown in the viewport (up to 42 bytes a "
        "contact and frame)",
        default=True,
        **STILL,
    )
    use_keyed_speed: BoolProperty(
        name="Keyframe Speeds",
        description="Bake each body's speed and contact force into custom properties too, to drive shaders and sound",
        default=False,
        **STILL,
    )
    use_keyed_forces: BoolProperty(
        name="Keyframe Joint Forces",
        description="Bake each joint's force and torque into custom properties, to drive shaders and sound",
        default=False,
        **STILL,
    )
    overlays: PointerProperty(
        name="Overlays",
        description="What the viewport shows of the physics",
        type=AXION_PG_overlays,
        override={"LIBRARY_OVERRIDABLE"},
    )
    use_cache: BoolProperty(
        name="Use Cache",
        description="Keep every solved frame on disk, so that a bake that was stopped goes on where it was",
        default=True,
        **STILL,
    )
    cache_folder: StringProperty(
        name="Cache Folder",
        description="Where this scene's frames are kept; empty for a folder beside the .blend file",
        subtype="DIR_PATH",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
        override={"LIBRARY_OVERRIDABLE"},
    )
    uuid: StringProperty(
        name="Cache Name",
        description="Name under which this scene's bakes are kept",
        options={"HIDDEN"},
        override={"LIBRARY_OVERRIDABLE"},
    )
