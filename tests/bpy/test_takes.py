# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked actions that somebody keeps with a fake user (the shield) are takes: no bake and no Clear Bake harms them."""

import pytest

bpy = pytest.importorskip("bpy")

from axion.axion_blender.writers import actions  # noqa: E402
from test_pushed_down import bake, bodies, heights, push_down  # noqa: E402

FELL = [3, 1, -1]
"""Heights at frames 1, 3 and 5 of the first bake; later ones fall half as fast."""


def play(item, action):
    """Let an object play the slot of an action that is named after it."""
    data = item.animation_data_create()
    data.action = action
    data.action_slot = next(slot for slot in action.slots if slot.name_display == item.name)


@pytest.mark.parametrize("then", ["bake", "clear"])
@pytest.mark.parametrize("name", ["Take 1", None], ids=["renamed", "as it is"])
def test_a_shielded_action_stays(name, then):
    item, other = bodies()[0], bpy.data.objects["Other"]
    bake(item, other)
    action = item.animation_data.action
    action.use_fake_user = True
    action.name = name or action.name
    if then == "bake":
        bake(item, other, fall=0.5)
        assert item.animation_data.action != action and heights(item) == [3, 2, 1]
    bpy.ops.axion.clear_bake()
    assert heights(item) == [3, 3, 3] and item.animation_data is None
    assert action.name == (name or f"Axion Scene {actions.TAKE}") and actions.SHARED not in action
    play(item, action)
    assert heights(item) == FELL
    bake(item, fall=0.5)  # now it is the object's own animation, which gives way to the bake and comes back
    assert heights(item) == [3, 2, 1]
    bpy.ops.axion.clear_bake()
    assert item.animation_data.action == action and heights(item) == FELL
    assert [action.name for action in bpy.data.actions if actions.SHARED in action] == []


def test_a_shielded_private_copy_stays():
    item = bodies()[2]
    original = item.animation_data.action
    bake(item)
    copy = item.animation_data.action
    assert copy != original and not copy.use_fake_user
    copy.use_fake_user = True
    bake(item, fall=0.5)
    bpy.ops.axion.clear_bake()
    assert item.animation_data.action == original and actions.COPIED not in copy
    item.animation_data.action = copy
    item.animation_data.action_slot = copy.slots[0]
    assert heights(item) == FELL


def test_a_shielded_strip_goes_and_its_action_stays():
    item = bodies()[0]
    bake(item)
    action = item.animation_data.action
    action.use_fake_user = True
    push_down(item)
    bpy.context.scene.frame_set(1)
    bpy.ops.axion.clear_bake()
    assert heights(item) == [3, 3, 3]
    play(item, action)
    assert heights(item) == FELL
