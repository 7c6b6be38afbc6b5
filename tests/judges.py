# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges of a motion from its poses alone: overlap of the true shapes, distance of joint anchors, mechanical energy.

Nothing here asks the solver: no contact, no residual, no report.  float64 NumPy.
"""

from functools import cached_property

import numpy as np
from axion.solver import Box, Capsule, ConvexHull, Plane, Sphere
from axion.solver.rotations import matrices, rotate

PARALLEL = 1e-6  # shorter cross products of unit edges give no axis


class _Core:
    """A convex polyhedron, a segment or a point, rounded by a radius: a shape in its body's frame."""

    def __init__(self, shape):
        turn = matrices(shape.orientation)
        self.radius = 0.0
        if isinstance(shape, Box):
            signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
            corners, normals, directions = signs * shape.half_extents, np.eye(3), np.eye(3)
            edges = [(i, j) for i in range(8) for j in range(i) if np.abs(signs[i] - signs[j]).sum() == 2.0]
        elif isinstance(shape, ConvexHull):
            corners = shape.vertices
            normals, directions, edges = _outline(corners, shape.triangles)
        elif isinstance(shape, (Sphere, Capsule)):
            half = getattr(shape, "half_height", 0.0)
            corners = np.array([(0, 0, -half), (0, 0, half)], float)[: 2 if half else 1]
            normals, directions = np.zeros((0, 3)), np.array([(0, 0, 1.0)])[: len(corners) - 1]
            self.radius, edges = shape.radius, [(0, len(corners) - 1)]
        else:
            raise TypeError(f"no judge of overlap for {type(shape).__name__}")
        self.corners = corners @ turn.T + shape.position
        self.normals, self.directions, self.edges = normals @ turn.T, directions @ turn.T, np.array(edges, int)
        self.reach = float(np.linalg.norm(self.corners, axis=1).max()) + self.radius


def _outline(vertices, triangles):
    """Face normals, directions of edges (one of each parallel pair) and edges of a hull, triangulation left out."""
    corner = vertices[triangles]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    beside = {}
    for number, triangle in enumerate(triangles):
        for a, b in ((0, 1), (1, 2), (2, 0)):
            beside.setdefault(tuple(sorted((triangle[a], triangle[b]))), []).append(number)
    edges = [e for e, faces in beside.items() if abs(normal[faces[0]] @ normal[faces[-1]]) < 1.0 - 1e-9]
    along = np.array([vertices[b] - vertices[a] for a, b in edges])
    return _unlike(normal), _unlike(along / np.linalg.norm(along, axis=1)[:, None]), edges


def _unlike(directions):
    """Unit directions without those that are parallel to an earlier one."""
    kept = []
    for d in directions:
        if all(abs(d @ k) < 1.0 - 1e-9 for k in kept):
            kept.append(d)
    return np.array(kept)


class OverlapJudge:
    """Deepest overlap of all bodies of a scene that may touch.  Boxes, hulls, balls, capsules, planes."""

    def __init__(self, scene):
        self._bodies = scene.bodies
        self._planes = [(b, s) for b in scene.bodies for s in b.shapes if isinstance(s, Plane)]
        self._cores = [(i, _Core(s)) for i, b in enumerate(scene.bodies) for s in b.shapes if not isinstance(s, Plane)]
        joined = {frozenset((j.body_a, j.body_b)) for j in scene.joints if not j.collide_connected}
        self._pairs = np.array(
            [
                (m, n)
                for m, (i, _) in enumerate(self._cores)
                for n, (j, _) in enumerate(self._cores[:m])
                if self._touch(i, j) and frozenset((scene.bodies[i].name, scene.bodies[j].name)) not in joined
            ],
            int,
        ).reshape(-1, 2)

    def _touch(self, i, j):
        a, b = self._bodies[i], self._bodies[j]
        free = a.motion == "dynamic" or b.motion == "dynamic"
        groups = a.collision_group & b.collision_mask and b.collision_group & a.collision_mask
        return i != j and free and bool(groups)

    def deepest(self, position, orientation):
        """(depth [m], (name, name)) of a frame, depth 0 where nothing overlaps; position (B, 3), orientation (B, 4)."""
        turn = matrices(orientation)
        corners = [position[i] + core.corners @ turn[i].T for i, core in self._cores]
        best = (0.0, ())
        for body, plane in self._planes:
            up = rotate(body.orientation, rotate(plane.orientation, np.array([0.0, 0.0, 1.0])))
            origin = body.position + rotate(body.orientation, plane.position)
            for (i, core), place in zip(self._cores, corners, strict=True):
                if self._bodies[i].motion == "dynamic" and self._touch(i, self._bodies.index(body)):
                    depth = core.radius - float(((place - origin) @ up).min())
                    best = max(best, (depth, (self._bodies[i].name, body.name)))
        for m, n in self._near(position):
            (i, a), (j, b) = self._cores[m], self._cores[n]
            depth = _overlap(a, corners[m], turn[i], b, corners[n], turn[j], best[0])
            best = max(best, (depth, (self._bodies[i].name, self._bodies[j].name)))
        return best

    def _near(self, position):
        if not len(self._pairs):
            return self._pairs
        i, j = (self._owner[self._pairs[:, k]] for k in (0, 1))
        reach = self._reach[self._pairs].sum(axis=1)
        return self._pairs[np.linalg.norm(position[i] - position[j], axis=1) < reach]

    @cached_property
    def _owner(self):
        return np.array([i for i, _ in self._cores])

    @cached_property
    def _reach(self):
        return np.array([core.reach for _, core in self._cores])


