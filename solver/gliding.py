# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that go by mid-step though contacts hold them: a box on a swing, a stack that tumbles, a marble in a bowl.

What contacts hold ends a step by backward Euler, which takes energy from all that turns: a box on a swing of 2 m lost
a seventh of its amplitude with every half swing at 24 frames a second.  Bodies that only carry each other go by
mid-step instead, as joints without contacts do, and so do those that are carried along a curve (curves.py):

    u = (u- + u+) / 2        the velocity of the way
    u+ = u_free + 2 M^-1 J^T p        J: normal and levers half way between the start and the free pose
    phi(q+) >= 0        the gap at the end, with the normal there

and the velocity phase ends what is left of v_n(q+), with p turned on to the end pose.  A contact glides that touches
and neither approaches nor runs along a curve; bodies go by mid-step where all that press on them, themselves or
through others, do.
What stands still holds where its surface does not curve, but for what has springs: they would be braked with it, and a
car on undamped springs lost 85 % of its swing in a second.  And but for single bodies that are round there, lie on what
is round with a flat face or turn over a corner (tipping.py), and wheels: a roly-poly went from 0.3 to 0.17 rad in eight
seconds, balls and carts were a h t / 2 too far down a slope.
And but for what joints hold together while it slides (sliding.py).  All of these go on what keyframes move straight on,
and on flat belts, as on what stands; and what lifts carry that speed up or slow down ends the step with their speed.
What rides on curves of what moves freely itself glides there, and its carrier on what that stands on (riders.py); so
does what rolls on flat faces of such (rollers.py).  Levers of roly-polies go along with the solve (roly_polies.py).
What keyframes turn carries along as what joints turn does: along the tangents of a turntable a box came 1.3 times as
far out in six seconds at 1.5 rad/s and 24 frames a second.
"""

import numpy as np

from .below_round import push_below, touch_below
from .bounces import moving_first
from .curves import ALONG, MOST, SAGITTA, levels, nearest, outwards, passing, square_to
from .falling import rebounding
from .flags import places, some
from .flat_shapes import HELD, is_round_there, lies_on_round
from .numbering import held
from .on_nets import hardly_turns, rests_on_net
from .problem import TURNS
from .reference.rotation import dot, halfway
from .reference.rows import normals, parting_speeds
from .riders import riding_first, riding_sides, rolls_on
from .rims_that_roll import with_others
from .rollers import stand_below
from .roly_polies import off_centre
from .rotations import conjugate, rotate
from .round_cores import half_way
from .sliding import arms, slides, speed_at
from .tipping import tips
from .vectors import length

STANDS = 0.1  # of what turning gives it: a place no faster stands
PRESSED = 0.5  # of what free motion gains in a step: what keyframes turn may gain or lose that speed, and still carries


def carried(state, number):
    """(n,) int: 1 for the dynamic bodies of a Numbering that curves carried in the last steps; None: nobody knows."""
    return None if state.along is None else (state.along[number.scene[: number.dynamic_count]] > 0.0).astype(int)


def by_middle(problem, contacts, links, loads, noise, curved=None, glance=None, turning=None):
    """(B + 1,) float, Bodies.midpoint: 1 for moving bodies that go by mid-step; (C,) bool, which contacts glide if
    their bodies do, or None where none does; and then what was seen at a glance, for a look with other loads.

    contacts: the ContactSet that comes first in those of the StepProblem; links: numbering.Links; loads: (C,) bool
    contacts that carry load and (joints,) bool joints beyond a limit; noise: [m] that gaps are known to, and speeds
    times the step; curved: (n,) int, 1 for bodies that are carried along curves, 2 where their normals are those half
    way, or None; glance: as this found it for the same but for the loads, or None; turning: TurningNormals, or None.
    """
    touches, n, middle = problem.contacts, problem.bodies.dynamic_count, np.zeros(len(links.group))
    hits, full = loads[0] & rebounding(touches), loads
    if hit := some(hits):  # what is struck and left holds nothing
        loads = loads[0] & ~hits, loads[1]
    if glance is None:
        straight = None if links.rims is None else ~_bent(touches, problem.bodies, curved, problem.step)
        rims = None if links.rims is None else links.rims.of(problem, straight)
        glance = _near(problem, contacts, links, noise, (curved, turning), rims), rims
    (may, rims), holds = glance, None
    if may is not None:
        # Where the ground holds all that touches, as in heaps, nobody need look closer.
        holds = held(links, touches, *loads, with_others(touches, rims, may))
        may = may & ~holds.take(moving_first(touches)[0])
        if some(may):
            may, holds = _able(problem, may, len(contacts), links, noise, (curved, turning)), None
        else:
            may = None  # what might glide is tied to what holds, and so is held as if it did not
    if may is not None:
        may = with_others(touches, rims, may)
    middle[:n] = ~(held(links, touches, *loads, may) if holds is None else holds)[:n]
    if hit:
        middle[held(links, touches, *full, may) & ~_guided(links, touches, n, may)] = 0.0
    return middle, may, glance if may is None else None


def _guided(links, contacts, count, may):
    """(B + 1,) bool: bodies that joints tie to what does not move, and those on contacts ``may`` (C,) bool or None,
    which glide, with what joints tie to them.  What flies on a hit falls by mid-step by itself (falling.py).
    """
    anchored = np.maximum(links.a, links.b) >= count
    bodies = [np.minimum(links.a, links.b)[anchored]]
    if may is not None:
        bodies += [side[may] for side in (contacts.body_a, contacts.body_b)]
    mark = np.zeros(links.group_count + 1, bool)
    mark[links.group.take(np.concatenate(bodies))] = True
    mark[-1] = False
    return mark.take(links.group)


def _near(problem, contacts, links, noise, bending, rims):
    """(C,) bool: contacts that may glide as far as a glance tells; None where there are none.

    bending: ``curved`` and ``turning`` of ``by_middle``.
    """
    curved, turning = bending
    touches, n, count = problem.contacts, problem.bodies.dynamic_count, len(contacts)
    if not count or touches.face is None:
        return None
    closed = np.abs(contacts.gap) <= noise
    if touches.core_reach is not None:  # what leaves what it went around is not pressed on to it by its fall in a step
        closed |= touches.core_reach[:count] > 0.0
    closed = places(closed)
    bend, turned = curved is not None and some(curved), np.zeros(len(touches), bool)
    if not len(closed) and not bend:
        return None
    if turning is not None:
        turned[turning.index] = True
    found, turns = turned.copy(), np.ones(len(problem.bodies.mass), bool)
    turns[n:] = problem.step * length(problem.bodies.velocity[n:, 3:]) > TURNS
    a, b = touches.body_a.take(closed), touches.body_b.take(closed)
    own, other = np.minimum(a, b), np.maximum(a, b)
    may = turned[closed] | turns.take(other) & (touches.face.take(closed) >= 0)
    if problem.bodies.velocity_at_start() is not problem.bodies.velocity:
        may |= _sped_up(problem.bodies, links, (own, other), problem.step, noise)
    if links.as_one is not None:  # edges that touch turn with both then
        may |= (other < n) & (links.as_one.take(own) == links.as_one.take(other))
    is_round = is_round_there(touches, closed, own)
    if some(links.flat):
        is_round |= lies_on_round(touches, closed, own, links.flat)
    if rims is not None:
        is_round |= rims[1][closed]
    over = tips(problem, closed, own, other)
    if links.sprung is not None or some(is_round | over):
        rolls = _rolls(problem.bodies, links, (own, other), (is_round, over), problem.step)
        may |= rolls | _pivots(touches, closed, problem.bodies, (own, other), rolls & is_round)
    if links.gives is not None:
        may |= rests_on_net(problem.bodies, links, (own, other), problem.step)
    if links.rolls or problem.bodies.riders is not None or turning is not None:
        may |= _below(touches, closed, problem, links, (own, other), is_round, turned[closed])
    if len(links.a):
        may |= slides(touches, closed, problem, links, (own, other), is_round)
    found[closed] = (own < n) & may
    if bend:
        found |= _bent(touches, problem.bodies, curved, problem.step)  # of what moves nobody knows what its facets add
    return found if some(found) else None


def _rolls(bodies, links, sides, shape, step):
    """(K,) bool: contacts with what stands still of what is round, or turns over a corner on what has no curve, and
    touches nothing else that moves, nor hangs on joints; of wheels on what has no curve, as facets would give to carts;
    and of what hangs on springs, round or hardly turning.

    sides: (K,) body that moves and (K,) other body; shape: (K,) bool each, round where they touch, and over a corner.
    """
    (own, other), (is_round, over), n = sides, shape, bodies.dynamic_count
    alone, wheels = np.ones(len(bodies.mass), bool), links.wheels[:-1].copy()
    alone[links.a] = alone[links.b] = False
    moving = places(other < n)
    for side in sides:
        moved = side.take(moving)
        alone[moved] = wheels[moved] = False
    flat = links.flat.take(other) == HELD
    rolls = (is_round | over & flat) & alone.take(own) | is_round & wheels.take(own) & flat
    if links.sprung is not None:
        rolls |= links.sprung.take(links.group.take(own)) & (is_round | hardly_turns(bodies, step, own))
    return rolls & (other >= n) & bodies.straight(step).take(other)


def _below(touches, index, problem, links, sides, is_round, turned):
    """(K,) bool: those of the contacts ``index`` (K,) of what rides on what moves freely itself, and those on which
    stands what carries that or has something roll on it.

    sides, is_round: as in ``_rolls``; turned: (K,) bool, those whose normal turns with neither body.
    """
    bodies, (own, other), n = problem.bodies, sides, problem.bodies.dynamic_count
    stands, slow = (other >= n) & bodies.straight(problem.step).take(other), hardly_turns(bodies, problem.step, own)
    found = np.zeros(len(index), bool)
    if bodies.riders is not None:
        found |= rolls_on(touches, index, bodies, links.group, stands & slow)
    if links.rolls or some(turned):
        bears = is_round | (links.flat.take(own) > 0) & slow
        found |= stand_below(touches, index, links, sides, (other < n, stands, bears, turned))
    return found


def _sped_up(bodies, links, sides, step, noise):
    """(K,) bool: contacts with what keyframes move straight on, faster or slower in the course of a step [s], by more
    than ``noise`` [m] of its way, of what touches nothing else that moves and hardly turns.  By backward Euler that
    would end the step with the mean velocity of what carries it, and lifts throw it too high.

    sides: as in ``_rolls``.
    """
    (own, other), n = sides, bodies.dynamic_count
    gain = step * length((bodies.start_velocity - bodies.velocity)[:, :3]) > noise
    may = (other >= n) & (gain & bodies.straight(step)).take(other)
    if not some(may):
        return may
    alone, moving = np.ones(links.group_count + 1, bool), places(other < n)
    for side in sides:
        alone[links.group.take(side.take(moving))] = False
    return may & alone.take(links.group.take(own)) & hardly_turns(bodies, step, own)


def _pivots(touches, index, bodies, sides, rolls):
    """(K,) bool: those of the contacts ``index`` (K,) whose places stand while their bodies roll on others, which
    ``rolls`` (K,) bool tells: tips of cones.

    sides: as in ``_rolls``.
    """
    (own, other), turning = sides, np.zeros(len(bodies.mass), bool)
    if not some(rolls):
        return turning[own]
    turning[own[rolls]] = True
    found = places(turning[own] & ~rolls & (other >= bodies.dynamic_count))
    out = np.zeros(len(own), bool)
    if len(found):
        own = own[found]
        arm = arms(touches, bodies, own, index[found])
        past = speed_at(bodies, own, arm) - bodies.velocity[other[found], :3]
        out[found] = length(past) <= STANDS * length(bodies.velocity[own, 3:]) * length(arm)
    return out


def _able(problem, may, count, links, noise, bending):
    """(C,) bool: those of the contacts ``may`` that do not approach or rebound, nor run but along what is flat; None
    where there are none.
    """
    touches, bodies, (curved, turning) = problem.contacts, problem.bodies, bending
    found, along = np.zeros(len(touches), bool), may & _bent(touches, bodies, curved, problem.step)
    if along.any():
        found = _carried(touches, bodies, along, np.arange(len(touches)) < count, (noise, problem.step))
    asked = may & ~along
    if turning is not None:
        found[turning.index], asked[turning.index] = may[turning.index], False
    index = places(asked)
    if len(index):
        near = _at_start(touches, bodies, index)
        # By its mean velocity over the step, what turns about a place far off would run into what it carries.
        speed = parting_speeds(near, bodies.velocity_at_start(), bodies.position, bodies.orientation)
        own, other = moving_first(near)
        falls = length((bodies.free_velocity - bodies.velocity)[own, :3])
        rest = noise / problem.step + np.where(other < bodies.dynamic_count, 0.0, PRESSED * falls)
        quiet = _does_not_rebound(near) & (~_runs(near) | (links.flat.take(other) == HELD))
        found[index] = quiet & (np.abs(speed) <= rest)
    return found if found.any() else None


def _bent(touches, bodies, curved, step):
    """(C,) bool: contacts of bodies that curves carry with what stands or moves straight on in a step [s], and with
    what they ride on.
    """
    carried, n = np.zeros(len(bodies.mass), bool), bodies.dynamic_count
    if curved is None or not some(curved):
        return np.zeros(len(touches), bool)
    carried[:n] = curved > 0
    own, other, rides = riding_sides(touches, bodies)
    among = other >= n if rides is None else (other >= n) | rides
    return carried.take(own) & among & bodies.straight(step).take(other)


def _at_start(touches, bodies, index):
    """Contacts at ``index`` with their normals at the start, also where they have got those of mid-step already."""
    near = touches.take(index)
    near.normal = normals(near, bodies.orientation)
    return near


def _carried(touches, bodies, ours, known, limits):
    """(C,) bool: those of the contacts ``ours`` (C,) whose bodies something carries at the start.

    known: (C,) bool, contacts of the start; limits: noise [m], and the step [s].
    """
    n, (own, other) = bodies.dynamic_count, riding_first(touches, bodies)
    index, (noise, step) = places(ours), limits
    mine = _at_start(touches, bodies, index)
    past = passing(mine, bodies, (own[index], other[index]))
    towards, speed = np.abs(dot(mine.normal, past)), np.sqrt(dot(past, past))
    carries = known[index] & (towards <= ALONG * speed + noise / step)
    carries &= mine.start_gap <= noise + SAGITTA * MOST * step * speed
    rides, bad = np.zeros((2, n + 1), bool)
    rides[own[index[carries]]] = True
    quiet = _does_not_rebound(mine) & ~_runs(mine)
    bad[own[index[~quiet | (mine.start_gap < -noise)]]] = True  # overlap is pushed out
    return ours & (rides & ~bad)[np.minimum(own, n)]


def _does_not_rebound(touches):
    """(C,) bool."""
    return (touches.rebound_speed == 0.0) & (touches.rebound_gap == 0.0)


def _runs(touches):
    """(C,) bool: contacts with belts."""
    surface = touches.surface_velocity
    return np.zeros(len(touches), bool) if surface is None else surface.any(axis=1)


def take_middle(problem, contacts, may, bending, links, noise):
    """Let the contacts ``may`` (C,) bool of a StepProblem glide whose bodies go by mid-step: fill in, in place, their
    faces, their normals half way, and start impulses of mid-step, which count twice.

    contacts, links, noise: as in ``by_middle``; bending: its ``curved`` and ``turning``.
    """
    touches, bodies, (curved, turning) = problem.contacts, problem.bodies, bending
    n, (own, other) = bodies.dynamic_count, riding_first(touches, bodies)
    glides = may & (bodies.midpoint[own] > 0.0) & ((other >= n) | (bodies.midpoint[other] > 0.0))
    index = places(glides)
    if not len(index):
        return
    for name in ("normal", "impulse", "face", "face_normal", "point_a", "point_b"):
        setattr(touches, name, getattr(touches, name).copy())
    touches.glides, turns = glides, bodies.velocity[:, 3:].any(axis=1)
    touches.led = glides & (other >= n) & turns[other] if some(turns[n:]) else None
    touches.impulse[index] *= 0.5
    is_round, bent = is_round_there(touches, index, own[index]), _bent(touches, bodies, curved, problem.step)
    is_round |= tips(problem, index, own[index], other[index])
    plain, turns_there = glides & ~bent, np.zeros(len(touches), bool)
    turns_there[index[is_round]] = True
    if links.rims is not None:
        is_round |= (on_rims := links.rims.roll_on(problem, plain))[index]
        plain &= ~on_rims
    _take_mean_spin(bodies, own[index[is_round & (other[index] >= n)]])
    if turning is not None:
        turning.put_on(touches, glides)
        plain[turning.index] = False
    still = bent[index]
    bare = index[touches.face[index] < 0]
    touches.face[bare] = other[bare]
    touches.face_normal[bare] = rotate(conjugate(bodies.orientation[other[bare]]), touches.normal[bare])
    cores = np.zeros(len(index), bool) if touches.core_reach is None else touches.core_reach[index] > 0.0
    if some(cores):
        half_way(problem, index[cores], other[index[cores]])
        plain[index[cores]] = False
    touches.rolls = off_centre(problem, plain & turns_there, (links.a, links.b))
    with_face = index[~still & ~cores]
    if turning is not None:
        with_face = np.setdiff1d(with_face, turning.index)
    face = touches.face[with_face]
    middle = halfway(bodies.orientation[face], bodies.free_orientation[face])
    touches.normal[with_face] = rotate(middle, touches.face_normal[with_face])
    touch_below(problem, with_face)
    along = index[still & ~cores]
    if len(along):
        known = np.arange(len(own)) < len(contacts)
        _along_curve(problem, along, known, curved, noise)


def _take_mean_spin(bodies, which):
    """Let free motion turn the bodies ``which`` by the mean of the spins at either end, in place: what friction stops
    is the mean slip.  A cone on its side that rolled round its tip gained a quarter of its energy in six seconds.
    """
    share = bodies.midpoint[which, None]
    spin = bodies.free_velocity[which, 3:] + share * bodies.velocity[which, 3:]
    bodies.free_velocity[which, 3:] = spin / (1.0 + share)


def _along_curve(problem, along, known, curved, noise):
    """Normals of contacts ``along``, in place: those of the end, or half way between those and what carried the body.

    known: (C,) bool, contacts of the start.
    """
    touches, bodies, step = problem.contacts, problem.bodies, problem.step
    own, other = sides = riding_first(touches, bodies)
    start = normals(touches, bodies.orientation)
    touches.face[along] = other[along]
    touches.face_normal[along] = rotate(conjugate(bodies.orientation[other[along]]), start[along])
    end = normals(touches, bodies.free_orientation)  # what moves by keyframes turns in the step
    touches.normal[along] = end[along]
    turns, past = along[curved[own[along]] > 1], passing(touches, bodies, sides)
    start, end = outwards(touches, start, own), outwards(touches, end, own)
    into, speed = np.abs(dot(start, past)), np.sqrt(dot(past, past))
    carries = turns[known[turns] & (into <= ALONG * speed)[turns]]
    near = touches.start_gap <= noise + SAGITTA * MOST * step * speed, levels(touches, bodies, sides), noise
    held, carrier = nearest(own, end, carries, turns, near)
    before = square_to(start[carrier], past[carrier])
    smooth = dot(end[held], before) >= np.cos(MOST)  # beside a curve there may be a wall
    middle = end[held[smooth]] + before[smooth]
    middle /= length(middle)[:, None]
    touches.normal[held[smooth]] = np.where((touches.body_a == own)[held[smooth], None], middle, -middle)
    if bodies.riders is not None:
        moves = along[other[along] < bodies.dynamic_count]
        push_below(touches, bodies, moves[is_round_there(touches, moves, own[moves])], sides)


def whole_impulses(problem, impulse, index=slice(None)):
    """(C, 3) impulses of the position phase over the whole step: those of contacts that glide count twice.

    index: which of the problem's contacts they are of; default all.
    """
    glides = problem.contacts.glides
    return impulse if glides is None else np.where(glides[index, None], 2.0 * impulse, impulse)
