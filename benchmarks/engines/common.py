# SPDX-License-Identifier: GPL-3.0-or-later
"""What the engines share: recording a run, and reading a comparison scene."""

import time

import numpy as np
from axion.solver import Plane, rotations

START_TOLERANCE = 1e-5
"""How far an engine's own reading of its start may be from the scene's [m], and each quaternion component: float32."""


class Recording:
    """Poses of every body and the CPU time of every frame; ends a run whose CPU time is spent.

    The first frame does not count against ``cpu_limit`` [s]: it may compile kernels.
    """

    def __init__(self, scene, cpu_limit):
        start = [body.start() for body in scene.bodies]
        self.position = [np.array([position for position, _ in start])]
        self.orientation = [np.array([orientation for _, orientation in start])]
        self.moving = [i for i, body in enumerate(scene.bodies) if body.motion == "dynamic"]
        self.cpu_limit, self.cpu_ms = cpu_limit, []
        self._mark = time.process_time()

    def check_start(self, position, orientation):
        """Refuse a translation whose dynamic bodies do not start where the scene has them."""
        apart = np.abs(np.asarray(position) - self.position[0][self.moving]).max()
        turned = 1.0 - np.abs((np.asarray(orientation) * self.orientation[0][self.moving]).sum(axis=-1)).min()
        if not max(apart, turned) < START_TOLERANCE:
            raise RuntimeError(f"the bodies start {apart:.2g} m and {turned:.2g} away from where the scene has them")

    def add(self, position, orientation):
        """Take the poses of the dynamic bodies, (D, 3) and (D, 4), after a frame; False when the CPU time is spent."""
        self.cpu_ms.append(1e3 * (time.process_time() - self._mark))
        for series, values in ((self.position, position), (self.orientation, orientation)):
            series.append(series[0].copy())
            series[-1][self.moving] = values
        self._mark = time.process_time()
        return sum(self.cpu_ms[1:]) < 1e3 * self.cpu_limit

    def result(self):
        """(position (F+1, B, 3) [m], orientation (F+1, B, 4), cpu_ms (F,)) of the frames so far."""
        return np.array(self.position), np.array(self.orientation), np.array(self.cpu_ms)


def record(scene, frames, cpu_limit, read, advance):
    """Run an engine that is driven frame by frame.

    Args:
        scene: Scene.
        frames: how many to run.
        cpu_limit: [s].
        read: () -> (position (D, 3), orientation (D, 4)) of the dynamic bodies, in the scene's order.
        advance: simulates one frame.

    Returns:
        what ``Recording.result`` says.
    """
    recording = Recording(scene, cpu_limit)
    recording.check_start(*read())
    for _ in range(frames):
        advance()
        if not recording.add(*read()):
            break
    return recording.result()


def dynamic_bodies(scene):
    """The bodies that move."""
    return [body for body in scene.bodies if body.motion == "dynamic"]


def has_floor(scene):
    """Whether the ground z <= 0 is solid."""
    fixed = [body for body in scene.bodies if body.motion != "dynamic"]
    if any(not isinstance(shape, Plane) for body in fixed for shape in body.shapes):
        raise NotImplementedError("only a plane at z = 0 is translated as a fixed body")
    return bool(fixed)


def collides(body):
    """Whether the body collides with anything."""
    return body.collision_mask != 0


def pair_material(scene):
    """(friction, restitution) of every pair of bodies in the scene."""
    materials = {(body.friction, body.restitution) for body in scene.bodies if collides(body)} or {(0.5, 0.0)}
    if len(materials) > 1:
        raise NotImplementedError(f"the bodies of a comparison scene share one material, but these have {materials}")
    return materials.pop()


def only_shape(body):
    """The body's one shape, centred on its frame."""
    (shape,) = body.shapes
    if np.abs(shape.position).max() > 0.0 or np.abs(body.mass_properties()[1]).max() > 1e-9:
        raise NotImplementedError(f"{body.name}: the shape of a body in a comparison scene is centred on its frame")
    return shape


def in_body(body, point):
    """A world point at the start, in the frame of ``body`` (None: the world)."""
    if body is None:
        return np.asarray(point)
    return rotations.rotate(rotations.conjugate(body.orientation), point - body.position)


def turned_into(body, orientation):
    """A world orientation at the start, in the frame of ``body`` (None: the world)."""
    return orientation if body is None else rotations.multiply(rotations.conjugate(body.orientation), orientation)


def joint_bodies(scene, joint):
    """(body A, body B) of a joint; None stands for the world."""
    named = {body.name: body for body in scene.bodies}
    return named.get(joint.body_a), named[joint.body_b]


def tree_joints(scene):
    """The joints that hang each body on its parent; the others close loops."""
    tree, hanging = [], set()
    for joint in scene.joints:
        if joint.body_b not in hanging:
            hanging.add(joint.body_b)
            tree.append(joint)
    return tree


def drive_of(joint):
    """The velocity drive of a hinge, an Axis, or None."""
    axis = joint.axes.get("rz")
    return axis if axis is not None and axis.drive == "velocity" else None