def _overlap(a, corners_a, turn_a, b, corners_b, turn_b, enough):
    """How far one must move to part from the other [m], 0 or less where they are apart; exact above ``enough`` only."""
    round_off = a.radius + b.radius
    axes = np.concatenate([a.normals @ turn_a.T, b.normals @ turn_b.T])
    depth = _shared(corners_a, corners_b, axes) + round_off
    if depth <= enough:
        return depth
    edges_a, edges_b = a.directions @ turn_a.T, b.directions @ turn_b.T
    cross = np.cross(edges_a[:, None], edges_b[None]).reshape(-1, 3)
    length = np.linalg.norm(cross, axis=1)
    cross = cross[length > PARALLEL] / length[length > PARALLEL, None]
    depth = min(depth, _shared(corners_a, corners_b, cross) + round_off)
    if round_off == 0.0 or depth <= enough:
        return depth
    # Rounded shapes also part along the line of the nearest points of their cores, where these are apart.
    apart = _distance(a, corners_a, turn_a, b, corners_b, turn_b)
    return min(depth, round_off - apart) if apart > 0.0 else depth


def _shared(corners_a, corners_b, axes):
    """Smallest overlap of the two bodies' shadows on the axes [m]; inf without axes."""
    if not len(axes):
        return np.inf
    a, b = axes @ corners_a.T, axes @ corners_b.T
    return float(np.minimum(a.max(axis=1) - b.min(axis=1), b.max(axis=1) - a.min(axis=1)).min())


def _distance(a, corners_a, turn_a, b, corners_b, turn_b):
    """Distance of two cores, at least one of them a point or a segment [m]; 0 where they meet.

    It is reached at a corner of one and the other's inside, or at two edges.
    """
    least = min(_to_core(corners_a, b, corners_b, turn_b), _to_core(corners_b, a, corners_a, turn_a))
    p, q = corners_a[a.edges], corners_b[b.edges]
    return float(min(least, segments_apart(p[:, None, 0], p[:, None, 1], q[None, :, 0], q[None, :, 1]).min()))


def _to_core(points, core, corners, turn):
    """Least distance of points (N, 3) to the faces of a core right below them [m]; 0 inside, inf if there is none."""
    if not len(core.normals):
        return np.inf
    normals = core.normals @ turn.T
    normals = np.concatenate([normals, -normals])
    height = points @ normals.T - (normals @ corners.T).max(axis=1)  # (N, faces); pairs of parallel faces
    out = np.inf
    for point, above in zip(points, height, strict=True):
        if above.max() <= 0.0:
            return 0.0
        for face in np.nonzero(above > 0.0)[0]:
            foot = point - above[face] * normals[face]
            if ((normals @ foot - (normals @ corners.T).max(axis=1)) <= 1e-12).all():
                out = min(out, above[face])
    return out


