# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of triangle meshes: what a detector that looks at one triangle or one edge at a time gets wrong.

Inner edges.  A box that slides on a floor of triangles meets their edges from the side, though the floor is flat there.
A contact on a flat part of a mesh must have the face's normal; it is given that normal, or dropped where it pushes
into the surface.  What is round, a ball, a capsule or the side of a cylinder that rolls, meets every triangle around
the one below it at its nearest edge, from the side: what stays are the places from which the way to its middle, or to
its axis, leads away from the whole mesh.  A plane without end meets corners alone, along its own normal, and those as
they are.

Open meshes.  They have two sides: what counts is the side on which the other shape's middle lies.

Crowds.  The many contacts of fine meshes are thinned out to well-spread ones.  newton's own reduction is switched off:
it sorts before the above can be repaired, and may keep a false contact in place of a corner.
"""

import numpy as np

from .closest_points import closest_points
from .manifold import gaps_of, relative_place, turn, turn_back
from .mesh_edges import ASKEW, TINY
from .mesh_features import PLANE, features
from .mesh_sides import center, faces_middle
from .round_sides import axis_points, side_points

TILT = np.cos(np.radians(2.0))  # a normal farther from the face's is not that of a flat surface
AHEAD = 0.1  # of the way from a mesh to the middle of what is round: from there it is the same place that is nearest
BESIDE = 1e-3  # times that way: what is nearest instead is another place
BESIDE_AXIS = 0.05  # the same of sides, whose normals are found step by step; for balls and capsules there are formulas
TIPPING = 0.1  # of its roll, that a cylinder may turn otherwise: what tips may come down anywhere on its rim
NOISE = 1e-6  # of a mesh's extent: how far off a place may be in float32
SPREAD = 0.1  # times the smallest half extent: how far newton spreads the points of one place of an edge
AVERTED = -0.2  # cosine between a corner's way outward and the surface's inward, below which it came from elsewhere
DEEPEST = 4.0  # times the smallest half extent: what sticks in farther does not leave so
INWARD = -0.2  # a normal that points into a flat surface this much belongs to the other side
ASIDE = 0.1  # a normal whose cosine is this much outside the cone of an edge or corner does not come from there
PAST = 1e-3  # times the smallest half extent: a point farther from the surface is not on it
DEEP = 0.1  # overlaps of more than this times the smallest half extent are looked at twice
CROWD = 12  # contacts a pair of shapes with a mesh before they are thinned out
TOUCHING = 1e-2  # contacts with gaps below this times the smallest half extent are spread among themselves as well
TURNS = 0.1, 0.3  # [rad] in a step: what is neither deepest nor outermost may be in the way of one
WAYS = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
WAYS = np.delete(WAYS, 13, axis=0) / np.linalg.norm(np.delete(WAYS, 13, axis=0), axis=1, keepdims=True)
UNEVEN = WAYS + 1e-4 * np.roll(WAYS, 1, axis=1) + 1e-5  # decides ties, so that no whole row of a grid is kept
TWIN = 5e-3  # contacts nearer than this times the smallest half extent, with the same normal, are one


def straighten(model, found, position, rotation, angular, sides):
    """Give contacts on flat parts of meshes the face's normal.  Changes ``found`` and returns (which to keep (K,) bool,
    pairs of shapes of which one may have pierced the other, ascending).

    position (B, 3) and rotation (B, 3, 3): the bodies' poses; angular (B, 3): their angular velocities; sides: see
    ``faces_middle``.
    """
    table = model.meshes
    shape_b, shape_a = np.divmod(found.pair, len(model.shape_body))
    gap = gaps_of(found, position, rotation)
    keep = np.ones(len(found), bool)
    fixed, pierced = np.zeros(len(found), bool), [found.pair[:0]]
    for shape, partners, on_a in ((shape_b, shape_a, False), (shape_a, shape_b, True)):
        index = np.flatnonzero((table.shape_mesh[shape] >= 0) & np.isfinite(model.shape_radius[partners]))
        if not len(index):
            continue
        shape = shape[index]
        frame = model.shape_rotation[shape]
        point = (found.point_a if on_a else found.point_b)[index]
        local = turn_back(frame, point - model.shape_position[shape])
        face, weight, _, _ = closest_points(model, shape, local, np.full(len(index), np.inf))
        part, partner = found.take(index), partners[index]
        # An open surface faces the side on which the other shape's middle lies.
        back = ~faces_middle(model, shape, partner, position, rotation, sides)
        away = part.normal
        if on_a:
            away = -turn_back(rotation[part.body_a], turn(rotation[part.body_b], away))
        towards = np.where(back, -1.0, 1.0)[:, None] * turn_back(frame, away)
        feature, local = _touched(table, table.shape_mesh[shape], face, weight, local, towards, SPREAD * part.size)
        place = model.shape_position[shape] + turn(frame, local)
        flat, normal = table.flat[feature], turn(frame, table.normal[feature])
        if on_a:
            across = position[part.body_b] + turn(rotation[part.body_b], part.point_b) - position[part.body_a]
            other = turn_back(rotation[part.body_a], across)
        else:
            other = relative_place(part, position, rotation)
        outward = normal
        if on_a:
            outward = -turn_back(rotation[part.body_b], turn(rotation[part.body_a], normal))
        cosine = np.einsum("ki,ki->k", part.normal, outward)
        outward[back], normal[back], cosine[back] = -outward[back], -normal[back], -cosine[back]
        touching = _Partner(model, part, partner, on_a, rotation, angular)
        middle, radius = touching.middle(other)
        beside = np.where(touching.margin > 0.0, BESIDE, BESIDE_AXIS)
        radius = np.where((touching.margin > 0.0) | (gap[index] > -DEEP * part.size), radius, 0.0)
        seen, nearest = _seen_from_middle(model, shape, radius, place, middle, normal, beside)
        keep[index[seen & ~nearest]] = False
        level = table.cone[feature] > PLANE
        wrong = flat & (level | (cosine < TILT) & ~seen)
        keep[index[wrong & (cosine < INWARD)]] = False
        aside = ~flat & ~table.border[feature] & (cosine < table.cone[feature] - ASIDE)
        # A ball whose middle is before the surface touches it elsewhere.
        before = (touching.margin > 0.0) & (np.einsum("ki,ki->k", normal, middle - place) > 0.0)
        inside = aside & (gap[index] < -PAST * part.size) & (cosine > 0.0) & ~before & ~fixed[index]
        keep[index[aside & ~inside]] = False
        found.normal[index[inside]] = outward[inside]
        # What is pierced to more than half seems to be on the far side.
        pierced.append(found.pair[index[gap[index] < np.where(cosine <= 0.0, -PAST, -DEEP) * part.size]])
        mend = np.flatnonzero(wrong & (cosine >= INWARD) & ~fixed[index])
        if len(mend):
            # The point on the mesh moves below the other one, in the face's plane.  Where no surface is, it is past an
            # edge, and this face not what the other shape meets.
            own, lowest = touching.facing(mend, normal[mend], other, cosine[mend] < TILT)
            height = np.einsum("ki,ki->k", normal[mend], lowest - point[mend])
            below = lowest - height[:, None] * normal[mend]
            local = turn_back(frame[mend], below - model.shape_position[shape[mend]])
            place = closest_points(model, shape[mend], local, np.full(len(mend), np.inf))[2]
            past = np.linalg.norm(local - place, axis=1) > PAST * part.size[mend]
            keep[index[mend[past]]] = False
            mend, below, own = mend[~past], below[~past], own[~past]
            fixed[index[mend]] = True
            found.normal[index[mend]] = outward[mend]
            (found.point_a if on_a else found.point_b)[index[mend]] = below
            (found.point_b if on_a else found.point_a)[index[mend]] = own
        # Where shapes overlap deeply, the other body's surface lies inside the mesh.  Else it came out on the far side,
        # or reaches through a thin part: then its middle still is before that.
        deep = table.closed[table.shape_mesh[shape]] & (gap[index] < -DEEP * part.size)
        if deep.any():
            deep &= (
                np.einsum("ki,ki->k", normal, _centers(model, part, partner, on_a, position, rotation) - point) < 0.0
            )
            tip = other - touching.margin[:, None] * away
            index, local = index[deep], turn_back(frame[deep], (tip - model.shape_position[shape])[deep])
            _, _, place, sign = closest_points(model, shape[deep], local, np.full(len(index), np.inf))
            keep[index[(sign > 0) & (np.linalg.norm(local - place, axis=1) > 0.1 * np.abs(gap[index]))]] = False
    return keep, np.unique(np.concatenate(pierced))


def _centers(model, part, shape, mesh_is_a, position, rotation):
    """(K, 3) centres of the shapes (K,) that meshes touch, in the frames of the meshes' bodies."""
    mesh = part.body_a if mesh_is_a else part.body_b
    return turn_back(rotation[mesh], center(model, shape, position, rotation) - position[mesh])


