# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifolds and contacts of one detection, made by recorded kernels over arrays that stay.

    place      poses and velocities for newton, and whether the list of near pairs still holds
    prepare    which remembered manifolds stay
    (newton)   looks at the shape pairs in ``wanted``
    take       its contacts, in double precision
    renew      the manifolds: those that stay and the fresh ones, sorted by shape pair
    choose     what the step is told of each point

NumPy sees the results only.  Where meshes are about, the host works on what was taken before it is renewed.
"""

import numpy as np
import warp as wp

from .arrays import download, fetch, of_arrays, upload, usual_room
from .contact_arrays import (
    ADDED,
    CORNERS,
    FRESH,
    KEPT,
    OLD,
    SLID,
    STEP,
    UNIT,
    UNSORTED,
    ChosenArrays,
    FoundArrays,
    FreshArrays,
    GapArrays,
    OldArrays,
    PairLists,
    PointArrays,
    PoseArrays,
    ShapeArrays,
    StageArrays,
    StateArrays,
    columns,
    pose_arrays,
    read_points,
    shape_arrays,
    write_points,
)
from .contact_geometry import (
    MODULE,
    asked_for,
    closes_by_turning,
    closing_of,
    face_along,
    gap_of,
    has_mesh,
    reach_of,
    speed_at,
    swings_down,
    touched_body,
    turned_back,
)
from .flags import places
from .least_depth import take_least_depth
from .lost_contacts import LostContacts
from .manifold import GAP_FLOOR
from .manifold_kernels import (
    choose_pairs,
    judge_fresh,
    judge_old,
    take_fresh,
    write_fresh,
    write_kept,
)
from .mathx.real import real_types
from .mathx.rotation import rotation_functions
from .near_pairs import NearPairs
from .plane_feet import place_planes
from .round_contacts import count_lines, has_round_sides, see_from_axes, write_lines
from .shapes import ConvexHull

step_slot, unit_slot, old_slot, kept_slot, added_slot, unsorted_slot = (
    wp.constant(slot) for slot in (STEP, UNIT, OLD, KEPT, ADDED, UNSORTED)
)
matrix = rotation_functions(real_types(wp.float64)).matrix
half, two, floor = (wp.constant(wp.float64(value)) for value in (0.5, 2.0, GAP_FLOOR))
FEWEST = 256  # contacts to make room for; unused room costs some ns each in every kernel
kernel = wp.kernel(module=MODULE, enable_backward=False)


@kernel
def place_bodies(stage: StageArrays, poses: PoseArrays, state: StateArrays):
    """Poses for newton, relative to the origin in its unit, and ways of twice the step as velocities over one second.

    So one recorded graph serves all step lengths.
    """
    i = wp.tid()
    q = poses.orientation[i]
    rotation = matrix(wp.quatd(q[0], q[1], q[2], q[3]))
    step = stage.settings[step_slot]
    unit = stage.settings[unit_slot]
    poses.rotation[i] = rotation
    poses.origin_velocity[i] = poses.linear[i] - wp.cross(poses.angular[i], rotation * poses.center[i])
    way = two * step * poses.linear[i] + poses.surface_way[i]
    if poses.movable[i]:
        way += step * step * stage.vectors[0]
    place = wp.vec3(poses.position[i] / unit - stage.vectors[1])
    state.body_q[i] = wp.transform(place, wp.quat(float(q[0]), float(q[1]), float(q[2]), float(q[3])))
    state.body_qd[i] = wp.spatial_vector(wp.vec3(way / unit), wp.vec3(two * step * poses.angular[i]))


@kernel
def judge_contacts(
    stage: StageArrays, poses: PoseArrays, shapes: ShapeArrays, points: PointArrays, chosen: ChosenArrays, lanes: int
):  # fmt: skip
    """Gap, and whether it closes fast enough to matter in this step."""
    # There may be too little room for all of them.
    count = wp.min(stage.counts[kept_slot] + stage.counts[added_slot], points.pair.shape[0])
    for k in range(wp.tid(), count, lanes):
        normal = poses.rotation[points.body_b[k]] * points.normal[k]
        gap = gap_of(points, k, poses)
        closing = closing_of(points, k, poses) + wp.dot(normal, chosen.drift[k])
        chosen.normal[k] = normal
        chosen.gap[k] = gap
        # Of meshes what is beside the way, as far as that leads, counts too: a body on one corner turns about it.
        if has_mesh(shapes, points.pair[k]):
            closing = wp.max(wp.abs(closing), half * speed_at(points, k, poses))
        chosen.closes[k] = gap <= wp.max(floor * points.size[k], reach_of(stage, closing))
        if not chosen.closes[k]:
            chosen.closes[k] = closes_by_turning(stage, poses, shapes, points, k, gap)


@kernel
def choose_contacts(
    stage: StageArrays, poses: PoseArrays, shapes: ShapeArrays,
    points: PointArrays, old: OldArrays, chosen: ChosenArrays, lanes: int,
):  # fmt: skip
    """Whether each is near enough to matter in this step, and whose face is touched."""
    count = wp.min(stage.counts[kept_slot] + stage.counts[added_slot], points.pair.shape[0])
    for k in range(wp.tid(), count, lanes):
        a = points.body_a[k]
        b = points.body_b[k]
        normal = chosen.normal[k]
        near = chosen.closes[k] or swings_down(stage, poses, shapes, points, k, count, chosen)
        near = near and asked_for(poses, shapes, a, b)
        chosen.near[k] = near
        chosen.previous[k] = -1
        if chosen.link[k] >= 0:
            chosen.previous[k] = old.contact[chosen.link[k]]
        if near:
            on_a = turned_back(poses.rotation[a], normal)
            body, takes_a = touched_body(points, k, poses, shapes, on_a, points.normal[k])
            # Two walls whose normals are off by rounding are a wedge: what slides between them squeezes itself fast.
            if takes_a:
                on_a = -face_along(shapes, int(points.pair[k] % wp.int64(shapes.count)), -on_a)
                normal = poses.rotation[a] * on_a
                points.normal[k] = turned_back(poses.rotation[b], normal)
            else:
                points.normal[k] = face_along(shapes, int(points.pair[k] // wp.int64(shapes.count)), points.normal[k])
                normal = poses.rotation[b] * points.normal[k]
            chosen.normal[k] = normal
            chosen.gap[k] = gap_of(points, k, poses)
            chosen.face[k] = body
            chosen.face_normal[k] = points.normal[k]
            if takes_a:
                chosen.face_normal[k] = on_a


class ContactStage:
    """The arrays and kernels of one CollisionModel, for one Collider."""

    def __init__(self, model, cores):
        """cores: HostTable of CoreArrays of the model's shapes."""
        self.model, self.device = model, model.newton_model.device
        self._lost = LostContacts(model, cores)
        self.poses, self.shapes = pose_arrays(model, self.device), shape_arrays(model, self.device)
        self.shared = columns(StageArrays, 0, self.device, counts=7, settings=3, vectors=2)
        upload(self.shared.settings, (0.0, 0.0, model.unit))
        self.gravity, self._reported = model.pull, model.newton_model.shape_gap
        self._reports = wp.clone(self._reported)
        listed = None if model.pairs is None else wp.array(model.pairs, dtype=wp.vec2i, device=self.device)
        self.near = NearPairs(listed, self.poses, self.shapes, self.device)
        self.wanted = wp.zeros_like(self.near.near)
        self._round = has_round_sides(model)
        self._outlined = self._round or bool(model.polygons.many.any())
        self._hulls = any(isinstance(shape, ConvexHull) for shape in model.shapes)
        self._everyone, self._counts = np.ones(len(model.names), bool), None
        self._pieces = self._turning = self._pairs = None
        room = max(FEWEST, usual_room(int(model.movable.sum()))["contacts"])
        self._make_fresh_room(room)
        self._make_room(room)

    def _make_fresh_room(self, contacts):
        """Allocate for so many contacts of one detection."""
        self.found = columns(PointArrays, contacts, self.device)
        more = {"count": contacts + 1, "start": contacts + 1}
        more |= dict.fromkeys(("corner_a", "corner_b"), CORNERS * contacts)
        self.fresh = columns(FreshArrays, contacts, self.device, **more)

    def _make_room(self, points):
        """Allocate for so many points of manifolds; what was remembered must be handed over anew."""
        self._remembered, self._manifolds = None, None
        self.points, self.remembered = (columns(PointArrays, points, self.device) for _ in range(2))
        self.old = columns(OldArrays, points, self.device, count=points + 1, start=points + 1)
        self.chosen = columns(ChosenArrays, points, self.device)

    def set_poses(self, position, orientation, linear, angular, step, origin, free, watched, surface=None):
        """Hand over what a detection starts from; see ``Collider``.  surface: (bodies, ways (M, 3)) or None."""
        poses = self.poses
        for array, values in (
            (poses.position, position),
            (poses.orientation, orientation),
            (poses.linear, linear),
            (poses.angular, angular),
            (poses.free, self._everyone if free is None else free),
            (poses.watched, self._everyone if watched is None else watched),
        ):
            upload(array, values)
        if self.model.deforming is not None:
            ways = np.zeros((len(self.model.names), 3))
            if surface is not None:
                np.add.at(ways, surface[0], 2.0 * surface[1])
            upload(poses.surface_way, ways)
        upload(self.shared.settings, (step, self.gravity * step**2))
        upload(self.shared.vectors, (self.model.gravity, origin))

    def set_joined(self, pieces, alive, turning):
        """Hand over ``Collider.pieces``, ``Collider.alive`` and ``Collider.turning``."""
        if pieces is not self._pieces:
            upload(self.poses.piece, np.full(len(self._everyone), -1) if pieces is None else pieces)
            self._pieces = pieces
        if turning is not self._turning:
            upload(self.poses.turning, ~self._everyone if turning is None else turning)
            self._turning = turning
        if alive is not None and len(self.model.breakable):
            upload(self.poses.held_apart, self.model.held_apart(alive))

    def remember(self, contacts):
        """Match with the ContactSet last accepted, or with nothing.  True where arrays grew: record anew."""
        grown = False
        if contacts is not None and contacts is not self._remembered:
            whole = contacts.manifolds
            if len(whole) > len(self.points.pair):
                self._make_room(2 * len(whole))
                grown = True
            if whole is not self._manifolds:
                write_points(self.remembered, whole)
            number = np.full(len(whole), -1, np.int32)
            number[contacts.source] = np.arange(len(contacts))
            upload(self.old.contact, number)
            self._remembered, self._manifolds = contacts, whole
        self._set_counts((0 if contacts is None else len(contacts.manifolds), 0, 0, 0, 0, 0, 0))
        return grown

    def place(self, state):
        """Launch the handing over of poses to a newton state."""
        shapes = self.model.newton_model.shape_transform
        target = of_arrays(StateArrays, body_q=state.body_q, body_qd=state.body_qd, shape_transform=shapes)
        self._launch(place_bodies, len(self.model.names), self.shared, self.poses, target)
        self._launch(place_planes, len(self.shapes.planes), self.shared, self.poses, self.shapes, target)
        self.near.check(self.shared)

    def renew_pairs(self):
        """List the pairs that are near anew, where a shape moved far.  True where arrays grew: record anew."""
        grown = self.near.renew()
        if grown:
            self.wanted = wp.zeros_like(self.near.near)
        return grown

    def pair_room(self, room=0):
        """Number of near pairs there is room for, after making room for ``room``."""
        if room > len(self.wanted) and not self.near.all:
            self.near.make_room(room)
            self.wanted = wp.zeros_like(self.near.near)
        return len(self.wanted)

    def prepare(self):
        """Launch the judgement of what is remembered, and of what newton is to look at."""
        remembered = self.remembered, self.old
        self._loop(judge_old, len(self.old.count), self.shared, self.poses, self.shapes, *remembered)
        self._pairs = of_arrays(PairLists, near=self.near.near, wanted=self.wanted)
        gaps, where = of_arrays(GapArrays, reported=self._reported), (self.shared, self.poses, self.shapes)
        self._loop(choose_pairs, len(self.wanted), *where, *remembered, self._pairs, gaps)

    def take(self, contacts):
        """Launch the reading of newton's Contacts."""
        names = {"count": "count", "normal": "normal"}
        names |= {f"{name}_{k}": f"{name}{k}" for name in ("shape", "point", "margin") for k in range(2)}
        arrays = {own: getattr(contacts, f"rigid_contact_{name}") for own, name in names.items()}
        found, unit, room = of_arrays(FoundArrays, **arrays), wp.float64(self.model.unit), len(self.found.pair)
        taken = self.poses, self.shapes, self.found, self.fresh
        self._loop(take_fresh, room, self.shared, found, unit, *taken)
        self._lost.find(self._loop, self.shared, self.poses, self.shapes, self._pairs, found, self.found, self.fresh)
        wp.copy(self._reported, self._reports)  # as it was before ``choose_pairs``
        if self._hulls:
            self._loop(take_least_depth, room, self.shared, *taken)

    def renew(self):
        """Launch the making of the manifolds."""
        shared, remembered, old, found, fresh = self.shared, self.remembered, self.old, self.found, self.fresh
        taken = shared, self.poses, self.shapes, found, fresh
        if self._round:
            self._loop(see_from_axes, len(found.pair), *taken)
        self._loop(judge_fresh, len(fresh.count), shared, self.poses, self.shapes, remembered, old, found, fresh)
        if self._outlined:
            self._loop(count_lines, len(found.pair), *taken)
        wp.utils.array_scan(old.count, old.start, inclusive=False)
        wp.utils.array_scan(fresh.count, fresh.start, inclusive=False)
        rest = remembered, old, found, fresh, self.points, self.chosen
        self._loop(write_kept, len(self.points.pair), shared, self.poses, *rest)
        if self._outlined:
            self._loop(write_lines, len(found.pair), shared, self.poses, self.shapes, *rest)
        self._loop(write_fresh, len(found.pair), shared, self.poses, *rest)

    def choose(self):
        """Launch the choice of contacts."""
        judged = self.shared, self.poses, self.shapes, self.points, self.chosen
        self._loop(judge_contacts, len(self.points.pair), *judged)
        self._loop(choose_contacts, len(self.points.pair), *judged[:-1], self.old, self.chosen)

    def read_counts(self):
        """Points remembered, fresh, kept and added, whether the fresh ones came out of order, and whether any of what
        stays slid along (see ``face_each_other``); in the order of contact_arrays.py.

        As a list of its own, read once for all after a detection and after what came out of order was put right.
        """
        if self._counts is None:
            self._counts = fetch((self.shared.counts, len(self.shared.counts)))[0].tolist()
        return self._counts.copy()

    def _set_counts(self, counts):
        upload(self.shared.counts, counts)
        self._counts = None

    def read_fresh(self):
        """The good contacts of the detection as Manifolds, sorted by pair."""
        count = self.read_counts()[FRESH]
        fresh, good = read_points(self.found, count), download(self.fresh.good, count)
        index = places(good)
        return fresh.take(index[np.argsort(fresh.pair[index], kind="stable")])

    def write_fresh(self, fresh):
        """Put Manifolds, sorted by pair, in place of what was taken.  True where arrays grew: record anew."""
        count = len(fresh)
        if self.grow(count):
            return True
        write_points(self.found, fresh)
        upload(self.fresh.good, np.ones(count, bool))
        counts = self.read_counts()
        counts[FRESH], counts[UNSORTED] = count, 0
        self._set_counts(counts)
        return False

    def grow(self, contacts):
        """Whether a detection had more contacts than there was room for.  There is now: record anew."""
        if contacts <= len(self.found.pair):
            return False
        self._make_fresh_room(2 * contacts)
        return True

    def sort_fresh(self):
        """Sort what was taken, if newton did not.  Whether there was anything to do."""
        if not self.read_counts()[UNSORTED]:
            return False
        self.write_fresh(self.read_fresh())
        return True

    def grow_manifolds(self):
        """The same of the points of the manifolds."""
        counts = self.read_counts()
        total = counts[KEPT] + counts[ADDED]
        if total <= len(self.points.pair):
            return False
        self._make_room(2 * total)
        return True

    def read_chosen(self, count):
        """Of ``count`` points: which are chosen (C,), and of those normal, gap, previous, face and its normal."""
        chosen = self.chosen
        columns = chosen.near, chosen.normal, chosen.gap, chosen.previous, chosen.face, chosen.face_normal
        near, *out = fetch(*((values, count) for values in columns))
        source = places(near)
        out = [values.take(source, 0) for values in out]
        out[2] = out[2].astype(np.intp)
        return source, *out

    def read_manifolds(self):
        """The renewed Manifolds; those remembered themselves where all stay as they are and none was added."""
        counts, same = self.read_counts(), self._manifolds is not None
        if same and counts[KEPT] == counts[OLD] == len(self._manifolds) and not counts[ADDED] and not counts[SLID]:
            return self._manifolds
        return read_points(self.points, counts[KEPT] + counts[ADDED])

    def _loop(self, one, capacity, *inputs):
        """Launch a kernel that goes through what there is of ``capacity`` in strides of its last input.

        One thread on the CPU, which else copies all arguments for each: 60 ns, as long as the work itself.
        """
        lanes = 1 if self.device.is_cpu else capacity
        self._launch(one, lanes, *inputs, lanes)

    def _launch(self, one, dim, *inputs):
        wp.launch(one, dim=dim, inputs=list(inputs), device=self.device)
