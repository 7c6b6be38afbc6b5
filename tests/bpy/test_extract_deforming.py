# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes that deform become colliders that deform, by whatever moves their vertices; the rest is refused by name."""

import bpy
import numpy as np
import pytest
from axion.solver import SceneError, SolverConfig, simulate
from blend_scenes import add, body, box, extract, key, mesh


def grid(name="Floor", cells=4, size=4.0, **settings):
    """A passive square of quads with the shape Mesh."""
    line = np.linspace(-size / 2, size / 2, cells + 1)
    vertices = [(x, y, 0.0) for x in line for y in line]
    corners = [i * (cells + 1) + j for i in range(cells) for j in range(cells)]
    faces = [(k, k + cells + 1, k + cells + 2, k + 1) for k in corners]
    data = mesh("grid", vertices, faces)
    return add(name, data, **{"type": "PASSIVE", "collision_shape": "MESH", **settings})


def shape_keys(item):
    item.shape_key_add(name="Basis")
    bent = item.shape_key_add(name="Bent")
    for point in bent.data:
        point.co.z = 0.5 * point.co.x**2
    animate(item.data.shape_keys, 'key_blocks["Bent"].value', [(1, 0.0), (25, 1.0)])


def animate(owner, path, keys):
    """Linear keys on a path below an ID."""
    holder, name = path.rsplit(".", 1)
    for frame, value in keys:
        setattr(owner.path_resolve(holder), name, value)
        owner.keyframe_insert(path, frame=frame)
    for curve in owner.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def simple_deform(item):
    modifier = item.modifiers.new("Bend", "SIMPLE_DEFORM")
    modifier.deform_method, modifier.deform_axis = "STRETCH", "X"
    animate(item, 'modifiers["Bend"].factor', [(1, 0.0), (25, 1.5)])


def armature(item):
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    made = rig.data.edit_bones.new("Bone")
    made.tail = 0, 0, 1
    bpy.ops.object.mode_set(mode="OBJECT")
    group = item.vertex_groups.new(name="Bone")
    group.add([v.index for v in item.data.vertices if v.co.x > 0.1], 1.0, "REPLACE")
    item.modifiers.new("Armature", "ARMATURE").object = rig
    pose = rig.pose.bones["Bone"]
    for frame, height in ((1, 0.0), (25, 0.8)):
        pose.location = 0, height, 0
        pose.keyframe_insert("location", frame=frame)
    for curve in rig.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def wave(item):
    item.modifiers.new("Wave", "WAVE").height = 0.3


def target_with_shape_keys(size=6.0):
    """A square below that is bent by shape keys, and takes no part itself."""
    target = grid("Target", cells=8, size=size)
    target.axion.enabled = False
    shape_keys(target)
    return target


def lattice(item):
    cage = bpy.data.objects.new("Cage", bpy.data.lattices.new("Cage"))
    bpy.context.scene.collection.objects.link(cage)
    cage.location, cage.scale = item.location, (6, 6, 2)
    cage.shape_key_add(name="Basis")
    for point in cage.shape_key_add(name="Up").data[:3]:
        point.co.z += 0.5
    animate(cage.data.shape_keys, 'key_blocks["Up"].value', [(1, 0.0), (25, 1.0)])
    item.modifiers.new("Cage", "LATTICE").object = cage


def surface_deform(item):
    modifier = item.modifiers.new("Follow", "SURFACE_DEFORM")
    modifier.target = target_with_shape_keys()
    with bpy.context.temp_override(object=item, active_object=item):
        bpy.ops.object.surfacedeform_bind(modifier="Follow")
    assert modifier.is_bound


def shrinkwrap(item):
    modifier = item.modifiers.new("Wrap", "SHRINKWRAP")
    modifier.target, modifier.wrap_method = target_with_shape_keys(), "PROJECT"
    modifier.use_project_z = modifier.use_negative_direction = modifier.use_positive_direction = True


def displace(item):
    texture = bpy.data.textures.new("Slope", "BLEND")
    modifier = item.modifiers.new("Slope", "DISPLACE")
    modifier.texture, modifier.texture_coords, modifier.mid_level = texture, "LOCAL", 0.0
    for frame, value in ((1, 0.2), (25, 3.0)):
        texture.contrast = value
        texture.keyframe_insert("contrast", frame=frame)


