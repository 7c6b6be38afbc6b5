# SPDX-License-Identifier: GPL-3.0-or-later
"""The closest points of triangle meshes, and what ways meet, looked up in the trees that newton's meshes hold."""

import numpy as np
import warp as wp

from .arrays import allocate, download_all, upload
from .mesh_features import nearest_normals

FEWEST = 256  # rows there is room for at first
FARTHEST = 1e9  # of newton's lengths: float32 has no room for an endless reach squared


@wp.struct
class ClosestArrays:
    """N points in the frames of their meshes, in newton's lengths, and what is closest to each."""

    count: wp.array(dtype=wp.int32)
    mesh: wp.array(dtype=wp.uint64)
    point: wp.array(dtype=wp.vec3d)
    reach: wp.array(dtype=wp.float32)
    face: wp.array(dtype=wp.int32)  # out
    weight: wp.array(dtype=wp.vec3d)
    place: wp.array(dtype=wp.vec3d)
    sign: wp.array(dtype=wp.float32)


@wp.func
def nearest_weights(p: wp.vec3d, a: wp.vec3d, b: wp.vec3d, c: wp.vec3d):
    """Barycentric coordinates of the point of a triangle that is nearest to ``p``: Ericson (2005), 5.1.5."""
    zero = wp.float64(0.0)
    one = wp.float64(1.0)
    tiny = wp.float64(1e-300)  # for sides without length
    ab = b - a
    ac = c - a
    ab_a = wp.dot(ab, p - a)
    ac_a = wp.dot(ac, p - a)
    if ab_a <= zero and ac_a <= zero:
        return wp.vec3d(one, zero, zero)
    ab_b = wp.dot(ab, p - b)
    ac_b = wp.dot(ac, p - b)
    if ab_b >= zero and ac_b <= ab_b:
        return wp.vec3d(zero, one, zero)
    ab_c = wp.dot(ab, p - c)
    ac_c = wp.dot(ac, p - c)
    if ac_c >= zero and ab_c <= ac_c:
        return wp.vec3d(zero, zero, one)
    of_c = ab_a * ac_b - ab_b * ac_a
    if of_c <= zero and ab_a >= zero and ab_b <= zero:
        share = ab_a / wp.max(ab_a - ab_b, tiny)
        return wp.vec3d(one - share, share, zero)
    of_b = ab_c * ac_a - ab_a * ac_c
    if of_b <= zero and ac_a >= zero and ac_c <= zero:
        share = ac_a / wp.max(ac_a - ac_c, tiny)
        return wp.vec3d(one - share, zero, share)
    of_a = ab_b * ac_c - ab_c * ac_b
    if of_a <= zero and ac_b >= ab_b and ab_c >= ac_c:
        share = (ac_b - ab_b) / wp.max((ac_b - ab_b) + (ab_c - ac_c), tiny)
        return wp.vec3d(zero, one - share, share)
    return wp.vec3d(of_a, of_b, of_c) / (of_a + of_b + of_c)


@wp.kernel(module="axion_closest_points", enable_backward=False)
def find_closest(at: ClosestArrays):
    """``closest_points`` of each.

    The tree tells the triangle.  Where on it is not for single precision to say: on slender ones, the facets of a
    funnel, that was off by tens of micrometres.
    """
    i = wp.tid()
    if i >= at.count[0]:
        return
    mesh = at.mesh[i]
    found = wp.mesh_query_point_sign_normal(mesh, wp.vec3(at.point[i]), at.reach[i])
    at.face[i] = -1
    at.weight[i] = wp.vec3d()
    at.place[i] = wp.vec3d()
    at.sign[i] = float(0.0)
    if found.result:
        points = wp.mesh_get(mesh).points
        corners = wp.mesh_get(mesh).indices
        a = wp.vec3d(points[corners[3 * found.face]])
        b = wp.vec3d(points[corners[3 * found.face + 1]])
        c = wp.vec3d(points[corners[3 * found.face + 2]])
        weight = nearest_weights(at.point[i], a, b, c)
        at.face[i] = found.face
        at.weight[i] = weight
        at.place[i] = weight[0] * a + weight[1] * b + weight[2] * c
        at.sign[i] = found.sign


