# SPDX-License-Identifier: GPL-3.0-or-later
"""The velocity phase: the velocity with which a step ends, once its end pose is known.

The position phase decides where bodies end; the velocity that led there also carries corrections of drift and
overlap, which must not become motion.  So joints are made rigid in velocity at the end pose, J(q+) u = 0, and
contacts that carried load either leave with the speed of their rebound or rest.  It never adds energy; without it stiff
joints gain it.  Dampers take what their law of the end of a step lacks (reference/springs.py).

What gives way, but vibrates too fast for a step to follow, has pulled all along the way as it does where that ends.
Along itself that is right, and what is left of the vibration is taken.  Across two of them that meet at an angle, in
strings and nets, bodies have modes that are slow, as tension alone holds them, and taken as rigid both hold them in
their place.  So the impulse of the step is brought up to

    P = -h k (c- + h J u+ / 2)        c-: coordinate at the start, k: stiffness

which of a mode of (omega h)^2 = K along the rows leaves 1 / (1 + K / 2) of what is not in the way, next to nothing of
fast ones, and is of second order for slow ones.  Where contacts hold by backward Euler, the force at the end has done
all of that, and J u+ = 0 is asked for with the same compliance.

A hull or mesh that rolls has turned its corner by the end pose: with the lever of the start, its weight brakes it, so
a body that rolls alone gets the phase as well.
"""

import numpy as np

from .constraints.breaking import impulse_share
from .flags import every, places, some
from .impact_levers import as_they_hit
from .problem import Bodies, Coordinate, JointRows, StepProblem
from .reference.rows import coordinate_rates
from .row_work import impulse_of_law, mean_rates, strains, swings

STEADY = 2.0  # times the rate that it had, up to which what gives way goes on as it did on its way


def velocity_problem(assembly, solution, judge, judged, total, mask, off=None, near=0.0):
    """(StepProblem at velocity level, loaded (C,) bool, which contacts of the step take part).

    judge: the Judge that last judged this step; judged: the JudgedStep; total: (n, 6) velocity with all impulses of the
    position phase; mask: (n,) bool, bodies of islands that need the phase.  Only their contacts and rows take part.
    Other contacts stay as they are, and carry nothing: who touches whom is as it was, and lies on the device already.
    Where none takes part there are none.  off: (C,) bool, contacts of bodies that hit and tumbled on past each other,
    or None; near: [m or rad] that is no way.
    """
    problem, bodies = assembly.problem, assembly.problem.bodies
    n, contacts, pose = bodies.dynamic_count, problem.contacts, (solution.position, solution.orientation)
    free = bodies.velocity.copy()
    free[:n] = total
    taken = moves(contacts, mask, len(bodies.mass))
    loaded = taken & (solution.contact_impulse[:, 0] > 0.0)
    if some(taken):
        # Contacts are solved anew: take their share out of the free velocity, and offer it as the first guess.
        contacts, given = judge.contacts_at_end(problem)
        free[:n][mask] -= given[mask]
        contacts = as_they_hit(contacts, assembly, solution, taken, off)
        if not every(taken):
            contacts.impulse = np.where(taken[:, None], contacts.impulse, 0.0)
    elif len(contacts):
        contacts, loaded = contacts.take(places(taken)), loaded[:0]
    at_end = Bodies(n, bodies.mass, bodies.inertia, *pose, bodies.velocity, *pose, free, np.zeros(len(bodies.mass)))
    at_end.lever_inertia = bodies.lever_inertia
    rows, gives = _needed_rows(assembly, solution, judged, mask, near)
    return StepProblem(problem.step, at_end, contacts, rows, gives=gives), loaded, taken


def moves(table, mask, count):
    """Which Contacts or JointRows have a body that ``mask`` (n,) names, of ``count`` bodies in all."""
    if not len(table):
        return np.zeros(0, bool)
    wide = np.concatenate([mask, np.zeros(count - len(mask), bool)])
    return wide[table.body_a] | wide[table.body_b]


