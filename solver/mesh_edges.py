# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges of the meshes of a MeshTable, and which of two meshes may touch each other: looked up in newton's trees.

Two edges touch along the normal that is square to both.  It is one of either's own where it lies between the normals
of the faces beside that edge: in its cone.  (Those pairs are the faces of the Minkowski difference that no corner
makes.)  An edge that is concave or lies amid one plane has no such cone, that of a border is half a turn wide.
"""

import numpy as np
import warp as wp

from .arrays import allocate, download_all, first_number, upload
from .mesh_features import PLANE
from .shape_pairs import meeting

FEWEST = 256  # edges there is room for at first
PARALLEL = 1e-3  # sine of the angle below which two edges touch at an end of one, if at all
ASKEW = 1e-2  # how far the cosine may be outside a cone: a step turns bodies
BEYOND = 1e-3  # times its length, how far past an edge's end the place may be
TINY = 1e-300  # instead of the length of an edge or side that has none
KNIFE = -1.0 + 1e-6  # cosine of the angle between the faces of a blade without thickness


class MeshEdges:
    """E edges of all meshes of a MeshTable, one mesh after the other.

    Attributes:
        first: (M + 1,) first edge of each mesh.
        ends: (E, 2) vertices of the table, in the order in which the first face goes round.
        faces: (E, 2) triangles of the table beside it, the second -1 where there are not two.
        side: (T, 3) edge opposite each corner of a triangle.
        of_side: (T, 3) the same of a triangle that is the edge's first face; elsewhere -1.
        around: (2 E,) vertices at the other ends of the edges of each vertex, from ``around_first`` (V + 1,) on.
        fan: (3 T,) triangles of each vertex, from ``fan_first`` (V + 1,) on.
        low, high: (E, 3) box around each.
        mean, cone, has: (2, E, 3), (E,) and (2, E) bool, see ``cones``.
        version: how often any of these has changed.
    """

    def __init__(self, table):
        self._table, meshes = table, len(table.first_triangle) - 1
        sides = table.corner[:, [[1, 2], [2, 0], [0, 1]]].reshape(-1, 2)
        low, high = np.sort(sides, axis=1).T
        many = np.int64(len(table.vertices) + 1)
        key, edge, count = np.unique(low * many + high, return_inverse=True, return_counts=True)
        order = np.argsort(edge.reshape(-1), kind="stable")
        start = np.cumsum(count) - count
        owner = order[start]
        of_side = np.full(len(sides), -1, np.int32)
        of_side[owner] = np.arange(len(key))
        second = np.where(count == 2, order[np.minimum(start + 1, len(sides) - 1)] // 3, -1)
        self.first = np.searchsorted(key // many, table.first_vertex[: meshes + 1])
        self.ends = sides[owner]
        from_both = np.concatenate([self.ends, self.ends[:, ::-1]])
        from_both = from_both[np.argsort(from_both[:, 0], kind="stable")]
        self.around_first = np.searchsorted(from_both[:, 0], np.arange(len(table.vertices) + 1))
        self.around = from_both[:, 1]
        by_vertex = np.argsort(table.corner, axis=None, kind="stable")
        self.fan = by_vertex // 3
        self.fan_first = np.searchsorted(table.corner.ravel()[by_vertex], np.arange(len(table.vertices) + 1))
        self.faces = np.stack([owner // 3, second], axis=1)
        self.side, self.of_side = edge.reshape(-1, 3), of_side.reshape(-1, 3)
        (self.low, self.high), self.mean = np.empty((2, len(key), 3)), np.empty((2, len(key), 3))
        self.cone, self.has = np.empty(len(key)), np.empty((2, len(key)), bool)
        self._changes, self.version = np.full(meshes, -1), 0
        self.follow()

    def follow(self):
        """Take the places and normals of meshes that have changed."""
        changed = np.flatnonzero(self._changes != self._table.changes)
        for mesh in changed:
            self._measure(slice(self.first[mesh], self.first[mesh + 1]))
        if len(changed):
            self._changes, self.version = self._table.changes.copy(), self.version + 1
            self._list()

    def _measure(self, some):
        table, (first, second) = self._table, self.faces[some].T
        begin, end = table.vertices[self.ends[some]].swapaxes(0, 1)
        self.low[some], self.high[some] = np.minimum(begin, end), np.maximum(begin, end)
        one = table.normal[first, 0]
        other = np.where((second < 0)[:, None], -one, table.normal[second, 0])
        cosine = np.einsum("ni,ni->n", one, other)
        way = _unit(end - begin)
        turns = np.einsum("ni,ni->n", np.cross(one, other), way)
        rim = (second < 0) | (cosine <= KNIFE)
        across, between = np.cross(way, one), one + other
        self.mean[0, some] = _unit(np.where(rim[:, None], across, between))
        self.mean[1, some] = _unit(np.where(rim[:, None], across, -between))
        self.cone[some] = cone = np.where(rim, 0.0, np.sqrt(np.maximum(0.5 * (1.0 + cosine), 0.0)))
        self.has[:, some] = rim | ((np.stack([turns, -turns]) > 0.0) & (cone <= PLANE))

    def _list(self):
        """List the edges that have a cone, those of either side for themselves."""
        listed = [np.flatnonzero(has) for has in self.has]
        self._listed = np.concatenate(listed)
        start = [np.searchsorted(each, self.first[:-1]) for each in listed]
        self._first_listed = np.concatenate([start[0], len(listed[0]) + start[1], [len(self._listed)]])
        self._listed_low, self._listed_high = self.low[self._listed], self.high[self._listed]

    def cones(self, number, back):
        """Cones of normals of edges ``number`` (N,): (mean (N, 3), cosine (N,), whether there is one (N,) bool).

        back (N,) bool: of the surface's other side.
        """
        side = back.astype(np.intp)
        return self.mean[side, number], self.cone[number], self.has[side, number]

    def with_cones(self, mesh, back, low, high):
        """(box (K,), edge (K,)), sorted: edges with cones of meshes (B,), or of their other sides where ``back`` (B,),
        that may be in boxes low, high (B, 3).
        """
        group = mesh + np.where(back, len(self.first) - 1, 0)
        box, k = meeting(self._first_listed, group, self._listed_low, self._listed_high, low, high)
        return box, self._listed[k]


def _unit(vectors):
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), TINY)


@wp.struct
class EdgeArrays:
    """N edges of meshes in the frames of other meshes, in newton's lengths, and the edges found near them."""

    count: wp.array(dtype=wp.int32)
    mesh: wp.array(dtype=wp.uint64)
    triangles: wp.array(dtype=wp.int32)  # of that mesh
    first_triangle: wp.array(dtype=wp.int32)
    behind: wp.array(dtype=wp.int32)  # number of all edges where its other side counts, else 0
    start: wp.array(dtype=wp.vec3)
    way: wp.array(dtype=wp.vec3)
    mean: wp.array(dtype=wp.vec3)
    cone: wp.array(dtype=wp.float32)
    low: wp.array(dtype=wp.vec3)  # box in which all lies that they may touch
    high: wp.array(dtype=wp.vec3)
    reach: wp.array(dtype=wp.float32)
    deepest: wp.array(dtype=wp.float32)
    of_side: wp.array(dtype=wp.int32)
    mean_of: wp.array(dtype=wp.vec3)  # (2 E,) of the cones of all edges, and of those of the surfaces' other sides
    cone_of: wp.array(dtype=wp.float32)  # (2 E,) cosine, above 1 where there is none
    found: wp.array(dtype=wp.int32)
    query: wp.array(dtype=wp.int32)
    edge: wp.array(dtype=wp.int32)


