# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are carried along a curve: a marble in a bowl, a ball in a loop, a box that slides down a chute.

What contacts hold ends a step by backward Euler: of its velocity that part is lost which leads into the surface where
the step ends.  Where the surface turns by an angle a in the step, that is a share sin^2 a of the energy, and a ball in
a bowl lost half of it in a second at 24 frames a second.  In n parts of the step it is an n-th of that, so such steps
are halved; at a kink, where that share is lost by law, they find the same.
"""

import numpy as np

from .bounces import moving_first
from .manifold import along_runs
from .parts import of_islands
from .rotations import rotate

TURN = 0.035  # [rad] by which a surface may turn in a step
DEEPEST = 4  # a step is halved for it at most this often
ROUND = 1e-6  # of its radius: what is rounded by less has corners
ALONG = 0.2  # of its speed: what it moves away from or into by less carries it; meshes have facets
TUMBLING = 0.5  # of its speed: what has corners and turns faster at its rim lands on one after the other


def carried_along(assembly, solution, fast, radius):
    """(B,) bool: scene bodies, alone with what is not solved, whose step was too long for the curve that carries them.

    fast: [m] way into the surface in the step that does not matter; radius: (B,) around scene bodies' origins [m].
    """
    problem, n = assembly.problem, assembly.problem.bodies.dynamic_count
    contacts, bodies, h = problem.contacts, problem.bodies, problem.step
    alone = (np.bincount(assembly.island)[assembly.island] == 1) & ~assembly.island_jointed[assembly.island]
    own, other = moving_first(contacts)
    ours = np.append(alone, False)[np.minimum(own, n)] & (other >= n)
    out = np.zeros(n, bool)
    if not ours.any():
        return of_islands(assembly, out)
    first = contacts.body_a == own
    normal = np.where(first[:, None], contacts.normal, -contacts.normal)
    arm = rotate(bodies.orientation[other], np.where(first[:, None], contacts.point_b, contacts.point_a))
    surface = bodies.velocity[other, :3] + np.cross(bodies.velocity[other, 3:], arm)
    past = bodies.velocity[own, :3] - surface
    towards, speed = -(normal * past).sum(axis=1), np.sqrt((past * past).sum(axis=1))
    spin, size = bodies.velocity[own, 3:], radius[assembly.numbering.scene[np.minimum(own, n - 1)]]
    margin = np.where(first, contacts.margin_a, contacts.margin_b)
    rolls = (margin > ROUND * size) | (size * np.sqrt((spin * spin).sum(axis=1)) <= TUMBLING * speed)
    known = np.arange(len(own)) < len(assembly.contacts)  # others came up on the way
    carries = np.flatnonzero(ours & known & (contacts.start_gap <= fast) & (np.abs(towards) <= ALONG * speed))
    carries = carries[np.argsort(own[carries], kind="stable")]
    held = ours & rolls & (solution.contact_impulse[:, 0] > 0.0) & (contacts.rebound_speed == 0.0)
    held = np.flatnonzero(held & (h * towards > fast))
    begin, end = (np.searchsorted(own[carries], own[held], side) for side in ("left", "right"))
    held, begin, count = (each[end > begin] for each in (held, begin, end - begin))
    if len(held):
        run, offset = along_runs(count)
        cosine = (normal[held[run]] * normal[carries[begin[run] + offset]]).sum(axis=1)
        nearest = np.maximum.reduceat(cosine, np.flatnonzero(offset == 0))
        turns = (nearest < np.cos(TURN)) & (towards[held] > np.sin(TURN) * speed[held])
        out[own[held[turns]]] = True
    return of_islands(assembly, out)
