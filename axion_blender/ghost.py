# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles of the simulated objects and where each frame puts them: what the live preview draws.

Reads Blender once, on the main thread; posing is NumPy alone.  C corners, three a triangle; B bodies.
"""

import numpy as np

from ..solver import SceneError
from . import conventions
from .extract import geometry

BUDGET = 60_000
"""Triangles drawn at most, shared out evenly: an object with more than its share is drawn as its bounding box."""
LIGHT = np.array([0.4, -0.5, 0.77])
"""Direction that the light comes from; its length is about 1."""
BOX_TRIANGLES = np.array(
    [
        *([0, 1, 2], [0, 2, 3], [4, 6, 5], [4, 7, 6], [0, 5, 1], [0, 4, 5]),
        *([3, 2, 6], [3, 6, 7], [0, 3, 7], [0, 7, 4], [1, 6, 2], [1, 5, 6]),
    ]
)
"""Of ``Object.bound_box``'s eight corners, counter-clockwise seen from outside."""


class Ghost:
    """The drawn shape of all simulated bodies.

    Attributes:
        corners: (C, 3) in the frame of the body they belong to, scale applied [Blender units].
        owner: (C,) column of that body in the trajectory.
    """

    def __init__(self):
        self._corners, self._owner = [], []
        self.corners, self.owner, self.normals = np.empty((0, 3)), np.empty(0, int), np.empty((0, 3))

    def read(self, scene, depsgraph, extraction):
        """Read the shapes in slices, a generator; the scene stands anywhere, unbaked."""
        objects = extraction.objects(scene)
        column = {body.name: n for n, body in enumerate(extraction.scene.bodies)}
        children = {}
        for item in scene.objects:
            if item.parent is not None:
                children.setdefault(item.parent.name_full, []).append(item)
        share = max(len(BOX_TRIANGLES), BUDGET // max(1, len(objects)))
        for number, (name, item) in enumerate(objects.items()):
            yield number / len(objects)
            pose = conventions.decompose(item.evaluated_get(depsgraph).matrix_world)
            home = np.linalg.inv(pose.matrix())
            for part in _with_followers(item, children, objects):
                corners = _corners(part, depsgraph, share)
                if corners is not None:
                    matrix = home @ np.array(part.evaluated_get(depsgraph).matrix_world)
                    self.add(corners @ matrix[:3, :3].T + matrix[:3, 3], column[name])
        self.finish()

    def add(self, corners, column):
        """Add triangles (3 T, 3) in the frame of the body of that column."""
        self._corners.append(corners)
        self._owner.append(np.full(len(corners), column))

    def finish(self):
        """Ready to pose."""
        if self._corners:
            self.corners, self.owner = np.concatenate(self._corners), np.concatenate(self._owner)
        a, b, c = (self.corners[k::3] for k in range(3))
        normals = np.cross(b - a, c - a)
        size = np.linalg.norm(normals, axis=1, keepdims=True)
        self.normals = np.repeat(normals / np.where(size > 0.0, size, 1.0), 3, axis=0)

    def posed(self, position, orientation):
        """Corners (C, 3) float32 in the world, and how brightly each is lit (C,), 0 to 1.

        position (B, 3) [Blender units], orientation (B, 4) xyzw: of all bodies.
        """
        turn = conventions.rotation_matrix(np.asarray(orientation, float))[self.owner]
        world = np.einsum("cij,cj->ci", turn, self.corners) + np.asarray(position, float)[self.owner]
        lit = np.einsum("cij,cj,i->c", turn, self.normals, LIGHT)
        return world.astype(np.float32), 0.5 + 0.5 * np.clip(lit, -1.0, 1.0)


def _with_followers(item, children, simulated):
    """The object, and all below it that no simulation moves."""
    yield item
    for child in children.get(item.name_full, ()):
        if child.name_full not in simulated:
            yield from _with_followers(child, children, simulated)


def _corners(item, depsgraph, share):
    """Triangle corners (3 T, 3) of an object in its own space, or None where it has no surface."""
    if item.type not in geometry.SURFACES or not item.visible_get():
        return None
    try:
        found = geometry.read(item, depsgraph)
    except SceneError:  # nothing to see; what matters to the bake has been checked before
        return None
    if len(found.triangles) > share:
        return np.array(item.bound_box, float)[BOX_TRIANGLES].reshape(-1, 3)
    return found.vertices[found.triangles].reshape(-1, 3)
