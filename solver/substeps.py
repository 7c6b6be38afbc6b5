# SPDX-License-Identifier: GPL-3.0-or-later
"""How many steps a frame is given: as few as the tolerance allows, learned from the frames before."""

MOST = 16  # steps per frame the automatic choice goes up to; a step may still be halved when it misses
PATIENCE = 3  # frames without a miss before fewer steps are tried


class Substeps:
    """Number of steps per frame.  ``fixed``: a number the user gave, or None to choose."""

    def __init__(self, fixed=None):
        self.fixed = fixed
        self.count = 1 if fixed is None else fixed
        self._quiet = 0

    def learn(self, steps, hopeless):
        """After a frame of ``steps`` steps: if some were halved, double the count; halve it after peace."""
        if self.fixed is not None:
            return
        if hopeless:
            self.count, self._quiet = max(1, self.count // 2), 0
        elif steps > self.count:
            self.count, self._quiet = min(2 * self.count, MOST), 0
        else:
            self._quiet += 1
            if self._quiet >= PATIENCE and self.count > 1:
                self.count, self._quiet = self.count // 2, 0
