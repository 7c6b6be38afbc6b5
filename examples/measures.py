# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake did, measured from its keyframes alone and not from what the solver says of itself."""

from dataclasses import dataclass

import bpy
import numpy as np


@dataclass(frozen=True)
class Promise:
    """One thing that an example promises: ``value`` in ``unit`` lies between ``lower`` and ``upper``."""

    text: str
    value: float
    unit: str
    upper: float = float("inf")
    lower: float = float("-inf")

    @property
    def kept(self):
        """Whether it came true; never with a value that is not a number."""
        return bool(self.lower <= self.value <= self.upper)

    def bound(self):
        """What was promised, such as ``at most 0.1 mm``."""
        ends = [f"at least {self.lower:g}"] if np.isfinite(self.lower) else []
        ends += [f"at most {self.upper:g}"] if np.isfinite(self.upper) else []
        return f"{' and '.join(ends)} {self.unit}".rstrip()

    def plain(self):
        """As plain values, for JSON."""
        return {"text": self.text, "value": float(self.value), "unit": self.unit, "bound": self.bound()}

    def __str__(self):
        return f"{self.text}: {self.value:.4g} {self.unit} ({self.bound()})"


class Motion:
    """Poses of all bodies of a baked scene on all its frames.

    Attributes:
        scene: the scene.
        whole: whether the example was baked to its end, so that what happens late can be judged.
        report: what the bake says of itself, as plain values.
        frames: number of frames F.
    """

    def __init__(self, scene, whole, report):
        self.scene, self.whole, self.report = scene, whole, report
        self.fps = scene.render.fps / scene.render.fps_base
        self._items = [item for item in scene.objects if item.axion.enabled]
        self._index = {item.name: number for number, item in enumerate(self._items)}
        frames = range(scene.frame_start, scene.frame_end + 1)
        self.frames = len(frames)
        self._poses = np.empty((self.frames, len(self._items), 4, 4))
        for row, frame in enumerate(frames):
            scene.frame_set(frame)
            for column, item in enumerate(self._items):
                self._poses[row, column] = item.matrix_world
        scene.frame_set(scene.frame_start)

    def active(self):
        """Names of all active bodies."""
        return [item.name for item in self._items if item.axion.type == "ACTIVE"]

    def pose(self, name):
        """(F, 4, 4) world matrices of a body."""
        return self._poses[:, self._index[name]]

    def place(self, name):
        """(F, 3) origin of a body [m]."""
        return self.pose(name)[:, :3, 3]

    def moved(self, name):
        """(F,) distance of a body's origin from where it started [m]."""
        place = self.place(name)
        return np.linalg.norm(place - place[0], axis=1)

    def lowest(self, name):
        """(F,) height of a body's lowest vertex, modifiers left out [m]."""
        data, pose = bpy.data.objects[name].data, self.pose(name)
        corners = np.empty(3 * len(data.vertices), dtype=np.float32)
        data.vertices.foreach_get("co", corners)
        return (pose[:, 2, :3] @ corners.reshape(-1, 3).T.astype(float)).min(axis=1) + pose[:, 2, 3]

    def sunk(self):
        """Deepest that a vertex of any active body ever is below the height 0 [m]."""
        return max(0.0, -min(self.lowest(name).min() for name in self.active()))

    def lost(self, reach):
        """Number of active bodies that end farther than ``reach`` [m] from the origin, or nowhere at all."""
        ends = [self.place(name)[-1] for name in self.active()]
        return sum(not np.linalg.norm(end) <= reach for end in ends)

    def joint_gaps(self):
        """Largest distance [m] that any joint's point, carried along by both bodies, ever has between them."""
        still = np.broadcast_to(np.eye(4), (self.frames, 4, 4))
        worst = 0.0
        for item in self.scene.objects:
            joint = item.axion_joint
            if not joint.enabled or joint.type in ("SLIDER", "PISTON"):  # these move along X by design
                continue
            point = np.append(np.array(item.matrix_world)[:3, 3], 1.0)
            ends = []
            for owner in (joint.object1, joint.object2):
                pose = still if owner is None else self.pose(owner.name)
                ends.append(pose @ (np.linalg.inv(pose[0]) @ point))
            worst = max(worst, np.linalg.norm((ends[0] - ends[1])[:, :3], axis=1).max())
        return worst

    def misses(self):
        """Number of frames that missed the tolerance, from the report."""
        return self.report["summary"]["missed"]


def usual(motion, reach):
    """What every example promises of its joints, its floor at the height 0, and of bodies that fly away."""
    if any(item.axion_joint.enabled for item in motion.scene.objects):
        yield Promise("widest gap in a joint", 1e3 * motion.joint_gaps(), "mm", upper=0.1)
    yield Promise("deepest corner below the floor", 1e3 * motion.sunk(), "mm", upper=0.5)
    yield Promise("bodies lost", motion.lost(reach), "", upper=0)
