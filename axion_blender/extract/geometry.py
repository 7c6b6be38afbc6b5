# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices and triangles of objects, in local space, as the mesh source asks for."""

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from ...solver import SceneError

SURFACES = {"MESH", "CURVE", "SURFACE", "META", "FONT"}
"""Object types that Blender can turn into a mesh."""

DEFORMERS = {
    *("ARMATURE", "CAST", "CURVE", "DISPLACE", "HOOK", "LAPLACIANDEFORM", "LATTICE", "MESH_DEFORM", "SHRINKWRAP"),
    *("SIMPLE_DEFORM", "SMOOTH", "CORRECTIVE_SMOOTH", "LAPLACIANSMOOTH", "SURFACE_DEFORM", "WARP", "WAVE"),
    *("CLOTH", "SOFT_BODY", "MESH_CACHE", "MESH_SEQUENCE_CACHE", "VOLUME_DISPLACE"),
}
"""Modifiers that move vertices and keep topology: Blender's deform stage ends at the first one of another kind."""


@dataclass(frozen=True, eq=False)
class Geometry:
    """vertices (V, 3) in local space [Blender units], triangles (T, 3) counter-clockwise seen from outside."""

    vertices: np.ndarray
    triangles: np.ndarray


@contextmanager
def prepared(objects, view_layer):
    """Switches off, for a while, the modifiers that objects with mesh source DEFORM must not see."""
    hidden = []
    for item in objects:
        if item.type == "MESH" and item.axion.mesh_source == "DEFORM":
            hidden += [modifier for modifier in _beyond_deform(item) if modifier.show_viewport]
    try:
        for modifier in hidden:
            modifier.show_viewport = False
        if hidden:
            view_layer.update()
        yield
    finally:
        for modifier in hidden:
            modifier.show_viewport = True
        if hidden:
            view_layer.update()


def _beyond_deform(item):
    kinds = [modifier.type in DEFORMERS for modifier in item.modifiers]
    first = kinds.index(False) if False in kinds else len(kinds)
    return list(item.modifiers)[first:]


@contextmanager
def mesh_of(item, depsgraph):
    """The mesh of an object as its mesh source asks for; valid inside the ``with`` only.

    Raises SceneError for objects that have none.
    """
    if item.type not in SURFACES:
        kind = item.type.replace("_", " ").lower()
        raise SceneError(f"{item.name}: it is of type {kind} and has no surface: use a mesh, or remove it from Axion")
    if item.mode == "EDIT" and item.type == "MESH":
        item.update_from_editmode()
    evaluated = item.evaluated_get(depsgraph)
    if item.type == "MESH" and item.axion.mesh_source == "BASE":
        yield item.data
        return
    if item.type == "MESH" and item.mode != "EDIT":  # in edit mode, evaluated.data is empty
        yield evaluated.data
        return
    mesh = evaluated.to_mesh()
    try:
        yield mesh
    finally:
        evaluated.to_mesh_clear()


def read(item, depsgraph):
    """Geometry of an object at the current frame.  Raises SceneError where there are no vertices, or broken ones."""
    with mesh_of(item, depsgraph) as mesh:
        if mesh is None or len(mesh.vertices) == 0:
            raise SceneError(f"{item.name}: {_why_empty(item, depsgraph)}")
        mesh.calc_loop_triangles()
        triangles = np.empty(3 * len(mesh.loop_triangles), np.int32)
        mesh.loop_triangles.foreach_get("vertices", triangles)
        vertices = _vertices(mesh)
    if not np.isfinite(vertices).all():
        count = int((~np.isfinite(vertices).all(axis=1)).sum())
        raise SceneError(f"{item.name}: {count} of its vertices are NaN or infinite: mend the mesh")
    return Geometry(vertices, triangles.reshape(-1, 3))


def _why_empty(item, depsgraph):
    """What an object without vertices is told: the reason, and the cure."""
    if item.type == "META":
        return (
            "it has no surface of its own (0 vertices), as the first metaball of a family, whose names differ by a "
            "number only, wears that of all: make that the body, or convert them to meshes"
        )
    if makes_instances(item, depsgraph):
        return (
            "its mesh is empty (0 vertices), as its Geometry Nodes make instances alone: put the node Realize "
            "Instances at their end, or remove it from Axion"
        )
    return "its mesh is empty (0 vertices): add geometry, or remove it from Axion"


def makes_instances(item, depsgraph):
    """Whether the Geometry Nodes of an object make instances, of which its mesh holds nothing."""
    if not any(modifier.type == "NODES" and modifier.show_viewport for modifier in item.modifiers):
        return False
    return item.evaluated_get(depsgraph).evaluated_geometry().instances_pointcloud() is not None


def read_vertices(item, depsgraph):
    """Vertices (V, 3) alone, in local space; none where the object has no mesh at this frame."""
    with mesh_of(item, depsgraph) as mesh:
        return np.empty((0, 3)) if mesh is None else _vertices(mesh)


def read_wires(item, depsgraph):
    """Vertices (V, 3) in local space and edges (E, 2) between them; none where the object has no mesh at this frame."""
    with mesh_of(item, depsgraph) as mesh:
        if mesh is None:
            return np.empty((0, 3)), np.empty((0, 2), np.int32)
        edges = np.empty(2 * len(mesh.edges), np.int32)
        mesh.edges.foreach_get("vertices", edges)
        return _vertices(mesh), edges.reshape(-1, 2)


def are_same_edges(first, second):
    """Whether two arrays (E, 2) hold the same edges, in any order."""
    if np.array_equal(first, second):
        return True
    return len(first) == len(second) and np.array_equal(*(np.unique(np.sort(e), axis=0) for e in (first, second)))


def _vertices(mesh):
    values = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", values)
    return values.reshape(-1, 3).astype(float)
