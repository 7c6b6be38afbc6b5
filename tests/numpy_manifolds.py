# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifolds renewed in NumPy, over all contacts at once: what the kernels of the solver are compared with."""

from dataclasses import replace

import numpy as np
from axion.solver.contact_arrays import straight_parts
from axion.solver.contact_geometry import ALIKE, ROUNDED
from axion.solver.face_corners import FLAT, REDUCED
from axion.solver.manifold import (
    NOISE,
    Manifolds,
    along_runs,
    locate,
    match,
    relative_place,
    segments,
    turn,
    turn_back,
)
from axion.solver.problem import tangents
from axion.solver.round_sides import BESIDE, LINE, STEEPEST, axis_points


def relative_tilt(body_a, body_b, rotation):
    """The orientation of a in b's frame (K, 3, 3)."""
    return np.einsum("kji,kjl->kil", rotation[body_b], rotation[body_a])


def face_each_other(kept, position, rotation, movable):
    """Manifolds that stay, the two points of each opposite each other: rather those of what stands moved."""
    a, b = kept.body_a, kept.body_b
    apart = relative_place(kept, position, rotation) - kept.point_b
    slid = apart - np.einsum("ki,ki->k", kept.normal, apart)[:, None] * kept.normal
    slid[np.linalg.norm(slid, axis=1) <= NOISE * kept.size] = 0.0
    if not slid.any():
        return kept
    on_a = (kept.margin_a == 0.0) & ((kept.margin_b > 0.0) | ~movable[a])
    on_b = ~on_a & (kept.margin_b == 0.0)
    back = turn_back(rotation[a], turn(rotation[b], slid))
    return replace(
        kept, point_a=kept.point_a - on_a[:, None] * back, place=kept.place - on_a[:, None] * slid,
        point_b=kept.point_b + on_b[:, None] * slid,
    )  # fmt: skip


def renew(old, fresh, position, rotation, movable, complete=None, threshold=2e-3):
    """The manifolds to use now: the old one where a pair has hardly moved since it was made, else the fresh one.

    A pair has hardly moved when the farthest way of its points a, seen from b, plus the relative angle times the
    smaller shape's radius is below ``threshold`` times the pair's smallest half extent.  Pairs that the detector no
    longer reports are dropped.  ``fresh`` comes without place and tilt (they are made here); position (B, 3) and
    rotation (B, 3, 3) are the bodies' poses.  ``complete``: Manifolds -> Manifolds, what is done to those that are new.
    Returns (manifolds, link): ``link`` (K,) is each point's index in ``old``, or -1.
    """
    if not len(old) or not len(fresh):
        fresh = _stamped(fresh, position, rotation, complete)
        return fresh, np.full(len(fresh), -1, np.intp)
    old_start, old_pair = segments(old.pair)
    # The Frobenius distance of two rotations is 2 sqrt(2) sin(angle / 2).
    tilt = relative_tilt(old.body_a[old_start], old.body_b[old_start], rotation) - old.tilt[old_start]
    swing = np.sqrt(0.5 * np.einsum("kij,kij->k", tilt, tilt)) * old.lever[old_start]
    way = relative_place(old, position, rotation) - old.place
    way = np.sqrt(np.maximum.reduceat(np.einsum("ki,ki->k", way, way), old_start))
    still = way + swing <= threshold * old.size[old_start]
    fresh_start, fresh_pair = segments(fresh.pair)
    keep_pair = still & (locate(old_pair, fresh_pair) >= 0)
    run = locate(fresh_pair, old_pair)
    kept = (run >= 0) & keep_pair[run]
    keep = np.flatnonzero(np.repeat(keep_pair, np.diff(np.r_[old_start, len(old)])))
    if kept.all():
        stay = old if len(keep) == len(old) else old.take(keep)
        return face_each_other(stay, position, rotation, movable), keep
    new = fresh.take(np.repeat(~kept, np.diff(np.r_[fresh_start, len(fresh)])))
    new = _stamped(new, position, rotation, complete)
    result, order = Manifolds.join([face_each_other(old.take(keep), position, rotation, movable), new])
    return result, np.concatenate([keep, match(new, old)])[order]


def _stamped(fresh, position, rotation, complete):
    """New manifolds, completed, with the relative poses at which they were made."""
    if complete is not None and len(fresh):
        fresh = complete(fresh)
    fresh.place = relative_place(fresh, position, rotation)
    fresh.tilt = relative_tilt(fresh.body_a, fresh.body_b, rotation)
    return fresh


