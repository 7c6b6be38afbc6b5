# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of edges of one mesh with edges of another; those of their corners are mesh_contacts.py's.

newton tests edges of one mesh against the surface of the other and takes one point of each, and nothing of open meshes:
two rocks of triangles sank into each other's edges, and into ridges of the ground.  Which edges meet, and along which
normal, mesh_edges.py says.
"""

from dataclasses import dataclass

import numpy as np

from .manifold import turn, turn_back
from .mesh_contacts import PAST
from .mesh_edges import ASKEW, BEYOND, TINY
from .mesh_interior import depth_below
from .mesh_sides import faces_middle
from .shape_pairs import ShapePairs

NEAREST = 0.5  # of the way to the faces beside an edge: where another surface is nearer, the edge is not in the way
OFF = 0.05  # of an overlap, that the faces beside edges may tell it less than the edges do


def edge_contacts(model, pairs, reach, position, rotation, sides):
    """Contacts of edges of mesh shapes with edges of others, as Manifolds without place and tilt.

    pairs (P, 2) int shapes, the lower one (body b of the contacts) first; reach (P,) [m]; position (B, 3) and rotation
    (B, 3, 3): the bodies' poses; sides: see ``faces_middle``.
    """
    table, edges = model.meshes, model.edge_pairs.edges
    # Those of the mesh with fewer edges are looked up in the tree of the other.
    amount = np.diff(edges.first)[table.shape_mesh[pairs]]
    fewer = (amount[:, 0] > amount[:, 1]).astype(np.intp)[:, None]
    first, second = np.take_along_axis(pairs, np.c_[fewer, 1 - fewer], axis=1).T
    between = ShapePairs(model, first, second, reach, position, rotation)
    back_1 = ~faces_middle(model, first, second, position, rotation, sides)
    back_2 = ~faces_middle(model, second, first, position, rotation, sides)
    near = _near(model, edges, between, back_1)
    met = near.take(_look_up(model, near, between, back_2))
    run, one, other, normal = _measure(model, edges, met, between, back_1, back_2)
    return between.manifolds(run, one, other, normal, np.zeros(len(run)))


@dataclass
class _Near:
    """Edges of first shapes of ShapePairs, in the frames of the second ones."""

    run: np.ndarray  # (N,) which pair
    start: np.ndarray  # (N, 3)
    way: np.ndarray  # (N, 3) to the other end
    mean: np.ndarray  # (N, 3) of their cones
    cone: np.ndarray  # (N,)
    low: np.ndarray  # (N, 3) corner of the box in which all lies that they may touch
    high: np.ndarray  # (N, 3)
    edge: np.ndarray  # (N,)
    other: np.ndarray | None = None  # (N,) edge of the second shape

    def take(self, found):
        """Those at (query, other)."""
        query, other = found
        values = self.run, self.start, self.way, self.mean, self.cone, self.low, self.high, self.edge
        return _Near(*(each[query] for each in values), other)


def _near(model, edges, between, back):
    """The _Near edges whose boxes meet the bounds of the second shapes; back (P,) bool: see ``MeshEdges.cones``."""
    table, reach, deepest = model.meshes, between.reach, _deepest(between)
    mesh = table.shape_mesh[between.first]
    bounds = table.bounds[table.shape_mesh[between.second]]
    wide = np.maximum(reach, deepest)[:, None]
    around = between.seen_from_first(bounds[:, 0] - wide, bounds[:, 1] + wide)
    run, edge = edges.with_cones(mesh, back, *around)
    start, end = (turn(between.relative[run], table.vertices[v]) + between.offset[run] for v in edges.ends[edge].T)
    low, high = np.minimum(start, end), np.maximum(start, end)
    near = np.all((high >= (bounds[:, 0] - wide)[run]) & (low <= (bounds[:, 1] + wide)[run]), axis=1)
    run, edge, start, end, low, high = (each[near] for each in (run, edge, start, end, low, high))
    mean, cone, _ = edges.cones(edge, back[run])
    mean = turn(between.relative[run], mean)
    # Along each axis, the least and the most that a direction of the cone has.
    angle, open_by = np.arccos(np.clip(mean, -1.0, 1.0)), np.arccos(np.clip(cone - 2.0 * ASKEW, -1.0, 1.0))[:, None]
    least, most = np.cos(np.minimum(angle + open_by, np.pi)), np.cos(np.maximum(angle - open_by, 0.0))
    far, deep = reach[run][:, None], deepest[run][:, None]
    low = low + np.minimum(far * least, -deep * most)
    high = high + np.maximum(far * most, -deep * least)
    near = np.all((high >= bounds[run, 0]) & (low <= bounds[run, 1]), axis=1)
    return _Near(*(each[near] for each in (run, start, end - start, mean, cone, low, high, edge)))


def _deepest(between):
    """Overlaps (P,) beyond which edges are past each other [m]."""
    return np.minimum(between.size, between.lever)


def _look_up(model, near, between, back):
    """(query (K,), edge (K,)): which may touch; back (P,) bool: the other side of the second shape counts."""
    table, second, unit = model.meshes, between.second[near.run], model.unit
    mesh = table.shape_mesh[second]
    return model.edge_pairs.find(
        {
            "mesh": model.mesh_id[second],
            "triangles": np.diff(table.first_triangle)[mesh],
            "first_triangle": table.first_triangle[mesh],
            "behind": np.where(back[near.run], len(model.edge_pairs.edges.ends), 0),
            "start": near.start / unit,
            "way": near.way / unit,
            "low": near.low / unit,
            "high": near.high / unit,
            "mean": near.mean,
            "cone": near.cone,
            "reach": between.reach[near.run] / unit,
            "deepest": _deepest(between)[near.run] / unit,
        }
    )


def _measure(model, edges, met, between, back_1, back_2):
    """(pairs (K,), points on the first shapes and on the second (K, 3), in their own frames, outward normals (K, 3)) of
    those of ``met`` that are contacts.
    """
    table, run = model.meshes, met.run
    mean, cone, good = edges.cones(met.other, back_2[run])
    begin, end = table.vertices[edges.ends[met.other]].swapaxes(0, 1)
    along, apart = end - begin, begin - met.start
    normal = np.cross(met.way, along)
    size = np.maximum(np.linalg.norm(normal, axis=1), TINY)
    normal /= size[:, None]
    s = np.einsum("ki,ki->k", np.cross(apart, along), normal) / size
    t = np.einsum("ki,ki->k", np.cross(apart, met.way), normal) / size
    normal *= np.where(np.einsum("ki,ki->k", normal, mean - met.mean) >= 0.0, 1.0, -1.0)[:, None]
    gap = -np.einsum("ki,ki->k", apart, normal)
    good &= (np.minimum(s, t) >= -BEYOND) & (np.maximum(s, t) <= 1.0 + BEYOND)
    good &= (gap <= between.reach[run]) & (gap >= -_deepest(between)[run])
    good &= np.einsum("ki,ki->k", normal, mean) >= cone - ASKEW
    good &= -np.einsum("ki,ki->k", normal, met.mean) >= met.cone - ASKEW
    point, other = met.start + s[:, None] * met.way, begin + t[:, None] * along
    one = turn_back(between.relative[run], point - between.offset[run])
    deep = np.flatnonzero(good & (gap < -PAST * between.size[run]))
    if len(deep):
        r, overlap, n, slack = run[deep], -gap[deep], normal[deep], PAST * between.size[run[deep]]
        back_turn = np.swapaxes(between.relative[r], 1, 2)
        passing = _Passing(s[deep], point[deep], met.way[deep], n, overlap, slack)
        seen = (turn(back_turn, each) for each in (other[deep] - between.offset[r], along[deep], -n))
        passed = _Passing(t[deep], *seen, overlap, slack)
        seen = passing.in_wedge(model, edges, between.second[r], met.other[deep], back_2[r])
        seen_1 = passed.in_wedge(model, edges, between.first[r], met.edge[deep], back_1[r])
        (into, inside, strong, pierces), (into_1, inside_1, strong_1, pierces_1) = seen, seen_1
        good[deep] = strong | strong_1 | (inside & inside_1 & (into | into_1)) | (pierces & pierces_1)
    return run[good], one[good], other[good], normal[good]


@dataclass
class _Passing:
    """N edges that have passed those of other shapes, in the frames of these."""

    share: np.ndarray  # (N,) of the way to the other end, to the place
    place: np.ndarray  # (N, 3) nearest to the other edge
    way: np.ndarray  # (N, 3) from end to end
    normal: np.ndarray  # (N, 3) outward
    overlap: np.ndarray  # (N,) from the other edge, against it
    slack: np.ndarray  # (N,) that what is inside may seem to be outside

    def in_wedge(self, model, edges, shape, number, back):
        """Whether they reach where it is inside as the faces beside edges ``number`` (N,) say, whether they are inside
        the surface there, whether they are far inside, and whether they are anywhere as deep inside as those faces say,
        (N,) bool each; back (N,) bool: see ``MeshEdges.cones``.
        """
        faces = model.meshes.normal[edges.faces[number], 0] * np.where(back, -1.0, 1.0)[:, None, None]
        faces[edges.faces[number, 1] < 0, 1] = -faces[edges.faces[number, 1] < 0, 0]
        length = np.linalg.norm(self.way, axis=1)
        unit = self.way / length[:, None]
        ends = np.stack([-self.share * length, (1.0 - self.share) * length])
        near = np.clip(ends, -self.overlap, self.overlap)
        off = OFF * self.overlap
        shift, depth = self._deepest(faces, unit, near)
        seen = depth_below(model, shape, self.place + shift[:, None] * unit, back)
        strong = seen >= NEAREST * np.maximum(depth, 0.5 * self.overlap)
        into, inside, pierces = (
            depth >= -off,
            seen >= np.minimum(0.0, depth) - np.minimum(off, self.slack),
            np.zeros(len(seen), bool),
        )
        # Below a blade that lies flat, or an edge nearly along this one, it is inside farther off than it is deep.
        far = np.flatnonzero(~strong & (np.abs(ends) > self.overlap).any(axis=0))
        if len(far):
            some = _Passing(*(each[far] for each in vars(self).values()))
            shift, depth = some._deepest(faces[far], unit[far], ends[:, far])
            seen = depth_below(model, shape[far], some.place + shift[:, None] * unit[far], back[far])
            pierces[far] = (depth > 0.0) & (seen >= (1.0 - OFF) * depth)
        return into, inside, strong, pierces

    def _deepest(self, faces, unit, ends):
        """How far (N,) along ``unit`` (N, 3) from their places they are deepest below both faces (N, 2, 3), and how
        deep (N,); ends (2, N): how far they go.
        """
        sunk, rate = (np.einsum("nfi,ni->nf", faces, v) for v in (self.normal, unit))
        # Below either face by overlap sunk - shift rate: deepest where both say the same, or at an end.
        with np.errstate(divide="ignore", invalid="ignore"):
            even = self.overlap * np.nan_to_num((sunk[:, 0] - sunk[:, 1]) / (rate[:, 0] - rate[:, 1]))
        shift = np.stack([*ends, np.clip(even, *ends)])
        depth = np.min(self.overlap[:, None] * sunk - shift[:, :, None] * rate, axis=2)
        best = np.argmax(depth, axis=0)[None]
        return np.take_along_axis(shift, best, axis=0)[0], np.take_along_axis(depth, best, axis=0)[0]
