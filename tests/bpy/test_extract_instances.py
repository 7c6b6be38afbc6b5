# SPDX-License-Identifier: GPL-3.0-or-later
"""Instances that Geometry Nodes make: they hold no mesh, so they take no part, and that is said."""

import bpy
import pytest
from axion.solver import SceneError
from blend_scenes import box, extract


def crowd(item, keeps_mesh):
    """Geometry Nodes on an object that make instances of its mesh, and let go of that or not."""
    group = bpy.data.node_groups.new("Crowd", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    given, result, line, spread, join = (
        group.nodes.new(kind)
        for kind in (
            *("NodeGroupInput", "NodeGroupOutput", "GeometryNodeMeshLine", "GeometryNodeInstanceOnPoints"),
            "GeometryNodeJoinGeometry",
        )
    )
    group.links.new(line.outputs[0], spread.inputs[0])
    group.links.new(given.outputs[0], spread.inputs["Instance"])
    group.links.new(spread.outputs[0], join.inputs[0])
    if keeps_mesh:
        group.links.new(given.outputs[0], join.inputs[0])
    group.links.new(join.outputs[0], result.inputs[0])
    item.modifiers.new("Crowd", "NODES").node_group = group


def test_geometry_nodes_that_make_instances_alone():
    crowd(box("Crowd"), keeps_mesh=False)
    with pytest.raises(SceneError, match=r"Crowd: its mesh is empty \(0 vertices\), .* Realize Instances"):
        extract()


@pytest.mark.parametrize("source, told", (("FINAL", 1), ("DEFORM", 0), ("BASE", 0)))
def test_instances_beside_the_mesh_of_geometry_nodes_are_told(source, told):
    crowd(box("Crowd", type="PASSIVE", collision_shape="MESH", mesh_source=source), keeps_mesh=True)
    box("Other", location=(5, 0, 0))
    read = extract()
    sentence = (
        "Crowd: the instances that its Geometry Nodes make take no part, only its mesh does: put the node Realize "
        "Instances at their end"
    )
    assert read.warnings.count(sentence) == told and len(read.scene.bodies) == 2