@wp.struct
class RayArrays:
    """N ways in the frames of their meshes, in newton's lengths, and what each meets first."""

    count: wp.array(dtype=wp.int32)
    mesh: wp.array(dtype=wp.uint64)
    start: wp.array(dtype=wp.vec3)
    way: wp.array(dtype=wp.vec3)
    share: wp.array(dtype=wp.float32)  # out, of the way; 2 where it meets nothing
    normal: wp.array(dtype=wp.vec3)  # out


@wp.kernel(module="axion_closest_points", enable_backward=False)
def find_hits(at: RayArrays):
    """``first_hits`` of each."""
    i = wp.tid()
    if i >= at.count[0]:
        return
    length = wp.length(at.way[i])
    at.share[i] = float(2.0)
    at.normal[i] = wp.vec3()
    hit = wp.mesh_query_ray(at.mesh[i], at.start[i], at.way[i] / length, length)
    if hit.result:
        at.share[i] = hit.t / length
        at.normal[i] = wp.mesh_eval_face_normal(at.mesh[i], hit.face)


class Lookup:
    """A kernel over a table of places or ways in the frames of meshes, in newton's lengths; the arrays only grow."""

    def __init__(self, device, struct, kernel, *results):
        """struct: of the table, with ``count``; results: the names in it that are handed back."""
        self._device, self._struct, self._kernel, self._results, self._room = device, struct, kernel, results, 0

    def find(self, **wanted):
        """What comes of N rows, {name in the table: values (N, ...)}: an array (N, ...) of each of the results."""
        count = len(wanted["mesh"])
        if count > self._room:
            self._room = max(2 * count, FEWEST)
            self._at = allocate(self._struct, {"count": 1}, self._room, self._device)
            self._command = wp.launch(
                self._kernel, dim=self._room, inputs=[self._at], device=self._device, record_cmd=True
            )
        for name, values in {"count": [count], **wanted}.items():
            upload(getattr(self._at, name), values)
        self._command.launch()
        return download_all(*((getattr(self._at, name), count) for name in self._results))


def lookup_closest(device):
    """The Lookup of ``closest_points``."""
    return Lookup(device, ClosestArrays, find_closest, "face", "weight", "place", "sign")


def lookup_hits(device):
    """The Lookup of ``first_hits``."""
    return Lookup(device, RayArrays, find_hits, "share", "normal")


def first_hits(model, shape, start, way):
    """Where ways first meet mesh shapes: shape (N,) int; start and way (N, 3), in the shapes' frames, no way 0 [m].

    Returns share (N,) of the way, above 1 where there is nothing; normal (N, 3) of the triangle.
    """
    if not len(shape):
        return np.zeros(0), np.zeros((0, 3))
    return model.first_hits.find(mesh=model.mesh_id[shape], start=start / model.unit, way=way / model.unit)


def closest_points(model, shape, point, reach):
    """The closest surface points of mesh shapes.  shape (N,) int, point (N, 3) in the shapes' frames, reach (N,) [m].

    Returns face (N,) int, -1 where there is nothing within reach; weights (N, 3) of its corners; place (N, 3) [m];
    sign (N,), -1 inside the mesh.
    """
    if not len(shape):
        return np.zeros(0, np.int32), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0)
    reach = np.minimum(reach / model.unit, FARTHEST)
    face, weight, place, sign = model.closest.find(mesh=model.mesh_id[shape], point=point / model.unit, reach=reach)
    table, mesh = model.meshes, model.meshes.shape_mesh[shape]
    once = table.first_triangle[mesh + 1] - table.first_triangle[mesh]
    back = face >= once  # newton has the triangles of open meshes a second time, with their corners in reverse
    face[back] -= once[back]
    weight[back] = weight[back, ::-1]
    place = place * model.unit
    solid = table.closed[mesh] & (face >= 0)
    side = np.einsum("ki,ki->k", point - place, nearest_normals(table, mesh, face, weight))
    return face, weight, place, np.where(solid & (side != 0.0), np.sign(side), sign)
