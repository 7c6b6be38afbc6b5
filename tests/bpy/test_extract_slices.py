# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens between two slices of the reading of a scene is not read."""

import bpy
import numpy as np
from axion.axion_blender.extract import extraction_slices
from blend_scenes import add, box, extract, joint, key


def test_a_scene_is_read_at_its_frames_while_the_animation_plays():
    """Bodies that a keyed parent places began where the playback was when their slice was read, 0.3 m off."""
    cart = add("Cart")
    key(cart, "location", [(1, (0, 0, 0)), (25, (12, 0, 0))])
    for number in range(4):
        item = box(f"Box {number}", location=(0, 3 * number, 0), type="PASSIVE" if number == 2 else "ACTIVE")
        item.parent = cart
    hinge = joint("Hinge", "HINGE", bpy.data.objects["Box 0"], bpy.data.objects["Box 1"], location=(0, 1.5, 0))
    hinge.parent = cart
    still = extract().scene
    slices, frame = extraction_slices(bpy.context), 1
    while True:
        try:
            next(slices)
        except StopIteration as end:
            played = end.value.scene
            break
        frame = frame % 25 + 1
        bpy.context.scene.frame_set(frame, subframe=0.5)
    for own, other in zip(still.bodies, played.bodies, strict=True):
        assert np.array_equal(own.position, other.position) and (own.path is None) == (other.path is None)
        assert own.path is None or np.array_equal(own.path.position, other.path.position)
    assert np.array_equal(still.joints[0].position, played.joints[0].position)
