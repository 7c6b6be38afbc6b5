# SPDX-License-Identifier: GPL-3.0-or-later
"""``Object.axion`` and shapes -> solver.Body."""

import numpy as np

from ...solver import Body, ConvexHull, SceneError
from .. import conventions
from . import meshes, motion


def shapes_of(item, children, pose, cook):
    """Collision shapes of one body, in its frame.

    children: objects whose shapes form a COMPOUND, compounds in it and their parts among them; pose: Pose of the body
    in Blender units.  Raises SceneError naming the object.
    """
    passive = motion.stands(item)
    if item.axion.collision_shape != "COMPOUND":
        return [cook.shape(item, pose.scale, passive)]
    if not children:
        raise _empty_compound(item)
    shapes = []
    rotation = conventions.rotation_matrix(pose.orientation)
    for child in children:
        if child.axion.collision_shape == "COMPOUND":
            if not any(other.parent == child for other in children):
                raise _empty_compound(child)
            continue
        own = world_pose(child, cook.depsgraph)
        shape = cook.solids.of(cook.shape(child, own.scale, passive))
        position = rotation.T @ (own.position - pose.position) * cook.metres
        shapes.append(meshes.placed(shape, position, rotation.T @ conventions.rotation_matrix(own.orientation)))
    return shapes


def take_apart(item, children, pose, cook):
    """Makes the shapes that take long, in slices: a generator, after which ``shapes_of`` has them at once."""
    passive = motion.stands(item)
    if item.axion.collision_shape != "COMPOUND":
        yield from cook.take_apart(item, pose.scale, passive)
        return
    for child in children:
        if child.axion.collision_shape == "CONVEX_DECOMPOSITION":
            yield from cook.take_apart(child, world_pose(child, cook.depsgraph).scale, passive)


def _empty_compound(item):
    return SceneError(
        f"{item.name}: its shape is Compound Parent, but no direct child is an Axion body: add the children, "
        "or choose another shape"
    )


def world_pose(item, depsgraph):
    """Pose of an object now, in Blender units.  Raises SceneError naming it where its world matrix is no rigid pose."""
    try:
        return conventions.decompose(item.evaluated_get(depsgraph).matrix_world)
    except ValueError as error:
        raise SceneError(f"{item.name}: {error}") from error


def world_poses(items, depsgraph):
    """Poses of many objects now, as ``world_pose``: a list, with None where the world matrix is no rigid pose."""
    matrices = np.array([item.evaluated_get(depsgraph).matrix_world for item in items], float).reshape(-1, 4, 4)
    found, sound = [None] * len(items), np.flatnonzero(conventions.is_solid(matrices))
    poses, slant = conventions.decompose_many(matrices[sound])
    for row in np.flatnonzero(slant <= conventions.SHEAR_LIMIT):
        found[sound[row]] = conventions.Pose(poses.position[row], poses.orientation[row], poses.scale[row])
    return found


def body(item, name, pose, shapes, motion, path, metres, notes):
    """solver.Body of an object.  ``notes`` gets a sentence where the mass properties are not those of its mesh."""
    settings = item.axion
    group, mask = conventions.collision_bits(settings.collision_collections)
    made = Body(
        name,
        shapes,
        motion=motion,
        position=pose.position * metres,
        orientation=pose.orientation,
        linear_velocity=[component * metres for component in settings.linear_velocity],
        angular_velocity=settings.angular_velocity[:],
        mass=None if settings.use_density else settings.mass * metres**3,
        density=settings.density,
        friction=settings.friction,
        restitution=settings.restitution,
        linear_damping=conventions.damping_rate(settings.linear_damping),
        angular_damping=conventions.damping_rate(settings.angular_damping),
        collision_group=group,
        collision_mask=mask,
        path=path,
        # Along the object's axes as they are seen: scale does not stretch a speed, but a mirrored axis points back.
        surface_velocity=np.sign(pose.scale) * settings.surface_velocity[:] * metres,
    )
    if settings.use_center_of_mass:
        made.center_of_mass = [c * s * metres for c, s in zip(settings.center_of_mass, pose.scale, strict=True)]
    if motion == "dynamic":
        _close(made, notes)
    return made


def _close(made, notes):
    """Gives a body with open meshes the mass properties that their hulls have."""
    solids = closed(made.name, made.shapes)
    if all(solid is shape for solid, shape in zip(solids, made.shapes, strict=True)):
        return
    whole = Body(made.name, solids, mass=made.mass, density=made.density, center_of_mass=made.center_of_mass)
    if made.mass is None or made.mass > 0.0:
        made.mass, made.center_of_mass, made.inertia = whole.mass_properties()
    notes.append(f"{made.name} has an open mesh: its mass, centre and inertia are those of its convex hull")


def closed(name, shapes):
    """The shapes, with the convex hull instead of each open mesh.  Raises SceneError where a hull has no volume."""
    solids = []
    for shape in shapes:
        if shape.encloses_volume():
            solids.append(shape)
            continue
        hull = ConvexHull(shape.vertices, shape.position, shape.orientation)
        try:
            hull.solid()
        except SceneError as error:
            raise SceneError(
                f"{name}: its mesh is open and its convex hull encloses no volume: close the mesh, or give it "
                "thickness, for example with a Solidify modifier"
            ) from error
        solids.append(hull)
    return solids
