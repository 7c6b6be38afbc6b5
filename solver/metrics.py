# SPDX-License-Identifier: GPL-3.0-or-later
"""The judge of a time step: residuals of the complete nonlinear system in float64 NumPy, from data and result alone.

A step is converged when these numbers say so; no solver's own estimate counts.  In a bake the kernels of
residuals.py find them, which tests hold against this file.  q+ is the end pose, u the velocity that leads there, h the
step, p impulses over the step, w a row's effective inverse mass (diagonal of J M^-1 J^T; a contact's is the mean of its
three).  M is taken at ``free_orientation``.

    momentum    |M^-1 (M (u - u_free - s) - J^T p)|                   [m/s]  per dynamic body; its angular part times
                                                                              sqrt(max I / m); s: see reference/arcs.py
    gap         |min(phi(q+) - off, h w p_n)|                         [m]    off = min(0, phi_0 + push_out_speed h)
                                                                              + the gap that a rebound leads to
    penetration max(0, -phi(q+))                                      [m]    true overlap, whatever ``off`` allows
    friction    |w p_t - P(w p_t - v_t)|                              [m/s]  P: projection on the disc, radius w mu p_n;
                                                                              v_t with surfaces that run
    joint       h |v + compliance p|, norm over a joint's rows        [m, rad]  unbounded; for a locked axis this is
                                                                              |c(q+) - target + h compliance p|
                h w |p - clip(p - (v + compliance p) / (w + compliance), lower, upper)|   with bounds, springs, drives
    kinematics  |x+ - (x_free + h (v - v_free))|                      [m], and the angle between q+ and
                                                                      exp(h (w - w_free)) q_free [rad], or where free
                                                                      rotation leads with ``spin`` and that impulse

Contact directions belong to the start pose; the normal in phi turns with the face that is touched, or as round cores go
past each other.  Joint directions belong to the end pose, or to the middle of the step where ``bodies.midpoint`` is not
zero for a dynamic body of the row.  Bodies with a ``spin`` feel them at the levers of the start until the step is over;
see spinning.py.

The velocity a step ends with has laws of its own (velocity_phase.py), judged at the end pose: momentum and friction as
above, and

    contact     |min(v_n - rebound speed, w p_n)|                     [m/s]  where it carried load; |w p_n| elsewhere
    joint       w |p - clip(p - (J u - target velocity) / w, lower, upper)|   [m/s, rad/s], norm over a joint's rows
"""

from dataclasses import dataclass

import numpy as np

from .energy import angular_momentum, gauss_deviation, kinetic_energy, linear_momentum, potential_energy
from .problem import Coordinate
from .reference.arcs import arcs
from .reference.free_motion import led_orientation
from .reference.rotation import angle_between, dot, world_inertia
from .reference.rows import (
    contact_jacobians,
    coordinates,
    felt_directions,
    gaps,
    jacobians,
    start_gaps,
    surface_slip,
)
from .topology import build_topology

__all__ = [
    "StepResiduals",
    "VelocityResiduals",
    "angular_momentum",
    "body_residuals",
    "fischer_burmeister",
    "gauss_deviation",
    "joint_norms",
    "kinetic_energy",
    "linear_momentum",
    "natural_map",
    "potential_energy",
    "step_residuals",
    "velocity_residuals",
]

WEIGHT_FLOOR = 0.3
"""Part of the mean inverse mass below which a joint row's w does not fall: a DOT row has J = 0 where its axes align."""