def nearest(table, shape, direction):
    """The face of each shape (K,) whose normal is nearest to a direction (K, 3), and its cosine; -1 for none."""
    run, offset = along_runs(table.first[shape + 1] - table.first[shape])
    face = table.first[shape][run] + offset
    cosine = np.einsum("ki,ki->k", table.normal[face], direction[run])
    order = np.lexsort((-cosine, run))
    begins, owner = segments(run[order])
    best, found = np.full(len(shape), -1), np.full(len(shape), -1.0)
    best[owner], found[owner] = face[order][begins], cosine[order][begins]
    return best, found


def corners(table, face):
    """(K, m, 3) of each face (K,), the last one repeated, and how many there are (K,)."""
    count = table.start[face + 1] - table.start[face]
    index = np.minimum(np.arange(count.max(initial=1)), np.maximum(count[:, None] - 1, 0))
    return table.corner[np.minimum(table.start[face][:, None] + index, max(0, len(table.corner) - 1))], count


def with_deepest(model, found, position, rotation):
    """Manifolds ``found`` at the poses position (B, 3), rotation (B, 3, 3), with the corners that they lack."""
    begin, pair = segments(found.pair)
    full = np.diff(np.append(begin, len(found))) >= REDUCED
    first = begin[full]
    if not len(first):
        return found
    table, (shape_b, shape_a) = model.polygons, np.divmod(pair[full], len(model.shape_body))
    a, b = found.body_a[first], found.body_b[first]
    normal = turn(rotation[b], found.normal[first])
    face_a, cos_a = nearest(table, shape_a, -turn_back(rotation[a], normal))
    face_b, cos_b = nearest(table, shape_b, found.normal[first])
    flat = np.flatnonzero((cos_a > FLAT) & (cos_b > FLAT))
    if not len(flat):
        return found
    first, a, b, normal = first[flat], a[flat], b[flat], normal[flat]
    from_b = position[a] - position[b]
    side_a = _Side(table, face_a[flat], rotation[a], from_b, normal)
    side_b = _Side(table, face_b[flat], rotation[b], np.zeros_like(from_b), normal)
    point_a, point_b = turn(rotation[found.body_a], found.point_a), turn(rotation[found.body_b], found.point_b)
    apart = position[found.body_a] - position[found.body_b] + point_a - point_b
    gap = np.einsum("ki,ki->k", turn(rotation[found.body_b], found.normal), apart) - found.margin_a - found.margin_b
    least = np.minimum.reduceat(gap, begin)[full][flat]
    noise = NOISE * found.size[first]
    doubtful = np.flatnonzero(_bound(side_a, side_b) < least - noise)
    if not len(doubtful):
        return found
    place, deepest = _deepest(side_a.take(doubtful), side_b.take(doubtful))
    new = deepest < (least - noise)[doubtful]
    if not new.any():
        return found
    doubtful, place = doubtful[new], place[new]
    added = found.take(first[doubtful])
    on_a, on_b = (side.take(doubtful).lift(place) for side in (side_a, side_b))
    added.point_a = turn_back(rotation[a[doubtful]], on_a - from_b[doubtful])
    added.point_b = turn_back(rotation[b[doubtful]], on_b)
    added.margin_a, added.margin_b = np.zeros(len(added)), np.zeros(len(added))
    return Manifolds.join([found, added])[0]


def rounded(model, found, rotation, angular):
    """Manifolds whose points lie on the axes of round sides, without those aside of one that the pair lies on.

    rotation (B, 3, 3), angular (B, 3) of the bodies.
    """
    shape_b, shape_a = np.divmod(found.pair, len(model.shape_body))
    aside = np.zeros(len(found), bool)
    normal, spin = turn(rotation[found.body_b], found.normal), angular[found.body_a] - angular[found.body_b]
    for side, body, shape, outward in (("a", found.body_a, shape_a, -normal), ("b", found.body_b, shape_b, normal)):
        seen = (turn_back(rotation[body], vectors) for vectors in (outward, spin))
        point, margin = getattr(found, f"point_{side}"), getattr(found, f"margin_{side}")
        middle, rho = axis_points(model, shape, point, *seen)
        bare = margin == 0.0
        aside |= bare & _aside(model, shape, point, turn_back(rotation[body], outward))
        middle = np.where(bare[:, None], middle, _on_core(model, shape, point))
        setattr(found, f"point_{side}", middle)
        setattr(found, f"margin_{side}", np.where(bare, rho, margin))
    lies = found.pair[(found.margin_a > 0.0) | (found.margin_b > 0.0)]
    return found.take(np.flatnonzero(~(aside & np.isin(found.pair, lies))))


