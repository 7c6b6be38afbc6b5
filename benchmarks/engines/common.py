# SPDX-License-Identifier: GPL-3.0-or-later
"""What the engines share: recording a run, and reading a comparison scene."""

import time
from math import inf

import numpy as np
from axion.solver import Box, Plane, rotations

START_TOLERANCE = 1e-5
"""How far an engine's own reading of its start may be from the scene's [m], and each quaternion component: float32."""
CENTRED = 1e-9
"""How far a centre of mass may be from the body's origin [m]: rounding."""


class Watch:
    """Times the frames of a run, and ends it when its CPU time is spent.

    The first frame does not count against ``cpu_limit`` [s]: it may compile kernels.

    Attributes:
        cpu_ms, wall_ms: of every frame so far, lists.
    """

    def __init__(self, cpu_limit=inf):
        self.cpu_limit, self.cpu_ms, self.wall_ms = cpu_limit, [], []

    def start(self):
        """A frame begins."""
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    def stop(self):
        """A frame has ended; False when it was the last."""
        self.cpu_ms.append(1e3 * (time.process_time() - self._cpu))
        self.wall_ms.append(1e3 * (time.perf_counter() - self._wall))
        return sum(self.cpu_ms[1:]) < 1e3 * self.cpu_limit


class Recording:
    """Poses of every body after every frame of a run that a Watch times."""

    def __init__(self, scene, watch):
        start = [body.start() for body in scene.bodies]
        self.position = [np.array([position for position, _ in start])]
        self.orientation = [np.array([orientation for _, orientation in start])]
        self.moving = np.array([i for i, body in enumerate(scene.bodies) if body.motion == "dynamic"], int)
        self.watch = watch
        watch.start()

    def check_start(self, position, orientation):
        """Refuse a translation whose dynamic bodies do not start where the scene has them."""
        apart = np.abs(np.asarray(position) - self.position[0][self.moving]).max()
        turned = 1.0 - np.abs((np.asarray(orientation) * self.orientation[0][self.moving]).sum(axis=-1)).min()
        if not max(apart, turned) < START_TOLERANCE:
            raise RuntimeError(f"the bodies start {apart:.2g} m and {turned:.2g} away from where the scene has them")

    def add(self, position, orientation):
        """Take the poses of the dynamic bodies, (D, 3) and (D, 4), after a frame; False when it was the last."""
        more = self.watch.stop()
        for series, values in ((self.position, position), (self.orientation, orientation)):
            series.append(series[0].copy())
            series[-1][self.moving] = values
        self.watch.start()
        return more

    def result(self):
        """(position (F+1, B, 3) [m], orientation (F+1, B, 4)) of the frames so far."""
        return np.array(self.position), np.array(self.orientation)


def record(scene, frames, watch, read, advance):
    """Run an engine that is driven frame by frame.

    Args:
        scene: Scene.
        frames: how many to run.
        watch: Watch.
        read: () -> (position (D, 3), orientation (D, 4)) of the dynamic bodies, in the scene's order.
        advance: simulates one frame.

    Returns:
        what ``Recording.result`` says.
    """
    recording = Recording(scene, watch)
    recording.check_start(*read())
    watch.start()
    for _ in range(frames):
        advance()
        if not recording.add(*read()):
            break
    return recording.result()


def dynamic_bodies(scene):
    """The bodies that move."""
    return [body for body in scene.bodies if body.motion == "dynamic"]


def _fixed(scene, kind):
    fixed = [body for body in scene.bodies if body.motion != "dynamic"]
    if any(not isinstance(shape, (Plane, Box)) for body in fixed for shape in body.shapes):
        raise NotImplementedError("only planes at z = 0 and boxes are translated as fixed bodies")
    return [body for body in fixed if isinstance(only_shape(body), kind)]


def has_floor(scene):
    """Whether the ground z <= 0 is solid."""
    return bool(_fixed(scene, Plane))


def fixed_boxes(scene):
    """The bodies of one box each that stay where they are."""
    return _fixed(scene, Box)


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
    centred = body.motion != "dynamic" or np.abs(body.mass_properties()[1]).max() <= CENTRED
    if np.abs(shape.position).max() > 0.0 or not centred:
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


def spring_of(joint):
    """The spring of a hinge that pulls it back to its start, an Axis, or None."""
    axis = joint.axes.get("rz")
    return axis if axis is not None and axis.stiffness > 0.0 else None


def angle_limits(joint):
    """{axis: limit [rad]} of the angles that a joint keeps between -limit and +limit."""
    limits = {}
    for name, axis in joint.axes.items():
        if np.isfinite([axis.lower, axis.upper]).any():
            if axis.lower != -axis.upper or name not in ("rx", "ry", "rz"):
                raise NotImplementedError(f"{joint.name}: only limits of angles, as far to both sides, are translated")
            limits[name] = float(axis.upper)
    return limits
