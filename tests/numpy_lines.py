# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts along lines on which round shapes lie (solver/line_contacts.py, face_lines.py) in NumPy, pair by pair."""

import numpy as np
from axion.solver.contact_arrays import straight_parts
from axion.solver.face_corners import FLAT
from axion.solver.line_contacts import HAIR, LEAST, LYING, PARALLEL, PLACES, TURNS
from axion.solver.manifold import Manifolds
from axion.solver.ordered import segments
from axion.solver.round_sides import LINE


def with_lines(model, found, position, rotation):
    """Manifolds ``found``, on the axes of round sides already, with the places of lines that they lack.

    position (B, 3), rotation (B, 3, 3): the bodies' poses.
    """
    straight, added = straight_parts(model), []
    begin, pairs = segments(found.pair)
    for start, end, pair in zip(begin, np.append(begin[1:], len(found)), pairs, strict=True):
        shapes = np.array(divmod(int(pair), len(model.shape_body)))[::-1]
        on_axis, run = (found.margin_a[start] > 0.0, found.margin_b[start] > 0.0), np.arange(start, end)
        if straight[shapes].all() and all(on_axis):
            added += _line(model, found, run, shapes, straight[shapes], position, rotation)
        elif any(on_axis) and not all(on_axis) and straight[shapes[on_axis.index(True)]] > 0.0:
            side = on_axis.index(True)
            added += _face_line(model, found, run, shapes, straight[shapes[side]], side, position, rotation)
    return Manifolds.join([found, *added])[0] if added else found


def _line(model, found, run, shapes, halves, position, rotation):
    first = run[0]
    bodies = np.array([found.body_a[first], found.body_b[first]])
    middle = [position[i] + rotation[i] @ model.shape_position[s] for i, s in zip(bodies, shapes, strict=True)]
    along = [rotation[i] @ model.shape_rotation[s][:, 2] for i, s in zip(bodies, shapes, strict=True)]
    sine = np.linalg.norm(np.cross(*along))
    if sine > PARALLEL:
        return []
    beside, reach = (middle[1] - middle[0]) @ along[0], abs(along[0] @ along[1]) * halves[1]
    low, high = max(-halves[0], beside - reach), min(halves[0], beside + reach)
    side, margins = model.shape_side[shapes, 0], np.array([found.margin_a[first], found.margin_b[first]])
    margins = np.where(side > 0.0, side, margins)
    radius, size = margins.min(), found.size[first]
    if high - low < LEAST * size:
        return []
    width = (high - low) * sine / (4.0 * np.sqrt(HAIR) * radius)
    capsule = (model.shape_side[shapes, 0] == 0.0).any()
    there = [(position[bodies[0]] + rotation[bodies[0]] @ found.point_a[m] - middle[0]) @ along[0] for m in run]
    normal, out = rotation[bodies[1]] @ found.normal[first], []
    for place, least in zip(range(PLACES), (0.0, 2.0, 1.0, 2.0, 0.0), strict=True):
        at = low + (high - low) * place / (PLACES - 1)
        ends, outside = halves, False
        for _ in range(TURNS + 1):
            outside |= bool((ends < 0.0).any())
            on_a = middle[0] + np.clip(at, -ends[0], ends[0]) * along[0]
            on_b = middle[1] + np.clip((on_a - middle[1]) @ along[1], -ends[1], ends[1]) * along[1]
            away = (on_a - on_b) / np.linalg.norm(on_a - on_b)
            ends = halves - np.where(side > 0.0, margins * np.abs([away @ along[0], away @ along[1]]), 0.0)
        apart = np.linalg.norm(on_a - on_b)
        new = not outside and (width > least or least == 0.0) and apart >= 0.5 * margins.sum()
        new &= not capsule or apart <= margins.sum() + LYING * radius
        new &= bool(np.min(np.abs(np.array(there) - (on_a - middle[0]) @ along[0])) >= LEAST * size)
        if new and (on_a - on_b) @ normal >= 0.5 * apart:
            point = found.take(run[:1])
            point.point_a = (on_a - position[bodies[0]])[None] @ rotation[bodies[0]]
            point.point_b = (on_b - position[bodies[1]])[None] @ rotation[bodies[1]]
            point.margin_a, point.margin_b = margins[:1], margins[1:]
            point.normal = ((on_a - on_b) / apart)[None] @ rotation[bodies[1]]
            out.append(point)
    return out


def _face_line(model, found, run, shapes, half, side, position, rotation):
    """side: 0 where the shape of body a lies on a face of b, 1 where it is the other way round."""
    first, (shape, ground) = run[0], (shapes[side], shapes[1 - side])
    bodies = np.array([found.body_a[first], found.body_b[first]])
    body, below = bodies[side], bodies[1 - side]
    upward = (1.0 - 2.0 * side) * (rotation[bodies[1]] @ found.normal[first])
    points, margins = ((found.point_a, found.margin_a), (found.point_b, found.margin_b))[side]
    faces = np.arange(model.polygons.first[ground], model.polygons.first[ground + 1])
    cosine = model.polygons.normal[faces] @ (rotation[below].T @ upward)
    if not len(faces) or cosine.max() <= FLAT:
        return []
    face = faces[cosine.argmax()]
    outward, offset = model.polygons.normal[face], model.polygons.offset[face]
    corners = model.polygons.corner[model.polygons.start[face] : model.polygons.start[face + 1]]
    own_axis, turned = model.shape_rotation[shape][:, 2], rotation[below].T @ rotation[body]
    axis, middle = turned @ own_axis, rotation[below].T @ (position[body] - position[below])
    middle = middle + turned @ model.shape_position[shape]
    lean, margin, capsule = axis @ outward, margins[first], model.shape_side[shape, 0] == 0.0
    high = middle @ outward - offset > (1.0 + LYING) * margin + abs(lean) * half
    if abs(lean) > LINE or (capsule and high):
        return []
    begin, end = -half, half
    for corner, following in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        inward = np.cross(outward, following - corner)
        inward *= np.sign(inward @ (corners.mean(axis=0) - corner))
        height, rise = inward @ (middle - corner), inward @ axis
        begin = max(begin, -height / rise) if rise > 0.0 else begin
        end = min(end, -height / rise) if rise < 0.0 else end
        end = begin if rise == 0.0 and height < 0.0 else end
    known = (points[run][margins[run] > 0.0] - model.shape_position[shape]) @ own_axis
    size, out = found.size[first], []
    for at in (begin, end) if end - begin >= LEAST * size else ():
        at += 0.0 if capsule else margin * lean
        if np.abs(known - at).min(initial=np.inf) < LEAST * size:
            continue
        there, point = middle + at * axis, found.take(run[:1])
        ends = [model.shape_position[shape] + at * own_axis, there - (there @ outward - offset) * outward]
        point.point_a, point.point_b = (each[None] for each in (ends if side == 0 else ends[::-1]))
        zero = np.zeros(1)
        point.margin_a, point.margin_b = (margins[run[:1]], zero) if side == 0 else (zero, margins[run[:1]])
        out.append(point)
    return out
