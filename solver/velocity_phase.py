# SPDX-License-Identifier: GPL-3.0-or-later
"""The velocity phase: the velocity with which a step ends, once its end pose is known.

The position phase decides where bodies end; the velocity that led there also carries corrections of drift and
overlap, which must not become motion.  So joints are made rigid in velocity at the end pose, J(q+) u = 0, and
contacts that carried load either leave with the speed of their rebound or rest.  It never adds energy; without it stiff
joints gain it.  Dampers take what their law of the end of a step lacks (constraints/springs.py).

A hull or mesh that rolls has turned its corner by the end pose: with the lever of the start, its weight brakes it, so
a body that rolls alone gets the phase as well.
"""

from dataclasses import replace

import numpy as np

from .constraints.breaking import impulse_share
from .flags import every, some
from .problem import Bodies, Coordinate, JointRows, StepProblem
from .rotations import conjugate, rotate

ROUND, OTHER, STANDS, FACE = range(4)
"""Sides of a contact; of two, the one named later is touched below the other's point."""


def velocity_problem(assembly, solution, judge, judged, total, mask):
    """(StepProblem at velocity level, loaded (C,) bool, which contacts of the step take part).

    judge: the Judge that last judged this step; judged: the JudgedStep; total: (n, 6) velocity with all impulses of the
    position phase; mask: (n,) bool, bodies of islands that need the phase.  Only their contacts and rows take part.
    """
    problem, bodies = assembly.problem, assembly.problem.bodies
    n, contacts, pose = bodies.dynamic_count, problem.contacts, (solution.position, solution.orientation)
    free = bodies.velocity.copy()
    free[:n] = total
    taken = moves(contacts, mask, len(bodies.mass))
    loaded = solution.contact_impulse[taken, 0] > 0.0
    if some(taken):
        # Contacts are solved anew: take their share out of the free velocity, and offer it as the first guess.
        contacts, given = judge.contacts_at_end(problem)
        free[:n][mask] -= given[mask]
    if not every(taken):
        contacts = contacts.take(np.flatnonzero(taken))
    at_end = Bodies(n, bodies.mass, bodies.inertia, *pose, bodies.velocity, *pose, free, np.zeros(len(bodies.mass)))
    return StepProblem(problem.step, at_end, contacts, _needed_rows(assembly, solution, judged, mask)), loaded, taken


def moves(table, mask, count):
    """Which Contacts or JointRows have a body that ``mask`` (n,) names, of ``count`` bodies in all."""
    if not len(table):
        return np.zeros(0, bool)
    wide = np.concatenate([mask, np.zeros(count - len(mask), bool)])
    return wide[table.body_a] | wide[table.body_b]


def at_one_point(contacts, solution, dynamic_count):
    """The contacts with both their points at one place at the end pose: equal and opposite there, so that the impulses
    keep angular momentum however far the two points slid apart in the step.

    A face is touched below the other body's point, wherever its own point has gone: a smooth ball gets no spin.  So is
    what is not solved, else a wheel would be pushed where it touched the ground before the step; and by what is round,
    all else.  Two of a kind meet half way.  dynamic_count: of the bodies that are solved, which come first.
    """
    x_a, x_b = solution.position[contacts.body_a], solution.position[contacts.body_b]
    q_a, q_b = solution.orientation[contacts.body_a], solution.orientation[contacts.body_b]
    on_a = x_a + rotate(q_a, contacts.point_a) - contacts.normal * contacts.margin_a[:, None]
    on_b = x_b + rotate(q_b, contacts.point_b) + contacts.normal * contacts.margin_b[:, None]
    apart = np.einsum("ci,ci->c", contacts.normal, on_a - on_b)[:, None] * contacts.normal
    face = np.full(len(contacts), -1) if contacts.face is None else contacts.face
    bodies, margins = (contacts.body_a, contacts.body_b), (contacts.margin_a, contacts.margin_b)
    ranks = [
        np.where(face == body, FACE, np.where(body >= dynamic_count, STANDS, np.where(margin > 0.0, ROUND, OTHER)))
        for body, margin in zip(bodies, margins, strict=True)
    ]
    on_a, on_b = (
        np.where((own > other)[:, None], below, point)
        for own, other, below, point in ((*ranks, on_b + apart, on_a), (*ranks[::-1], on_a - apart, on_b))
    )
    middle = 0.5 * (on_a + on_b)
    zero = np.zeros(len(contacts))
    points = {"point_a": rotate(conjugate(q_a), middle - x_a), "point_b": rotate(conjugate(q_b), middle - x_b)}
    return replace(contacts, **points, margin_a=zero, margin_b=zero)


def _needed_rows(assembly, solution, judged, mask):
    """Rigid rows of the needed islands; what they may still add, given what the position phase used of their force.

    Where all islands need the phase, rows without a part in it stay, and carry nothing: who is coupled with whom stays
    as it was.
    """
    problem, rows, impulse = assembly.problem, assembly.problem.joints, solution.joint_impulse
    count, end = len(rows), assembly.row_end
    if not count:
        return rows
    if assembly.rigid is not None and mask.all():
        return assembly.rigid
    one_sided = (rows.beta == 1.0) & ((rows.lower == 0.0) | (rows.upper == 0.0))
    ruled, rate, soft = ~np.isnan(assembly.row_rate), assembly.row_rate.copy(), np.zeros(count)
    share = impulse_share(problem)
    used = share * impulse
    if end is not None:
        damped, (wanted, soft) = end.damping > 0.0, end.rest(used, judged.coordinate - rows.target)
        rate[damped], ruled = wanted[damped], ruled | damped
    take = (~one_sided | (impulse != 0.0)) & ruled
    if not mask.all():
        take &= moves(rows, mask, len(problem.bodies.mass))
    turned = np.where(rows.coordinate == int(Coordinate.TWIST), judged.coordinate, 0.0)
    changed = {
        "offset": rows.offset + turned, "target_velocity": rate, "compliance": soft,
        "lower": np.minimum(share * rows.lower - used, 0.0), "upper": np.maximum(share * rows.upper - used, 0.0),
    }  # fmt: skip
    rigid = JointRows(**vars(rows) | dict.fromkeys(("beta", "impulse"), np.zeros(count)) | changed)
    if mask.all() and take.any():
        rigid.lower[~take] = rigid.upper[~take] = rigid.target_velocity[~take] = 0.0
        return rigid
    return rigid.take(np.nonzero(take)[0])
