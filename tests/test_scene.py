# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene, Body, MotionPath: mass properties, prescribed motion, files."""

import importlib
import inspect
import json

import axion.solver as solver
import numpy as np
import pytest
import scenes
from axion.solver import (
    Axis,
    Body,
    Box,
    ConvexHull,
    Joint,
    MotionPath,
    Plane,
    Scene,
    SceneError,
    Sphere,
    TriangleMesh,
    coerce,
    validate,
)
from axion.solver.rotations import conjugate, exponential, logarithm, multiply, rotate

BUILDERS = [
    "falling",
    "hanging_mass",
    "stack",
    "slope",
    "chain",
    "pendulum",
    "four_bar",
    "door",
    "pile",
    "motor_hinge",
    "motor_slider",
]
QUARTER = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])
INERTIA = np.diag([1.0, 2.0, 2.5])
OPEN = TriangleMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])


def test_signatures_and_defaults_are_the_promised_ones():
    def parameters(cls):
        return {name: entry.default for name, entry in inspect.signature(cls).parameters.items()}

    body = parameters(Body)
    assert list(body)[:7] == [
        "name",
        "shapes",
        "motion",
        "position",
        "orientation",
        "linear_velocity",
        "angular_velocity",
    ]
    assert (body["motion"], body["mass"], body["density"], body["friction"]) == ("dynamic", None, 1000.0, 0.5)
    assert (body["collision_group"], body["collision_mask"], body["path"]) == (1, 0xFFFFFFFF, None)
    joint = parameters(Joint)
    assert list(joint)[:7] == ["name", "kind", "body_a", "body_b", "position", "orientation", "axes"]
    assert (joint["break_force"], joint["break_torque"], joint["collide_connected"]) == (np.inf, np.inf, False)
    axis = Axis()
    assert (axis.locked, axis.lower, axis.upper, axis.drive, axis.max_force) == (False, -np.inf, np.inf, None, np.inf)
    scene = Scene()
    np.testing.assert_array_equal(scene.gravity, [0, 0, -9.81])
    assert (scene.friction_combine, scene.restitution_combine) == ("geometric_mean", "max")
    assert set(solver.__all__) <= set(dir(solver))


def test_simulate_stays_a_function_when_its_module_is_imported():
    # Importing axion.solver.simulate would put the module of that name into the package.
    module = importlib.import_module("axion.solver.simulate")
    assert solver.simulate is module.simulate
    names = list(inspect.signature(solver.simulate).parameters)
    assert names == ["scene", "frames", "fps", "config", "on_frame", "resume", "say"]
    with pytest.raises(AttributeError, match="simulator"):
        solver.simulator  # noqa: B018


def test_scenes_do_not_share_their_lists():
    Scene().add(Body("A", [Sphere(1.0)]))
    assert Scene().bodies == []


def test_add_returns_the_object_and_refuses_others():
    scene = Scene()
    body, joint = Body("A", [Sphere(1.0)]), Joint("J", "ball", "A", None, (0, 0, 0))
    assert scene.add(body) is body
    assert scene.add(joint) is joint
    assert (scene.bodies, scene.joints) == ([body], [joint])
    with pytest.raises(TypeError, match="Sphere"):
        scene.add(Sphere(1.0))


def test_fields_are_float64_copies_whenever_they_are_assigned():
    source = np.array([1, 2, 3], np.float32)
    body = Body("A", [Sphere(1.0)], position=source)
    source[:] = 0
    np.testing.assert_array_equal(body.position, [1, 2, 3])
    body.linear_velocity = (1, 0, 0)
    assert body.linear_velocity.dtype == np.float64


def test_nearly_unit_quaternions_are_normalised_and_others_kept():
    # float32 keeps unit length to 1e-7; the limit is 1e-6.
    q = np.array([0.5, 0.5, 0.5, 0.5])
    assert np.linalg.norm(Body("A", [], orientation=q * (1 + 5e-7)).orientation) == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_array_equal(Body("A", [], orientation=q * 1.1).orientation, q * 1.1)


def test_a_normalised_quaternion_stays_as_it_is_to_the_last_bit():
    # One in forty changed by being normalised again: a scene was another one after it had been saved and loaded, and a
    # bake in another process went another way.
    once = np.random.default_rng(1).normal(size=(10000, 4))
    once = coerce.quaternion(once / np.linalg.norm(once, axis=1)[:, None] * (1.0 + 1e-7))
    np.testing.assert_array_equal(coerce.quaternion(once), once)
    assert np.abs(np.linalg.norm(once, axis=1) - 1.0).max() < 1e-15


