# SPDX-License-Identifier: GPL-3.0-or-later
"""Points look like the bodies that they stand in for, or it is told by name what differs."""

import bpy
import numpy as np
import pytest
from axion.axion_blender.writers import outputs, players, variants
from blend_scenes import add, box, box_mesh
from test_writers_points import bake, fingerprint, trajectory_of


def collection(name, above, *items):
    """A collection below another one that objects are moved to."""
    made = bpy.data.collections.new(name)
    above.children.link(made)
    for item in items:
        for earlier in item.users_collection:
            earlier.objects.unlink(item)
        made.objects.link(item)
    return made


def layer_of(name, layer):
    """The layer collection of that name below another one."""
    return (
        layer if layer.name == name else next(filter(None, (layer_of(name, inner) for inner in layer.children)), None)
    )


@pytest.mark.parametrize("way", ["exclude", "holdout", "indirect_only"])
def test_view_layers_have_points_as_they_have_the_bodies(way):
    """Points stood in the scene's own collection, and were rendered where a view layer leaves their bodies out."""
    scene = bpy.context.scene
    items = [box("A"), box("B", location=(3, 0, 0)), box("C", location=(6, 0, 0))]
    props = collection("Props", scene.collection)
    inner = collection("Inner", props, *items)
    collection("Part", inner, items[0])
    back = scene.view_layers.new("Back")
    for name in ("Inner", "Part"):
        setattr(layer_of(name, back.layer_collection), way, True)
    assert bake(items, trajectory_of(items)) == []
    (player,) = players.shown(scene)
    assert player.users_collection == (inner,)
    assert not player.holdout_get(view_layer=bpy.context.view_layer) and player in set(bpy.context.view_layer.objects)
    ways = player.holdout_get(view_layer=back), player.indirect_only_get(view_layer=back)
    assert (player in set(back.objects), *ways) == (way != "exclude", way == "holdout", way == "indirect_only")
    bake(items, trajectory_of(items), "KEYFRAMES")
    props.objects.link(items[2])
    inner.objects.unlink(items[2])
    (told,) = bake(items, trajectory_of(items))
    assert players.shown(scene)[0].users_collection == (props,), "the innermost that has them all"
    assert told.startswith("A, B are excluded, held out or indirect only in the view layer Back otherwise than Axion")
    assert outputs.clear(scene) == 3


@pytest.mark.parametrize("hide", ["exclude", "hide_viewport", "eye"])
def test_points_are_not_put_where_they_would_be_hidden(hide):
    scene = bpy.context.scene
    items = [box("A"), box("B", location=(3, 0, 0))]
    shown = collection("Shown", scene.collection, *items)
    hidden = collection("Hidden", scene.collection)
    scene.collection.children.unlink(shown)
    scene.collection.children.link(shown)  # after the other one
    for item in items:
        hidden.objects.link(item)
    layer = layer_of("Hidden", bpy.context.view_layer.layer_collection)
    setattr(*{"exclude": (layer, "exclude"), "eye": (layer, "hide_viewport")}.get(hide, (hidden, hide)), True)
    bake(items, trajectory_of(items))
    assert players.shown(scene)[0].users_collection == (shown,)


def test_instances_of_a_collection_show_its_points():
    scene = bpy.context.scene
    items = [box("A"), box("B", location=(3, 0, 0))]
    group = collection("Group", scene.collection, *items)
    empty = add("Copy", location=(0, 9, 0))
    empty.instance_type, empty.instance_collection = "COLLECTION", group
    assert bake(items, trajectory_of(items)) == []
    scene.frame_set(1)
    places = sorted(
        tuple(round(x, 3) for x in one.matrix_world.translation[:2])
        for one in bpy.context.evaluated_depsgraph_get().object_instances
        if one.is_instance and one.object.name.startswith("Axion Point 0")
    )
    assert places == [(0, 0), (0, 9), (3, 0), (3, 9)]


def ball(name, location=(0, 0, 0)):
    """A metaball body."""
    data = bpy.data.metaballs.new(name)
    data.elements.new()
    return add(name, data, location, collision_shape="SPHERE")


def test_metaballs_are_shown_as_meshes():
    """They were nowhere to be seen: geometry nodes make no instances of metaballs."""
    scene = bpy.context.scene
    items = [ball("Blob", (0, 0, 2)), box("B", location=(5, 0, 0))]
    items[0].data.materials.append(bpy.data.materials.new("Slime"))
    items[0].visible_camera = False
    before = fingerprint()
    for _ in range(2):  # the second time they are hidden already
        bake(items, trajectory_of(items))
        scene.frame_set(1)
        (shown,) = (
            (len(one.object.data.vertices) > 50, one.object.visible_camera, one.object.data.materials[0].name)
            for one in bpy.context.evaluated_depsgraph_get().object_instances
            if one.is_instance and one.object.data.name.startswith("Blob")
        )
        assert shown == (True, False, "Slime")
        assert len(bpy.data.meshes) == 4 and items[0].hide_viewport, "a box, a blob, the points and their motion"
    assert outputs.clear(scene) == 2
    assert fingerprint() == before
    bake(items, trajectory_of(items))
    bpy.ops.axion.apply_bake()
    assert not any(list(mesh.keys()) for mesh in bpy.data.meshes)