def _touched(table, mesh, face, weight, point, towards, wide):
    """The features that contacts (K,) meet, see ``features``, and where on them (K, 3).

    Of a ``point`` (K, 3) on a face that has another normal than the contact, ``towards`` (K, 3): the nearest edge, else
    corner, of that face, which is no farther than ``wide`` (K,) [m] and whose cone holds it.
    """
    triangle, number = features(table, mesh, face, weight)
    number, point = number.copy(), point.copy()
    askew = np.flatnonzero((number == 0) & (np.einsum("ki,ki->k", table.normal[triangle, 0], towards) < TILT))
    tip, own = table.vertices[table.corner[triangle[askew]]], point[askew]
    begin = tip[:, [1, 2, 0]]  # side k is opposite corner k
    way = tip[:, [2, 0, 1]] - begin
    square = np.maximum(np.einsum("ksi,ksi->ks", way, way), TINY)
    share = np.einsum("ksi,ksi->ks", own[:, None] - begin, way) / square
    sides = begin + np.clip(share, 0.0, 1.0)[:, :, None] * way
    for first, places in ((4, tip), (1, sides)):
        far = np.linalg.norm(places - own[:, None], axis=2)
        nearest = np.argmin(far, axis=1)
        near = triangle[askew], first + nearest
        held = np.einsum("ki,ki->k", table.normal[near], towards[askew]) >= table.cone[near] - ASKEW
        held &= ~table.flat[near] & (far.min(axis=1, initial=np.inf) <= wide[askew])
        number[askew[held]] = near[1][held]
        point[askew[held]] = places[held, nearest[held]]
    return (triangle, number), point