def _aside(model, shape, point, outward):
    """(K,) bool: points of round sides that lie along a normal ``outward``, and are not where it points."""
    axis, side, arm = model.shape_rotation[shape][:, :, 2], model.shape_side[shape], point - model.shape_position[shape]
    along, height = (np.einsum("ki,ki->k", axis, each) for each in (outward, arm))
    across = outward - along[:, None] * axis
    s, radius = np.linalg.norm(across, axis=1), side[:, 0] + side[:, 1] * height
    lies = (side[:, 0] > 0.0) & (s >= STEEPEST) & (radius > 0.0) & (np.abs(along + side[:, 1] * s) < LINE)
    ahead = arm - height[:, None] * axis - (radius / np.where(lies, s, 1.0))[:, None] * across
    return lies & (np.linalg.norm(ahead, axis=1) > BESIDE * radius)


def _on_core(model, shape, point):
    """(K, 3) the places on the straight parts of capsules that are nearest to points; of others the points."""
    half, place, axis = straight_parts(model)[shape], model.shape_position[shape], model.shape_rotation[shape][:, :, 2]
    height = np.clip(np.einsum("ki,ki->k", axis, point - place), -half, half)
    capsule = (half > 0.0) & (model.shape_side[shape, 0] == 0.0)
    return np.where(capsule[:, None], place + height[:, None] * axis, point)


class _Side:
    """One face of each of K pairs, seen along the contact normal: places (.., 2) across it, heights along it."""

    def __init__(self, table, face, rotation, origin, normal):
        corner, self.count = corners(table, face)
        self.axes = np.stack([*tangents(normal), normal], axis=1)  # (K, 3, 3)
        world = np.einsum("kij,kmj->kmi", rotation, corner) + origin[:, None]
        self.corner = np.einsum("kij,kmj->kmi", self.axes, world)  # (K, m, 3) place, height
        lean = np.einsum("kij,kj->ki", self.axes, turn(rotation, table.normal[face]))
        offset = table.offset[face] + np.einsum("ki,ki->k", turn(rotation, table.normal[face]), origin)
        self.slope, self.level = -lean[:, :2] / lean[:, 2:], offset / lean[:, 2]

    def take(self, index):
        """The pairs at ``index``."""
        out = object.__new__(_Side)
        for name, value in vars(self).items():
            setattr(out, name, value[index])
        return out

    def height(self, place):
        """(K, m) of the face's plane at places (K, m, 2)."""
        return np.einsum("kmi,ki->km", place, self.slope) + self.level[:, None]

    def lift(self, place):
        """World points (K, 3) of the face's plane at places (K, 2), from b's origin."""
        seen = np.concatenate([place[:, None], self.height(place[:, None])[:, :, None]], axis=2)[:, 0]
        return np.einsum("kji,kj->ki", self.axes, seen)

    def holds(self, place):
        """Whether places (K, m, 2) are on the face, (K, m); a face without corners is everywhere."""
        here, there = self.corner[..., :2], self._next()
        edge, arm = there - here, place[:, :, None] - here[:, None]
        side = edge[:, None, :, 0] * arm[..., 1] - edge[:, None, :, 1] * arm[..., 0]
        length = np.linalg.norm(edge, axis=-1)
        near = 1e-9 * length.max(axis=1)[:, None, None] * length[:, None]
        inside = (side >= -near).all(axis=2) | (side <= near).all(axis=2)
        return inside | (self.count == 0)[:, None]

    def _next(self):
        """(K, m, 2) the corner after each one; the last leads back to the first."""
        index = np.arange(1, self.corner.shape[1] + 1)
        index = np.where(index < self.count[:, None], index, 0)
        return np.take_along_axis(self.corner[..., :2], index[..., None], axis=1)

    def edges(self):
        """Starts and ends (K, m, 2) of the edges, the last one repeated."""
        return self.corner[..., :2], self._next()


