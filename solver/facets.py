# SPDX-License-Identifier: GPL-3.0-or-later
"""What the facets of a curve take from bodies that are carried along it.

Along a smooth curve normals do no work.  A curve of facets says where it is, but only roughly which way it faces: half
way between the normals of two facets the chord of a step is not quite square, and at its end a body runs into the one
it has come to, or out of it.  Both take energy as the curve would not, a funnel of 64 sides a tenth of that in eight
seconds.  So that is told, and given back to the speed (energy_limit.py).

In short steps a ball rolls from facet to facet without turning far in any of them.  It ends some of them in the next
facet by what the tolerance allows, with the speed of what it fell by, and is pushed out in the next, with all of that
speed: a chute of 400 rows gave it a fifth of its energy in eight seconds at 96 frames a second.  So what is pushed out
of what may have facets, and was going into it, has no more than there is, as what a curve carries.
"""

import numpy as np

from .curves import FACET, outwards, passing
from .flags import places, some
from .flat_shapes import is_flat
from .reference.rotation import dot
from .reference.rows import normals, parting_speeds
from .riders import riding_first
from .vectors import length

ANEW = 1e-4  # of its speed: what goes into what it touches no faster was there before


def taken_by_facets(assembly, solution, end, along):
    """(n,) energy [J] that normals of facets took from bodies ``along`` (n,) bool, which a curve carries.

    0 of those that hit something: what approaches it by more than a facet turns.
    end: StepProblem and StepSolution of the velocity phase, which begins with what its Contacts carried, and (n, 6)
    velocity before it.
    """
    problem, n = assembly.problem, assembly.problem.bodies.dynamic_count
    contacts, bodies, ours = problem.contacts, problem.bodies, np.append(along, False)
    work, hit = np.zeros(n + 1), np.zeros(n + 1, bool)
    own = np.minimum(riding_first(contacts, bodies)[0], n)
    glides = np.zeros(len(own), bool) if contacts.glides is None else contacts.glides  # what leans may without one
    index = np.flatnonzero(glides & ours[own])
    near, pushed = contacts.take(index), 2.0 * solution.contact_impulse[index, 0]
    start = bodies.position, bodies.orientation, bodies.free_orientation
    speed = parting_speeds(near, solution.velocity, *start)
    np.add.at(work, own[index], pushed * speed)
    at_end, result, before = end
    touches = at_end.contacts
    own = np.minimum(riding_first(touches, bodies)[0], n)
    index = np.flatnonzero(ours[own])
    near, pose = touches.take(index), (at_end.bodies.position, at_end.bodies.orientation)
    velocity = at_end.bodies.velocity.copy()
    velocity[:n] = before
    first, last = (parting_speeds(near, each, *pose) for each in (velocity, result.velocity))
    past = length(passing(near, at_end.bodies, riding_first(near, bodies)))
    pushed = result.contact_impulse[index, 0] - dot(near.normal, near.impulse)
    hit[own[index[(pushed > 0.0) & (first < -np.sin(FACET) * past)]]] = True
    hit[own[index[near.rebound_speed > 0.0]]] = True
    np.add.at(work, own[index], 0.5 * pushed * (first + last))
    return np.where(hit, 0.0, np.maximum(-work, 0.0))[:n]


class Surfaces:
    """Which of a scene's bodies have curves, of facets maybe; looked at when something rolls there."""

    def __init__(self, bodies):
        self._bodies, self._known = bodies, {}

    def along(self, assembly):
        """(n,) bool: bodies without joints that glide on something that is not solved and has curves, and have come to
        another facet, into which they go on from inside; None: none.  What landed on level ground goes no deeper.
        """
        problem, n = assembly.problem, assembly.problem.bodies.dynamic_count
        contacts = problem.contacts
        if contacts.glides is None or not len(self._bodies):
            return None
        index = places(contacts.glides & (contacts.start_gap < 0.0))
        near = contacts.take(index)
        sides = riding_first(near, problem.bodies)
        past = passing(near, problem.bodies, sides)
        into = -dot(outwards(near, normals(near, problem.bodies.orientation), sides[0]), past)
        own, other = (side[into > ANEW * length(past)] for side in sides)
        curved = [body for body in np.unique(other[other >= n]) if self._has_curves(assembly.numbering.scene[body])]
        if not curved:
            return None
        out = np.zeros(n, bool)
        out[own[np.isin(other, curved)]] = True
        out &= ~assembly.island_jointed[assembly.island]
        return out if some(out) else None

    def _has_curves(self, number):
        if number not in self._known:
            self._known[number] = not is_flat(self._bodies[number])
        return self._known[number]
