# SPDX-License-Identifier: GPL-3.0-or-later
"""``Scene.axion.effector_weights``: how much Blender's force fields count, by the names of its own effector weights."""

import bpy
from bpy.props import FloatProperty, PointerProperty

KINDS = ("force", "vortex", "magnetic", "wind", "harmonic", "turbulence", "drag")
"""Weights of single kinds of fields, in Blender's order; those of kinds that do not move rigid bodies are left out."""


def _weight(name, description):
    return FloatProperty(
        name=name,
        description=description,
        default=1.0,
        min=-200.0,
        max=200.0,
        soft_min=0.0,
        soft_max=1.0,
        step=1,
        precision=3,
        subtype="FACTOR",
        options=set(),
        override={"LIBRARY_OVERRIDABLE"},
    )


class AXION_PG_effector_weights(bpy.types.PropertyGroup):
    """Weights of the force fields."""

    collection: PointerProperty(
        type=bpy.types.Collection,
        name="Effector Collection",
        description="Let only the force fields of this collection act",
        options=set(),
        override={"LIBRARY_OVERRIDABLE"},
    )
    all: _weight("All", "Weight of all force fields")
    force: _weight("Force", "Weight of force fields")
    vortex: _weight("Vortex", "Weight of vortex fields")
    magnetic: _weight("Magnetic", "Weight of magnetic fields")
    wind: _weight("Wind", "Weight of wind fields")
    harmonic: _weight("Harmonic", "Weight of harmonic fields")
    turbulence: _weight("Turbulence", "Weight of turbulence fields")
    drag: _weight("Drag", "Weight of drag fields")
