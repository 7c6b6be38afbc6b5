# SPDX-License-Identifier: GPL-3.0-or-later
"""What convex shapes turn towards each other where they touch: a point, an edge or a face; and where two of them meet.

Edges that lie along each other, as those of cylinders that stand side by side, meet at two places: one alone would turn
the bodies.
"""

from dataclasses import dataclass

import numpy as np

from .manifold import along_runs
from .problem import tangents
from .reference.rotation import cross
from .vectors import inner, length

POINT, EDGE, FACE = range(3)
ALONG = 0.02  # sine of the angle between two edges below which they lie along each other
RIM = 16  # places on the rim of an end that is touched flat
FOREMOST = 1e-3  # of the pair's size: what is that much behind the foremost place touches with it
SAME = 1e-6  # square of the distance of corners that are one, over that of the farthest ones
SHORTEST = 0.05  # of the pair's size: edges that are side by side for less meet in one place


@dataclass
class Features:
    """What N shapes turn to one direction each, in their bodies' frames."""

    kind: np.ndarray  # (N,) POINT, EDGE or FACE
    start: np.ndarray  # (N, 3) of its two places that are farthest from each other
    end: np.ndarray  # (N, 3)
    run: np.ndarray  # (K,) which of the N each place belongs to, ascending
    place: np.ndarray  # (K, 3) all of them
    endless: np.ndarray  # (N,) bool: a plane


def features(cores, shape, outward, near):
    """The Features of shapes (N,) along ``outward`` (N, 3); what is less than ``near`` (N,) [m] behind is part of them.

    cores: views of CoreArrays.
    """
    run, offset = along_runs(cores.first[shape + 1] - cores.first[shape])
    disc = cores.first[shape][run] + offset
    axis = cores.axis[shape]
    across = outward - inner(outward, axis)[:, None] * axis
    sine = length(across)
    across /= np.maximum(sine, 1e-300)[:, None]
    # The end of a cylinder that lies flat has all of its rim.
    flat = (cores.disc[disc] > 0.0) & (2.0 * cores.disc[disc] * sine[run] < near[run])
    each, k = along_runs(np.where(flat, RIM, 1))
    run, disc, flat = run[each], disc[each], flat[each]
    angle = (2.0 * np.pi / RIM * k)[:, None]
    u = tangents(axis)[0][run]
    rim = np.cos(angle) * u + np.sin(angle) * cross(axis[run], u)
    place = cores.middle[disc] + cores.disc[disc][:, None] * np.where(flat[:, None], rim, across[run])
    height = inner(outward[run], place)
    top = height > np.maximum.reduceat(height, _begins(run))[run] - near[run]
    run, place = run[top], place[top]
    begin = _begins(run)
    start = _farthest(place, run, begin, place[begin])
    end = _farthest(place, run, begin, start)
    way = end - start
    beside = cross(way[run], place - start[run])
    wide = np.maximum.reduceat(inner(beside, beside), begin) > near**2 * inner(way, way)
    kind = np.where(inner(way, way) <= near**2, POINT, np.where(wide, FACE, EDGE))
    endless = cores.plane[shape] == 1
    return Features(np.where(endless, FACE, kind), start, end, run, place, endless)


def _begins(run):
    """Where each run of an ascending array begins, in which each of 0, 1, ... occurs."""
    return np.searchsorted(run, np.arange(run[-1] + 1)) if len(run) else np.zeros(0, np.intp)


def _farthest(place, run, begin, origin):
    """(N, 3) of the places of each run the one farthest from ``origin`` (N, 3)."""
    far = ((place - origin.take(run, 0)) ** 2).sum(axis=1)
    most = np.maximum.reduceat(far, begin)
    return place[np.minimum.reduceat(np.where(far == most[run], np.arange(len(run)), len(run)), begin)]


def meeting_places(cores, touch, size, room):
    """The places where pairs of shapes touch: (which of the N each is of (M,), ascending; their Touching).

    Args:
        cores: views of CoreArrays.
        touch: Touching of N pairs, at one place each.
        size: (N,) [m] of the pairs; room: (N,) how many places there may be; of one along edges it is in the middle.
    """
    moved, each = touch.moved, zip(touch.sides, touch.outward, strict=True)
    found = [features(cores, side.shape, out, FOREMOST * size) for side, out in each]
    lines, low, high = _side_by_side(found, moved, size)
    kinds = np.minimum(found[0].kind, found[1].kind), np.maximum(found[0].kind, found[1].kind)
    faces = np.flatnonzero((kinds[0] != POINT) & (kinds[1] == FACE))
    two = room[lines] > 1
    which, place = [lines, lines[two]], [np.where(two[:, None], low, 0.5 * (low + high)), high[two]]
    for number in faces.tolist():
        corners = _shared_corners(found, moved, number, touch.normal[number], int(room[number]))
        if len(corners) and np.ptp(corners, axis=0).max() > SHORTEST * size[number]:
            corners = corners if room[number] > 1 else corners.mean(axis=0)[None]
            which.append(np.full(len(corners), number))
            place.append(corners)
    which, place = np.concatenate(which), np.concatenate(place)
    alone = np.setdiff1d(np.arange(len(size)), which)
    both = [
        np.concatenate([point[alone], _onto(own, body, which, place, touch.normal)])
        for point, own, body in zip(touch.points, found, moved, strict=True)
    ]
    which = np.concatenate([alone, which])
    order = np.argsort(which, kind="stable")
    out = touch.take(which[order])
    out.points = [each[order] for each in both]
    return which[order], out


