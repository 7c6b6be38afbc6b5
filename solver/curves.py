# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are carried along a curve: a marble in a bowl, a ball in a loop, a box that slides down a chute.

What contacts hold ends a step by backward Euler: of its velocity that part is lost which leads into the surface where
the step ends.  Where the surface turns by an angle a in the step, that is a share sin^2 a of the energy, and a ball in
a bowl lost half of it in a second at 24 frames a second.  Such a body goes by mid-step instead (gliding.py), pushed
along the normal half way between those of both ends, which keeps it: the chord has the same angle to both tangents.

At a kink that share is lost by law: the body hits what it comes to.  Half way, a curve has the normal half way; a kink
has that of the start or of the end.  Facets that turn by less than 6 degrees are a curve.
"""

from dataclasses import dataclass

import numpy as np

from .bounces import moving_first
from .manifold import along_runs
from .reference.rotation import halfway
from .reference.rows import normals
from .rotations import rotate

TURN = 0.01  # [rad] by which a surface may turn in a step
FACET = 0.105  # [rad] by which a curve may turn at once
MOST = 0.6  # [rad] by which it may turn in a step by mid-step
DEEPEST = 4  # a step is halved at most this often for what turns more
COARSE = 0.035  # [rad] by which what moves by keyframes may turn in a step: along that, energy is not told
KINK = 0.0053  # [s] to which it is halved at kinks: what carries the body before and after pushes in turn
SMOOTH = 0.3  # of the turn: how far the normal half way may be off
HAIR = 5e-3  # [rad] and by this much in any case
SAGITTA = 0.125  # of way times turn: how far an arc is from its chord
ROUND = 1e-6  # of its radius: what is rounded by less has corners
ALONG = 0.2  # of its speed: what it moves away from or into by less carries it; meshes have facets
TUMBLING = 0.5  # of its speed: what has corners and turns faster at its rim lands on one after the other


@dataclass
class Bends:
    """K contacts at the end of a step's way whose normals have turned from those that carried the body before."""

    body: np.ndarray  # (K,) dynamic body
    before: np.ndarray  # (K, 3) normal of what carried it at the start, from there to the body
    after: np.ndarray  # (K, 3) normal of what holds it at the end
    moves: np.ndarray  # (K,) bool: that moves itself, by keyframes

    def middle(self):
        """(K, 3) normal half way between the two."""
        middle = self.before + self.after
        return middle / np.linalg.norm(middle, axis=1, keepdims=True)

    def turn(self):
        """(K,) angle between the two [rad]."""
        apart = np.linalg.norm(self.after - self.before, axis=1)
        return 2.0 * np.arcsin(np.minimum(0.5 * apart, 1.0))


def bends(assembly, solution, fast, radius):
    """The Bends of bodies on what is not solved, in a solved step; None where there are none.

    Of single bodies, and of those that joints hold together, with what lies on them.

    fast: [m] way into the surface in the step that does not matter; radius: (B,) around scene bodies' origins [m].
    """
    problem, n = assembly.problem, assembly.problem.bodies.dynamic_count
    contacts, bodies, h = problem.contacts, problem.bodies, problem.step
    own, other = moving_first(contacts)
    if not (other >= n).any():
        return None
    loaded, island = solution.contact_impulse[:, 0] > 0.0, assembly.island
    among = loaded & (other < n)
    if contacts.face is not None:  # what lies on a cart; heaps have better to do
        among &= (contacts.face < 0) | ~assembly.island_jointed[island[np.minimum(own, n - 1)]]
    among = np.bincount(island[own[among]], minlength=len(assembly.island_jointed)) > 0
    ours = np.append(~among[island], False)[np.minimum(own, n)] & (other >= n)
    if contacts.surface_velocity is not None:
        ours &= ~contacts.surface_velocity.any(axis=1)
    if not ours.any():
        return None
    normal = outwards(contacts, contacts.normal)
    past = passing(contacts, bodies)
    towards, speed = -(normal * past).sum(axis=1), np.sqrt((past * past).sum(axis=1))
    spin, size = bodies.velocity[own, 3:], radius[assembly.numbering.scene[np.minimum(own, n - 1)]]
    margin = np.where(contacts.body_a == own, contacts.margin_a, contacts.margin_b)
    rolls = (margin > ROUND * size) | (size * np.sqrt((spin * spin).sum(axis=1)) <= TUMBLING * speed)
    known = np.arange(len(own)) < len(assembly.contacts)  # others came up on the way
    carries = np.flatnonzero(ours & known & (np.abs(towards) <= ALONG * speed))
    held = ours & rolls & loaded & (contacts.rebound_speed == 0.0)
    held = np.flatnonzero(held & (h * towards > fast))
    held, carrier = nearest(own, normal, carries, held)
    end = outwards(contacts, normals(contacts, solution.orientation))
    moves = bodies.velocity[other[held]].any(axis=1)
    found = Bends(own[held], square_to(normal[carrier], past[carrier]), end[held], moves)
    turn = found.turn()
    turns = (turn > TURN) & (towards[held] > np.sin(TURN) * speed[held])
    turns &= contacts.start_gap[carrier] <= fast + SAGITTA * h * speed[held] * turn  # facets part from what rolls on
    if not turns.any():
        return None
    return Bends(*(values[turns] for values in vars(found).values()))