parallel, askew, beyond = wp.constant(PARALLEL), wp.constant(2.0 * ASKEW), wp.constant(2.0 * BEYOND)


@wp.kernel(module="axion_mesh_edges", enable_backward=False)
def find_edges(at: EdgeArrays):
    """Edges of the mesh that each edge may touch; what is near in single precision is looked at again."""
    i = wp.tid()
    if i >= at.count[0]:
        return
    mesh, first = at.mesh[i], at.first_triangle[i]
    start, way, mean = at.start[i], at.way[i], at.mean[i]
    least = wp.max(at.cone[i] - askew, -1.0)
    wide = wp.sqrt(wp.max(1.0 - least * least, 0.0))
    query = wp.mesh_query_aabb(mesh, at.low[i], at.high[i])
    face = int(0)
    while wp.mesh_query_aabb_next(query, face):
        if face >= at.triangles[i]:  # newton has the triangles of open meshes a second time
            continue
        for k in range(3):
            edge = at.of_side[3 * (first + face) + k]
            if edge < 0:
                continue
            cone = at.cone_of[at.behind[i] + edge]
            if cone > 1.0:
                continue
            other = at.mean_of[at.behind[i] + edge]
            # Most edges of fine meshes have no direction in common: their means are farther apart than both are wide.
            least_2 = wp.max(cone - askew, -1.0)
            wide_2 = wp.sqrt(wp.max(1.0 - least_2 * least_2, 0.0))
            less_than_half = wide * least_2 + least * wide_2 >= 0.0
            if less_than_half and -wp.dot(mean, other) < least * least_2 - wide * wide_2:
                continue
            begin = wp.mesh_get_point(mesh, 3 * face + (k + 1) % 3)
            along = wp.mesh_get_point(mesh, 3 * face + (k + 2) % 3) - begin
            normal = wp.cross(way, along)
            size = wp.length(normal)
            if size <= parallel * wp.length(way) * wp.length(along):
                continue
            normal = normal / size
            # Where the line of the normal meets both: way s - along t = begin - start + gap normal.
            apart = begin - start
            s = wp.dot(wp.cross(apart, along), normal) / size
            t = wp.dot(wp.cross(apart, way), normal) / size
            if wp.min(s, t) < -beyond or wp.max(s, t) > 1.0 + beyond:
                continue
            gap = -wp.dot(apart, normal)
            for _ in range(2):
                if wp.dot(normal, other) >= cone - askew and -wp.dot(normal, mean) >= at.cone[i] - askew:
                    if gap <= at.reach[i] and gap >= -at.deepest[i]:
                        k_found = wp.atomic_add(at.found, 0, 1)
                        if k_found < at.query.shape[0]:
                            at.query[k_found] = i
                            at.edge[k_found] = edge
                normal = -normal
                gap = -gap


