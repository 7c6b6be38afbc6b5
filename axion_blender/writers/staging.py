# SPDX-License-Identifier: GPL-3.0-or-later
"""New channels, built in an action that no object plays: Blender evaluates and draws nothing anew for them.

So keys can be written in slices beside a live window, and until they are handed over nothing of the scene has changed.
"""

import bpy

from . import actions, curves, records


class Stage:
    """Channels for objects of a scene, to be handed over all at once."""

    def __init__(self, scene):
        self.scene, self._rows, self._patterns = scene, [], {}
        self.action = bpy.data.actions.new("Axion Stage")  # until it is handed over
        self.strip = self.action.layers.new("Layer").strips.new(type="KEYFRAME")

    def slot(self, name, channels):
        """A slot called ``name`` with channels {(data path, index): keys (T, 2) float32, frames ascending}."""
        kind = tuple((channel, len(keys)) for channel, keys in channels.items())
        if kind not in self._patterns:
            self._patterns[kind] = self._pattern(channels)
        slot = self._patterns[kind].duplicate()  # half the time of making curves and keys anew
        slot.name_display = name
        for curve, keys in zip(self.strip.channelbag(slot).fcurves, channels.values(), strict=True):
            curves.fill(curve, keys)
        return slot

    def _pattern(self, channels):
        """A slot with such channels: after a new curve Blender draws everything anew, after a copied one not."""
        slot = self.action.slots.new("OBJECT", "Axion Pattern")
        bag = self.strip.channelbag(slot, ensure=True)
        bag.groups.new(curves.GROUP)
        for (path, index), keys in channels.items():
            curves.new(bag, path, index, keys)
        return slot

    def add(self, item, mode, keys):
        """Motion of one object in rotation mode ``mode``: keys (6 or 7, T, 2) float32, location, then rotation."""
        path = records.rotation_path(mode)
        channels = [("location", i) for i in range(3)] + [(path, i) for i in range(records.rotation_size(path))]
        self._rows.append((item, mode, self.slot(item.name, dict(zip(channels, keys, strict=True)))))

    def forget_patterns(self):
        """Keep nothing but what was asked for; no slot can be made any more."""
        for pattern in self._patterns.values():
            self.action.slots.remove(pattern)
        self._patterns = None

    def hand_over(self):
        """Let the objects play their channels; earlier bakes of theirs are replaced.

        Where an error stops it, none of the objects holds a bake.
        """
        self.forget_patterns()
        try:
            for item, _, _ in self._rows:  # all before the first begins, or Blender counts users anew for each
                records.end(item)
            actions.release_takes()
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