class _Partner:
    """The shapes (K,) that meshes touch, and the contacts on them in the frames of their own bodies."""

    def __init__(self, model, part, shape, mesh_is_a, rotation, angular):
        """part: the contacts, K of them."""
        self.model, self.shape = model, shape
        mesh, body, self.point, self.margin = part.body_b, part.body_a, part.point_a, part.margin_a
        normal = -turn_back(rotation[body], turn(rotation[mesh], part.normal))
        if mesh_is_a:
            mesh, body, self.point, self.margin, normal = body, mesh, part.point_b, part.margin_b, part.normal
        self.normal, self.to_own = normal, np.swapaxes(rotation[body], 1, 2) @ rotation[mesh]
        self.spin = turn_back(rotation[body], angular[part.body_a] - angular[part.body_b])

    def middle(self, point):
        """Middle (K, 3), in the frames of the meshes' bodies as ``point`` (K, 3) has it, and radius (K,) of what is
        round: of balls and capsules, and of the sides of cylinders and cones that roll.
        """
        model, shape, ball = self.model, self.shape, self.margin > 0.0
        inner, radius = axis_points(model, shape, self.point, self.normal, self.spin)
        axis = model.shape_rotation[shape][:, :, 2]
        arm = inner - model.shape_position[shape]
        height, rolling = (np.einsum("ki,ki->k", axis, each) for each in (arm, self.spin))
        tipping = np.linalg.norm(self.spin - rolling[:, None] * axis, axis=1)
        inside = np.abs(height) <= model.shape_half[shape][:, 2]
        radius[~inside | (tipping > TIPPING * np.abs(rolling))] = 0.0
        middle = np.where(ball[:, None], point, point + turn_back(self.to_own, inner - self.point))
        return middle, np.where(ball, self.margin, radius)

    def facing(self, index, normal, point, turned):
        """Points of those at ``index`` that face normals of the meshes (N, 3), in their own bodies' frames and as
        ``point`` (K, 3) has them: where a normal has ``turned`` (N,) bool, what rolls has another one lowest.
        """
        to_own, own = self.to_own[index], self.point[index]
        lowest = side_points(self.model, self.shape[index], own, -turn(to_own, normal), self.spin[index])
        lowest = np.where(turned[:, None], lowest, own)
        return lowest, point[index] + turn_back(to_own, lowest - own)


