# SPDX-License-Identifier: GPL-3.0-or-later
"""The many-body scenes that every engine is compared on, with the sizes of the comparison.

Z is up, gravity 9.81 m/s^2 downwards, SI units.  Each builder returns a new Scene and says what is known of it.
"""

import numpy as np
from axion.solver import Axis, Body, Box, Capsule, ConvexHull, Joint, Scene, Sphere
from axion.solver.rotations import exponential, multiply, rotate
from scenes import ground

# t / R below which an arch of N stones has no equilibrium whatever its friction: a linear programme over rigid
# stones, N -> 0.1075 (Milankovitch 1907; Makris and Alexakis 2013).
THINNEST_ARCH = {
    7: 0.0962, 9: 0.1021, 11: 0.1049, 13: 0.1028, 15: 0.1063, 21: 0.1068, 25: 0.1070, 31: 0.1072, 51: 0.1074,
}  # fmt: skip

TWENTY = np.radians(20.0)


def hung_ball(links=50, ratio=1000.0, length=0.2):
    """A ball ``ratio`` times as heavy as each of the ``links`` bars it hangs on, let go at the horizontal.

    Nothing collides and nothing drives: its energy stays what it is.
    """
    scene, upper = Scene(), None
    for i in range(links + 1):
        last = i == links
        shape, reach, mass = (Sphere(0.5), 0.5, ratio) if last else (Box((0.5 * length, 0.03, 0.03)), 0.5 * length, 1.0)
        name = "Ball" if last else f"Link {i + 1}"
        scene.add(Body(name, [shape], position=(i * length + reach, 0, 0), mass=mass, collision_mask=0))
        scene.add(Joint(f"Joint {i + 1}", "ball", upper, name, (i * length, 0, 0)))
        upper = name
    return scene


def arch(stones=11, thickness=0.11, radius=10.0, friction=0.8):
    """A semicircular arch of equal stones with radial joints on the ground; ``thickness`` in mean radii.

    The stones have the mass of their true, curved outline: the hull only gives the flat joints.  The arch stands when
    thickness > THINNEST_ARCH[stones], and falls when it is less.
    """
    scene = Scene()
    ground(scene, friction=friction)
    inner, outer, half, density = radius * (1 - 0.5 * thickness), radius * (1 + 0.5 * thickness), 1.0, 2000.0
    angle = np.pi / stones
    area = 0.5 * angle * (outer**2 - inner**2)
    middle = 4.0 * np.sin(0.5 * angle) * (outer**3 - inner**3) / (3.0 * angle * (outer**2 - inner**2))
    polar = 0.25 * angle * (outer**4 - inner**4)  # second moment about the arch's axis
    along = 0.5 * (polar + np.sin(angle) * (outer**4 - inner**4) / 4.0)  # of x^2, x towards the middle of the stone
    across = polar - along
    square = area * half**2 / 3.0
    inertia = (
        2.0 * half * density * np.diag([across + square, polar - area * middle**2, along - area * middle**2 + square])
    )
    ends = [(r, y, sign * 0.5 * angle) for r in (inner, outer) for y in (-half, half) for sign in (-1, 1)]
    corners = np.array([(r * np.cos(a) - middle, y, r * np.sin(a)) for r, y, a in ends])
    for k in range(stones):
        turn = exponential(np.array([0.0, -(k + 0.5) * angle, 0.0]))
        scene.add(
            Body(
                f"Stone {k + 1}",
                [ConvexHull(corners)],
                position=rotate(turn, np.array([middle, 0.0, 0.0])),
                orientation=turn,
                mass=2.0 * half * density * area,
                center_of_mass=(0, 0, 0),
                inertia=inertia,
                friction=friction,
            )
        )
    return scene


