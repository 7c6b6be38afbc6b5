# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens between two slices of the reading of a scene is not read."""

import bpy
import numpy as np
import pytest
from axion.axion_blender.extract import extraction_slices
from axion.solver import decomposition
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


@pytest.mark.parametrize("within", [False, True], ids=["alone", "in a compound"])
def test_what_is_taken_apart_is_looked_after_in_slices_and_named(within, monkeypatch):
    """Blender stood still meanwhile, a minute for a monkey, and Esc was not heard."""
    item = box("Box", collision_shape="CONVEX_DECOMPOSITION")
    if within:
        item.parent = add("Whole", box("Other").data, type="ACTIVE", collision_shape="COMPOUND")
    said, waited = [], []

    def pieces(vertices, *_):
        waited.append(len(said))
        yield
        yield
        return (vertices,)

    monkeypatch.setattr(decomposition, "_pieces", pieces)
    monkeypatch.setattr(decomposition, "_kept", {})
    few = len(list(extraction_slices(bpy.context, say=said.append)))
    assert said == ["Taking Box apart"] and waited == [1], "it is said first, and done once"
    assert len(list(extraction_slices(bpy.context))) == few - 2, "a slice for each look"
