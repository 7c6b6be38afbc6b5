# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges in the valley between two shapes: where a slope ends on a floor, or a slab leans against the next one.

The union of the two has no edge there and no side, only the two tops; but the contact with each shape is found as if it
were alone, and what slides down the one meets the edge of the other and stops dead.  What moves is before the plane of
its contact with the one, so of the other only that counts which stands out of that plane.  A contact is hidden if

    the place p it touches is at the one:  no farther than AT_ONE_PLACE before its faces and the plane n1 . x = level
    the one has something before it:       n . x > n . p + FLUSH size      for some x of the one
    nothing of what it touches, the corner, edge or face where  n . x  is greatest, stands out:  n1 . x <= level + that

and gives way to a contact with the face that does stand out, at the same place of what moves; of several with the one
farthest below that place, as between any two convex shapes.  Two planes that both hold are all there is at a valley.
"""

import numpy as np

from .copies import replace
from .ledges import hidden_ledges, is_mesh, on_meshes
from .manifold import along_runs, turn, turn_back
from .reach import has_corners, reach_of_corners, reach_of_faces, reach_of_vertices

AT_ONE_PLACE = 0.05  # of the half extent of what moves, and of the gap: places along what is round are no better
CHANGED = ("point_a", "point_b", "margin_a", "margin_b", "normal", "gap", "previous", "face", "face_normal", "first")


def with_faces(contacts, touch, pairs, room, model, poses):
    """The ContactSet with contacts of faces in place of those of hidden edges.

    Args:
        touch: Touches of contacts, see flush.py.
        pairs: (edge (P,), plane (P,)) numbers in ``touch`` of two contacts of what moves, with different shapes.
        room: (K,) what stands out by less is nothing, for each of ``touch`` [m].
        poses: position (B, 3) and rotation (B, 3, 3) of the bodies' frames.
    """
    edge, plane = _at_one_place(contacts, touch, pairs, room, model, poses)
    if not len(edge):
        return contacts
    of_mesh, found = is_mesh(model)[touch.still[edge]], []
    if of_mesh.any():
        above = _mover_points(contacts, touch, edge[of_mesh], poses)
        found.append(hidden_ledges(touch, (edge[of_mesh], plane[of_mesh]), above, room, model, poses))
        edge, plane = edge[~of_mesh], plane[~of_mesh]
    if len(edge):
        found.append(_of_convex(contacts, touch, (edge, plane), room, model, poses))
    found = [np.concatenate(column) for column in zip(*found, strict=True)]
    return _changed(contacts, touch, found, model, poses) if len(found[0]) else contacts


def _of_convex(contacts, touch, pairs, room, model, poses):
    """What ``_farthest`` finds, of ``pairs`` of which the first are with convex shapes."""
    edge, plane = pairs
    first = reach_of_corners(model, touch.still[edge], touch.normal[edge], poses) - room[edge]
    out = reach_of_corners(model, touch.still[edge], touch.normal[plane], poses, touch.normal[edge], first)
    hidden = np.isin(edge, edge[out <= touch.level[plane] + room[edge]])
    edge, plane = edge[hidden], plane[hidden]
    # Every face of the shape before every plane: it must stand out of all of them to count.
    first = model.polygons.first
    run, offset = along_runs(np.diff(first)[touch.still[edge]])
    face, edge, plane = first[touch.still[edge]][run] + offset, edge[run], plane[run]
    high = reach_of_faces(model, face, touch.still[edge], touch.normal[plane], poses)
    seen = high > touch.level[plane] + room[edge]
    return _farthest(model, touch, contacts, (edge, face, seen), poses)


def _at_one_place(contacts, touch, pairs, room, model, poses):
    """Those of ``pairs`` whose first touches where the shape of the second is, which has something before it."""
    edge, plane = pairs
    solid, meshes = has_corners(model), is_mesh(model)
    corners = np.diff(model.polygons.start[model.polygons.first])
    flat = (np.diff(model.polygons.first) == 1) & (corners == 0)  # planes
    gap, normal, still = contacts.gap[touch.index], touch.normal, touch.still
    near = AT_ONE_PLACE * model.shape_size[touch.mover] + np.maximum(-gap, AT_ONE_PLACE * gap)
    fits = (solid | meshes)[still[edge]] & (solid | meshes | flat)[still[plane]]
    fits &= _dot(normal[plane], touch.place[edge]) <= touch.level[plane] + near[edge]
    edge, plane = edge[fits], plane[fits]
    at, mesh = np.empty(len(edge), bool), meshes[still[plane]]
    for mine, distance in ((~mesh, _outside), (mesh, _outside_mesh)):
        at[mine] = distance(model, still[plane[mine]], touch.place[edge[mine]], poses) <= near[edge[mine]]
    edge, plane, mesh = edge[at], plane[at], mesh[at]
    top = np.empty(len(edge))
    for mine, reaches in ((~mesh, reach_of_corners), (mesh, reach_of_vertices)):
        top[mine] = reaches(model, still[plane[mine]], normal[edge[mine]], poses)
    rises = flat[still[plane]] | (top > touch.level[edge] + room[edge])
    return edge[rises], plane[rises]


def _farthest(model, touch, contacts, faces, poses):
    """Of each hidden contact the face that counts and is farthest below what moves there.

    faces: (contact (Q,), face (Q,), whether it counts (Q,)).  Returns the M contacts that have such a face, its normal
    (M, 3) in its body's frame, and the gap (M,).
    """
    edge, face, seen = faces
    width = len(model.polygons.normal) + 1
    key, at = np.unique(edge * width + face, return_inverse=True)
    counts = np.ones(len(key), bool)
    np.logical_and.at(counts, at, seen)
    edge, face = np.divmod(key[counts], width)
    (position, rotation), body = poses, model.shape_body[touch.still[edge]]
    place, margin = _mover_points(contacts, touch, edge, poses)
    local = turn_back(rotation[body], place - position[body])
    gap = _dot(model.polygons.normal[face], local) - model.polygons.offset[face] - margin
    order = np.lexsort((face, -gap, edge))
    order = order[np.unique(edge[order], return_index=True)[1]]
    return edge[order], model.polygons.normal[face[order]], gap[order]


def _mover_points(contacts, touch, which, poses):
    """Places in the world (K, 3) of what moves at those of ``touch``, and the margins there (K,)."""
    (position, rotation), index, on_a = poses, touch.index[which], touch.on_a[which]
    mover = np.where(on_a, contacts.body_a[index], contacts.body_b[index])
    point = np.where(on_a[:, None], contacts.point_a[index], contacts.point_b[index])
    place = position[mover] + turn(rotation[mover], point)
    return place, np.where(on_a, contacts.margin_a[index], contacts.margin_b[index])


def _changed(contacts, touch, found, model, poses):
    """The ContactSet with contacts of the faces that ``_farthest`` has found."""
    (hidden, normal, gap), (position, rotation) = found, poses
    one = np.unique(touch.index[hidden], return_index=True)[1]  # of two bodies that move, either may be the one hidden
    hidden, normal, gap = hidden[one], normal[one], gap[one]
    index, on_a, body = touch.index[hidden], touch.on_a[hidden], model.shape_body[touch.still[hidden]]
    columns = {name: getattr(contacts, name).copy() for name in CHANGED}
    world, sign = turn(rotation[body], normal), np.where(on_a, 1.0, -1.0)
    for side, own, other, at in (("a", contacts.body_a, "b", on_a), ("b", contacts.body_b, "a", ~on_a)):
        k, of, n = index[at], body[at], world[at]
        margin = columns[f"margin_{side}"][k]
        point = position[own[k]] + turn(rotation[own[k]], columns[f"point_{side}"][k])
        point = point - (gap[at] + margin)[:, None] * n
        columns[f"point_{other}"][k] = turn_back(rotation[of], point - position[of])
        columns[f"margin_{other}"][k] = 0.0
    columns["normal"][index] = sign[:, None] * world
    columns["gap"][index] = gap
    columns["previous"][index] = -1
    columns["face"][index] = np.where(model.movable[body] | (contacts.face[index] == body), body, -1)
    columns["first"][index] = 0
    columns["face_normal"][index] = sign[:, None] * normal
    return replace(contacts, **columns)


def _dot(a, b):
    return np.einsum("ki,ki->k", a, b)


def _outside_mesh(model, shape, place, poses):
    return on_meshes(model, shape, place, poses)[1]


def _outside(model, shape, place, poses):
    """(K,) how far world places (K, 3) are before the faces of their shapes, the farthest of them; below 0 inside."""
    position, rotation = poses
    body = model.shape_body[shape]
    local = turn_back(rotation[body], place - position[body])
    run, offset = along_runs(np.diff(model.polygons.first)[shape])
    face = model.polygons.first[shape][run] + offset
    height = _dot(model.polygons.normal[face], local[run]) - model.polygons.offset[face]
    return np.maximum.reduceat(height, np.flatnonzero(offset == 0)) if len(height) else np.zeros(0)
