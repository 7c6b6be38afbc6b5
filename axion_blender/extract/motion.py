# SPDX-License-Identifier: GPL-3.0-or-later
"""How objects move by themselves (keyframes, drivers, constraints, parents, modifiers), sampled between the frames."""

import math
from dataclasses import dataclass, field

import bpy
import numpy as np

from ...solver import MotionPath, SceneError
from .. import compat, conventions
from . import geometry

SAMPLES_PER_FRAME = 4
"""Colliders get their velocity from these samples, so a frame needs several."""
STILL = 1e-6
"""Change of a world matrix, relative to its largest entry, below which an object stands still: float32 noise."""
UNTOLD = 2.4
"""Turn [rad] between two samples above which the shorter way round may not be the right one."""
RIGID = 1e-4
"""Change of shape or scale, relative to the size, up to which a motion counts as rigid."""

LOOKS = 10_000
"""Frames, at most, at which an F-curve is looked at."""


@dataclass
class Track:
    """What was seen of one object, in Blender units.

    matrices (S, 4, 4): of its world matrix, or the rigid motion that carries its vertices.  Of one that may deform: own
    (S, 4, 4), its world matrix itself; frames: its vertices in the world (V, 3) at whole frames, where they are kept.
    held (S,): whether ``kinematic`` was on; reins (S, C): the influence of each constraint, 0 where it is muted.
    """

    matrices: list = field(default_factory=list)
    own: list = field(default_factory=list)
    frames: list = field(default_factory=list)
    held: list = field(default_factory=list)
    reins: list = field(default_factory=list)
    defect: float = 0.0
    resized: tuple | None = None  # first frame at which the number of vertices differs, number at the start and then
    rewired: float | None = None  # first frame at which edges join other vertices than at the start
    broken: tuple | None = None  # first frame at which vertices hold no numbers, and how many do


