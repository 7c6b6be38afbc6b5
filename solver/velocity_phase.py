# SPDX-License-Identifier: GPL-3.0-or-later
"""The velocity phase: the velocity with which a step ends, once its end pose is known.

The position phase decides where bodies end; the velocity that led there also carries corrections of drift and
overlap, which must not become motion.  So joints are made rigid in velocity at the end pose, J(q+) u = 0, and
contacts that carried load either leave with the speed of their rebound or rest.  It never adds energy; without it stiff
joints gain it.
"""

from dataclasses import replace

import numpy as np

from .constraints.breaking import impulse_share
from .metrics import joint_directions
from .predict import carry_momentum
from .problem import Bodies, Coordinate, StepProblem, world_impulses
from .reference.rows import contact_jacobians, coordinates, normals, start_gaps
from .rotations import conjugate, rotate


def total_velocity(assembly, solution, sound):
    """(n, 6) velocity at the step's end with all impulses, angular momentum carried to the end pose.

    sound: (n,) bool, bodies within the tolerance; the impulses of others tell nothing.
    """
    bodies, n = assembly.problem.bodies, assembly.problem.bodies.dynamic_count
    share = 1.0 + bodies.midpoint[:n, None]
    velocity = assembly.end_velocity + share * _change(assembly, solution, sound)
    velocity[:, 3:] = carry_momentum(
        bodies.free_orientation[:n], solution.orientation[:n], velocity[:, 3:], bodies.inertia[:n]
    )
    return velocity


def _change(assembly, solution, sound):
    """(n, 6) change of velocity in the position phase: where joints alone hold bodies, that of its impulses.

    What the solve left of momentum has one sign step after step where joints turn: a wheel would gain spin from it.
    """
    problem, bodies, n = assembly.problem, assembly.problem.bodies, assembly.problem.bodies.dynamic_count
    change = solution.velocity[:n] - bodies.free_velocity[:n]
    jointed = assembly.island_jointed[assembly.island] & sound & (bodies.midpoint[:n] > 0.0)
    if not jointed.any():
        return change
    push = np.zeros((len(bodies.mass), 6))
    contacts, rows = problem.contacts, problem.joints
    for table, sides, impulse in (
        (contacts, contact_jacobians(contacts, bodies.position, bodies.orientation), solution.contact_impulse),
        (rows, joint_directions(problem, solution.position, solution.orientation), solution.joint_impulse[:, None]),
    ):
        for body, side in zip((table.body_a, table.body_b), sides, strict=True):
            np.add.at(push, body, np.einsum("rki,rk->ri", side.reshape(*impulse.shape, 6), impulse))
    change[jointed] = _answer(bodies, bodies.free_orientation[:n], push[:n])[jointed]
    return change


def _answer(bodies, orientation, push):
    """M^-1 push (n, 6) of the dynamic bodies, with their inertia at ``orientation`` (n, 4)."""
    n = bodies.dynamic_count
    local = rotate(conjugate(orientation), push[:, 3:]) / bodies.inertia[:n]
    return np.hstack([push[:, :3] / bodies.mass[:n, None], rotate(orientation, local)])


def needs_velocity_phase(assembly, solution, tolerance):
    """(islands,) bool: islands with joints, with a rebound, or with overlap that was pushed out in this step."""
    problem, need = assembly.problem, assembly.island_jointed.copy()
    contacts = problem.contacts
    if not len(contacts):
        return need
    island = assembly.island[np.minimum(contacts.body_a, contacts.body_b)]
    loaded = solution.contact_impulse[:, 0] > 0.0
    bounce = loaded & ((contacts.rebound_speed != 0.0) | (contacts.rebound_gap > 0.0))
    pushed = loaded & (start_gaps(problem) < -tolerance)
    need[island[bounce | pushed]] = True
    return need


def velocity_problem(assembly, solution, total, need):
    """(StepProblem at velocity level, loaded (C,) bool, first iterate (n, 6), its bodies' mask (n,)).

    total: (n, 6) velocity with all impulses of the position phase.  Only contacts and rows of islands in ``need`` take
    part.
    """
    problem, bodies = assembly.problem, assembly.problem.bodies
    n = bodies.dynamic_count
    mask = need[assembly.island]
    contacts, impulse = _needed_contacts(problem, solution, mask)
    push = np.zeros((n, 6))
    force, arms = _forces(bodies, contacts, impulse)
    for body, arm, sign in ((contacts.body_a, arms[0], 1.0), (contacts.body_b, arms[1], -1.0)):
        inside = body < n
        six = (1.0 + bodies.midpoint[body])[:, None] * sign * np.hstack([force, np.cross(arm, force)])
        np.add.at(push, body[inside], six[inside])
    # Contacts are solved anew: take their share out of the free velocity, and offer it as the first guess.
    free = bodies.velocity.copy()
    free[:n] = total - _answer(bodies, solution.orientation[:n], push)
    at_end = Bodies(
        n, bodies.mass, bodies.inertia, solution.position, solution.orientation, bodies.velocity, solution.position,
        solution.orientation, free, np.zeros_like(bodies.midpoint),
    )  # fmt: skip
    turned = normals(contacts, solution.orientation)
    contacts = at_one_point(replace(contacts, impulse=force, normal=turned), solution)
    rows = _needed_rows(assembly, solution, mask)
    return StepProblem(problem.step, at_end, contacts, rows), impulse[:, 0] > 0.0, total, mask


