# SPDX-License-Identifier: GPL-3.0-or-later
"""Surfaces that are led, by keyframes or as belts: how fast they are at contacts, what they may give bodies.

A led surface does any work that its motion asks for, and in a jam, where contacts hold each other up, a law of impact
or of friction is met with any speed at all.  But a body that it strikes gains (1 + e) times its speed at most, and
hands on no more than that.
"""

import numpy as np

from .assembled import pressing
from .bounces import moving_first
from .components import joint_groups
from .flags import some
from .point_velocity import at_places

MOST = 2.0  # times the speed of what a led surface strikes: others may strike it, too


def led_bodies(bodies):
    """(B,) bool: which of problem.Bodies move as they are prescribed to."""
    return ~bodies.still()


def led_speed(problem, last=None):
    """(C,) speed of each contact's led surfaces [m/s]; 0 where there is none.

    last: (B, 6) velocities of keyframed bodies at the step's end, or None: their means are asked for, else the fastest.
    """
    bodies, contacts = problem.bodies, problem.contacts
    fastest = np.zeros(len(contacts))
    if contacts.surface_velocity is not None:
        fastest = np.linalg.norm(contacts.surface_velocity, axis=1)
    moving, velocities = led_bodies(bodies), [bodies.velocity]
    if last is not None and last is not bodies.velocity:
        velocities += bodies.velocity_at_start(), last
    for body, point in ((contacts.body_a, contacts.point_a), (contacts.body_b, contacts.point_b)):
        led = np.flatnonzero(moving[body])
        if len(led):
            for velocity in velocities:
                speed = np.linalg.norm(at_places(bodies, velocity, body[led], point[led]), axis=1)
                fastest[led] = np.maximum(fastest[led], speed)
    return fastest


def led_slip(problem):
    """(C,) how fast led surfaces slide along what they touch as the step starts [m/s]; 0 at other contacts.

    None where nothing is led.
    """
    bodies, contacts = problem.bodies, problem.contacts
    moving, runs = led_bodies(bodies), contacts.surface_velocity
    if runs is None and not some(moving):
        return None
    led, start = moving[contacts.body_a] | moving[contacts.body_b], bodies.velocity_at_start()
    if runs is not None:
        led |= runs.any(axis=1)
    led = np.flatnonzero(led)
    if not len(led):
        return None
    slip, speed = 0.0 if runs is None else runs[led], np.zeros(len(contacts))
    for sign, body, point in ((1.0, contacts.body_a, contacts.point_a), (-1.0, contacts.body_b, contacts.point_b)):
        slip = slip + sign * at_places(bodies, start, body[led], point[led])
    normal = contacts.normal[led]
    speed[led] = np.linalg.norm(slip - normal * np.einsum("ci,ci->c", normal, slip)[:, None], axis=1)
    return speed


def led_energy(assembly, solution, driven, last=None):
    """((islands,) kinetic energy that led surfaces may give [J], (islands,) bool: those that it is told for).

    Of ``driven`` (islands,) bool those that touch what is led; it is not told for what hangs on it by joints.  last: as
    in ``led_speed``: what sets out within a step strikes faster than by its mean.
    """
    problem, bodies, count = assembly.problem, assembly.problem.bodies, len(driven)
    contacts, rows, n = problem.contacts, problem.joints, problem.bodies.dynamic_count
    speed, told, hung = led_speed(problem, last), np.zeros(count, bool), np.zeros(count, bool)
    one, other = moving_first(rows)
    hung[assembly.island[one[led_bodies(bodies)[other] & (one < n)]]] = True
    touched = np.flatnonzero((speed > 0.0) & (pressing(assembly, solution) > 0.0))
    most, fastest = MOST * (1.0 + contacts.restitution[touched]) * speed[touched], np.zeros(n)
    for body in (contacts.body_a[touched], contacts.body_b[touched]):
        moves = body < n
        np.maximum.at(fastest, body[moves], most[moves])
    fastest = _of_groups(fastest, joint_groups(assembly.joint_links, n)[:n])
    told[assembly.island[fastest > 0.0]] = True
    own = np.linalg.norm(bodies.free_velocity[:n, :3], axis=1)
    given = 0.5 * bodies.mass[:n] * fastest * (fastest + 2.0 * own)
    return np.bincount(assembly.island, given, count), told & driven & ~hung


def _of_groups(speed, label):
    """(n,) largest ``speed`` (n,) of each body's group ``label`` (n,): what joints hold goes along."""
    largest = np.zeros(int(label.max(initial=-1)) + 1)
    np.maximum.at(largest, label, speed)
    return largest[label]
