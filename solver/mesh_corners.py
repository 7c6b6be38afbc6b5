# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of corners with meshes.

Every vertex of a mesh that comes near another mesh becomes a contact of its own; newton's tests of two meshes are
switched off, for their edges see edge_contacts.py.  Of boxes and hulls newton looks at a face and one triangle at a
time, and leaves out corners of faces that lean by more than some degrees, or whose edge lies in a valley between two
triangles: what touches is a contact, too, and over flat parts of meshes what is near, as on the top of a box.
"""

import numpy as np

from .arrays import first_number, look
from .closest_points import closest_points
from .contact_set import no_manifolds
from .manifold import turn
from .mesh_contacts import AVERTED, DEEPEST, PAST, TOUCHING
from .mesh_features import features
from .mesh_interior import way_out
from .mesh_sides import faces_middle
from .mesh_valleys import NOISE, across_valleys, on_faces
from .shape_pairs import ShapePairs, meeting
from .tips import Tips

LEAN = np.radians(2.0)  # how far from those the normal may be


def pairs_with_corners(model, narrow):
    """(P, 2) int shapes, the lower one first, that newton's narrow phase saw near each other, one of them a mesh."""
    shapes, found = len(model.shape_body), [np.zeros(0, np.int64)]
    for buffer, count in (
        (narrow.shape_pairs_mesh_mesh, narrow.shape_pairs_mesh_mesh_count),
        (narrow.shape_pairs_mesh, narrow.shape_pairs_mesh_count),
    ):
        if buffer is not None and len(buffer):
            first, second = look(buffer)[: first_number(count)].T.astype(np.int64)
            found.append(np.minimum(first, second) * shapes + np.maximum(first, second))
    pairs = np.stack(np.divmod(np.unique(np.concatenate(found)), shapes), axis=1)
    return pairs[model.allowed(*model.shape_body[pairs].T)]


