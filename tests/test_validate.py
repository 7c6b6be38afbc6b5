# SPDX-License-Identifier: GPL-3.0-or-later
"""validate: each kind of problem is found, names object, value and cure, and nothing else is said."""

import numpy as np
import pytest
import scenes
from axion.solver import (
    Axis,
    Body,
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Joint,
    MotionPath,
    Plane,
    Scene,
    SceneError,
    Sphere,
    TriangleMesh,
    validate,
)
from axion.solver.rotations import matrices

SQUARE = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
BALL = Sphere(0.1)
UPRIGHT = [0, 0, 0, 1]
NAN, INF = float("nan"), float("inf")
TURNED = np.eye(3) + 4.0 * np.outer((0.6, 0.0, 0.8), (0.6, 0.0, 0.8))
FLAT = matrices(np.array([0.1, 0.5, -0.7, 0.5]))
OPEN = TriangleMesh(SQUARE, [[0, 1, 2]])
LINE = np.outer((0.1, 0.2, 0.3), (1.0, 1.1, 1.3))
UNFOLDS = TriangleMesh(LINE, [[0, 1, 2]], times=(0, 1), moving_vertices=[LINE, np.eye(3)])


def body(shapes=(BALL,), **options):
    return Body("Ball", shapes, **options)


def of_body(thing):
    scene = Scene()
    scene.add(thing)
    return [str(problem) for problem in validate(scene)]


def of_joint(*arguments, **options):
    scene = Scene()
    for name, motion in (("A", "dynamic"), ("B", "dynamic"), ("Wall", "static"), ("Paddle", "kinematic")):
        scene.add(Body(name, [Sphere(0.1)], motion))
    scene.add(Joint("Link", *arguments, **options))
    return [str(problem) for problem in validate(scene)]


def path(times=(0.0, 1.0), position=((0, 0, 0), (1, 0, 0)), orientation=(UPRIGHT, UPRIGHT)):
    return MotionPath(times, position, orientation)


