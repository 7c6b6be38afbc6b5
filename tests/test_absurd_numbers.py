# SPDX-License-Identifier: GPL-3.0-or-later
"""Finite but absurd numbers: one sentence that names object, value, limit and cure, or a motion in numbers."""

import numpy as np
import pytest
from axion.solver import (
    Axis,
    Body,
    Box,
    ForceField,
    Joint,
    MotionPath,
    Plane,
    Scene,
    SceneError,
    SolverConfig,
    Sphere,
    simulate,
)
from axion.solver.runaways import check_state
from axion.solver.state import State

CPU = SolverConfig(device="cpu")
UPRIGHT = [(0, 0, 0, 1)] * 2


def ball(**options):
    scene = Scene([0, 0, -9.81])
    scene.add(Body("Ground", [Plane()], "static"))
    scene.add(Body("Ball", [Sphere(0.1)], **{"position": (0.3, 0.0, 0.1), "mass": 1.0, **options}))
    return scene


def arm(axis, kind="hinge", name="rz", **options):
    scene = Scene()
    scene.add(Body("Arm", [Box((0.3, 0.05, 0.05))], position=(0.3, 0.0, 0.3), mass=1.0))
    scene.add(Joint("Motor", kind, None, "Arm", **{"position": (0.0, 0.0, 0.3), **options}, axes={name: axis}))
    return scene


def paddle(times, x):
    scene = ball()
    path = MotionPath(times, [(place, 0.0, -0.5) for place in x], UPRIGHT)
    scene.add(Body("Paddle", [Box((0.1, 0.1, 0.1))], "kinematic", path=path))
    return scene


def blown(**options):
    scene = ball()
    scene.add(ForceField("Gust", **{"kind": "wind", **options}))
    return scene


def heavy(gravity):
    scene = ball()
    scene.gravity = gravity
    return scene


def hung(**options):
    scene = Scene()
    scene.add(Body("Ball", [Sphere(0.1)]))
    scene.add(Joint("Rope", "rope", None, "Ball", **{"anchors": ((0, 0, 1), (0, 0, 0)), **options}))
    return scene


