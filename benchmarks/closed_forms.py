# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes whose motion has a closed form, and how far from it the poses are: (Motion) -> one number.

They obey the rules of comparison_scenes.py.
"""

import numpy as np
from axion.solver import Axis, Body, Box, Joint, Scene, Sphere
from comparison_scenes import GRAVITY, HINGE_ALONG_Y, UNTOUCHABLE, with_floor
from judge import SETTLED, final_speed
from truth_judge import crossings, period_error, turn_about

ROLL_AFTER = 5.0 / 7.0
"""Speed at which a ball rolls that was pushed off without spin, of the speed it was given: its inertia is 2/5 m r^2."""


def _after(motion, seconds):
    """(times [s], index) of the frames from ``seconds`` on."""
    times = np.arange(len(motion.position)) / motion.fps
    late = np.flatnonzero(times >= seconds)
    return times[late], late


# Balls.

PUSH, SLIDING_FRICTION = 2.0, 0.3
"""Of ``sliding_ball``: speed at the start [m/s] and coefficient of friction (TRUTH's sliding to rolling)."""


def sliding_ball():
    """A ball of 0.5 m pushed along the floor without spin: it slides, and rolls from 2 v / (7 mu g) on."""
    scene = with_floor(SLIDING_FRICTION)
    motion = {"position": (0, 0, 0.5), "linear_velocity": (PUSH, 0.0, 0.0)}
    scene.add(Body("Ball", [Sphere(0.5)], mass=1.0, friction=SLIDING_FRICTION, **motion))
    return scene


def rolling_speed_error(motion):
    """Relative error of the speed at the end, against 5/7 of the push."""
    return abs(final_speed(motion) / (ROLL_AFTER * PUSH) - 1.0)


def rolled_way_error(motion):
    """Relative error of the way at the end: v t - mu g t^2 / 2 until it rolls, straight on after that."""
    begins = 2.0 * PUSH / (7.0 * SLIDING_FRICTION * GRAVITY)
    slid = PUSH * begins - 0.5 * SLIDING_FRICTION * GRAVITY * begins**2
    way = slid + ROLL_AFTER * PUSH * (motion.duration - begins)
    return abs(float(motion.position[-1, motion.moving[0], 0]) / way - 1.0)


SLOPE = np.radians(15.0)


def rolling_ball():
    """A ball of 0.1 kg that rolls down a slope of 15 degrees, gravity tilted (Drake's rolling sphere)."""
    scene = with_floor(gravity=GRAVITY * np.array([np.sin(SLOPE), 0.0, -np.cos(SLOPE)]))
    scene.add(Body("Ball", [Sphere(0.5)], position=(0, 0, 0.5), mass=0.1))
    return scene


def rolling_acceleration_error(motion):
    """Relative error of the acceleration, from a parabola through the way, against 5/7 g sin(slope)."""
    times, late = _after(motion, SETTLED)
    fitted = 2.0 * np.polyfit(times, motion.position[late, motion.moving[0], 0], 2)[0]
    return abs(float(fitted) / (ROLL_AFTER * GRAVITY * np.sin(SLOPE)) - 1.0)


# A toss (Dojo): the end alone is known.

TOSSED = 0.5
"""Edge of the cube of ``toss`` [m]."""


def toss():
    """A cube thrown from 1 m up with (1, 1.5, 1) m/s, turned and with friction 0.1."""
    scene = with_floor(0.1)
    turn = np.array([0.19134172, 0.46193977, 0.19134172, 0.84462373])
    turn /= np.linalg.norm(turn)
    motion = {"position": (0, 0, 1.0), "orientation": turn, "linear_velocity": (1.0, 1.5, 1.0)}
    scene.add(Body("Cube", [Box((TOSSED / 2,) * 3)], mass=1.0, friction=0.1, **motion))
    return scene


def resting_height_error(motion):
    """How far from half an edge the middle of the cube is at the end [m]."""
    return abs(float(motion.position[-1, motion.moving[0], 2]) - 0.5 * TOSSED)


# Laws of a hinge: a plate that turns about its own middle, without gravity.

PLATE = np.array([0.5, 0.05, 0.3])
"""Half edges of the plate [m]; it turns about Y."""
PLATE_MASS = 3.0
PLATE_MOMENT = PLATE_MASS * (PLATE[0] ** 2 + PLATE[2] ** 2) / 3.0
"""About Y [kg m^2]."""


def _plate(axis, speed=0.0):
    scene = Scene(gravity=(0, 0, 0))
    spin = (0.0, speed, 0.0)
    scene.add(Body("Plate", [Box(PLATE)], mass=PLATE_MASS, angular_velocity=spin, collision_mask=UNTOUCHABLE))
    scene.add(Joint("Hinge", "hinge", None, "Plate", orientation=HINGE_ALONG_Y, axes={"rz": axis}))
    return scene


def plate_angle(motion):
    """(F+1,) turn of the plate about Y since the start [rad], counted through whole turns."""
    return turn_about(1, motion)


MOTOR_SPEED, MOTOR_TORQUE = 4.0, 1.0
"""Of ``motor``: speed it is to reach [rad/s] and the most it has [N m]."""


def motor():
    """A motor with too little torque for one frame brings the plate to its speed."""
    return _plate(Axis(drive="velocity", target=MOTOR_SPEED, damping=1000.0, max_force=MOTOR_TORQUE))


def motor_angle_error(motion):
    """Largest angle from M t^2 / (2 I) until the speed is reached, w t - w^2 I / (2 M) after that [rad]."""
    times = np.arange(len(motion.position)) / motion.fps
    pull = MOTOR_TORQUE / PLATE_MOMENT
    reached = MOTOR_SPEED / pull
    exact = np.where(times < reached, 0.5 * pull * times**2, MOTOR_SPEED * (times - 0.5 * reached))
    return float(np.abs(np.abs(plate_angle(motion)) - exact).max())


STOP, SWING = 1.0, 2.0
"""Of ``stop``: the limit on both sides [rad] and the speed at the start [rad/s]."""


def stop():
    """The plate turns until a limit stops it."""
    return _plate(Axis(lower=-STOP, upper=STOP), SWING)


def beyond_limit(motion):
    """Farthest that the plate turns beyond its limit [rad]; not below 0."""
    return max(0.0, float(np.abs(plate_angle(motion)).max()) - STOP)


def stopped_angle_error(motion):
    """How far from its limit the plate is at the end [rad]."""
    return abs(abs(float(plate_angle(motion)[-1])) - STOP)


SPRING_PERIOD = 1.0
"""Of ``spring`` [s]."""


def spring():
    """A spring without damper turns the plate to and fro; it starts in the middle with a speed."""
    return _plate(Axis(stiffness=PLATE_MOMENT * (2.0 * np.pi / SPRING_PERIOD) ** 2), SWING)


def _passes(motion):
    """Times at which the plate passes the middle, where it starts, since the first frame [s]."""
    return crossings(plate_angle(motion)[1:], motion.fps)


def spring_period_error(motion):
    """Relative error of the mean period."""
    return period_error(_passes(motion), SPRING_PERIOD)


def spring_swing_lost(motion):
    """Part of the amplitude w / omega that is missing in the last three periods; negative where it has grown.

    The amplitude is that of the sine through the angles of those periods.
    """
    angle = plate_angle(motion)
    times, late = _after(motion, motion.duration - 3.0 * SPRING_PERIOD)
    zero = _passes(motion)
    if len(zero) < 2:
        return 1.0
    turn = np.pi * (len(zero) - 1) / (zero[-1] - zero[0])
    waves = np.column_stack([np.cos(turn * times), np.sin(turn * times)])
    parts = np.linalg.lstsq(waves, angle[late], rcond=None)[0]
    return 1.0 - float(np.hypot(*parts)) * 2.0 * np.pi / (SPRING_PERIOD * SWING)
