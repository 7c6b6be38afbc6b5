# SPDX-License-Identifier: GPL-3.0-or-later
"""What bodies are made of: presets of density, friction and bounciness, and masses from densities."""

import bpy
from bpy.props import EnumProperty, FloatProperty

from ...solver import SceneError
from .. import conventions
from ..extract import geometry, weight
from ..materials import MATERIALS
from .bodies import OnBodies, count, editable_bodies
from .session import in_object_mode

PRESETS = tuple((name, material.label, material.description()) for name, material in MATERIALS.items())
DENSITIES = (
    ("OWN", "Own Density", "The density that each body has now"),
    ("CUSTOM", "Custom", "The density given here"),
    *PRESETS,
)


class AXION_OT_apply_material(OnBodies, bpy.types.Operator):
    """Give the selected bodies the density, friction and bounciness of a material."""

    bl_idname = "axion.apply_material"
    bl_label = "Apply Material"
    bl_description = (
        "Give the selected bodies the density, friction and bounciness of a material; their masses follow the density"
    )
    bl_options = {"REGISTER", "UNDO"}
    refusal = "No material was applied"

    material: EnumProperty(
        name="Material", description="What the bodies are made of", items=PRESETS, default="WOOD_OAK"
    )

    def change(self, item):
        material, body = MATERIALS[self.material], item.axion
        body.use_density, body.density = True, material.density
        for name in ("friction", "restitution"):
            value = getattr(material, name)
            if value is not None:
                setattr(body, name, value)

    def told(self):
        material = MATERIALS[self.material]
        kept = " and ".join(material.unknown())
        more = f"; as for {kept}, there is no figure worth copying, so theirs stays" if kept else ""
        return f"of {material.label}{more}"


class AXION_OT_calculate_mass(bpy.types.Operator):
    """Set the masses of the selected bodies from the volumes of their collision shapes."""

    bl_idname = "axion.calculate_mass"
    bl_label = "Calculate Mass"
    bl_description = (
        "Set the masses of the selected bodies to the volumes of their collision shapes times a density, once"
    )
    bl_options = {"REGISTER", "UNDO"}

    material: EnumProperty(
        name="Material Preset", description="Where the density comes from", items=DENSITIES, default="OWN"
    )
    density: FloatProperty(
        name="Density",
        description="Density in kilograms per cubic metre for the preset Custom",
        default=1000.0,
        min=0.001,
        soft_max=25000.0,
    )

    @classmethod
    def poll(cls, context):
        return in_object_mode(cls, context)

    def execute(self, context):
        items = [item for item in editable_bodies(context) if item.axion.type == "ACTIVE"]
        if not items:
            self.report({"ERROR"}, "No mass was calculated: none of the selected objects is an active Axion body")
            return {"CANCELLED"}
        density = {"OWN": None, "CUSTOM": self.density}.get(self.material)
        if self.material in MATERIALS:
            density = MATERIALS[self.material].density
        done, total = [], 0.0
        with geometry.prepared(items, context.view_layer):
            cook = weight.cook(context.evaluated_depsgraph_get(), context.scene.unit_settings)
            for item in items:
                try:
                    mass = weight.mass(item, cook, density)
                except SceneError as error:
                    self.report({"WARNING"}, str(error))
                    continue
                done.append((item, mass))
        for item, mass in done:
            item.axion.mass, item.axion.use_density = mass, False
            total += mass
            if density is not None:
                item.axion.density = density
        if not done:
            self.report({"ERROR"}, "No mass was calculated: none of the selected bodies encloses a volume")
            return {"CANCELLED"}
        units = context.scene.unit_settings
        total *= conventions.metres_per_unit(units.system, units.scale_length) ** 3
        self.report({"INFO"}, f"{count(done, 'body weighs', 'bodies weigh')} {total:.4g} kg in all")
        return {"FINISHED"}


CLASSES = (AXION_OT_apply_material, AXION_OT_calculate_mass)
