# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing tunnels: bullets at 60 m/s, 2.5 m a frame, against walls of 1 cm; rods that sweep a post while they turn by
radians a frame.  What is inelastic never gains energy, however it spins.
"""

import numpy as np
import pytest
from axion.solver import (
    Body,
    Box,
    Capsule,
    Cylinder,
    Joint,
    Scene,
    SolverConfig,
    Sphere,
    TriangleMesh,
    halving,
    simulate,
    stepped_scene,
)
from axion.solver.rotations import rotate
from contact_scenes import grid, rock, torus
from figures import figure
from judges import energies
from scenes import turned

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
SPIN = (40.0, 20.0, 90.0)
BULLETS = {
    "ball": (Sphere(0.01), (0, 0, 0)),
    "box": (Box([0.01] * 3), SPIN),
    "hull": (rock(20, 1, 0.01), SPIN),
    "capsule": (Capsule(0.01, 0.01), SPIN),
    "ring": (torus(0.02, 0.006), (10.0, 20.0, 30.0)),
}


def sheet():
    """An open mesh in x = 0, 2 m wide."""
    flat = grid(4, 1.0)
    return TriangleMesh(flat.vertices[:, [2, 0, 1]], flat.triangles)


WALLS = {"wall of 1 cm": lambda: Box((0.005, 1, 1)), "sheet without thickness": sheet}


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("bullet", BULLETS)
def test_bullet_stays_on_its_side(bullet, wall):
    shape, spin = BULLETS[bullet]
    for start in (0.3, 1.3, 2.6):
        scene = Scene(gravity=(0, 0, 0))
        scene.add(Body("Wall", [WALLS[wall]()], motion="static"))
        flight = {"linear_velocity": (60, 3, 0), "angular_velocity": spin}
        scene.add(Body("Bullet", [shape], position=(-start, 0.03, 0.02), **flight))
        trajectory = simulate(scene, 4, config=CPU)
        assert trajectory.position[:, 1, 0].max() < 0.0
        assert max(report.penetration for report in trajectory.reports) < FAST
        # It hit, and nothing gives it energy.
        assert trajectory.linear_velocity[-1, 1, 0] < 10.0
        energy = energies(scene, trajectory)
        assert np.all(np.diff(energy) < 1e-3 * energy[0])


SPLINTERS = {
    "capsule": Capsule(0.01, 0.05),
    "cylinder": Cylinder(0.02, 0.002),
    "box": Box([0.01, 0.02, 0.03]),
    "hull": rock(12, 3, 0.02),
}

DRAWN = {"capsule": 24, "cylinder": 24, "box": 8, "hull": 8}


def thrown(splinter, thick, speed, draw):
    """A Scene with a splinter of any orientation on its way to a wall, which it meets within the second frame."""
    scene = Scene(gravity=(0, 0, 0))
    scene.add(Body("Wall", [Box((0.5 * thick, 4, 4))], motion="static"))
    turn, start = draw.normal(size=4), -0.08 - draw.uniform() * speed / 24.0
    flight = {"linear_velocity": (speed, 0, 0), "orientation": turn / np.linalg.norm(turn)}
    scene.add(Body("Splinter", [SPLINTERS[splinter]], position=(start, 0, 0), mass=0.1, **flight))
    return scene


@pytest.mark.parametrize("speed", [20.0, 100.0])
@pytest.mark.parametrize("thick", [0.004, 0.02])
@pytest.mark.parametrize("splinter", SPLINTERS)
def test_what_a_hit_turns_by_radians_stays_on_its_side(splinter, thick, speed):
    # Struck off its middle it spins at up to 2000 rad/s, and its other end comes in while the one that was hit leaves.
    draw, through = np.random.default_rng(7), 0
    for _ in range(DRAWN[splinter]):
        trajectory = simulate(thrown(splinter, thick, speed, draw), 3, config=CPU)
        through += trajectory.position[:, 1, 0].max() > 0.5 * thick
    assert figure(f"{splinter} at {speed:g} m/s, wall of {thick:g} m", "through", through, 0) == 0


def test_what_goes_through_at_the_last_resort_is_told(monkeypatch):
    # With no halves left all that can be done is to say so, and how deep it was.
    for module in (halving, stepped_scene):
        monkeypatch.setattr(module, "DEEPEST", 0)
    monkeypatch.setattr(halving, "MORE", 0)
    draw, through = np.random.default_rng(7), 0
    for splinter in SPLINTERS:
        for speed in (20.0, 100.0):
            for _ in range(6):
                trajectory = simulate(thrown(splinter, 0.004, speed, draw), 3, config=CPU)
                if trajectory.position[:, 1, 0].max() > 0.002:
                    through += 1
                    assert any(not told.converged and told.penetration > FAST for told in trajectory.reports)
    assert through > 4


@pytest.mark.parametrize(
    ("place", "speed", "orientation", "spin"),
    [
        (-0.021918, 4.0293, (-0.494, -0.8158, -0.153, 0.259), (10.7, 1.03, -5.2)),
        (-0.0249, 4.51, (-1.7, -0.68, 0.86, -0.47), (10.7, 17.5, 0.4)),
        (-0.0223, 5.99, (0.23, -0.84, 0.1, -0.27), (12.5, 5.0, -11.8)),
    ],
)
def test_disc_that_turns_beside_a_wall_stays_on_its_side(place, speed, orientation, spin):
    # By half a radian in a step, millimetres away: its far rim comes in while the near one leaves.
    scene = Scene(gravity=(0, 0, 0))
    scene.add(Body("Wall", [Box((0.002, 4, 4))], motion="static"))
    turning = {
        "orientation": orientation / np.linalg.norm(orientation),
        "angular_velocity": spin,
        "linear_velocity": (speed, 0, 0),
    }
    scene.add(Body("Disc", [Cylinder(0.02, 0.002)], position=(place, 0, 0), mass=0.1, **turning))
    trajectory = simulate(scene, 4, config=CPU)
    assert trajectory.position[:, 1, 0].max() < -0.002
    assert all(report.converged for report in trajectory.reports)


@pytest.mark.parametrize(("seed", "speed", "wide"), [(11, 20.0, 2.0), (5, 100.0, 100.0)])
def test_disc_that_only_just_touches_a_wall_as_a_step_begins_stays_on_its_side(seed, speed, wide):
    # newton found no normal there, and the next step went through the wall in frames that had converged.
    draw, scene = np.random.default_rng(seed), Scene(gravity=(0, 0, 0))
    scene.add(Body("Wall", [Box((0.002, 0.5 * wide, 0.5 * wide))], motion="static"))
    turn, start = draw.normal(size=4), -draw.uniform(0.3, 0.6 * speed)
    flight = {"orientation": turn / np.linalg.norm(turn), "linear_velocity": (speed, 0, 0)}
    scene.add(Body("Disc", [Cylinder(0.02, 0.002)], position=(start, 0, 0), mass=0.1, **flight))
    trajectory = simulate(scene, 6, config=CPU)
    assert trajectory.position[:, 1, 0].max() < -0.002
    assert trajectory.linear_velocity[-1, 1, 0] < 0.1 * speed


def test_capsule_deep_in_a_sheet_that_comes_towards_it_stays_on_its_side():
    # Of a capsule whose axis goes through a wall of 1 mm, far from the wall's middle, newton said nothing.
    draw, scene = np.random.default_rng([0, 1, 100]), Scene(gravity=(0, 0, 0))
    turn, spin, back = draw.normal(size=4), draw.choice([0.0, 30.0]), draw.uniform(0.0, 6.25)
    assert draw.random() >= 0.3
    place = (-0.1705 - back, *draw.uniform(-2.0, 2.0, 2))
    aside = draw.choice([0.0, 0.3]) * 100.0 * draw.uniform(-1.0, 1.0, 2)
    run = {"motion": "kinematic", "position": (50.0 / 24.0, 0, 0), "linear_velocity": (-50.0, 0, 0)}
    scene.add(Body("Wall", [Box((0.0005, 6, 6))], **run))
    flight = {
        "orientation": turn / np.linalg.norm(turn),
        "linear_velocity": (50.0, *aside),
        "angular_velocity": draw.uniform(-spin, spin, 3),
    }
    scene.add(Body("Capsule", [Capsule(0.02, 0.1)], position=place, mass=0.1, **flight))
    trajectory = simulate(scene, 5, config=CPU)
    ahead = trajectory.position[:, 1, 0] - trajectory.position[:, 0, 0]
    assert ahead.max() < -0.02


def test_rod_that_turns_by_radians_a_frame_stops_at_a_post():
    # A rod of 2 m about its middle at 60 rad/s, 2.5 rad a frame, and a post of 1 cm across its way.  The faces meet
    # where the rod's middle line is 1.5 cm before the post's, at 0.9 m.
    scene = Scene(gravity=(0, 0, 0))
    scene.add(Body("Post", [Box((0.005, 0.005, 0.5))], motion="static", position=(0.9, 0, 0)))
    scene.add(Body("Rod", [Box((1, 0.01, 0.01))], orientation=turned("z", -0.8), angular_velocity=(0, 0, 60.0)))
    scene.add(Joint("Pin", "hinge", None, "Rod", (0, 0, 0)))
    trajectory = simulate(scene, 4, config=CPU)
    along = rotate(trajectory.orientation[1:, 1], np.array([1.0, 0.0, 0.0]))
    assert np.abs(np.arctan2(along[:, 1], along[:, 0]) + 0.015 / 0.9).max() < 1e-3
    assert np.abs(trajectory.angular_velocity[-1]).max() < FAST * 24.0
    energy = energies(scene, trajectory)
    assert np.all(np.diff(energy) < 1e-3 * energy[0])


@pytest.mark.parametrize(
    ("speed", "place", "start", "mass", "half"),
    [
        (56.3, 0.35, -2.04, 0.293, 0.0198),
        (55.7, 0.20, -1.95, 8.606, 0.0130),
        (56.9, 0.29, -2.34, 1.128, 0.0170),
        (22.0, 0.55, -2.01, 0.049, 0.0039),
        (30.0, 0.90, -0.80, 0.1, 0.005),
    ],
)
def test_free_rod_strikes_a_free_post_and_neither_passes_nor_gains(speed, place, start, mass, half):
    # Both thin, both free, up to 2.3 rad a frame.  A rod that contacts turn far from its free pose once ended with its
    # momentum along its own axis, where it has next to no inertia: 50 times its energy, and later still a quarter.
    scene = Scene(gravity=(0, 0, 0))
    scene.add(Body("Post", [Box((half, half, 0.5))], position=(place, 0, 0), mass=mass))
    scene.add(Body("Rod", [Box((1, 0.01, 0.01))], orientation=turned("z", start), angular_velocity=(0, 0, speed)))
    trajectory = simulate(scene, max(3, int((0.3 - start) / speed * 24) + 2), config=CPU)
    name = f"free rod at {speed} rad/s on a free post of {mass} kg"
    rise = np.diff(energies(scene, trajectory)).max() / energies(scene, trajectory)[0]
    assert figure(name, "energy rise in a frame", rise, 1e-3, "of itself") < 1e-3
    struck = np.linalg.norm(trajectory.linear_velocity[:, 0], axis=1).max()
    inertia = 0.8 / 3.0  # of the rod about its middle; a rod that hits the post dead gives it w r I / (I + m r^2)
    least = 0.1 * speed * place * inertia / (inertia + mass * place**2)
    assert figure(name, "speed of the post", struck, f"> {least:.3g}", "m/s") > least
    assert all(report.converged for report in trajectory.reports)


@pytest.mark.parametrize("speed", [20.0, 40.0])
def test_blade_sweeps_a_ball_away(speed):
    # A kinematic blade at up to 1.7 rad a frame reaches the ball at 0.8 m with its tip's side.  It takes the blade's
    # speed there, w r, slides out along the blade and leaves it at the tip: 1.10 w m/s at 384 and 1536 frames a second,
    # up to w sqrt(1 + 0.6^2) without friction.
    scene = Scene(gravity=(0, 0, 0))
    blade = {"orientation": turned("z", -0.5), "angular_velocity": (0, 0, speed)}
    scene.add(Body("Blade", [Box((1, 0.01, 0.05))], motion="kinematic", **blade))
    scene.add(Body("Ball", [Sphere(0.02)], position=(0.8, 0, 0)))
    velocity = simulate(scene, 4, config=CPU).linear_velocity[-1, 1]
    pace = figure(f"blade at {speed:g} rad/s", "ball's speed over the tip's", np.linalg.norm(velocity) / speed, "1.1")
    assert pace == pytest.approx(1.1, abs=0.06)