@dataclass
class StepResiduals:
    """Residuals of one step: the worst of each kind, then the values per body (B), contact (C) and joint row (R)."""

    momentum_residual: float  # [m/s]
    gap_residual: float  # [m]
    gap_residual_fischer_burmeister: float  # [m]
    penetration: float  # [m]
    friction_residual: float  # [m/s]
    cone_violation: float  # [N s]
    dissipation_residual: float  # [J]
    joint_error: float  # [m]
    joint_error_angle: float  # [rad]
    kinematic_residual: float  # [m]
    kinematic_residual_angle: float  # [rad]

    body_momentum: np.ndarray  # (B,) [m/s]; 0 for immovable bodies
    body_kinematic: np.ndarray  # (B,) [m]
    body_kinematic_angle: np.ndarray  # (B,) [rad]
    contact_gap: np.ndarray  # (C,) [m]
    contact_gap_fischer_burmeister: np.ndarray  # (C,) |a + b - sqrt(a^2 + b^2)| of the same two arguments [m]
    contact_penetration: np.ndarray  # (C,) [m]
    contact_friction: np.ndarray  # (C,) [m/s]
    contact_cone: np.ndarray  # (C,) max(0, |p_t| - mu p_n) [N s]
    contact_dissipation: np.ndarray  # (C,) |v_t . p_t + mu p_n |v_t||: friction must oppose sliding with all it has [J]
    joint_row: np.ndarray  # (R,) the norm over the rows of its joint and kind (lengths, angles) [m or rad]
    joint_row_is_angle: np.ndarray  # (R,) bool

    def worst(self, step):
        """Largest residual that counts as a length [m]: momentum and friction act for ``step`` seconds."""
        return max(
            self.gap_residual,
            self.joint_error,
            self.kinematic_residual,
            self.momentum_residual * step,
            self.friction_residual * step,
        )


@dataclass
class VelocityResiduals:
    """Residuals of the velocity phase of a step: the worst of each kind, then those of each body, contact and row."""

    momentum_residual: float  # [m/s]
    contact_residual: float  # [m/s]
    friction_residual: float  # [m/s]
    joint_residual: float  # [m/s]
    joint_residual_angle: float  # [rad/s]

    body_momentum: np.ndarray  # (B,) [m/s]; 0 for immovable bodies
    contact_normal: np.ndarray  # (C,) [m/s]
    contact_friction: np.ndarray  # (C,) [m/s]
    joint_row: np.ndarray  # (R,) the norm over the rows of its joint and kind (lengths, angles) [m/s or rad/s]
    joint_row_is_angle: np.ndarray  # (R,) bool

    def of_bodies(self, problem):
        """(B,) the worst residual each body has a part in [m/s]; one radian counts as one metre."""
        contact = np.maximum(self.contact_normal, self.contact_friction)
        return _spread(problem, self.body_momentum.copy(), contact, self.joint_row)


def natural_map(a, b):
    """|min(a, b)|: zero exactly where 0 <= a, 0 <= b and a b = 0."""
    return np.abs(np.minimum(a, b))


