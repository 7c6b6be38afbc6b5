# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that spin asks for (gyroscopic.py): as the rate of the axis says, and none where nothing can lean."""

from types import SimpleNamespace

import numpy as np
import pytest
from axion.solver import (
    Body,
    Box,
    Capsule,
    ConvexHull,
    Cylinder,
    Joint,
    Plane,
    Scene,
    SolverConfig,
    Sphere,
    TriangleMesh,
    gyroscopic,
    simulate,
)
from axion.solver.constraints.rows import JointTable
from axion.solver.frames import body_frames
from axion.solver.gyroscopic import JOINTED, SPINNING, TIPTOE, TOUCHING, Gyroscopes
from axion.solver.rotations import rotate
from axion.solver.state import State
from figures import figure
from scenes import GRAVITY, turned

FRAME = 1 / 24
DISC = np.diag([1.0, 1.0, 2.0])


def asked(scene, contacts=(), apart=10.0, normal=(0, 0, 1), gap=0.0):
    """(Steps of a frame from the scene's start, bodies that spin or None), with contacts of the pairs given.

    Each pair has two contacts, so far ``apart``.
    """
    frames = body_frames(scene)
    joints = JointTable(scene, frames)
    position, orientation = (np.array([getattr(b, name) for b in scene.bodies]) for name in ("position", "orientation"))
    position, orientation = frames.to_solver(position, orientation)
    velocity = np.array([np.append(b.linear_velocity, b.angular_velocity) for b in scene.bodies])
    state = State(0.0, position, orientation, velocity, *np.zeros((2, len(velocity))))

    body_a, body_b = np.repeat(np.array(contacts, int).reshape(-1, 2), 2, axis=0).T
    points, count = np.tile([(0, 0, -0.1), (apart, 0, -0.1)], (len(contacts), 1)), len(body_a)
    state.contacts = SimpleNamespace(
        body_a=body_a, body_b=body_b, point_a=points, point_b=points, gap=np.full(count, gap),
        normal=np.tile(np.array(normal, float), (count, 1)),
    )  # fmt: skip
    steps, spinning = Gyroscopes(scene, frames, joints, 1e-4).steps(state, FRAME, np.isfinite(frames.mass))
    return 1 if steps is None else steps.max(), spinning


def wanted(scene, contacts=(), **where):
    """Steps of a frame alone."""
    return asked(scene, contacts, **where)[0]


def spinner(inertia=DISC, spin=(0, 0, 60.0), kind="ball", shape=None, **options):
    scene = Scene()
    body = Body("Top", [shape or Box((0.1, 0.1, 0.1))], mass=1.0, inertia=inertia, angular_velocity=spin)
    scene.add(body)
    if kind:
        scene.add(Joint("Point", kind, None, "Top", (0, 0, -0.1), **options))
    return scene


@pytest.mark.parametrize(
    ("inertia", "spin", "rate"),
    [
        ((1, 1, 2), (0, 0, 60), 120.0),  # L / I1
        ((1, 1, 1), (0, 36, 48), 60.0),  # |L| / I
        ((2, 2, 0.2), (0, 0, 60), 6.0),  # a spinning rod
        ((2, 2, 0.2), (60, 0, 0), 60.0),  # turning end over end
        ((1, 2, 2), (60, 0, 0), 30.0),
    ],
)
def test_rate_is_that_of_the_free_axis(inertia, spin, rate):
    bound = SPINNING if not any(spin[:2]) else JOINTED  # the joint's lever lies along Z
    assert wanted(spinner(np.diag(np.array(inertia, float)), spin)) == np.ceil(rate * FRAME / bound)


def test_free_flight_and_hinges_on_the_world_need_none():
    assert wanted(spinner(kind=None)) == 1
    for kind in ("hinge", "piston", "fixed", "slider"):
        assert wanted(spinner(kind=kind, spin=(0, 0, 600.0))) == 1
    assert wanted(spinner(kind="hinge", angular_compliance=1e-3)) > 1


def wheel_on(moment):
    """A wheel on a hinge in a frame of three equal moments, the frame on a ball joint."""
    scene = spinner(kind=None)
    scene.add(Body("Frame", [Box((0.2, 0.2, 0.2))], mass=1.0, inertia=moment * np.eye(3)))
    scene.add(Joint("Axle", "hinge", "Frame", "Top"))
    scene.add(Joint("Point", "ball", None, "Frame", (0, 0, -0.3)))
    return scene


