# SPDX-License-Identifier: GPL-3.0-or-later
"""The geometry nodes that play baked points: they need no handler and no extension, so they render anywhere.

The mesh of the object has a vertex for each body, with attributes ``prototype`` and ``scale``, and where some body is
hidden ``hide_viewport`` and ``hide_render``.  A second object holds the motion: its mesh has a vertex for each body and
state, state after state, at the body's place, and the attribute ``rotation``; a frame has one state or several.  The
scene's time picks the state; between two states both are mixed, which costs the double, so times of states take a way
of their own.
"""

import bpy

from .hiding import FLAGS

PROTOTYPE, SCALE, ROTATION = "prototype", "scale", "rotation"


class _Builder:
    """Puts nodes into a tree, by the names of their sockets."""

    def __init__(self, tree):
        self.tree = tree

    def node(self, kind, inputs=None, **settings):
        made = self.tree.nodes.new(kind)
        for name, value in settings.items():
            setattr(made, name, value)
        for name, value in (inputs or {}).items():
            socket = made.inputs[name] if isinstance(name, int) else self._socket(made.inputs, name)
            if isinstance(value, bpy.types.NodeSocket):
                self.tree.links.new(value, socket)
            else:
                socket.default_value = value
        return made

    def out(self, kind, inputs=None, name=None, **settings):
        made = self.node(kind, inputs, **settings)
        return self._socket(made.outputs, name)

    @staticmethod
    def _socket(sockets, name):
        return next(socket for socket in sockets if socket.enabled and name in (None, socket.name))

    def math(self, operation, *values):
        return self.out("ShaderNodeMath", dict(enumerate(values)), operation=operation)


def build(name, bodies, states, frame_start, motion, prototypes, per_frame=1, some_hidden=False):
    """A node group of that name.  bodies, states: their numbers, states beyond the first; motion: object; prototypes:
    collection, whose objects count by name; per_frame: states a frame; some_hidden: whether the attributes of
    ``hiding.FLAGS`` are there.
    """
    tree = bpy.data.node_groups.new(name, "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    make = _Builder(tree)
    points = make.out("NodeGroupInput", name="Geometry")
    time = make.out("GeometryNodeInputSceneTime", name="Frame")
    state = make.math("SUBTRACT", time, float(frame_start))
    if per_frame > 1:
        state = make.math("MULTIPLY", state, float(per_frame))
    state = make.math("MINIMUM", make.math("MAXIMUM", state, 0.0), float(states))
    first = make.math("FLOOR", state)
    second = make.math("MINIMUM", make.math("ADD", first, 1.0), float(states))
    part = make.math("SUBTRACT", state, first)
    geometry = make.out("GeometryNodeObjectInfo", {"Object": motion}, "Geometry")
    children = make.out(
        "GeometryNodeCollectionInfo",
        {"Collection": prototypes, "Separate Children": True, "Reset Children": True},
    )
    shown = {"Instance": children, "Scale": _attribute(make, "FLOAT_VECTOR", SCALE)}
    if len(prototypes.objects) > 1:  # picking among one takes half the time of a frame
        shown |= {"Pick Instance": True, "Instance Index": _attribute(make, "INT", PROTOTYPE)}
    if some_hidden:
        on_screen, in_render = (_attribute(make, "BOOLEAN", flag) for flag in FLAGS)
        ways = {"Switch": make.out("GeometryNodeIsViewport"), "False": in_render, "True": on_screen}
        hidden = make.out("GeometryNodeSwitch", ways, input_type="BOOLEAN")
        shown["Selection"] = make.out("FunctionNodeBooleanMath", {0: hidden}, operation="NOT")
    place, turn = make.out("GeometryNodeInputPosition"), _attribute(make, "QUATERNION", ROTATION)
    number = make.out("GeometryNodeInputIndex")

    def sampled(kind, field, at):
        # In whole numbers: single precision counts to 16 million only.
        index = make.out("FunctionNodeIntegerMath", {0: at, 1: bodies, 2: number}, operation="MULTIPLY_ADD")
        inputs = {"Geometry": geometry, "Value": field, "Index": index}
        return make.out("GeometryNodeSampleIndex", inputs, data_type=kind, domain="POINT")

    def mixed(kind, values):
        inputs = {"Factor": part, "A": values[0], "B": values[1]}
        return make.out("ShaderNodeMix", inputs, "Result", data_type=kind)

    def instances(position, rotation):
        moved = make.out("GeometryNodeSetPosition", {"Geometry": points, "Position": position})
        return make.out("GeometryNodeInstanceOnPoints", {"Points": moved, "Rotation": rotation, **shown})

    places = [sampled("FLOAT_VECTOR", place, at) for at in (first, second)]
    turns = [sampled("QUATERNION", turn, at) for at in (first, second)]
    whole = instances(places[0], turns[0])
    between = instances(mixed("VECTOR", places), mixed("ROTATION", turns))
    switch = {"Switch": make.math("GREATER_THAN", part, 0.0), "False": whole, "True": between}
    result = make.out("GeometryNodeSwitch", switch, input_type="GEOMETRY")
    make.node("NodeGroupOutput", {"Geometry": result})
    for column, node in enumerate(tree.nodes):
        node.location = 180.0 * (column % 8), -180.0 * (column // 8)
    return tree


def _attribute(make, kind, name):
    return make.out("GeometryNodeInputNamedAttribute", {"Name": name}, "Attribute", data_type=kind)
