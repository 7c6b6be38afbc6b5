# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are carried along a curve: a marble in a bowl, a ball in a loop, a box that slides down a chute.

What contacts hold ends a step by backward Euler: of its velocity that part is lost which leads into the surface where
the step ends.  Where the surface turns by an angle a in the step, that is a share sin^2 a of the energy, and a ball in
a bowl lost half of it in a second at 24 frames a second.  Such a body goes by mid-step instead (gliding.py), pushed
along the normal half way between those of both ends, which keeps it: the chord has the same angle to both tangents.

At a kink that share is lost by law: the body hits what it comes to.  Half way, a curve has the normal half way; a kink
has that of the start or of the end.  Facets that turn by less than 6 degrees are a curve.  A ball comes to a kink at
one time, whenever that is in the step.  It goes over it by mid-step, too, which leads along both facets exactly, and
ends with what the hit leaves of the speed that it comes with.  Other shapes come to it with one corner after the other,
in short steps.
"""

from dataclasses import dataclass

import numpy as np

from .copies import replace
from .flags import places, some
from .manifold import along_runs
from .reference.rotation import cross
from .reference.rows import gaps, normals
from .riders import ROUND, carried_alone, riding_first
from .rotations import rotate, slerp
from .topology import groups_with
from .vectors import inner, length

TURN = 0.01  # [rad] by which a surface may turn in a step
FACET = 0.105  # [rad] by which a curve may turn at once
LIKE = 1.0 - 1e-9  # cosine of normals that count as one
MOST = 0.6  # [rad] by which it may turn in a step by mid-step
DEEPEST = 4  # a step is halved at most this often for what turns more
COARSE = 0.035  # [rad] by which what moves by keyframes may turn in a step: along that, energy is not told
KINK = 0.0053  # [s] to which it is halved at kinks: what carries the body before and after pushes in turn
SMOOTH = 0.3  # of the turn: how far the normal half way may be off
HAIR = 5e-3  # [rad] and by this much in any case
SAGITTA = 0.125  # of way times turn: how far an arc is from its chord
CENTRED = 1e-3  # of its radius: how far the middle of a ball may be off its centre of mass
ALONG = 0.2  # of its speed: what it moves away from or into by less carries it; meshes have facets
TUMBLING = 0.5  # of its speed: what has corners and turns faster at its rim lands on one after the other
HOP = 0.5  # of its radius: unless it hangs, as a ring on a peg, and is touched at places that near each other


@dataclass
class Bends:
    """K contacts at the end of a step's way whose normals have turned from those that carried the body before."""

    body: np.ndarray  # (K,) dynamic body
    before: np.ndarray  # (K, 3) normal of what carried it at the start, from there to the body
    after: np.ndarray  # (K, 3) normal of what holds it at the end
    moves: np.ndarray  # (K,) bool: that moves itself, by keyframes, and not straight on
    ball: np.ndarray  # (K,) bool: the body is round about its centre of mass there
    time: np.ndarray  # (K,) when it comes to what holds it at the end, as a share of the step
    facet: np.ndarray  # (K,) angle between what carried the body and what holds it, however it moves [rad]
    other: np.ndarray  # (K,) what holds it at the end
    carrier: np.ndarray  # (K,) number of the contact that carried it at the start; -1: the step goes without that one

    def take(self, index):
        """The Bends at ``index``, numbers or (K,) bool."""
        return Bends(*(values[index] for values in vars(self).values()))

    def among(self, kept):
        """The Bends with their carriers numbered among the contacts ``kept`` (C,) bool of a step."""
        return replace(self, carrier=np.where(kept, np.cumsum(kept) - 1, -1)[self.carrier])

    def part(self, share):
        """(K, 3) normal at a ``share`` of the way from the one to the other."""
        part = (1.0 - share) * self.before + share * self.after
        return part / np.linalg.norm(part, axis=1, keepdims=True)

    def turn(self):
        """(K,) angle between the two [rad]."""
        return angles(self.after, self.before)

    def free_velocity(self, bodies, end):
        """(K, 6) velocity at the step's end without what holds the bodies there: so far something else carried them.

        bodies: problem.Bodies; end: (n, 6) that of free motion.
        """
        velocity = end[self.body].copy()
        gained = velocity[:, :3] - bodies.velocity[self.body, :3]
        gained -= 2.0 * (bodies.velocity - bodies.velocity_at_start())[self.other, :3]  # what that gains in the step
        borne = self.time * np.maximum(-inner(gained, self.before), 0.0)
        velocity[:, :3] += borne[:, None] * self.before
        return velocity

    def largest(self):
        """The Bends of each body that turns most."""
        order = np.lexsort((-self.turn(), self.body))
        return self.take(order[places(np.diff(self.body[order], prepend=-1))])