class Sampler:
    """Plays the frame range once, with sub-frames, and notes what was asked for.

    scene, depsgraph: of Blender.  first, last: frames.  frame_rate: frames per second of simulated time.  reshaped:
    full names of the objects whose shape may change with the frame.
    """

    def __init__(self, scene, depsgraph, first, last, frame_rate, reshaped):
        self.scene, self.depsgraph, self.reshaped = scene, depsgraph, reshaped
        steps = np.arange((last - first) * SAMPLES_PER_FRAME + 1)
        self.frames = first + steps / SAMPLES_PER_FRAME
        self.times = steps / (SAMPLES_PER_FRAME * frame_rate)
        self.tracks, self._deforming, self._values = {}, {}, {}
        self._is_whole = True

    def watch(self, item, keep_vertices=False):
        """Note the world matrix of ``item``, and its vertices where anything may move them.

        keep_vertices: those of whole frames are kept for ``deformation``.
        """
        if can_move(item):
            self.tracks[item.name_full] = (item, Track())
        if item.name_full in self.reshaped and shows_deforming(item):
            self.tracks.setdefault(item.name_full, (item, Track()))
            vertices, edges = geometry.read_wires(item, self.depsgraph)
            start = _world(item, self.depsgraph, vertices)
            self._deforming[item.name_full] = start, edges, self._matrix(item), keep_vertices

    def watch_matrix(self, item):
        """Note the world matrix of ``item`` alone, whatever becomes of its shape."""
        if can_move(item):
            self.tracks.setdefault(item.name_full, (item, Track()))

    def watch_value(self, item, group, name):
        """Note property ``name`` of a group of ``item``: "axion_joint", "motor_lin_target_velocity"."""
        if compat.is_animated(item):
            self._values[item.name_full, name] = (item, group, [])

    @property
    def plays(self):
        """Whether anything is watched, so that ``play`` leaves the scene at another frame."""
        return bool(self.tracks or self._values)

    def play(self):
        """Run through the frames in slices; does nothing where nothing was found to watch.  Yields the part done."""
        if not self.plays:
            return
        self._renew()
        for number, frame in enumerate(self.frames.tolist()):
            yield number / len(self.frames)
            whole = int(np.floor(frame))
            self._is_whole = number % SAMPLES_PER_FRAME == 0
            self.scene.frame_set(whole, subframe=frame - whole)
            for name, (item, track) in self.tracks.items():
                evaluated = item.evaluated_get(self.depsgraph)
                track.held.append(evaluated.axion.kinematic)
                track.reins.append([0.0 if rein.mute else rein.influence for rein in evaluated.constraints])
                track.matrices.append(self._deformed(item, track) if name in self._deforming else self._matrix(item))
            for (_, name), (item, group, values) in self._values.items():
                values.append(getattr(getattr(item.evaluated_get(self.depsgraph), group), name))

    def _renew(self):
        """Blender does not copy add-on properties to evaluated objects when they are set: it shall at the next frame.

        Only now, as until that frame a curve, text, surface or metaball that is tagged has no mesh to be read.
        """
        for item, *_ in (*self.tracks.values(), *self._values.values()):
            item.update_tag()

    def series(self, item, name):
        """(times, values) of a watched property that changes, else None."""
        entry = self._values.get((item.name_full, name))
        if entry is None or np.ptp(entry[2]) == 0.0:
            return None
        return self.times, np.asarray(entry[2], float)

    def held(self, item):
        """``kinematic`` of an object at each sample, (S,) of bool."""
        track = self.tracks.get(item.name_full)
        return np.array(track[1].held) if track else np.full(len(self.times), item.axion.kinematic)

    def path(self, item, metres, samples=slice(None), still=False):
        """MotionPath of the samples chosen, or None where the object stands still in all of them (unless ``still``).

        Raises SceneError where the motion is not rigid.
        """
        times = self.times[samples]
        if item.name_full not in self.tracks:
            if not still:
                return None
            pose = conventions.decompose(self._matrix(item))
            return MotionPath(times[:1], pose.position[None] * metres, pose.orientation[None])
        track = self.tracks[item.name_full][1]
        matrices = np.array(track.matrices)[samples]
        if not np.isfinite(matrices).all():
            bad = self.frames[samples][int(np.argmin(np.isfinite(matrices).all(axis=(1, 2))))]
            raise SceneError(f"{item.name}: its world matrix holds NaN at frame {bad:g}: mend its animation")
        self._check_vertices(item, track)
        if track.defect > RIGID:
            raise SceneError(
                f"{item.name}: its mesh deforms over time by {track.defect:.2g} of its size (limit {RIGID:g}): make it "
                "passive with the shape Mesh, set the mesh source to Base, or take it out of the simulation"
            )
        if not still and np.abs(matrices - matrices[0]).max() <= STILL * max(1.0, np.abs(matrices).max()):
            return None
        sizes = np.linalg.norm(matrices[:, :3, :3], axis=1)
        change = np.abs(sizes / sizes[0] - 1.0).max(axis=1) if sizes[0].min() > 0.0 else np.zeros(1)
        if change.max() > RIGID:
            worst = self.frames[samples][np.argmax(change)]
            raise SceneError(
                f"{item.name}: its scale changes by {change.max():.2g} at frame {worst:g} "
                f"(limit {RIGID:g}): a collider must stay rigid, so remove the scale's animation"
            )
        poses, _ = conventions.decompose_many(matrices)
        return MotionPath(times, poses.position * metres, poses.orientation)

    def deformation(self, item):
        """(world matrices (S, 4, 4), numbers of the samples at whole frames (F,), vertices (F, V, 3) in the world)
        of an object whose vertices were kept and deform, else None.  Raises SceneError where their number changes.
        """
        track = self.tracks.get(item.name_full, (None, None))[1]
        if track is None or not (track.frames or track.resized or track.broken):
            return None
        self._check_vertices(item, track)
        if track.defect <= RIGID:
            return None
        numbers = np.arange(len(track.frames)) * SAMPLES_PER_FRAME
        return np.array(track.own), numbers, np.array(track.frames)

    @staticmethod
    def _check_vertices(item, track):
        if track.broken:
            frame, count = track.broken
            raise SceneError(
                f"{item.name}: {count} of its vertices are NaN or infinite at frame {frame:g}: mend its shape keys, "
                "drivers and modifiers"
            )
        if track.resized:
            frame, start, now = track.resized
            raise SceneError(
                f"{item.name}: its number of vertices changes from {start} at the first frame to {now} at frame "
                f"{frame:g}: a collider must keep it, so set the mesh source to Base or Deform, or remove the modifier"
            )

        if track.rewired is not None:
            raise SceneError(
                f"{item.name}: its edges join other vertices at frame {track.rewired:g} than at the first frame, "
                "though there are as many: a collider must keep them, so set the mesh source to Base or Deform, or "
                "remove the modifier"
            )

    def rigid_path(self, item, metres):
        """MotionPath of an object's place and axes, whatever its scale and shape do; one sample if it stands still."""
        if item.name_full in self.tracks:
            times, matrices = self.times, np.array(self.tracks[item.name_full][1].matrices)
        else:
            times, matrices = self.times[:1], self._matrix(item)[None]
        axes = matrices[:, :3, :3] / np.maximum(np.linalg.norm(matrices[:, :3, :3], axis=1), 1e-30)[:, None, :]
        z = axes[:, :, 2]
        x = axes[:, :, 0] - np.einsum("si,si->s", axes[:, :, 0], z)[:, None] * z
        x /= np.maximum(np.linalg.norm(x, axis=1), 1e-30)[:, None]
        turn = conventions.quaternion(np.stack([x, np.cross(z, x), z], axis=2))
        return MotionPath(times, matrices[:, :3, 3] * metres, turn)

    def _matrix(self, item):
        return np.array(item.evaluated_get(self.depsgraph).matrix_world)

    def _deformed(self, item, track):
        """World matrix of the rigid motion that carries the vertices along."""
        start, wires, matrix, keep = self._deforming[item.name_full]
        vertices, edges = geometry.read_wires(item, self.depsgraph)
        now = _world(item, self.depsgraph, vertices)
        track.own.append(self._matrix(item))
        if now.shape != start.shape:
            track.resized = track.resized or (self.frames[len(track.own) - 1], len(start), len(now))
            return matrix
        if track.rewired is None and not geometry.are_same_edges(wires, edges):
            track.rewired = self.frames[len(track.own) - 1]
        bad = ~np.isfinite(now).all(axis=1)
        if bad.any():
            track.broken = track.broken or (self.frames[len(track.own) - 1], int(bad.sum()))
            return matrix
        if keep and self._is_whole:
            track.frames.append(now.astype(np.float32))
        moved = np.eye(4)
        moved[:3, :3], moved[:3, 3], error = conventions.rigid_motion(start, now)
        track.defect = max(track.defect, error / max(np.ptp(start, axis=0).max(), 1e-30))
        return moved @ matrix