BODIES = {
    "position is NaN": (body(position=(0, NAN, 0)), "position[1] is nan"),
    "position is infinite": (body(position=(0, 0, INF)), "position[2] is inf"),
    "position has two numbers": (body(position=(0, 0)), "position has shape (2,)"),
    "position is no vector": (body(position="above"), "position is 'above'"),
    "velocity is NaN": (body(linear_velocity=(NAN, 0, 0)), "linear_velocity[0] is nan"),
    "belt is NaN": (body(surface_velocity=(0, NAN, 0)), "surface_velocity[1] is nan"),
    "spin is infinite": (body(angular_velocity=(0, 0, -INF)), "angular_velocity[2] is -inf"),
    "orientation is zero": (body(orientation=(0, 0, 0, 0)), "quaternion of length 0"),
    "orientation is denormal": (body(orientation=(0, 0, 0, 1e-310)), "quaternion of length 0"),
    "orientation is long": (body(orientation=(0, 0, 0, 1.00001)), "quaternion of length 1.00001"),
    "orientation is NaN": (body(orientation=(0, 0, NAN, 1)), "orientation[2] is nan"),
    "motion": (body(motion="active"), "motion is 'active': choose one of dynamic, static, kinematic"),
    "mass is zero": (body(mass=0.0), "mass is 0 kg: it must be greater than 0"),
    "mass is negative": (body(mass=-2), "mass is -2 kg"),
    "mass is NaN": (body(mass=NAN), "mass is nan kg"),
    "mass is infinite": (body(mass=INF), "mass is inf kg"),
    "mass is text": (body(mass="heavy"), "mass is 'heavy'"),
    "density": (body(density=0.0), "density is 0 kg/m^3"),
    "density is missing": (body(density=None), "density is None"),
    "centre": (body(center_of_mass=(0, NAN, 0)), "center_of_mass[1] is nan"),
    "inertia shape": (body(inertia=(1, 1, 1)), "inertia has shape (3,)"),
    "inertia not symmetric": (body(inertia=np.eye(3) + np.eye(3, k=1)), "not symmetric"),
    "inertia singular": (body(inertia=np.diag([1.0, 1.0, 0.0])), "principal moment of 0"),
    "inertia of no body": (
        body(inertia=np.diag([1.0, 5.0, 1.5])),
        "Ball: inertia has principal moments of 1, 1.5 and 5 kg m^2: no distribution of mass has one that is more than"
        " the sum of the other two",
    ),
    "inertia of no body, turned": (body(inertia=TURNED), "principal moments of 1, 1 and 5 kg m^2"),
    "inertia negative": (body(inertia=np.diag([1.0, -2.0, 1.0])), "principal moment of -2"),
    "friction": (body(friction=-0.1), "friction is -0.1: it must be at least 0"),
    "restitution": (body(restitution=1.5), "restitution is 1.5: it must be from 0 to 1"),
    "linear damping": (body(linear_damping=-1), "linear_damping is -1 1/s"),
    "angular damping": (body(angular_damping=NAN), "angular_damping is nan"),
    "group": (body(collision_group=-1), "collision_group is -1"),
    "mask": (body(collision_mask=2**32), "collision_mask is 4294967296"),
    "mask is no integer": (body(collision_mask=1.0), "collision_mask is 1.0"),
    "no shapes": (body([]), "it has no shapes"),
    "no shapes but a mass": (body([], mass=1.0), "it has no shapes"),
    "shapes is no list": (body(None), "shapes is None"),
    "shape is no shape": (body(["ball"]), "shape 0 is 'ball'"),
    "box": (body([Box((1, 0, 1))]), "half_extents of shape 0 (Box) are (1, 0, 1) m"),
    "box of one number": (body([Box(1.0)]), "half_extents of shape 0 (Box) has shape ()"),
    "sphere": (body([Box((1, 1, 1)), Sphere(-1)]), "radius of shape 1 (Sphere) is -1 m"),
    "capsule": (body([Capsule(0.1, -0.1)]), "half_height of shape 0 (Capsule) is -0.1 m"),
    "cylinder": (body([Cylinder(0.1, 0.0)]), "half_height of shape 0 (Cylinder) is 0 m"),
    "cone": (body([Cone(0.0, 1.0)]), "radius of shape 0 (Cone) is 0 m"),
    "shape position": (body([Sphere(1.0, (0, 0, NAN))]), "position of shape 0 (Sphere)[2] is nan"),
    "shape orientation": (body([Sphere(1.0, (0, 0, 0), (1, 1, 1, 1))]), "orientation of shape 0 (Sphere)"),
    "plane falls": (body([Plane()]), 'motion is "dynamic"'),
    "plane moves": (body([Plane()], motion="kinematic"), 'motion is "kinematic"'),
    "hull is flat": (body([ConvexHull(SQUARE)]), "coplanar"),
    "hull is empty": (body([ConvexHull([])]), "vertices of shape 0 (ConvexHull) has shape (0,)"),
    "hull is NaN": (body([ConvexHull([*SQUARE, [0, 0, NAN]])]), "vertices of shape 0 (ConvexHull)[4, 2] is nan"),
    "mesh index": (body([TriangleMesh(SQUARE, [[0, 1, 4]])]), "name vertex 4, but there are 4: use 0 to 3"),
    "mesh index is negative": (body([TriangleMesh(SQUARE, [[0, 1, -1]])]), "name vertex -1"),
    "mesh index is a fraction": (body([TriangleMesh(SQUARE, [[0, 1, 1.5]])]), "whole vertex numbers"),
    "mesh is empty": (body([TriangleMesh(SQUARE, [])]), "at least one row"),
    "mesh is open": (body([OPEN]), "the mesh is open"),
    "mesh is open but has a mass": (body([OPEN], mass=1.0), "use a ConvexHull"),
    "density makes an endless mass": (body([Sphere(1e3)], density=1e305), "not all positive and finite"),
    "sphere is too large": (body([Sphere(1e200)]), "radius of shape 0 (Sphere) is 1e+200 m: it must be from 1e-12 to"),
    "sphere is too small": (body([Sphere(1e-100)]), "radius of shape 0 (Sphere) is 1e-100 m: it must be from 1e-12 to"),
    "hull is too large": (body([ConvexHull(1e150 * np.eye(4)[:, :3])]), "reach 1e+150 m"),
    "mesh is too small": (body([TriangleMesh(1e-90 * np.eye(3), [[0, 1, 2]])]), "reach 1e-90 m"),
    "mesh of points": (
        body([TriangleMesh(SQUARE, [[0, 0, 1], [2, 2, 2]])], motion="static"),
        "none of the 2 triangles of shape 0",
    ),
    "mesh of a line": (
        body([TriangleMesh(LINE, [[0, 1, 2]])], motion="static"),
        "(TriangleMesh) has an area, so that nothing",
    ),
    "mesh that stays a line": (
        body([TriangleMesh(LINE, [[0, 1, 2]], times=(0, 1), moving_vertices=[LINE, 2.0 * LINE])], motion="static"),
        "none of the 1 triangles",
    ),
    "path of a static body": (body(motion="static", path=path()), 'motion is "static" and there is a path'),
    "path is no path": (body(path=[0, 1]), "path is [0, 1]"),
    "path is empty": (body(path=MotionPath([], np.zeros((0, 3)), np.zeros((0, 4)))), "path has 0 samples"),
    "path stands": (body(path=path((1.0, 1.0))), "1 s is followed by 1 s"),
    "path runs backwards": (body(path=path((1.0, 0.0))), "1 s is followed by 0 s"),
    "path time is NaN": (body(path=path((0.0, NAN))), "path.times[1] is nan"),
    "path positions are few": (body(path=path(position=[[0, 0, 0]])), "path.position has shape (1, 3)"),
    "path orientations are matrices": (body(path=path(orientation=np.eye(3))), "path.orientation has shape (3, 3)"),
    "path orientation is long": (body(path=path(orientation=[UPRIGHT, [0, 0, 0, 2]])), "quaternion of length 2"),
}
ENDS = ("A", "B")
JOINTS = {
    "kind": (("weld", *ENDS), {}, "kind is 'weld': choose one of fixed, ball"),
    "unknown body": (("ball", "A", "C"), {}, "body_b is 'C', which is no body"),
    "body is no name": (("ball", ["A"], "B"), {}, "body_a is ['A'], which is no body"),
    "joined to itself": (("ball", "A", "A"), {}, "body_a and body_b are both 'A'"),
    "world to world": (("ball", None, None), {}, "body_a and body_b are both the world"),
    "nothing can move": (("ball", "Wall", "Paddle"), {}, "neither Wall nor Paddle can move freely"),
    "static to world": (("ball", "Wall", None), {}, "neither Wall nor the world can move freely"),
    "position": (("ball", *ENDS, (0, NAN, 0)), {}, "position[1] is nan"),
    "orientation": (("ball", *ENDS, (0, 0, 0), (0, 0, 0, 0)), {}, "quaternion of length 0"),
    "compliance": (("ball", *ENDS), {"compliance": -1e-3}, "compliance is -0.001 m/N"),
    "angular compliance": (("ball", *ENDS), {"angular_compliance": INF}, "angular_compliance is inf"),
    "break force": (("ball", *ENDS), {"break_force": 0.0}, "break_force is 0 N"),
    "break torque": (("ball", *ENDS), {"break_torque": NAN}, "break_torque is nan"),
    "no anchors": (("distance", *ENDS), {}, "a distance has no anchors"),
    "one anchor": (("rope", *ENDS), {"anchors": [[0, 0, 0]]}, "anchors has shape (1, 3)"),
    "anchor is NaN": (("rope", *ENDS), {"anchors": [[0, 0, 0], [0, NAN, 0]]}, "anchors[1, 1] is nan"),
    "length": (("rope", *ENDS), {"anchors": [[0, 0, 0], [0, 0, 1]], "length": 0.0}, "length is 0 m"),
    "anchors in one place": (("distance", *ENDS), {"anchors": np.ones((2, 3))}, "same point"),
    "anchors on a hinge": (("hinge", *ENDS), {"anchors": np.eye(3)[:2]}, "belong to distance and rope"),
    "axes of a rope": (
        ("rope", *ENDS),
        {"anchors": [[0, 0, 0], [0, 0, 1]], "axes": {"x": Axis()}},
        "a rope has no axes",
    ),
    "axis name": (("generic", *ENDS), {"axes": {"w": Axis()}}, "the name of an axis is 'w'"),
    "axis is no axis": (("generic", *ENDS), {"axes": {"x": 3}}, "axis x is 3"),
    "axes is no dictionary": (("generic", *ENDS), {"axes": [Axis()]}, "axes is ["),
    "driven axis that the kind locks": (
        ("hinge", *ENDS),
        {"axes": {"rx": Axis(drive="velocity")}},
        "a hinge locks this axis",
    ),
}
AXES = {
    "limits": (Axis(lower=1.0, upper=-1.0), "lower 1 is above upper -1: swap them"),
    "limit is NaN": (Axis(upper=NAN), "upper is nan"),
    "limits leave nothing": (Axis(lower=INF), "leave nothing"),
    "stiffness": (Axis(stiffness=-1), "stiffness is -1"),
    "damping": (Axis(damping=-1), "damping is -1"),
    "damping is infinite": (Axis(damping=INF), "damping is inf"),
    "rest": (Axis(rest=NAN), "rest is nan"),
    "friction": (Axis(friction=-1), "friction is -1"),
    "max_force": (Axis(max_force=-1), "max_force is -1"),
    "drive": (Axis(drive="motor"), "drive is 'motor': choose one of position, velocity"),
    "target": (Axis(drive="position", target=NAN), "target is nan"),
    "target is text": (Axis(drive="position", target="open"), "target is 'open'"),
    "target series": (Axis(drive="position", target=([0, 1], [0])), "one value for each time"),
    "target series is NaN": (Axis(drive="position", target=([0, 1], [0, NAN])), "target holds NaN"),
    "target times": (Axis(drive="position", target=([0, 0], [0, 1])), "do not increase"),
    "locked": (Axis(locked=1), "locked is 1"),
    "locked and driven": (Axis(locked=True, drive="velocity"), "it is locked"),
    "locked and sprung": (Axis(locked=True, stiffness=5.0), "it is locked"),
    "locked outside of its limits": (Axis(locked=True, lower=0.1, upper=0.2), "locked at 0, which its limits 0.1 and"),
    "target without a drive": (Axis(stiffness=5.0, target=0.5), "target is 0.5, but no drive goes there"),
    "target series without a drive": (Axis(target=([0, 1], [0, 2])), "but no drive goes there"),
    "max_force without a drive": (Axis(damping=2.0, max_force=3.0), "max_force is 3, but there is no drive"),
    "rest without a spring": (Axis(damping=2.0, rest=0.5), "rest is 0.5, but no spring is relaxed there: give a"),
    "rest beside a position drive": (Axis(drive="position", stiffness=2.0, rest=0.5), "say where the drive goes"),
}


