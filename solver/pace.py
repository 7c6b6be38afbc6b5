# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bodies set the pace of a frame, and which that of their own islands only.

A brick that whirls on a corner asks for steps of a twelfth of a radian.  Were all of a struck wall cut into those, the
frame took eight times as long for one brick that nothing else touches.  It and what it touches go through each step in
pieces of their own, while the others keep theirs (parts.py).  That costs the step in which they are found out once
more, and so the cheaper of both is taken: what most of a scene touches is cut with all of it.
"""

import numpy as np

from .components import connected_components

ALONE = 16  # bodies whose work is that of a step with hardly any


def paces(asked, moving, links):
    """(Number of steps that a frame is cut into; (B,) int what the island of each body wants, some of them more).

    Args:
        asked: (B,) int steps that each body asks for.
        moving: (B,) bool, bodies that are solved; the others connect nothing.
        links: numbers (L,), (L,) of bodies that touch or are joined; the world has number B.
    """
    solved = np.append(moving, False)
    both = solved[links[0]] & solved[links[1]]
    group = connected_components(len(asked), links[0][both], links[1][both])
    wanted = np.ones(len(asked), int)
    np.maximum.at(wanted, group[moving], asked[moving])
    wanted = np.where(moving, wanted[group], 1)
    most, count = int(wanted.max(initial=1)), np.count_nonzero(moving)
    least, steps = most * (count + ALONE), most
    for number in np.unique(wanted[wanted < most]).tolist():
        apart = np.count_nonzero(wanted > number)
        work = number * (count + ALONE + -(-most // number) * (apart + ALONE))
        if 2 * apart < count and work < least:
            least, steps = work, number
    return steps, wanted
