# SPDX-License-Identifier: GPL-3.0-or-later
"""The Physics tab: a button beside Blender's own, and panels that follow the native ones in name and order."""

import bpy

from .bake import lock


def draw_buttons(self, context):
    """Below the buttons of Blender's own physics: switch the object's body and joint on or off."""
    item = context.object
    row = self.layout.row(align=True)
    if item.axion.enabled:
        row.operator("axion.remove_bodies", text="Axion Rigid Body", icon="X")
    else:
        row.operator("axion.add_bodies", text="Axion Rigid Body", icon="RIGID_BODY")
    if item.axion_joint.enabled:
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


class BodyPanel(PhysicsPanel):
    """Shown for bodies."""

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.axion.enabled


class JointPanel(PhysicsPanel):
    """Shown for joints."""

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.axion_joint.enabled


class AXION_PT_body(BodyPanel, bpy.types.Panel):
    """Who moves the body."""

    bl_label = "Axion Rigid Body"

    def draw(self, context):
        self.column().prop(context.object.axion, "type")


class AXION_PT_body_settings(BodyPanel, bpy.types.Panel):
    """Mass and animation."""

    bl_label, bl_parent_id = "Settings", "AXION_PT_body"

    def draw(self, context):
        body, column = context.object.axion, self.column()
        if body.type == "ACTIVE":
            column.prop(body, "density" if body.use_density else "mass")
            column.prop(body, "use_density")
            column.prop(body, "kinematic")
        else:
            column.label(text="Follows its animation, and pushes active bodies")


class AXION_PT_body_collisions(BodyPanel, bpy.types.Panel):
    """Shape of the body."""

    bl_label, bl_parent_id = "Collisions", "AXION_PT_body"

    def draw(self, context):
        body, column = context.object.axion, self.column()
        column.prop(body, "collision_shape")
        if body.collision_shape in {"MESH", "CONVEX_HULL", "CONVEX_DECOMPOSITION"}:
            column.prop(body, "mesh_source")
        if body.collision_shape == "CONVEX_DECOMPOSITION":
            column.prop(body, "concavity")


class AXION_PT_body_surface(BodyPanel, bpy.types.Panel):
    """Friction and bounciness."""

    bl_label, bl_parent_id = "Surface Response", "AXION_PT_body_collisions"

    def draw(self, context):
        body, column = context.object.axion, self.column()
        column.prop(body, "friction")
        column.prop(body, "surface_velocity")
        column.prop(body, "restitution")


class AXION_PT_body_collections(BodyPanel, bpy.types.Panel):
    """What it collides with."""

    bl_label, bl_parent_id, bl_options = "Collections", "AXION_PT_body_collisions", {"DEFAULT_CLOSED"}

    def draw(self, context):
        self.layout.prop(context.object.axion, "collision_collections", text="")


