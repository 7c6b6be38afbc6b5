# SPDX-License-Identifier: GPL-3.0-or-later
"""The Physics tab of a body: a button beside Blender's own, and panels that follow the native ones.

Order, titles and labels are those of ``bl_ui/properties_physics_rigidbody.py``; what Blender does not have comes after
what it has.  Where a native setting has no counterpart, its panel says why.
"""

import bpy

from .. import conventions
from ..extract import weight
from ..properties.joint import is_joint
from .bake import lock
from .presets import AXION_PT_material_presets
from .texts import note


def draw_buttons(self, context):
    """Below the buttons of Blender's own physics: switch the object's body and joint on or off."""
    item = context.object
    row = self.layout.row(align=True)
    if item.axion.enabled:
        row.operator("axion.remove_bodies", text="Axion Rigid Body", icon="X")
    else:
        row.operator("axion.add_bodies", text="Axion Rigid Body", icon="RIGID_BODY")
    if is_joint(item):
        row.operator("axion.remove_joints", text="Axion Joint", icon="X")
    else:
        row.operator("axion.enable_joint", text="Axion Joint", icon="RIGID_BODY_CONSTRAINT")


def attach():
    """Put the buttons into the panel of Blender's own."""
    bpy.types.PHYSICS_PT_add.append(draw_buttons)


def detach():
    """Take them away again."""
    bpy.types.PHYSICS_PT_add.remove(draw_buttons)


class PhysicsPanel:
    """Where the panels stand."""

    bl_space_type, bl_region_type, bl_context = "PROPERTIES", "WINDOW", "physics"

    def column(self):
        """The layout of a native panel: name and value side by side."""
        self.layout.use_property_split = True
        lock(self.layout)
        return self.layout.column()

    def flow(self):
        """The same, in columns where the editor is wide."""
        self.layout.use_property_split = True
        lock(self.layout)
        return self.layout.grid_flow(row_major=True, columns=0, even_columns=True, even_rows=False, align=True)


class BodyPanel(PhysicsPanel):
    """Shown for bodies; what concerns a part of a compound only is hidden."""

    of_parts = False

    @classmethod
    def poll(cls, context):
        item = context.object
        return item is not None and item.axion.enabled and (cls.of_parts or compound_of(item) is None)


def compound_of(item):
    """The body that ``item`` gives its shape to, or None."""
    parent = item.parent
    if parent is not None and parent.axion.enabled and parent.axion.collision_shape == "COMPOUND":
        return parent
    return None


class AXION_PT_body(BodyPanel, bpy.types.Panel):
    """Who moves the body."""

    bl_label = "Axion Rigid Body"
    of_parts = True

    def draw(self, context):
        column, parent = self.column(), compound_of(context.object)
        if parent is None:
            column.prop(context.object.axion, "type")
        else:
            note(column, context, f"This object is part of the compound shape of {parent.name}", "INFO")


class AXION_PT_body_settings(BodyPanel, bpy.types.Panel):
    """Mass and animation."""

    bl_label, bl_parent_id = "Settings", "AXION_PT_body"

    def draw_header_preset(self, context):
        AXION_PT_material_presets.draw_panel_header(self.layout)

    def draw(self, context):
        body, column = context.object.axion, self.column()
        if body.type == "PASSIVE":
            note(column, context, "Follows whatever animates it, without a checkbox", "INFO")
            return
        column.prop(body, "density" if body.use_density else "mass")
        column.prop(body, "dynamic")
        column.prop(body, "kinematic")
        column.prop(body, "blend_frames")
        column.prop(body, "use_density", text="Use Density")
        if body.use_density:
            draw_mass(column, context)
        row = column.row(align=True)
        row.operator_menu_enum("axion.apply_material", "material", text="Material")
        row.operator("axion.calculate_mass")


def draw_mass(layout, context):
    """The mass that the density gives, where it is known without delay."""
    mass = weight.known_mass(context.object, context.view_layer.depsgraph, context.scene.unit_settings)
    if mass is None:
        return
    settings = context.scene.unit_settings
    metres = conventions.metres_per_unit(settings.system, settings.scale_length)
    system = "METRIC" if settings.system == "NONE" else settings.system
    text = bpy.utils.units.to_string(system, "MASS", mass * metres**3, precision=4, split_unit=False)
    split = layout.split(factor=0.4)
    split.column().label(text="")
    split.column().label(text=f"Mass {text}")