def outwards(contacts, normal):
    """(C, 3) normals ``normal`` (C, 3) of contacts from what is touched towards the body that moves."""
    own = moving_first(contacts)[0]
    return np.where((contacts.body_a == own)[:, None], normal, -normal)


def passing(contacts, bodies):
    """(C, 3) velocity of the bodies that move past what they touch, at the step's start [m/s]."""
    own, other = moving_first(contacts)
    there = np.where((contacts.body_a == own)[:, None], contacts.point_b, contacts.point_a)
    arm = rotate(bodies.orientation[other], there)
    return bodies.velocity[own, :3] - bodies.velocity[other, :3] - np.cross(bodies.velocity[other, 3:], arm)


def square_to(normal, past):
    """(K, 3) normals (K, 3) turned square to velocities (K, 3): those of what carried a body so, facets or not."""
    share = (normal * past).sum(axis=1) / np.maximum((past * past).sum(axis=1), 1e-300)
    square = normal - share[:, None] * past
    return square / np.linalg.norm(square, axis=1, keepdims=True)


def nearest(own, normal, carries, held):
    """Of the contacts ``held`` (K,) those whose body has some of ``carries``, and the one with the nearest normal.

    own: (C,) body; normal: (C, 3).  Returns two index arrays of one length.
    """
    carries = carries[np.argsort(own[carries], kind="stable")]
    begin, end = (np.searchsorted(own[carries], own[held], side) for side in ("left", "right"))
    held, begin, count = (each[end > begin] for each in (held, begin, end - begin))
    if not len(held):
        return held, held
    run, offset = along_runs(count)
    candidate = carries[begin[run] + offset]
    cosine = (normal[held[run]] * normal[candidate]).sum(axis=1)
    order = np.lexsort((-cosine, run))
    return held, candidate[order[np.flatnonzero(np.append(True, np.diff(run[order]) > 0))]]


def curves(found, half_way, order):
    """(K,) bool: which Bends are curves, and no kinks.

    half_way: the ContactSet with the bodies half way; order: (B + 1,) scene number of each solver body.
    """
    middle, turn, apart = found.middle(), found.turn(), np.full(len(found.body), 2.0)
    for side, sign in ((half_way.body_a, 1.0), (half_way.body_b, -1.0)):
        for k, body in enumerate(order[found.body].tolist()):
            there = sign * half_way.normal[side == body]
            apart[k] = np.linalg.norm(there - middle[k], axis=1).min(initial=apart[k])
    off = 2.0 * np.arcsin(np.minimum(0.5 * apart, 1.0))
    return (turn <= FACET) | (off <= np.maximum(SMOOTH * turn, 0.5 * FACET) + HAIR)


def middle_pose(found, bodies, solution):
    """Positions (B, 3) and orientations (B, 4) half way through a solved step, those of Bends on the arc."""
    position = 0.5 * (bodies.position + solution.position)
    way = np.linalg.norm(solution.position - bodies.position, axis=1)[found.body]
    position[found.body] -= (SAGITTA * way * found.turn())[:, None] * found.middle()
    return position, halfway(bodies.orientation, solution.orientation)
