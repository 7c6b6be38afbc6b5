# SPDX-License-Identifier: GPL-3.0-or-later
"""The way on which two meshes that are inside each other come apart.

Concave meshes meet on all sides of each other, and what one contact pushes away another one pushes back.  One way for
the pair has no such quarrel: along it every place of either that is in the other comes out, and the shortest such way
is how deep the two are in each other.  So rings that hang in each other leave to the side on which they overlap, and
are not torn through each other, which is farther.
"""

import numpy as np

from .closest_points import closest_points
from .manifold import turn, turn_back
from .mesh_features import features
from .mesh_sides import faces_middle
from .piercing import edges_within
from .shape_pairs import ShapePairs, meeting

PAST = 1e-3  # times the smallest half extent: what is less deep is not inside
EVEN = 64  # ways spread evenly over all
LOOKED_AT = 48  # places of either that each way is judged by, before the best are followed to their ends
FOLLOWED, ALIKE = 8, np.cos(np.radians(20.0))  # how many, and the angle between any two of them
NARROWER = np.radians([12.0, 5.0, 2.0])  # angles to those ways around the best that are tried next
AROUND = 8
ENDLESS = 16  # looks along a way, until which it has to lead apart
FARTHEST = 8.0  # times the smallest half extent: a longer one is none


class Insides:
    """Pairs of mesh shapes (P, 2), and the places where the two are in each other."""

    def __init__(self, model, pairs, position, rotation, sides):
        """Position (B, 3), rotation (B, 3, 3): poses of the bodies; sides: see ``faces_middle``."""
        self.model, self.pairs = model, pairs
        first, second = np.concatenate([pairs, pairs[:, ::-1]]).T
        self.between = ShapePairs(model, first, second, np.zeros(len(first)), position, rotation)
        self.back = ~faces_middle(model, second, first, position, rotation, sides)
        self.ahead = np.where(np.arange(len(first)) < len(pairs), -1.0, 1.0)  # the second of a pair leaves the first

    def take(self, number):
        """Pairs ``number`` (K,) of these, of which each may come more than once."""
        some, run = object.__new__(Insides), np.concatenate([number, number + len(self.pairs)])
        some.model, some.pairs = self.model, self.pairs[number]
        some.between, some.back, some.ahead = self.between.take(run), self.back[run], self.ahead[run]
        return some

    def shift(self, way, length):
        """Move the second of each pair along world unit vectors ``way`` (P, 3) by ``length`` (P,) [m]."""
        every = np.arange(2 * len(self.pairs))
        self.between.offset = self.between.offset + self.local(every, np.tile(length[:, None] * way, (2, 1)))

    def places(self):
        """(either way round (K,), places of the first shape (K, 3) in the second one's frame, depth (K,) [m])."""
        model, between, table = self.model, self.between, self.model.meshes
        run, point, depth = edges_within(model, between, lambda: self.back)
        second = table.shape_mesh[between.second]
        # What has sunk through a sheet is outside its bounds, and what is behind one is in it if it goes through it.
        beyond = np.where(table.sheet[second], between.lever, 0.0)[:, None]
        low, high = table.bounds[second, 0] - beyond, table.bounds[second, 1] + beyond
        around, mesh = between.seen_from_first(low, high), table.shape_mesh[between.first]
        corner, vertex = meeting(table.first_vertex, mesh, table.vertices, table.vertices, *around)
        tip = turn(between.relative[corner], table.vertices[vertex]) + between.offset[corner]
        goes_through = np.zeros(len(second), bool)
        goes_through[np.concatenate([run, (run + len(self.pairs)) % len(second)])] = True
        near = ((tip > low[corner]) & (tip < high[corner])).all(axis=1) & (table.closed[second] | goes_through)[corner]
        corner, tip = corner[near], tip[near]
        heart = np.flatnonzero(table.closed[mesh] & table.closed[second])  # of what lies wholly on the other's faces
        middle = turn(between.relative[heart], between.own_centers(heart)) + between.offset[heart]
        corner, tip = np.concatenate([corner, heart]), np.concatenate([tip, middle])
        run, point = np.concatenate([run, corner]), np.concatenate([point, tip])
        depth = np.concatenate([depth, self._below(corner, tip)])
        inside = np.flatnonzero(depth > PAST * between.size[run])
        return run[inside], point[inside], depth[inside]

    def _below(self, run, point):
        """How deep points (K, 3) are in second shapes [m]; none is below what is open beyond its border.

        By the normal of the one place: half way between two faces the tree's sign, which adds up both, tells nothing.
        """
        table, shape = self.model.meshes, self.between.second[run]
        face, weight, place, _sign = closest_points(self.model, shape, point, np.full(len(shape), np.inf))
        feature, apart = features(table, table.shape_mesh[shape], face, weight), point - place
        before = np.einsum("ki,ki->k", table.normal[feature], apart) * np.where(self.back[run], -1.0, 1.0)
        return np.where(table.border[feature], 0.0, -np.sign(before)) * np.linalg.norm(apart, axis=1)

    def exits(self, run, point, way):
        """How far places (K, 3) of ``places`` have to go along ``way`` (K, 3) to come out [m], inf where they do not.

        way: world unit vectors, for the second shape of each pair.
        """
        model, table, shape = self.model, self.model.meshes, self.between.second[run]
        if not len(run):
            return np.zeros(0)
        mesh = table.shape_mesh[shape]
        reach = 2.0 * np.linalg.norm(np.ptp(table.bounds[mesh], axis=1), axis=1)
        (share,) = model.exits.find(
            mesh=model.mesh_id[shape],
            triangles=np.diff(table.first_triangle)[mesh],
            side=np.where(self.back[run], -1.0, 1.0),
            start=point / model.unit,
            way=self.local(run, way) * reach[:, None] / model.unit,
        )
        return np.where((share == 0.0) & table.sheet[mesh], np.inf, share * reach)  # small holes are ways out

    def local(self, run, way):
        """World ways (K, 3) of second shapes of pairs in the frame of what is left, and seen from what leaves."""
        return self.between.from_world(run, self.ahead[run, None] * way)

    def normals(self, run, point):
        """World unit vectors (K, 3), for second shapes of pairs: outward ones of the faces nearest to ``places``."""
        table, shape = self.model.meshes, self.between.second[run]
        face, weight, _place, _sign = closest_points(self.model, shape, point, np.full(len(shape), np.inf))
        normal = table.normal[features(table, table.shape_mesh[shape], face, weight)[0], 0]
        return self.between.to_world(run, (self.ahead[run] * np.where(self.back[run], -1.0, 1.0))[:, None] * normal)

    def deepest(self):
        """(P,) how deep the deepest of ``places`` of each pair is [m]."""
        run, _point, depth = self.places()
        deepest = np.zeros(len(self.pairs))
        np.maximum.at(deepest, run % max(1, len(self.pairs)), depth)
        return deepest

    def contacts(self, way):
        """Manifolds without place and tilt: each of ``places`` with where it comes out along world ways (P, 3)."""
        run, point, _depth = self.places()
        way = way[run % max(1, len(self.pairs))]
        far = self.exits(run, point, way)
        some = np.flatnonzero((far > 0.0) & (far < np.inf))
        run, point, normal = run[some], point[some], self.local(run[some], way[some])
        own = turn_back(self.between.relative[run], point - self.between.offset[run])
        return self.between.manifolds(run, own, point + far[some, None] * normal, normal, np.zeros(len(run)))

    def farthest(self, way):
        """How far each pair has to move along its world unit vector ``way`` (P, 3) for all of ``places`` to come out
        [m].
        """
        run, point, _depth = self.places()
        pair, out = run % max(1, len(self.pairs)), np.zeros(len(self.pairs))
        np.maximum.at(out, pair, self.exits(run, point, way[pair]))
        return out