class AXION_PT_body_collisions(BodyPanel, bpy.types.Panel):
    """Shape of the body."""

    bl_label, bl_parent_id = "Collisions", "AXION_PT_body"
    of_parts = True

    def draw(self, context):
        item, column = context.object, self.column()
        body = item.axion
        column.prop(body, "collision_shape", text="Shape")
        if body.collision_shape == "COMPOUND":
            if compound_of(item) is not None:
                note(column, context, "Sub compound shapes are not allowed", "ERROR")
            elif not any(child.axion.enabled for child in item.children):
                note(column, context, "There are no child rigid bodies", "ERROR")
        if body.collision_shape in {"MESH", "CONVEX_HULL", "CONVEX_DECOMPOSITION"}:
            column.prop(body, "mesh_source", text="Source")
        if body.collision_shape == "CONVEX_DECOMPOSITION":
            column.prop(body, "concavity")


class AXION_PT_body_surface(BodyPanel, bpy.types.Panel):
    """Friction and bounciness."""

    bl_label, bl_parent_id, bl_options = "Surface Response", "AXION_PT_body_collisions", {"DEFAULT_CLOSED"}

    def draw(self, context):
        body, flow = context.object.axion, self.flow()
        flow.column().prop(body, "friction")
        flow.column().prop(body, "restitution", text="Bounciness")
        flow.column().prop(body, "surface_velocity", text="Velocity")


class AXION_PT_body_sensitivity(BodyPanel, bpy.types.Panel):
    """Why there is no margin."""

    bl_label, bl_parent_id, bl_options = "Sensitivity", "AXION_PT_body_collisions", {"DEFAULT_CLOSED"}
    of_parts = True

    def draw(self, context):
        note(self.layout, context, "No Collision Margin: bodies touch at the surfaces you see", "INFO")


class AXION_PT_body_collections(BodyPanel, bpy.types.Panel):
    """What it collides with."""

    bl_label, bl_parent_id, bl_options = "Collections", "AXION_PT_body_collisions", {"DEFAULT_CLOSED"}

    def draw(self, context):
        lock(self.layout)
        self.layout.prop(context.object.axion, "collision_collections", text="")


class ActivePanel(BodyPanel):
    """Shown for active bodies."""

    @classmethod
    def poll(cls, context):
        return super().poll(context) and context.object.axion.type == "ACTIVE"


class AXION_PT_body_dynamics(ActivePanel, bpy.types.Panel):
    """Damping."""

    bl_label, bl_parent_id, bl_options = "Dynamics", "AXION_PT_body", {"DEFAULT_CLOSED"}

    def draw(self, context):
        body, flow = context.object.axion, self.flow()
        flow.column().prop(body, "linear_damping", text="Damping Translation")
        flow.column().prop(body, "angular_damping", text="Rotation")


class AXION_PT_body_deactivation(ActivePanel, bpy.types.Panel):
    """Why bodies need no deactivation."""

    bl_label, bl_parent_id, bl_options = "Deactivation", "AXION_PT_body_dynamics", {"DEFAULT_CLOSED"}

    def draw(self, context):
        note(
            self.layout, context, "Nothing to set: bodies at rest stay at rest, and wake when they are touched", "INFO"
        )


class AXION_PT_body_initial(ActivePanel, bpy.types.Panel):
    """How it moves at the first frame."""

    bl_label, bl_parent_id, bl_options = "Initial Motion", "AXION_PT_body_dynamics", {"DEFAULT_CLOSED"}

    def draw(self, context):
        body, flow = context.object.axion, self.flow()
        flow.column().prop(body, "linear_velocity", text="Velocity")
        flow.column().prop(body, "angular_velocity", text="Spin")


class AXION_PT_body_center(ActivePanel, bpy.types.Panel):
    """Centre of mass by hand."""

    bl_label, bl_parent_id, bl_options = "Center of Mass", "AXION_PT_body_dynamics", {"DEFAULT_CLOSED"}

    def draw_header(self, context):
        lock(self.layout)
        self.layout.prop(context.object.axion, "use_center_of_mass", text="")

    def draw(self, context):
        body, column = context.object.axion, self.column()
        column.active = body.use_center_of_mass
        column.prop(body, "center_of_mass", text="Local")


CLASSES = (
    AXION_PT_body,
    AXION_PT_body_settings,
    AXION_PT_body_collisions,
    AXION_PT_body_surface,
    AXION_PT_body_sensitivity,
    AXION_PT_body_collections,
    AXION_PT_body_dynamics,
    AXION_PT_body_deactivation,
    AXION_PT_body_initial,
    AXION_PT_body_center,
)
