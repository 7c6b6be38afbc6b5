# SPDX-License-Identifier: GPL-3.0-or-later
"""New channels, built in an action that no object plays: Blender evaluates and draws nothing anew for them.

So keys can be written in slices beside a live window, and until they are handed over nothing of the scene has changed.
"""

import bpy
import numpy as np

from . import actions, curves, records


class Stage:
    """Channels of location and rotation for objects of a scene, to be handed over all at once.

    frames (T,): of the keys.  modes: the rotation modes that the objects will have.
    """

    def __init__(self, scene, frames, modes):
        self.scene, self._rows = scene, []
        self._keys = np.zeros((7, len(frames), 2), dtype=np.float32)
        self._keys[..., 0] = frames
        self.action = bpy.data.actions.new(actions.shared_name(scene))
        self.strip = self.action.layers.new("Layer").strips.new(type="KEYFRAME")
        # Made in one slice: after a new curve Blender draws everything anew, after a copied one it does not.
        self._patterns = {path: self._pattern(path) for path in sorted(set(map(records.rotation_path, modes)))}

    def _pattern(self, path):
        """A slot with channels of location and of rotation at ``path``, all keys at 0."""
        slot = self.action.slots.new("OBJECT", "Axion Pattern")
        bag = self.strip.channelbag(slot, ensure=True)
        bag.groups.new(curves.GROUP)
        for name, count in (("location", 3), (path, records.rotation_size(path))):
            for i in range(count):
                curves.new(bag, name, i, self._keys[0])
        return slot

    def add(self, item, mode, channels):
        """Channels of one object in rotation mode ``mode``: (6 or 7, T), location [Blender units], then rotation."""
        slot = self._patterns[records.rotation_path(mode)].duplicate()  # half the time of making curves and keys anew
        slot.name_display = item.name
        self._keys[: len(channels), :, 1] = channels
        for curve, keys in zip(self.strip.channelbag(slot).fcurves, self._keys):  # noqa: B905  one may have no use
            curves.fill(curve, keys)
        self._rows.append((item, mode, slot))

    def hand_over(self):
        """Let the objects play their channels; earlier bakes of theirs are replaced.

        Where an error stops it, none of the objects holds a bake.
        """
        for pattern in self._patterns.values():
            self.action.slots.remove(pattern)
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
