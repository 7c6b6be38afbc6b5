# SPDX-License-Identifier: GPL-3.0-or-later
"""Andrews' squeezer in three dimensions with the solver itself: hinges for pins, a compliant distance for the spring.

Seven planar bodies with ten hinges in space have more rows than independent ones.  The reference is that of
test_andrews_squeezer.py: the published angles at 0.03 s, after body 1 has turned by 15.8 rad.
"""

import numpy as np
import pytest
from axion.solver import Axis, Body, Joint, Scene, SolverConfig, Sphere, simulate
from figures import figure
from scenes import turned
from test_andrews_squeezer import (
    END,
    INERTIA,
    MASS,
    MOTOR,
    PINS,
    REST_LENGTH,
    START,
    STIFFNESS,
    C,
    body_angles,
    places,
    published_angles,
)

DURATION = 0.03


def in_space(point):
    return np.array([point[0], point[1], 0.0])


def squeezer():
    """The mechanism at rest in the x-y plane.  A drive that never reaches its speed is a constant torque."""
    scene = Scene(gravity=(0, 0, 0))
    pins, centres = places(START)
    for i, turn in enumerate(body_angles(START)):
        scene.add(
            Body(f"{i + 1}", [Sphere(1e-3)], position=in_space(centres[i]), orientation=turned("z", turn),
                 mass=MASS[i], inertia=INERTIA[i] * np.eye(3), collision_mask=0)
        )  # fmt: skip
    for k, (a, b, pin) in enumerate(PINS):
        motor = {"rz": Axis(drive="velocity", target=1e5, max_force=MOTOR)} if k == 0 else {}
        body_a = None if a is None else f"{a + 1}"
        scene.add(Joint(f"{pin}{k}", "hinge", body_a, f"{b + 1}", in_space(pins[pin]), axes=motor))
    ends = in_space(C), in_space(pins["D"])
    scene.add(Joint("Spring", "distance", None, "3", anchors=ends, length=REST_LENGTH, compliance=1.0 / STIFFNESS))
    return scene


def run(steps, duration=DURATION, tolerance=1e-10):
    config = SolverConfig(device="cpu", tolerance=tolerance, substeps=1)
    return simulate(squeezer(), steps, steps / duration, config)


def closure(trajectory):
    """Largest distance [m] of two bodies' ends of one pin over all steps, from poses alone."""
    pins, centres = places(START)
    q = trajectory.orientation[:, :, 2:]
    angle = 2.0 * np.arctan2(q[..., 0], q[..., 1])
    worst = 0.0
    for a, b, pin in PINS:
        ends = []
        for body in (a, b):
            if body is None:
                ends.append(pins[pin])
                continue
            turn = angle[:, body] - angle[0, body]
            arm = pins[pin] - centres[body]
            cosine, sine = np.cos(turn), np.sin(turn)
            turned_arm = np.column_stack([cosine * arm[0] - sine * arm[1], sine * arm[0] + cosine * arm[1]])
            ends.append(trajectory.position[:, body, :2] + turned_arm)
        worst = max(worst, np.linalg.norm(ends[0] - ends[1], axis=1).max())
    return worst


def test_squeezer_starts_with_the_published_accelerations():
    # beta'' = 14222.4439199541, Theta'' = -10666.8329399656 rad/s^2.  A step's mean is of second order: half the step,
    # a quarter of the error; both together tell of h = 0 to what terms of h^4 and 1e-14 m over h^2 leave, 1e-9.
    published, mean = np.array([14222.4439199541, -10666.8329399656]), {}
    for h in (1e-5, 5e-6):
        trajectory = run(1, h, 1e-14)
        spin = trajectory.angular_velocity[1, :, 2] / h
        mean[h] = np.array([spin[0], spin[1] - spin[0]])
        error = np.abs(mean[h] / published - 1.0).max()
        assert figure(f"squeezer, h = {h:g} s", "first acceleration off, relative", error, 1e-5) < 1e-5
    order = (mean[1e-5] - published) / (mean[5e-6] - published)
    figure("squeezer", "error(h) / error(h/2) of the first acceleration", order.min(), "4 +- 0.3")
    assert order == pytest.approx(4.0, abs=0.3)
    limit = np.abs((4.0 * mean[5e-6] - mean[1e-5]) / (3.0 * published) - 1.0).max()
    assert figure("squeezer", "first acceleration off, taken to h = 0, relative", limit, 1e-9) < 1e-9


@pytest.mark.slow
def test_squeezer_reaches_the_published_end():
    # Second order, all of it mid-step, the compliant spring too: error(h) / error(h / 2) = 4; the pins stay together to
    # 1e-9 m.  A step of 2.5e-6 s makes velocities of what the tolerance leaves: with 1e-10 m it ended 3e-4 rad off.
    error = {}
    for steps in (3000, 6000, 12000):
        trajectory = run(steps, tolerance=1e-12)
        turn = 2.0 * np.unwrap(
            np.arctan2(trajectory.orientation[..., 2], trajectory.orientation[..., 3]), axis=0, period=np.pi
        )
        angles = published_angles(body_angles(START) + turn[-1] - turn[0])
        error[steps] = np.abs(angles - END).max()
        name = f"squeezer, h = {DURATION / steps:g} s"
        figure(name, "worst angle at 0.03 s off the published one", error[steps], "second order", "rad")
        apart = closure(trajectory)
        assert figure(name, "pins apart", apart, 1e-9, "m") < 1e-9
        assert all(report.converged for report in trajectory.reports)
    for steps in (3000, 6000):
        ratio = error[steps] / error[2 * steps]
        figure("squeezer", f"error(h) / error(h/2) at h = {DURATION / steps:g} s", ratio, "4 +- 0.3")
        assert ratio == pytest.approx(4.0, abs=0.3)
    assert error[3000] < 1e-4  # of 15.8 rad on the way
