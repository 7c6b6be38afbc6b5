# SPDX-License-Identifier: GPL-3.0-or-later
"""What each picture of tools/picture_panels.py shows: a small scene, an editor, and the panels that stand in it."""

from collections.abc import Callable
from dataclasses import dataclass

import bpy


@dataclass(frozen=True)
class Picture:
    """One picture.

    Attributes:
        name: of the file, panel_<name>.png.
        editor, tab: "PROPERTIES" and its tab, or "VIEW_3D" for the sidebar.
        panels: names of the panels that are shown.
        setup: makes the scene.
    """

    name: str
    editor: str
    tab: str
    panels: tuple
    setup: Callable


def clear():
    """A scene without objects."""
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    session = bpy.context.window_manager.axion
    session.problems = session.warnings = ""
    return bpy.context.scene


def cube(name, location=(0, 0, 0), **settings):
    """A body; the newest one is active."""
    mesh = bpy.data.meshes.new(name)
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    faces = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    mesh.from_pydata(corners, [], faces)
    item = bpy.data.objects.new(name, mesh)
    item.location = location
    activate(item)
    item.axion.enabled = True
    for key, value in settings.items():
        setattr(item.axion, key, value)
    return item


def activate(item):
    """Link an object, select it alone and make it active."""
    bpy.context.scene.collection.objects.link(item)
    for other in bpy.context.scene.objects:
        other.select_set(other == item)
    bpy.context.view_layer.objects.active = item


def joint(name, kind, first, second, **settings):
    """A joint; the newest one is active."""
    item = bpy.data.objects.new(name, None)
    activate(item)
    own = item.axion_joint
    own.enabled, own.type, own.object1, own.object2 = True, kind, first, second
    for key, value in settings.items():
        setattr(own, key, value)
    return item


def one_body():
    """A steel cube."""
    clear()
    cube("Cube", use_density=True, density=7850.0, friction=0.57, restitution=0.6, use_center_of_mass=True)


def guided_body():
    """A body that a spring pulls along its animation."""
    clear()
    cube("Cube", use_guide=True, use_guide_limit=True)


def one_joint(kind, **settings):
    """Sets up two bodies and a joint between them."""

    def setup():
        clear()
        joint("Joint", kind, cube("Frame"), cube("Door"), **settings)

    return setup


def world():
    """The default scene."""
    clear()


def workflow():
    """Bodies, joints, and problems found."""
    scene = clear()
    floor = cube("Floor", type="PASSIVE", collision_shape="MESH")
    links = [cube(f"Link.{number:03d}", (0, 0, number)) for number in range(1, 4)]
    for number, (first, second) in enumerate(zip([floor, *links], links, strict=False), 1):
        joint(f"Hinge Joint.{number:03d}", "HINGE", first, second)
    bpy.data.objects["Hinge Joint.002"].axion_joint.enabled = False
    session = bpy.context.window_manager.axion
    session.problems = "\n".join(
        (
            "Link.002: its mass is 0 kg, but it must be above 0 and finite: type a mass",
            "Hinge Joint.003: the joint's object Bracket takes no part in the simulation: make it an Axion body",
        )
    )
    session.warnings = "Link.003 has an open mesh: its mass, centre and inertia are those of its convex hull"
    session.checked = scene.session_uid
    for item in scene.objects:
        item.select_set(False)
    bpy.context.view_layer.objects.active = None  # or Blender's own Transform panel comes first