def test_a_frame_leans_with_the_wheel_it_carries():
    # L / (I1 + I_frame), also where the frame is two bodies bolted together.
    for moment in (0.5, 3.0, 100.0):
        assert wanted(wheel_on(moment)) == np.ceil(120.0 / (1.0 + moment) * FRAME / JOINTED)
    scene = wheel_on(0.5)
    scene.add(Body("Ballast", [Box((0.1, 0.1, 0.1))], mass=1.0, inertia=2.5 * np.eye(3)))
    scene.add(Joint("Bolt", "fixed", "Frame", "Ballast"))
    assert wanted(scene) == np.ceil(120.0 / 4.0 * FRAME / JOINTED)


def test_what_spins_alone_on_joints_is_turned_with_what_they_do():
    def fast(scene, contacts=()):
        found = asked(scene, contacts)[1]
        return [] if found is None else [scene.bodies[k].name for k in np.flatnonzero(found)]

    just = JOINTED / FRAME / 2.0  # L / I1 = 2 w
    assert fast(spinner(spin=(0, 0, 1.01 * just))) == ["Top"]
    assert fast(spinner(spin=(0, 0, 0.99 * just))) == []
    assert fast(spinner(spin=(0.24 * just, 0, just))) == ["Top"]
    assert fast(spinner(spin=(0.3 * just, 0, just))) == []  # a whip's links turn across their levers
    assert fast(spinner(kind=None)) == fast(wheel_on(0.5)) == fast(spinner(kind="hinge", spin=(0, 0, 600.0))) == []
    scene = spinner()
    scene.add(Body("Slow", [Box((0.1, 0.1, 0.1))], angular_velocity=(0, 0, 1.0)))
    scene.add(Body("Floor", [Plane()], motion="static"))
    scene.add(Joint("Slow point", "ball", None, "Slow", (0, 0, -0.1)))
    assert fast(scene) == ["Top"]
    assert fast(scene, [(0, 2)]) == []  # what contacts hold goes by backward Euler


def test_what_only_touches_needs_fewer_and_balls_none():
    scene = spinner(kind=None)
    scene.add(Body("Floor", [Plane()], motion="static"))
    assert wanted(scene) == 1
    assert wanted(scene, [(0, 1)]) == np.ceil(120.0 * FRAME / TOUCHING)
    scene = spinner(np.eye(3), kind=None, shape=Sphere(0.1))
    scene.add(Body("Floor", [Plane()], motion="static"))
    assert wanted(scene, [(0, 1)]) == 1


def test_what_turns_on_a_tip_needs_more():
    scene = spinner(kind=None)  # of radius of gyration 1.4 m
    scene.add(Body("Floor", [Plane()], motion="static"))
    many, few = np.ceil(120.0 * FRAME / TIPTOE), np.ceil(120.0 * FRAME / TOUCHING)
    assert wanted(scene, [(0, 1)], apart=0.6) == many
    assert wanted(scene, [(0, 1)], apart=0.8) == few  # it stands on a foot
    assert wanted(scene, [(0, 1)], apart=0.6, normal=(0.6, 0, 0.8)) == many
    assert wanted(scene, [(0, 1)], apart=0.6, normal=(0.8, 0, 0.6)) == few  # it rolls
    assert wanted(scene, [(0, 1)], apart=0.6, gap=0.04) == many  # it hops
    assert wanted(scene, [(0, 1)], apart=0.6, gap=0.05) == few
    slow = spinner(kind=None, spin=(0, 0, 0.49 * TIPTOE / FRAME))
    slow.add(Body("Floor", [Plane()], motion="static"))
    assert wanted(slow, [(0, 1)], apart=0.6) == 1


def test_what_turns_on_a_tip_needs_no_more_than_its_size_is_worth():
    scene = spinner(1e-6 * DISC, kind=None)  # of radius of gyration 1.4 mm: a tolerance of 0.1 mm is a fourteenth
    scene.add(Body("Floor", [Plane()], motion="static"))
    assert wanted(scene, [(0, 1)], apart=6e-4) == np.ceil(np.sqrt(2.0) * 10.0)
    fast = spinner(1e-6 * DISC, kind=None, spin=(0, 0, 1000.0))  # what all that touch may turn by at most stays
    fast.add(Body("Floor", [Plane()], motion="static"))
    assert wanted(fast, [(0, 1)], apart=6e-4) == np.ceil(2000.0 * FRAME / TOUCHING)


