# SPDX-License-Identifier: GPL-3.0-or-later
"""Where new joints stand, which bodies Connect Selected joins, and what the lists select."""

import math

import bpy
import pytest
from blend_scenes import add, box, joint
from mathutils import Matrix, Vector
from test_operators import select

X, Z = Vector((1, 0, 0)), Vector((0, 0, 1))


def frame(item):
    """(place, X axis, Z axis) of an object in the world."""
    bpy.context.view_layer.update()
    matrix = item.matrix_world
    return matrix.translation, matrix.to_3x3() @ X, matrix.to_3x3() @ Z


def close(a, b):
    return (Vector(a) - Vector(b)).length < 1e-5


def new_joint(*items, **options):
    bpy.context.view_layer.update()
    select(*items)
    assert bpy.ops.axion.add_joint(**options) == {"FINISHED"}
    return frame(bpy.context.object)


def test_the_line_between_two_bodies_is_the_axis_of_a_slider(empty_file):
    place, along, up = new_joint(
        box("a", location=(0, 0, 1)), box("b", location=(0, 4, 1)), type="SLIDER", orientation="LINE"
    )
    assert close(place, (0, 2, 1)) and close(along, (0, 1, 0)) and close(up, Z)


@pytest.mark.parametrize(("pivot", "place"), [("ACTIVE", (0, 4, 1)), ("SELECTED", (0, 0, 1)), ("CENTER", (0, 2, 1))])
def test_a_joint_takes_the_place_and_axes_of_the_active_body(empty_file, pivot, place):
    turned = box("b", location=(0, 4, 1))
    turned.rotation_euler = (math.pi / 2, 0, 0)
    found, _, up = new_joint(box("a", location=(0, 0, 1)), turned, pivot_type=pivot, orientation="ACTIVE")
    assert close(found, place) and close(up, (0, -1, 0))


def test_axes_of_the_cursor_anywhere(empty_file):
    empty_file.cursor.matrix = Matrix.Translation((9, 9, 9)) @ Matrix.Rotation(math.pi / 2, 4, "Y")
    place, _, up = new_joint(box("a"), orientation="CURSOR")
    assert close(place, (0, 0, 0)) and close(up, X)
    place, _, up = new_joint(bpy.data.objects["a"], pivot_type="CURSOR")
    assert close(place, (9, 9, 9)) and close(up, X)
    _, _, up = new_joint(bpy.data.objects["a"], pivot_type="CURSOR", orientation="GLOBAL")
    assert close(up, Z)


def test_a_hinge_stands_on_the_active_face(empty_file):
    # The face at +X of a box 1 x 4 x 2, turned about Z by a quarter: it looks along +Y, and its long edge lies along X.
    item = box("a", size=(1, 4, 2), location=(5, 0, 0))
    item.rotation_euler = (0, 0, math.pi / 2)
    middles = [tuple(face.center) for face in item.data.polygons]
    item.data.polygons.active = next(i for i, middle in enumerate(middles) if middle[0] > 0.4)
    place, along, up = new_joint(item, pivot_type="FACE")
    assert close(place, (5, 0.5, 0)) and close(up, (0, 1, 0))
    assert abs(along.dot(X)) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"orientation": "LINE"}, "alone"), ({"pivot_type": "FACE"}, "no faces|no active face")],
)
def test_a_frame_that_does_not_exist_is_refused(empty_file, options, words):
    item = add("hull", bpy.data.meshes.new("empty"), collision_shape="BOX")
    select(item)
    before = len(bpy.data.objects)
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.axion.add_joint(**options)
    assert len(bpy.data.objects) == before


def connect(*items, **options):
    bpy.context.view_layer.update()
    select(*items)
    before = set(bpy.data.objects)
    assert bpy.ops.axion.connect_selected(**options) == {"FINISHED"}
    made = [item.axion_joint for item in set(bpy.data.objects) - before]
    return {frozenset((own.object1.name, own.object2.name)) for own in made}, made


def pairs(*texts):
    return {frozenset(text) for text in texts}


def row(places):
    return [box(name, location=(x, 0, 0)) for name, x in places.items()]