def seen(frame):
    """Matrices of all meshes that are seen at a frame, in order of their places."""
    bpy.context.scene.frame_set(frame)
    found = [
        np.array(one.matrix_world)
        for one in bpy.context.evaluated_depsgraph_get().object_instances
        if one.object.type == "MESH" and one.object.data.vertices
    ]
    return np.array(sorted(found, key=lambda matrix: matrix[:3, 3].tolist()))


def test_parts_of_a_compound_are_points_as_well(capfd):
    """They stayed in the air where the body began."""
    scene = bpy.context.scene
    scene.frame_end, scene.axion.use_cache = 12, False
    whole = add("Whole", location=(0, 0, 3), collision_shape="COMPOUND")
    whole.rotation_euler = (0.3, 0.4, 0.5)
    parts = [box("Bar", (1, 0.3, 0.3), (0.6, 0, 0)), box("Post", (0.3, 0.3, 1), (-0.6, 0, 0.3))]
    inner = add("Inner", location=(0, 1, 0), collision_shape="COMPOUND")
    inner.parent, knob = whole, box("Knob", (0.2, 0.2, 0.2), (0, 0.3, 0))
    knob.parent, knob.rotation_euler = inner, (0.1, 0.2, 0.3)
    for item in parts:
        item.parent = whole
    before = fingerprint()
    assert bpy.ops.axion.bake() == {"FINISHED"}
    keyed = seen(12)
    scene.axion.output = "POINTS"
    for _ in range(2):  # the second time the shapes lie behind points
        assert bpy.ops.axion.bake() == {"FINISHED"}
        np.testing.assert_allclose(seen(12), keyed, atol=1e-4)
    assert "does not follow" not in capfd.readouterr().out
    scene.frame_set(1)
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    scene.axion.output = "KEYFRAMES"
    left = fingerprint()
    assert [line for line in left if "Axion" not in str(line)] == [line for line in before if "Axion" not in str(line)]


def painted(*reads):
    """A material whose nodes, in a group, read of the object what is named: an output of Object Info or a property."""
    material = bpy.data.materials.new("Paint")
    if material.node_tree is None:
        material.use_nodes = True
    group = bpy.data.node_groups.new("Inner", "ShaderNodeTree")
    material.node_tree.nodes.new("ShaderNodeGroup").node_tree = group
    sink = group.nodes.new("ShaderNodeEmission")
    for name in reads:
        if name in ("Color", "Object Index"):
            group.links.new(group.nodes.new("ShaderNodeObjectInfo").outputs[name], sink.inputs["Color"])
        else:
            node = group.nodes.new("ShaderNodeAttribute")
            node.attribute_type, node.attribute_name = "OBJECT", name
    return material


def twins(count, *reads):
    """Boxes of one mesh, told apart by Pass Index, color and custom properties, with a material that reads these."""
    data = box_mesh()
    data.materials.append(painted(*reads))
    items = [add(f"T{k:03}", data, (2 * k, 0, 0), collision_shape="BOX") for k in range(count)]
    for k, item in enumerate(items):
        item.pass_index, item["mine"], item["other"], item.color = k // 2, k, [0.5 * k, k], (k / count, 0, 0, 1)
    return items


def prototypes():
    return list(bpy.data.collections["Axion Points Scene Prototypes"].objects)


@pytest.mark.parametrize("reads", ["", "mine", '["mine"]', "other", "nothing"])
def test_bodies_that_materials_tell_apart_share_no_prototype(reads):
    """Points had Pass Index and custom properties of whatever body was first."""
    items = twins(6, *([reads] if reads else []))
    assert bake(items, trajectory_of(items)) == []
    kinds = 6 if "mine" in reads or reads == "other" else 3
    assert len(prototypes()) == kinds
    assert {one.pass_index for one in prototypes()} == {0, 1, 2}
    assert kinds == 3 or {one["mine"] for one in prototypes()} == set(range(6))


def test_more_looks_than_points_have_are_told(monkeypatch):
    monkeypatch.setattr(variants, "MOST", 4)
    items = twins(6, "mine")
    (told,) = bake(items, trajectory_of(items))
    assert told.startswith("T001, T002, T003 and 2 more are shown like others") and "read mine of the object" in told
    assert len(prototypes()) == 1
    items[0].data.materials.clear()
    monkeypatch.setattr(variants, "MOST", 1)
    assert bake(items, trajectory_of(items)) == [], "nobody sees a difference"


def test_what_instances_have_of_their_own_is_told():
    items = twins(2, "Color", "axion_speed")
    tint, speed = bake(items, trajectory_of(items))
    assert tint.startswith("T000, T001 are shown in the Object Color of Axion Points Scene")
    assert speed.startswith("T000, T001 are shown without the speeds and forces")
    for item in items:
        item.color = players.shown(bpy.context.scene)[0].color = (0, 1, 0, 1)
    assert bake(items, trajectory_of(items)) == [speed]
