# SPDX-License-Identifier: GPL-3.0-or-later
"""Carts that drive on to a step of a box, whose edge their front wheels hit somewhere within a frame."""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Cylinder, Joint, Plane, Scene, SolverConfig, Sphere, simulate
from figures import figure
from scenes import turned

RADIUS, ACROSS, FPS, MU = 0.1, turned("x", -np.pi / 2), 24.0, 0.8
HALF, MASS = np.array([0.5, 0.15, 0.03]), 20.0
AXLE, ABOVE, BEFORE = 0.4, 0.08, 1.5  # of the axles from the middle, of the chassis above them, where the step begins
SHAPES = {"cylinders": Cylinder(RADIUS, 0.03), "balls": Sphere(RADIUS), "capsules": Capsule(RADIUS, 0.03)}


def on_to_a_step(shape, height, speed, place):
    """The cart's speed at the end of the frame in which it hits the step."""
    scene = Scene()
    scene.add(Body("Ground", [Plane()], motion="static", friction=MU))
    step = (5.0, 3.0, 0.5 * height)
    scene.add(Body("Step", [Box(step)], motion="static", position=(BEFORE + 5.0, 0, 0.5 * height), friction=MU))
    body = Body("Cart", [Box(HALF)], position=(place, 0, RADIUS + ABOVE), mass=MASS, linear_velocity=(speed, 0, 0))
    scene.add(body)
    for number, (x, y) in enumerate(((AXLE, 0.25), (AXLE, -0.25), (-AXLE, 0.25), (-AXLE, -0.25))):
        at = (place + x, y, RADIUS)
        wheel = Body(f"Wheel {number}", [shape], position=at, orientation=ACROSS, mass=1.0, friction=MU)
        wheel.linear_velocity, wheel.angular_velocity = (speed, 0, 0), (0, speed / RADIUS, 0)
        scene.add(wheel)
        scene.add(Joint(f"Axle {number}", "hinge", "Cart", wheel.name, at, ACROSS))
    way = BEFORE - AXLE - np.sqrt(RADIUS**2 - (RADIUS - height) ** 2) - place
    trajectory = simulate(scene, int(np.ceil(way / speed * FPS)), FPS, SolverConfig(device="cpu"))
    assert all(report.converged for report in trajectory.reports)
    return trajectory.linear_velocity[-1, scene.index("Cart"), 0]


def law(inertia, height, speed):
    """Speed after an inelastic hit of the front wheels on the edge, with Coulomb's friction there and below the rear
    wheels.

    Of the unknowns vx, vz, pitch rate, and spin of the wheels in front and behind, each of ``inertia`` [kg m^2].
    """
    front, rear = np.array([AXLE, -ABOVE]), np.array([-AXLE, -ABOVE])
    along, up = (lambda r: np.array([1.0, 0.0, r[1], 0, 0])), (lambda r: np.array([0.0, 1.0, -r[0], 0, 0]))
    mass = np.diag([MASS, MASS, MASS / 3.0 * (HALF[0] ** 2 + HALF[2] ** 2), 2.0 * inertia, 2.0 * inertia])
    for axle in (front, rear):
        mass += 2.0 * sum(np.outer(row(axle), row(axle)) for row in (along, up))
    sine, cosine = np.array([np.sqrt(RADIUS**2 - (RADIUS - height) ** 2), RADIUS - height]) / RADIUS
    normals = np.array([cosine * up(front) - sine * along(front), up(rear)])
    tangents = np.array([cosine * along(front) + sine * up(front), along(rear)])
    tangents[[0, 1], [3, 4]] = -RADIUS
    velocity = np.array([speed, 0, 0, speed / RADIUS, speed / RADIUS])
    impulse = np.zeros((2, 2))
    for _ in range(1000):
        for k, rows in enumerate(zip(normals, tangents, strict=True)):
            for kind, row in enumerate(rows):
                mobility = np.linalg.solve(mass, row)
                least, most = (0.0, np.inf) if kind == 0 else MU * impulse[k, 0] * np.array([-1.0, 1.0])
                push = np.clip(impulse[k, kind] - row @ velocity / (row @ mobility), least, most)
                velocity += (push - impulse[k, kind]) * mobility
                impulse[k, kind] = push
    assert np.abs(normals @ velocity).max() < 1e-9
    return velocity[0]


@pytest.mark.parametrize(("height", "speed", "bound"), [(0.03, 8.0, 0.015), (0.05, 6.0, 0.03), (0.015, 3.0, 0.015)])
@pytest.mark.parametrize("wheels", SHAPES)
def test_carts_hit_a_step_by_law(wheels, height, speed, bound):
    # By where in a frame they came it was up to 17 % off with cylinders and 32 % with capsules: contacts of what joints
    # hold had the line to what was nearest at the step's start.  With balls it was 11 % at 3 m/s, where they met the
    # edge just after a step's end: that line stopped them before.
    shape = SHAPES[wheels]
    inertia = Body("Wheel", [shape], mass=1.0).mass_properties()[2][2, 2]
    due = law(inertia, height, speed)
    left = [on_to_a_step(shape, height, speed, -speed / FPS * share) for share in (0.0, 1 / 6, 1 / 3)]
    off = np.abs(np.array(left) / due - 1.0).max()
    name = f"cart on {wheels} on to a step of {height:g} m at {speed:g} m/s, 24 fps"
    assert figure(name, "speed off", off, f"< {bound:g}") < bound