def converted():
    """Native bodies of which not everything could be carried, converted."""
    scene = clear()
    bpy.ops.rigidbody.world_add()
    own = scene.rigidbody_world
    own.enabled, own.collection = True, bpy.data.collections.new("Bodies")
    own.constraints = bpy.data.collections.new("Constraints")
    for name in ("Wall", "Door", "Rock"):
        item = cube(name)
        own.collection.objects.link(item)
        item.rigid_body.collision_shape = "BOX"
    door, rock = bpy.data.objects["Door"], bpy.data.objects["Rock"]
    door.lock_rotation[0] = True
    rock.rigid_body.use_start_deactivated, rock.rigid_body.collision_shape = True, "CONVEX_HULL"
    rock.rigid_body.use_margin = True
    latch = bpy.data.objects.new("Latch", None)
    activate(latch)
    own.constraints.objects.link(latch)
    latch.rigid_body_constraint.object1 = door
    bpy.context.view_layer.update()
    bpy.ops.axion.convert_native()
    scene.axion_native.active_index = next(k for k, row in enumerate(scene.axion_native.rows) if row.name == "Rock")
    bpy.context.view_layer.objects.active = None


BODY = "AXION_PT_body"
JOINT = "AXION_PT_joint"
PICTURES = (
    Picture("body", "PROPERTIES", "PHYSICS", (BODY, f"{BODY}_settings"), one_body),
    Picture(
        "body_collisions",
        "PROPERTIES",
        "PHYSICS",
        (BODY, *(f"{BODY}_{name}" for name in ("collisions", "surface", "sensitivity", "collections"))),
        one_body,
    ),
    Picture(
        "body_dynamics",
        "PROPERTIES",
        "PHYSICS",
        (BODY, *(f"{BODY}_{name}" for name in ("dynamics", "deactivation", "initial", "center"))),
        one_body,
    ),
    Picture("body_guide", "PROPERTIES", "PHYSICS", (BODY, f"{BODY}_guide"), guided_body),
    Picture(
        "joint",
        "PROPERTIES",
        "PHYSICS",
        (JOINT, *(f"{JOINT}_{name}" for name in ("settings", "objects", "iterations", "friction"))),
        one_joint("HINGE", use_breaking=True, break_force=500.0, break_torque=50.0),
    ),
    Picture(
        "joint_limits",
        "PROPERTIES",
        "PHYSICS",
        (JOINT, *(f"{JOINT}_limits{name}" for name in ("", "_angular", "_linear"))),
        one_joint("PISTON", use_limit_lin_x=True),
    ),
    Picture(
        "joint_motor",
        "PROPERTIES",
        "PHYSICS",
        (JOINT, *(f"{JOINT}_motor{name}" for name in ("", "_angular", "_linear"))),
        one_joint("MOTOR", use_motor_ang=True, motor_ang_type="POSITION", use_motor_lin=True),
    ),
    Picture(
        "joint_springs",
        "PROPERTIES",
        "PHYSICS",
        (JOINT, *(f"{JOINT}_springs{name}" for name in ("", "_angular", "_linear"))),
        one_joint("GENERIC_SPRING", use_spring_x=True, use_spring_ang_z=True),
    ),
    Picture(
        "joint_rope",
        "PROPERTIES",
        "PHYSICS",
        (JOINT, f"{JOINT}_objects"),
        one_joint("ROPE", use_length=True, length=2.0),
    ),
    Picture(
        "world",
        "PROPERTIES",
        "SCENE",
        ("AXION_PT_scene", *(f"AXION_PT_scene_{name}" for name in ("settings", "surfaces", "cache", "fields"))),
        world,
    ),
    Picture(
        "world_output",
        "PROPERTIES",
        "SCENE",
        ("AXION_PT_scene", "AXION_PT_scene_output", "AXION_PT_scene_forces"),
        world,
    ),
    Picture(
        "sidebar",
        "VIEW_3D",
        "",
        (
            "AXION_PT_sidebar",
            *(f"AXION_PT_sidebar_{name}" for name in ("joints", "check", "bake", "report")),
        ),
        workflow,
    ),
    Picture("sidebar_settings", "VIEW_3D", "", ("AXION_PT_sidebar_bake", "AXION_PT_sidebar_settings"), world),
    Picture("sidebar_overlays", "VIEW_3D", "", ("AXION_PT_sidebar_overlays",), world),
    Picture("conversion", "VIEW_3D", "", ("AXION_PT_sidebar", "AXION_PT_sidebar_native"), converted),
)