def _onto(own, body, which, place, normal):
    """Places (M, 3) of the world, along normals (N, 3) onto Features ``which`` (M,) of N, in the bodies' frames."""
    body, normal = body.take(which), normal[which]
    height = inner(place - body.place(own.start[which]), normal)
    return body.inside(place - height[:, None] * normal)


def _side_by_side(found, moved, size):
    """Where edges lie along edges: which of N (M,), and both ends of what they share (M, 3) in the world.

    found: Features, Features that touch; moved: Moved bodies of both at that time; size: (N,) [m] of the pairs.
    """
    starts = [body.place(own.start) for own, body in zip(found, moved, strict=True)]
    ways = [body.place(own.end) - start for own, body, start in zip(found, moved, starts, strict=True)]
    lengths = [np.maximum(length(way), 1e-300) for way in ways]
    along_each_other = length(cross(*ways)) < ALONG * lengths[0] * lengths[1]
    good = (found[0].kind == EDGE) & (found[1].kind == EDGE) & along_each_other
    start, along = starts[0], ways[0] / lengths[0][:, None]
    spans = [_span(own, body, along) for own, body in zip(found, moved, strict=True)]
    low, high = np.maximum(spans[0][0], spans[1][0]), np.minimum(spans[0][1], spans[1][1])
    some = np.flatnonzero(good & (high - low > SHORTEST * size))
    from_ = inner(start, along)
    return some, *(start[some] + (end - from_)[some, None] * along[some] for end in (low, high))


def _span(own, body, along):
    """(least (N,), most (N,)) of the places of Features along directions (N, 3)."""
    repeated = body.take(own.run)
    at = inner(repeated.place(own.place), along[own.run])
    begin = _begins(own.run)
    return np.minimum.reduceat(at, begin), np.maximum.reduceat(at, begin)


def _shared_corners(found, moved, number, normal, most):
    """(K, 3) in the world: corners, far from each other, of where a face and another, or an edge, lie on each other.

    number: of the two Features; normal: (3,) of the faces; most: how many corners, or 1 for all of them that matter.
    """
    u = tangents(normal[None])[0][0]
    frame = np.stack([u, cross(normal, u)])
    order = sorted(zip(found, moved, strict=True), key=lambda each: (each[0].kind[number], each[0].endless[number]))
    flat = []
    for own, body in order:
        if not own.endless[number]:
            run = slice(*np.searchsorted(own.run, [number, number + 1]))
            flat.append(body.take(own.run[run]).place(own.place[run]))
    level, polygon = (flat[0] @ normal).mean() * normal, _ringed(flat[0] @ frame.T)
    if len(flat) > 1:
        polygon = _clipped(polygon, _ringed(flat[1] @ frame.T))
    if not len(polygon):
        return np.zeros((0, 3))
    far = ((polygon - polygon.mean(axis=0)) ** 2).sum(axis=1)
    taken, most, widest = [int(np.argmax(far))], max(most, 2), 4.0 * far.max()
    while len(taken) < most:
        far = ((polygon[:, None] - polygon[taken]) ** 2).sum(axis=2).min(axis=1)
        if far.max() <= SAME * widest:
            break
        taken.append(int(np.argmax(far)))
    return level + polygon[taken] @ frame


def _ringed(points):
    """Corners (N, 2) of a convex polygon, counter-clockwise."""
    arm = points - points.mean(axis=0)
    return points[np.argsort(np.arctan2(arm[:, 1], arm[:, 0]))]


def _clipped(polygon, by):
    """The part of a convex polygon (N, 2) within another: Sutherland and Hodgman (1974)."""
    for start, end in zip(by, np.roll(by, -1, axis=0), strict=True):
        if not len(polygon):
            break
        side = end - start
        height = side[0] * (polygon[:, 1] - start[1]) - side[1] * (polygon[:, 0] - start[0])
        after = np.roll(height, -1)
        crosses = (height < 0.0) != (after < 0.0)
        share = height / np.where(crosses, height - after, 1.0)
        cut = polygon + share[:, None] * (np.roll(polygon, -1, axis=0) - polygon)
        both = np.stack([polygon, cut], axis=1).reshape(-1, 2)
        polygon = both[np.stack([height >= 0.0, crosses], axis=1).reshape(-1)]
    return polygon