LIMIT = r"it must be from -1e\+12 to 1e\+12"
REFUSED = {
    "gravity": (heavy((0, 0, -1e300)), r"Scene: gravity\[2\] is -1e\+300 m/s\^2: it must be from -1e\+09 to 1e\+09"),
    "place": (ball(position=(0, 1e300, 0)), rf"Ball: position\[1\] is 1e\+300 m: {LIMIT} m$"),
    "speed": (ball(linear_velocity=(-1e300, 0, 0)), rf"Ball: linear_velocity\[0\] is -1e\+300 m/s: {LIMIT} m/s$"),
    "spin": (ball(angular_velocity=(0, 0, 1e300)), rf"Ball: angular_velocity\[2\] is 1e\+300 rad/s: {LIMIT} rad/s$"),
    "belt": (ball(surface_velocity=(1e300, 0, 0)), rf"Ball: surface_velocity\[0\] is 1e\+300 m/s: {LIMIT}"),
    "centre": (ball(center_of_mass=(1e300, 0, 0)), rf"Ball: center_of_mass\[0\] is 1e\+300 m: {LIMIT}"),
    "friction": (ball(friction=1e300), r"Ball: friction is 1e\+300: it must be from 0 to 1e\+12"),
    "mass": (ball(mass=1e300), r"Ball: mass is 1e\+300 kg: it must be from 1e-90 to 1e\+90"),
    "path": (paddle((0, 1), (0, 1e300)), rf"Paddle: path.position\[1, 0\] is 1e\+300 m: {LIMIT}"),
    "path's speed": (
        paddle((0, 1e-300), (0, 1)),
        r"Paddle: path goes 1 m from 0 s to .*s: it must be up to 1e\+12 m/s",
    ),
    "drive": (arm(Axis(drive="velocity", target=1e300)), rf"Motor: axis rz: target is 1e\+300: {LIMIT}"),
    "animated drive": (
        arm(Axis(drive="position", target=((0, 1), (0, -1e300)))),
        rf"Motor: axis rz: target is -1e\+300 at 1 s: {LIMIT}",
    ),
    "jump of a drive": (
        arm(Axis(drive="position", target=((0, 1e-300), (0, 1)))),
        r"Motor: axis rz: target goes from 0 at 0 s to 1 at .* s: it must change by up to 1e\+12 a second, so set its",
    ),
    "slider": (arm(Axis(drive="position", target=1e300), "slider", "x"), rf"Motor: axis x: target is 1e\+300: {LIMIT}"),
    "spring": (arm(Axis(stiffness=1.0, rest=1e300)), rf"Motor: axis rz: rest is 1e\+300: {LIMIT}"),
    "joint's place": (arm(Axis(), position=(1e300, 0, 0)), rf"Motor: position\[0\] is 1e\+300 m: {LIMIT}"),
    "anchor": (hung(anchors=((1e300, 0, 0), (0, 0, 0))), rf"Rope: anchors\[0, 0\] is 1e\+300 m: {LIMIT}"),
    "length": (hung(length=1e300), r"Rope: length is 1e\+300 m: it must be from 0 to 1e\+12"),
    "field's rate": (blown(rate=1e-300), r"Gust: rate is 1e-300: it must be from 1e-12 to 1e\+12"),
    "field's place": (blown(position=(1e300, 0, 0)), rf"Gust: position\[0\] is 1e\+300 m: {LIMIT}"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_absurd_numbers_are_refused_in_one_sentence(name):
    scene, words = REFUSED[name]
    with pytest.raises(SceneError, match=words) as caught:
        simulate(scene, 2, config=CPU)
    assert len(caught.value.problems) == 1 and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "scene",
    [
        heavy((0, 0, -1e9)),
        ball(position=(1e12, -1e12, 1.0)),
        ball(linear_velocity=(1e12, 1e12, -1e12)),
        ball(angular_velocity=(1e12, 1e12, 1e12)),
        ball(surface_velocity=(1e12, 0, 0)),
        ball(friction=1e12, angular_velocity=(9.0, 9.0, 9.0)),
        ball(mass=1e90),
        ball(mass=1e-90),
        arm(Axis(drive="velocity", target=1e12)),
        arm(Axis(drive="position", target=1e12), "slider", "x"),
        blown(strength=1e12, force=1e12),
        blown(kind="force", strength=-1e12),
    ],
)
def test_up_to_the_limits_motion_is_in_numbers(scene, recwarn):
    trajectory = simulate(scene, 3, config=CPU)
    assert np.isfinite(trajectory.position).all() and np.isfinite(trajectory.linear_velocity).all()
    assert not [warning for warning in recwarn if issubclass(warning.category, RuntimeWarning)]


@pytest.mark.parametrize("kind", ["wind", "force", "vortex", "harmonic", "turbulence"])
def test_a_field_that_grows_beyond_numbers_is_named(kind, recwarn):
    # (1 + d)^100: what it drives off it drives harder
    field = ForceField("Gust", kind, power=-100.0, position=(0.3, 0.2, 0.1), size=1.0)
    scene = ball(position=(0.1, 0.2, 0.3))
    scene.add(field)
    words = r"Gust: it accelerates Ball by .* m/s\^2 at .* s, and the solver computes up to 1e\+40 m/s\^2: lower its"
    with pytest.raises(SceneError, match=words) as caught:
        simulate(scene, 8, config=CPU)
    assert "nan" not in str(caught.value)
    assert not [warning for warning in recwarn if issubclass(warning.category, RuntimeWarning)]


@pytest.mark.parametrize(
    ("place", "velocity", "words"),
    [
        (1e41, 0.0, r"^B: it is 1e\+41 m away at frame 7, and the solver computes up to 1e\+40 m: weaken"),
        (0.0, 1e41, r"^B: it moves at 1e\+41 m/s at frame 7"),
        (np.nan, 0.0, r"^B: it is more than 1e308 m away at frame 7"),
    ],
)
def test_a_body_that_ran_away_ends_the_run(place, velocity, words):
    state = State(0.0, np.zeros((2, 3)), np.tile([0.0, 0.0, 0.0, 1.0], (2, 1)), np.zeros((2, 6)), None, None)
    check_state(["A", "B"], 7, state)
    state.position[1, 2], state.velocity[1, 0] = place, velocity
    with pytest.raises(SceneError, match=words):
        check_state(["A", "B"], 7, state)