def corners(model, pairs, reach, position, rotation, sides):
    """Vertices of either shape of each pair that come near the mesh that is the other, as Manifolds without place and
    tilt; of other shapes than meshes only over what is flat, those that touch, and of round ones those that are inside.

    pairs (P, 2) int shapes, the lower one (body b of the contacts) first; reach (P,) [m]; position (B, 3) and rotation
    (B, 3, 3): the bodies' poses; sides: see ``faces_middle``.
    """
    table = model.meshes
    first, second = np.concatenate([pairs[:, ::-1], pairs]).T  # vertices of the first, surface of the second
    reach = np.tile(reach, 2)
    some = np.flatnonzero((table.shape_outline[first] >= 0) & (table.shape_mesh[second] >= 0))
    first, second, reach = first[some], second[some], reach[some]
    between = ShapePairs(model, first, second, reach, position, rotation)
    relative = between.relative
    depth = np.where(table.sheet[table.shape_mesh[second]], np.minimum(*model.shape_radius[[first, second]]), 0.0)
    around = (reach + depth)[:, None]  # what has sunk through an open mesh is outside its bounds
    low, high = table.bounds[table.shape_mesh[second]].swapaxes(0, 1)
    low, high, vertices = low - around, high + around, table.vertices
    run, vertex = meeting(
        table.first_vertex, table.shape_outline[first], vertices, vertices, *between.seen_from_first(low, high)
    )
    point = turn(relative[run], vertices[vertex]) + between.offset[run]
    near = np.all((point >= low[run]) & (point <= high[run]), axis=1)
    run, vertex, point = run[near], vertex[near], point[near]
    if not len(run):
        return no_manifolds()
    reach = reach[run]
    size = between.size[run]
    face, weight, surface, sign = closest_points(model, second[run], point, reach + between.lever[run])
    mesh = table.shape_mesh[second[run]]
    apart = point - surface
    length = np.linalg.norm(apart, axis=1)
    back = ~faces_middle(model, second, first, position, rotation, sides)[run]
    feature = on_faces(model, features(table, mesh, face, weight), back, length, size)
    normal = table.normal[feature]
    # An open surface has no inside: what lies beyond it is what lies across from the other shape's middle.
    outline, opened = table.shape_outline[first], ~table.closed[mesh]
    normal[back] = -normal[back]
    sign = np.where(opened, np.where(np.einsum("ki,ki->k", normal, apart) < 0.0, -1.0, 1.0), sign)
    clear = ~table.flat[feature] & (length > NOISE * size)  # nearer than that the direction is noise
    normal[clear] = (sign[clear] / length[clear])[:, None] * apart[clear]
    gap = sign * length - table.radius[outline[run]]
    sharp = table.sharp[outline[run]]
    near = gap < np.where(sharp, TOUCHING, -PAST) * size
    good = (face >= 0) & (gap <= reach) & ~((sign < 0) & table.border[feature]) & (sharp | near)
    if not good.any():
        return no_manifolds()
    sheet = np.flatnonzero(~table.closed[outline])
    turned = np.zeros(len(first), bool)
    turned[sheet] = ~faces_middle(model, first[sheet], second[sheet], position, rotation, sides)
    outward = turn(relative[run], table.vertex_normal[vertex])
    outward[turned[run]] = -outward[turned[run]]
    facing = -np.einsum("ki,ki->k", outward, normal)
    # A vertex amid a flat surface touches along that surface's normal only, amid a round one along those around it.
    least = np.where(table.vertex_flat[vertex], np.cos(np.arccos(table.vertex_cone[vertex]) + LEAN), -np.inf)
    good &= facing >= least
    tips = np.flatnonzero(good & ((sign < 0) | (length <= NOISE * size)) & ~table.vertex_flat[vertex])
    tips = tips[table.shape_mesh[first[run[tips]]] >= 0]
    if len(tips):
        triangle, way_up = table.first_triangle[mesh[tips]] + face[tips], np.where(back[tips], -1.0, 1.0)
        seen = Tips(model, between, run[tips], vertex[tips], point[tips])
        other, *beside = seen.face_beside(triangle, way_up, normal[tips], gap[tips])
        normal[tips[other]], surface[tips[other]], gap[tips[other]] = beside
    beyond = np.flatnonzero(good & (gap < -PAST * size) & table.closed[mesh] & (table.shape_mesh[first[run]] < 0))
    good[beyond[_on_the_far_side(model, between, run[beyond], surface[beyond], normal[beyond])]] = False
    averted = np.flatnonzero(good & (facing < AVERTED) & (gap < -PAST * size) & table.closed[mesh])
    if len(averted):  # it has pierced more than half, and leaves the way it came
        way = -outward[averted]
        far = way_out(model, second[run[averted]], point[averted], way)
        good[averted] = far <= DEEPEST * size[averted]
        normal[averted], surface[averted] = way, point[averted] + np.where(np.isfinite(far), far, 0.0)[:, None] * way
    level = sharp & table.flat[feature] & table.is_level(feature[0])
    good &= (outline[run] == table.shape_mesh[first[run]]) | level | near
    touch = np.flatnonzero(good & sharp & (np.abs(gap) <= TOUCHING * size))
    other, up, foot = across_valleys(model, feature[0][touch], back[touch], point[touch], size[touch])
    other = touch[other]
    suits = -np.einsum("ki,ki->k", outward[other], up) >= least[other]
    good = np.flatnonzero(good)
    surface, normal = np.concatenate([surface[good], foot[suits]]), np.concatenate([normal[good], up[suits]])
    good = np.append(good, other[suits])
    run = run[good]
    return between.manifolds(run, table.vertices[vertex[good]], surface, normal, table.radius[outline[run]])


def _on_the_far_side(model, between, run, surface, normal):
    """(K,) bool: which first shapes of pairs ``run`` (K,) have their middles outside the second ones, which are meshes,
    and behind these places (K, 3) of them with outward normals (K, 3): they came from elsewhere.
    """
    second, middle = between.second[run], turn(between.relative[run], between.own_centers(run)) + between.offset[run]
    behind = np.einsum("ki,ki->k", normal, middle - surface) < 0.0
    some = np.flatnonzero(behind)
    behind[some] = closest_points(model, second[some], middle[some], np.full(len(some), np.inf))[3] > 0.0
    return behind