@pytest.mark.parametrize(("kind", "spin"), [("hull", 30), ("mesh", 30), ("mesh", 35), ("mesh", 40), ("capsule", 60)])
def test_a_top_stands_on_any_tip(kind, spin):
    # 3 degrees off: at 480 steps a second they lean by 2 to 6 degrees.  They lay down within a second, and the one on a
    # capsule leaned by 32 degrees; with 0.25 rad a step that on a mesh fell at 40
    # rad/s, and at others with less exact solves.
    rings = ((0, 0.003), (0.002, 0.006), (0.01, 0.012), (0.05, 0.05), (0.065, 0.05), (0.07, 0.01), (0.1, 0.008))
    angle = 2.0 * np.pi * np.arange(32) / 32
    hull = ConvexHull(np.concatenate([np.c_[r * np.cos(angle), r * np.sin(angle), np.full(32, z)] for z, r in rings]))
    shapes = {
        "hull": [hull], "mesh": [TriangleMesh(hull.vertices, hull.triangles)],
        "capsule": [Capsule(0.004, 0.04, position=(0, 0, 0.044)), Cylinder(0.05, 0.01, position=(0, 0, 0.05))],
    }[kind]  # fmt: skip
    scene, tilt = Scene(), turned("x", 0.05)
    scene.add(Body("Table", [Plane()], motion="static", friction=0.3))
    up = rotate(tilt, np.array([0.0, 0.0, 1.0]))
    scene.add(Body("Top", shapes, position=(0, 0, 0.0006), orientation=tilt, angular_velocity=spin * up, density=700,
                   friction=0.3))  # fmt: skip
    trajectory = simulate(scene, 36, config=SolverConfig(device="cpu"))
    assert all(report.converged for report in trajectory.reports)
    lean = np.arccos([rotate(q, np.array([0.0, 0.0, 1.0]))[2] for q in trajectory.orientation[:, 1]])
    name = f"top at {spin} rad/s on the tip of a {kind}, 24 fps"
    assert figure(name, "largest lean, 1.5 s", np.degrees(lean.max()), 10.0, "degrees") < 10.0


def test_the_quick_answer_is_the_exact_one(monkeypatch):
    # Crowds of all kinds about as fast as one step bears: with the quick way out and without, the same steps.
    quick = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        scene = wheel_on(rng.uniform(0.1, 3.0))
        for k in range(4):
            shape, spin = (Sphere(0.1), Box((0.1, 0.2, 0.3)))[k % 2], rng.normal(size=3) * 10.0 ** rng.uniform(-1, 2)
            scene.add(Body(f"Loose {k}", [shape], angular_velocity=spin, motion="static" if k == 3 else "dynamic"))
        scene.bodies[0].angular_velocity = np.array([0, 0, 10.0 ** rng.uniform(0, 2)])
        touching = rng.integers(0, len(scene.bodies), (3 * (seed % 2), 2))
        quick.append(wanted(scene, touching))
        monkeypatch.setattr(gyroscopic, "SAFE", -1.0)
        assert wanted(scene, touching) == quick[-1]
        monkeypatch.undo()
    assert min(quick) == 1 and max(quick) > 3


def test_top_on_a_table_stays_up_and_gains_nothing():
    # A disc of 0.2 kg, 5 cm above its round tip, 100 rad/s: L w^2 / 2 = 1.8 J, and friction may only take of it.  One
    # step a frame threw it about: + 1.3 J in a frame.
    scene = Scene()
    scene.add(Body("Table", [Plane()], motion="static", friction=0.3))
    turn, up = turned("x", 0.2), np.array([0.0, -np.sin(0.2), np.cos(0.2)])
    scene.add(
        Body(
            "Top", [Sphere(0.01, position=(0, 0, -0.05)), Cylinder(0.06, 0.005)], position=0.05 * up + (0, 0, 0.01),
            orientation=turn, mass=0.2, center_of_mass=(0, 0, 0), inertia=np.diag([1.8e-4, 1.8e-4, 3.6e-4]),
            friction=0.3, angular_velocity=100.0 * up,
        )
    )  # fmt: skip
    trajectory = simulate(scene, 12, config=SolverConfig(device="cpu"))
    energy = np.array([report.kinetic_energy + report.potential_energy for report in trajectory.reports])
    start = 1.8 + 0.2 * GRAVITY * (0.05 * np.cos(0.2) + 0.01)
    q = trajectory.orientation[:, 1]
    lean = np.arccos(1.0 - 2.0 * (q[:, 0] ** 2 + q[:, 1] ** 2))
    assert figure("top on a table, 24 fps", "energy gained, 0.5 s", energy.max() / start - 1.0, 1e-3) < 1e-3
    assert figure("top on a table, 24 fps", "largest lean, 0.5 s", lean.max(), 0.3, "rad") < 0.3
