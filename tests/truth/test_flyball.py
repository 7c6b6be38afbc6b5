# SPDX-License-Identifier: GPL-3.0-or-later
"""Flyball governor (IFToMM benchmark A05): stiff spring and damper between masses that turn fast, in a closed loop.

A shaft turns freely about its axis at 2 pi rad/s; two rods hinged to it at the top carry 5 kg each, and two rods from
their middles pull a slider up the shaft against a spring and damper (K = 8e5 N/m, C = 4e4 N s/m).  The published
reference is not at hand: an independent integration of the two freedoms takes its place.

With theta the rods' angle to the shaft, z the slider's way below the top and Omega the spin, by Lagrange:

    T = I(theta) Omega^2 / 2 + A(theta) theta'^2 / 2      z = 2 a cos theta, rods s long, joined at a = s / 2
    L = I(theta) Omega is kept: nothing twists the shaft
"""

import numpy as np
from axion.solver import Axis, Body, Box, Joint, Scene, SolverConfig, Sphere, simulate
from axion.solver.frames import body_frames
from axion.solver.metrics import angular_momentum
from figures import figure
from scenes import GRAVITY, turned
from smooth_motion import runge_kutta
from test_closed_loops import joint_errors

K, C = 8e5, 4e4
SPIN, OPENING = 2.0 * np.pi, np.radians(30.0)
DENSITY, BALL = 3000.0, 5.0
SHAFT = np.array([0.01, 0.01, 1.0])
SLIDER = 0.1
ROD = 1.0
"""Length of the rods that carry the balls [m]; the others reach from their middles to the slider."""
HALF = 0.5 * ROD


def rod_mass(length):
    return DENSITY * 0.01 * 0.01 * length


SLIDER_MASS = DENSITY * SLIDER**3
ACROSS = turned("x", -0.5 * np.pi)  # a hinge turns about its local Z: laid along the world's Y


def rod(scene, name, start, end):
    """A square rod from one point to another in the x-z plane, turning with the shaft."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    middle, span = 0.5 * (start + end), end - start
    length = np.linalg.norm(span)
    turn = turned("y", np.arctan2(span[0], span[2]))
    spin = np.array([0.0, 0.0, SPIN])
    scene.add(
        Body(name, [Box((0.005, 0.005, 0.5 * length))], position=middle, orientation=turn, mass=rod_mass(length),
             linear_velocity=np.cross(spin, middle), angular_velocity=spin, collision_mask=0)
    )  # fmt: skip


def governor():
    """The governor with its top at the origin, spring and damper at rest at the start."""
    scene, spin = Scene(), np.array([0.0, 0.0, SPIN])
    own = {"angular_velocity": spin, "collision_mask": 0}
    scene.add(Body("Shaft", [Box(0.5 * SHAFT)], position=(0, 0, -0.5), mass=rod_mass(1.0), **own))
    scene.add(Joint("Bearing", "hinge", None, "Shaft", (0, 0, 0)))
    below = -2.0 * HALF * np.cos(OPENING)
    scene.add(Body("Slider", [Box(3 * [0.5 * SLIDER])], position=(0, 0, below), mass=SLIDER_MASS, **own))
    guide = {"x": Axis(stiffness=K, damping=C)}
    along = turned("y", -0.5 * np.pi)  # a slider moves along its local X: laid along the world's Z
    scene.add(Joint("Guide", "slider", "Shaft", "Slider", (0, 0, below), along, axes=guide))
    for side, sign in (("left", -1.0), ("right", 1.0)):
        out = sign * np.sin(OPENING)
        end = ROD * np.array([out, 0.0, -np.cos(OPENING)])
        rod(scene, f"Arm {side}", (0, 0, 0), end)
        rod(scene, f"Link {side}", 0.5 * end, (0, 0, below))
        scene.add(
            Body(f"Ball {side}", [Sphere(0.05)], position=end, mass=BALL, linear_velocity=np.cross(spin, end), **own)
        )
        scene.add(Joint(f"Top {side}", "hinge", "Shaft", f"Arm {side}", (0, 0, 0), ACROSS))
        scene.add(Joint(f"Middle {side}", "hinge", f"Arm {side}", f"Link {side}", 0.5 * end, ACROSS))
        scene.add(Joint(f"Foot {side}", "hinge", f"Link {side}", "Slider", (0, 0, below), ACROSS))
        scene.add(Joint(f"End {side}", "fixed", f"Arm {side}", f"Ball {side}", end))
    return scene


def inertias(theta):
    """(I, A) of the docstring [kg m^2]."""
    s, c = np.sin(theta) ** 2, np.cos(theta) ** 2
    arm, link, square, ball = rod_mass(ROD), rod_mass(HALF), 0.01**2, 0.4 * BALL * 0.05**2
    arm_along, arm_across = arm * square / 6.0, arm * (ROD**2 + square) / 12.0
    link_along, link_across = link * square / 6.0, link * (HALF**2 + square) / 12.0
    about = rod_mass(1.0) * square / 6.0 + SLIDER_MASS * SLIDER**2 / 6.0
    about += 2.0 * (arm_along * c + arm_across * s + arm * 0.25 * ROD**2 * s)
    about += 2.0 * (link_along * c + link_across * s + link * 0.25 * HALF**2 * s)
    about += 2.0 * (BALL * ROD**2 * s + ball)
    opening = 2.0 * (arm_across + 0.25 * arm * ROD**2 + BALL * ROD**2 + ball)
    opening += 2.0 * (link_across + link * HALF**2 * (0.25 * c + 2.25 * s)) + SLIDER_MASS * (2.0 * HALF) ** 2 * s
    return about, opening


def exact(times):
    """(T, 3) theta [rad], its rate, and the shaft's turn [rad]."""
    momentum = inertias(OPENING)[0] * SPIN
    weight = 2.0 * (0.5 * ROD * rod_mass(ROD) + 1.5 * HALF * rod_mass(HALF) + ROD * BALL) + 2.0 * HALF * SLIDER_MASS
    weight *= GRAVITY

    def rate(y):
        theta, speed, _ = y
        about, opening = inertias(theta)
        d_about, d_opening = ((np.array(inertias(theta + 1e-6)) - inertias(theta - 1e-6)) / 2e-6).tolist()
        sine, spin = np.sin(theta), momentum / about
        lift = 2.0 * HALF * (np.cos(OPENING) - np.cos(theta))
        push = 0.5 * d_about * spin**2 - weight * sine - 0.5 * d_opening * speed**2
        push -= (K * lift + C * 2.0 * HALF * sine * speed) * 2.0 * HALF * sine
        return np.array([speed, push / opening, spin])

    return runge_kutta(rate, (OPENING, 0.0, 0.0), times, most=2e-4)


