# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own rigid bodies -> ``Object.axion``.  The package says what was measured of Bullet."""

import numpy as np
from mathutils import Vector

from ..extract import motion
from . import animation

PLAIN = ("mass", "friction", "collision_shape", "collision_collections")
"""Properties that mean the same on both sides."""
KNOWN = {
    *("type", "mesh_source", "enabled", "kinematic", "use_deform", "use_start_deactivated", "restitution"),
    *("linear_damping", "angular_damping", "use_margin", "collision_margin"),
    *PLAIN,
}
NEEDLESS = ("use_deactivation", "deactivate_linear_velocity", "deactivate_angular_velocity")
"""Axion computes bodies at rest like all others, so nothing is put to sleep."""
HULLS = ("CONVEX_HULL", "MESH", "COMPOUND")
"""Shapes that balance at the object's origin; the others balance at the middle of their height."""
ALWAYS_MARGIN = ("MESH", "CONE")
"""Shapes around which Bullet keeps its margin even where it is switched off; around a hull only where it is on."""
MOST_DAMPING = 0.9999
OFF_CENTER = 1e-3
"""Distance of a primitive's middle from the origin, relative to its size, that is worth a word."""
FLAT = 1e-5
"""Thickness of a bounding box, relative to its size, below which an active body has no volume."""
UNEVEN = 1e-3
"""Relative difference of two scales that is worth a word."""
NOT_DYNAMIC = (
    "is not Dynamic, and follows its animation throughout now: Blender stops it at the simulation's first frame, or "
    "one frame later, as it happens"
)
"""It builds its world one frame after the simulation's first, in parallel with that frame's animation: either place is
seen in 4.5.15, 5.0.1 and 5.2.2, and with one thread, measured in 5.2.2, always the later."""
ANIMATED = {"kinematic": animation.Target("axion.kinematic", shift=-1)}
"""Bullet reads a frame's key before it computes the motion that leads there: it lets go a frame earlier, but catches at
the key itself."""


def convert(item, around, depsgraph, entry):
    """Carry one native body (``item.rigid_body``) over.

    around: world.Surroundings; depsgraph: evaluated at the first frame; entry: report.Entry to fill.
    """
    native, own = item.rigid_body, item.axion
    reset(own)
    own.enabled = True
    own.type = native.type
    entry.needless += NEEDLESS
    part = is_part(item, around.members)
    own.dynamic = native.enabled
    if native.type == "ACTIVE" and not native.enabled and not part and motion.can_move(item):
        entry.changed("enabled", NOT_DYNAMIC)
    for name in PLAIN:
        setattr(own, name, getattr(native, name))
    _convert_surface(native, own, entry)
    _convert_damping(native, own, entry)
    own.kinematic = native.kinematic and own.type == "ACTIVE"
    _convert_shape(item, around, depsgraph, entry)
    _convert_margin(native, entry)
    targets = ANIMATED if own.type == "ACTIVE" else {}
    animation.carry(item, "rigid_body.", targets, entry)
    if not part:
        _mention_motion(item, entry)
    entry.close(properties_of(native), KNOWN)


def mention_leaders(item, around, entry):
    """Note that a body which stands or is animated follows one that is simulated; all bodies must be converted."""
    if is_part(item, around.members) or not (motion.stands(item) or motion.may_be_held(item)):
        return
    leader = next((leader for leader in motion.leaders(item) if motion.may_be_free(leader)), None)
    if leader is not None:
        entry.lost(
            "parent",
            f"follows {leader.name}, which is simulated: Axion does not bake that: make it active and join the two, or "
            "make it a part of a compound",
        )


def is_part(item, members):
    """Whether a native body is a part of a compound: Blender makes no body of its own of it."""
    parent = item.parent
    return parent is not None and parent in members and parent.rigid_body.collision_shape == "COMPOUND"


def reset(group):
    """Set a property group back to its defaults, so that nothing of before outlives the conversion."""
    for definition in group.bl_rna.properties:
        if not definition.is_readonly:
            group.property_unset(definition.identifier)


def properties_of(native):
    """Names of the properties that this Blender has."""
    return [definition.identifier for definition in native.bl_rna.properties if definition.identifier != "rna_type"]


def _convert_surface(native, own, entry):
    own.restitution = min(native.restitution, 1.0)
    if native.restitution > 1.0:
        entry.changed(
            "restitution", f"has a bounciness of {native.restitution:g}, which would create energy: it is 1 now"
        )


def _convert_damping(native, own, entry):
    for name in ("linear_damping", "angular_damping"):
        value = getattr(native, name)
        setattr(own, name, min(value, MOST_DAMPING))
        if value > MOST_DAMPING:
            entry.changed(
                name, f"has a {name.replace('_', ' ')} of {value:g}, which stops it: it is {MOST_DAMPING} now"
            )


