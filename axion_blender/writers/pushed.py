# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked channels that somebody pushed down into strips of the NLA.

A strip that plays is part of the bake: it is hidden and cleared with it.  One that is muted, as Stash leaves it, is a
take that somebody keeps: it stays, unless it holds channels of the object's own that the bake has set aside.
"""

import bpy

from .. import compat
from . import actions, curves


def bags(item):
    """Channelbags with baked curves that strips of an object hold, a list; those that it keeps as a take left out."""
    found = []
    for track, strip in _strips(item):
        bag = compat.strip_channelbag(strip)
        if bag is None or not strip.action.is_editable or not curves.are_baked(bag) or bag in found:
            continue
        if not _is_muted(track, strip) or not curves.all_baked(bag):
            found.append(bag)
    return found


def playing(item):
    """Names of the strips that play a bake."""
    return [
        strip.name
        for track, strip in _strips(item)
        if not _is_muted(track, strip) and (bag := compat.strip_channelbag(strip)) and curves.are_baked(bag)
    ]


def remove(item):
    """Take the baked curves out of an object's strips, and away with strips that then play nothing, or a private copy
    of its action, and with tracks that are left empty.  Actions that somebody keeps as a take stay as they are.
    """
    emptied = bags(item)
    for bag in emptied:
        if actions.is_take(bag.id_data):
            curves.keep(bag, actions.TAKE)
        else:
            curves.remove(bag)
    if not emptied:
        return
    data, orphans = item.animation_data, []
    for track in list(data.nla_tracks):
        before = len(track.strips)
        for strip in list(track.strips):
            bag = compat.strip_channelbag(strip)
            if bag not in emptied:
                continue
            if not len(bag.fcurves) or actions.COPIED in strip.action or actions.is_take(strip.action):
                orphans.append((strip.action, strip.action_slot, bag))
                track.strips.remove(strip)
        if before and not len(track.strips):
            data.nla_tracks.remove(track)
    for action, slot, bag in orphans:
        _remove_orphan(action, slot, bag)


def _remove_orphan(action, slot, bag):
    if actions.is_take(action):
        return
    if actions.COPIED in action:
        if not action.users:
            bpy.data.actions.remove(action)
    elif actions.SHARED in action and not slot.users():
        actions.remove_bag(action, bag)
        action.slots.remove(slot)
        actions.remove_if_empty(action)


def _strips(item):
    """[(track, strip)] of an object, those within meta strips too."""
    data, found = item.animation_data, []
    for track in () if data is None else data.nla_tracks:
        waiting = list(track.strips)
        while waiting:
            strip = waiting.pop()
            found.append((track, strip))
            waiting += strip.strips
    return found


def _is_muted(track, strip):
    return strip.mute or (track.mute and not track.is_solo)