@pytest.mark.parametrize("case", BODIES)
def test_body(case):
    thing, words = BODIES[case]
    (problem,) = of_body(thing)
    assert problem.startswith("Ball: ")
    assert words in problem


@pytest.mark.parametrize("case", JOINTS)
def test_joint(case):
    arguments, options, words = JOINTS[case]
    (problem,) = of_joint(*arguments, **options)
    assert problem.startswith("Link: ")
    assert words in problem


def test_axes_with_nothing_unused():
    """A spring beside a velocity drive keeps its rest; a lock may have limits around it, a drive its strength."""
    for axis in (
        Axis(drive="velocity", target=2.0, max_force=3.0, stiffness=5.0, rest=0.5),
        Axis(locked=True, lower=0.0, upper=0.2),
        Axis(drive="position", target=([0, 1], [0, 2]), max_force=3.0),
        Axis(stiffness=5.0, rest=0.5),
    ):
        assert of_joint("generic", *ENDS, axes={"ry": axis}) == []


@pytest.mark.parametrize("case", AXES)
def test_axis(case):
    axis, words = AXES[case]
    (problem,) = of_joint("generic", *ENDS, axes={"ry": axis})
    assert problem.startswith("Link: axis ry: ")
    assert words in problem


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gravity": (0, 0, NAN)}, "gravity[2] is nan"),
        ({"friction_combine": "sum"}, "friction_combine is 'sum'"),
        ({"restitution_combine": None}, "restitution_combine is None"),
        ({"bodies": [Sphere(1.0)]}, "which is no Body"),
        ({"joints": None}, "joints are None"),
    ],
)
def test_scene(options, words):
    (problem,) = validate(Scene(**options))
    assert problem.object_name == "Scene"
    assert words in problem.message


