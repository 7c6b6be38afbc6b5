# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands on a round end, judged by the law of the lever: it tips where the pull leans by more than arctan(r / h).

r is the radius of the end, h the height of the centre of mass.  Held at three places of its rim, which changed from
step to step, a tin leaned by a degree at 0.9 of that, rocked, walked and fell, and on a turntable walked off by 249 mm.
"""

from itertools import product

import numpy as np
import pytest
from axion.solver import Body, Box, Cone, Cylinder, Plane, Scene, SolverConfig, TriangleMesh, simulate
from axion.solver.rotations import matrices
from figures import figure
from scenes import GRAVITY

CPU = SolverConfig(device="cpu")
ROUGH = 10.0  # friction: nothing slides
DIRECTIONS = np.radians([0, 20, 45, 90, 137, 290])
CORNERS = np.array(list(product((-3.0, 3.0), (-3.0, 3.0), (-0.2, 0.0))))
SIDES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4)]
GROUNDS = {
    "plane": Plane(),
    "box": Box((3.0, 3.0, 0.1), position=(0, 0, -0.1)),
    "cylinder": Cylinder(3.0, 0.1, position=(0, 0, -0.1)),
    "mesh": TriangleMesh(CORNERS, np.array([*SIDES, (1, 5, 7), (1, 7, 3)])),
}
SOLIDS = {  # with the height of the centre of mass
    "tin": (Cylinder(0.1, 0.2), 0.2),
    "cone": (Cone(0.1, 0.2), 0.1),
    "disc": (Cylinder(0.2, 0.05), 0.05),
}


def leans(solid, ground, share, direction, seconds=2.0, fps=24):
    """(Largest lean [degrees], way along the ground [m]) of a solid that the pull of gravity, aslant by a ``share``
    of what tips it over, draws in a direction [rad].
    """
    shape, height = SOLIDS[solid]
    slant = np.arctan(share * shape.radius / height)
    pull = np.array([np.sin(slant) * np.cos(direction), np.sin(slant) * np.sin(direction), -np.cos(slant)])
    scene = Scene(gravity=tuple(GRAVITY * pull))
    scene.add(Body("Ground", [GROUNDS[ground]], motion="static", friction=ROUGH))
    scene.add(Body("Solid", [shape], position=(0, 0, shape.half_height), friction=ROUGH))
    trajectory = simulate(scene, round(seconds * fps), fps, CPU)
    upright = matrices(trajectory.orientation[:, 1])[:, 2, 2].min()
    way = trajectory.position[-1, 1] - trajectory.position[0, 1]
    return np.degrees(np.arccos(min(1.0, upright))), np.linalg.norm(way[:2])


@pytest.mark.parametrize(
    ("solid", "ground"),
    [*(("tin", ground) for ground in GROUNDS), *((s, g) for s in ("cone", "disc") for g in ("plane", "mesh"))],
)
def test_what_stands_on_a_round_end_falls_by_the_law_of_the_lever(solid, ground):
    held = np.array([leans(solid, ground, 0.97, direction) for direction in DIRECTIONS])
    fallen = [leans(solid, ground, 1.03, direction, seconds=3.0)[0] for direction in DIRECTIONS[1:2]]
    scene = f"{solid} on a {ground}"
    assert figure(scene, "lean at 0.97 of what tips it", held[:, 0].max(), 0.05, "deg") < 0.05
    assert figure(scene, "way", 1e3 * held[:, 1].max(), 0.1, "mm") < 0.1
    assert figure(scene, "least lean within 3 s at 1.03 of that", min(fallen), 60.0, "deg") > 60.0


@pytest.mark.parametrize("fps", [96, 384])
def test_a_tin_stands_at_short_steps(fps):
    held = np.array([leans("tin", "plane", 0.97, direction, seconds=1.0, fps=fps) for direction in DIRECTIONS[:4]])
    assert figure(f"tin at {fps} fps", "lean at 0.97 of what tips it", held[:, 0].max(), 0.05, "deg") < 0.05
    assert figure(f"tin at {fps} fps", "way", 1e3 * held[:, 1].max(), 0.2, "mm") < 0.2


@pytest.mark.parametrize("count", [3])
def test_tins_on_each_other_stand(count):
    slant = np.arctan(0.95 * 0.1 / (0.1 * count))
    for direction in DIRECTIONS[:4]:
        pull = np.array([np.sin(slant) * np.cos(direction), np.sin(slant) * np.sin(direction), -np.cos(slant)])
        scene = Scene(gravity=tuple(GRAVITY * pull))
        scene.add(Body("Ground", [Plane()], motion="static", friction=ROUGH))
        for k in range(count):
            scene.add(Body(f"Tin {k}", [Cylinder(0.1, 0.1)], position=(0, 0, 0.1 + 0.2 * k), friction=ROUGH))
        trajectory = simulate(scene, 72, 24, CPU)
        way = np.linalg.norm(trajectory.position[-1, -1] - trajectory.position[0, -1])
        assert figure(f"{count} tins", "way of the uppermost", 1e3 * way, 0.2, "mm") < 0.2


@pytest.mark.parametrize("table", ["cylinder", "box"])
def test_a_tin_goes_round_with_a_turntable(table):
    spin, away, friction, size = 2.5, 0.8, 0.9, 1.2  # half of what tips it, 0.57 of what it slides at
    shape = Cylinder(size, 0.1) if table == "cylinder" else Box((size, size, 0.1))
    scene = Scene()
    scene.add(
        Body("Table", [shape], motion="kinematic", friction=friction, angular_velocity=(0, 0, spin),
             center_of_mass=(0, 0, 0))
    )  # fmt: skip
    scene.add(
        Body("Tin", [Cylinder(0.1, 0.1)], position=(away, 0, 0.2), friction=friction,
             linear_velocity=(0, away * spin, 0), angular_velocity=(0, 0, spin))
    )  # fmt: skip
    trajectory = simulate(scene, 240, 24, CPU)
    out = np.hypot(*trajectory.position[-1, 1, :2]) - away
    assert abs(figure(f"tin on a {table} that turns", "way outwards in 10 s", 1e3 * out, 1.2, "mm")) < 1.2
