# SPDX-License-Identifier: GPL-3.0-or-later
"""Small things of 2 to 10 cm that hit each other at 9 to 40 m/s, which turns them by radians in the frame of the hit.

At one step a frame the struck ones below stayed as they were, and the others flew on through them, in frames that had
converged.
"""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Cone, Cylinder, Scene, SolverConfig, simulate
from contact_scenes import rock, torus
from figures import figure
from judges import energies

CPU = SolverConfig(device="cpu")


def box(size):
    return Box((size, 0.5 * size, 1.5 * size))


def unit(q):
    return np.array(q) / np.linalg.norm(q)


PAIRS = {
    # shape, position, tilt, velocity and spin of what comes and of what is struck, and by how much the velocity of the
    # latter changes at 6144 frames a second, over the speed of the other against it (at 384 up to 0.1 less)
    "box and capsule": (
        (box(0.0504), (-1.5922, 0, 0), (0.6289, -0.5823, 0.3464, 0.3812), (17.301, 0, 0), (0, 0, 0)),
        (Capsule(0.0305, 0.0436), (0.3, -0.0177, -0.0132), (-0.5449, -0.0920, -0.3845, 0.7395), (0, 0, 0), (0, 0, 0)),
        0.48,
    ),
    "rock and capsule": (
        (rock(20, 1, 0.0797), (-1.7595, 0, 0), (-0.4654, 0.0543, -0.2663, 0.8423), (9.466, 0, 0), (-2.06, -1.98, 1.45)),
        (
            Capsule(0.0134, 0.0191),
            (0.3, -0.0197, -0.0138),
            (0.3931, -0.3874, -0.4759, 0.6848),
            (0, 0, 0),
            (-1.22, 3.37, 7.72),
        ),
        0.49,
    ),
    "cone and rock": (
        (
            Cone(0.0562, 0.0562),
            (-0.9357, 0, 0),
            (0.5099, 0.6429, 0.5518, -0.1487),
            (23.553, 0, 0),
            (15.39, 2.63, 48.69),
        ),
        (
            rock(20, 1, 0.0538),
            (0.3, 0.0034, 0.0122),
            (-0.3745, 0.0619, 0.4919, -0.7835),
            (0, 0, 0),
            (21.88, -2.58, -18.21),
        ),
        0.50,
    ),
    "cylinder and box": (
        (
            Cylinder(0.0645, 0.0645),
            (-2.3356, 0, 0),
            (0.0638, -0.5530, -0.8180, -0.1449),
            (30.214, 0, 0),
            (2.03, -3.19, -4.42),
        ),
        (box(0.0676), (0.3, -0.0192, -0.0131), (-0.5534, 0.8133, 0.1299, 0.1244), (0, 0, 0), (2.89, 0.54, 3.20)),
        0.49,
    ),
    "capsule and ring": (
        (Capsule(0.02, 0.02), (-1.37, 0, 0), (0, 0, 0, 1), (20, 0, 0), (3, 40, 10)),
        (torus(0.04, 0.012), (1, 0.004, 0.003), (0, 0, 0, 1), (-20, 0, 0), (-20, 5, 9)),
        0.55,
    ),
    "tumbling cylinder and box": (
        (
            Cylinder(0.0312, 0.0312),
            (-0.9751, 0, 0),
            (0.6162, -0.7163, -0.2701, -0.1852),
            (34.519, 0, 0),
            (-22.743, 21.841, 16.402),
        ),
        (box(0.029), (0.3, 0.0133, -0.0168), (-0.9396, 0.2199, -0.0952, 0.2446), (0, 0, 0), (-27.969, 20.715, -13.658)),
        0.47,
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_struck_does_not_stay_where_it_is(name):
    comes, struck, share = PAIRS[name]
    scene = Scene(gravity=(0, 0, 0))
    for key, (shape, place, tilt, velocity, spin) in (("A", comes), ("B", struck)):
        motion = {"linear_velocity": velocity, "angular_velocity": spin}
        scene.add(Body(key, [shape], position=place, orientation=unit(tilt), mass=1.0, **motion))
    pace = np.linalg.norm(comes[3]) + np.linalg.norm(struck[3])
    motion = simulate(scene, int(24 * 2.5 / pace) + 2, config=CPU)
    assert all(report.converged for report in motion.reports)
    velocity = motion.linear_velocity
    got = np.linalg.norm(velocity[-1, 1] - velocity[0, 1]) / pace
    figure(f"{name} at {pace:.1f} m/s", "change of the struck one's velocity", got, f"{share:g} +- 0.05")
    assert got == pytest.approx(share, abs=0.05)
    np.testing.assert_allclose(velocity[-1].sum(axis=0), velocity[0].sum(axis=0), atol=1e-6)
    energy = energies(scene, motion)
    assert np.all(np.diff(energy) < 1e-3 * energy[0])