def test_what_has_no_name_is_called_by_its_number():
    scene = Scene()
    scene.add(Body("First", [Sphere(0.1)]))
    scene.add(Body("", [Sphere(0.1)]))
    scene.add(Joint("", "ball", None, "First"))
    told = [str(problem) for problem in validate(scene)]
    assert [text.split(":")[0] for text in told] == ["body number 2", "joint number 1"]


@pytest.mark.parametrize("name", ["", None, 3])
def test_nameless_things(name):
    (problem,) = of_body(Body(name, [Sphere(0.1)]))
    assert f"the name of a body is {name!r}" in problem
    scene = scenes.falling()
    scene.add(Joint(name, "ball", "Body", None))
    (problem,) = validate(scene)
    assert f"the name of a joint is {name!r}" in problem.message


def test_a_name_given_three_times_is_one_problem():
    scene = Scene()
    for name in ("A", "B", "A", "A"):
        scene.add(Body(name, [Sphere(0.1)]))
    (problem,) = validate(scene)
    assert str(problem) == "A: 3 things share this body name: give each its own"
    scene = scenes.door()
    scene.joints[1].name = scene.joints[0].name
    (problem,) = validate(scene)
    assert "joint name" in problem.message


def test_all_problems_at_once_and_the_first_in_the_error():
    scene = Scene()
    scene.add(Body("One", [Sphere(-1.0)], friction=-1.0))
    scene.add(Body("Two", [Sphere(1.0)], mass=0.0))
    scene.add(Joint("Three", "ball", "One", "Four"))
    problems = validate(scene)
    assert [problem.object_name for problem in problems] == ["One", "One", "Two", "Three"]
    with pytest.raises(SceneError) as caught:
        scene.check()
    assert str(caught.value) == f"{problems[0]} (and 3 more)"
    assert caught.value.problems == problems
    assert isinstance(caught.value, ValueError)


