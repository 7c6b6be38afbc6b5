# SPDX-License-Identifier: GPL-3.0-or-later
"""What the facets of a curve take from bodies that are carried along it.

Along a smooth curve normals do no work.  A curve of facets says where it is, but only roughly which way it faces: half
way between the normals of two facets the chord of a step is not quite square, and at its end a body runs into the one
it has come to, or out of it.  Both take energy as the curve would not, a funnel of 64 sides a tenth of that in eight
seconds.  So that is told, and given back to the speed (energy_limit.py).
"""

import numpy as np

from .bounces import moving_first
from .curves import FACET, passing
from .reference.rotation import dot
from .reference.rows import parting_speeds


def taken_by_facets(assembly, solution, end, along):
    """(n,) energy [J] that normals of facets took from bodies ``along`` (n,) bool, which a curve carries.

    0 of those that hit something: what approaches it by more than a facet turns.
    end: StepProblem and StepSolution of the velocity phase, which begins with what its Contacts carried, and (n, 6)
    velocity before it.
    """
    problem, n = assembly.problem, assembly.problem.bodies.dynamic_count
    contacts, bodies, ours = problem.contacts, problem.bodies, np.append(along, False)
    work, hit = np.zeros(n + 1), np.zeros(n + 1, bool)
    own = np.minimum(moving_first(contacts)[0], n)
    glides = np.zeros(len(own), bool) if contacts.glides is None else contacts.glides  # what leans may without one
    index = np.flatnonzero(glides & ours[own])
    near, pushed = contacts.take(index), 2.0 * solution.contact_impulse[index, 0]
    start = bodies.position, bodies.orientation, bodies.free_orientation
    speed = parting_speeds(near, solution.velocity, *start)
    np.add.at(work, own[index], pushed * speed)
    at_end, result, before = end
    touches, own = at_end.contacts, np.minimum(moving_first(at_end.contacts)[0], n)
    index = np.flatnonzero(ours[own])
    near, pose = touches.take(index), (at_end.bodies.position, at_end.bodies.orientation)
    velocity = at_end.bodies.velocity.copy()
    velocity[:n] = before
    first, last = (parting_speeds(near, each, *pose) for each in (velocity, result.velocity))
    past = np.linalg.norm(passing(near, at_end.bodies), axis=1)
    pushed = result.contact_impulse[index, 0] - dot(near.normal, near.impulse)
    hit[own[index[(pushed > 0.0) & (first < -np.sin(FACET) * past)]]] = True
    hit[own[index[near.rebound_speed > 0.0]]] = True
    np.add.at(work, own[index], 0.5 * pushed * (first + last))
    return np.where(hit, 0.0, np.maximum(-work, 0.0))[:n]
