# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields against the laws of motion that each one makes."""

import numpy as np
import pytest
from axion.solver import Body, Box, ForceField, MotionPath, Plane, Scene, SceneError, SolverConfig, Sphere, simulate

CPU = SolverConfig(device="cpu")


def fly(field, frames=48, fps=24, gravity=(0, 0, 0), **body):
    """Trajectory of a ball of 2 kg in fields."""
    scene = Scene(gravity=gravity)
    scene.add(Body("Ball", [Sphere(0.1)], **{"mass": 2.0, **body}))
    for each in field if isinstance(field, list) else [field]:
        scene.add(each)
    return simulate(scene, frames, fps, CPU)


def test_wind_accelerates_by_force_over_mass():
    t = (trajectory := fly(ForceField("Wind", "wind", 6.0))).times
    assert trajectory.position[:, 0, 2] == pytest.approx(0.5 * 3.0 * t**2, abs=1e-9)


@pytest.mark.parametrize("fps", [6, 24, 240])
def test_wind_with_flow_ends_at_its_speed_for_every_step(fps):
    # m v' = S - F v: v = S / F (1 - exp(-F t / m)), exact for every step, also where F h / m = 8 is stiff.
    trajectory = fly(ForceField("Wind", "wind", 500.0, flow=100.0), fps, fps)
    want = 5.0 * (1.0 - np.exp(-50.0 * trajectory.times))
    assert trajectory.linear_velocity[:, 0, 2] == pytest.approx(want, abs=1e-9)


def test_terminal_speed_of_quadratic_drag():
    # m g = S v^2: v = sqrt(19.62 / 0.5).
    trajectory = fly(ForceField("Drag", "drag", 0.5), 120, gravity=(0, 0, -9.81))
    assert -trajectory.linear_velocity[-1, 0, 2] == pytest.approx(np.sqrt(19.62 / 0.5), rel=1e-6)


@pytest.mark.parametrize(("mass", "within"), [(2.0, 3e-4), (0.2, 3e-3)])
def test_quadratic_drag_brakes_by_the_law_from_any_speed(mass, within):
    # m v' = -S v^2: v = v0 / (1 + k v0 t), k = S / m; at the start's speed 24 frames a second brake 3 % too much.
    trajectory = fly(ForceField("Drag", "drag", 0.5), mass=mass, linear_velocity=(20, 0, 0))
    want = 20.0 / (1.0 + 0.5 / mass * 20.0 * trajectory.times)
    assert trajectory.linear_velocity[:, 0, 0] == pytest.approx(want, rel=within)


@pytest.mark.parametrize("start", [0.0, -25.0])
def test_quadratic_drag_and_weight_come_to_terminal_speed_by_the_law(start):
    # v = v_t tanh(t g / v_t) from rest, coth from above.
    trajectory = fly(ForceField("Drag", "drag", 0.5), gravity=(0, 0, -9.81), linear_velocity=(0, 0, start))
    terminal = np.sqrt(19.62 / 0.5)
    angle = trajectory.times * 9.81 / terminal
    angle += np.arctanh(terminal / 25.0) if start else 0.0
    want = terminal * (1.0 / np.tanh(angle) if start else np.tanh(angle))
    assert -trajectory.linear_velocity[:, 0, 2] == pytest.approx(want, rel=2e-3)


def test_linear_drag_is_a_damping():
    trajectory = fly(ForceField("Drag", "drag", 0.0, damping=1.5), linear_velocity=(4, 0, 0))
    assert trajectory.linear_velocity[:, 0, 0] == pytest.approx(4 * np.exp(-0.75 * trajectory.times), abs=1e-9)


def test_harmonic_field_swings_at_its_frequency_and_keeps_its_energy():
    # m x'' = -S x: ten periods at 24 frames a second, energy kept within what the step's modified energy allows.
    trajectory = fly(ForceField("Spring", "harmonic", 20.0), 480, position=(1, 0, 0))
    x, v = trajectory.position[:, 0, 0], trajectory.linear_velocity[:, 0, 0]
    energy = 10.0 * x**2 + v**2
    assert np.abs(energy / energy[0] - 1.0).max() < 0.02, "(omega h)^2 / 4 is 0.0043"
    omega = np.sqrt(10.0)
    assert np.abs(x - np.cos(omega * trajectory.times))[:48].max() < 0.02


