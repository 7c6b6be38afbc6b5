# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes that hit each other with other places than were nearest at the frame's start: how they leave at 24 fps."""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Cone, ConvexHull, Cylinder, Plane, Scene, SolverConfig, Sphere, simulate
from axion.solver.rotations import conjugate, rotate
from figures import figure
from scenes import turned

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
FPS, FINE = 24, 480
STEP = 1.0 / FPS
SPEED = 6.0
SIDES = 32
AROUND = 2.0 * np.pi * np.arange(SIDES) / SIDES


def prism(radius, half_height):
    """A hull of SIDES sides about Z, with edges at y = 0."""
    ring = radius * np.stack([np.cos(AROUND), np.sin(AROUND)], axis=1)
    return ConvexHull([(*point, z) for z in (-half_height, half_height) for point in ring])


BIG = {
    "box": Box((0.3, 0.3, 0.4)),
    "cylinder": Cylinder(0.3, 0.4),
    "cone": Cone(0.4, 0.5),
    "prism": prism(0.3, 0.4),
    "plane": Plane(),
}
SMALL = {
    "ball": Sphere(0.15),
    "capsule": Capsule(0.1, 0.2),
    "box": Box((0.15, 0.1, 0.12)),
    "cylinder": Cylinder(0.15, 0.1),
    "cone": Cone(0.15, 0.15),
    "prism": prism(0.15, 0.05),
}
SAME = {("ball", "plane"), ("capsule", "plane"), ("ball", "box"), ("ball", "prism")}  # of test_edge_hits, or one normal
THROWN = [(a, b, "static") for a in SMALL for b in BIG if (a, b) not in SAME]
THROWN += [(a, "cylinder", "dynamic") for a in SMALL]


def throw(rng, small, big, moving):
    """Scene with a small shape that turns thrown at a big one: in any direction, up to 0.3 m beside its middle."""
    scene, way = Scene(gravity=(0, 0, 0)), rng.normal(size=3)
    turn, other = rng.normal(size=(2, 4))
    if big == "plane":
        turn, way = np.array([0.0, 0.0, 0.0, 1.0]), np.array([0.3, 0.3, -1.0]) * (*way[:2], 1.0)
    way /= np.linalg.norm(way)
    aside = np.cross(way, rng.normal(size=3))
    material = {"restitution": 0.7, "friction": float(rng.choice([0.0, 0.4]))}
    place = rng.uniform(0.0, 0.3) * aside / np.linalg.norm(aside) - (0.6 + SPEED * rng.uniform(0.12, 0.18)) * way
    mass = {"mass": 3.0} if moving == "dynamic" else {}
    scene.add(Body("Big", [BIG[big]], motion=moving, orientation=turn / np.linalg.norm(turn), **mass, **material))
    scene.add(Body("Small", [SMALL[small]], position=place, orientation=other / np.linalg.norm(other), mass=1.0,
                   linear_velocity=SPEED * way, angular_velocity=2.0 * rng.normal(size=3), **material))  # fmt: skip
    return scene


