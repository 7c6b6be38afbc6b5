# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that pass each other without touching: nothing may push them, at frame-sized steps either."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Capsule, Cylinder, Joint, Scene, SolverConfig, Sphere, TriangleMesh, simulate
from axion.solver.position_phase import PositionPhase
from axion.solver.rotations import exponential
from figures import figure

CPU = SolverConfig(device="cpu")
LIES = exponential([np.pi / 2, 0.0, 0.0])
PASSING = {
    "ball": Sphere(0.1),
    "capsule": Capsule(0.1, 0.1, orientation=LIES),
    "cylinder": Cylinder(0.1, 0.1, orientation=LIES),
    "box": Box((0.1, 0.1, 0.1)),
}


@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("kind", ["distance", "rope"])
def test_pendulum_swings_past_an_edge_below_it(kind, restitution):
    # The bob passes 1 cm above the box.  It stopped in the air at 0.12 rad, or bounced off it.
    scene, start = Scene(), np.array([np.sin(-1.0), 0.0, -np.cos(-1.0)])
    place = (0.0, 0.0, -1.21)
    scene.add(Body("Box", [Box((0.1, 0.3, 0.1))], motion="static", position=place, restitution=restitution))
    scene.add(Body("Bob", [Sphere(0.1)], position=start, mass=1.0, restitution=restitution))
    scene.add(Joint("String", kind, None, "Bob", anchors=((0.0, 0.0, 0.0), start)))
    trajectory = simulate(scene, 48, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    bob = trajectory.position[:, 1]
    far = np.arctan2(bob[:, 0], -bob[:, 2]).max()
    assert figure(f"pendulum over an edge, {kind}, e = {restitution}", "far side", far, "1 to 1 %", "rad") == (
        pytest.approx(1.0, rel=1e-2)
    )


@pytest.mark.parametrize("speed", [1.0, 3.0, 10.0])
@pytest.mark.parametrize("shape", PASSING)
def test_what_flies_a_millimetre_above_a_box_keeps_its_speed(shape, speed):
    # Of 10 m/s a box that hangs on a joint left a ball 0.6 m/s, though it never came nearer than 1 mm.
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add(Body("Box", [Box((0.2, 0.5, 0.05))], position=(0.6, 0.0, -0.05), mass=1e4))
    scene.add(Joint("Held", "fixed", None, "Box", (0.6, 0.0, 0.0)))
    velocity = np.array([speed, 0.0, 0.0])
    scene.add(Body("Passing", [PASSING[shape]], position=(0.0, 0.0, 0.101), mass=1.0, linear_velocity=velocity))
    trajectory = simulate(scene, int(24 * 1.2 / speed) + 2, config=CPU)
    off = np.linalg.norm(trajectory.linear_velocity[-1, 1] - velocity) / speed
    assert figure(f"{shape} past a box at {speed:g} m/s", "speed off", off, 1e-6, "of itself") < 1e-6


@pytest.mark.parametrize("clearance", [0.00375, 0.09875])
def test_motor_turns_an_arm_past_a_post(clearance):
    # Angle of a motor of 5 N m that reaches 6 rad/s, in 3 s.  At 24 frames a second the arm lost up to 4.8 rad.
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add(Body("Post", [Box((0.1, 0.1, 0.5))], motion="static", position=(0.0, 1.10125 + clearance, 0.0)))
    scene.add(Body("Arm", [Box((0.5, 0.05, 0.05))], position=(0.5, 0.0, 0.0), mass=2.0))
    drive = Axis(drive="velocity", target=6.0, max_force=5.0)
    scene.add(Joint("Hinge", "hinge", None, "Arm", (0.0, 0.0, 0.0), axes={"rz": drive}))
    trajectory = simulate(scene, 72, config=CPU)
    turn = trajectory.orientation[:, 1]
    angle = 2.0 * np.unwrap(np.arctan2(turn[:, 2], turn[:, 3]), period=np.pi)[-1]
    law = 18.0 - 36.0 / (2.0 * 5.0 / (2.0 * 1.01 / 12.0 + 0.5))
    assert figure(f"arm past a post, {clearance} m clear", "turned", angle, law, "rad") == pytest.approx(law, abs=0.01)


@pytest.mark.parametrize("speed", [1.0, 10.0])
def test_what_does_meet_is_stopped(speed):
    # 1 cm too low: the box stands in the way, and the ball must not come through.
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add(Body("Wall", [Box((0.01, 0.5, 0.5))], motion="static", position=(0.6, 0.0, -0.41)))
    velocity = (speed, 0.0, 0.0)
    scene.add(Body("Ball", [Sphere(0.1)], position=(0.0, 0.0, 0.0), mass=1.0, linear_velocity=velocity, friction=0.0))
    trajectory = simulate(scene, 24, config=CPU)
    assert trajectory.position[:, 1, 0].max() < 0.5 + 1e-3


def window(hole=0.5, outside=2.0, thickness=0.1):
    """A wall in the plane of x and z with a square hole, as one mesh."""
    inner, outer = 0.5 * hole, 0.5 * outside
    ring = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
    vertices = [(s * x, y, s * z) for y in (-0.5 * thickness, 0.5 * thickness) for s in (inner, outer) for x, z in ring]
    quads = []
    for k in range(4):
        n = (k + 1) % 4
        quads += [
            (k, 4 + k, 4 + n, n),
            (8 + k, 8 + n, 12 + n, 12 + k),
            (4 + k, 12 + k, 12 + n, 4 + n),
            (k, n, 8 + n, 8 + k),
        ]
    triangles = [tip for a, b, c, d in quads for tip in ((a, b, c), (a, c, d))]
    return TriangleMesh(vertices, triangles)


@pytest.mark.parametrize("radius", [0.01, 0.035])
@pytest.mark.parametrize("speed", [20.0, 30.0])
def test_a_ball_flies_through_a_window_aslant(speed, radius):
    # Small and fast, it was taken to hit what it passed at 4 to 14 cm, and came back from nothing.
    mesh = window()
    assert mesh.is_closed() and mesh.volume() > 0.0
    for start in (-2.0, -2.2, -2.4):
        for aslant in (-0.5, 0.4):
            scene = Scene(gravity=(0.0, 0.0, 0.0))
            scene.add(Body("Wall", [mesh], motion="static", restitution=0.5))
            velocity = speed * np.array([aslant, 1.0, 0.3]) / np.linalg.norm([aslant, 1.0, 0.3])
            place = start * velocity / velocity[1] + (0.1, 0.0, -0.05)
            scene.add(
                Body("Ball", [Sphere(radius)], position=place, mass=1.0, linear_velocity=velocity, restitution=0.5)
            )
            trajectory = simulate(scene, int(96.0 / speed) + 2, config=CPU)
            np.testing.assert_allclose(trajectory.linear_velocity[-1, 1], velocity, rtol=1e-9)


TURNING = {
    "disc": ([Cylinder(0.2, 0.05)], 5.0, 3.5, 0.01, 0.0),
    "cross": ([Box((0.4, 0.05, 0.05)), Box((0.05, 0.4, 0.05))], 5.39, 4.27, 0.0092, -0.041),
    "stick": ([Box((0.4, 0.05, 0.05))], 6.77, 2.62, 0.0149, 0.431),
}


@pytest.mark.parametrize("shape", TURNING)
def test_what_turns_level_above_an_edge_flies_on(shape):
    # The push itself tilted it until it touched the edge, and then seemed to be a hit: 71 to 95 % of the energy went.
    shapes, spin, speed, gap, aside = TURNING[shape]
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add(Body("Turning", shapes, position=(-1.5, aside, 0.0), mass=2.0, linear_velocity=(speed, 0.0, 0.0),
                   angular_velocity=(0.0, 0.0, spin)))  # fmt: skip
    scene.add(Body("Post", [Box((0.3, 0.3, 0.3))], motion="static", position=(0.0, 0.0, -0.35 - gap)))
    energy = np.array([r.kinetic_energy for r in simulate(scene, int(72 / speed), config=CPU).reports])
    off = np.abs(energy / energy[0] - 1.0).max()
    assert figure(f"{shape} turns above an edge", "energy off", off, 1e-6, "of itself") < 1e-6


def test_a_slight_push_from_afar_stops_nothing():
    # Pushed by 0.04 mm, which seemed not worth a look, a stick lost 6 % of its energy at 48 frames a second: its speed
    # towards the edge, all of it.
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    draw = np.random.default_rng(9)
    gap, spin, side = draw.uniform(0.003, 0.02), draw.uniform(3.0, 15.0), draw.choice([-1, 1])
    speed, aside = draw.uniform(1.0, 6.0), draw.uniform(-0.5, 0.5)
    scene.add(Body("Stick", [Box((0.4, 0.05, 0.05))], position=(-1.5, aside, 0.0), mass=2.0,
                   linear_velocity=(speed, 0.0, 0.0), angular_velocity=(0.0, 0.0, spin * side)))  # fmt: skip
    scene.add(Body("Post", [Box((0.3, 0.3, 0.3))], motion="static", position=(0.0, 0.0, -0.35 - gap)))
    energy = np.array([r.kinetic_energy for r in simulate(scene, int(3 / speed * 48), 48.0, config=CPU).reports])
    off = np.abs(energy / energy[0] - 1.0).max()
    assert figure("stick past an edge, 48 fps", "energy off", off, 1e-6, "of itself") < 1e-6


def test_jointed_bars_turn_level_above_an_edge():
    # Two bars on a ball joint lost 47 % of their energy 3 to 20 mm above the edge, in frames that had converged.
    for seed in (10, 20):
        off = _lost_by_bars(seed)
        assert figure(f"jointed bars above an edge, seed {seed}", "energy off", off, 5e-3, "of itself") < 5e-3


def test_what_misses_without_a_push_from_afar_is_halved(monkeypatch):
    """A push from 12 cm afar stayed where the solve without it missed: the bars lost 62 % of their energy in a frame.

    Here all steps miss without it that are longer than half a frame.
    """
    without, asked = PositionPhase._without, []

    def misses(self, solved, pairs, state, last):
        trial = without(self, solved, pairs, state, last)
        if trial.assembly.problem.step > 1.0 / 40.0:
            trial.statistics.residual[:] = 1.0
            asked.append(state.time)
        return trial

    monkeypatch.setattr(PositionPhase, "_without", misses)
    off = _lost_by_bars(20)
    assert asked
    assert figure("jointed bars, whole steps miss without ghosts", "energy off", off, 5e-3, "of itself") < 5e-3


def _lost_by_bars(seed):
    """Share of the kinetic energy by which two bars are off that turn on a ball joint above the edge of a post."""
    draw = np.random.default_rng(seed)
    gap, spin, side = draw.uniform(0.003, 0.02), draw.uniform(3.0, 15.0), draw.choice([-1, 1])
    speed, aside = draw.uniform(1.0, 6.0), draw.uniform(-0.5, 0.5)
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    for i, x in enumerate((-0.2, 0.2)):
        motion = {"linear_velocity": (speed, spin * side * x, 0.0), "angular_velocity": (0.0, 0.0, spin * side)}
        scene.add(Body(f"Bar {i}", [Box((0.2, 0.05, 0.05))], position=(x - 1.5, aside, 0.0), mass=1.0, **motion))
    scene.add(Joint("Between", "ball", "Bar 0", "Bar 1", (-1.5, aside, 0.0)))
    scene.add(Body("Post", [Box((0.3, 0.3, 0.3))], motion="static", position=(0.0, 0.0, -0.35 - gap)))
    energy = np.array([r.kinetic_energy for r in simulate(scene, int(72 / speed), config=CPU).reports])
    return np.abs(energy / energy[0] - 1.0).max()
