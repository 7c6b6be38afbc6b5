# SPDX-License-Identifier: GPL-3.0-or-later
"""A place well inside a concave mesh, that can stand for it.

The centre of a ring, a hook or a horseshoe lies in no part of it, and may lie in what it hangs on: asked on which side
of that surface the ring is, it says inside.  A place in the middle of the ring's own material never does.
"""

import numpy as np

HEART_INSIDE = 0.1  # of the smallest half extent: a centre so far inside stands for its mesh
LINES = 16  # that are looked along for the thickest place
TRIED = 4  # of the longest parts of those lines inside the mesh
INSIDE = 0.5  # of a turn: how often a surface with small holes goes around what is inside
RIM = 1e-9  # of a triangle, that a line may miss it by
SPAN = 1 << 15  # places times triangles at a time


def hearts(table, deforming, place, turn, center):
    """(S, 3) places that stand for the shapes: ``center`` (S, 3), or one well inside where that of a solid mesh is not.

    table: MeshTable; deforming (S,) bool: whose vertices move, so that no place stays inside; place (S, 3), turn
    (S, 3, 3): of the shapes; all in the bodies' frames [m].
    """
    out, known = center.copy(), {}
    for shape in np.flatnonzero((table.shape_mesh >= 0) & ~deforming):
        mesh = int(table.shape_mesh[shape])
        if table.sheet[mesh]:
            continue
        own = (center[shape] - place[shape]) @ turn[shape]
        key = mesh, *np.round(own / np.ptp(table.bounds[mesh], axis=0).max(), 6)
        if key not in known:
            some = slice(table.first_vertex[mesh], table.first_vertex[mesh + 1])
            corner = table.corner[table.first_triangle[mesh] : table.first_triangle[mesh + 1]] - some.start
            known[key] = heart(table.vertices[some], corner, own)
        out[shape] = place[shape] + turn[shape] @ known[key]
    return out


def heart(vertices, corner, center):
    """``center`` (3,) of a mesh of triangles (T, 3) between vertices (V, 3), or a place deeper inside where that is
    outside or near the surface [m].
    """
    tips = vertices[corner]
    enough = 0.5 * HEART_INSIDE * np.ptp(vertices, axis=0).min()
    if _depth(tips, center[None])[0] >= enough:
        return center
    places = np.concatenate([center[None], _middles(tips)])
    depth = _depth(tips, places)
    return places[np.argmax(depth)] if depth.max() > 0.0 else center


def _middles(tips):
    """(N, 3) middles of the longest parts, inside triangles (T, 3, 3), of lines square to some of them."""
    a, b, c = tips.swapaxes(0, 1)
    square = np.cross(b - a, c - a)
    area = np.linalg.norm(square, axis=1)
    length, middle, chosen = [np.zeros(0)], [np.zeros((0, 3))], []
    if area.sum() > 0.0:
        chosen = np.searchsorted(np.cumsum(area), (np.arange(LINES) + 0.5) / LINES * area.sum())
    for k in chosen:
        start, way = tips[k].mean(axis=0), square[k] / area[k]
        p, q, r = a - start, b - start, c - start
        # Seen along the way, the start is in a triangle where all three volumes have one sign.
        volumes = np.stack([np.cross(u, v) @ way for u, v in ((q, r), (r, p), (p, q))])
        facing = volumes.sum(axis=0)
        met = (facing != 0.0) & (volumes * np.sign(facing) >= -RIM * np.abs(facing)).all(axis=0)
        met[k] = True
        far = np.unique(np.einsum("ti,ti->t", p[met], np.cross(q[met], r[met])) / facing[met])
        length.append(np.diff(far))
        middle.append(start + 0.5 * (far[1:] + far[:-1])[:, None] * way)
    length, middle = np.concatenate(length), np.concatenate(middle)
    longest = np.argsort(-length, kind="stable")
    inside = np.flatnonzero(_turns(tips, middle[longest[: 4 * TRIED]]) > INSIDE)
    return middle[longest[inside[:TRIED]]]


def _depth(tips, places):
    """How far places (N, 3) are from the nearest of triangles (T, 3, 3); outside 0."""
    depth = np.zeros(len(places))
    way = np.roll(tips, -1, axis=1) - tips
    square = np.maximum(np.einsum("tsi,tsi->ts", way, way), np.finfo(float).tiny)
    normal = np.cross(way[:, 0], way[:, 1])
    size = np.maximum(np.linalg.norm(normal, axis=1), np.finfo(float).tiny)
    normal /= size[:, None]
    inward = np.cross(normal[:, None], way)
    for k in np.flatnonzero(_turns(tips, places) > INSIDE):
        apart = places[k] - tips
        share = np.clip(np.einsum("tsi,tsi->ts", apart, way) / square, 0.0, 1.0)
        far = np.linalg.norm(apart - share[:, :, None] * way, axis=2).min()
        over = (np.einsum("tsi,tsi->ts", apart, inward) >= 0.0).all(axis=1) & normal.any(axis=1)
        height = np.abs(np.einsum("ti,ti->t", apart[:, 0], normal))
        depth[k] = min(far, height[over].min(initial=np.inf))
    return depth


def _turns(tips, places):
    """How often triangles (T, 3, 3) go around places (N, 3), whichever way: 1 inside what is closed, 0 outside.

    Van Oosterom and Strackee 1983, "The Solid Angle of a Plane Triangle".
    """
    out, rows = np.empty(len(places)), max(1, SPAN // len(tips))
    for first in range(0, len(places), rows):
        a, b, c = (tips[None, :, k] - places[first : first + rows, None] for k in range(3))
        la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
        volume = np.einsum("nti,nti->nt", a, np.cross(b, c))
        dots = [np.einsum("nti,nti->nt", u, v) for u, v in ((a, b), (b, c), (c, a))]
        angle = np.arctan2(volume, la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb)
        out[first : first + rows] = np.abs(angle.sum(axis=1)) / (2.0 * np.pi)
    return out
