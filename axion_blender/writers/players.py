# SPDX-License-Identifier: GPL-3.0-or-later
"""The object that shows the points of a scene's bake, and the parts it is made of.

It stays over bakes with all that somebody did to it; only its mesh and its nodes are new.  A copy with a mesh of its
own is whoever's made it: it keeps playing what it was copied from.
"""

import bpy

from . import metaballs, records

OWNER = "axion_points_scene"  # custom property of the object that shows the points: the scene they are of
PARTS = {"motion": "axion_points_motion", "nodes": "axion_points_nodes", "prototypes": "axion_points_prototypes"}
MESH = "axion_points_mesh"  # custom property of the object that holds the motion: the mesh of the one that shows it
MODIFIER = "Axion Points"


def shown(scene):
    """The objects that show the points of a scene: one, or none; several where it was duplicated with its mesh."""
    found = [item for item in scene.objects if item.get(OWNER) == scene]
    return [item for item in found if _has_its_mesh(item)] or found


def home(scene, view_layer, items):
    """The innermost collection that has all of these objects, so that view layers, and whatever shows instances of it,
    have their points as they had them.  Of those that the view layer shows, and that take objects.
    """
    found, layer, wanted = scene.collection, view_layer.layer_collection, set(items)
    while layer is not None:
        layer = next((inner for inner in layer.children if _shows(inner, wanted)), None)
        if layer is not None and layer.collection.is_editable and layer.collection.override_library is None:
            found = layer.collection
    return found


def _shows(layer, wanted):
    """Whether a layer collection is shown, and its collection holds all of those objects."""
    collection = layer.collection
    hidden = layer.exclude or layer.hide_viewport or collection.hide_viewport or collection.hide_render
    return not hidden and wanted <= set(collection.all_objects)


def show(scene, name, mesh, parts, collection):
    """Let a scene's points be ``mesh`` and ``parts``, named as PARTS; those of an earlier bake are gone.

    collection: what a new object that shows them is linked to.  Returns the objects that do.
    """
    players = shown(scene)
    release_copies(scene)
    leftovers = [_parts_of(item) for item in players]
    if not players:
        players = [bpy.data.objects.new(name, mesh)]
        collection.objects.link(players[0])
    for item in players:
        if item.data != mesh:
            if not len(mesh.materials):
                for material in item.data.materials:
                    mesh.materials.append(material)
            item.data = mesh
        _modifier(item).node_group = parts["nodes"]
        for part, key in PARTS.items():
            item[key] = parts[part]
        item[OWNER] = scene
    parts["motion"][MESH] = mesh
    for left in leftovers:
        _remove_parts(*left)
    return players


def remove(scene):
    """Delete the objects that show the points of a scene, with all their parts that nobody else uses."""
    release_copies(scene)
    for player in shown(scene):
        left = _parts_of(player)
        bpy.data.objects.remove(player)
        _remove_parts(*left)


def keep(scene):
    """Forget that the points of a scene are a bake: from now on they are objects like any others."""
    release_copies(scene)
    for player in shown(scene):
        motion = player.get(PARTS["motion"])
        prototypes = player.get(PARTS["prototypes"])
        if motion is not None:
            records.forget(motion, MESH)
        if prototypes is not None:
            metaballs.keep(prototypes)
        _forget(player)


def release_copies(scene):
    """Let copies of the object that shows the points be objects like any others."""
    players = shown(scene)
    for item in scene.objects:
        if item.get(OWNER) == scene and item not in players:
            _forget(item)


def _has_its_mesh(item):
    """Whether an object shows the mesh that the last bake made, unlike a copy with a mesh of its own."""
    motion = item.get(PARTS["motion"])
    return motion is not None and motion.get(MESH) == item.data


def _forget(item):
    records.forget(item, OWNER, *PARTS.values())


def _modifier(item):
    """The modifier that plays the points: a new one before all others, where somebody has deleted it."""
    earlier = item.get(PARTS["nodes"])
    for modifier in item.modifiers:
        if modifier.type != "NODES":
            continue
        if modifier.name == MODIFIER if earlier is None else modifier.node_group == earlier:
            return modifier
    made = item.modifiers.new(MODIFIER, "NODES")
    item.modifiers.move(len(item.modifiers) - 1, 0)
    return made


def _parts_of(item):
    """(mesh, motion, nodes, prototypes) of an object that shows points; None for what it has no longer."""
    return item.data, *(item.get(PARTS[part]) for part in ("motion", "nodes", "prototypes"))


def _remove_parts(mesh, motion, nodes, prototypes):
    """Delete the parts of an earlier bake, but for those that a copy still plays."""
    meshes = [mesh]
    if nodes is None or not nodes.users:
        if nodes is not None:
            bpy.data.node_groups.remove(nodes)
        if motion is not None:
            meshes.append(motion.data)
            bpy.data.objects.remove(motion)
        if prototypes is not None:
            meshes += metaballs.of(prototypes)
            bpy.data.batch_remove([*prototypes.objects, prototypes])
    for left in meshes:
        if left is not None and not left.users:
            bpy.data.meshes.remove(left)
