# SPDX-License-Identifier: GPL-3.0-or-later
"""How deep edges of meshes are inside other meshes, and where ways out of those end: looked up in newton's trees."""

import warp as wp

from .closest_points import Lookup

CROSSINGS = wp.constant(16)  # surfaces an edge is followed through
SAMPLES = wp.constant(4.0)  # places looked at between two of them
ON = wp.constant(1e-5)  # of an edge, behind a crossing: where the search for the next one starts


@wp.struct
class PiercingArrays:
    """N edges of meshes in the frames of other meshes, in newton's lengths."""

    count: wp.array(dtype=wp.int32)
    mesh: wp.array(dtype=wp.uint64)
    triangles: wp.array(dtype=wp.int32)  # of that mesh
    side: wp.array(dtype=wp.float32)  # -1: its other side counts
    start: wp.array(dtype=wp.vec3)
    way: wp.array(dtype=wp.vec3)
    reach: wp.array(dtype=wp.float32)  # deeper than this is all the same
    closed: wp.array(dtype=wp.int32)
    depth: wp.array(dtype=wp.float32)  # out
    share: wp.array(dtype=wp.float32)  # out, of the way: where it is deepest
    crossing: wp.array(dtype=wp.float32)  # out, of the way: where it crossed the surface


@wp.func
def deepest_between(at: PiercingArrays, i: int, first: float, last: float, crossing: float):
    """(depth, share of the way) of the deepest of some places on a part of an edge, and ``crossing``, where it crosses
    the surface; what just grazes is outside.
    """
    best, k = wp.vec3(0.0, first, crossing), float(0.5)
    while k < SAMPLES:  # not unrolled, nor is the other loop: 64 searches of a tree in a row took 20 s to compile
        share = first + (last - first) * k / SAMPLES
        k += 1.0
        point = at.start[i] + share * at.way[i]
        found = wp.mesh_query_point_sign_normal(at.mesh[i], point, at.reach[i])
        depth = at.reach[i]
        if found.result:
            apart = point - wp.mesh_eval_position(at.mesh[i], found.face, found.u, found.v)
            depth = -found.sign * wp.length(apart)
            if at.closed[i] == 0:
                outward = at.side[i] * wp.mesh_eval_face_normal(at.mesh[i], found.face)
                if found.face >= at.triangles[i]:
                    outward = -outward
                depth = -wp.sign(wp.dot(apart, outward)) * wp.length(apart)
        if depth > best[0]:
            best = wp.vec3(depth, share, crossing)
    return best


@wp.func
def deeper(one: wp.vec3, other: wp.vec3):
    """The one of two (depth, share, crossing)."""
    return wp.where(other[0] > one[0], other, one)


@wp.kernel(module="axion_piercing", enable_backward=False)
def find_depths(at: PiercingArrays):
    """How deep each edge is inside its mesh between a crossing of the surface and the next, or its end."""
    i = wp.tid()
    if i >= at.count[0]:
        return
    length = wp.length(at.way[i])
    along = at.way[i] / length
    best, here, begin = wp.vec3(), float(0.0), float(0.0)
    inside, crossed, crossings = int(0), int(0), int(0)
    while here < 1.0 and crossings < CROSSINGS:
        crossings += 1
        hit = wp.mesh_query_ray(at.mesh[i], at.start[i] + here * at.way[i], along, (1.0 - here) * length)
        if hit.result:
            share = here + hit.t / length
            facing = wp.dot(wp.mesh_eval_face_normal(at.mesh[i], hit.face), along) * at.side[i]
            if hit.face >= at.triangles[i]:  # newton has the triangles of open meshes a second time
                facing = -facing
            if facing > 0.0 and (inside == 1 or crossed == 0):
                best = deeper(best, deepest_between(at, i, begin, share, wp.where(inside == 1, begin, share)))
                inside = 0
            elif facing <= 0.0:
                begin = share
                inside = 1
            crossed = 1
            here = share + ON
        else:
            here = 1.0
    if inside == 1:
        best = deeper(best, deepest_between(at, i, begin, 1.0, begin))
    at.depth[i] = best[0]
    at.share[i] = best[1]
    at.crossing[i] = best[2]


@wp.struct
class ExitArrays:
    """N ways from inside meshes, in the frames of these, in newton's lengths."""

    count: wp.array(dtype=wp.int32)
    mesh: wp.array(dtype=wp.uint64)
    triangles: wp.array(dtype=wp.int32)  # of that mesh
    side: wp.array(dtype=wp.float32)  # -1: its other side counts
    start: wp.array(dtype=wp.vec3)
    way: wp.array(dtype=wp.vec3)
    share: wp.array(dtype=wp.float32)  # out, of the way; 0 where it does not end


@wp.kernel(module="axion_piercing", enable_backward=False)
def find_exits(at: ExitArrays):
    """Where each way comes out of its mesh; shells that it goes into meanwhile, as those of eyes, it has to leave, too.

    Of what is open it may go into shells that it never leaves: then it ends where it came out last.
    """
    i = wp.tid()
    if i >= at.count[0]:
        return
    length = wp.length(at.way[i])
    along = at.way[i] / length
    here, out = float(0.0), float(0.0)
    layers, crossings = int(1), int(0)
    while here < 1.0 and layers > 0 and crossings < CROSSINGS:
        crossings += 1
        hit = wp.mesh_query_ray(at.mesh[i], at.start[i] + here * at.way[i], along, (1.0 - here) * length)
        if hit.result:
            share = here + hit.t / length
            facing = wp.dot(wp.mesh_eval_face_normal(at.mesh[i], hit.face), along) * at.side[i]
            if hit.face >= at.triangles[i]:
                facing = -facing
            if facing > 0.0:
                layers -= 1
                out = share
            else:
                layers += 1
            here = share + ON
        else:
            here = 1.0
    at.share[i] = out


def lookup_exits(device):
    """The Lookup of ``find_exits``: of each way the share of it that is inside."""
    return Lookup(device, ExitArrays, find_exits, "share")


def lookup_piercings(device):
    """The Lookup of ``find_depths``: of each edge its depth, share and crossing."""
    return Lookup(device, PiercingArrays, find_depths, "depth", "share", "crossing")
