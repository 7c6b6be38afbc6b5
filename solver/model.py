# SPDX-License-Identifier: GPL-3.0-or-later
"""A Scene's bodies and shapes as a newton.Model for collision detection, with index maps back to the scene.

Newton computes in float32 with tolerances meant for metre-size things.  So the model is built in units of the typical
body size (a power of two, so that the change of unit is exact): scenes of 2 cm and of 50 m collide alike.

Every Scene body is a newton body of the same index, immovable ones too (a body that follows a path is collidable all
along it).  Which shape pairs may touch is decided here by DESIGN's rule; newton gets a list of those that are near.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from .boxes_apart import body_boxes
from .closest_features import solid_table
from .closest_points import lookup_closest, lookup_hits
from .contact_faces import FaceTable, face_table
from .deforming import DeformingMesh, DeformingMeshes
from .face_polygons import FacePolygons, face_polygons
from .hollow import hollow_meshes
from .manifold import GAP_FLOOR
from .mesh_edges import EdgePairs
from .mesh_features import MeshTable, weld_of
from .mesh_heart import hearts
from .model_meshes import Shell, fingerprint, meshes_of, outward
from .newton_kernels import load_newton
from .piercings import lookup_exits, lookup_piercings
from .plausible import pair_number
from .rotations import matrices
from .shape_extents import all_vertices, box_of, centers_of, deforms, middles_of, rounding_of, side_of
from .shapes import Box, Capsule, Cone, ConvexHull, Cylinder, Plane, Sphere, TriangleMesh

EXPLICIT_PAIRS = 100_000  # longest list of all shape pairs; of more, those that are near are found with a tree


@dataclass
class CollisionModel:
    """S shapes of B bodies.  Lengths in metres unless said otherwise."""

    newton_model: object  # newton.Model, lengths in ``unit``
    unit: float  # [m] one newton length
    names: list  # (B,) body names
    movable: np.ndarray  # (B,) bool: dynamic bodies, also those held by a path at first
    center_of_mass: np.ndarray  # (B, 3) in the body's frame
    body_radius: np.ndarray  # (B,) around the body's origin; planes do not count
    body_size: np.ndarray  # (B,) smallest half extent of the body's shapes
    body_mesh: np.ndarray  # (B,) bool: has a TriangleMesh
    shape_body: np.ndarray  # (S,) int: friction, restitution and everything else of a shape is its body's
    shape_size: np.ndarray  # (S,) smallest half extent, at least a tenth of the radius; inf where immovable
    shape_radius: np.ndarray  # (S,) around the shape's middle; inf for planes
    shape_position: np.ndarray  # (S, 3) in the body's frame
    shape_rotation: np.ndarray  # (S, 3, 3)
    shape_middle: np.ndarray  # (S, 3) of the shape's box, in the body's frame
    shape_center: np.ndarray  # (S, 3) that stands for the shape, in the body's frame: well inside it, if it is solid
    shape_half: np.ndarray  # (S, 3) half extents of that box, along the axes of the shape's own frame; inf for planes
    shape_rounding: np.ndarray  # (S,) radius that balls and capsules have around a point or a line; 0 for others
    shape_side: np.ndarray  # (S, 2) radius of a cylinder's or cone's round side in its middle, and slope along Z; or 0
    meshes: MeshTable  # features of the triangle meshes
    faces: FaceTable  # normals of the flat faces
    polygons: FacePolygons  # those of boxes, hulls, planes and round ends, with their corners
    mesh_id: np.ndarray  # (S,) uint64 Warp meshes, lengths in ``unit``; 0 for other shapes
    pairs: np.ndarray | None  # (P, 2) int32 shape pairs that may touch; None: too many to list
    extent: float  # size of the scene at the start and along the paths
    gravity: np.ndarray  # (3,) [m/s^2]
    group_class: np.ndarray  # (B,) bodies with equal group and mask share a class
    class_collides: np.ndarray  # (K, K) bool
    joined: np.ndarray  # (J,) int64, sorted: low body * B + high body, joined without collision, for ever
    breakable: np.ndarray  # (K,) int64, sorted: likewise, until their joints have broken
    breakable_joints: np.ndarray  # (L, 2) number of a joint of theirs, and of the pair among them
    shapes: list  # of the scene, S of them
    deforming: DeformingMeshes | None = None

    @cached_property
    def pull(self):
        """Length of ``gravity`` [m/s^2]."""
        return float(np.linalg.norm(self.gravity))

    @cached_property
    def balls(self):
        """(B,) bool: bodies of balls around their centres of mass, which look the same however they turn."""
        point = (self.shape_half <= self.shape_rounding[:, None]).all(axis=1)
        off = np.linalg.norm(self.shape_position - self.center_of_mass[self.shape_body], axis=1)
        other = ~point | (off > 1e-6 * self.shape_rounding)
        return np.bincount(self.shape_body[other], minlength=len(self.names)) == 0

    @cached_property
    def compounds(self):
        """Bodies that move and have several shapes, ascending."""
        return np.flatnonzero(self.movable & (np.bincount(self.shape_body, minlength=len(self.names)) > 1))

    @cached_property
    def side_by_side(self):
        """Whether one shape may touch several that belong together: that stand, or that are parts of one body."""
        return np.count_nonzero(~self.movable[self.shape_body]) > 1 or len(self.compounds) > 0

    @cached_property
    def body_boxes(self):
        """BodyBoxes of the bodies."""
        return body_boxes(self)

    @cached_property
    def closest(self):
        """Lookup of the closest points of the meshes."""
        return lookup_closest(self.newton_model.device)

    @cached_property
    def first_hits(self):
        """Lookup of what ways meet first of the meshes."""
        return lookup_hits(self.newton_model.device)

    @cached_property
    def solids(self):
        """SolidTable of the boxes and hulls."""
        return solid_table(self.shapes, self.shape_position, self.shape_rotation)

    @cached_property
    def edge_pairs(self):
        """EdgePairs of the meshes."""
        return EdgePairs(self.meshes, self.newton_model.device)

    @cached_property
    def piercings(self):
        """Lookup of how deep edges are in meshes."""
        return lookup_piercings(self.newton_model.device)

    @cached_property
    def exits(self):
        """Lookup of where ways out of meshes end."""
        return lookup_exits(self.newton_model.device)

    @property
    def may_touch(self):
        """Whether any two shapes ever may."""
        return bool(self.class_collides.any()) if self.pairs is None else len(self.pairs) > 0

    def allowed(self, body_a, body_b):
        """Whether each pair of bodies may ever touch.  body_a, body_b: (N,) int -> (N,) bool."""
        return (
            (body_a != body_b)
            & (self.movable[body_a] | self.movable[body_b])
            & self.class_collides[self.group_class[body_a], self.group_class[body_b]]
            & ~np.isin(pair_number(body_a, body_b, len(self.names)), self.joined)
        )

    def held_apart(self, alive):
        """(K,) bool: whether a joint still keeps each of the ``breakable`` pairs from colliding.

        alive: (joints,) bool, which joints hold.
        """
        joint, pair = self.breakable_joints.T
        return np.bincount(pair[alive[joint]], minlength=len(self.breakable)) > 0


def sample_pairs(model, room):
    """A list (P, 2) int32 of shape pairs with which newton makes ready for any ``room`` pairs of a CollisionModel.

    newton decides by it which kernels it needs and how many pairs of a kind there can be at once.
    """
    types = load_newton().GeoType
    kinds, mesh, plane = model.newton_model.shape_type.numpy(), int(types.MESH), int(types.PLANE)
    present, movable, sample = np.unique(kinds), model.movable[model.shape_body], {}
    for k, one in enumerate(present):
        for other in present[k:]:
            first, second = np.flatnonzero(kinds == one)[0], np.flatnonzero(kinds == other)[-1]
            if first != second and movable[(kinds == one) | (kinds == other)].any():
                sample[frozenset((int(one), int(other)))] = first, second
    pairs = [np.resize(list(sample.values()), (room, 2))]
    for kind in ({mesh}, {mesh, plane}):  # newton has room for as many of these as it is shown
        if frozenset(kind) in sample:
            pairs.append(np.tile(sample[frozenset(kind)], (room, 1)))
    return np.concatenate(pairs).astype(np.int32)


def build_model(scene, device="cpu", center_of_mass=None):
    """The CollisionModel of a valid Scene on a Warp device.

    ``center_of_mass``: (B, 3) in the bodies' frames [m], where velocities are measured; by default asked of the bodies.
    """
    bodies = scene.bodies
    if center_of_mass is None:
        center_of_mass = [body.mass_properties()[1] for body in bodies]
    center_of_mass = np.asarray(center_of_mass, float).reshape(-1, 3)
    entries = [(index, part) for index, body in enumerate(bodies) for shape in body.shapes for part in shape.parts()]
    model = _model(scene, device, center_of_mass, entries)
    start = [body.start() for body in bodies]
    rotation = matrices(np.array([turn for _, turn in start]).reshape(-1, 4))
    hollow = hollow_meshes(model, np.array([place for place, _ in start]).reshape(-1, 3), rotation)
    if not hollow.any():
        return model
    entries = [(index, Shell.of(part) if two else part) for (index, part), two in zip(entries, hollow, strict=True)]
    return _model(scene, device, center_of_mass, entries)


def _model(scene, device, center_of_mass, entries):
    """See ``build_model``.  entries: (number of the body, shape) of each."""
    bodies, count = scene.bodies, len(scene.bodies)
    movable = np.array([body.motion == "dynamic" for body in bodies], bool)
    shape_body = np.array([index for index, _ in entries], np.int32)
    bounds = [box_of(shape) for _, shape in entries]
    middles = middles_of([shape for _, shape in entries], bounds)
    shape_radius = np.array([np.linalg.norm(half) for _, half in bounds])
    size = np.array([max(half.min(), 0.1 * np.linalg.norm(half)) for _, half in bounds])
    body_radius, body_size = np.zeros(count), np.full(count, np.inf)
    for (index, _), middle, (_, half), own in zip(entries, middles, bounds, size, strict=True):
        if np.isfinite(half).all():
            reach = np.linalg.norm(middle) + np.linalg.norm(half)
            body_radius[index] = max(body_radius[index], reach)
        body_size[index] = min(body_size[index], own)
    body_size[~np.isfinite(body_size)] = 1.0
    typical = size[movable[shape_body] & np.isfinite(size)] if len(entries) else np.ones(1)
    unit = float(2.0 ** np.round(np.log2(2.0 * np.median(typical)))) if len(typical) else 1.0
    shape_size = np.where(movable[shape_body], size, np.inf) if len(entries) else size
    model = CollisionModel(
        newton_model=None,
        unit=unit,
        names=[body.name for body in bodies],
        movable=movable,
        center_of_mass=center_of_mass,
        body_radius=body_radius,
        body_size=body_size,
        body_mesh=np.isin(np.arange(count), [index for index, part in entries if isinstance(part, TriangleMesh)]),
        shape_body=shape_body,
        shape_size=shape_size,
        shape_radius=shape_radius,
        shape_position=np.array([_vector(shape.position) for _, shape in entries]).reshape(-1, 3),
        shape_rotation=matrices(np.array([_vector(shape.orientation) for _, shape in entries]).reshape(-1, 4)),
        shape_middle=middles,
        shape_center=centers_of([shape for _, shape in entries], middles),
        shape_half=np.array([half for _, half in bounds]).reshape(-1, 3),
        shape_rounding=np.array([rounding_of(shape) for _, shape in entries], float),
        shape_side=np.array([side_of(shape) for _, shape in entries], float).reshape(-1, 2),
        meshes=meshes_of([shape for _, shape in entries]),
        faces=None,
        polygons=None,
        mesh_id=None,
        pairs=None,
        extent=_extent(bodies, body_radius),
        gravity=_vector(scene.gravity),
        shapes=[shape for _, shape in entries],
        **_rules(scene),
    )
    shapes = model.shapes
    model.faces = face_table(shapes, model.shape_rotation)
    model.polygons = face_polygons(shapes, model.shape_position, model.shape_rotation)
    moving = np.array([deforms(shape) for shape in shapes], bool)
    model.shape_center = hearts(model.meshes, moving, model.shape_position, model.shape_rotation, model.shape_center)
    model.pairs = _pairs(model)
    model.newton_model, meshes = _newton_model(scene, model, entries, device)
    model.deforming = _deforming(model, entries, meshes)
    pointers = model.newton_model.shape_source_ptr.numpy() if entries else np.zeros(0, np.uint64)
    model.mesh_id = np.where(model.meshes.shape_mesh >= 0, pointers, 0).astype(np.uint64)
    return model


def _vector(value):
    return np.asarray(value, float).reshape(-1)


def _deforming(model, entries, meshes):
    """The DeformingMeshes of a model, or None; newton is told boxes that hold each mesh at all times."""
    found, newton_model = {}, model.newton_model
    for index, (_, shape) in enumerate(entries):
        if not deforms(shape):
            continue
        number = int(model.meshes.shape_mesh[index])
        if number not in found:
            used, triangles = np.unique(outward(shape)), np.asarray(outward(shape), np.int64)
            weld, mesh = weld_of(shape.vertices), meshes[fingerprint(shape)].mesh
            found[number] = DeformingMesh(number, shape, triangles, used, weld, mesh, np.zeros_like(shape.vertices))
        corners = all_vertices(shape)
        for side, bound in (("lower", corners.min(axis=0)), ("upper", corners.max(axis=0))):
            array = getattr(newton_model, f"shape_collision_aabb_{side}")
            values = array.numpy()
            values[index] = bound / model.unit
            array.assign(values)
    return DeformingMeshes(model, list(found.values())) if found else None


def _extent(bodies, radius):
    """Diagonal of the box around all bodies at the start and along their paths [m]."""
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for body, own in zip(bodies, radius, strict=True):
        places = [_vector(body.position)[None]]
        if body.path is not None:
            places.append(np.asarray(body.path.position, float).reshape(-1, 3))
        places = np.concatenate(places)
        low, high = np.minimum(low, places.min(axis=0) - own), np.maximum(high, places.max(axis=0) + own)
    return float(np.linalg.norm(high - low)) if len(bodies) else 1.0


def _rules(scene):
    """Collision classes of groups and masks, and the pairs that joints exclude."""
    table = {}
    group_class = np.array(
        [table.setdefault((int(b.collision_group), int(b.collision_mask)), len(table)) for b in scene.bodies], np.intp
    )
    keys = list(table)
    collides = np.array([[bool(g & n) and bool(f & m) for f, n in keys] for g, m in keys], bool)
    index = {body.name: number for number, body in enumerate(scene.bodies)}
    joined, breakable = set(), {}
    for number, joint in enumerate(scene.joints):
        if not joint.collide_connected and joint.body_a is not None and joint.body_b is not None:
            low, high = sorted((index[joint.body_a], index[joint.body_b]))
            pair = low * len(scene.bodies) + high
            if np.isinf(joint.break_force) and np.isinf(joint.break_torque):
                joined.add(pair)
            else:
                breakable.setdefault(pair, []).append(number)
    pairs = sorted(breakable.keys() - joined)
    joints = [(number, k) for k, pair in enumerate(pairs) for number in breakable[pair]]
    return {
        "group_class": group_class,
        "class_collides": collides.reshape(len(keys), len(keys)),
        "joined": np.array(sorted(joined), np.int64),
        "breakable": np.array(pairs, np.int64),
        "breakable_joints": np.array(joints, np.int64).reshape(-1, 2),
    }


def _pairs(model):
    """All shape pairs that may touch (P, 2) int32, or None when they are too many to list."""
    shapes = len(model.shape_body)
    movable = int(model.movable[model.shape_body].sum()) if shapes else 0
    if movable * (shapes - movable) + movable * (movable - 1) // 2 > EXPLICIT_PAIRS:
        return None
    first, second = np.triu_indices(shapes, 1)
    keep = model.allowed(model.shape_body[first], model.shape_body[second])
    return np.stack([first[keep], second[keep]], axis=1).astype(np.int32)


def _newton_model(scene, model, entries, device):
    """The newton.Model: one link a body, shapes in the bodies' frames, lengths in ``model.unit``; and its meshes.

    Planes are shapes of the world, which plane_feet.py places.
    """
    newton = load_newton()
    builder = newton.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    for body, movable, center in zip(scene.bodies, model.movable, model.center_of_mass, strict=True):
        builder.add_link(
            mass=1.0,
            inertia=wp.mat33(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
            com=tuple((center / model.unit).tolist()),
            lock_inertia=True,
            is_kinematic=not movable,
            label=body.name,
        )
    collides = model.class_collides[model.group_class].any(axis=1)
    meshes = {}
    for (index, shape), size in zip(entries, model.shape_size, strict=True):
        settings = newton.ModelBuilder.ShapeConfig(
            density=0.0,
            margin=0.0,
            gap=float(GAP_FLOOR * size / model.unit) if np.isfinite(size) else 0.0,
            has_shape_collision=bool(collides[index]),
            has_particle_collision=False,
        )
        _add_shape(builder, index, shape, settings, model.unit, meshes)
    finished = builder.finalize(
        device=device, skip_validation_joints=True, skip_validation_inertia=True, skip_validation_worlds=True
    )
    return finished, meshes


def _add_shape(builder, body, shape, settings, unit, meshes):
    """Add one Scene shape to newton's builder; meshes that share vertex arrays are cooked once."""
    place = wp.transform(
        tuple((_vector(shape.position) / unit).tolist()), wp.quat(*(float(x) for x in _vector(shape.orientation)))
    )
    common = {"xform": place, "cfg": settings}
    if isinstance(shape, Box):
        x, y, z = (float(value) / unit for value in _vector(shape.half_extents))
        builder.add_shape_box(body, hx=x, hy=y, hz=z, **common)
    elif isinstance(shape, Sphere):
        builder.add_shape_sphere(body, radius=float(shape.radius) / unit, **common)
    elif isinstance(shape, Plane):
        builder.add_shape_plane(None, body=-1, width=0.0, length=0.0, **common)
    elif isinstance(shape, (Capsule, Cylinder, Cone)):
        add = {
            Capsule: builder.add_shape_capsule,
            Cylinder: builder.add_shape_cylinder,
            Cone: builder.add_shape_cone,
        }[type(shape)]
        add(body, radius=float(shape.radius) / unit, half_height=float(shape.half_height) / unit, **common)
    elif isinstance(shape, (ConvexHull, TriangleMesh)):
        key = fingerprint(shape)
        if key not in meshes:
            used, triangles = np.unique(outward(shape), return_inverse=True)
            vertices, triangles = np.asarray(shape.vertices, float)[used] / unit, triangles.reshape(-1, 3)
            if isinstance(shape, TriangleMesh) and not shape.is_closed():
                triangles = np.concatenate([triangles, triangles[:, ::-1]])  # an open surface has two sides
            meshes[key] = load_newton().Mesh(vertices, triangles.astype(np.int32).reshape(-1), compute_inertia=False)
        add = builder.add_shape_convex_hull if isinstance(shape, ConvexHull) else builder.add_shape_mesh
        add(body, mesh=meshes[key], **common)
    else:
        raise TypeError(f"No collision shape of type {type(shape).__name__} is known; add it in solver/model.py.")
