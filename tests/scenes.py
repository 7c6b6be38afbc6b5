# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes that tests, examples and benchmarks share.  Each builder returns a new Scene and states what is known of it.

Z is up, gravity 9.81 m/s^2 downwards, lengths in metres.
"""

import numpy as np
from axion.solver import Axis, Body, Box, Capsule, Joint, Plane, Scene, Sphere

GRAVITY = 9.81
STEEP = np.radians(26.0)  # just below the angle of friction for 0.5: arctan 0.5 = 26.565 degrees
THIRTY = np.radians(30.0)


def turned(axis, angle):
    """Quaternion xyzw of a turn by ``angle`` [rad] about a coordinate axis "x", "y" or "z"."""
    q = np.zeros(4)
    q["xyz".index(axis)], q[3] = np.sin(0.5 * angle), np.cos(0.5 * angle)
    return q


def ground(scene, **options):
    """Adds the plane z = 0."""
    return scene.add(Body("Ground", [Plane()], motion="static", **options))


def falling(shape=None, height=1.0):
    """One body in free fall: z = height - g t^2 / 2, whatever its mass."""
    scene = Scene()
    scene.add(Body("Body", [shape or Sphere(0.1)], position=(0, 0, height)))
    return scene


def hanging_mass(mass=5.0, length=2.0):
    """A ball below a fixed point on a rod: at rest, the rod pulls with mass * g (49.05 N for 5 kg)."""
    scene = Scene()
    scene.add(Body("Weight", [Sphere(0.1)], position=(0, 0, -length), mass=mass))
    scene.add(Joint("Rod", "distance", None, "Weight", anchors=((0, 0, 0), (0, 0, -length))))
    return scene


def stack(count=10, size=0.2, mass=1.0, heavier=1.0, friction=0.5):
    """``count`` cubes on the ground, touching exactly: at rest for ever.  Each is ``heavier`` times the mass below."""
    scene = Scene()
    ground(scene, friction=friction)
    half = 0.5 * size
    for i in range(count):
        scene.add(
            Body(
                f"Box {i + 1}",
                [Box((half, half, half))],
                position=(0, 0, half + i * size),
                mass=mass * heavier**i,
                friction=friction,
            )
        )
    return scene


def slope(angle=STEEP, friction=0.5, half_extents=(0.2, 0.2, 0.1), mass=1.0):
    """A box on a plane that falls towards +x.  It stays where tan(angle) <= friction.

    Steeper, it slides with the acceleration g (sin(angle) - friction cos(angle)).
    """
    scene = Scene()
    tilt = turned("y", angle)
    up = np.array([np.sin(angle), 0.0, np.cos(angle)])
    scene.add(Body("Slope", [Plane()], motion="static", orientation=tilt, friction=friction))
    scene.add(
        Body("Box", [Box(half_extents)], position=half_extents[2] * up, orientation=tilt, mass=mass, friction=friction)
    )
    return scene


def downhill(angle):
    """Unit vector down the slope of ``slope(angle)``."""
    return np.array([np.cos(angle), 0.0, -np.sin(angle)])


def chain(links=10, end_mass_ratio=1.0, length=0.2, mass=0.1, kind="ball", sideways=False):
    """Links hung from the world at the origin, the last one ``end_mass_ratio`` times as heavy as the others.

    Straight down, or along +x when ``sideways``: then it swings.  At rest the joint above link k carries the weight of
    links k and below.
    """
    scene = Scene()
    along = np.array([1.0, 0.0, 0.0]) if sideways else np.array([0.0, 0.0, -1.0])
    upright = turned("y", 0.5 * np.pi) if sideways else turned("x", np.pi)  # a capsule lies along its local Z
    above = None
    for i in range(links):
        name = f"Link {i + 1}"
        heavy = end_mass_ratio if i == links - 1 else 1.0
        scene.add(
            Body(
                name,
                [Capsule(0.1 * length, 0.35 * length)],
                position=(i + 0.5) * length * along,
                orientation=upright,
                mass=heavy * mass,
            )
        )
        # The hinge turns about its local Z: laid along the world's Y, across the chain.
        scene.add(Joint(f"Joint {i + 1}", kind, above, name, i * length * along, turned("x", -0.5 * np.pi)))
        above = name
    return scene


def pendulum(length=1.0, angle=THIRTY, mass=1.0, radius=0.1):
    """A ball on a hinge about the world's Y at the origin, let go at ``angle`` [rad] from straight down, towards +x.

    Physical pendulum: its moment about the hinge is I = m (length^2 + 0.4 radius^2), small swings take
    2 pi sqrt(I / (m g length)).
    """
    scene = Scene()
    place = length * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    scene.add(Body("Bob", [Sphere(radius)], position=place, mass=mass))
    scene.add(Joint("Pivot", "hinge", None, "Bob", (0, 0, 0), turned("x", -0.5 * np.pi)))
    return scene


def pendulum_period(length=1.0, radius=0.1):
    """Period of small swings of ``pendulum`` [s]."""
    return 2.0 * np.pi * np.sqrt((length**2 + 0.4 * radius**2) / (GRAVITY * length))


def four_bar(speed=2.0, crank=0.2, coupler=0.5, rocker=0.4, base=0.5):
    """Three bars and the world, a closed loop in the x-z plane, hinges about Y, the crank driven at ``speed`` [rad/s].

    The crank starts upright.  Every joint keeps its place, so the distances between pins stay those of the bars.
    """
    scene = Scene()
    pins = four_bar_pins(crank, coupler, rocker, base)
    across = turned("x", -0.5 * np.pi)
    names = ("Crank", "Coupler", "Rocker")
    for name, start, end in zip(names, pins[:-1], pins[1:], strict=True):
        along = end - start
        angle = np.arctan2(-along[2], along[0])
        half = (0.5 * np.linalg.norm(along), 0.02, 0.02)
        scene.add(Body(name, [Box(half)], position=0.5 * (start + end), orientation=turned("y", angle), mass=1.0))
    ends = [(None, "Crank"), ("Crank", "Coupler"), ("Coupler", "Rocker"), ("Rocker", None)]
    for i, (pin, (body_a, body_b)) in enumerate(zip(pins, ends, strict=True)):
        drive = {"rz": Axis(drive="velocity", target=speed)} if i == 0 else {}
        scene.add(Joint(f"Pin {i + 1}", "hinge", body_a, body_b, pin, across, axes=drive))
    return scene


def four_bar_pins(crank=0.2, coupler=0.5, rocker=0.4, base=0.5):
    """The four pins (4, 3) of ``four_bar`` at the start, in the order of the loop."""
    a, b, d = np.zeros(3), np.array([0.0, 0.0, crank]), np.array([base, 0.0, 0.0])
    span = np.linalg.norm(d - b)
    along = (coupler**2 - rocker**2 + span**2) / (2.0 * span)
    towards = (d - b) / span
    above = np.array([-towards[2], 0.0, towards[0]])
    return np.array([a, b, b + along * towards + np.sqrt(coupler**2 - along**2) * above, d])


def door(open_speed=1.0, lower=-np.pi / 2, upper=np.pi / 2):
    """A door 0.8 x 2 m on two hinges of one axis (more rows than needed), swinging at ``open_speed`` [rad/s]."""
    scene = Scene()
    scene.add(
        Body(
            "Door",
            [Box((0.4, 0.02, 1.0))],
            position=(0.4, 0, 1.0),
            mass=20.0,
            linear_velocity=(0, 0.4 * open_speed, 0),
            angular_velocity=(0, 0, open_speed),
        )
    )
    for name, height in (("Lower hinge", 0.3), ("Upper hinge", 1.7)):
        scene.add(Joint(name, "hinge", None, "Door", (0, 0, height), axes={"rz": Axis(lower=lower, upper=upper)}))
    return scene


def pile(count=27, size=0.2, seed=1):
    """Boxes, a little turned and apart, that fall onto the ground in a heap."""
    scene = Scene()
    ground(scene)
    random = np.random.default_rng(seed)
    side = int(np.ceil(count ** (1.0 / 3.0)))
    for i in range(count):
        cell = np.array([i % side, i // side % side, i // side**2])
        turn = random.normal(size=4) * 0.1 + (0, 0, 0, 1)
        place = (cell - (0.5 * (side - 1), 0.5 * (side - 1), 0.0)) * 1.3 * size + (0, 0, size)
        scene.add(
            Body(f"Box {i + 1}", [Box([0.5 * size] * 3)], position=place, orientation=turn / np.linalg.norm(turn))
        )
    return scene


def motor_hinge(speed=2.0, max_force=np.inf):
    """A wheel on a hinge along the world's Y, driven at ``speed`` [rad/s]; its centre of mass lies on the axis."""
    scene = Scene()
    scene.add(Body("Wheel", [Box((0.3, 0.05, 0.3))], mass=2.0))
    drive = Axis(drive="velocity", target=speed, max_force=max_force)
    scene.add(Joint("Motor", "hinge", None, "Wheel", (0, 0, 0), turned("x", -0.5 * np.pi), axes={"rz": drive}))
    return scene


def motor_slider(speed=0.5, max_force=np.inf):
    """A carriage on a level slider along the world's X, driven at ``speed`` [m/s]."""
    scene = Scene()
    scene.add(Body("Carriage", [Box((0.2, 0.1, 0.1))], mass=2.0))
    drive = Axis(drive="velocity", target=speed, max_force=max_force)
    scene.add(Joint("Motor", "slider", None, "Carriage", (0, 0, 0), axes={"x": drive}))
    return scene
