# SPDX-License-Identifier: GPL-3.0-or-later
"""What keyframed bodies crush or jam is told by name, quickly, and what is beside it keeps its laws."""

from types import SimpleNamespace

import numpy as np
import pytest
from axion.solver import Body, Box, ConvexHull, Joint, MotionPath, Plane, Scene, SolverConfig, Sphere, simulate
from axion.solver.crushed import crushed
from axion.solver.problem import StepProblem
from scenes import turned
from step_problems import bodies_of, contacts_of

STILL = (0.0, 0.0, 0.0, 1.0)
SOLVES = 40  # a frame, at most, once it is known: halving to the end takes 31 attempts of up to 12 solves


def led(places, frames, orientation=STILL):
    """A MotionPath at 24 frames a second through ``places`` (frames + 1, 3)."""
    return MotionPath(np.arange(frames + 1) / 24.0, places, np.tile(orientation, (frames + 1, 1)))


def press(frames, to=0.6, friction=0.5):
    """A plate that moves in x from -0.99 to ``to`` at 0.8 m/s, before a wall whose face is at x = 1, on a floor."""
    x = np.minimum(-0.99 + 0.8 * np.arange(frames + 1) / 24.0, to)
    scene = Scene()
    scene.add(Body("Floor", [Plane()], motion="static", friction=friction))
    scene.add(Body("Wall", [Box((0.1, 1, 1))], motion="static", position=(1.1, 0, 1), friction=friction))
    path = led(np.stack([x, 0 * x, 0 * x + 0.55], axis=1), frames)
    plate = Body("Press", [Box((0.1, 0.5, 0.5))], motion="kinematic", position=(-0.99, 0, 0.55), path=path)
    scene.add(plate)
    plate.friction = friction
    return scene


def of_room(reports):
    """Frames whose report says that something has no room."""
    return [report.frame for report in reports if report.crushed_bodies]


def test_a_box_between_press_and_wall_is_told_as_soon_as_it_has_no_room():
    # The faces are 1.89 m - 0.8 m/s t apart: there is room for 0.5 m until t = 1.7375 s, in frame 42.
    scene = press(52)
    scene.add(Body("Box", [Box((0.25, 0.25, 0.25))], position=(0, 0, 0.25)))
    reports = simulate(scene, 52).reports
    assert all(report.converged for report in reports[:41])
    assert of_room(reports) == list(range(42, 53))
    for report in reports[41:]:
        assert not report.converged and report.crushed_bodies == ["Box"], report
        assert set(report.crushing_bodies) >= {"Wall", "Press"}
    assert max(report.substeps for report in reports[42:]) <= SOLVES


def test_what_can_be_pushed_aside_has_room():
    # The wall's edge meets the ball 0.1 m beside its middle: it is squeezed out sideways, and no frame is missed.
    scene = press(60, to=0.75)
    scene.add(Body("Ball", [Sphere(0.2)], position=(0, 0.5, 0.2), mass=1.0, friction=0.0))
    scene.bodies[1].shapes = [Box((0.1, 0.4, 1))]
    reports = simulate(scene, 60).reports
    assert of_room(reports) == [] and all(report.converged for report in reports)


@pytest.mark.parametrize(("friction", "jams"), [(0.2, False), (0.5, True)])
def test_friction_jams_a_ball_in_a_wedge_that_closes(friction, jams):
    # Two plates at 0.3 rad to the plane between them: the ball slips out where mu < tan 0.3 = 0.309, else it cannot.
    frames, angle, radius = 16, 0.3, 0.1
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    for name, side in (("Upper", 1.0), ("Lower", -1.0)):
        q = turned("y", -side * angle)
        normal = np.array([np.sin(angle), 0.0, -side * np.cos(angle)])  # of the face towards the ball, out of the wedge
        start = -(radius + 0.1) * normal - 1e-3 * normal
        close = 0.2 * np.arange(frames + 1)[:, None] / 24.0 * np.array([0.0, 0.0, -side])
        path = led(start + close, frames, q)
        scene.add(Body(name, [Box((1, 1, 0.1))], motion="kinematic", position=start, orientation=q, path=path,
                       friction=friction, collision_group=1, collision_mask=2))  # fmt: skip
    ball = Body("Ball", [Sphere(radius)], mass=1.0, friction=friction)
    ball.collision_group, ball.collision_mask = 2, 1
    scene.add(ball)
    trajectory = simulate(scene, frames)
    converged = [report.converged for report in trajectory.reports]
    if jams:
        assert not all(converged)
        assert trajectory.reports[-1].crushed_bodies == ["Ball"]
        assert sorted(trajectory.reports[-1].crushing_bodies) == ["Lower", "Upper"]
    else:
        assert all(converged) and of_room(trajectory.reports) == []
        assert trajectory.position[-1, 2, 0] > 0.2  # out of it


