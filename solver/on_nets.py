# SPDX-License-Identifier: GPL-3.0-or-later
"""What rests on what hangs on springs itself, both free to move: a ball in a trampoline, a load on a sprung plate.

Held by its contacts it would end steps by backward Euler, and with it all that springs tie to what it rests on: a ball
on a net of sixteen nodes bounced to nothing at 24 frames a second.  Such contacts glide (gliding.py), whether the
springs are followed by a step or vibrate too fast for it: across them their tension swings slowly.
"""

from .vectors import length

ROLLS = 0.1  # [rad] in a step: what turns by more rolls on, and takes the places with it at which it is touched


def hardly_turns(bodies, step, own):
    """(K,) bool: whether bodies ``own`` (K,) hardly turn in a step [s]."""
    return step * length(bodies.velocity[:, 3:].take(own, 0)) <= ROLLS


def rests_on_net(bodies, links, sides, step):
    """(K,) bool: contacts of two bodies that move freely and hardly turn in a step [s], of which springs or joints that
    give way hold one; sides: (K,) body that moves and (K,) other body.
    """
    own, other = sides
    gives = links.gives.take(links.group)
    found = (other < bodies.dynamic_count) & (gives.take(own) | gives.take(other))
    return found & hardly_turns(bodies, step, own) & hardly_turns(bodies, step, other)
