# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of a baked scene: a linked one shares the objects and so the bake, a full one has its own."""

import pytest

bpy = pytest.importorskip("bpy")

import blend_scenes as build  # noqa: E402
from axion.axion_blender import baking, last_bake  # noqa: E402
from axion.axion_blender.writers import outputs, players, shared  # noqa: E402
from axion.solver import StepReport, Trajectory  # noqa: E402


def bake(scene, item, fall=1.0, output="KEYFRAMES"):
    """Three frames in which a body falls, with a report."""
    zero, upright = [[(0, 0, 0)]] * 3, [[(0, 0, 0, 1)]] * 3
    fallen = [[(0, 0, -fall * frame)] for frame in range(3)]
    motion = Trajectory([item.name], [0, 1, 2], fallen, upright, zero, zero, [StepReport(1), StepReport(2)], {})
    layer = scene.view_layers[0]
    layer.update()
    outputs.write(motion, {item.name: item}, 1, scene, layer, 1.0, output=output)
    scene[baking.SUMMARY] = "{}"
    text = bpy.data.texts.new("Axion Report")
    text[last_bake.SUMMARY] = scene


@pytest.fixture(params=("KEYFRAMES", "POINTS"))
def output(request):
    return request.param


def copied(kind, output):
    """(scene, its body, its copy, the current one)."""
    scene, item = bpy.context.scene, build.box("Box", location=(0, 0, 5))
    bake(scene, item, output=output)
    bpy.ops.scene.new(type=kind)
    assert bpy.context.scene != scene
    return scene, item, bpy.context.scene


def height(scene, item, frame):
    """Of a body or the point in its place, as a scene shows it."""
    scene.frame_set(frame)
    layer = scene.view_layers[0]
    layer.update()
    shown = players.shown(scene)
    if not shown:
        return item.matrix_world.translation.z
    graph = layer.depsgraph
    (found,) = [made.matrix_world.translation.z for made in graph.object_instances if made.is_instance]
    return found


def test_clear_in_a_linked_copy_clears_both_and_says_so(output, capfd):
    scene, item, copy = copied("LINK_COPY", output)
    assert copy.objects["Box"] == item and baking.is_baked(copy)
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert f"cleared, in {scene.name}, too: objects are shared" in capfd.readouterr().out
    for either in (scene, copy):
        assert (
            not baking.is_baked(either) and baking.SUMMARY not in either and [i.name for i in either.objects] == ["Box"]
        )
        assert last_bake.text_of(either) is None and height(either, item, 3) == 5
    assert not item.hide_viewport and not item.hide_render
    assert not bpy.data.actions and not bpy.data.node_groups


@pytest.mark.parametrize("second", ("KEYFRAMES", "POINTS"))
def test_a_bake_in_a_linked_copy_replaces_the_first_and_says_so(output, second):
    scene, item, copy = copied("LINK_COPY", output)
    told = [text for text in baking.check(bpy.context)[1] if "shares" in text]
    assert told == [f"{copy.name} shares baked objects with {scene.name}: a bake replaces theirs in both"]
    bake(copy, item, 0.5, second)
    assert height(copy, item, 3) == 4
    assert len([i for i in bpy.data.objects if players.OWNER in i]) == (second == "POINTS")
    assert item.hide_viewport == (second == "POINTS")
    bpy.ops.axion.clear_bake()
    assert height(scene, item, 3) == height(copy, item, 3) == 5 and not item.hide_viewport


def test_a_full_copy_has_a_bake_of_its_own(output):
    scene, item, copy = copied("FULL_COPY", output)
    twin = copy.objects["Box.001"]
    shared.claim_points(copy)
    assert height(copy, twin, 3) == height(scene, item, 3) == 3
    bake(copy, twin, 0.5, output)
    assert height(copy, twin, 3) == 4 and height(scene, item, 3) == 3
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert height(copy, twin, 3) == 5 and height(scene, item, 3) == 3, "the first scene keeps its bake"
    assert baking.is_baked(scene) and not baking.is_baked(copy)


def test_apply_in_a_full_copy_leaves_the_first_scene_its_bake(output):
    scene, item, copy = copied("FULL_COPY", output)
    assert bpy.ops.axion.apply_bake("EXEC_DEFAULT") == {"FINISHED"}
    assert baking.is_baked(scene) and not baking.is_baked(copy) and height(scene, item, 3) == 3


def test_apply_in_a_linked_copy_is_for_both_or_refused(output):
    scene, item, copy = copied("LINK_COPY", output)
    if output == "POINTS":
        with pytest.raises(RuntimeError, match=f"shows points that {scene.name} made of objects they share: apply"):
            bpy.ops.axion.apply_bake("EXEC_DEFAULT")
        bpy.context.window.scene = scene
    assert bpy.ops.axion.apply_bake("EXEC_DEFAULT") == {"FINISHED"}
    assert not baking.is_baked(scene) and baking.SUMMARY not in scene and not item.axion.enabled
    if output == "KEYFRAMES":
        assert height(scene, item, 3) == height(copy, item, 3) == 3


def test_scenes_that_share_only_what_holds_no_bake_are_left_alone(capfd):
    scene, item = bpy.context.scene, build.box("Box", location=(0, 0, 5))
    ground = build.plane()
    bake(scene, item)
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(ground)
    other[baking.SUMMARY] = "{}"
    assert not any("shares" in text for text in baking.check(bpy.context)[1])
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert "shared" not in capfd.readouterr().out and baking.SUMMARY in other


def test_a_scene_that_is_linked_is_named_once_and_left_as_it_is(tmp_path):
    """Each of its bodies was told to be made an override, and Clear Bake took the report that its file still has."""
    build.box("Box", location=(0, 0, 3))
    build.box("Other", location=(3, 0, 3))
    bpy.ops.axion.bake()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "shot.blend"), link=True) as (_, wanted):
        wanted.scenes = ["Scene"]
    bpy.context.window.scene = wanted.scenes[0]
    problems, _ = baking.check(bpy.context)
    assert len(problems) == 1 and "the scene is linked from" in problems[0] and "open that file" in problems[0]
    with pytest.raises(RuntimeError, match="the scene is linked from"):
        bpy.ops.axion.bake()
    for operator in (bpy.ops.axion.clear_bake, bpy.ops.axion.apply_bake):
        with pytest.raises(RuntimeError, match="linked from another file: open that file"):
            operator()
    assert baking.SUMMARY in bpy.context.scene
