# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes of metaballs, which Blender shows by themselves and nowhere as instances of geometry nodes."""

import bpy

from ..showing import shown
from . import records

OURS = "axion_points_shape"  # custom property of a mesh that stands for a metaball


def meshes(items, view_layer, made):
    """{full name: a new mesh} of the metaballs among objects, as they look now.  ``made`` takes the meshes in."""
    balls = [item for item in items if item.type == "META"]
    if not balls:
        return {}
    found = {}
    with shown(view_layer, balls):
        view_layer.update()
        depsgraph = view_layer.depsgraph
        for item in balls:
            mesh = bpy.data.meshes.new_from_object(item.evaluated_get(depsgraph), depsgraph=depsgraph)
            mesh.name, mesh[OURS] = item.data.name, True
            made[mesh] = mesh.name
            found[item.name_full] = mesh
    return found


def of(collection):
    """The meshes of metaballs that objects of a collection of prototypes show, a list."""
    return [item.data for item in collection.objects if item.data is not None and OURS in item.data]


def keep(collection):
    """Let these meshes be meshes like any others."""
    for mesh in of(collection):
        records.forget(mesh, OURS)
