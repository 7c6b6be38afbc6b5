# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenes of the comparison: plain solver scenes, which each file of ``engines/`` translates for its engine.

What the translations rely on, and ``engines/common.py`` checks: one shape a body, centred on the body's frame; static
bodies are planes at z = 0; all bodies of a scene share one friction and one restitution; joints are ball joints and
hinges, listed from the world outwards, so that a joint whose second body already hangs on another one closes a loop.
"""

import numpy as np
from axion.solver import Axis, Body, Box, ConvexHull, Joint, Plane, Scene, Sphere

GRAVITY = 9.81
HINGE_ALONG_Y = (np.sqrt(0.5), 0.0, 0.0, -np.sqrt(0.5))
"""Turns a hinge's axis, local Z, to world +Y."""
UNTOUCHABLE = 0
"""Collision mask of a body that collides with nothing."""


def about_y(angle):
    """Quaternion of a turn by ``angle`` [rad] about +Y."""
    return np.array([0.0, np.sin(angle / 2), 0.0, np.cos(angle / 2)])


def with_floor(friction=0.5, restitution=0.0, gravity=(0.0, 0.0, -GRAVITY)):
    """A scene with the ground z = 0 and nothing on it."""
    scene = Scene(gravity=gravity)
    scene.add(Body("Floor", [Plane()], motion="static", friction=friction, restitution=restitution))
    return scene


def incline(degrees):
    """A cube of 1 m on a floor with friction 0.5, gravity tilted; the limit of sticking is atan 0.5, 26.565 degrees."""
    angle = np.radians(degrees)
    scene = with_floor(gravity=GRAVITY * np.array([np.sin(angle), 0.0, -np.cos(angle)]))
    scene.add(Body("Box", [Box((0.5, 0.5, 0.5))], position=(0, 0, 0.5), mass=1.0))
    return scene


def stack(count):
    """``count`` cubes of 1 m and 1 kg, exactly touching."""
    scene = with_floor()
    for i in range(count):
        scene.add(Body(f"Box {i}", [Box((0.5, 0.5, 0.5))], position=(0, 0, 0.5 + i), mass=1.0))
    return scene


def heavy(ratio):
    """A cube of 1 m and ``ratio`` kg on one of 1 kg."""
    scene = stack(2)
    scene.bodies[2].mass = float(ratio)
    return scene


def chain(links=50, ratio=1000.0, length=0.2):
    """``links`` bars of 1 kg and a ball of ``ratio`` kg, hung on the world by ball joints, let go at the horizontal."""
    scene, upper = Scene(), None
    for i in range(links):
        bar = Box((length / 2, 0.03, 0.03))
        scene.add(Body(f"Link {i}", [bar], position=((i + 0.5) * length, 0, 0), mass=1.0, collision_mask=UNTOUCHABLE))
        scene.add(Joint(f"Joint {i}", "ball", upper, f"Link {i}", position=(i * length, 0, 0)))
        upper = f"Link {i}"
    end = links * length
    scene.add(Body("Ball", [Sphere(0.5)], position=(end + 0.5, 0, 0), mass=ratio, collision_mask=UNTOUCHABLE))
    scene.add(Joint("Last joint", "ball", upper, "Ball", position=(end, 0, 0)))
    return scene


def arch(stones=11, radius=10.0, thickness=1.0, depth=2.0, friction=0.8):
    """A semicircular arch of ``stones`` equal wedges with radial joints, standing loose on the floor.

    ``radius``: of the middle line [m].  An arch thinner than 0.1049 radii cannot stand with 11 stones (rigid blocks,
    limit analysis).
    """
    scene = with_floor(friction)
    for i in range(stones):
        corners = np.array(
            [
                (r * np.cos(a), y, r * np.sin(a))
                for r in (radius - thickness / 2, radius + thickness / 2)
                for y in (-depth / 2, depth / 2)
                for a in (np.pi * i / stones, np.pi * (i + 1) / stones)
            ]
        )
        center = ConvexHull(corners).center_of_mass()
        stone = ConvexHull(corners - center)
        scene.add(Body(f"Stone {i}", [stone], position=center, density=2000.0, friction=friction))
    return scene


def card_house(storeys=4, degrees=20.0):
    """Pairs of cards leaning on each other ``degrees`` off the vertical, flat cards between the storeys."""
    lean = np.radians(degrees)
    scene = with_floor(0.6)
    height, half_width, thickness = 1.0, 0.35, 0.04
    top = height * np.cos(lean) + thickness * np.sin(lean)
    pitch = 2 * (height * np.sin(lean) + thickness * np.cos(lean)) + 0.12
    base = 0.0

    def card(name, half_extents, position, angle=0.0):
        scene.add(
            Body(name, [Box(half_extents)], position=position, orientation=about_y(angle), mass=0.5, friction=0.6)
        )

    reach = 0.5 * (height * np.sin(lean) + thickness * np.cos(lean))  # half the width of a leaning card
    for storey in range(storeys):
        pairs = storeys - storey
        for i in range(pairs):
            x = (i - (pairs - 1) / 2) * pitch
            for side in (-1.0, 1.0):
                place = (x + side * reach, 0, base + top / 2)
                card(f"Card {storey}.{i}.{side:+.0f}", (thickness / 2, half_width, height / 2), place, -side * lean)
        for i in range(pairs - 1):
            x = (i - (pairs - 2) / 2) * pitch
            place = (x, 0, base + top + thickness / 2)
            card(f"Deck {storey}.{i}", (pitch / 2 - 0.005, half_width, thickness / 2), place)
        base += top + thickness
    return scene


