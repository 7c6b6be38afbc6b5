# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision detection through newton: body poses in, contacts out.

Contacts are found before they touch: at least 2 h |v_rel| ahead of the motion plus the way gravity makes in the step
(speculative contacts), and kept when their gap is below max(GAP_FLOOR x smallest half extent, 2 h |v_n| + |g| h^2).
Everything scales with body size; there is no fixed length.  (Of a body of 1 m, the floor is 2 cm.)

The newton call is recorded once as a graph; buffers grow and the call is repeated when a count exceeds its capacity.
"""

from operator import attrgetter
from types import SimpleNamespace

import numpy as np
import warp as wp

from .arrays import first_number, upload
from .contact_order import ContactOrder
from .contact_set import ContactSet, no_contacts, still_surface
from .contact_stage import ContactStage
from .convex_impacts import ConvexImpacts
from .crossing import crossings
from .flush import without_flush_edges
from .free_flight import FreeFlight
from .manifold import Manifolds, turn
from .mesh_corners import pairs_with_corners
from .mesh_detection import with_meshes
from .mesh_sides import Sides
from .model import sample_pairs
from .newton_kernels import load_newton, share_kernels, unroll_less
from .piercing import no_piercing, piercing
from .plausible import pair_number
from .recording import recorded
from .rotations import matrices
from .round_impacts import with_impacts
from .sunk import sunk_contacts, sunk_pairs
from .ways_apart import PAST

TRIANGLE_PAIRS = 1 << 16  # first capacity for mesh triangles near other shapes; grows
FARTHEST = 16.0  # of newton's units: bodies farther from the origin move it
_SIDES = attrgetter("body_a", "body_b", "point_a", "point_b", "margin_a", "margin_b", "pair")  # of Manifolds


class Collider:
    """Detects contacts for one CollisionModel, and remembers the last accepted ones.

    ``collide`` adds to what is remembered only pairs of meshes that are found in each other; all else ``accept`` does.
    So a step may be halved or retried freely.
    """

    jointed = None  # straight_flight.Held: bodies that joints hold; None: none are
    pieces = None  # (B,) int: bodies with the same number, but for -1, are one now (glued.py); None: none are
    alive = None  # (joints,) bool: which hold, and may keep bodies from colliding; None: all do
    turning = None  # (B,) bool: bodies that went through others in the step under way; None: none did
    sunk = None  # (Q,) int64 numbers of pairs of meshes that started inside each other (sunk.py); None: nobody looked
    ways = None  # (Q, 3) on which those come apart, see ``sunk_pairs``
    tolerance = 0.0  # [m] to which contacts hold: meshes less deep in each other are as any others that touch
    released = None  # (B,) bool: bodies let go where the step starts, which may be inside others; None: none are
    _looked_at = None  # the same in the detection there

    def __init__(self, model):
        self.model = model
        self._impacts = ConvexImpacts(model) if model.may_touch else None
        self.accepted = None
        self._pipeline = None
        meshes = int(np.sum(model.meshes.shape_mesh >= 0))  # growing records anew; unused room costs 50 ns a contact
        self._contact_capacity = 256 + 8 * len(model.shape_body) + 256 * meshes
        self._triangle_capacity = TRIANGLE_PAIRS
        self._state = model.newton_model.state() if model.may_touch else None
        self._stage = ContactStage(model, self._impacts.cores) if model.may_touch else None
        self._origin = None
        self._sides = Sides()  # of open meshes, at the step's start
        self._stuck = np.zeros(0, np.int64), np.zeros(0)  # pairs of shapes and depths, see ``pierced``
        self._near = np.zeros((0, 2), np.int64)  # pairs of shapes, one of them a mesh, at the step's start

    def collide(self, position, orientation, linear_velocity, angular_velocity, step, free=None, watched=None):
        """Contacts of a step of ``step`` seconds that starts at these poses and velocities.

        position (B, 3) [m] and orientation (B, 4, xyzw) of the Scene bodies' frames; linear_velocity (B, 3) [m/s] of
        the centres of mass given to build_model; angular_velocity (B, 3) [rad/s], world axes.  Returns a ContactSet.
        ``free`` (B,) bool: bodies that move freely in this step (default: all that ever do); contacts between two
        others are left out.  So they are between two that are not ``watched`` (B,) bool, in a look on the way of a step
        (default: all are, and a step begins).  Manifolds persist: see manifold_kernels.py.
        """
        if watched is None and self.model.meshes.bounds.size:
            self._sides.begin(self.accepted, np.array(position), matrices(orientation))
        self._move_origin(position)
        poses = position, orientation, linear_velocity, angular_velocity
        asked = None if watched is None else _with_one_of(free, watched)
        falling = self.model.movable if free is None else free
        self._looked_at = self.released if watched is None else None
        found = self._detect(self.accepted, *poses, step, free, watched, asked, falling)
        self._looked_at = None
        if watched is None and self.model.meshes.bounds.size:
            self._near = pairs_with_corners(self.model, self._pipeline.narrow_phase)
        return found

    def collide_faster(self, position, orientation, linear_velocity, angular_velocity, step, free, asked, faster):
        """``collide`` from the same poses with other velocities, of pairs with a body that is ``faster`` (B,) bool; of
        pairs of bodies (N,), (N,) that are not ``asked`` for, a function of them, contacts with meshes may be missing.
        """
        motion = linear_velocity, angular_velocity
        return self._detect(self.accepted, position, orientation, *motion, step, free, faster, asked)

    def collide_again(self, position, orientation, free=None, angular_velocity=None, moved=None, pairs=None):
        """Contacts at other poses, without foresight, persistence or memory: what touches there or nearly does.

        angular_velocity (B, 3): tells faces of two bodies apart, see contact_faces.py; nothing looks ahead with it.
        ``moved`` (B,) bool: contacts between two bodies that did not move are left out (default: all moved; so it is
        taken where meshes deform).  ``pairs`` (P,): numbers of pairs of bodies, see ``pair_number``: of others contacts
        with meshes may be missing.
        """
        if self.model.deforming is not None:
            moved = None
        if self._origin is None:
            self._move_origin(position)
        still = np.zeros((len(position), 3))
        turning = still if angular_velocity is None else angular_velocity
        among = None if pairs is None else _among(pairs, len(position))
        asked = _with_one_of(free, moved, among=among)
        return self._detect(None, position, orientation, still, turning, 0.0, free, moved, asked)

    def collide_near(self, position, orientation, linear_velocity, step, free, watched):
        """``collide_again``, with the foresight of ``collide``: also what is as far as bodies get in ``step`` seconds;
        watched (B,) bool: contacts between two others are left out.
        """
        still, asked = np.zeros((len(position), 3)), _with_one_of(free, watched)
        return self._detect(None, position, orientation, linear_velocity, still, step, free, watched, asked)

    def pierced(self, position, orientation):
        """Bodies of which one is in the other's meshes, whatever contacts say, as the last detection saw them near each
        other: (body (P,), other (P,), depth (P,) [m]).  Meshes by edges; boxes, hulls, round ones by more than half.
        """
        if self._pipeline is None or not self.model.meshes.bounds.size:
            return no_piercing()
        near, (pairs, depth) = pairs_with_corners(self.model, self._pipeline.narrow_phase), self._stuck
        found = piercing(self.model, near, position, matrices(orientation), self._sides)
        low, high = self.model.shape_body[np.stack(np.divmod(pairs, len(self.model.shape_body)))]
        return tuple(np.concatenate(each) for each in zip(found, (high, low, depth), strict=True))

    def pierced_near(self, position, orientation):
        """``pierced`` of the meshes near each other at the step's start alone, which are known without a detection."""
        return piercing(self.model, self._near, position, matrices(orientation), self._sides)

    def crossings(self, start, end):
        """``crossings`` of the pairs near each other at the step's start; start, end: position (B, 3) and orientation
        (B, 4) of the bodies.
        """
        if not len(self._near):
            return no_contacts()
        return crossings(self.model, self._near, *((position, matrices(q)) for position, q in (start, end)))

    def deform(self, time, step, at_end=False):
        """Give deforming meshes their shape at ``time`` [s], or at the end of a step of ``step`` seconds from it."""
        if self.model.deforming is not None:
            self.model.deforming.set(time, step, at_end)

    def accept(self, contacts):
        """Make ``contacts`` (of ``collide``) what the next ones are matched with: the step that used them is final."""
        self.accepted = contacts
        if self.sunk is not None and len(self.sunk):
            deep = contacts.gap < -np.maximum(PAST * contacts.manifolds.size[contacts.source], self.tolerance)
            still = np.isin(self.sunk, contacts.pair[deep])
            self.sunk, self.ways = self.sunk[still], self.ways[still]

    @property
    def origin(self):
        """(3,) what places are relative to, in the model's unit, or None before the first detection."""
        return self._origin

    def capacity(self):
        """Room for contacts, shape pairs and pairs of a triangle and a shape."""
        return self._contact_capacity, self._stage.pair_room() if self._stage else 0, self._triangle_capacity

    def recall(self, contacts, origin, capacity, sunk, ways):
        """Take over what another Collider of this model accepted, its ``origin``, ``capacity()``, ``sunk`` and ways."""
        self.accepted, self._origin, self.sunk, self.ways = contacts, origin, sunk, ways
        room = [max(own, other) for own, other in zip(self.capacity(), capacity, strict=True)]
        self._contact_capacity, pairs, self._triangle_capacity = room
        if self._stage is not None:
            self._stage.pair_room(pairs)

    def prepare(self):
        """Allocate what detection needs.  Returns the modules of newton's kernels that it will launch.

        [] where nothing can ever touch.  Those of the narrow phase are not among them: they come to be when launched.
        """
        if self._stage is None:
            return []
        if self._pipeline is None:
            self._allocate()
        parts = (self._pipeline, self._pipeline.broad_phase, self._pipeline._contact_sorter)
        return [wp.get_module(type(part).__module__) for part in parts if not isinstance(part, ContactOrder)]

    def _detect(self, old, position, orientation, linear, angular, step, free, watched, asked=None, falling=None):
        """The ContactSet at these poses; old: that whose manifolds persist, or None; asked: see ``with_meshes``.

        falling: (B,) bool, bodies that gravity moves, for contacts that are those of the impacts; None: of these poses.
        """
        stage, deforming = self._stage, self.model.deforming
        if stage is None:
            return no_contacts()
        fastest = deforming.fastest(matrices(orientation)) if deforming is not None and step > 0.0 else None
        stage.set_poses(position, orientation, linear, angular, step, self._origin, free, watched, fastest)
        stage.set_joined(self.pieces, self.alive, self.turning)
        if self._pipeline is None:
            self._allocate()
        if self._graphs is None:
            self._record()
        while not self._run(old, position, orientation, angular, step, asked):
            pass
        manifolds, surface = stage.read_manifolds(), None
        if deforming is not None and deforming.step > 0.0:
            surface = self._surface(manifolds, matrices(orientation))
            wp.capture_launch(self._graphs.choose)
        source, normal, gap, previous, face, face_normal = stage.read_chosen(len(manifolds))
        *sides, pair = _SIDES(manifolds)
        if len(source) < len(manifolds):
            *sides, pair = (values.take(source, 0) for values in (*sides, pair))
            surface = None if surface is None else [values.take(source, 0) for values in surface]
        surface = still_surface(len(source)) if surface is None else surface
        found = ContactSet(
            *sides, normal, gap, pair, previous, face, face_normal, *surface, np.zeros(len(source), np.int32),
            manifolds, source,
        )  # fmt: skip
        if falling is not None:
            pull = falling[:, None] * self.model.gravity
            flight = FreeFlight((position, orientation), (linear, angular), step, pull, found)
            found = self._impacts.change(with_impacts(found, self.model, flight), flight, self.jointed)
        return without_flush_edges(found, self.model, position, orientation)

    def _move_origin(self, position):
        """Places go to newton relative to an origin that stays near the moving bodies: float32 is finest near zero."""
        model = self.model
        focus = (position[model.movable] if model.movable.any() else position) / model.unit
        if self._origin is not None and np.abs(focus - self._origin).max() <= FARTHEST:
            return
        focus.sort(axis=0)
        median = slice((len(focus) - 1) // 2, len(focus) // 2 + 1)
        middle = focus[median].mean(axis=0) if len(focus) else np.zeros(3)
        if self._origin is None or np.abs(middle - self._origin).max() > FARTHEST:
            self._origin = np.round(middle)

    def _run(self, old, position, orientation, angular, step, asked):
        """Launch what is recorded.  False where something overflowed: then there is more room now for another try.

        step, asked: see ``with_meshes``.
        """
        stage, meshes, graphs = self._stage, self.model.meshes.bounds.size > 0, self._graphs
        wp.capture_launch(graphs.place)
        more_pairs, more_points = stage.renew_pairs(), stage.remember(old)
        if more_pairs and self.model.pairs is None:
            self._allocate()
        if more_pairs or more_points:
            graphs = self._record()
        wp.capture_launch(graphs.detect)
        if not meshes:
            wp.capture_launch(graphs.renew)
            wp.capture_launch(graphs.choose)
        found = first_number(self._contacts.rigid_contact_count)
        if self._grow(found):
            self._allocate()
            self._record()
            return False
        if stage.grow(found):
            self._record()
            return False
        if meshes:
            poses = position, matrices(orientation), angular
            fresh = stage.read_fresh(), self._pipeline
            found, self._stuck = with_meshes(self.model, *fresh, *poses, self._sides, step, asked)
            found = self._with_sunk(found, *poses[:2])
            if stage.write_fresh(found):
                self._record()
                return False
        if meshes or stage.sort_fresh():
            wp.capture_launch(graphs.renew)
            wp.capture_launch(graphs.choose)
        if stage.grow_manifolds():
            self._record()
            return False
        return True

    def _with_sunk(self, found, position, rotation):
        """Manifolds ``found`` and those of meshes that started inside each other, and still are (sunk.py)."""
        where = position, rotation, self._sides
        if self.sunk is None:
            pairs = pairs_with_corners(self.model, self._pipeline.narrow_phase)
            self.sunk, self.ways = sunk_pairs(self.model, pairs, *where)
        elif self._looked_at is not None and self._looked_at.any():
            self._look_for_sunk(*where)
        if not len(self.sunk):
            return found
        more = sunk_contacts(self.model, self.sunk, self.ways, *where)
        return Manifolds.join([found.take(~np.isin(found.pair, more.pair)), more])[0] if len(more) else found

    def _look_for_sunk(self, *where):
        """Add pairs of meshes that are inside each other where a body is let go."""
        pairs = pairs_with_corners(self.model, self._pipeline.narrow_phase)
        pairs = pairs[self._looked_at[self.model.shape_body[pairs]].any(axis=1)]
        pairs = pairs[~np.isin(pair_number(*pairs.T, len(self.model.shape_body)), self.sunk)]
        number, ways = sunk_pairs(self.model, pairs, *where)
        number, ways = np.concatenate([self.sunk, number]), np.concatenate([self.ways, ways])
        order = np.argsort(number)
        self.sunk, self.ways = number[order], ways[order]

    def _surface(self, manifolds, rotation):
        """``deforms``, ``shift`` and ``drift`` of all ``manifolds``; those on meshes that deform are not kept."""
        deforming = self.model.deforming
        body, way = deforming.surface(manifolds)
        manifolds.place[body >= 0] = np.inf
        drift = turn(rotation[body], way) / deforming.step
        upload(self._stage.chosen.drift, np.where(body == manifolds.body_a, 1.0, -1.0)[:, None] * drift)
        return body, still_surface(len(manifolds))[1] if deforming.at_end else way, drift

    def _allocate(self):
        """Allocate a pipeline at the present capacities, which has yet to be recorded."""
        model = self.model
        newton = load_newton()
        share_kernels()
        pairs = model.pairs if model.pairs is not None else sample_pairs(model, self._stage.pair_room())
        self._pipeline = newton.CollisionPipeline(
            model.newton_model,
            broad_phase="explicit",
            shape_pairs_filtered=wp.array(pairs, dtype=wp.vec2i, device=self._stage.device),
            deterministic=True,
            reduce_contacts=False,
            speculative_contact_gap_max=16.0 * model.extent / model.unit,
            rigid_contact_max=self._contact_capacity,
            max_triangle_pairs=self._triangle_capacity,
            contact_reduction_hashtable_size_factor=1.0,
            soft_contact_max=0,
            requires_grad=False,
            verify_buffers=False,
        )
        if self._stage.device.is_cpu:
            self._pipeline._contact_sorter = ContactOrder(self._contact_capacity)
        self._contacts, self._graphs = self._pipeline.contacts(), None
        narrow = self._pipeline.narrow_phase
        narrow.mesh_mesh_contacts_kernel = None  # edge_contacts.py is for these
        if self._stage.device.is_cpu:
            unroll_less(narrow)

    def _record(self):
        """Record one detection as graphs; each runs once before, because recording must not compile kernels."""
        stage = self._stage
        self._pipeline.shape_pairs_filtered = stage.wanted

        def place():
            stage.place(self._state)

        def detect():
            stage.prepare()
            self._pipeline.collide(self._state, self._contacts, dt=1.0)
            stage.take(self._contacts)

        self._graphs = SimpleNamespace()
        for name, launch in (("place", place), ("detect", detect), ("renew", stage.renew), ("choose", stage.choose)):
            launch()
            setattr(self._graphs, name, recorded(stage.device, launch))
        return self._graphs

    def _grow(self, count):
        """Raise the capacities that were exceeded, where newton found ``count`` contacts.  True when there were any."""
        grown = False
        if count >= self._contact_capacity:  # newton stops writing when full, so a full buffer may have lost some
            self._contact_capacity, grown = max(2 * self._contact_capacity, count), True
        narrow = self._pipeline.narrow_phase
        if narrow.triangle_pairs is not None:
            count = first_number(narrow.triangle_pairs_count)
            lost = first_number(self._contacts._reduction_overflow)
            if count >= self._triangle_capacity or lost:
                self._triangle_capacity, grown = max(4 * self._triangle_capacity, count), True
        return grown


def _among(pairs, count):
    """Function of pairs of bodies (N,), (N,): which are among those numbered ``pairs`` (P,)."""

    def asked(body_a, body_b):
        return np.isin(pair_number(body_a, body_b, count), pairs)

    return asked


def _with_one_of(*masks, among=None):
    """Function of pairs of bodies (N,), (N,): which have one in each of the masks (B,) bool; None: all bodies are.

    among: a function like it, for which they must hold as well; None: for all they do.
    """

    def asked(body_a, body_b):
        wanted = np.ones(len(body_a), bool) if among is None else among(body_a, body_b)
        for mask in masks:
            if mask is not None:
                wanted &= mask[body_a] | mask[body_b]
        return wanted

    return asked