class EdgePairs:
    """The arrays and the launch of one CollisionModel; they only grow."""

    def __init__(self, table, device):
        self._edges = MeshEdges(table)
        self._device, self._room, self._most, self._version = device, 0, 0, None

    @property
    def edges(self):
        """The MeshEdges as they are now."""
        self._edges.follow()
        return self._edges

    def find(self, wanted):
        """(query (K,), edge (K,)), sorted.  wanted: {name of EdgeArrays: values of N edges}, in newton's lengths."""
        count, found = len(wanted["mesh"]), 0
        if not count:
            return np.zeros((2, 0), np.int32)
        while True:
            if count > self._room or found > self._most:
                self._grow(count, found)
            at = self._at
            if self._version != self._edges.version:
                upload(at.mean_of, self._edges.mean.reshape(-1, 3))
                upload(at.cone_of, np.where(self._edges.has, self._edges.cone, 2.0).reshape(-1))
                self._version = self._edges.version
            for name, values in {"count": [count], "found": [0], **wanted}.items():
                upload(getattr(at, name), values)
            self._command.launch()
            found = first_number(at.found)
            if found <= self._most:
                break
        query, edge = download_all((at.query, found), (at.edge, found))
        order = np.lexsort((edge, query))
        pairs = np.stack([query[order], edge[order]])
        return pairs[:, np.r_[True, np.any(np.diff(pairs, axis=1) != 0, axis=0)][: pairs.shape[1]]]

    def _grow(self, count, found):
        if count > self._room:
            self._room = max(2 * count, FEWEST)
        self._most = max(2 * found, self._most, FEWEST)
        sides, cones = self._edges.of_side.reshape(-1), self._edges.has.size
        sizes = {"count": 1, "found": 1, "query": self._most, "edge": self._most}
        sizes |= {"of_side": len(sides), "mean_of": cones, "cone_of": cones}
        self._at, self._version = allocate(EdgeArrays, sizes, self._room, self._device), None
        upload(self._at.of_side, sides)
        self._command = wp.launch(find_edges, dim=self._room, inputs=[self._at], device=self._device, record_cmd=True)