def test_inverse_square_attraction_makes_a_closed_orbit():
    # Circle of 1 m: v^2 = S / (m r); after a period of 2 pi r / v the body is back.
    speed = 2 * np.pi / 2.0
    field = ForceField("Sun", "force", -2.0 * speed**2, inverse_square=True)
    trajectory = fly(field, 192, 96, position=(1, 0, 0), linear_velocity=(0, speed, 0))
    assert trajectory.position[-1, 0] == pytest.approx((1, 0, 0), abs=5e-3)
    assert np.linalg.norm(trajectory.position[:, 0], axis=1) == pytest.approx(1.0, abs=2e-3)


def test_magnet_turns_and_does_no_work():
    # B = 3 along Z: a circle at S / m = 1.5 rad/s.
    field = ForceField("Magnet", "magnet", 3.0, shape="plane")
    trajectory = fly(field, 240, linear_velocity=(2, 0, 0))
    assert np.linalg.norm(trajectory.linear_velocity[:, 0], axis=1) == pytest.approx(2.0, abs=1e-9)
    v = trajectory.linear_velocity[24, 0]
    assert np.arctan2(v[1], v[0]) == pytest.approx(-1.5, abs=1e-3)


def test_vortex_carries_round_its_axis():
    field = ForceField("Vortex", "vortex", 1.0)
    first = fly(field, 1, 1000, position=(2, 0, 5))
    # S |r| along n x r / |n x r|: 2 N and |r| = sqrt(29)
    assert first.linear_velocity[1, 0] == pytest.approx((0, np.sqrt(29) / 2000, 0), abs=1e-6)


@pytest.mark.parametrize(
    ("settings", "place", "factor"),
    [
        ({"power": 2.0}, (0, 0, 3), 1 / 16),
        ({"power": 2.0, "min_distance": 1.0}, (0, 0, 3), 1 / 9),
        ({"power": 2.0, "min_distance": 4.0}, (0, 0, 3), 1.0),
        ({"max_distance": 2.0}, (0, 0, 3), 0.0),
        ({"falloff": "tube", "radial_power": 1.0}, (1, 0, 3), 0.5),
        ({"falloff": "tube", "max_radius": 0.5}, (1, 0, 3), 0.0),
        ({"falloff": "cone", "radial_power": 1.0, "min_radius": 44.0}, (3, 0, 3), 0.5),
        ({"side": "positive"}, (0, 0, -3), 0.0),
        ({"side": "negative"}, (0, 0, -3), 1.0),
        ({"weight": 0.25}, (0, 0, 3), 0.25),
        ({"shape": "plane", "power": 1.0}, (7, 0, 3), 0.25),
        ({"shape": "line", "power": 1.0}, (1, 0, 3), 0.5),
    ],
)
def test_falloff(settings, place, factor):
    trajectory = fly(ForceField("Wind", "wind", 2.0, **settings), 1, 1000, position=place)
    assert trajectory.linear_velocity[1, 0, 2] == pytest.approx(factor / 1000, abs=1e-9)


def test_strength_over_time_and_a_field_that_moves():
    path = MotionPath([0, 1], [(0, 0, 0), (0, 0, 0)], [(0, 0, 0, 1), (1, 0, 0, 0)])
    trajectory = fly(ForceField("Wind", "wind", ((0, 1), (0, 4)), path=path, max_distance=99.0), 24)
    # The impulse of 4 t along a direction that turns over by pi in a second, in midpoint steps: second order.
    t = (np.arange(2400) + 0.5) / 2400
    want = np.array([0, -np.mean(4 * t * np.sin(np.pi * t)), np.mean(4 * t * np.cos(np.pi * t))]) / 2
    assert trajectory.linear_velocity[-1, 0] == pytest.approx(want, abs=3e-3)


def test_a_field_is_carried_by_a_body_and_excludes_it():
    scene = Scene(gravity=(0, 0, 0))
    scene.add(
        Body("Fan", [Box((0.1, 0.1, 0.1))], motion="kinematic", linear_velocity=(0, 0, 1), angular_velocity=(0, 0, 1))
    )
    scene.add(Body("Own", [Sphere(0.1)], position=(0, 5, 1), mass=1.0))
    scene.add(Body("Ball", [Sphere(0.1)], position=(5, 0, 1), mass=1.0))
    scene.add(ForceField("Pull", "force", -1.0, body="Fan", position=(0, 0, 1), excludes=["Own"]))
    trajectory = simulate(scene, 24, 240, CPU)
    assert not trajectory.linear_velocity[-1, 1].any()
    v = trajectory.linear_velocity[-1, 2]
    assert v[0] == pytest.approx(-0.1, abs=1e-4) and v[2] > 0.0


