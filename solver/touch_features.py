# SPDX-License-Identifier: GPL-3.0-or-later
"""What convex shapes turn towards each other where they touch: a point, an edge or a face; and where two of them meet.

Edges that lie along each other, as those of cylinders that stand side by side, meet at two places: one alone would turn
the bodies.
"""

from dataclasses import dataclass

import numpy as np

from .flags import places, some
from .manifold import along_runs
from .problem import tangents
from .reference.rotation import arctan2, cross
from .touching import halves, twice
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
    if some(flat):
        each, k = along_runs(np.where(flat, RIM, 1))
        run, disc, flat = run[each], disc[each], flat[each]
        angle = (2.0 * np.pi / RIM * k)[:, None]
        u = tangents(axis)[0][run]
        rim = np.cos(angle) * u + np.sin(angle) * cross(axis[run], u)
        across = np.where(flat[:, None], rim, across[run])
    else:
        across = across[run]
    place = cores.middle[disc] + cores.disc[disc][:, None] * across
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
    count, moved = len(size), touch.moved
    found = features(cores, touch.sides.shape, touch.outward, FOREMOST * np.concatenate([size, size]))
    lines, low, high = _side_by_side(found, moved, size)
    kinds = halves(found.kind)
    faces = places((np.minimum(*kinds) != POINT) & (np.maximum(*kinds) == FACE))
    if not len(lines) and not len(faces):
        return np.arange(count), touch
    two = room[lines] > 1
    which, place = [lines, lines[two]], [np.where(two[:, None], low, 0.5 * (low + high)), high[two]]
    for number in faces.tolist():
        sides = number, number + count
        corners = _shared_corners(found, moved, sides, touch.normal[number], int(room[number]))
        if len(corners) and np.ptp(corners, axis=0).max() > SHORTEST * size[number]:
            corners = corners if room[number] > 1 else corners.mean(axis=0)[None]
            which.append(np.full(len(corners), number))
            place.append(corners)
    which, place = np.concatenate(which), np.concatenate(place)
    alone = np.setdiff1d(np.arange(count), which)
    of = np.concatenate([alone, which])
    order = np.argsort(of, kind="stable")
    out = touch.take(of[order])
    points = halves(touch.points)[:, alone], halves(_onto(found, moved, which, place, touch.normal))
    out.points = np.concatenate(points, axis=1)[:, order].reshape(-1, 3)
    return of[order], out


def _onto(found, moved, which, place, normal):
    """Places (M, 3) of the world, along normals (N, 3) onto both Features ``which`` (M,) of N pairs, in the bodies'
    frames (2 M, 3).
    """
    sides = twice(which, len(normal))
    moved, normal, place = moved.take(sides), normal[np.tile(which, 2)], np.tile(place, (2, 1))
    height = inner(place - moved.place(found.start[sides]), normal)
    return moved.inside(place - height[:, None] * normal)


def _side_by_side(found, moved, size):
    """Where edges lie along edges: which of N (M,), and both ends of what they share (M, 3) in the world.

    found: Features (2 N) that touch; moved: Moved bodies of them at that time; size: (N,) [m] of the pairs.
    """
    edges = halves(found.kind == EDGE).all(axis=0)
    if not some(edges):
        return np.zeros(0, np.intp), *np.zeros((2, 0, 3))
    starts = moved.place(found.start)
    ways = moved.place(found.end) - starts
    lengths, ways, start = halves(np.maximum(length(ways), 1e-300)), halves(ways), halves(starts)[0]
    along_each_other = length(cross(*ways)) < ALONG * lengths[0] * lengths[1]
    along = ways[0] / lengths[0][:, None]
    least, most = (halves(each) for each in _span(found, moved, np.tile(along, (2, 1))))
    low, high = np.maximum(*least), np.minimum(*most)
    lines = places(edges & along_each_other & (high - low > SHORTEST * size))
    from_ = inner(start, along)
    return lines, *(start[lines] + (end - from_)[lines, None] * along[lines] for end in (low, high))


def _span(found, moved, along):
    """(least (2 N,), most (2 N,)) of the places of Features along directions (2 N, 3)."""
    at = inner(moved.take(found.run).place(found.place), along[found.run])
    begin = _begins(found.run)
    return np.minimum.reduceat(at, begin), np.maximum.reduceat(at, begin)


def _shared_corners(found, moved, sides, normal, most):
    """(K, 3) in the world: corners, far from each other, of where a face and another, or an edge, lie on each other.

    sides: numbers of the two Features; normal: (3,) of the faces; most: how many corners, or 1 for all that matter.
    """
    u = tangents(normal[None])[0][0]
    frame = np.stack([u, cross(normal, u)])
    flat = []
    for number in sorted(sides, key=lambda number: (found.kind[number], found.endless[number])):
        if not found.endless[number]:
            run = slice(*np.searchsorted(found.run, [number, number + 1]))
            flat.append(moved.take(found.run[run]).place(found.place[run]))
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
    return points[np.argsort(arctan2(arm[:, 1], arm[:, 0]))]


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