def card_house(storeys=4, tilt=TWENTY, friction=0.6):
    """Pairs of leaning cards, with a lying card from top to top: in equilibrium where tan(tilt) <= friction."""
    scene = Scene()
    ground(scene, friction=friction)
    height, width, thick, mass = 1.0, 0.35, 0.04, 0.5
    leaning = Box((0.5 * thick, width, 0.5 * height))
    half_depth = 0.5 * (height * np.sin(tilt) + thick * np.cos(tilt))
    rise = height * np.cos(tilt) + thick * np.sin(tilt)
    pitch, floor = 4.0 * half_depth + 0.12, 0.0
    lying = Box((0.5 * pitch - 0.005, width, 0.5 * thick))
    for storey in range(storeys):
        count = storeys - storey
        for i in range(count):
            x = (i - 0.5 * (count - 1)) * pitch
            for side, sign in (("left", -1), ("right", 1)):
                place = (x + sign * half_depth, 0, floor + 0.5 * rise)
                turn = exponential(np.array([0.0, -sign * tilt, 0.0]))
                name = f"Card {storey + 1}.{i + 1} {side}"
                scene.add(Body(name, [leaning], position=place, orientation=turn, mass=mass, friction=friction))
        for i in range(count - 1):
            place = ((i - 0.5 * (count - 2)) * pitch, 0, floor + rise + 0.5 * thick)
            scene.add(Body(f"Floor {storey + 1}.{i + 1}", [lying], position=place, mass=mass, friction=friction))
        floor += rise + thick
    return scene


def dominoes(count=50, thick=0.15, height=1.0, pitch=0.5):
    """A row of dominoes along x; the first leans by 0.25 rad about its lower front edge and falls onto the next."""
    scene = Scene()
    ground(scene)
    half = np.array([0.5 * thick, 0.25, 0.5 * height])
    for i in range(count):
        turn = exponential(np.array([0.0, 0.25 if i == 0 else 0.0, 0.0]))
        edge = np.array([half[0], 0.0, 0.0])
        place = (edge if i == 0 else edge + (i * pitch, 0, 0)) + rotate(turn, np.array([-half[0], 0.0, half[2]]))
        scene.add(Body(f"Domino {i + 1}", [Box(half)], position=place, orientation=turn, mass=1.0))
    return scene