class TestMassProperties:
    def test_dumbbell_by_the_parallel_axis_theorem(self):
        # Two balls of mass m at distance d on either side: I_across = 2 (0.4 m r^2 + m d^2), I_along = 0.8 m r^2.
        r, d, density = 0.1, 0.7, 500.0
        balls = [Sphere(r, position=(d + 1, 0, 0)), Sphere(r, position=(1 - d, 0, 0))]
        mass, center, inertia = Body("A", balls, density=density).mass_properties()
        m = density * 4 / 3 * np.pi * r**3
        assert mass == pytest.approx(2 * m)
        np.testing.assert_allclose(center, [1, 0, 0], atol=1e-15)
        across = 0.8 * m * r**2 + 2 * m * d**2
        np.testing.assert_allclose(inertia, np.diag([0.8 * m * r**2, across, across]), rtol=1e-12, atol=1e-15)

    def test_box_cut_in_pieces_is_the_same_box(self):
        whole = Body("A", [Box((0.4, 0.2, 0.1), (0, 1, 0))]).mass_properties()
        # The right half is a box turned by 90 degrees about Z.
        halves = [Box((0.2, 0.2, 0.1), (-0.2, 1, 0)), Box((0.2, 0.2, 0.1), (0.2, 1, 0), QUARTER)]
        for a, b in zip(whole, Body("A", halves).mass_properties(), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)

    def test_mass_wins_over_density_and_scales_the_inertia(self):
        by_density = Body("A", [Box((0.5, 0.5, 0.5))], density=2.0).mass_properties()
        by_mass = Body("A", [Box((0.5, 0.5, 0.5))], mass=6.0, density=2.0).mass_properties()
        assert (by_density[0], by_mass[0]) == (2.0, 6.0)
        np.testing.assert_allclose(by_mass[2], 3.0 * by_density[2])

    def test_overrides(self):
        free = Body("A", [Sphere(0.1)], mass=2.0)
        moved = Body("A", [Sphere(0.1)], mass=2.0, center_of_mass=(0, 0, -0.05))
        np.testing.assert_array_equal(moved.mass_properties()[1], [0, 0, -0.05])
        np.testing.assert_allclose(moved.mass_properties()[2], free.mass_properties()[2])
        given = Body("A", [Sphere(0.1)], inertia=INERTIA).mass_properties()
        np.testing.assert_array_equal(given[2], INERTIA)

    def test_without_volume_everything_must_be_given(self):
        body = Body("A", [OPEN], mass=1.0, inertia=INERTIA)
        with pytest.raises(SceneError, match="A: the mesh is open"):
            body.mass_properties()
        body.center_of_mass = (0.1, 0, 0)
        assert body.mass_properties()[0] == 1.0
        np.testing.assert_array_equal(Body("A", [], mass=1.0, inertia=INERTIA).mass_properties()[1], np.zeros(3))

    def test_immovable_bodies_are_infinitely_heavy_around_their_centre(self):
        for motion, shape, center in (
            ("static", Plane(), (0, 0, 0)),
            ("static", OPEN, (0, 0, 0)),
            ("kinematic", Sphere(1.0, (1, 2, 3)), (1, 2, 3)),
        ):
            mass, found, inertia = Body("A", [shape], motion=motion, position=(9, 9, 9)).mass_properties()
            assert mass == np.inf
            np.testing.assert_allclose(found, center)
            np.testing.assert_array_equal(inertia, np.diag([np.inf] * 3))


