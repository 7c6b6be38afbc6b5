# SPDX-License-Identifier: GPL-3.0-or-later
"""What rolls on flat faces of what moves freely itself, and what all of that stands on: planks on rollers, wedges.

A body that touches others which move ends a step by backward Euler where it stands on the ground, and so does all that
it touches: a plank on rollers was a h t / 2 too far down a slope, as single rollers were.  Where something round rolls
on a flat face, normals and levers are known half way, of both, and of what stands flat or rolls below them: such groups
go by mid-step (gliding.py) as a whole.  In heaps something else presses, too, and holds all of it.
"""

import numpy as np

from .components import connected_components
from .flags import places, some
from .flat_shapes import HELD


def stand_below(touches, index, links, sides, kinds):
    """(K,) bool: those of the contacts ``index`` (K,) with what is flat and stands still on which groups roll or slide
    in which something round rolls on a flat face of another body that moves freely.

    sides: (K,) body that moves and (K,) other body; kinds: four (K,) bool, whether the other one moves freely, whether
    it stands or moves straight on, whether the first is round where they touch, or flat and hardly turns, and whether
    their normal turns with neither (turning_normals.py).
    """
    (own, other), (moving, stands, bears, turned) = sides, kinds
    below = stands & bears & (links.flat.take(other) == HELD)
    among = places(moving) if some(below) else ()
    if not len(among):
        return np.zeros(len(index), bool)
    k, pair = index[among], np.stack([own[among], other[among]])
    face = touches.face.take(k)
    margin = np.where(touches.body_a.take(k) == face, touches.margin_b.take(k), touches.margin_a.take(k))
    rolls = turned[among] | (face >= 0) & (margin > 0.0) & (links.flat.take(face) > 0)
    if not some(rolls):
        return np.zeros(len(index), bool)
    first, second = links.group.take(pair)
    label = connected_components(links.group_count, first, second)
    goes = np.zeros(links.group_count + 1, bool)
    goes[label.take(first[rolls])] = True
    return below & np.append(goes.take(label), False).take(links.group.take(own))