def _seen_from_middle(model, shape, radius, point, middle, normal, beside):
    """Which contacts (K,) bool are with something round whose middle lies before the surface of the mesh ``shape``, and
    where no other place of the mesh is nearer to a point on the way to that middle.

    radius (K,) [m], 0: not round; point on the mesh, middle and outward normal (K, 3): in the mesh's body's frame.
    """
    way, nearest = middle - point, np.ones(len(radius), bool)
    seen = (radius > 0.0) & (np.einsum("ki,ki->k", normal, way) > 0.5 * radius)
    index = np.flatnonzero(seen)
    shape, step = shape[index], AHEAD * way[index]
    frame, origin = model.shape_rotation[shape], model.shape_position[shape]
    place = closest_points(model, shape, turn_back(frame, point[index] + step - origin), np.full(len(index), np.inf))[2]
    moved = np.linalg.norm(place - turn_back(frame, point[index] - origin), axis=1)
    extent = np.abs(model.meshes.bounds[model.meshes.shape_mesh[shape]]).max(axis=(1, 2))
    nearest[index] = moved <= beside[index] * np.linalg.norm(step, axis=1) + NOISE * extent
    return seen, nearest


def thin_out(model, found, position, rotation):
    """Which contacts to keep (K,) bool: of those with meshes, one of each place and normal, and few of a crowd.

    Of pairs with more than CROWD contacts, of those whose normals point in each of 26 directions the deepest remains,
    those farthest in each, and those that turns by TURNS bring down first; and the same again of those that touch or
    nearly do, for these carry the load however far others bulge.  ``found`` is sorted by pair.
    """
    shape_b, shape_a = np.divmod(found.pair, len(model.shape_body))
    mesh = (model.meshes.shape_mesh[shape_a] >= 0) | (model.meshes.shape_mesh[shape_b] >= 0)
    index = np.flatnonzero(mesh)
    if not len(index):
        return ~mesh
    part = found.take(index)
    gap = gaps_of(part, position, rotation)
    near = TWIN * part.size[:, None]
    cell = np.round(np.concatenate([part.point_b / near, gap[:, None] / near, 4.0 * part.normal], axis=1))
    order = np.lexsort((gap, *cell.T, part.pair))
    new = np.any(np.diff(np.c_[part.pair, cell][order], axis=0) != 0.0, axis=1)
    all_gaps = np.zeros(len(found))
    all_gaps[index] = gap
    index = index[np.sort(order[np.r_[True, new]])]
    gap = all_gaps[index]
    keep = ~mesh
    lifted = found.point_b + all_gaps[:, None] * found.normal  # of two that are as far out, the lower one
    for part in (index, index[gap <= TOUCHING * found.size[index]]):
        _, of_pair, count = np.unique(found.pair[part], return_inverse=True, return_counts=True)
        crowded = count[of_pair] > CROWD
        keep[part[~crowded]] = True
        if len(crowd := part[crowded]):
            keep[crowd[_spread(found.pair[crowd], lifted[crowd], found.normal[crowd], all_gaps[crowd])]] = True
    return keep


def _spread(pair, point, normal, gap):
    """See ``thin_out``: which of crowds (N,) to keep (N,) bool; pair (N,): number of the shapes of each."""
    # What lies on one slope is spread by itself: a ridge between two valleys holds up what spans both.
    kind = pair * len(WAYS) + np.argmax(_along(normal, WAYS), axis=1)
    order = np.lexsort((gap, kind))
    first = np.r_[True, np.diff(kind[order]) != 0]
    keep = np.zeros(len(pair), bool)
    keep[order[first]] = True
    ahead = _along(point[order], UNEVEN)
    begin, of_kind = np.flatnonzero(first), np.cumsum(first) - 1
    for lead in (ahead, *(angle * ahead - gap[order, None] for angle in TURNS)):
        most = np.maximum.reduceat(lead, begin)
        keep[order] |= np.any(lead >= most[of_kind], axis=1)
    return keep


def _along(vectors, directions):
    """Vectors (N, 3) times directions (D, 3) -> (N, D); ``@`` wakes as many threads as there are cores for it."""
    return sum(vectors[:, axis, None] * directions[:, axis] for axis in range(3))