def dropped_pile(count=125):
    """Cubes of 1 m and 1 kg, a little turned, in a loose cube of cubes that falls onto the ground in a heap."""
    scene = Scene()
    ground(scene)
    random, side = np.random.default_rng(1), round(count ** (1.0 / 3.0))
    for i in range(count):
        place = np.array([i % side, i // side % side, i // side**2]) * 1.25
        place += (-0.625 * (side - 1), -0.625 * (side - 1), 0.75)
        axis = random.standard_normal(3)
        place += random.uniform(-0.04, 0.04, 3)
        turn = exponential(axis / np.linalg.norm(axis) * random.uniform(0, 0.08))
        scene.add(Body(f"Box {i + 1}", [Box((0.5, 0.5, 0.5))], position=place, orientation=turn, mass=1.0))
    return scene


def tumbling_pile(count=64):
    """Boxes of many sizes and all directions, each of 1 kg, thrown down at 3 m/s in a tower of nine a layer.

    The boxes reach up to 0.87 m from their middles, which are 1.3 m apart: some of them overlap at the start.
    """
    scene, random = Scene(), np.random.default_rng(1)
    ground(scene)
    for i in range(count):
        turn = random.standard_normal(4)
        half = random.uniform(0.25, 0.5, 3)
        place = ((i % 3 - 1) * 1.3, (i // 3 % 3 - 1) * 1.3, 1.0 + i // 9 * 1.3)
        turn /= np.linalg.norm(turn)
        scene.add(
            Body(f"Box {i + 1}", [Box(half)], position=place, orientation=turn, mass=1.0, linear_velocity=(0, 0, -3))
        )
    return scene


def wrecking_ball(ratio=200.0, links=15):
    """A ball of ``ratio`` kg on a chain of ``links`` of 1 kg swings down into a wall of 30 boxes of 2 kg."""
    scene, upper, length = Scene(), None, 0.25
    ground(scene)
    top, lying = np.array([-4.2, 0.0, 4.6]), (0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5))
    for i in range(links):
        name = f"Link {i + 1}"
        place = top - ((i + 0.5) * length, 0, 0)
        scene.add(Body(name, [Capsule(0.05, 0.07)], position=place, orientation=lying, mass=1.0))
        scene.add(Joint(f"Joint {i + 1}", "ball", upper, name, top - (i * length, 0, 0)))
        upper = name
    scene.add(Body("Ball", [Sphere(0.4)], position=top - (links * length + 0.4, 0, 0), mass=ratio))
    scene.add(Joint("Last joint", "ball", upper, "Ball", top - (links * length, 0, 0)))
    for row in range(6):
        for column in range(5):
            place = (-3.8, (column - 2) * 0.51 + 0.12 * (row % 2), 0.15 + 0.3 * row)
            scene.add(Body(f"Brick {row}.{column}", [Box((0.15, 0.25, 0.15))], position=place, mass=2.0))
    return scene


def struck_wall(rows=12, columns=15, mass=2000.0, speed=12.0):
    """A ball of ``mass`` kg and 1 m across flies into the middle of a wall of bricks of 30 kg, in running bond."""
    scene = Scene()
    ground(scene, friction=0.6)
    for row in range(rows):
        for column in range(columns):
            place = (0.4 * (column - 0.5 * columns) + 0.2 * (row % 2), 0.0, 0.1 + 0.2 * row)
            shape = Box((0.2, 0.1, 0.1))
            scene.add(Body(f"Brick {row}.{column}", [shape], position=place, mass=30.0, friction=0.6))
    place = (0.0, -0.6 - speed / 12.0, 0.1 * rows)  # it strikes after two frames at 24 a second
    ball = Body("Ball", [Sphere(0.5)], position=place, mass=mass, linear_velocity=(0.0, speed, 0.0), friction=0.6)
    scene.add(ball)
    return scene


def rope_bridge(planks=20, load=100.0, rope=0.0):
    """Planks of 2 kg hung in an arc, each joined to the next by two ball joints (more rows than needed), or by two
    ropes of length ``rope`` [m].

    Three boxes of ``load`` kg fall onto it.
    """
    scene, length, opening = Scene(), 0.3, 0.5
    ground(scene, friction=0.6)
    radius = planks * length / (2.0 * opening)
    angle = -opening + 2.0 * opening * np.arange(planks + 1) / planks
    pins = np.stack([radius * np.sin(angle), 0.0 * angle, 2.5 - radius * (np.cos(angle) - np.cos(opening))], axis=1)
    names = [None, *(f"Plank {i + 1}" for i in range(planks)), None]
    for i, name in enumerate(names[1:-1]):
        span = pins[i + 1] - pins[i]
        turn = exponential(np.array([0.0, -np.arctan2(span[2], span[0]), 0.0]))
        place = 0.5 * (pins[i] + pins[i + 1])
        plank = Box((0.5 * (np.linalg.norm(span) - rope) if rope else 0.135, 0.5, 0.02))
        scene.add(Body(name, [plank], position=place, orientation=turn, mass=2.0, friction=0.6))
    along = np.diff(pins, axis=0) / np.linalg.norm(np.diff(pins, axis=0), axis=1)[:, None]
    for i, pin in enumerate(pins):
        for side, y in (("left", -0.45), ("right", 0.45)):
            if rope:
                ends = pin - 0.5 * rope * along[max(i - 1, 0)], pin + 0.5 * rope * along[min(i, planks - 1)]
                ends = tuple(end + (0, y, 0) for end in ends)
                scene.add(Joint(f"Rope {i} {side}", "rope", names[i], names[i + 1], anchors=ends))
            else:
                scene.add(Joint(f"Rope {i} {side}", "ball", names[i], names[i + 1], pin + (0, y, 0)))
    for k in range(3):
        place = (0.6 * (k - 1), 0, 2.2 + 0.6 * k)
        scene.add(Body(f"Load {k + 1}", [Box((0.25, 0.25, 0.25))], position=place, mass=load, friction=0.6))
    return scene


def ragdolls(count=10, columns=3):
    """Ragdolls of ten capsules with joint limits fall onto stairs, ``columns`` side by side, the others above them."""
    scene, random = Scene(), np.random.default_rng(0)
    ground(scene, friction=0.6)
    for i in range(5):
        place = (0, 0.6 * i - 1.2, 0.2 * (4 - i) - 0.2)
        scene.add(
            Body(f"Stair {i + 1}", [Box((float(columns), 0.3, 0.2))], motion="static", position=place, friction=0.6)
        )
    for k in range(count):
        across = (k % columns - 0.5 * (columns - 1)) * 1.75 + 0.02 * random.standard_normal()
        place = np.array([across, 0.0, 2.0 + 1.7 * (k // columns)])
        _ragdoll(scene, f"{k + 1}", place, exponential(np.array([random.uniform(-0.3, 0.3), 0.0, 0.0])))
    return scene


# Part -> middle, half height and radius of the capsule, mass.  Arms lie along x, everything else along z.
_TRUNK = {"Torso": ((0, 0, 0), 0.15, 0.12, 20.0), "Head": ((0, 0, 0.42), 0.03, 0.09, 4.0)}
_LIMBS = {
    "Upper arm": ((0.30, 0, 0.17), 0.09, 0.05, 2.5),
    "Forearm": ((0.58, 0, 0.17), 0.09, 0.04, 1.5),
    "Thigh": ((0.09, 0, -0.45), 0.13, 0.07, 7.0),
    "Shin": ((0.09, 0, -0.83), 0.13, 0.05, 4.0),
}
# Joint -> kind, upper part, lower part, place, limit of its angles; elbows bend about z, knees about x.
_LIMB_JOINTS = {
    "Shoulder": ("ball", "Torso", "Upper arm", (0.15, 0, 0.17), 1.4),
    "Elbow": ("hinge", "Upper arm", "Forearm", (0.44, 0, 0.17), 1.3),
    "Hip": ("ball", "Torso", "Thigh", (0.09, 0, -0.24), 1.0),
    "Knee": ("hinge", "Thigh", "Shin", (0.09, 0, -0.64), 1.3),
}


def _ragdoll(scene, tag, place, turn):
    quarter = exponential(np.array([0.0, 0.5 * np.pi, 0.0]))

    def part(name, middle, half, radius, mass, lying=False):
        scene.add(
            Body(
                f"{name} {tag}",
                [Capsule(radius, half)],
                position=place + rotate(turn, np.array(middle, float)),
                orientation=multiply(turn, quarter) if lying else turn,
                mass=mass,
                friction=0.6,
            )
        )

    def joint(name, kind, upper, lower, point, limit):
        axes = dict.fromkeys(("rz",) if kind == "hinge" else ("rx", "ry", "rz"), Axis(lower=-limit, upper=limit))
        about = multiply(turn, quarter) if name.startswith("Knee") else turn
        at = place + rotate(turn, np.array(point, float))
        scene.add(Joint(f"{name} {tag}", kind, f"{upper} {tag}", f"{lower} {tag}", at, about, axes=axes))

    for name, values in _TRUNK.items():
        part(name, *values)
    joint("Neck", "ball", "Torso", "Head", (0, 0, 0.29), 0.6)
    for side, sign in (("left", -1), ("right", 1)):
        for name, (middle, half, radius, mass) in _LIMBS.items():
            part(f"{side} {name}", np.multiply(middle, (sign, 1, 1)), half, radius, mass, lying="arm" in name.lower())
        for name, (kind, upper, lower, point, limit) in _LIMB_JOINTS.items():
            above = upper if upper == "Torso" else f"{side} {upper}"
            joint(f"{name} {side}", kind, above, f"{side} {lower}", np.multiply(point, (sign, 1, 1)), limit)
