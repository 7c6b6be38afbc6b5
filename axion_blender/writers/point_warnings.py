# SPDX-License-Identifier: GPL-3.0-or-later
"""What points in place of bodies cannot show as the bodies did, told by name."""

from .. import compat
from ..report import listed
from .hiding import FLAGS


def find(scene, items, shown):
    """Sentences on what points in place of ``items`` do not show as those did.  shown: objects that show the points."""
    hidden = {item.name_full for item in items}
    found = [
        f"{child.name} does not follow its parent {child.parent.name}, which is shown as a point"
        for child in scene.objects
        if child.parent is not None and child.parent.name_full in hidden and child.name_full not in hidden
    ]
    shows = {item.instance_collection: item for item in scene.objects if item.instance_type == "COLLECTION"}
    for collection, item in shows.items():
        held = list(collection.all_objects) if collection else []
        gone = next((own.name for own in held if own.name_full in hidden), None)
        if gone is not None and not any(player in held for player in shown):
            found.append(f"{item.name} no longer shows {gone} of its collection, which is shown as a point")
    for item in items:
        if not compat.animated_paths(item).isdisjoint(FLAGS):
            found.append(f"{item.name} animates its visibility, so it may show beside its point")
    return [*found, *_other_layers(scene, items, shown)]


def _other_layers(scene, items, shown):
    """Sentences on view layers that have the points otherwise than some of their bodies."""
    found = []
    for layer in scene.view_layers:
        items[0].holdout_get(view_layer=layer)  # until it is asked for, a layer has the objects that it had before
        inside = set(layer.objects)

        def ways(item, layer=layer, inside=inside):
            return item in inside and (item.holdout_get(view_layer=layer), item.indirect_only_get(view_layer=layer))

        for player in (player for player in shown if player in inside):
            own = ways(player)
            other = [item.name for item in items if ways(item) != own]
            if other:
                found.append(
                    f"{listed(other, 3)} {'is' if len(other) == 1 else 'are'} excluded, held out or indirect only in "
                    f"the view layer {layer.name} otherwise than {player.name}, which shows them: keep all bodies in "
                    "one collection and set that, or choose the output Keyframes"
                )
    return found
