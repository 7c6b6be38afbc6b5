# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever is put into a field, validate answers with problems and never falls over; NaN is refused everywhere."""

import dataclasses
import warnings

import numpy as np
import pytest
from axion.solver import Axis, Body, Joint, MotionPath, Scene, Sphere, validate
from axion.solver.shapes import SHAPES

NAN = float("nan")
SIZES = {
    "Box": {"half_extents": (1, 1, 1)},
    "Sphere": {"radius": 1},
    "ConvexHull": {"vertices": np.vstack([np.eye(3), np.zeros(3)])},
    "TriangleMesh": {"vertices": np.eye(3), "triangles": [[0, 1, 2]]},
    "ConvexDecomposition": {
        "vertices": np.eye(3),
        "triangles": [[0, 1, 2]],
        "pieces": [np.vstack([np.eye(3), np.zeros(3)])],
    },
    "Plane": {},
}
GOOD = {
    Scene: {},
    Body: {"name": "A", "shapes": [Sphere(1.0)]},
    MotionPath: {"times": [0, 1], "position": np.zeros((2, 3)), "orientation": [[0, 0, 0, 1]] * 2},
    Joint: {"name": "J", "kind": "generic", "body_a": "A", "body_b": None},
    Axis: {},
    **{cls: SIZES.get(name, {"radius": 1, "half_height": 1}) for name, cls in SHAPES.items()},
}
FIELDS = [(cls, field.name) for cls in GOOD for field in dataclasses.fields(cls)]
JUNK = [
    *(None, "x", b"y", 3, -1, 0, 2.5, NAN, np.inf, True, 10**400, -(10**400), 1 + 2j, 1e300, 5e-324),
    *([], [1], (1, 2, 3), [1, 2, 3, 4], [[1, 2, 3]], [[1, 2], [3]], [[None]], {}, {"a": 1}, set(), object(), len),
    *(np.zeros(3), np.eye(3), np.full((2, 3), NAN), np.array(["a"]), np.array([object()]), np.zeros((0, 3))),
    *(np.float32(2), np.array(5.0), Sphere(1.0), Axis()),
]


def scene_with(cls, **changed):
    """A scene around one object of ``cls`` whose fields are good but for ``changed``."""
    thing = cls(**{**GOOD[cls], **changed})
    if cls is Scene:
        return thing
    ball = Body("A", [Sphere(1.0)], path=thing if cls is MotionPath else None)
    if cls is Body:
        return Scene(bodies=[thing])
    if cls in (Joint, Axis):
        return Scene(
            bodies=[ball], joints=[thing if cls is Joint else Joint("J", "generic", "A", None, axes={"x": thing})]
        )
    return Scene(bodies=[ball] if cls is MotionPath else [Body("A", [thing], "static")])


@pytest.mark.parametrize("cls", GOOD, ids=lambda cls: cls.__name__)
def test_the_untouched_scene_is_good(cls):
    assert validate(scene_with(cls)) == []


@pytest.mark.parametrize(("cls", "name"), FIELDS, ids=lambda value: getattr(value, "__name__", value))
def test_validate_never_falls_over(cls, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for value in JUNK:
            for problem in validate(scene_with(cls, **{name: value})):
                assert problem.message
                assert len(str(problem).splitlines()) == 1


@pytest.mark.parametrize(("cls", "name"), FIELDS, ids=lambda value: getattr(value, "__name__", value))
def test_nan_is_refused_in_every_field(cls, name):
    good = getattr(cls(**GOOD[cls]), name)
    value = np.where(np.ones(good.shape, bool), NAN, good) if isinstance(good, np.ndarray) else NAN
    assert validate(scene_with(cls, **{name: value})) != []


def test_long_values_are_quoted_by_their_beginning():
    bodies = [Body(f"Body {k}", [Sphere(1.0)]) for k in range(50)]
    problems = validate(Scene(bodies))  # bodies where gravity is expected
    assert problems
    for problem in problems:
        assert len(problem.message) < 200 and "…" in problem.message and "\n" not in problem.message