def fischer_burmeister(a, b):
    """phi(a, b) = a + b - sqrt(a^2 + b^2), zero exactly where 0 <= a, 0 <= b and a b = 0 (Fischer 1992)."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    return a + b - np.hypot(a, b)


def step_residuals(problem, solution):
    """Residuals of the complete nonlinear system of one step.

    Args:
        problem: StepProblem.
        solution: StepSolution for it.  NaN anywhere in it comes out as NaN.

    Returns:
        StepResiduals.
    """
    bodies, joints, h = problem.bodies, problem.joints, problem.step
    velocity = np.asarray(solution.velocity, float)
    position, orientation = np.asarray(solution.position, float), np.asarray(solution.orientation, float)
    contact_impulse = np.asarray(solution.contact_impulse, float).reshape(-1, 3)
    joint_impulse = np.asarray(solution.joint_impulse, float)
    masses = _Masses(bodies)
    push = np.zeros((len(bodies.mass), 6))  # J^T p of all rows on each body
    slip, weight = _contact_rows(problem, masses, velocity, contact_impulse, push, orientation)
    contact = _contact_laws(problem, position, orientation, contact_impulse, slip[:, 1:], weight)
    directions = felt_directions(problem, position, orientation)
    angular, row_velocity, weight = _joint_rows(joints, masses, directions, velocity, joint_impulse, push)
    joint = _joint_law(problem, position, orientation, joint_impulse, row_velocity, weight)
    joint = joint_norms(joints, angular, joint)

    bent = arcs(problem, position, orientation, joint_impulse, build_topology(problem))[0] if len(joints) else 0.0
    change = velocity - bodies.free_velocity - bent
    momentum = masses.momentum_error(change, push)
    error, error_angle = _kinematics(bodies, h, velocity, position, orientation)
    return StepResiduals(
        momentum_residual=_worst(momentum),
        **{name: _worst(contact[key]) for name, key in _CONTACT_MAXIMA.items()},
        joint_error=_worst(joint[~angular]),
        joint_error_angle=_worst(joint[angular]),
        kinematic_residual=_worst(error),
        kinematic_residual_angle=_worst(error_angle),
        body_momentum=momentum,
        body_kinematic=error,
        body_kinematic_angle=error_angle,
        **contact,
        joint_row=joint,
        joint_row_is_angle=angular,
    )


_CONTACT_MAXIMA = {
    "gap_residual": "contact_gap",
    "gap_residual_fischer_burmeister": "contact_gap_fischer_burmeister",
    "penetration": "contact_penetration",
    "friction_residual": "contact_friction",
    "cone_violation": "contact_cone",
    "dissipation_residual": "contact_dissipation",
}


def body_residuals(problem, residuals, penetration=True):
    """The worst residual [m] each body has a part in (B,), to name the bodies a step failed at.

    Its own momentum and kinematics, its contacts' gaps, overlaps and friction, its joints' rows (one radian counts as
    one metre); velocities act for the step.  penetration=False leaves out overlap that the step was allowed to keep.
    """
    h = problem.step
    worst = np.maximum(residuals.body_momentum * h, residuals.body_kinematic)
    contact = np.maximum(residuals.contact_gap, residuals.contact_friction * h)
    if penetration:
        contact = np.maximum(contact, residuals.contact_penetration)
    return _spread(problem, worst, contact, residuals.joint_row)


def _spread(problem, worst, contact, row):
    """The worst (B,) of bodies' own residuals and those of their contacts (C,) and joint rows (R,); in place."""
    for rows, value in ((problem.contacts, contact), (problem.joints, row)):
        np.maximum.at(worst, rows.body_a, value)
        np.maximum.at(worst, rows.body_b, value)
    worst[problem.bodies.dynamic_count :] = 0.0
    return worst


def velocity_residuals(problem, solution, loaded):
    """Residuals of the velocity phase: the velocity a step ends with, at its end pose.

    Args:
        problem: StepProblem at velocity level, as ``velocity_phase.velocity_problem`` makes it: its poses are the end
            pose, its free velocity is the one to correct, its rows have beta 0.
        solution: StepSolution for it; its poses are not looked at.  NaN in it comes out as NaN.
        loaded: (C,) bool, contacts that carried load in the step; the others must not push here.

    Returns:
        VelocityResiduals.
    """
    bodies, contacts, joints = problem.bodies, problem.contacts, problem.joints
    velocity = np.asarray(solution.velocity, float)
    contact_impulse = np.asarray(solution.contact_impulse, float).reshape(-1, 3)
    joint_impulse = np.asarray(solution.joint_impulse, float)
    masses = _Masses(bodies)
    push = np.zeros((len(bodies.mass), 6))
    slip, weight = _contact_rows(problem, masses, velocity, contact_impulse, push)
    leaving = slip[:, 0] - (0.0 if contacts.rebound_speed is None else contacts.rebound_speed)
    pressed = weight * contact_impulse[:, 0]
    normal = np.where(loaded, natural_map(leaving, pressed), np.abs(pressed))
    friction = _friction_error(contact_impulse, slip[:, 1:], weight, np.asarray(contacts.friction, float))
    directions = jacobians(joints, bodies.position, bodies.orientation)
    angular, row_velocity, weight = _joint_rows(joints, masses, directions, velocity, joint_impulse, push)
    off = row_velocity - joints.target_velocity + joints.compliance * joint_impulse
    joint = joint_norms(joints, angular, _clip_error(joints, joint_impulse, off, weight))
    momentum = masses.momentum_error(velocity - bodies.free_velocity, push)
    return VelocityResiduals(
        momentum_residual=_worst(momentum),
        contact_residual=_worst(normal),
        friction_residual=_worst(friction),
        joint_residual=_worst(joint[~angular]),
        joint_residual_angle=_worst(joint[angular]),
        body_momentum=momentum,
        contact_normal=normal,
        contact_friction=friction,
        joint_row=joint,
        joint_row_is_angle=angular,
    )