class TestMotionPath:
    path = MotionPath(
        [1.0, 2.0, 4.0],
        [[0, 0, 0], [2, 0, 0], [2, 6, 0]],
        # The last one is a turn by 180 degrees about Z, written with the other sign.
        [[0, 0, 0, 1], QUARTER, [0, 0, -1, 0]],
    )

    def test_between_samples_position_is_linear_and_rotation_spherical(self):
        position, orientation = self.path.pose(1.5)
        np.testing.assert_allclose(position, [1, 0, 0])
        np.testing.assert_allclose(logarithm(orientation), [0, 0, np.pi / 4], atol=1e-12)
        position, orientation = self.path.pose(3.0)
        np.testing.assert_allclose(position, [2, 3, 0])
        np.testing.assert_allclose(abs(orientation @ exponential([0, 0, 0.75 * np.pi])), 1.0)

    def test_outside_the_samples_it_stands(self):
        for time, place in ((-5.0, [0, 0, 0]), (1.0, [0, 0, 0]), (4.0, [2, 6, 0]), (99.0, [2, 6, 0])):
            np.testing.assert_allclose(self.path.pose(time)[0], place)
        for time in (0.999, 4.001):
            np.testing.assert_array_equal(self.path.velocity(time), np.zeros((2, 3)))

    def test_velocity_is_the_rate_of_the_pose(self):
        for time in (1.3, 2.7, 3.9):
            h = 1e-5
            (p0, q0), (p1, q1) = self.path.pose(time - h), self.path.pose(time + h)
            linear, angular = self.path.velocity(time)
            np.testing.assert_allclose(linear, (p1 - p0) / (2 * h), atol=1e-8)
            np.testing.assert_allclose(angular, logarithm(multiply(q1, conjugate(q0))) / (2 * h), atol=1e-8)

    def test_at_a_corner_the_velocity_is_that_of_the_way_there(self):
        np.testing.assert_allclose(self.path.velocity(2.0)[0], [2, 0, 0])
        np.testing.assert_allclose(self.path.velocity(4.0)[0], [0, 3, 0])

    def test_one_sample_is_a_place(self):
        path = MotionPath([0.0], [[1, 2, 3]], [[0, 0, 0, 1]])
        np.testing.assert_array_equal(path.pose(7.0)[0], [1, 2, 3])
        np.testing.assert_array_equal(path.velocity(0.0), np.zeros((2, 3)))


@pytest.mark.parametrize(
    "body",
    [
        Body("path", [Sphere(0.1, (0.5, 0, 0))], "kinematic", path=TestMotionPath.path),
        Body("hand-over", [Sphere(0.1, (0.5, 0, 0))], "dynamic", path=TestMotionPath.path),
        Body(
            "velocities",
            [Sphere(0.1, (0.5, 0, 0))],
            "kinematic",
            linear_velocity=(1, 2, 3),
            angular_velocity=(0.3, -0.2, 1.0),
            surface_velocity=(0.1, 0.0, -0.4),
        ),
        Body("static", [Plane()], "static", position=(1, 2, 3)),
    ],
    ids=lambda body: body.name,
)
def test_prescribed_velocity_is_the_rate_of_the_centre_of_mass(body):
    center = body.mass_properties()[1]
    h, time = 1e-5, 2.7

    def place(t):
        position, orientation = body.prescribed(t)[:2]
        return position + rotate(orientation, center), orientation

    (x0, q0), (x1, q1) = place(time - h), place(time + h)
    _, _, linear, angular = body.prescribed(time)
    np.testing.assert_allclose(linear, (x1 - x0) / (2 * h), atol=1e-8)
    np.testing.assert_allclose(angular, logarithm(multiply(q1, conjugate(q0))) / (2 * h), atol=1e-8)


def test_release_of_a_body_held_on_a_path():
    held = Body("A", [Sphere(0.1)], path=TestMotionPath.path)
    assert held.release_time() == 4.0
    np.testing.assert_allclose(held.prescribed(held.release_time())[2], [0, 3, 0])
    np.testing.assert_allclose(held.start()[0], [0, 0, 0])
    assert Body("A", [Sphere(0.1)]).release_time() == 0.0
    assert Body("A", [Sphere(0.1)], "kinematic", path=TestMotionPath.path).release_time() == np.inf


@pytest.mark.parametrize("builder", BUILDERS)
def test_shared_scenes_are_valid(builder):
    assert validate(getattr(scenes, builder)()) == []


def test_four_bar_pins_lie_at_the_lengths_of_the_bars():
    np.testing.assert_allclose(
        np.linalg.norm(np.diff(scenes.four_bar_pins(0.2, 0.5, 0.4, 0.5), axis=0), axis=1), [0.2, 0.5, 0.4]
    )


