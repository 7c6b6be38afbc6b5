# SPDX-License-Identifier: GPL-3.0-or-later
"""The paths of a scene's bodies that are held for ever: those with samples at the same times are asked all at once."""

import numpy as np

from .scene import MotionPath


class PathTable:
    """T paths.  ``row`` (B,): place of each body's path in what ``poses`` returns, -1: it has none.

    bodies: of the scene.
    """

    def __init__(self, bodies):
        alike = {}
        for i, body in enumerate(bodies):
            if body.path is not None and body.motion != "dynamic" and body.held is None:
                alike.setdefault(body.path.times.tobytes(), []).append(i)
        self.row = np.full(len(bodies), -1)
        self._paths = [self._together(which, [bodies[i].path for i in which]) for which in alike.values()]

    def _together(self, which, paths):
        self.row[which] = self.row.max(initial=-1) + 1 + np.arange(len(which))
        position, orientation = (
            np.stack([getattr(path, name) for path in paths], 1) for name in ("position", "orientation")
        )
        return MotionPath(paths[0].times, position, orientation)

    def poses(self, time):
        """(Positions (T, 3) [m], orientations (T, 4)) of the bodies' frames at ``time`` [s]."""
        return tuple(np.concatenate(each) for each in zip(*(path.pose(time) for path in self._paths), strict=True))