class _Masses:
    """Inverse masses of all bodies at the free orientation; zero for those that do not move in this step."""

    def __init__(self, bodies):
        moving = np.arange(len(bodies.mass)) < bodies.dynamic_count
        inverse = np.where(moving[:, None], 1.0 / np.asarray(bodies.moments, float), 0.0)
        self.inverse_mass = np.where(moving, 1.0 / np.asarray(bodies.mass, float), 0.0)
        self.inverse_inertia = world_inertia(bodies.free_orientation, inverse)
        self.mean_inverse_inertia = inverse.mean(axis=1)
        self.gyration = np.zeros(len(moving))  # [m]
        self.gyration[moving] = np.sqrt(np.max(bodies.moments[moving], axis=1) / bodies.mass[moving])
        self.moving = moving

    def effective(self, j, body):
        """Diagonal of J M^-1 J^T, one body's share: j (..., 6), body broadcast to j's leading axes."""
        linear, angular = j[..., :3], j[..., 3:]
        return self.inverse_mass[body] * dot(linear, linear) + np.einsum(
            "...i,...ij,...j->...", angular, self.inverse_inertia[body], angular
        )

    def mean_inverse(self, pair, angular):
        """Inverse mass, or mean inverse moment of inertia, of both bodies of a row (R,)."""
        each = [np.where(angular, self.mean_inverse_inertia[body], self.inverse_mass[body]) for body in pair]
        return each[0] + each[1]

    def momentum_error(self, change, push):
        """|change - M^-1 push| per body [m/s], rotations at the radius of gyration."""
        linear = change[:, :3] - self.inverse_mass[:, None] * push[:, :3]
        angular = change[:, 3:] - np.einsum("bij,bj->bi", self.inverse_inertia, push[:, 3:])
        square = dot(linear, linear) + self.gyration**2 * dot(angular, angular)
        return np.where(self.moving, np.sqrt(square), 0.0)


def _worst(values):
    return float(values.max()) if len(values) else 0.0


def _scatter(total, pair, values):
    for body, value in zip(pair, values, strict=True):
        np.add.at(total, body, value)


def row_velocity(j_a, j_b, pair, velocity):
    """J u of rows (R, 6) or blocks (C, 3, 6).  pair: (body a, body b), each (R,) or (C,); velocity: (B, 6)."""
    return np.einsum("r...i,ri->r...", j_a, velocity[pair[0]]) + np.einsum("r...i,ri->r...", j_b, velocity[pair[1]])


def _contact_rows(problem, masses, velocity, impulse, push, end=None):
    """Velocities (C, 3) along (normal, t1, t2) and w (C,) of contacts; adds their impulses to ``push``."""
    contacts, bodies = problem.contacts, problem.bodies
    j_a, j_b = contact_jacobians(contacts, bodies.position, bodies.orientation, bodies.free_orientation, end)
    pair = (contacts.body_a, contacts.body_b)
    _scatter(push, pair, (np.einsum("cki,ck->ci", j_a, impulse), np.einsum("cki,ck->ci", j_b, impulse)))
    weight = masses.effective(j_a, contacts.body_a[:, None]) + masses.effective(j_b, contacts.body_b[:, None])
    slip = row_velocity(j_a, j_b, pair, velocity)
    slip[:, 1:] += surface_slip(contacts)
    return slip, weight.mean(axis=1)