def after_the_hit(scene, frames=7):
    """(frame after the first impact, trajectory at FINE) or None: where there is none, or a second one."""
    fine = simulate(scene, frames * FINE // FPS, FINE, CPU)
    change = np.linalg.norm(np.diff(fine.linear_velocity[:, 1], axis=0), axis=1)
    hits = np.flatnonzero(change > 1e-2)
    if not len(hits):
        return None
    frame = int(np.ceil((hits[0] + 1) * FPS / FINE - 1e-9))
    later = hits[1:]
    if frame >= frames or (len(later) and later[0] <= (frame + 0.5) * FINE / FPS):
        return None
    return frame, fine


def turning(scene, trajectory, frame):
    """(3,) angular momentum of the small body about its centre of mass [kg m^2/s], in the world."""
    mass = scene.bodies[1].mass_properties()
    local = rotate(conjugate(trajectory.orientation[frame, 1][None]), trajectory.angular_velocity[frame, 1][None])[0]
    return rotate(trajectory.orientation[frame, 1][None], (np.asarray(mass[2]) @ local)[None])[0]


@pytest.mark.parametrize("small, big, moving", THROWN)
def test_what_turns_leaves_as_in_small_steps(small, big, moving):
    # Another hit within the frame, or one by a pose that is off as two bodies that move turn on evenly, is another
    # matter: of three throws one may have it.
    rng, off, spin = np.random.default_rng([ord(letter) for letter in small + big + moving]), [], []
    while len(off) < 3:
        scene = throw(rng, small, big, moving)
        if (found := after_the_hit(scene)) is None:
            continue
        frame, fine = found
        coarse, at = simulate(scene, frame, FPS, CPU), frame * FINE // FPS
        push = np.linalg.norm(fine.linear_velocity[at, 1] - fine.linear_velocity[0, 1])
        off.append(np.abs(coarse.linear_velocity[frame, 1] - fine.linear_velocity[at, 1]).max() / push)
        spin.append(np.abs(turning(scene, coarse, frame) - turning(scene, fine, at)).max() / (0.2 * push))
    name = f"{small} thrown at a {moving} {big}"
    figure(name, "velocity off that in small steps, the worst of 3, of its change", max(off), "")
    bound = {"static": 0.03, "dynamic": 0.1}[moving]
    assert figure(name, "velocity off, the middle of 3", np.median(off), bound) < bound
    assert figure(name, "angular momentum off, the middle of 3, of the push at 0.2 m", np.median(spin), bound) < bound


UPRIGHT = {"ball": Sphere(0.1), "cylinder": Cylinder(0.1, 0.15), "prism": prism(0.1, 0.15)}


@pytest.mark.parametrize("start", [1.0, 1.1, 1.23])
@pytest.mark.parametrize("restitution", [0.0, 0.8])
@pytest.mark.parametrize("first, second", [("cylinder", "cylinder"), ("ball", "cylinder"), ("cylinder", "ball")])
def test_upright_ones_part_along_the_line_of_their_axes(first, second, restitution, start):
    # Half off: 30 degrees aside, at (1 + e) / 2 of the speed along that line, and smooth as they are without a spin.
    scene, speed, smooth = Scene(gravity=(0, 0, 0)), 8.0, {"friction": 0.0, "mass": 1.0, "restitution": restitution}
    scene.add(Body("A", [UPRIGHT[first]], position=(-start, 0.1, 0), linear_velocity=(speed, 0, 0), **smooth))
    scene.add(Body("B", [UPRIGHT[second]], **smooth))
    trajectory = simulate(scene, 12, FPS, CPU)
    line = np.array([np.sqrt(0.75), -0.5, 0.0])
    wanted = 0.5 * (1.0 + restitution) * speed * line[0] * line
    off = np.abs(trajectory.linear_velocity[-1] - ((speed, 0, 0) - wanted, wanted)).max()
    name = f"{first} on {second}, {start:g} m off, restitution {restitution:g}"
    assert figure(name, "velocity off", off, 2.0 * FAST / STEP, "m/s") < 2.0 * FAST / STEP
    spin = 0.1 * np.abs(trajectory.angular_velocity[-1]).max()
    assert figure(name, "speed of the rims", spin, 2.0 * FAST / STEP, "m/s") < 2.0 * FAST / STEP


@pytest.mark.parametrize("start", [1.0, 1.1])
@pytest.mark.parametrize("restitution", [0.0, 0.8])
def test_upright_prisms_meet_side_to_side(restitution, start):
    # The sides that meet are square to 28.1 degrees; of the spin about Z both get the same by symmetry.
    scene, smooth = Scene(gravity=(0, 0, 0)), {"friction": 0.0, "mass": 1.0, "restitution": restitution}
    scene.add(Body("A", [UPRIGHT["prism"]], position=(-start, 0.1, 0), linear_velocity=(8.0, 0, 0), **smooth))
    scene.add(Body("B", [UPRIGHT["prism"]], **smooth))
    trajectory = simulate(scene, 12, FPS, CPU)
    angle = np.degrees(np.arctan2(-trajectory.linear_velocity[-1, 1, 1], trajectory.linear_velocity[-1, 1, 0]))
    name = f"prisms, {start:g} m off, restitution {restitution:g}"
    assert figure(name, "direction of the one that is hit", angle, 2.5 * 360.0 / SIDES, "degrees") == pytest.approx(
        2.5 * 360.0 / SIDES, abs=0.1
    )
    momentum = trajectory.linear_velocity[-1].sum(axis=0)
    assert momentum == pytest.approx([8.0, 0.0, 0.0], abs=1e-9)
    spin = trajectory.angular_velocity[-1]
    assert np.abs(spin[:, :2]).max() < 2.0 * FAST / STEP / 0.1, "they do not tip"
    assert spin[0, 2] == pytest.approx(spin[1, 2], rel=0.01)


def test_a_box_that_falls_on_its_edge_still_lands_on_both_corners():
    # What lands with its nearest places is left as it was.
    scene = Scene()
    scene.add(Body("Floor", [Plane()], motion="static", restitution=0.5))
    half = 0.2
    scene.add(Body("Box", [Box((half, half, half))], position=(0, 0, 1.0), orientation=turned("y", 0.3)))
    trajectory = simulate(scene, 24, FPS, CPU)
    assert np.abs(trajectory.angular_velocity[:, 1, [0, 2]]).max() < 1e-3
