# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion that keys of location and rotation cannot hold is refused by Check, by name, and not after the solve."""

import bpy
import pytest
from axion.axion_blender import baking
from blend_scenes import add, box, key, plane


@pytest.fixture
def crate(empty_file):
    """A box that falls, on a parent "Cart" that stands."""
    empty_file.frame_end, empty_file.axion.device = 7, "CPU"
    plane()
    item, cart = box("Crate", location=(0, 0, 3)), add("Cart")
    item.parent = cart
    return item


def found():
    """(problems, warnings on the parent's scale) of Check."""
    problems, warnings = baking.check(bpy.context)
    return problems, [warning for warning in warnings if "differs by axis" in warning]


def refused_before_the_solve(match, monkeypatch):
    monkeypatch.setattr(baking.solving, "solve", lambda *_, **__: pytest.fail("it was solved"))
    with pytest.raises(RuntimeError, match=match):
        bpy.ops.axion.bake()


@pytest.mark.parametrize("on_parent", [True, False])
def test_a_constraint_that_scales_is_named(crate, monkeypatch, on_parent):
    if not on_parent:
        crate.parent = None
    target = add("Target")
    target.scale = 1.5, 1.5, 1.5
    crate.constraints.new("COPY_ROTATION").target = target
    constraint = crate.constraints.new("COPY_SCALE")
    constraint.name, constraint.target = "Grow", target
    (problem,) = found()[0]
    assert problem.startswith("Crate: its constraints (Grow) change its size by 1.2 (limit 0.001)")
    refused_before_the_solve("Grow", monkeypatch)
    bpy.context.scene.axion.output = "POINTS"
    assert found() == ([], [])
    bpy.context.scene.axion.output, constraint.mute = "KEYFRAMES", True
    assert found() == ([], [])


def test_a_parent_whose_scale_is_animated_is_named(crate, monkeypatch):
    cart = crate.parent
    key(cart, "scale", [(1, (1, 1, 1)), (7, (1, 1, 1.6))])
    (problem,) = found()[0]
    assert problem.startswith("Crate: the scale of its parent Cart is animated and changes by 0.6 at frame 7")
    refused_before_the_solve("Cart is animated", monkeypatch)
    cart.animation_data_clear()
    key(cart, "scale", [(1, (2, 2, 2)), (7, (2, 2, 2))])
    assert found() == ([], [])
    assert bpy.ops.axion.clear_bake() == {"CANCELLED"}


def test_a_vertex_as_parent_hands_no_scale_on(crate):
    cart = box("Cart of vertices", type="PASSIVE")
    cart.axion.enabled = False
    key(cart, "scale", [(1, (1, 1, 1)), (7, (1, 1, 1.6))])
    crate.parent, crate.parent_type, crate.parent_vertices = cart, "VERTEX", (1, 0, 0)
    assert found() == ([], [])
    assert bpy.ops.axion.bake() == {"FINISHED"}


def test_a_parent_stretched_along_one_axis_is_told(crate):
    assert found() == ([], [])
    crate.parent.scale = 2.0, 1.0, 1.0
    (warning,) = found()[1]
    assert warning.startswith("Crate: the scale of its parent Cart differs by axis")
    crate.axion.type = "PASSIVE"
    assert found()[1] == []


def test_bodies_scaled_along_one_axis_are_held(crate):
    crate.scale, crate.delta_scale, crate.rotation_euler = (2.0, 1.0, 0.5), (1.0, 1.0, 1.5), (0.3, 0.2, 0.1)
    crate.parent.scale = -1.5, -1.5, -1.5
    crate.axion.angular_velocity = 3.0, 2.0, 1.0
    assert found() == ([], [])
    assert bpy.ops.axion.bake() == {"FINISHED"}