def _convert_shape(item, around, depsgraph, entry):
    native, own = item.rigid_body, item.axion
    active, part = not motion.stands(item), is_part(item, around.members)
    if own.collision_shape == "COMPOUND":
        own.use_center_of_mass = active
        entry.needless.append("mesh_source")
        empty = not any(child.parent == item and child in around.layer for child in around.members)
        if empty and part:
            own.enabled = False
            entry.changed("collision_shape", "is a compound without children in another: it is left out")
        elif empty:
            own.collision_shape, own.collision_collections = "SPHERE", [False] * 20
            entry.changed("collision_shape", "is a compound without children: it collides with nothing, as in Blender")
    elif own.collision_shape in HULLS:
        own.mesh_source, own.use_center_of_mass = native.mesh_source, active
    else:
        # Bullet's primitives fill the bounding box of what is seen, whatever the source says.
        plain = not len(item.modifiers) and item.data.shape_keys is None
        own.mesh_source = native.mesh_source if plain else "FINAL"
        entry.needless.append("mesh_source")
        _center_primitive(item, depsgraph, active, entry)
    if own.collision_shape != "MESH":
        entry.needless.append("use_deform")
    elif native.use_deform and own.type == "ACTIVE" and _has_deformers(item):
        entry.lost("use_deform", "deforms during the simulation, which Axion's active bodies do not")
    _mention_scale(item, part, depsgraph, entry)
    if active:
        _mention_flatness(item, depsgraph, entry)


def _has_deformers(item):
    return len(item.modifiers) > 0 or item.data.shape_keys is not None


def _center_primitive(item, depsgraph, active, entry):
    own, kind = item.axion, item.axion.collision_shape
    corners = np.array(item.evaluated_get(depsgraph).bound_box)
    middle, size = 0.5 * (corners.min(axis=0) + corners.max(axis=0)), np.ptp(corners, axis=0)
    if kind == "CONE":
        own.use_center_of_mass, own.center_of_mass = active, middle
    if np.abs(middle).max() > OFF_CENTER * size.max():
        entry.changed(
            "collision_shape",
            "has its origin off the middle of its bounding box: "
            f"Blender puts the {kind.lower()} around the origin, Axion around the mesh",
        )


def _mention_flatness(item, depsgraph, entry):
    size = np.ptp(np.array(item.evaluated_get(depsgraph).bound_box), axis=0)
    if item.axion.collision_shape not in ("COMPOUND", "SPHERE") and size.min() <= FLAT * size.max():
        entry.lost(
            "collision_shape",
            "is flat, which Blender thickens by its margin: Axion needs thickness of its own, "
            "for example by a Solidify modifier",
        )


def _mention_scale(item, part, depsgraph, entry):
    matrix = np.array(item.evaluated_get(depsgraph).matrix_world)[:3, :3]
    sizes, kind = np.linalg.norm(matrix, axis=0), item.axion.collision_shape
    if np.ptp(sizes) > UNEVEN * sizes.max() and kind in ("SPHERE", "CAPSULE"):
        entry.changed(
            "scale",
            f"is scaled unevenly: Blender's {kind.lower()} does not follow that, Axion's fills the bounding box",
        )
    if part and (item.matrix_local.to_scale() - Vector((1.0, 1.0, 1.0))).length > UNEVEN:
        entry.changed("scale", "is a scaled part of a compound: Blender leaves its own scale out, Axion keeps it")
    elif np.linalg.det(matrix) < 0.0 and not part:
        entry.changed("scale", "has a negative scale: Blender simulates it unmirrored, Axion as it is seen")


def _convert_margin(native, entry):
    kind, margin = native.collision_shape, native.collision_margin
    always = kind in ALWAYS_MARGIN
    if margin > 0.0 and (always or (kind == "CONVEX_HULL" and native.use_margin)):
        entry.lost(
            "collision_margin",
            f"has a collision margin of {margin:g}, by which Blender keeps others off its "
            f"{kind.replace('_', ' ').lower()}: Axion collides with the surface itself",
        )
    if kind != "CONVEX_HULL":
        entry.needless.append("use_margin")
    if not always:
        entry.needless.append("collision_margin")


def _mention_motion(item, entry):
    native, own = item.rigid_body, item.axion
    active = not motion.stands(item)
    if native.use_start_deactivated and active:
        entry.lost("use_start_deactivated", "starts deactivated: Axion lets it move from the first frame")
    if own.type == "PASSIVE" and native.type == "PASSIVE" and not native.kinematic and motion.can_move(item):
        entry.changed("kinematic", "may move although Animated is off: Axion's passive bodies push while they move")
    if not active:
        return
    for name, locks in (("lock_location", item.lock_location), ("lock_rotation", item.lock_rotation)):
        axes = " ".join(letter for letter, locked in zip("XYZ", locks, strict=True) if locked)
        if axes:
            entry.lost(
                name,
                f"has its {name.removeprefix('lock_')} locked on {axes}, which Blender's simulation heeds: in Axion, "
                "hold it with a Generic joint that has no object 1",
            )