def _needed_rows(assembly, solution, judged, mask, near):
    """(Rigid rows of the needed islands, (R,) bool: those that give way, or None); what they may still add, given what
    the position phase used of their force.

    Where all islands need the phase, rows without a part in it stay, and carry nothing: who is coupled with whom stays
    as it was.
    """
    problem, rows, impulse = assembly.problem, assembly.problem.joints, solution.joint_impulse
    count, end = len(rows), assembly.row_end
    if not count:
        return rows, None
    if assembly.rigid is not None and mask.all():
        return assembly.rigid, None
    one_sided = (rows.beta == 1.0) & ((rows.lower == 0.0) | (rows.upper == 0.0))
    ruled, rate, soft = ~np.isnan(assembly.row_rate), assembly.row_rate.copy(), np.zeros(count)
    share = impulse_share(problem)
    used = share * impulse
    if end is not None:
        damped, taken = end.damping > 0.0, _taken(assembly, solution, judged)
        wanted, soft = end.rest(taken, judged.coordinate - rows.target)
        rate[damped], ruled = wanted[damped], ruled | damped
    gives = None
    if len(firm := assembly.firm):
        gives = np.zeros(count, bool)
        gives[firm] = True
        rate[firm], soft[firm] = _giving(problem, solution, judged, firm, near)
    take = (~one_sided | (impulse != 0.0)) & ruled
    if not mask.all():
        take &= moves(rows, mask, len(problem.bodies.mass))
    turned = np.where(rows.coordinate == int(Coordinate.TWIST), judged.turned, 0.0)
    changed = {
        "offset": rows.offset + turned, "centre": rows.centre - turned, "target_velocity": rate, "compliance": soft,
        "lower": np.minimum(share * rows.lower - used, 0.0), "upper": np.maximum(share * rows.upper - used, 0.0),
    }  # fmt: skip
    rigid = JointRows(**vars(rows) | dict.fromkeys(("beta", "impulse"), np.zeros(count)) | changed)
    if mask.all() and take.any():
        rigid.lower[~take] = rigid.upper[~take] = rigid.target_velocity[~take] = 0.0
        return rigid, gives
    take = places(take)
    return rigid.take(take), None if gives is None else gives.take(take)


def _giving(problem, solution, judged, firm, near):
    """(rates (K,) that rows ``firm`` (K,) numbers ask for, (K,) their compliance [1/kg, 1/(kg m^2)]): what gives way.

    P with what the way has taken, h k c+, is J u+ - 2 (c+ - c-) / h + 2 p / (h^2 k) = 0.  What a row closes by as it
    did not fit at the start is no motion: it asks for no more than STEADY times the rate it had.
    near: [m or rad] that is no way.
    """
    bodies, h, share = problem.bodies, problem.step, impulse_share(problem)[firm]
    rows, (before, after) = problem.joints.take(firm), strains(problem, judged, firm)
    way = after - before
    way = np.copysign(np.maximum(np.abs(way) - near, 0.0), way)
    most = STEADY * h * coordinate_rates(rows, bodies.velocity_at_start(), bodies.position, bodies.orientation)
    way = np.clip(way, np.minimum(most, 0.0), np.maximum(most, 0.0))
    return np.where(share > 1.0, 2.0 / h * way, 0.0), 2.0 * rows.compliance / share


def _taken(assembly, solution, judged):
    """(R,) impulses over the step [N s, N m s] that the way has taken of what laws of the end ask for.

    Those of springs are what the way's law asks for where the step ends.  What the solve finds differs by h k times its
    tolerance, which is a length, and would go into the velocity: a damper that takes nothing let a spring drive what it
    holds.  And where bodies turn far, h J u is not all that a coordinate changes by: the way's law has its mean at the
    end's less half of that, and by the coordinate of the start, springs pushed along levers of metres with h k / 2 of
    the rest.
    """
    problem, end, share = assembly.problem, assembly.row_end, impulse_share(assembly.problem)
    rows, out = problem.joints, share * solution.joint_impulse
    which = places((end.damping > 0.0) & (end.stiffness > 0.0) & (rows.beta > 0.0))
    if len(which):
        rows, h = rows.take(which), problem.step
        rate = mean_rates(problem, rows, solution)
        stiffness, off, _, more = swings(problem, judged, which, rate)
        out[which] = share[which] * impulse_of_law(rows, off, rate, h) + (h * stiffness - end.stiffness[which]) * more
    return out
