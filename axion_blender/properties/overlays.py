# SPDX-License-Identifier: GPL-3.0-or-later
"""``Scene.axion.overlays``: what the viewport shows of the physics."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from .body import STILL

GRAPHS = (
    ("NONE", "None", "No graph"),
    ("ALL", "All", "Every graph, one above the other"),
    ("penetration", "Penetration", "Deepest overlap of two bodies"),
    ("joint_error", "Joint Error", "Largest distance by which a joint is off"),
    ("residual", "Residual", "Worst of all residuals"),
    ("energy", "Energy", "Kinetic and potential energy"),
    ("iterations", "Iterations", "Newton iterations and substeps"),
)


def switch(name, description, default):
    """A checkbox of the viewport."""
    return BoolProperty(name=name, description=description, default=default, **STILL)


class AXION_PG_overlays(bpy.types.PropertyGroup):
    """What the viewport shows of the physics."""

    show: switch("Axion", "Show joints, contacts and forces in the viewport", True)
    show_joints: switch("Joint Frames", "Show the axes of every joint", True)
    show_limits: switch("Limits", "Show how far joints may turn and slide", True)
    show_contacts: switch("Contact Points", "Show where bodies touched at the current frame", True)
    show_contact_forces: switch("Contact Forces", "Show forces of contacts on the current frame as arrows", True)
    show_joint_forces: switch("Joint Forces", "Show forces of joints on the current frame as arrows", True)
    show_worst: switch(
        "Errors", "Show in red the joints and contacts that are off by more than the tolerance at this frame", True
    )
    show_handles: switch("Joint Handles", "Show handles that turn and move the active joint", True)
    selected_only: switch("Selected Only", "Show only joints and contacts of selected objects", False)
    in_front: switch("In Front", "Show them through the bodies", True)
    size: FloatProperty(
        name="Size",
        description="Size of joint frames and limits",
        default=0.2,
        min=0.001,
        soft_max=2.0,
        unit="LENGTH",
        **STILL,
    )
    force_scale: FloatProperty(
        name="Arrow Size",
        description="Factor on the length of the arrows (1 suits the strong forces of the bake)",
        default=1.0,
        min=0.001,
        soft_max=10.0,
        **STILL,
    )
    graph: EnumProperty(
        name="Graph", description="Graph of the bake in the viewport", items=GRAPHS, default="NONE", **STILL
    )
