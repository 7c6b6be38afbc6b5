# SPDX-License-Identifier: GPL-3.0-or-later
"""Where balls and capsules touch what they meet in the coming step: with the places and the normal of that moment.

A contact has one normal for the step.  That of the step's start is off by the way the two make past each other until
they meet: at 24 frames a second a ball at 5 m/s that hit another off its middle left 7 degrees off.
"""

import numpy as np

from .contact_geometry import ALIKE
from .copies import replace
from .flags import places
from .rotations import rotate
from .touch_time import EDGE_RADIUS, Side, may_meet, round_touch, solid_touch, touch_in_flight
from .vectors import inner

HOVERS = 1e-3  # of its radius: what is nearer lies on the other, whatever else of that it comes to
CHANGED = ("point_a", "point_b", "margin_a", "margin_b", "normal", "gap", "face", "face_normal")


def with_impacts(found, model, flight):
    """The ContactSet ``found``, what balls and capsules meet in the step as they do then; gaps are along normals.

    That is each other, boxes and hulls, and balls meet meshes as well: of what has edges each ball or capsule meets the
    first one only, for what comes after it is met on another way.  What comes past has the line between the two at the
    step's end, if that of its start would stop it.  flight: FreeFlight.
    """
    if not (model.shape_rounding > 0.0).any():
        return found
    some, first, second, sign = _pairs(found, model)
    if not len(some):
        return found
    sides = [Side.of(model, shape, flight, flight.pull) for shape in (first, second)]
    near = may_meet(sides, sign[:, None] * found.normal[some], found.gap[some], flight.step)
    if not near.any():
        return found
    for side in sides:
        side.pull = flight.unheld.take(model.shape_body.take(side.shape), 0)
    changed = {name: getattr(found, name).copy() for name in CHANGED}
    solid = model.shape_rounding[second] == 0.0
    for kind, touch, one in ((near & ~solid, round_touch, False), (near & solid, solid_touch(model), True)):
        kind = places(kind)
        if len(kind):
            ours = [side.take(kind) for side in sides]
            _change(changed, found, model, some[kind], sign[kind], ours, touch, one, flight)
    return replace(found, **changed)


def _pairs(found, model):
    """Contacts, each the only one of two shapes that are apart, one of them round and the other round or with edges.

    Returns their numbers (N,), the round shape, the other one, and 1 where the round one is on side a, -1 elsewhere.
    """
    is_round, is_mesh = model.shape_rounding > 0.0, model.meshes.shape_mesh >= 0
    known = is_round | is_mesh | (np.diff(model.solids.first) > 0)
    ball = is_round & (model.shape_half[:, 2] <= model.shape_rounding)
    shapes = np.stack(np.divmod(found.pair, len(is_round)))
    differs = found.pair[1:] != found.pair[:-1]
    alone = np.append(True, differs) & np.append(differs, True)
    good = alone[: len(found)] & is_round[shapes].any(axis=0) & known[shapes].all(axis=0)
    good &= (ball[shapes].any(axis=0) | ~is_mesh[shapes].any(axis=0)) & (found.deforms < 0)
    good &= found.gap > HOVERS * np.where(is_round[shapes[0]], *model.shape_rounding[shapes])
    some = np.flatnonzero(good)
    b, a = shapes[:, some]
    swapped = model.shape_body[a] != found.body_a[some]
    a, b = np.where(swapped, b, a), np.where(swapped, a, b)
    sign = np.where(is_round[a], 1.0, -1.0)
    return some, np.where(sign > 0.0, a, b), np.where(sign > 0.0, b, a), sign


def _change(changed, found, model, some, sign, sides, touch, one, flight):
    """Put what touches in the step into the columns ``changed``, in place.

    some: (N,) contacts; sign, sides: of them, the first side round; touch: see ``touch_in_flight``; one: whether of
    what a shape touches only the first counts.
    """
    on_a = sign[:, None] > 0.0
    ends = found.point_a[some], found.point_b[some]
    start = sign[:, None] * found.normal[some]
    contact = [np.where(on_a, *ends), np.where(on_a, *ends[::-1])], start, found.gap[some]
    time, at, good, apart = touch_in_flight(sides, touch, contact, flight.step)
    on_face, body = at.face.any(axis=1), model.shape_body[sides[1].shape]
    # The normal of a face turns with its body, as contacts have it anyway.
    normal = np.where(on_face[:, None], rotate(sides[1].turn, at.face), at.normal)
    now = [side.now().place(point) for side, point in zip(sides, at.points, strict=True)]
    stays = on_face & ~model.movable[body]
    margins = sides[0].radius, np.where(stays, 0.0, np.maximum(sides[1].radius, EDGE_RADIUS * sides[0].radius))
    gap = inner(normal, now[0] - now[1]) - margins[0] - margins[1]
    good &= gap > 0.0
    if one:
        earliest = np.full(len(model.shape_body), np.inf)
        np.minimum.at(earliest, sides[0].shape[good], time[good])
        good &= time <= earliest[sides[0].shape]
    if len(past := places(apart & (gap > 0.0))):
        past = past[_after(flight.step, [side.take(past) for side in sides], contact, past) < 0.0]
        if len(past):
            here, hits = some[past], some[good]
            stopped = flight.stopped(found, here, (found.body_a[hits], found.body_b[hits]), model)
            good[past] = ~(stopped[found.body_a[here]] | stopped[found.body_b[here]])
    good &= ~(on_face & (inner(normal, start) > ALIKE))
    turns = on_face & (model.movable[body] | sides[1].angular.any(axis=1))
    values = {
        "point_a": np.where(on_a, *at.points),
        "point_b": np.where(on_a, *at.points[::-1]),
        "margin_a": np.where(sign > 0.0, *margins),
        "margin_b": np.where(sign > 0.0, *margins[::-1]),
        "normal": sign[:, None] * normal,
        "gap": gap,
        "face": np.where(turns, body, -1),
        "face_normal": sign[:, None] * at.face,
    }
    for name, column in values.items():
        changed[name][some[good]] = column[good]


def _after(step, sides, contact, index):
    """(K,) gaps [m] that contacts ``index`` (K,) of the step's start come to in free flight.

    sides: of them; contact: as of ``touch_in_flight``, of all.
    """
    points, normal, gap = contact
    way = [side.after(np.full(len(index), step)).place(point[index]) - side.now().place(point[index])
           for side, point in zip(sides, points, strict=True)]  # fmt: skip
    return gap[index] + inner(normal[index], way[0] - way[1])