def measured(trajectory, scene):
    """(opening of the left arm [rad], shaft's turn [rad]), (F + 1,) each, from poses."""
    names = [body.name for body in scene.bodies]
    ball, shaft = trajectory.position[:, names.index("Ball left")], trajectory.orientation[:, names.index("Shaft")]
    away = np.hypot(ball[:, 0], ball[:, 1])
    return np.arctan2(away, -ball[:, 2]), 2.0 * np.unwrap(np.arctan2(shaft[:, 2], shaft[:, 3]), period=np.pi)


def momenta(scene, trajectory):
    """(F + 1,) angular momentum about the shaft [kg m^2/s]."""
    frames, out = body_frames(scene), []
    for k in range(len(trajectory.times)):
        x, q = frames.to_solver(trajectory.position[k], trajectory.orientation[k])
        u = np.hstack([trajectory.linear_velocity[k], trajectory.angular_velocity[k]])
        out.append(angular_momentum(frames.mass, frames.inertia, q, u, x, np.zeros(3))[2])
    return np.array(out)


def run(fps, seconds, tolerance=None):
    """(trajectory, measured opening and turn less the exact ones, (F + 1,) each); checks what holds at any step."""
    scene, name = governor(), f"flyball governor, {fps} fps"
    substeps = "auto" if tolerance is None else 1
    config = SolverConfig(device="cpu", tolerance=tolerance, substeps=substeps)
    trajectory = simulate(scene, round(seconds * fps), fps, config)
    assert all(report.converged for report in trajectory.reports)
    opening, turn = measured(trajectory, scene)
    want = exact(trajectory.times)
    rigid = Scene(bodies=scene.bodies, joints=[joint for joint in scene.joints if joint.name != "Guide"])
    bound = tolerance or config.tolerances()[1]
    apart = max(joint_errors(rigid, trajectory))
    assert figure(name, "joint error", apart, bound, "m or rad") < bound
    momentum = momenta(scene, trajectory)
    change = np.abs(momentum / momentum[0] - 1.0).max()
    assert figure(name, "momentum about the shaft off by", change, 1e-5) < 1e-5
    return trajectory, opening - want[:, 0], turn - want[:, 2]


def test_governor_opens_and_stays_open_at_frame_sized_steps():
    # Its fast freedom dies 37 times within a frame, the slow one in 1.2 frames: an explicit step would blow up.  The
    # balls rise until the spring holds them; what the tolerance leaves of the slider's way, over 2 a sin theta, is left
    # of the angle.  A step's turn follows the chord: short by (w h)^2 / 12 of itself.
    trajectory, opening, turn = run(24, 1.0)
    name, slow = "flyball governor, 24 fps", SolverConfig(device="cpu").tolerances()[0]
    rise = exact(trajectory.times)[-1, 0] - OPENING
    assert rise > 5e-4
    bound = slow / (2.0 * HALF * np.sin(OPENING))
    assert figure(name, f"opening after 1 s off ({rise:.3g} rad)", abs(opening[-1]), bound, "rad") < bound
    bound = 1.1 * (SPIN / 24.0) ** 2 / 12.0 * SPIN
    assert figure(name, "turn off, 1 s", np.abs(turn).max(), bound, "rad") < bound


def test_governor_converges_with_the_step():
    # Spring and damper are fitted to what moves with the slider: second order where steps see its fast freedom, which
    # dies by exp(-890 t).  With coarser ones that freedom is over within a step, and little is left to be off: implicit
    # Euler, of first order, was off by 8.2e-5, 4.5e-5 and 2.3e-5 rad there.  The turn is of second order.
    opening, turn = {}, {}
    for fps, seconds in ((48, 0.25), (96, 0.25), (192, 0.25), (1536, 0.0625), (3072, 0.0625), (6144, 0.0625)):
        _, off, late = run(fps, seconds, 1e-8 if fps < 1000 else 1e-9)
        opening[fps] = figure(f"flyball governor, {fps} fps", "opening off", np.abs(off).max(), "second order", "rad")
        turn[fps] = figure(f"flyball governor, {fps} fps", "turn off", np.abs(late).max(), "second order", "rad")
    for fps in (48, 96):
        assert opening[fps] < 5e-6 and opening[fps] > opening[2 * fps]
        assert 3.7 < turn[fps] / turn[2 * fps] < 4.3
    for fps in (1536, 3072):
        assert opening[fps] / opening[2 * fps] > 3.2
