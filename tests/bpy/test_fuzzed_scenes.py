# SPDX-License-Identifier: GPL-3.0-or-later
"""130 malformed scenes: each is refused by sentences that name their object, or baked and cleared again.

Those that are only checked are shared among the tested Blenders.
"""

import contextlib

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from axion.axion_blender import baking, compat  # noqa: E402
from axion.axion_blender.writers import outputs  # noqa: E402
from fuzzed_scenes import build  # noqa: E402

SCENES, BAKED_EVERY = 130, 4


def names():
    """What a sentence may name: objects, the scene, and what objects are made of."""
    return [block.name for block in (*bpy.data.objects, *bpy.data.scenes, *bpy.data.meshes)]


def standing():
    """Where every object stands, and what moves it."""
    paths = "location", "rotation_euler", "rotation_quaternion", "scale"
    found = {}
    for item in bpy.data.objects:
        seen = not (item.hide_viewport and compat.is_animated(item))  # Blender does not play what is hidden
        keys = set(item.keys()) - {"axion", "axion_joint"}  # Blender 4.5 lists there what was looked at
        found[item.name] = sorted(keys), [tuple(getattr(item, path)) for path in paths if seen]
    return found, sorted(action.name for action in bpy.data.actions), bpy.context.scene.frame_current


def seeds():
    """Those that are baked, and of those that are only checked each Blender's third: a few take CoACD half a minute."""
    third = {(4, 5): 0, (5, 0): 1}.get(bpy.app.version[:2], 2)
    return [seed for seed in range(SCENES) if seed % BAKED_EVERY == 0 or seed % 3 == third]


@pytest.mark.parametrize("seed", seeds())
def test_a_malformed_scene_is_named_or_baked(seed, tmp_path, capfd):
    build(seed)
    scene = bpy.context.scene
    scene.axion.cache_folder = str(tmp_path)
    before = standing()
    problems, warnings = baking.check(bpy.context)
    np.testing.assert_equal(standing(), before)
    for sentence in problems:
        assert any(name in sentence for name in names()), sentence
        assert "Traceback" not in sentence and "Error" not in sentence, sentence
    assert all(isinstance(sentence, str) and sentence for sentence in warnings)
    if seed % BAKED_EVERY and not problems:
        return
    refusal = None
    with contextlib.ExitStack() as stack:
        if problems:
            refusal = stack.enter_context(pytest.raises(RuntimeError))
        with contextlib.suppress(BrokeDownError) if not problems else contextlib.nullcontext():
            bake(refused=bool(problems))
    if problems:
        assert any(name in str(refusal.value) for name in names()), refusal.value
    if not any(outputs.holds(item) for item in scene.objects):
        np.testing.assert_equal(standing(), before)
        return
    for item in scene.objects:
        for curve in compat.curves_of(item):
            if curve.group is not None and outputs.holds(item):
                assert all(np.isfinite(point.co[1]) for point in curve.keyframe_points), item.name
    scene.frame_set(before[2])
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    np.testing.assert_equal(standing(), before)


class BrokeDownError(Exception):
    """A bake broke down, and said of what."""


def bake(refused):
    """Bake; a breakdown must name an object as a refusal does."""
    try:
        bpy.ops.axion.bake()
    except RuntimeError as error:
        if refused:
            raise
        assert any(name in str(error) for name in names()) and "Traceback" not in str(error), error
        raise BrokeDownError from error
