# SPDX-License-Identifier: GPL-3.0-or-later
"""What Axion stores in a .blend: ``Object.axion`` (body), ``Object.axion_joint`` and ``Scene.axion``.

Names, meaning and order follow Blender's own rigid bodies where those have the property.  A number with a unit means
what Blender's panels show for it, which differs from what is stored only where the scene's unit scale is not 1.
"""

import bpy

from .body import AXION_PG_body
from .joint import AXION_PG_joint
from .native import AXION_PG_native, AXION_PG_native_row
from .overlays import AXION_PG_overlays
from .scene import AXION_PG_scene

CLASSES = (AXION_PG_body, AXION_PG_joint, AXION_PG_overlays, AXION_PG_scene, AXION_PG_native_row, AXION_PG_native)
"""Property groups, to be registered before ``attach``."""

OWNERS = (
    (bpy.types.Object, "axion", AXION_PG_body, "Axion Rigid Body", "Rigid body simulated by Axion"),
    (bpy.types.Object, "axion_joint", AXION_PG_joint, "Axion Joint", "Joint between two bodies simulated by Axion"),
    (bpy.types.Scene, "axion", AXION_PG_scene, "Axion", "Settings of the Axion simulation in this scene"),
    (bpy.types.Scene, "axion_native", AXION_PG_native, "Conversion Report", "What became of Blender's rigid bodies"),
)


def attach():
    """Give objects and scenes their Axion properties; CLASSES must be registered."""
    for owner, name, group, label, description in OWNERS:
        pointer = bpy.props.PointerProperty(
            type=group, name=label, description=description, override={"LIBRARY_OVERRIDABLE"}
        )
        setattr(owner, name, pointer)


def detach():
    """Take the properties away again; what files stored stays in them."""
    for owner, name, *_ in reversed(OWNERS):
        delattr(owner, name)