def test_one_problem_is_the_whole_message():
    scene = Scene()
    scene.add(Body("One", [Sphere(1.0)], mass=0.0))
    with pytest.raises(SceneError, match=r"^One: mass is 0 kg: it must be greater than 0$"):
        scene.check()


@pytest.mark.parametrize(
    "thing",
    [
        body(mass=np.float32(2.0), friction=0, restitution=1),
        body(collision_group=0, collision_mask=np.int64(0xFFFFFFFF)),
        body([Capsule(0.1, 0.0)]),
        body([], mass=1.0, inertia=np.eye(3)),
        body([OPEN], mass=1.0, inertia=np.eye(3), center_of_mass=(0, 0, 0)),
        body(inertia=np.diag([1.0, 1.0, 2.0])),  # a flat plate
        body(inertia=(FLAT @ np.diag([0.3, 1.0, 1.3]) @ FLAT.T).astype(np.float32)),
        body(inertia=1e308 * np.diag([0.8, 0.8, 1.6])),
        body([OPEN], motion="static"),
        body([UNFOLDS], motion="static"),
        body([TriangleMesh(SQUARE, [[0, 1, 1]] * 70 + [[0, 1, 2]])], motion="static"),
        body([OPEN], motion="kinematic", path=path()),
        body([], motion="static"),
        body([Plane(), Sphere(1.0)], motion="static"),
        body(path=path()),
        body(path=MotionPath([0.0], [[0, 0, 0]], [UPRIGHT])),
        body(orientation=np.array([0.5, 0.5, 0.5, 0.5], np.float32)),
        body([Sphere(1e-4)]),
    ],
)
def test_what_is_allowed(thing):
    assert of_body(thing) == []


@pytest.mark.parametrize(
    ("kind", "ends", "options"),
    [
        ("fixed", ("A", None), {}),
        ("hinge", ("Wall", "B"), {"axes": {"rz": Axis(lower=-1, upper=1, friction=0.1)}}),
        ("hinge", (None, "B"), {"axes": {"rx": Axis(locked=True), "ry": Axis()}}),
        ("generic", ("A", "B"), {"axes": {"x": Axis(locked=True), "ry": Axis(drive="position", target=([0], [1]))}}),
        ("rope", ("A", "B"), {"anchors": ((0, 0, 0), (0, 0, 0)), "length": 1.0}),
        ("piston", ("Paddle", "A"), {"break_force": 5.0, "compliance": 1e-6}),
    ],
)
def test_joints_that_are_allowed(kind, ends, options):
    assert of_joint(kind, *ends, **options) == []


def test_an_empty_scene_is_valid():
    assert validate(Scene()) == []
    Scene().check()