def _needed_contacts(problem, solution, mask):
    take = moves(problem.contacts, mask, len(problem.bodies.mass))
    return problem.contacts.take(take), solution.contact_impulse[take]


def moves(table, mask, count):
    """Which Contacts or JointRows have a body that ``mask`` (n,) names, of ``count`` bodies in all."""
    wide = np.concatenate([mask, np.zeros(count - len(mask), bool)])
    return wide[table.body_a] | wide[table.body_b]


def _forces(bodies, contacts, impulse):
    """World impulses (C, 3) on body a, and levers at the start pose, where the position phase took them."""
    force = world_impulses(contacts.normal, impulse)
    arm_a = rotate(bodies.orientation[contacts.body_a], contacts.point_a) - contacts.normal * contacts.margin_a[:, None]
    arm_b = rotate(bodies.orientation[contacts.body_b], contacts.point_b) + contacts.normal * contacts.margin_b[:, None]
    return force, (arm_a, arm_b)


def at_one_point(contacts, solution):
    """The contacts with both their points half way between them at the end pose: equal and opposite there, so that the
    impulses keep angular momentum however far the two points slid apart in the step.

    A face is touched below the other body's point, wherever its own point has gone: a smooth ball gets no spin.
    """
    x_a, x_b = solution.position[contacts.body_a], solution.position[contacts.body_b]
    q_a, q_b = solution.orientation[contacts.body_a], solution.orientation[contacts.body_b]
    on_a = x_a + rotate(q_a, contacts.point_a) - contacts.normal * contacts.margin_a[:, None]
    on_b = x_b + rotate(q_b, contacts.point_b) + contacts.normal * contacts.margin_b[:, None]
    if contacts.face is not None:
        apart = np.einsum("ci,ci->c", contacts.normal, on_a - on_b)[:, None] * contacts.normal
        on_a, on_b = (
            np.where((contacts.face == body)[:, None], below, own)
            for body, below, own in ((contacts.body_a, on_b + apart, on_a), (contacts.body_b, on_a - apart, on_b))
        )
    middle = 0.5 * (on_a + on_b)
    zero = np.zeros(len(contacts))
    points = {"point_a": rotate(conjugate(q_a), middle - x_a), "point_b": rotate(conjugate(q_b), middle - x_b)}
    return replace(contacts, **points, margin_a=zero, margin_b=zero)


def _needed_rows(assembly, solution, mask):
    """Rigid rows of the needed islands; what they may still add, given what the position phase used of their force."""
    problem, rows = assembly.problem, assembly.problem.joints
    if not len(rows):
        return rows
    share = impulse_share(problem)
    one_sided = (rows.beta == 1.0) & ((rows.lower == 0.0) | (rows.upper == 0.0))
    active = ~one_sided | (solution.joint_impulse != 0.0)
    take = moves(rows, mask, len(problem.bodies.mass)) & ~np.isnan(assembly.row_rate) & active
    out = rows.take(take)
    used = (share * solution.joint_impulse)[take]
    out.lower, out.upper = (share[take] * bound - used for bound in (out.lower, out.upper))
    out.lower, out.upper = np.minimum(out.lower, 0.0), np.maximum(out.upper, 0.0)
    out.beta[:], out.compliance[:] = 0.0, 0.0
    out.target_velocity = assembly.row_rate[take].copy()
    out.impulse[:] = 0.0
    twist = out.coordinate == Coordinate.TWIST
    if twist.any():
        out.offset[twist] += coordinates(out, solution.position, solution.orientation)[twist]
    return out


def calm(assembly, velocity, sound):
    """A step given up on must not add energy: in place, an island with a body that missed keeps no more of it than free
    motion would have given.

    velocity: (n, 6); sound: (n,) bool, bodies within the tolerance.
    """
    if sound.all():
        return
    bodies, n = assembly.problem.bodies, assembly.problem.bodies.dynamic_count
    scale = np.hstack([np.ones((n, 3)), np.broadcast_to(bodies.gyration()[:, None], (n, 3))])
    mass = bodies.mass[:n]
    energy = [
        np.bincount(assembly.island, mass * ((scale * u) ** 2).sum(axis=1)) for u in (velocity, assembly.end_velocity)
    ]
    factor = np.sqrt(np.minimum(1.0, energy[1] / np.maximum(energy[0], 1e-300)))
    factor[np.bincount(assembly.island, ~sound) == 0.0] = 1.0
    velocity *= np.nan_to_num(factor)[assembly.island][:, None]
