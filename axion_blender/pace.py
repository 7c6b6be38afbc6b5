# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a bake will still take, told from what its last frames cost.  Knows no Blender."""

from collections import deque
from statistics import fmean

STARTING = 2
"""First frames of a solve: kernels are loaded and graphs recorded in them, so they foretell nothing once others are
there."""


class Pace:
    """The cost of the last frames.

    recent: number of frames that count.
    """

    def __init__(self, recent):
        self._found, self._solved = deque(maxlen=recent), deque(maxlen=recent)
        self.solved = 0

    def find(self, seconds):
        """A frame was found that an earlier bake took ``seconds`` for."""
        self._found.append(seconds)

    def solve(self, seconds):
        """A frame was solved in ``seconds``."""
        self.solved += 1
        if self.solved == STARTING + 1:
            self._solved.clear()
        self._solved.append(seconds)

    def left(self, frames):
        """Seconds that ``frames`` more will take; None before the first.  Frames found count until one is solved."""
        known = self._solved or self._found
        return fmean(known) * frames if known else None