def bends(assembly, solution, ours, fast, radius):
    """The Bends of bodies on what is not solved, in a solved step; None where there are none.

    Of single bodies, and of those that joints hold together, with what lies on them.

    ours: (C,) bool, answer of ``on_what_is_not_solved``; fast: [m] way into the surface in the step that does not
    matter; radius: (B,) around scene bodies' origins [m].
    """
    problem, n = assembly.problem, assembly.problem.bodies.dynamic_count
    contacts, bodies, h = problem.contacts, problem.bodies, problem.step
    if not some(ours):
        return None
    own, other = sides = riding_first(contacts, bodies)
    loaded = solution.contact_impulse[:, 0] > 0.0
    normal = outwards(contacts, contacts.normal, own)
    past = passing(contacts, bodies, sides)
    towards, speed = -inner(normal, past), length(past)
    spin, size = bodies.velocity[own, 3:], radius[assembly.numbering.scene[np.minimum(own, n - 1)]]
    margin = np.where(contacts.body_a == own, contacts.margin_a, contacts.margin_b)
    rolls = (margin > ROUND * size) | (size * length(spin) <= TUMBLING * speed)
    known = np.arange(len(own)) < len(assembly.contacts)  # others came up on the way
    carries = places(ours & known & (np.abs(towards) <= ALONG * speed))
    near = contacts.start_gap <= fast + SAGITTA * MOST * h * speed, levels(contacts, bodies, sides), fast
    held = ours & loaded & (contacts.rebound_speed == 0.0)
    held = places(held & (h * towards > fast))
    held, carrier = nearest(own, normal, carries, held, near)
    if not len(held):
        return None
    place = np.where((contacts.body_a == own)[:, None], contacts.point_a, contacts.point_b)
    hop = place[held] - place[carrier]
    hangs = inner(rotate(bodies.orientation[own[held]], place[held]), normal[held]) > 0.0
    swings = hangs & (length(hop) <= HOP * size[held])
    held, carrier = (each[rolls[held] | swings] for each in (held, carrier))
    end = outwards(contacts, normals(contacts, solution.orientation), own)
    moves, here = ~bodies.straight(h)[other[held]], place[held]
    ball = length(here) < CENTRED * margin[held]
    apart = gaps(contacts.take(held), bodies.position, bodies.orientation)
    time = np.clip(apart / (h * towards[held]), 0.0, 1.0)
    facet = angles(normal[carrier], end[held])
    before = square_to(normal[carrier], past[carrier])
    found = Bends(own[held], before, end[held], moves, ball, time, facet, other[held], carrier)
    turn = found.turn()
    # What is off the centre of mass turns about it: in a step its speed turns aside by twice this.
    arm = cross(spin[held], rotate(bodies.orientation[own[held]], here))
    aside = np.where(margin[held] > 0.0, 0.5 * h * length(cross(spin[held], arm)), 0.0)
    turns = (turn > TURN) & (towards[held] - aside > np.sin(TURN) * speed[held])
    turns &= contacts.start_gap[carrier] <= fast + SAGITTA * h * speed[held] * turn  # facets part from what rolls on
    if not turns.any():
        return None
    return found.take(turns)


def on_what_is_not_solved(assembly, solution):
    """(C,) bool: contacts of a solved step with what is not solved and does not run, and of what rides with its carrier
    (riders.py), of islands in which nothing else than that and what lies on a cart presses on others.
    """
    contacts, bodies, island = assembly.problem.contacts, assembly.problem.bodies, assembly.island
    n, (own, other), loaded = bodies.dynamic_count, riding_first(contacts, bodies), solution.contact_impulse[:, 0] > 0.0
    carried = carried_alone(contacts, bodies, loaded)
    if carried is None and not some(other >= n):
        return np.zeros(len(own), bool)
    among = loaded & (other < n)
    if contacts.face is not None:  # what lies on a cart; heaps have better to do
        among &= (contacts.face < 0) | ~assembly.island_jointed[island[np.minimum(own, n - 1)]]
    ours = other >= n
    if carried is not None:
        rides, alone = carried
        among, ours = np.where(rides, loaded & ~alone, among), ours | rides
    if contacts.core_reach is not None and contacts.glides is not None:
        ours = ours & ~(contacts.glides & (contacts.core_reach > 0.0))  # these go around already
    among = groups_with(island, own[among], len(assembly.island_jointed))
    ours &= np.append(~among[island], False)[np.minimum(own, n)]
    return ours if contacts.surface_velocity is None else ours & ~contacts.surface_velocity.any(axis=1)


def angles(one, other):
    """(K,) angles between unit vectors (K, 3) [rad]."""
    return 2.0 * np.arcsin(np.minimum(0.5 * length(one - other), 1.0))


def outwards(contacts, normal, own):
    """(C, 3) normals ``normal`` (C, 3) of contacts from what is touched towards their bodies ``own`` (C,)."""
    return np.where((contacts.body_a == own)[:, None], normal, -normal)