def test_bodies_that_a_joint_holds_together_have_no_room_where_one_would():
    scene = press(48, to=0.6)
    for k, x in enumerate((0.0, 0.16)):
        scene.add(Body(f"Half {k + 1}", [Box((0.08, 0.08, 0.08))], position=(x, 0, 0.08), mass=1.0))
    scene.add(Joint("Glue", "fixed", "Half 1", "Half 2", (0.08, 0, 0.08)))
    reports = simulate(scene, 48).reports
    # 0.32 m wide: room until t = 1.9625 s, in frame 48.
    assert of_room(reports) == [48] and set(reports[-1].crushed_bodies) == {"Half 1", "Half 2"}


def test_what_is_beside_it_keeps_its_laws():
    # A ball bounces beyond the press, in frames that are given up on: it goes as it goes without them.
    def ball():
        return Body("Ball", [Sphere(0.1)], position=(4, 0, 1.1), mass=1.0, restitution=0.8, friction=0.0)

    ends = []
    for boxed in (True, False):
        scene = press(52)
        scene.bodies[0].restitution = 1.0
        if boxed:
            scene.add(Body("Box", [Box((0.25, 0.25, 0.25))], position=(0, 0, 0.25)))
        scene.add(ball())
        trajectory = simulate(scene, 52)
        assert bool(of_room(trajectory.reports)) == boxed
        ends.append(trajectory.position[:, -1])
    assert np.abs(ends[0] - ends[1]).max() < 1e-4


def test_a_bake_that_goes_on_in_between_has_the_same_bits():
    scene = press(50)
    scene.add(Body("Box", [Box((0.25, 0.25, 0.25))], position=(0, 0, 0.25)))
    kept = []

    def keep(result):
        if result.frame == 45:
            kept.append(result.checkpoint())

    whole = simulate(scene, 50, on_frame=keep)
    rest = simulate(scene, 50, resume=kept[0], config=SolverConfig())
    assert np.array_equal(whole.position[-1], rest.position[-1])


def squeezed(room, speed, known=False, step=0.01):
    """Crushed of a cube of 0.2 m between two walls that are ``room`` [m] apart; one moves at ``speed`` [m/s]."""
    places = [(0, 0, 0), (-1.1, 0, 0), (room + 0.9, 0, 0), (0, 0, 0)]  # the world last
    bodies = bodies_of([1.0, *[np.inf] * 3], np.full((4, 3), 0.01), places, step=step, gravity=(0, 0, 0))
    bodies.velocity[1, 0] = speed
    faces = [(-0.1, 0, 0), (0.1, 0, 0)]
    contacts = contacts_of([0, 0], [1, 2], faces, [(1, 0, 0), (-1, 0, 0)], [(1.0, 0, 0), (-1.0, 0, 0)], friction=0.0)
    contacts.start_gap = np.zeros(2)
    problem = StepProblem(step, bodies, contacts, push_out_speed=0.0)
    assembly = SimpleNamespace(problem=problem, numbering=SimpleNamespace(scene=np.arange(4)))
    cube = np.array([True, False, False])
    attempt = SimpleNamespace(assembly=assembly, error=np.ones(1), failed=cube, dynamic=lambda: np.array([0]))
    found = crushed(attempt, cube, cube & known, 1e-4)
    return found.bodies.tolist(), found.pressing.tolist()


def test_only_what_is_led_presses():
    nobody = [False] * 3, [False] * 3
    crowd = [True, False, False], [False, True, True]
    assert squeezed(0.19, speed=1.0) == crowd
    assert squeezed(0.2, speed=1.0) == squeezed(0.21, speed=1.0) == nobody
    assert squeezed(0.19, speed=0.0) == nobody  # it stands there by itself, or was placed so
    assert squeezed(0.19, speed=0.0, known=True) == crowd  # the press has come to a stand


@pytest.mark.parametrize("count", (1, 6))
def test_what_a_thin_press_comes_through_is_not_halved_further(count):
    """Each part of a step pushed the pebble through the plate again: its first frame took 1129 solves."""
    rng, frames = np.random.default_rng(2), 20
    scene = Scene()
    scene.add(Body("Floor", [Plane()], motion="static", friction=0.6))
    height = np.maximum(0.3 - 0.5 * np.arange(frames + 1) / 24.0, 0.015)
    path = led(np.stack([0 * height, 0 * height, height], axis=1), frames)
    scene.add(Body("Press", [Box((0.3, 0.3, 0.005))], motion="kinematic", path=path, friction=0.5))
    for i in range(count):
        points = rng.normal(size=(12, 3))
        points *= 0.035 * np.array((1.0, 0.8, 0.7)) / np.linalg.norm(points, axis=1)[:, None]
        place = 0.1 * (i % 3) - 0.1, 0.1 * (i // 3) - 0.05, 0.04
        scene.add(Body(f"Pebble {i}", [ConvexHull(points)], density=2500.0, friction=0.6, position=place))
    reports = simulate(scene, frames).reports
    assert of_room(reports) == list(range(13, frames + 1))
    most = max(report.substeps for report in reports)
    assert most <= 3 * SOLVES