def shortest_way(insides, k):
    """(World unit vector (3,), length [m]) of the shortest way found on which the second of pair k of Insides leaves
    the first; (0, inf) where there is none.
    """
    one = insides.take(np.array([k]))
    run, point, _depth = one.places()
    if not len(run):
        return np.zeros(3), np.inf
    some = np.concatenate([_spread(np.flatnonzero(run == side), LOOKED_AT) for side in (0, 1)])
    run, point = run[some], point[some]

    def judged(ways):
        count = len(ways)
        each = one.exits(np.tile(run, count), np.tile(point, (count, 1)), np.repeat(ways, len(run), axis=0))
        return each.reshape(count, -1).max(axis=1)

    ways = np.concatenate([_even(EVEN), one.normals(run, point)])
    length = judged(ways)
    for angle in NARROWER:
        more = _ring(ways[np.argmin(length)], angle)
        ways, length = np.concatenate([ways, more]), np.concatenate([length, judged(more)])
    chosen = []
    for way in np.argsort(length, kind="stable"):
        if np.isfinite(length[way]) and len(chosen) < FOLLOWED and (ways[chosen] @ ways[way] < ALIKE).all():
            chosen.append(way)
    ways = ways[chosen]
    length = _to_the_end(one.take(np.zeros(len(ways), np.intp)), ways)
    best = int(np.argmin(length)) if len(length) else 0
    return (ways[best], length[best]) if length.min(initial=np.inf) < np.inf else (np.zeros(3), np.inf)


def _to_the_end(insides, ways):
    """(P,) lengths of ``ways`` (P, 3) of pairs until the two are apart [m]; inf where others are over sooner, too."""
    total, limit = np.zeros(len(ways)), FARTHEST * insides.between.size[: len(ways)]
    going, insides = np.arange(len(ways)), insides.take(np.arange(len(ways)))
    for _ in range(ENDLESS):
        far = insides.farthest(ways[going])
        total[going] += far
        over = far == 0.0
        limit = np.minimum(limit, np.min(total[going[over]], initial=np.inf))
        go_on = ~over & (total[going] < limit[going])
        total[going[~over & ~go_on]] = np.inf
        going, far = going[go_on], far[go_on]
        if not len(going):
            return total
        insides = insides.take(np.flatnonzero(go_on))
        insides.shift(ways[going], far)
    total[going] = np.inf
    return total


def _spread(index, most):
    """At most ``most`` of ``index`` (N,), evenly."""
    return index if len(index) <= most else index[np.linspace(0, len(index) - 1, most).astype(np.intp)]


def _even(count):
    """Unit vectors (count, 3) spread evenly: Fibonacci's lattice."""
    k = np.arange(count) + 0.5
    angle, height = np.pi * (1.0 + np.sqrt(5.0)) * k, 1.0 - 2.0 * k / count
    beside = np.sqrt(1.0 - height**2)
    return np.stack([beside * np.cos(angle), beside * np.sin(angle), height], axis=1)


def _ring(way, angle):
    """Unit vectors (AROUND, 3) at an angle [rad] from ``way`` (3,)."""
    across = np.cross(way, np.eye(3)[np.argmin(np.abs(way))])
    across /= np.linalg.norm(across)
    turned = 2.0 * np.pi * np.arange(AROUND) / AROUND
    beside = np.cos(turned)[:, None] * across + np.sin(turned)[:, None] * np.cross(way, across)
    return np.cos(angle) * way + np.sin(angle) * beside