@pytest.fixture(autouse=True)
def second():
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 25


@pytest.mark.parametrize(
    "bend", [shape_keys, simple_deform, armature, wave, lattice, surface_deform, shrinkwrap, displace]
)
def test_vertices_are_those_that_blender_evaluates(bend):
    item = grid()
    item.location, item.rotation_euler, item.scale = (1, 2, 3), (0.2, -0.1, 0.4), (1.5, 1.0, 2.0)
    bend(item)
    made = body("Floor")
    assert made.motion == "static" and made.path is None
    (shape,) = made.shapes
    assert np.allclose(shape.times, np.arange(25) / 24)
    for frame in (1, 7, 25):
        bpy.context.scene.frame_set(frame)
        seen = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
        world = np.array([seen.matrix_world @ vertex.co for vertex in seen.data.vertices])
        turn = np.array(seen.matrix_world.normalized().to_3x3())
        ours = shape.vertices_at((frame - 1) / 24) @ turn.T + np.array(seen.matrix_world.translation)
        assert np.abs(ours - world).max() < 2e-5
    assert np.abs(np.diff(shape.moving_vertices, axis=0)).max() > 0.005


def test_a_deforming_mesh_that_moves_has_both():
    item = grid()
    shape_keys(item)
    key(item, "location", [(1, (0, 0, 0)), (25, (0, 0, 2.4))])
    made = body("Floor")
    assert made.motion == "kinematic" and np.allclose(made.path.velocity(0.5)[0], (0, 0, 2.4), atol=1e-3)
    assert np.allclose(made.shapes[0].vertices_at(1.0)[0], (-2, -2, 2.0), atol=1e-5)


def test_a_rigid_motion_of_the_vertices_stays_a_rigid_motion():
    item = grid()
    target = add("Target")
    key(target, "location", [(1, (0, 0, 0)), (25, (0, 0, 2.4))])
    item.modifiers.new("Hook", "HOOK").object = target
    item.modifiers["Hook"].vertex_indices_set(range(25))
    made = body("Floor")
    assert made.motion == "kinematic" and made.shapes[0].times is None


@pytest.mark.parametrize("settings", [{"collision_shape": "CONVEX_HULL"}, {"type": "ACTIVE", "kinematic": True}])
def test_what_cannot_deform_is_refused_with_a_cure(settings):
    item = grid(**settings)
    shape_keys(item)
    if item.axion.type == "ACTIVE":
        key(item, "axion.kinematic", [(1, True), (13, False)], "CONSTANT")
        item.modifiers.new("Solidify", "SOLIDIFY")
    with pytest.raises(SceneError, match="Floor: its mesh deforms .* passive with the shape Mesh"):
        extract()


def test_a_number_of_vertices_that_changes_is_named():
    item = grid()
    item.modifiers.new("Array", "ARRAY").count = 1
    animate(item, 'modifiers["Array"].count', [(1, 1), (25, 4)])
    with pytest.raises(SceneError, match="Floor: its number of vertices changes from 25 at the first frame to 50 at "):
        extract()


def test_a_cutter_that_moves_in_a_collection_is_seen():
    item = box("Wall", (4, 4, 1), type="PASSIVE", collision_shape="MESH")
    cutter = box("Cutter", (1, 1, 1), (0.5, 0, 0.5))
    cutter.axion.enabled = False
    key(cutter, "location", [(1, (0.5, 0.2, 0.5)), (25, (1.0, 0.2, 0.5))])
    tools = bpy.data.collections.new("Tools")
    tools.objects.link(cutter)
    modifier = item.modifiers.new("Cut", "BOOLEAN")
    modifier.operand_type, modifier.collection = "COLLECTION", tools
    (shape,) = body("Wall").shapes
    travel = np.ptp(shape.moving_vertices, axis=0)
    assert len(travel) == 16 and np.allclose(sorted(travel[:, 0]), [0.0] * 8 + [0.5] * 8, atol=1e-5)