def segments_apart(p0, p1, q0, q1):
    """Distances of segments p0 p1 and q0 q1, points if their ends are one, broadcast (..., 3) -> (...) [m].

    Ericson 2004, "Real-Time Collision Detection", section 5.1.9.
    """
    d, e, r = p1 - p0, q1 - q0, p0 - q0
    a, f, b = (d * d).sum(-1), (e * e).sum(-1), (d * e).sum(-1)
    c, g = (d * r).sum(-1), (e * r).sum(-1)
    span = a * f - b * b
    crossing = span > 1e-14 * a * f
    s = np.clip(np.where(crossing, (b * g - c * f) / np.where(crossing, span, 1.0), 0.0), 0.0, 1.0)
    t = np.clip(np.where(f > 0.0, (b * s + g) / np.where(f > 0.0, f, 1.0), 0.0), 0.0, 1.0)
    s = np.clip(np.where(a > 0.0, (b * t - c) / np.where(a > 0.0, a, 1.0), 0.0), 0.0, 1.0)
    return np.linalg.norm(r + s[..., None] * d - t[..., None] * e, axis=-1)


def overlaps(scene, trajectory, frames=None):
    """Deepest overlap [m] of each frame (F,), the start left out."""
    judge = OverlapJudge(scene)
    frames = range(1, len(trajectory.times)) if frames is None else frames
    return np.array([judge.deepest(trajectory.position[f], trajectory.orientation[f])[0] for f in frames])


def farthest_moved(scene, trajectory):
    """(F + 1,) the farthest that any corner of a body is from where it started [m]."""
    out = np.zeros(len(trajectory.times))
    for i, body in enumerate(scene.bodies):
        corners = [_Core(shape).corners for shape in body.shapes if not isinstance(shape, Plane)]
        if not corners:
            continue
        turn = matrices(trajectory.orientation[:, i])
        place = trajectory.position[:, i, None] + np.concatenate(corners) @ turn.transpose(0, 2, 1)
        out = np.maximum(out, np.linalg.norm(place - place[0], axis=-1).max(axis=-1))
    return out


def rms_speed(scene, trajectory):
    """(F + 1,) root mean square over the dynamic bodies of the speed of their centres of mass [m/s]."""
    free = [i for i, body in enumerate(scene.bodies) if body.motion == "dynamic"]
    return np.sqrt((trajectory.linear_velocity[:, free] ** 2).sum(axis=-1).mean(axis=-1))


def anchor_distances(scene, trajectory):
    """(J, F + 1) distance of the two anchor points of each joint that locks x, y and z, or holds a distance [m]."""
    position, orientation = trajectory.position, trajectory.orientation
    out = []
    for joint in scene.joints:
        ends, places = [], (joint.position, joint.position) if joint.anchors is None else joint.anchors
        for name, place in zip((joint.body_a, joint.body_b), places, strict=True):
            if name is None:
                ends.append(np.broadcast_to(place, position[:, 0].shape))
                continue
            i = scene.index(name)
            start, turn = scene.bodies[i].start()
            local = matrices(turn).T @ (place - start)
            ends.append(position[:, i] + rotate(orientation[:, i], np.broadcast_to(local, position[:, i].shape)))
        out.append(np.linalg.norm(ends[0] - ends[1], axis=-1))
    return np.array(out)


def reported_energies(trajectory):
    """(F,) kinetic and potential energy of each frame, as its report has it [J]."""
    return np.array([report.kinetic_energy + report.potential_energy for report in trajectory.reports])


def energies(scene, trajectory):
    """(F + 1,) kinetic and potential energy of the dynamic bodies [J]: m v^2 / 2 + w I w / 2 - m g x."""
    total = np.zeros(len(trajectory.times))
    for i, body in enumerate(scene.bodies):
        if body.motion != "dynamic":
            continue
        mass, center, inertia = body.mass_properties()
        turn = matrices(trajectory.orientation[:, i])
        place = trajectory.position[:, i] + turn @ center
        spin = np.einsum("fji,fj->fi", turn, trajectory.angular_velocity[:, i])
        total += 0.5 * mass * (trajectory.linear_velocity[:, i] ** 2).sum(axis=1)
        total += 0.5 * np.einsum("fi,ij,fj->f", spin, inertia, spin) - mass * place @ scene.gravity
    return total


def largest_rise(energy):
    """The most by which the energy of a frame is above the least of the frames before it [J]."""
    return float(np.max(energy[1:] - np.minimum.accumulate(energy)[:-1]))