def _world(item, depsgraph, vertices):
    matrix = np.array(item.evaluated_get(depsgraph).matrix_world)
    return vertices @ matrix[:3, :3].T + matrix[:3, 3]


def whirls(item, path):
    """[sentence] where an object turns so far between the samples of its MotionPath that nobody can tell which way."""
    angle = path.turns().max(initial=0.0)
    if angle <= UNTOLD:
        return []
    return [
        f"{item.name} turns by {math.degrees(angle):.0f} degrees or more in a quarter of a frame, so which way it "
        "sweeps cannot be told, and what is there may be missed: let it turn by less than "
        f"{UNTOLD * SAMPLES_PER_FRAME / (2.0 * math.pi):.2g} turns a frame"
    ]


def can_move(item, seen=()):
    """Whether anything may change the world matrix of ``item`` over time.  Errs on the side of yes."""
    if item.name_full in seen:
        return True
    if bpy.app.handlers.frame_change_pre or bpy.app.handlers.frame_change_post:
        return True
    if compat.is_animated(item) or any(not constraint.mute for constraint in item.constraints):
        return True
    native = item.rigid_body
    if native is not None and native.type == "ACTIVE" and native.enabled:
        return True  # Blender's own simulation may move it
    if item.parent is None:
        return False
    return not has_plain_parent(item) or can_move(item.parent, (*seen, item.name_full))


