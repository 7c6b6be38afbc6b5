# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that hit each other in flight and do not rebound get the spin of the impulse where they hit, and keep their
angular momentum, which was 8 % off in the median of 20 pairs, and 49 % at worst.
"""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Joint, Scene, SolverConfig, simulate
from axion.solver.energy import angular_momentum
from figures import figure
from scenes import turned

CPU = SolverConfig(device="cpu")
SPEED, MASS = 4.0, 1.0


def _hit(restitution, tilt, offset, away):
    """Spin [rad/s] of two smooth boxes, turned by ``tilt`` [rad], after they flew into each other."""
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    for name, side in (("A", -1.0), ("B", 1.0)):
        body = Body(
            name, [Box((0.1, 0.3, 0.1))], position=(side * away, side * offset, 0.0), orientation=turned("z", tilt)
        )
        body.linear_velocity, body.mass = np.array([-side * SPEED, 0.0, 0.0]), MASS
        body.friction, body.restitution = 0.0, restitution
        scene.add(body)
    trajectory = simulate(scene, 10, 24.0, CPU)
    assert all(report.converged for report in trajectory.reports)
    return trajectory.angular_velocity[-1, :, 2]


@pytest.mark.parametrize("tilt", [0.3, 0.8])
@pytest.mark.parametrize("away", [0.6, 0.7])
def test_spin_of_a_hit_without_rebound(tilt, away):
    """One impulse on smooth bodies goes with 1 + e: with e = 0 it is two thirds of that with e = 1/2."""
    spin, rebound = (_hit(restitution, tilt, 0.25, away) for restitution in (0.0, 0.5))
    off = np.abs(1.5 * spin / rebound - 1.0).max()  # 0.12 to 0.43 by the levers of the step's end
    assert figure(f"boxes turned by {tilt} that hit, from {away} m", "spin off the law", off, 0.02) < 0.02


@pytest.mark.parametrize("speed", [1.0, 4.0])
def test_a_box_opens_a_door_by_the_law(speed):
    # Smooth, corner first, no weight: w = m v d / (I + m d^2) about the hinge; by where in a frame they met it was up
    # to 15 % less.
    half, far, off = 0.2, 0.3, []
    inertia = ((2 * half) ** 2 + 0.04**2) / 12.0 + half**2
    law = speed * far / (inertia + far**2)
    for phase in range(6):
        scene = Scene(gravity=(0.0, 0.0, 0.0))
        scene.add(Body("Door", [Box((half, 0.02, 0.3))], position=(half, 0, 0), mass=MASS, friction=0.0))
        scene.add(Joint("Hinge", "hinge", None, "Door", (0, 0, 0)))
        place, velocity = (far, -1.2 - speed * phase / 6 / 24, 0), (0, speed, 0)
        box = Body("Box", [Box((0.1, 0.1, 0.08))], position=place, orientation=turned("z", np.pi / 4))
        box.mass, box.linear_velocity, box.friction = MASS, velocity, 0.0
        scene.add(box)
        trajectory = simulate(scene, round(24 * 1.3 / speed) + 1, 24.0, CPU)
        off.append(trajectory.angular_velocity[-1, 0, 2] / law - 1.0)
        assert all(report.converged for report in trajectory.reports)
    assert figure(f"box at {speed:g} m/s opens a door", "spin off", np.abs(off).max(), "< 0.015") < 0.015


@pytest.mark.parametrize("seed", [1, 8, 9, 13, 16])
def test_pairs_in_space_keep_their_angular_momentum(seed):
    random, scene = np.random.default_rng(100 + seed), Scene(gravity=(0, 0, 0))
    for name, side in (("A", -1.0), ("B", 1.0)):
        speed, tilt, spin = random.uniform(2.0, 6.0), random.normal(size=4), 2.0 * random.normal(size=3)
        place = (1.2 * side, *random.uniform(-0.1, 0.1, 2))
        shape = Box((0.22, 0.1, 0.07)) if random.uniform() < 0.5 else Capsule(0.08, 0.14)
        body = Body(name, [shape], position=place, orientation=tilt / np.linalg.norm(tilt), mass=MASS)
        body.linear_velocity, body.angular_velocity = np.array([-side * speed, 0.0, 0.0]), spin
        scene.add(body)
    motion = simulate(scene, 24, 24.0, CPU)
    assert all(report.converged for report in motion.reports)
    assert np.abs(motion.linear_velocity[-1] - motion.linear_velocity[0]).max() > 0.1, "they meet"
    inertia, mass = np.array([np.diag(body.mass_properties()[2]) for body in scene.bodies]), np.full(2, MASS)
    velocity = np.concatenate([motion.linear_velocity, motion.angular_velocity], axis=2)
    momentum = np.array(
        [
            angular_momentum(mass, inertia, motion.orientation[k], velocity[k], motion.position[k])
            for k in range(len(velocity))
        ]
    )
    off = np.linalg.norm(momentum - momentum[0], axis=1).max() / np.linalg.norm(momentum[0])
    assert figure(f"pair {seed} in space", "angular momentum off, of itself", off, 1e-3) < 1e-3