def test_a_chain_by_name_keeps_the_order_of_names(empty_file):
    found, made = connect(*row({"c": 0, "a": 5, "b": 9}), connection_pattern="CHAIN_NAME", type="POINT")
    assert found == pairs("ab", "bc") and {own.type for own in made} == {"POINT"}


def test_the_nearest_are_joined_once(empty_file):
    items = row({"a": 0, "b": 1, "c": 3, "d": 10})
    assert connect(*items, connection_pattern="NEAREST")[0] == pairs("ab", "bc", "cd")
    found, _ = connect(*items, connection_pattern="NEAREST", neighbors=2, max_distance=3.5)
    assert found == pairs("ac"), "what is joined already, or too far away, is left out"


def test_parents_are_joined_to_their_children(empty_file):
    trunk, arm, hand = row({"t": 0, "a": 1, "h": 2})
    between = add("between")
    arm.parent, between.parent, hand.parent = trunk, arm, between
    assert connect(trunk, arm, hand, connection_pattern="PARENT")[0] == pairs("ta", "ah")


def test_nothing_left_to_join_is_said(empty_file):
    items = row({"a": 0, "b": 1})
    connect(*items)
    select(*items)
    with pytest.raises(RuntimeError, match="1 pair is joined already"):
        bpy.ops.axion.connect_selected()
    assert connect(*items, skip_joined=False)[0] == pairs("ab")
    with pytest.raises(RuntimeError, match="finds no pair"):
        bpy.ops.axion.connect_selected(connection_pattern="PARENT")


def test_remove_joints_forgets_what_they_join(empty_file):
    item = joint("j", "HINGE", box("a"), None, break_force=3.0)
    select(item)
    assert bpy.ops.axion.remove_joints() == {"FINISHED"}
    own = item.axion_joint
    assert (own.enabled, own.object1, own.break_force) == (False, None, 3.0)
    with pytest.raises(RuntimeError, match="No joint"):
        bpy.ops.axion.remove_joints()


def test_select_object(empty_file):
    first, second = box("first"), box("second")
    select(first)
    assert bpy.ops.axion.select_object(name="second") == {"FINISHED"}
    assert (first.select_get(), second.select_get()) == (False, True) and bpy.context.object == second
    assert bpy.ops.axion.select_object(name="first", extend=True) == {"FINISHED"}
    assert first.select_get() and second.select_get()
    with pytest.raises(RuntimeError, match="gone"):
        bpy.ops.axion.select_object(name="gone")
    second.hide_set(True)
    with pytest.raises(RuntimeError, match="hidden"):
        bpy.ops.axion.select_object(name="second")


def test_the_shape_of_all_selected_is_changed(empty_file):
    first, second, other = box("first"), box("second"), box("other")
    select(first, second)
    assert bpy.ops.axion.change_shape(type="CAPSULE") == {"FINISHED"}
    assert [item.axion.collision_shape for item in (first, second, other)] == ["CAPSULE", "CAPSULE", "BOX"]


@pytest.mark.parametrize("pattern", ["NEAREST", "CHAIN_DISTANCE"])
def test_pieces_with_their_origins_in_one_place_are_joined_to_their_neighbors(empty_file, pattern):
    """Any pieces were joined: all were equally near."""
    order = [3, 0, 4, 1, 5, 2]
    pieces = {k: box(f"Piece {number}", center=(1.1 * k, 0, 0)) for number, k in enumerate(order)}
    for item in pieces.values():
        item.location, item.rotation_euler, item.scale = (1, 2, 3), (0.1, 0.2, 0.3), (1, 2, 1)
    bpy.context.view_layer.update()
    select(*(pieces[k] for k in reversed(range(6))))
    assert bpy.ops.axion.connect_selected(connection_pattern=pattern, neighbors=2) == {"FINISHED"}
    at = {item: k for k, item in pieces.items()}
    joined = {frozenset((at[one.object1], at[one.object2])) for one in joints_of(empty_file)}
    assert {frozenset((k, k + 1)) for k in range(5)} <= joined
    ends = {frozenset((0, 2)), frozenset((3, 5))}
    assert joined <= {frozenset((k, k + 1)) for k in range(5)} | (ends if pattern == "NEAREST" else set())


def joints_of(scene):
    return [item.axion_joint for item in scene.objects if item.axion_joint.enabled]