CRANK, COUPLER, FOLLOWER, GROUND = 0.5, 1.8, 1.2, 2.0
CRANK_SPEED = np.pi
"""Lengths of the four-bar linkage [m] and the speed of its drive [rad/s]."""


def four_bar():
    """A planar four-bar linkage whose crank a motor turns; the crank starts upright, from rest."""
    scene = Scene()
    a, d = np.zeros(3), np.array([GROUND, 0.0, 0.0])
    b = a + (0.0, 0.0, CRANK)
    away = np.linalg.norm(d - b)
    along = (COUPLER**2 - FOLLOWER**2 + away**2) / (2 * away)
    u = (d - b) / away
    c = b + along * u + np.sqrt(COUPLER**2 - along**2) * np.array([-u[2], 0.0, u[0]])

    def bar(name, start, end, mass):
        span = end - start
        size = (np.linalg.norm(span) / 2, 0.05, 0.05)
        turn = about_y(-np.arctan2(span[2], span[0]))
        place = (start + end) / 2
        scene.add(Body(name, [Box(size)], position=place, orientation=turn, mass=mass, collision_mask=UNTOUCHABLE))

    bar("Crank", a, b, 1.0)
    bar("Coupler", b, c, 2.0)
    bar("Follower", d, c, 1.5)
    motor = {"rz": Axis(drive="velocity", target=CRANK_SPEED, damping=1000.0, max_force=1000.0)}
    for name, parent, child, place, axes in (
        ("Motor", None, "Crank", a, motor),
        ("Crank to coupler", "Crank", "Coupler", b, {}),
        ("Follower to ground", None, "Follower", d, {}),
        ("Coupler to follower", "Coupler", "Follower", c, {}),
    ):
        scene.add(Joint(name, "hinge", parent, child, position=place, orientation=HINGE_ALONG_Y, axes=axes))
    return scene


DROPS = np.linspace(0.4, 2.8, 13)
"""Heights from which the balls of ``bounce`` fall [m]."""


def bounce(restitution=0.5):
    """Balls of 1 m side by side, each dropped from a height of its own."""
    scene = with_floor(restitution=restitution)
    for i, height in enumerate(DROPS):
        place = (2.0 * i, 0, 0.5 + height)
        scene.add(Body(f"Ball {i}", [Sphere(0.5)], position=place, mass=1.0, restitution=restitution))
    return scene


def free_spin():
    """A box without gravity, spinning about its middle axis, which is unstable: it turns over and over."""
    scene = Scene(gravity=(0, 0, 0))
    spin = (0.05, 6.0, 0.05)
    scene.add(Body("Box", [Box((0.5, 0.3, 0.1))], mass=1.0, angular_velocity=spin, collision_mask=UNTOUCHABLE))
    return scene


DOMINO_PITCH = 0.5


def dominoes(count=50):
    """``count`` upright plates of 0.15 x 0.5 x 1 m at 0.5 m from each other; the first starts beyond its balance."""
    scene = with_floor()
    plate = Box((0.075, 0.25, 0.5))
    tilt = 0.25
    corner = np.array([0.075, 0.0, 0.0])
    turned = np.array([np.cos(tilt) * -0.075 + np.sin(tilt) * 0.5, 0.0, np.sin(tilt) * 0.075 + np.cos(tilt) * 0.5])
    scene.add(Body("Plate 0", [plate], position=corner + turned, orientation=about_y(tilt), mass=1.0))
    for i in range(1, count):
        scene.add(Body(f"Plate {i}", [plate], position=(i * DOMINO_PITCH, 0, 0.5), mass=1.0))
    return scene


def pile(side=5, layers=None):
    """``side``^2 cubes of 1 m a layer in a loose, slightly turned lattice that falls together; fixed seed."""
    scene = with_floor()
    generator = np.random.default_rng(1)
    for i in range(side**2 * (layers or side)):
        cell = np.array([i % side, (i // side) % side, i // side**2])
        place = 1.25 * cell + (-0.625 * (side - 1), -0.625 * (side - 1), 0.75) + generator.uniform(-0.04, 0.04, 3)
        axis = generator.standard_normal(3)
        angle = generator.uniform(0.0, 0.08)
        turn = (*(np.sin(angle / 2) * axis / np.linalg.norm(axis)), np.cos(angle / 2))
        scene.add(Body(f"Box {i}", [Box((0.5, 0.5, 0.5))], position=place, orientation=turn, mass=1.0))
    return scene


def tumble(count=64):
    """``count`` boxes of many sizes, turned anyhow, dropped as a column of three by three; fixed seed."""
    scene = with_floor()
    generator = np.random.default_rng(1)
    pitch = 1.75  # no two can touch at the start: half a diagonal is 0.87 m at most
    for i in range(count):
        turn = generator.standard_normal(4)
        cell = np.array([i % 3 - 1, (i // 3) % 3 - 1, i // 9])
        half_extents = generator.uniform(0.25, 0.5, 3)
        place = pitch * cell + (0.0, 0.0, 1.0)
        turn /= np.linalg.norm(turn)
        scene.add(Body(f"Box {i}", [Box(half_extents)], position=place, orientation=turn, mass=1.0))
    return scene