def has_plain_parent(item):
    """Whether the parent of an object, if there is one, hands its world matrix on and nothing else: no bone or vertex,
    and no curve with Path Animation, as curves have it from the start, which puts its children on the path.
    """
    parent = item.parent
    return parent is None or (item.parent_type == "OBJECT" and not (parent.type == "CURVE" and parent.data.use_path))


def changes_of_scale(item, first, last):
    """[(data path, largest change relative to the first value, frame of it)] of the keys of an object's scale that
    change it between two frames.
    """
    found = []
    frames = np.unique(np.linspace(first, last, min(max(last - first, 0) + 1, LOOKS)).astype(int))
    for curve in compat.curves_of(item):
        if curve.data_path not in ("scale", "delta_scale") or curve.mute or _is_level(curve):
            continue
        values = np.array([curve.evaluate(frame) for frame in frames.tolist()])
        change = np.abs(values - values[0]) / (abs(values[0]) or 1.0)
        if change.max() > STILL:
            found.append((curve.data_path, float(change.max()), int(frames[change.argmax()])))
    return found


def _is_level(curve):
    """Whether an F-curve has one value for all times, as its keys and handles tell."""
    places = np.empty((3, len(curve.keyframe_points), 2), np.float32)
    for name, own in zip(("co", "handle_left", "handle_right"), places, strict=True):
        curve.keyframe_points.foreach_get(name, own.ravel())
    return not len(curve.modifiers) and places.size > 0 and np.ptp(places[..., 1]) == 0.0


def shows_deforming(item):
    """Whether the shape of a body is one that follows what moves the vertices of ``item``."""
    if item.type not in geometry.SURFACES or item.axion.mesh_source == "BASE":
        return False
    return item.axion.collision_shape != "COMPOUND"


def may_be_held(item):
    """Whether ``kinematic`` of ``item`` is on, or may be at some time."""
    return item.axion.kinematic or _may_switch(item)


def follows_animation(item):
    """Whether an active body may at some time be held on its animation, or pulled along it."""
    return item.axion.use_guide or may_be_held(item)


def may_be_free(item):
    """Whether the simulation moves ``item``, or may at some time."""
    own = item.axion
    return own.enabled and not stands(item) and (not own.kinematic or _may_switch(item))


def stands(item):
    """Whether the simulation never moves ``item``: it is passive, or not dynamic."""
    return item.axion.type == "PASSIVE" or not item.axion.dynamic


def _may_switch(item):
    if "axion.kinematic" in compat.animated_paths(item):
        return True
    return item.animation_data is not None and len(item.animation_data.nla_tracks) > 0


def targets(constraint):
    """Objects that a constraint refers to, a list."""
    found = [getattr(constraint, "target", None), *(entry.target for entry in getattr(constraint, "targets", ()))]
    return [target for target in found if target is not None]


def bone_constraints(rig, name):
    """Constraints, but muted ones, of the bone of that name of an armature object and of its parents, a list."""
    bone, found = rig.pose.bones.get(name) if rig.pose is not None else None, []
    while bone is not None:
        found += [constraint for constraint in bone.constraints if not constraint.mute]
        bone = bone.parent
    return found


def leaders(item):
    """Objects that ``item`` follows, directly or not, by parents and constraints, those of the bone that holds it among
    them; itself not included.
    """
    found, queue = {}, [item]
    while queue:
        current = queue.pop()
        ahead = [] if current.parent is None else [current.parent]
        held = [constraint for constraint in current.constraints if not constraint.mute]
        if current.parent is not None and current.parent_type == "BONE":
            held += bone_constraints(current.parent, current.parent_bone)
        for constraint in held:
            ahead += targets(constraint)
        for target in ahead:
            if target.name_full not in found:
                found[target.name_full] = target
                queue.append(target)
    return list(found.values())
