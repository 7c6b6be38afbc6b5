# SPDX-License-Identifier: GPL-3.0-or-later
"""The mass that a density gives: for operators, exactly as a bake reads it, and for panels, where it is quick."""

import numpy as np

from ...solver import Body, SceneError
from .. import conventions
from . import bodies, geometry
from .meshes import Cook

QUICK = 20000
"""Vertices up to which a panel may weigh an object while it draws."""
SLOW = {"COMPOUND"}

_weighed = {}


def cook(depsgraph, unit_settings):
    """What makes the shapes that are weighed; objects with one mesh and scale share one."""
    return Cook(depsgraph, conventions.metres_per_unit(unit_settings.system, unit_settings.scale_length), apart=False)


def mass(item, cook, density=None):
    """Mass of a body [as Blender's panels show it: kilograms over the cube of the unit scale].

    cook: of ``cook``.  density: [kg/m^3] instead of the body's own.  A mesh source of Deform must have been prepared
    (geometry.prepared).  Raises SceneError naming the object, where its shapes enclose no volume for instance.
    """
    pose = bodies.world_pose(item, cook.depsgraph)
    children = [child for child in item.children if child.axion.enabled]
    solids = bodies.closed(item.name, bodies.shapes_of(item, children, pose, cook))
    density = item.axion.density if density is None else density
    if not 0.0 < density < np.inf:
        raise SceneError(f"{item.name}: its density is {density:g} kg/m^3, but it must be above 0: type a density")
    return Body(item.name, solids, density=density).mass_properties()[0] / cook.metres**3


def known_mass(item, depsgraph, unit_settings):
    """The mass that a body's own density gives, or None where finding it would hold up drawing, or fails."""
    settings = item.axion
    if settings.collision_shape in SLOW or item.mode == "EDIT" or item.type != "MESH" or depsgraph is None:
        return None
    if settings.mesh_source == "DEFORM" and len(item.modifiers):
        return None
    if len(item.evaluated_get(depsgraph).data.vertices) > QUICK:
        return None
    vertices = geometry.read_vertices(item, depsgraph)
    key = (
        *(settings.collision_shape, settings.mesh_source, settings.density, settings.type, settings.dynamic),
        *(unit_settings.system, unit_settings.scale_length, len(vertices), float(vertices.sum())),
        float(np.arange(vertices.size) @ vertices.ravel()),
        *_sizes(item.matrix_world),
    )
    if _weighed.get(item.session_uid, (None, None))[0] != key:
        try:
            found = mass(item, cook(depsgraph, unit_settings))
        except SceneError:
            found = None
        _weighed[item.session_uid] = (key, found)
    return _weighed[item.session_uid][1]


def _sizes(matrix):
    """What of a world matrix changes a mass: not the place and the turn that each frame of a playback has others of."""
    linear = np.array(matrix)[:3, :3]
    lengths = np.linalg.norm(linear, axis=0)
    angles = linear.T @ linear / np.maximum(np.outer(lengths, lengths), 1e-30)
    return *(f"{length:.5g}" for length in lengths), *np.round(angles, 4).ravel().tolist()
