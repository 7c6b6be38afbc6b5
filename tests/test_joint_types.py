# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of joint types against the freedoms that define each joint."""

import ast
from pathlib import Path

import numpy as np
import pytest
from axion.solver import JOINT_TYPES, Axis, Joint
from axion.solver.joint_types import AXES

SOLVER = Path(__file__).resolve().parent.parent / "solver"

FREEDOMS = {
    "fixed": set(),
    "ball": {"rx", "ry", "rz"},
    "hinge": {"rz"},
    "slider": {"x"},
    "piston": {"x", "rx"},
    "generic": set(AXES),
    "distance": set(AXES),
    "rope": set(AXES),
}


@pytest.mark.parametrize("kind", FREEDOMS)
def test_what_each_type_leaves_free(kind):
    joint = Joint("J", kind, "A", "B")
    assert {name for name in AXES if not joint.is_locked(name)} == FREEDOMS[kind]
    assert set(AXES) - JOINT_TYPES[kind].locked == FREEDOMS[kind]


def test_the_table_holds_these_types_and_no_others():
    assert set(JOINT_TYPES) == set(FREEDOMS)
    assert {kind for kind, entry in JOINT_TYPES.items() if entry.anchors} == {"distance", "rope"}
    assert {kind for kind, entry in JOINT_TYPES.items() if entry.slack} == {"rope"}


def test_a_type_is_a_row_and_nothing_else_asks_for_its_name():
    # guide.py makes a generic joint of its own.
    naming = {
        path.name
        for path in SOLVER.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in JOINT_TYPES
    }
    assert naming == {"joint_types.py", "guide.py"}


def test_no_two_types_claim_the_same_constraint_of_blender():
    names = [entry.blender for entry in JOINT_TYPES.values() if entry.blender]
    assert len(names) == len(set(names)) == 6


def test_an_axis_adds_to_what_the_type_leaves_free():
    joint = Joint("J", "hinge", "A", "B", axes={"rz": Axis(lower=-1.0, drive="velocity", target=2.0)})
    assert joint.axis("rz").lower == -1.0
    assert joint.axis("rx") == Axis(locked=True)
    assert Joint("J", "generic", "A", "B", axes={"y": Axis(locked=True)}).is_locked("y")


def test_what_the_type_locks_stays_locked():
    joint = Joint("J", "hinge", "A", "B", axes={"x": Axis(lower=-1.0)})
    assert joint.axis("x") == Axis(locked=True, lower=-1.0)


def test_an_axis_that_does_not_exist_is_named():
    with pytest.raises(ValueError, match="J: axis 'z2'"):
        Joint("J", "ball", "A", "B").axis("z2")


def test_length_of_a_rope_is_the_distance_of_its_anchors_unless_given():
    anchors = ((0, 0, 0), (0, 3, -4))
    assert Joint("J", "rope", "A", None, anchors=anchors).rest_length() == pytest.approx(5.0)
    assert Joint("J", "rope", "A", None, anchors=anchors, length=6.0).rest_length() == 6.0


def test_target_of_a_drive_over_time():
    assert Axis(target=3).target_at(7.0) == (3.0, 0.0)
    axis = Axis(target=(np.array([1.0, 2.0, 4.0]), [0.0, 10.0, 10.0]))
    # Linear in between (slope 10 / s, then 0), constant outside.
    for time, value, rate in ((0.0, 0, 0), (1.0, 0, 10), (1.5, 5, 10), (2.0, 10, 0), (3.0, 10, 0), (9.0, 10, 0)):
        assert axis.target_at(time) == pytest.approx((value, rate))
