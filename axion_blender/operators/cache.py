# SPDX-License-Identifier: GPL-3.0-or-later
"""Free Cache: removes the frames that a scene's bakes have kept on disk.  Its keyframes stay."""

import bpy

from .. import cache_place
from ..cache import CacheError, free_cache
from .bake import refuse


class AXION_OT_free_cache(bpy.types.Operator):
    """Remove the frames kept on disk."""

    bl_idname = "axion.free_cache"
    bl_label = "Free Cache"
    bl_description = "Remove the frames of this scene's bakes from the disk; keyframes stay, the next bake begins anew"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context):
        if not context.window_manager.axion.running:
            return True
        cls.poll_message_set("A bake is running: stop it first")
        return False

    def invoke(self, context, event):
        return context.window_manager.invoke_confirm(self, event)

    def execute(self, context):
        folder = cache_place.existing(context.scene)
        try:
            freed = 0 if folder is None else free_cache(folder, chosen=bool(context.scene.axion.cache_folder))
        except CacheError as error:
            return refuse(self, error)
        if not freed:
            self.report({"WARNING"}, "Nothing was freed: this scene has no cache")
            return {"CANCELLED"}
        self.report({"INFO"}, f"{cache_place.size_text(freed)} freed")
        return {"FINISHED"}


CLASSES = (AXION_OT_free_cache,)