class AXION_PT_body_dynamics(BodyPanel, bpy.types.Panel):
    """Damping, initial motion, centre of mass."""

    bl_label, bl_parent_id, bl_options = "Dynamics", "AXION_PT_body", {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return super().poll(context) and context.object.axion.type == "ACTIVE"

    def draw(self, context):
        body, column = context.object.axion, self.column()
        column.prop(body, "linear_damping")
        column.prop(body, "angular_damping")
        column.prop(body, "linear_velocity")
        column.prop(body, "angular_velocity")
        column.prop(body, "use_center_of_mass")
        if body.use_center_of_mass:
            column.prop(body, "center_of_mass")


class AXION_PT_joint(JointPanel, bpy.types.Panel):
    """Kind of joint."""

    bl_label = "Axion Joint"

    def draw(self, context):
        self.column().prop(context.object.axion_joint, "type")


class AXION_PT_joint_settings(JointPanel, bpy.types.Panel):
    """Collisions, breaking, compliance."""

    bl_label, bl_parent_id = "Settings", "AXION_PT_joint"

    def draw(self, context):
        joint, column = context.object.axion_joint, self.column()
        column.prop(joint, "disable_collisions")
        column.prop(joint, "use_breaking")
        if joint.use_breaking:
            column.prop(joint, "break_force")
            column.prop(joint, "break_torque")
        column.prop(joint, "compliance")
        column.prop(joint, "angular_compliance")


class AXION_PT_joint_objects(JointPanel, bpy.types.Panel):
    """What it joins."""

    bl_label, bl_parent_id = "Objects", "AXION_PT_joint"

    def draw(self, context):
        joint, column = context.object.axion_joint, self.column()
        column.prop(joint, "object1")
        column.prop(joint, "object2")
        if joint.type in {"DISTANCE", "ROPE"}:
            column.prop(joint, "anchor1")
            column.prop(joint, "anchor2")
            column.prop(joint, "use_length")
            if joint.use_length:
                column.prop(joint, "length")


LIMITED = {"HINGE": ("ang_z",), "SLIDER": ("lin_x",), "PISTON": ("lin_x", "ang_x")}
ALL_AXES = ("lin_x", "lin_y", "lin_z", "ang_x", "ang_y", "ang_z")


class AXION_PT_joint_limits(JointPanel, bpy.types.Panel):
    """Ends of the free axes of the joint type."""

    bl_label, bl_parent_id = "Limits", "AXION_PT_joint"

    @classmethod
    def poll(cls, context):
        generic = {"GENERIC", "GENERIC_SPRING"}
        return super().poll(context) and context.object.axion_joint.type in {*LIMITED, *generic}

    def draw(self, context):
        joint, column = context.object.axion_joint, self.column()
        for axis in LIMITED.get(joint.type, ALL_AXES):
            column.prop(joint, f"use_limit_{axis}")
            if getattr(joint, f"use_limit_{axis}"):
                pair = column.column(align=True)
                pair.prop(joint, f"limit_{axis}_lower", text="Lower")
                pair.prop(joint, f"limit_{axis}_upper", text="Upper")


class AXION_PT_joint_motor(JointPanel, bpy.types.Panel):
    """Drives by velocity."""

    bl_label, bl_parent_id, bl_options = "Motor", "AXION_PT_joint", {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return super().poll(context) and context.object.axion_joint.type in {"MOTOR", "HINGE", "SLIDER", "PISTON"}

    def draw(self, context):
        joint, column = context.object.axion_joint, self.column()
        kinds = (("lin", "force"), ("ang", "torque"))
        unfit = {"HINGE": "lin", "SLIDER": "ang"}.get(joint.type)
        for kind, limit in kinds:
            if kind == unfit:
                continue
            column.prop(joint, f"use_motor_{kind}")
            if getattr(joint, f"use_motor_{kind}"):
                column.prop(joint, f"motor_{kind}_target_velocity")
                column.prop(joint, f"motor_{kind}_max_{limit}")


class AXION_PT_joint_springs(JointPanel, bpy.types.Panel):
    """Springs of the free axes."""

    bl_label, bl_parent_id, bl_options = "Springs", "AXION_PT_joint", {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return super().poll(context) and context.object.axion_joint.type == "GENERIC_SPRING"

    def draw(self, context):
        joint, column = context.object.axion_joint, self.column()
        for axis in ("x", "y", "z", "ang_x", "ang_y", "ang_z"):
            column.prop(joint, f"use_spring_{axis}")
            if getattr(joint, f"use_spring_{axis}"):
                pair = column.column(align=True)
                pair.prop(joint, f"spring_stiffness_{axis}", text="Stiffness")
                pair.prop(joint, f"spring_damping_{axis}", text="Damping")


CLASSES = (
    AXION_PT_body,
    AXION_PT_body_settings,
    AXION_PT_body_collisions,
    AXION_PT_body_surface,
    AXION_PT_body_collections,
    AXION_PT_body_dynamics,
    AXION_PT_joint,
    AXION_PT_joint_settings,
    AXION_PT_joint_objects,
    AXION_PT_joint_limits,
    AXION_PT_joint_motor,
    AXION_PT_joint_springs,
)