def passing(contacts, bodies, sides):
    """(C, 3) velocity of the bodies that move past what they touch, as that sees it, at the step's start [m/s]: of what
    is round there that of its middle, which turns of the body about it do not move; of others that of the centre of
    mass.

    sides: answer of ``riding_first``.
    """
    own, other = sides
    velocity, first = bodies.velocity_at_start(), contacts.body_a == own
    past, place = velocity[own, :3] - velocity[other, :3], bodies.position[own] - bodies.position[other]
    is_round = places(np.where(first, contacts.margin_a, contacts.margin_b) > 0.0)
    if len(is_round):
        body, point = own[is_round], np.where(first[:, None], contacts.point_a, contacts.point_b)[is_round]
        middle = rotate(bodies.orientation[body], point)
        past[is_round] += cross(velocity[body, 3:], middle)
        place[is_round] += middle
    return past - cross(velocity[other, 3:], place)


def square_to(normal, past):
    """(K, 3) normals (K, 3) turned square to velocities (K, 3): those of what carried a body so, facets or not."""
    share = inner(normal, past) / np.maximum(inner(past, past), 1e-300)
    square = normal - share[:, None] * past
    return square / length(square)[:, None]


def levels(contacts, bodies, sides):
    """(C,) how high the faces of contacts are along their normals [m]; sides: answer of ``riding_first``."""
    own, other = sides
    point = np.where((contacts.body_a == own)[:, None], contacts.point_b, contacts.point_a)
    place = bodies.position[other] + rotate(bodies.orientation[other], point)
    return inner(outwards(contacts, contacts.normal, own), place)


def nearest(own, normal, carries, held, near):
    """Of the contacts ``held`` (K,) those whose body has some of ``carries``, and the one with the nearest normal.

    own: (C,) body; normal: (C, 3); near: (C,) bool, those that touch, their ``levels`` (C,), and by how much these may
    differ [m].  What is apart carries nothing, as a table on which a bowl stands, but where it is on the same face:
    what slides there with one corner lands with others.  Returns two index arrays of one length.
    """
    carries = carries[np.argsort(own[carries], kind="stable")]
    begin, end = (np.searchsorted(own[carries], own[held], side) for side in ("left", "right"))
    held, begin, count = (each[end > begin] for each in (held, begin, end - begin))
    if not len(held):
        return held, held
    run, offset = along_runs(count)
    candidate = carries[begin[run] + offset]
    cosine = inner(normal[held[run]], normal[candidate])
    near, level, noise = near
    beside = np.abs(level[held[run]] - level[candidate]) <= noise
    touches = near[candidate] | ((cosine > LIKE) & beside)
    run, candidate, cosine = (each[touches] for each in (run, candidate, cosine))
    order = np.lexsort((-cosine, run))
    first = order[places(np.diff(run[order], prepend=-1) > 0)]
    return held[run[first]], candidate[first]


def curves(found, look, order):
    """Three (K,) bool: which Bends are curves, which are single kinks, and which curves have facets that turn by less
    than FACET as far as anybody looked.

    look: of Bends and a share of the way, the ContactSet with their bodies there; order: (B + 1,) scene number of each
    solver body.
    """
    turn = found.turn()
    curve, kink, fine = turn <= FACET, np.zeros(len(turn), bool), found.facet <= FACET
    asked = places(~curve)
    if not len(asked):
        return curve, kink, fine
    curve[asked], kink[asked], fine[asked] = _at(0.5, found.take(asked), look, order)
    kink &= ~curve
    asked = places(curve & (turn > 2.0 * FACET) | kink & found.ball)  # or there are two kinks
    for share in (0.25, 0.75) if len(asked) else ():
        for known, still in zip((curve, kink, fine), _at(share, found.take(asked), look, order), strict=True):
            known[asked] &= still
    return curve, kink, fine & curve


def _at(share, found, look, order):
    """Three (K,) bool: whether bodies are touched along the normal that a curve has at a ``share`` of the way, along
    that of one of both ends, and as near to the curve's as on a facet of FACET.
    """
    turn, contacts = found.turn(), look(found, share)
    sides = found.part(share), found.before, found.after
    apart = np.full((3, len(turn)), 2.0)
    for side, sign in ((contacts.body_a, 1.0), (contacts.body_b, -1.0)):
        for k, body in enumerate(order[found.body].tolist()):
            there = sign * contacts.normal[side == body]
            for of, normal in zip(apart, sides, strict=True):
                of[k] = length(there - normal[k]).min(initial=of[k])
    middle, *ends = 2.0 * np.arcsin(np.minimum(0.5 * apart, 1.0))
    least = 0.5 * FACET + HAIR
    of_curve = np.maximum((SMOOTH * turn + HAIR) * 2.0 * min(share, 1.0 - share), least)
    return middle <= of_curve, np.minimum(*ends) <= least, middle <= least


def pose_at(share, found, bodies, solution):
    """Positions (B, 3) and orientations (B, 4) at a ``share`` of the way of a solved step, those of Bends on arcs."""
    position = bodies.position + share * (solution.position - bodies.position)
    ways = solution.position - bodies.position
    way = length(ways[found.body] - ways[found.other])
    sagitta = 4.0 * share * (1.0 - share) * SAGITTA * way * found.turn()
    position[found.body] -= sagitta[:, None] * found.part(0.5)
    return position, slerp(bodies.orientation, solution.orientation, share)
