# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves, texts, surfaces and metaballs that deform become colliders that deform, as meshes do."""

import bpy
import numpy as np
import pytest
from axion.solver import SceneError
from blend_scenes import add, body, extract, key
from test_extract_deforming import animate


@pytest.fixture(autouse=True)
def second():
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 25


def passive(item):
    item.name = "Rail"
    own = item.axion
    own.enabled, own.type, own.collision_shape = True, "PASSIVE", "MESH"
    return item


def pipe():
    bpy.ops.curve.primitive_nurbs_path_add(radius=2)
    bpy.context.object.data.bevel_depth = 0.3
    return passive(bpy.context.object)


def text():
    bpy.ops.object.text_add()
    bpy.context.object.data.extrude = 0.2
    return passive(bpy.context.object)


def surface():
    bpy.ops.surface.primitive_nurbs_surface_sphere_add()
    return passive(bpy.context.object)


def wave(item):
    item.modifiers.new("Wave", "WAVE").height = 0.3


def hook(item):
    target = add("Target")
    key(target, "location", [(1, (0, 0, 0)), (25, (0, 0, 1))])
    modifier = item.modifiers.new("Hook", "HOOK")
    modifier.object = target
    modifier.vertex_indices_set(range(3))


def nodes(item):
    """Geometry Nodes that lift the points by x times the scene's time."""
    group = bpy.data.node_groups.new("Lift", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    given, result, place, combined, time, product, split = (
        group.nodes.new(kind)
        for kind in (
            *("NodeGroupInput", "NodeGroupOutput", "GeometryNodeInputPosition", "ShaderNodeCombineXYZ"),
            *("GeometryNodeInputSceneTime", "ShaderNodeMath", "ShaderNodeSeparateXYZ"),
        )
    )
    lift = group.nodes.new("GeometryNodeSetPosition")
    product.operation = "MULTIPLY"
    for source, target in (
        (given.outputs[0], lift.inputs["Geometry"]),
        (place.outputs[0], split.inputs[0]),
        (split.outputs["X"], product.inputs[0]),
        (time.outputs["Seconds"], product.inputs[1]),
        (product.outputs[0], combined.inputs["Z"]),
        (combined.outputs[0], lift.inputs["Offset"]),
        (lift.outputs[0], result.inputs[0]),
    ):
        group.links.new(source, target)
    item.modifiers.new("Lift", "NODES").node_group = group


def shape_keys(item):
    item.shape_key_add(name="Basis")
    for point in item.shape_key_add(name="Up").data[:2]:
        point.co.z += 0.7
    animate(item.data.shape_keys, 'key_blocks["Up"].value', [(1, 0.0), (25, 1.0)])


def depth(item):
    for frame, value in ((1, 0.2), (25, 0.6)):
        item.data.bevel_depth = value
        item.data.keyframe_insert("bevel_depth", frame=frame)


def thickness(item):
    for frame, value in ((1, 0.2), (25, 0.6)):
        item.data.extrude = value
        item.data.keyframe_insert("extrude", frame=frame)


def ring():
    bpy.ops.curve.primitive_bezier_circle_add(radius=0.3)
    return bpy.context.object


def bevel_object(item):
    item.data.bevel_mode, item.data.bevel_object = "OBJECT", ring()
    key(item.data.bevel_object, "scale", [(1, (1, 1, 1)), (25, (2, 2, 2))])


def taper_object(item):
    item.data.taper_object = ring()
    shape_keys(item.data.taper_object)


@pytest.mark.parametrize(
    ("make", "bend"),
    [
        *((pipe, wave), (pipe, hook), (pipe, nodes), (pipe, shape_keys), (pipe, depth)),
        *((pipe, bevel_object), (pipe, taper_object)),
        *((text, thickness), (text, nodes), (surface, wave), (surface, shape_keys)),
    ],
)
def test_vertices_are_those_that_blender_evaluates(make, bend):
    item = make()
    item.location, item.rotation_euler = (1, 2, 3), (0.2, -0.1, 0.4)
    bend(item)
    (shape,) = body("Rail").shapes
    assert np.abs(np.diff(shape.moving_vertices, axis=0)).max() > 0.005
    for frame in (1, 7, 25):
        bpy.context.scene.frame_set(frame)
        seen = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
        local = np.array([vertex.co for vertex in seen.to_mesh().vertices])
        seen.to_mesh_clear()
        assert np.abs(shape.vertices_at((frame - 1) / 24) - local).max() < 2e-5


def test_a_curve_along_what_the_simulation_moves_is_told():
    item, other = pipe(), ring()
    item.data.taper_object = other
    other.name, other.axion.enabled, other.data.bevel_depth = "Ring", True, 0.1
    told = "Rail: its curve follows Ring, which the simulation moves"
    assert any(warning.startswith(told) for warning in extract().warnings)


def test_a_metaball_whose_vertices_change_is_named_with_their_numbers():
    bpy.ops.object.metaball_add()
    item = passive(bpy.context.object)
    for frame, value in ((1, 0.6), (25, 0.1)):
        item.data.threshold = value
        item.data.keyframe_insert("threshold", frame=frame)
    bpy.context.scene.frame_set(1)
    seen = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    count = len(seen.to_mesh().vertices)
    seen.to_mesh_clear()
    with pytest.raises(SceneError, match=f"Rail: its number of vertices changes from {count} at the first frame to "):
        extract()
