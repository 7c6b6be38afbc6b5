# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes that several scenes play: a linked copy shares the objects, a full copy the parts of points.

Keys and points stand on the objects, so what one scene clears or replaces is gone in the others, too.
"""

import bpy

from . import players, points


def scenes(scene, holds):
    """Other scenes with an object of ``scene`` that holds a bake, a list.  holds: tells it of an object."""
    baked = {item.session_uid for item in scene.objects if item.is_editable and holds(item)}
    return [
        other
        for other in bpy.data.scenes
        if other != scene and any(item.session_uid in baked for item in other.objects)
    ]


def claim_points(scene):
    """Let the points of a full copy be the copy's: Blender 4.5 lets them name the scene that they were copied from."""
    for item in scene.objects:
        owner = item.get(players.OWNER)
        if owner is not None and owner != scene and item.name_full not in owner.objects:
            item[players.OWNER] = scene


def let_go_of_points(scene):
    """Let a scene's points share no part with those of a scene that it is a full copy of, or was copied to."""
    claim_points(scene)
    players.release_copies(scene)
    own = players.shown(scene)
    for player in own:
        others = [item for item in bpy.data.objects if item not in own and players.OWNER in item]
        for key in players.PARTS.values():
            if key in player and any(other.get(key) == player[key] for other in others):
                del player[key]


def owners_of_points(scene):
    """Other scenes whose points stand in this one, a list."""
    found = {item[players.OWNER] for item in scene.objects if players.OWNER in item} - {scene, None}
    return sorted(found, key=lambda owner: owner.name)


def clear_points_of_others(scene):
    """Take back the points that other scenes made of this one's objects; its own stay."""
    own = {item: item[points.HIDDEN] for item in scene.objects if points.holds(item)} if players.shown(scene) else {}
    for owner in owners_of_points(scene):
        let_go_of_points(owner)
        points.clear(owner)
    for item, record in own.items():
        item[points.HIDDEN] = record
    points.resume(scene, list(own))
