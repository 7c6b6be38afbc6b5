# SPDX-License-Identifier: GPL-3.0-or-later
"""New channels, built in an action that no object plays: Blender evaluates and draws nothing anew for them.

So keys can be written in slices beside a live window, and until they are handed over nothing of the scene has changed.
"""

import bpy
import numpy as np

from . import actions, curves, records


class Stage:
    """Channels of location and rotation for objects of a scene, to be handed over all at once.

    frames (T,): of the keys.
    """

    def __init__(self, scene, frames):
        self.scene, self._rows, self._newest = scene, [], {}
        self._keys = np.empty((len(frames), 2), dtype=np.float32)
        self._keys[:, 0] = frames
        self.action = bpy.data.actions.new(actions.shared_name(scene))
        self.strip = self.action.layers.new("Layer").strips.new(type="KEYFRAME")

    def add(self, item, mode, location, turned):
        """Channels of one object in rotation mode ``mode``: location (T, 3) [Blender units], turned (T, 3 or 4)."""
        path = records.rotation_path(mode)
        alike = self._newest.get(path)
        if alike is not None:  # half the time of making curves and keys anew
            slot = alike.duplicate()
            slot.name_display = item.name
            bag = self.strip.channelbag(slot)
        else:
            slot = self.action.slots.new("OBJECT", item.name)
            bag = self.strip.channelbag(slot, ensure=True)
            bag.groups.new(curves.GROUP)
            for name, values in (("location", location), (path, turned)):
                for i in range(values.shape[1]):
                    curves.new(bag, name, i, self._keys)
        for curve, values in zip(bag.fcurves, (*location.T, *turned.T), strict=True):
            self._keys[:, 1] = values
            curves.fill(curve, self._keys)
        self._newest[path] = slot
        self._rows.append((item, mode, slot))

    def hand_over(self):
        """Let the objects play their channels; earlier bakes of theirs are replaced.

        Where an error stops it, none of the objects holds a bake.
        """
        try:
            for item, _, _ in self._rows:  # all before the first begins, or Blender counts users anew for each
                records.end(item)
            for item, mode, slot in self._rows:
                bag = records.begin(item, self.scene, mode, slot)
                if bag is not None:
                    for curve in self.strip.channelbag(slot).fcurves:
                        curves.copy(bag, curve)
                    self.action.slots.remove(slot)
        except BaseException:
            for item, _, _ in self._rows:
                records.end(item)
            raise
        actions.replace_shared(self.scene, self.action)

    def remove(self):
        """Forget what was not handed over."""
        bpy.data.actions.remove(self.action)
