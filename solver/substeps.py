# SPDX-License-Identifier: GPL-3.0-or-later
"""How many steps a frame is given: as few as spin asks for and the tolerance allows, learned from the frames before."""

import numpy as np

MOST = 16  # steps per frame that misses may lead to; a step may still be halved when it misses
MOST_SPINNING = 64  # steps per frame that spin may ask for: a disc's top of 500 rad/s at 24 frames a second
PATIENCE = 3  # frames without a miss before fewer steps are tried


class Substeps:
    """Number of steps per frame, always a multiple of ``multiple``.  ``fixed``: a number the user gave, or None."""

    def __init__(self, fixed=None, multiple=1):
        self.fixed, self.multiple = fixed, multiple
        self.count = 1 if fixed is None else fixed
        self.taken = self.count
        self._quiet = 0

    def take(self, spinning):
        """Steps of the coming frame, which spin wants cut into ``spinning`` (gyroscopic.py, rotors.py)."""
        self.taken = self.count
        if self.fixed is None:
            self.taken = max(self.count, min(spinning, MOST_SPINNING))
        self.taken = -(-self.taken // self.multiple) * self.multiple
        return self.taken

    def longest(self, wanted, seconds):
        """(B,) longest steps [s] of bodies of which islands want a frame of ``seconds`` cut into ``wanted`` (B,) int
        steps; None where those it was just given are enough of all.
        """
        wanted = np.minimum(wanted, MOST_SPINNING)
        if self.fixed is not None or wanted.max(initial=1) <= self.taken:
            return None
        return np.where(wanted > self.taken, seconds / wanted, np.inf)

    def learn(self, steps, hopeless, given_up=False):
        """After a frame of ``steps`` steps: if some were halved, double the count; halve it after peace.

        given_up: one missed as often as it was halved; twice as many steps would be halved as often, and in vain.
        """
        if self.fixed is not None:
            return
        if hopeless:
            self.count, self._quiet = max(1, self.count // 2), 0
        elif steps > max(self.taken, self.count):
            if not given_up:
                self.count = min(2 * max(self.taken, self.count), MOST)
            self._quiet = 0
        else:
            self._quiet += 1
            if self._quiet >= PATIENCE and self.count > 1:
                self.count, self._quiet = self.count // 2, 0