def everything():
    """A scene that uses every kind of thing a file must carry."""
    scene = scenes.four_bar()
    scene.gravity = (1, 2, 3)
    scene.restitution_combine = "average"
    mesh = ConvexHull(np.random.default_rng(0).normal(size=(20, 3)))
    scene.add(Body("Hüll 1", [mesh, Sphere(0.1, (1, 0, 0), QUARTER)], mass=2.0, inertia=INERTIA, friction=0.1))
    scene.add(Body("Hüll 2", [mesh], "kinematic", path=TestMotionPath.path, collision_mask=0xF0F0F0F0))
    scene.add(Body("Ground", [Plane(), OPEN], "static"))
    target = Axis(target=((0.0, 1.0), (2.0, 3.0)), drive="position", lower=-1.0)
    scene.add(Joint("Motor", "slider", "Hüll 1", None, axes={"x": target}, break_force=100.0))
    scene.add(Joint("Rope", "rope", "Hüll 1", "Crank", anchors=((0, 0, 0), (0, 0, 1)), length=2.0))
    return scene


def flat(value):
    """All that a dataclass holds, as nested plain lists, for comparison."""
    if isinstance(value, np.ndarray):
        return [value.dtype.str, value.tolist()]
    if isinstance(value, (list, tuple)):
        return [flat(entry) for entry in value]
    if isinstance(value, dict):
        return {key: flat(entry) for key, entry in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return [type(value).__name__, *(flat(getattr(value, name)) for name in value.__dataclass_fields__)]
    return value


class TestFiles:
    def test_a_scene_comes_back_bit_for_bit(self, tmp_path):
        scene = everything()
        scene.save(tmp_path / "scene.npz")
        loaded = Scene.load(tmp_path / "scene.npz")
        assert flat(loaded) == flat(scene)
        assert loaded.bodies[3].shapes[0] is loaded.bodies[4].shapes[0], "shared shapes stay shared"

    def test_file_has_exactly_the_name_given_and_no_pickle(self, tmp_path):
        everything().save(tmp_path / "scene.data")
        assert [path.name for path in tmp_path.iterdir()] == ["scene.data"]
        with np.load(tmp_path / "scene.data", allow_pickle=False) as stored:
            assert all(stored[name].dtype.kind in "fiu" for name in stored.files)

    def test_a_scene_with_problems_can_be_stored_and_still_has_them(self, tmp_path):
        scene = Scene()
        scene.add(Body("A", [Sphere(-1.0)], position=(np.nan, 0, np.inf), mass=np.nan, friction="rough"))
        scene.save(tmp_path / "scene.npz")
        assert [str(p) for p in validate(Scene.load(tmp_path / "scene.npz"))] == [str(p) for p in validate(scene)]

    def test_foreign_and_damaged_files_are_refused(self, tmp_path):
        path = tmp_path / "scene.npz"
        everything().save(path)
        good = path.read_bytes()
        random = np.random.default_rng(0)
        rubbish = {"empty": b"", "text": b"hello", "half": good[: len(good) // 2], "noise": random.bytes(4000)}
        for content in rubbish.values():
            path.write_bytes(content)
            with pytest.raises(SceneError, match="scene.npz"):
                Scene.load(path)
        np.savez(path, a=np.zeros(3))
        with pytest.raises(SceneError, match="no Axion scene file"):
            Scene.load(path)
        with open(path, "wb") as file:
            np.save(file, np.zeros(3))
        with pytest.raises(SceneError, match="no Axion scene file"):
            Scene.load(path)

    def test_no_flipped_byte_leads_to_another_error(self, tmp_path):
        # Each damage is either found, or hits bytes that carry nothing.
        path = tmp_path / "scene.npz"
        scenes.falling().save(path)
        good = path.read_bytes()
        found = 0
        for place in np.random.default_rng(0).integers(0, len(good), 150):
            damaged = bytearray(good)
            damaged[place] ^= 0x55
            path.write_bytes(damaged)
            try:
                Scene.load(path)
            except SceneError:
                found += 1
        assert found > 75

    @pytest.mark.parametrize(
        "header",
        [
            [],
            {"axion": "scene", "version": 1},
            {"axion": "scene", "version": 1, "content": {"dict": {"objects": [], "root": {"dict": {"object": 3}}}}},
            {"axion": "scene", "version": 1, "content": {"dict": {"objects": [], "root": None}}},
            {"axion": "scene", "version": 99, "content": None},
            {"axion": "trajectory", "version": 1, "content": None},
        ],
    )
    def test_headers_that_make_no_scene_are_refused(self, tmp_path, header):
        np.savez(tmp_path / "scene.npz", header=np.frombuffer(json.dumps(header).encode(), np.uint8))
        with pytest.raises(SceneError, match="scene.npz"):
            Scene.load(tmp_path / "scene.npz")

    def test_a_missing_file_is_an_error_of_the_system(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            Scene.load(tmp_path / "none.npz")