def test_turbulence_is_bounded_smooth_and_repeatable():
    field = ForceField("Gusts", "turbulence", 1.0, size=0.7)
    points = np.random.default_rng(1).uniform(-9, 9, (2000, 3))
    still, mass = np.zeros((2000, 3)), np.ones(2000)
    force = field.act(0.0, points, still, mass, 0.0)[0]
    assert np.abs(force).max() <= 1.0 and force.std() > 0.1 and np.abs(force.mean(axis=0)).max() < 0.05
    near = field.act(0.0, points + 1e-6, still, mass, 0.0)[0]
    assert np.abs(near - force).max() < 1e-4
    assert np.array_equal(force, field.act(0.0, points, still, mass, 0.0)[0])


def test_wind_pushes_a_box_against_friction():
    # 30 N on 2 kg, mu g m = 9.81 N: a = 10.095 m/s^2.
    scene = Scene()
    scene.add(Body("Ground", [Plane()], motion="static", friction=0.5))
    scene.add(Body("Box", [Box((0.5, 0.5, 0.1))], mass=2.0, position=(0, 0, 0.1), friction=0.5))
    scene.add(ForceField("Wind", "wind", 30.0, orientation=(0, np.sqrt(0.5), 0, np.sqrt(0.5))))
    trajectory = simulate(scene, 12, config=CPU)
    assert trajectory.linear_velocity[-1, 1, 0] == pytest.approx(0.5 * (15.0 - 4.905), rel=5e-3)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kind": "breeze"}, "kind is 'breeze'"),
        ({"strength": np.nan}, "strength is nan"),
        ({"strength": ((1, 0), (1, 1))}, "times of strength do not increase"),
        ({"body": "Nobody"}, "'Nobody', which is no body"),
        ({"min_distance": -1.0}, "min_distance"),
        ({"rate": 0.0}, "rate is 0"),
        ({"permutation": [1, 2, 3]}, "permutation"),
    ],
)
def test_what_cannot_be_is_named(settings, words):
    with pytest.raises(SceneError, match=f"Gust.*{words}"):
        fly(ForceField(**{"name": "Gust", "kind": "wind", **settings}), 1)


def test_scene_file_keeps_fields(tmp_path):
    scene = Scene()
    scene.add(Body("Ball", [Sphere(0.1)]))
    scene.add(ForceField("Wind", "wind", ((0, 1), (2, 3)), excludes=["Ball"], permutation=np.arange(256)))
    scene.save(tmp_path / "scene.npz")
    (kept,) = Scene.load(tmp_path / "scene.npz").fields
    assert kept.strength == ((0, 1), (2, 3)) and kept.excludes == ["Ball"] and len(kept.permutation) == 256


@pytest.mark.parametrize("kind", ["wind", "force", "vortex", "magnet", "harmonic", "turbulence", "drag"])
def test_strengths_up_to_the_limit_are_solved_in_numbers_and_beyond_it_refused(kind, recwarn):
    for strength in (1e12,) if kind == "drag" else (1e12, -1e12):  # what drives by its speed has no bound
        field = ForceField("Field", kind, strength, damping=1e12 if kind in ("harmonic", "drag") else 0.0)
        if kind == "turbulence":
            field.permutation = np.arange(256, dtype=np.int32)
        trajectory = fly(field, 3, position=(0.1, 0.2, 0.3), linear_velocity=(1, 2, 3))
        assert np.isfinite(trajectory.position).all()
    assert not [warning for warning in recwarn if issubclass(warning.category, RuntimeWarning)]
    refused = r"Field: strength is -?1e\+30( at 1 s)?: it must be from -1e\+12 to 1e\+12"
    for strength in (1e30, -1e30, ([0.0, 1.0], [0.0, -1e30])):
        with pytest.raises(SceneError, match=refused):
            fly(ForceField("Field", kind, strength))
