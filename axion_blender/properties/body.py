# SPDX-License-Identifier: GPL-3.0-or-later
"""``Object.axion``: one rigid body.  Order as in Blender's rigid body panel.

Only ``kinematic`` can be animated: everything else is read once, at the first frame, so Blender must not offer keys.
Labels are those of Blender's own, and so are the texts that panels show instead of them.
"""

import bpy
from bpy.props import BoolProperty, BoolVectorProperty, EnumProperty, FloatProperty, FloatVectorProperty

STILL = {"options": set(), "override": {"LIBRARY_OVERRIDABLE"}}
"""Of a property that is read once."""

TYPES = (
    ("ACTIVE", "Active", "The simulation moves the object"),
    ("PASSIVE", "Passive", "The animation system moves the object; standing or moving, it pushes active bodies"),
)
SHAPES = (
    ("BOX", "Box", "The bounding box, also for planes (ground planes)", "MESH_CUBE", 0),
    ("SPHERE", "Sphere", "A ball around the bounding box, as wide as its longest side", "MESH_UVSPHERE", 1),
    ("CAPSULE", "Capsule", "A capsule along Z in the bounding box", "MESH_CAPSULE", 2),
    ("CYLINDER", "Cylinder", "A cylinder along Z in the bounding box", "MESH_CYLINDER", 3),
    ("CONE", "Cone", "A cone along Z in the bounding box", "MESH_CONE", 4),
    ("CONVEX_HULL", "Convex Hull", "A surface shrink-wrapped over all vertices", "MESH_ICOSPHERE", 5),
    ("MESH", "Mesh", "The triangles themselves, which may be concave", "MESH_MONKEY", 6),
    (
        "COMPOUND",
        "Compound Parent",
        "The shapes of all children that are bodies, as one",
        "MESH_DATA",
        7,
    ),
    (
        "CONVEX_DECOMPOSITION",
        "Convex Decomposition",
        "The mesh taken apart into convex pieces, for concave bodies; found in seconds when the scene is read",
        "MOD_EXPLODE",
        8,
    ),
)
SOURCES = (
    ("BASE", "Base", "The mesh without shape keys and modifiers"),
    ("DEFORM", "Deform", "The mesh with shape keys and the deform modifiers on top of the stack"),
    ("FINAL", "Final", "The mesh with all modifiers"),
)


class AXION_PG_body(bpy.types.PropertyGroup):
    """Rigid body of an object."""

    enabled: BoolProperty(
        name="Axion Rigid Body",
        description="Let the object take part in the Axion simulation; its settings stay when it is switched off",
        default=False,
        **STILL,
    )
    type: EnumProperty(
        name="Type",
        description="Who moves the object: the simulation, or its own animation",
        items=TYPES,
        default="ACTIVE",
        **STILL,
    )

    # Mass and density have no hard limit below: Blender would clamp a wrong number without a word, Axion names it.
    mass: FloatProperty(
        name="Mass",
        description="How much the object weighs irrespective of gravity; heavy on light needs no care here",
        default=1.0,
        soft_min=0.001,
        step=10,
        precision=3,
        unit="MASS",
        **STILL,
    )
    use_density: BoolProperty(
        name="Mass from Density",
        description="Compute the mass at every bake from the volume of the collision shape and the density",
        default=False,
        **STILL,
    )
    density: FloatProperty(
        name="Density",
        description="Mass per volume of the material in kilograms per cubic metre; water has 1000, steel 7850",
        default=1000.0,
        soft_min=1.0,
        soft_max=25000.0,
        step=1000,
        precision=1,
        **STILL,
    )
    dynamic: BoolProperty(
        name="Dynamic",
        description="Let the simulation move the body; off, it stands or follows its animation as if it were passive",
        default=True,
        **STILL,
    )
    kinematic: BoolProperty(
        name="Animated",
        description="Let the active body follow its animation; key it off to release the body to the simulation",
        default=False,
        options={"ANIMATABLE"},
        override={"LIBRARY_OVERRIDABLE"},
    )

    collision_shape: EnumProperty(
        name="Collision Shape",
        description="Shape that touches other bodies; simple ones are fast, a mesh is exact also where it is concave",
        items=SHAPES,
        default="CONVEX_HULL",
        **STILL,
    )
    mesh_source: EnumProperty(
        name="Mesh Source",
        description="How much of the modifier stack the collision shape is made from",
        items=SOURCES,
        default="FINAL",
        **STILL,
    )
    concavity: FloatProperty(
        name="Concavity",
        description="Depth of hollows that a convex piece may cover relative to the mesh; smaller gives more pieces",
        default=0.05,
        min=0.01,
        max=1.0,
        step=1,
        precision=3,
        subtype="FACTOR",
        **STILL,
    )
    friction: FloatProperty(
        name="Friction",
        description="Resistance of the surface to sliding (0 is ice, 1 holds on a slope of 45 degrees)",
        default=0.5,
        min=0.0,
        soft_max=1.0,
        step=1,
        precision=3,
        subtype="FACTOR",
        **STILL,
    )
    surface_velocity: FloatVectorProperty(
        name="Surface Velocity",
        description="Velocity of the surface along the object's axes while the object stands, as of a belt",
        size=3,
        default=(0.0, 0.0, 0.0),
        subtype="VELOCITY",
        **STILL,
    )
    restitution: FloatProperty(
        name="Bounciness",
        description="Part of the impact speed that a rebound keeps (0 stays, 1 is perfectly elastic)",
        default=0.0,
        min=0.0,
        max=1.0,
        step=1,
        precision=3,
        subtype="FACTOR",
        **STILL,
    )
    collision_collections: BoolVectorProperty(
        name="Collision Collections",
        description="Collision collections of the body; two bodies collide when they share one",
        size=20,
        default=(True, *[False] * 19),
        subtype="LAYER_MEMBER",
        **STILL,
    )

    linear_damping: FloatProperty(
        name="Linear Damping",
        description="Part of its linear velocity that the body loses each second, as in air or water (0 loses none)",
        default=0.0,
        min=0.0,
        max=0.9999,
        step=10,
        precision=3,
        subtype="FACTOR",
        **STILL,
    )
    angular_damping: FloatProperty(
        name="Angular Damping",
        description="Part of its angular velocity that the body loses each second, as in air or water (0 loses none)",
        default=0.0,
        min=0.0,
        max=0.9999,
        step=10,
        precision=3,
        subtype="FACTOR",
        **STILL,
    )
    linear_velocity: FloatVectorProperty(
        name="Initial Velocity",
        description="Velocity of the centre of mass at the first frame along the world axes, as of a thrown stone",
        size=3,
        default=(0.0, 0.0, 0.0),
        subtype="VELOCITY",
        **STILL,
    )
    angular_velocity: FloatVectorProperty(
        name="Initial Spin",
        description="Angular velocity at the first frame about the world axes in radians per second (6.28 is a turn)",
        size=3,
        default=(0.0, 0.0, 0.0),
        subtype="XYZ",
        **STILL,
    )
    use_center_of_mass: BoolProperty(
        name="Custom Center of Mass",
        description="Set the centre of mass by hand instead of taking that of the shape's volume, as for a loaded die",
        default=False,
        **STILL,
    )
    center_of_mass: FloatVectorProperty(
        name="Center of Mass",
        description="Centre of mass in the object's local space; low ones keep things upright",
        size=3,
        default=(0.0, 0.0, 0.0),
        subtype="XYZ",
        unit="LENGTH",
        **STILL,
    )
