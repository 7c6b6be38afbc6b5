# SPDX-License-Identifier: GPL-3.0-or-later
"""Where one body went through the floor in a step, the contacts of the others with it were dropped as well.

Twelve flat hulls thrown on a floor: they sank by 147 mm, and the report said 0.09 mm.
"""

import numpy as np
from axion.solver import Body, Box, ConvexHull, Scene, SolverConfig, rotations, simulate

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]


def thrown():
    random, scene, corners = np.random.default_rng(3), Scene(), {}
    floor = Body("Floor", [Box((30, 30, 0.25))], position=(0, 0, -0.25), motion="static", friction=0.6)
    scene.add(floor)
    for i in range(12):
        corners[f"Hull {i}"] = random.uniform(-1, 1, (14, 3)) * [0.15, 0.15, 0.06]
        turn = random.normal(size=4)
        place = (6 + 0.5 * (i % 4), 3 + 0.5 * (i // 4), 0.35)
        motion = {"angular_velocity": 2.0 * random.normal(size=3), "linear_velocity": (0, 0, -4)}
        shape = ConvexHull(corners[f"Hull {i}"])
        turn /= np.linalg.norm(turn)
        scene.add(Body(f"Hull {i}", [shape], position=place, orientation=turn, friction=0.6, restitution=0.2, **motion))
    return scene, corners


def test_the_report_tells_how_deep_the_deepest_corner_is():
    scene, corners = thrown()
    trajectory = simulate(scene, 14, config=CPU)
    for frame, report in enumerate(trajectory.reports, start=1):
        depth = 0.0
        for i, name in enumerate(trajectory.names[1:], start=1):
            turn = rotations.matrices(trajectory.orientation[frame, i])
            depth = max(depth, -(corners[name] @ turn.T + trajectory.position[frame, i])[:, 2].min())
        assert report.converged and depth < 1.02 * FAST, frame  # detection is in single precision
        assert report.penetration > depth - 0.02 * FAST, frame
