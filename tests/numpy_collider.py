# SPDX-License-Identifier: GPL-3.0-or-later
"""Detection through newton with everything else in NumPy, each pair looked at each time: the judge of Collider."""

import newton
import numpy as np
import warp as wp
from axion.solver.contact_geometry import SWING
from axion.solver.contact_set import ContactSet, no_manifolds
from axion.solver.convex_impacts import ConvexImpacts
from axion.solver.flush import without_flush_edges
from axion.solver.free_flight import FreeFlight
from axion.solver.manifold import GAP_FLOOR, Manifolds, turn, turn_back
from axion.solver.mesh_detection import with_meshes
from axion.solver.mesh_sides import Sides
from axion.solver.rotations import matrices
from axion.solver.round_impacts import with_impacts
from axion.solver.shapes import Plane
from numpy_corners import with_corners
from numpy_lines import with_lines
from numpy_manifolds import faces, renew, rounded
from numpy_rims import with_rims


class NumpyCollider:
    """Detects contacts for one CollisionModel, and remembers the last accepted ones.

    ``collide`` never changes what is remembered; only ``accept`` does.  So a step may be halved or retried freely.
    """

    def __init__(self, model):
        self.model = model
        self.accepted = None
        self._pipeline = None
        # Growing costs a second or so, because newton prepares its kernels anew; unused room costs 30 ns a contact.
        meshes = int(np.sum(model.meshes.shape_mesh >= 0))
        self._contact_capacity = 1024 + 16 * len(model.shape_body) + 256 * meshes
        self._pair_capacity = max(1024, 32 * len(model.shape_body))
        self._triangle_capacity = 1 << 16
        self._state = model.newton_model.state() if len(model.shape_body) else None
        self._origin = None
        self._planes = [s for s, shape in enumerate(model.shapes) if isinstance(shape, Plane)]

    def collide(self, position, orientation, linear_velocity, angular_velocity, step, free=None):
        """Contacts of a step of ``step`` seconds that starts at these poses and velocities.

        position (B, 3) [m] and orientation (B, 4, xyzw) of the Scene bodies' frames; linear_velocity (B, 3) [m/s] of
        the centres of mass given to build_model; angular_velocity (B, 3) [rad/s], world axes.  Returns a ContactSet.
        ``free`` (B,) bool: bodies that move freely in this step (default: all that ever do); contacts between two
        others are left out.  Manifolds persist: see manifold.py.
        """
        poses = (np.asarray(position, float), matrices(orientation))
        motion = (np.asarray(linear_velocity, float), np.asarray(angular_velocity, float))
        self._place(poses[0], orientation, *motion, step)
        self._turn = step * motion[1]
        self._angular, self._fall = motion[1], np.linalg.norm(self.model.gravity) * step**2
        self._ahead = step, motion[0]
        old = self.accepted
        manifolds, link = self._manifolds(no_manifolds() if old is None else old.manifolds, poses)
        if old is not None:
            index = np.full(len(old.manifolds) + 1, -1, np.intp)
            index[old.source] = np.arange(len(old))
            link = index[link]
        found = self._select(manifolds, link, *poses, *motion, step, free)
        falling = self.model.movable if free is None else free
        pull = falling[:, None] * self.model.gravity
        flight = FreeFlight((poses[0], np.asarray(orientation, float)), motion, step, pull, found)
        found = ConvexImpacts(self.model).change(with_impacts(found, self.model, flight), flight)
        return without_flush_edges(found, self.model, poses[0], np.asarray(orientation, float))

    def collide_again(self, position, orientation, free=None, angular_velocity=None):
        """Contacts at other poses, without foresight, persistence or memory: what touches there or nearly does.

        angular_velocity (B, 3): tells faces of two bodies apart, see contact_faces.py; nothing looks ahead with it.
        """
        poses, still = (np.asarray(position, float), matrices(orientation)), np.zeros((len(position), 3))
        self._place(poses[0], orientation, still, still, 0.0)
        turning = self._angular = still if angular_velocity is None else angular_velocity
        self._fall, self._turn, self._ahead = 0.0, None, (0.0, still)
        manifolds, link = self._manifolds(no_manifolds(), poses)
        found = self._select(manifolds, link, *poses, still, turning, 0.0, free)
        return without_flush_edges(found, self.model, poses[0], np.asarray(orientation, float))

    def deform(self, time, step, at_end=False):
        """Give deforming meshes their shape at ``time`` [s], or at the end of a step of ``step`` seconds from it."""
        if self.model.deforming is not None:
            self.model.deforming.set(time, step, at_end)

    def accept(self, contacts):
        """Make ``contacts`` (of ``collide``) what the next ones are matched with: the step that used them is final."""
        self.accepted = contacts

    def _manifolds(self, old, poses):
        """Those at (position, rotation), the old ones where a pair has hardly moved, and their links to ``old``."""
        fresh = rounded(self.model, self._detect(*poses), poses[1], self._angular)

        def completed(new):
            full = with_lines(self.model, with_corners(self.model, new, *poses, self._turn, self._swing_room), *poses)
            return with_rims(self.model, full, new, *poses, self._ahead[0] * self._angular)

        return renew(old, fresh, *poses, self.model.movable, completed)

    def _select(self, manifolds, link, position, rotation, linear_velocity, angular_velocity, step, free):
        """The contacts near enough to matter in this step."""
        a, b = manifolds.body_a, manifolds.body_b
        arm_a, arm_b = turn(rotation[a], manifolds.point_a), turn(rotation[b], manifolds.point_b)
        normal = turn(rotation[b], manifolds.normal)
        apart = position[a] - position[b] + arm_a - arm_b
        gap = np.einsum("ki,ki->k", normal, apart) - manifolds.margin_a - manifolds.margin_b
        # n . (v + w x (arm - center)) = n . (v - w x center) + w . (arm x n)
        origin_velocity = linear_velocity - np.cross(angular_velocity, turn(rotation, self.model.center_of_mass))
        way = origin_velocity[a] - origin_velocity[b]
        way += np.cross(angular_velocity[a], arm_a) - np.cross(angular_velocity[b], arm_b)
        closing = np.einsum("ki,ki->k", normal, way)
        deforms, shift, drift = self._surface(manifolds, rotation)
        closing += np.where(deforms == a, 1.0, -1.0) * np.einsum("ki,ki->k", normal, drift)
        mesh = self.model.meshes.shape_mesh[np.stack(np.divmod(manifolds.pair, len(self.model.shape_body)))] >= 0
        rate = np.where(
            mesh.any(axis=0), np.maximum(np.abs(closing), 0.5 * np.linalg.norm(way, axis=1)), np.abs(closing)
        )
        reach = 2.0 * step * rate + np.linalg.norm(self.model.gravity) * step**2
        near = gap <= np.maximum(GAP_FLOOR * manifolds.size, reach)
        swings = (gap < self._swing_room(manifolds)) & ~mesh.any(axis=0)
        near |= swings & np.isin(manifolds.pair, manifolds.pair[near])
        if free is not None:
            near &= np.asarray(free, bool)[a] | np.asarray(free, bool)[b]
        source = np.flatnonzero(near)
        spin = np.linalg.norm(angular_velocity, axis=1)
        face, face_normal, world = faces(self.model, manifolds.take(source), rotation, spin)
        gap[source] += np.einsum("ki,ki->k", world - normal[source], apart[source])
        normal[source], manifolds.normal[source] = world, turn_back(rotation[b[source]], world)
        return ContactSet(
            a[source],
            b[source],
            manifolds.point_a[source],
            manifolds.point_b[source],
            manifolds.margin_a[source],
            manifolds.margin_b[source],
            normal[source],
            gap[source],
            manifolds.pair[source],
            link[source],
            face,
            face_normal,
            deforms[source],
            shift[source],
            drift[source],
            np.zeros(len(source), np.int32),
            manifolds,
            source,
        )

    def _swing_room(self, manifolds):
        """(K,) [m] gap up to which contacts may close because their bodies turn about another one of theirs."""
        step, linear = self._ahead
        fastest = np.maximum(*(np.linalg.norm(linear[each], axis=1) for each in (manifolds.body_a, manifolds.body_b)))
        return np.minimum(SWING * manifolds.size, 2.0 * step * fastest + self._fall)

    def _surface(self, manifolds, rotation):
        """``deforms``, ``shift`` and ``drift`` of all ``manifolds``; those on meshes that deform are not kept."""
        deforming, count = self.model.deforming, len(manifolds)
        nothing = np.broadcast_to(np.zeros(3), (count, 3))
        if deforming is None or not deforming.step > 0.0:
            return np.full(count, -1), nothing, nothing
        body, way = deforming.surface(manifolds)
        manifolds.place[body >= 0] = np.inf
        drift = turn(rotation[body], way) / deforming.step
        return body, nothing if deforming.at_end else way, drift

    def _detect(self, position, rotation):
        """Run newton at the poses given to ``_place``; what it found as Manifolds, without place and tilt."""
        model = self.model
        if self._state is None:
            return no_manifolds()
        self._run()
        contacts, count = self._contacts, int(self._contacts.rigid_contact_count.numpy()[0])
        shape_b = contacts.rigid_contact_shape0.numpy()[:count].astype(np.int64)
        shape_a = contacts.rigid_contact_shape1.numpy()[:count].astype(np.int64)
        normal = contacts.rigid_contact_normal.numpy()[:count].astype(float)
        length = np.sqrt(np.einsum("ki,ki->k", normal, normal))
        body_a, body_b = model.shape_body[shape_a], model.shape_body[shape_b]
        pair = shape_b * len(model.shape_body) + shape_a
        good = length > 0.5
        if model.pairs is None:
            good &= model.allowed(body_a, body_b)
        normal /= np.where(good, length, 1.0)[:, None]
        fresh = Manifolds(
            pair,
            body_a,
            body_b,
            self._own_points(contacts.rigid_contact_point1.numpy()[:count], shape_a, position, rotation),
            self._own_points(contacts.rigid_contact_point0.numpy()[:count], shape_b, position, rotation),
            contacts.rigid_contact_margin1.numpy()[:count].astype(float) * model.unit,
            contacts.rigid_contact_margin0.numpy()[:count].astype(float) * model.unit,
            turn_back(rotation[body_b], normal),
            np.minimum(model.shape_size[shape_a], model.shape_size[shape_b]),
            np.minimum(model.shape_radius[shape_a], model.shape_radius[shape_b]),
            np.zeros((count, 3)),
            np.zeros((count, 3, 3)),
        )
        for side, shape in (("a", shape_a), ("b", shape_b)):  # what is a margin around a point has it there exactly
            margin, point = getattr(fresh, f"margin_{side}"), getattr(fresh, f"point_{side}")
            ball = (margin > 0.0) & (model.shape_half[shape].max(axis=1) <= (1.0 + 1e-6) * margin)
            point[ball] = model.shape_position[shape[ball]]
        if not good.all() or np.any(pair[1:] < pair[:-1]):
            index = np.flatnonzero(good)
            fresh = fresh.take(index[np.argsort(pair[index], kind="stable")])
        if not model.meshes.bounds.size:
            return fresh
        return with_meshes(model, fresh, self._pipeline, position, rotation, self._angular, Sides(), self._ahead[0])[0]

    def _place(self, position, orientation, linear_velocity, angular_velocity, step):
        """Hand poses and velocities to newton.

        The way of twice the step goes in as a velocity over a unit of time, so that one recorded graph serves all step
        lengths.  Places are relative to an origin that stays near the moving bodies: float32 is finest near zero.
        """
        model = self.model
        if self._state is None:
            return
        focus = position[model.movable] if model.movable.any() else position
        middle = np.median(focus, axis=0) / model.unit
        if self._origin is None or np.abs(middle - self._origin).max() > 16.0:
            self._origin = np.round(middle)
        way = 2.0 * step * np.asarray(linear_velocity, float)
        way = way + np.where(model.movable, step**2, 0.0)[:, None] * model.gravity
        if model.deforming is not None and step > 0.0:
            body, fastest = model.deforming.fastest(matrices(orientation))
            np.add.at(way, body, 2.0 * fastest)
        pose = np.concatenate([position / model.unit - self._origin, orientation], axis=1)
        motion = np.concatenate([way / model.unit, 2.0 * step * np.asarray(angular_velocity, float)], axis=1)
        self._state.body_q.assign(pose.astype(np.float32))
        self._state.body_qd.assign(motion.astype(np.float32))
        self._place_planes(position, matrices(orientation))

    def _place_planes(self, position, rotation):
        """Tell newton that each plane is at the foot of the perpendicular from the origin on to it."""
        model, target = self.model, self.model.newton_model.shape_transform
        place = target.numpy()
        for s in self._planes:
            body = model.shape_body[s]
            frame = rotation[body] @ model.shape_rotation[s]
            away = position[body] + rotation[body] @ model.shape_position[s] - model.unit * self._origin
            foot = (frame[:, 2] @ away) / model.unit * frame[:, 2]
            q = np.array(wp.quat_from_matrix(wp.mat33d(*frame.ravel())))
            place[s] = (*foot, *q)
        target.assign(place.astype(np.float32))

    def _own_points(self, points, shapes, position, rotation):
        """newton's points (K, 3) on ``shapes`` (K,), which are in the world on planes, in the bodies' frames [m]."""
        points, body = self.model.unit * points.astype(float), self.model.shape_body[shapes]
        on_plane = np.isin(shapes, self._planes)
        body, world = body[on_plane], points[on_plane] + self.model.unit * self._origin
        points[on_plane] = turn_back(rotation[body], world - position[body])
        return points

    def _run(self):
        """Launch the recorded detection; enlarge whatever overflowed and repeat until nothing is lost."""
        if self._pipeline is None:
            self._build()
        wp.capture_launch(self._graph)
        while self._grow():
            self._build()
            wp.capture_launch(self._graph)

    def _build(self):
        """Allocate a pipeline at the present capacities and record one detection."""
        model = self.model
        device = model.newton_model.device
        settings = {
            "broad_phase": "sap",
            "include_static_kinematic_pairs": False,
            "shape_pairs_max": self._pair_capacity,
        }
        if model.pairs is not None:
            pairs = wp.array(model.pairs.reshape(-1, 2), dtype=wp.vec2i, device=device)
            settings = {"broad_phase": "explicit", "shape_pairs_filtered": pairs}
        self._pipeline = newton.CollisionPipeline(
            model.newton_model,
            deterministic=True,
            reduce_contacts=False,
            speculative_contact_gap_max=16.0 * model.extent / model.unit,
            rigid_contact_max=self._contact_capacity,
            max_triangle_pairs=self._triangle_capacity,
            contact_reduction_hashtable_size_factor=1.0,
            soft_contact_max=0,
            requires_grad=False,
            verify_buffers=False,
            **settings,
        )
        self._pipeline.narrow_phase.mesh_mesh_contacts_kernel = None  # edge_contacts.py is for these
        self._contacts = self._pipeline.contacts()
        self._pipeline.collide(self._state, self._contacts, dt=1.0)  # loads the kernels: recording must not compile
        with wp.ScopedCapture(device=device) as capture:
            self._pipeline.collide(self._state, self._contacts, dt=1.0)
        self._graph = capture.graph

    def _grow(self):
        """Raise the capacities that were exceeded.  True when there were any."""
        grown = False
        count = int(self._contacts.rigid_contact_count.numpy()[0])
        if count >= self._contact_capacity:  # newton stops writing when full, so a full buffer may have lost some
            self._contact_capacity, grown = max(4 * self._contact_capacity, count), True
        if self.model.pairs is None:
            count = int(self._pipeline.broad_phase_pair_count.numpy()[0])
            if count >= self._pair_capacity:
                self._pair_capacity, grown = max(2 * self._pair_capacity, count), True
        narrow = self._pipeline.narrow_phase
        if narrow.triangle_pairs is not None:
            count = int(narrow.triangle_pairs_count.numpy()[0])
            lost = int(self._contacts._reduction_overflow.numpy()[0])
            if count >= self._triangle_capacity or lost:
                self._triangle_capacity, grown = max(4 * self._triangle_capacity, count), True
        return grown