def test_vertices_that_change_places_are_refused_though_they_are_as_many():
    item = box("Wall", (4, 4, 1), type="PASSIVE", collision_shape="MESH")
    cutter = add("Cutter", box("Tool", (1, 1, 1)).data)
    bpy.data.objects["Tool"].axion.enabled = False
    item.modifiers.new("Cut", "BOOLEAN").object = cutter
    key(cutter, "location", [(1, (-0.5, 0, 0.5)), (25, (0.5, 0, 0.5))])
    with pytest.raises(SceneError, match=r"Wall: its edges join other vertices at frame \d+(\.\d+)? than at the first"):
        extract()


@pytest.mark.parametrize("way", ["object", "collection", "nodes"])
def test_a_shape_that_follows_what_the_simulation_moves_is_told(way):
    item, ball = grid(), box("Ball", location=(0, 0, 2))
    if way == "nodes":
        group = bpy.data.node_groups.new("Hole", "GeometryNodeTree")
        for kind, direction in (("Geometry", "INPUT"), ("Geometry", "OUTPUT"), ("Object", "INPUT")):
            group.interface.new_socket(kind, in_out=direction, socket_type=f"NodeSocket{kind}")
        group.links.new(group.nodes.new("NodeGroupInput").outputs[0], group.nodes.new("NodeGroupOutput").inputs[0])
        group.nodes.new("GeometryNodeObjectInfo").inputs[0].default_value = ball
        item.modifiers.new("Hole", "NODES").node_group = group
    else:
        modifier = item.modifiers.new("Hole", "BOOLEAN")
        modifier.operand_type = way.upper()
        modifier.object, modifier.collection = ball, bpy.data.collections.new("Tools")
        modifier.collection.objects.link(ball)
    told = "Floor: its modifier Hole follows Ball, which the simulation moves: it collides with the shape that it has"
    assert any(warning.startswith(told) for warning in extract().warnings)
    ball.axion.type = "PASSIVE"
    assert not any("Hole" in warning for warning in extract().warnings)


def test_a_floor_bent_by_shape_keys_lifts_a_box():
    item = grid()
    item.shape_key_add(name="Basis")
    for point in item.shape_key_add(name="Up").data:
        point.co.z = 1.2
    for point in item.data.shape_keys.key_blocks["Up"].data[:5]:
        point.co.z = 0.0
    animate(item.data.shape_keys, 'key_blocks["Up"].value', [(1, 0.0), (25, 1.0)])
    box("Box", size=(0.5, 0.5, 0.5), location=(0.5, 0.2, 0.25))
    read = extract()
    trajectory = simulate(read.scene, read.frames, read.fps, SolverConfig(device="cpu"))
    assert np.allclose(trajectory.position[:, 1, 2] - 0.25, 1.2 * trajectory.times, atol=5e-4)


@pytest.mark.parametrize("bend", [shape_keys, simple_deform, armature, wave, lattice])
@pytest.mark.parametrize("shape", ["BOX", "CONVEX_HULL"])
def test_a_free_body_whose_mesh_deforms_is_told(bend, shape):
    item = grid("Jelly", type="ACTIVE", collision_shape=shape)
    item.modifiers.new("Thick", "SOLIDIFY").thickness = 0.5
    bend(item)
    box("Other", location=(9, 0, 0))
    scene = bpy.context.scene
    scene.frame_set(7)
    told = [warning for warning in extract().warnings if "deform" in warning]
    (sentence,) = told
    assert sentence.startswith("Jelly has a mesh that deforms, as at frame ")
    assert sentence.endswith(": its shape stays that of the first frame")
    assert scene.frame_current == 7


def test_a_part_of_a_free_compound_that_deforms_is_told():
    whole = box("Whole", collision_shape="COMPOUND")
    part = box("Part")
    part.parent = whole
    shape_keys(part)
    assert "Part has a mesh that deforms, as at frame 4: its shape stays that of the first frame" in extract().warnings


def test_free_bodies_that_keep_their_shape_are_not_told():
    still, base, other = box("Still"), box("Base", mesh_source="BASE"), box("Other")
    for item in (still, base, other):
        shape_keys(item)
    animate(still.data.shape_keys, 'key_blocks["Bent"].value', [(1, 0.5), (25, 0.5)])
    other.axion.enabled = False
    box("Plain")
    assert not any("deform" in warning for warning in extract().warnings)