def _joint_rows(joints, masses, directions, velocity, impulse, push):
    """Which rows are angles, J u and w, (R,) each; adds their impulses to ``push``."""
    j_a, j_b = directions
    pair = (joints.body_a, joints.body_b)
    _scatter(push, pair, (j_a * impulse[:, None], j_b * impulse[:, None]))
    angular = (joints.coordinate == Coordinate.DOT) | (joints.coordinate == Coordinate.TWIST)
    weight = masses.effective(j_a, joints.body_a) + masses.effective(j_b, joints.body_b)
    weight = np.maximum(weight, WEIGHT_FLOOR * masses.mean_inverse(pair, angular))
    return angular, row_velocity(j_a, j_b, pair, velocity), weight


def _contact_laws(problem, position, orientation, impulse, slip, weight):
    contacts, h = problem.contacts, problem.step
    mu = np.asarray(contacts.friction, float)
    before = start_gaps(problem)
    after = gaps(contacts, position, orientation)
    allowed = np.minimum(0.0, np.where(before < 0.0, before + problem.push_out_speed * h, 0.0))
    if contacts.rebound_gap is not None:
        allowed = allowed + contacts.rebound_gap
    normal, tangent = impulse[:, 0], impulse[:, 1:]
    a, b = after - allowed, h * weight * normal
    radius = mu * np.maximum(normal, 0.0)
    speed = np.hypot(*slip.T)
    return {
        "contact_gap": natural_map(a, b),
        "contact_gap_fischer_burmeister": np.abs(fischer_burmeister(a, b)),
        "contact_penetration": np.maximum(0.0, -after),
        "contact_friction": _friction_error(impulse, slip, weight, mu),
        "contact_cone": np.maximum(0.0, np.hypot(*tangent.T) - radius),
        "contact_dissipation": np.abs(dot(slip, tangent) + radius * speed),
    }


def _friction_error(impulse, slip, weight, mu):
    """|w p_t - P(w p_t - v_t)| (C,) [m/s]."""
    tangent = weight[:, None] * impulse[:, 1:]
    # Scaled by w before the projection, so that a contact of two immovable bodies (w = 0) divides by nothing.
    wanted = tangent - slip
    length, reach = np.hypot(*wanted.T), weight * mu * np.maximum(impulse[:, 0], 0.0)
    projected = wanted * np.where(length > reach, reach / np.where(length > 0.0, length, 1.0), 1.0)[:, None]
    return np.hypot(*(tangent - projected).T)


def _clip_error(joints, impulse, off, weight):
    """(R,) w |p - clip(p - off / (w + compliance), lower, upper)|."""
    total = weight + joints.compliance
    share = off / np.where(total > 0.0, total, 1.0)
    return weight * np.abs(impulse - np.clip(impulse - share, joints.lower, joints.upper))


def _joint_law(problem, position, orientation, impulse, row_velocity, weight):
    joints, h = problem.joints, problem.step
    beta, compliance = np.asarray(joints.beta, float), np.asarray(joints.compliance, float)
    error = coordinates(joints, position, orientation) - joints.target
    v = beta * error / h + (1.0 - beta) * row_velocity - joints.target_velocity
    off = v + compliance * impulse
    locked = (beta == 1.0) & np.isneginf(joints.lower) & np.isposinf(joints.upper)
    return h * np.where(locked, np.abs(off), _clip_error(joints, impulse, off, weight))


def joint_norms(joints, angular, error):
    """(R,) error of each row's joint: the norm over its rows of lengths, or over those of angles.

    A ball joint's three rows together are the distance of its two anchors.
    """
    if not len(error):
        return error
    group = 2 * joints.joint.astype(np.int64) + angular
    return np.sqrt(np.bincount(group, error**2))[group]


def _kinematics(bodies, h, velocity, position, orientation):
    change = h * (velocity - bodies.free_velocity)
    linear = position - (bodies.free_position + change[:, :3])
    return np.sqrt(dot(linear, linear)), angle_between(led_orientation(bodies, h, velocity), orientation)