def _bound(side_a, side_b):
    """(K,) what the gap of two faces cannot be below: a linear function is least at a corner of either face."""
    out = np.full(len(side_a.count), -np.inf)
    for side in (side_a, side_b):
        place = side.corner[..., :2]
        gap = (side_a.height(place) - side_b.height(place)).min(axis=1)
        out = np.maximum(out, np.where(side.count > 0, gap, -np.inf))
    return out


def _deepest(side_a, side_b):
    """Place (K, 2) across the normal and gap (K,) where two faces overlap deepest; inf where they do not."""
    (a0, a1), (b0, b1) = side_a.edges(), side_b.edges()
    d, e = (a1 - a0)[:, :, None], (b1 - b0)[:, None]
    across = d[..., 0] * e[..., 1] - d[..., 1] * e[..., 0]
    between = b0[:, None] - a0[:, :, None]
    size = np.linalg.norm(d, axis=-1) * np.linalg.norm(e, axis=-1)
    crossing = np.abs(across) > 1e-9 * size
    along = (between[..., 0] * e[..., 1] - between[..., 1] * e[..., 0]) / np.where(crossing, across, 1.0)
    cross = (a0[:, :, None] + np.where(crossing, along, 0.0)[..., None] * d).reshape(len(a0), -1, 2)
    place = np.concatenate([a0, b0, cross], axis=1)
    sound = np.concatenate(
        [
            np.broadcast_to((side_a.count > 0)[:, None], a0.shape[:2]),
            np.broadcast_to((side_b.count > 0)[:, None], b0.shape[:2]),
            crossing.reshape(len(a0), -1) & ((side_a.count > 0) & (side_b.count > 0))[:, None],
        ],
        axis=1,
    )
    gap = side_a.height(place) - side_b.height(place)
    gap = np.where(sound & side_a.holds(place) & side_b.holds(place), gap, np.inf)
    best = gap.argmin(axis=1)
    rows = np.arange(len(best))
    return place[rows, best], gap[rows, best]


def has(table, shape, direction):
    """Whether each shape (K,) has a face with this outward normal (K, 3), in the shape's body's frame."""
    run, offset = along_runs(table.first[shape + 1] - table.first[shape])
    face = table.first[shape][run] + offset
    alike = np.einsum("ki,ki->k", table.normal[face], direction[run]) > ALIKE
    return table.mesh[shape] | (np.bincount(run[alike], minlength=len(shape)) > 0)


def exact(table, shape, direction):
    """Directions (K, 3) in the frames of the bodies of shapes (K,); those of a face but for rounding are the face's."""
    run, offset = along_runs(table.first[shape + 1] - table.first[shape])
    face = table.first[shape][run] + offset
    alike = np.flatnonzero(np.einsum("ki,ki->k", table.normal[face], direction[run]) > ROUNDED)[::-1]
    out = direction.copy()
    out[run[alike]] = table.normal[face[alike]]  # the first of them is written last
    return out


def faces(model, manifolds, rotation, spin):
    """(body (K,), normal (K, 3) in that body's frame, normal (K, 3) in the world) of the face each contact touches.

    Body -1: no face, as where two edges cross, or a face that stands still.  Where both bodies have a face there, it is
    that of the one that is held, or else of the one that turns less: of a box that tips on another, edges touch.
    rotation (B, 3, 3) of the bodies; spin (B,) their angular speeds [rad/s].
    """
    a, b = manifolds.body_a, manifolds.body_b
    shape_b, shape_a = np.divmod(manifolds.pair, len(model.shape_body))
    on_b = manifolds.normal
    on_a = turn_back(rotation[a], turn(rotation[b], on_b))
    has_a, has_b = has(model.faces, shape_a, -on_a), has(model.faces, shape_b, on_b)
    held_a, held_b = ~model.movable[a], ~model.movable[b]
    first = np.where(held_a == held_b, spin[a] < spin[b], held_a)
    takes_a = has_a & (~has_b | first)
    body = np.where(takes_a, a, np.where(has_b, b, -1))
    body[(body >= 0) & ~model.movable[body] & (spin[body] == 0.0)] = -1
    on_a, on_b = -exact(model.faces, shape_a, -on_a), exact(model.faces, shape_b, on_b)
    world = np.where(takes_a[:, None], turn(rotation[a], on_a), turn(rotation[b], on_b))
    return body, np.where(takes_a[:, None], on_a, on_b), world
