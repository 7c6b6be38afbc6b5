# SPDX-License-Identifier: GPL-3.0-or-later
"""MuJoCo, its C library through the ``mujoco`` package: bodies that hang on joints move in reduced coordinates."""

from xml.sax.saxutils import quoteattr

import mujoco
import numpy as np
from axion.solver import Box, Capsule, ConvexHull, Sphere, rotations

from .common import (
    angle_limits,
    collides,
    drive_of,
    dynamic_bodies,
    fixed_boxes,
    has_floor,
    in_body,
    joint_bodies,
    only_shape,
    pair_material,
    record,
    spring_of,
    tree_joints,
    turned_into,
)

HARD = "0.99 0.999 0.001 0.5 2"
HINGE_WIDTH = 0.1
"""Between the two points that stand for a hinge where a loop in space is closed [m]."""
BOUNCE_STIFFNESS = 1e5
"""Of contacts that bounce [1/s^2]: their damping is chosen for the restitution, as the manual's formula says."""


def version():
    """What ran."""
    return f"MuJoCo {mujoco.__version__}"


def run(scene, frames, fps, watch, substeps=40, hard=True):
    """See the package.  ``substeps`` a frame; ``hard``: contacts and loops as stiff as they go, else MuJoCo's own."""
    model = mujoco.MjModel.from_xml_string(_Document(scene, 1.0 / (fps * substeps), hard).text())
    data = mujoco.MjData(model)
    bodies = dynamic_bodies(scene)
    joint_of = {joint.body_b: joint for joint in tree_joints(scene)}
    _set_velocities(model, data, scene, joint_of)
    data.ctrl[:] = [drive_of(joint).target for joint in joint_of.values() if drive_of(joint)]
    mujoco.mj_forward(model, data)
    numbers = [model.body(body.name).id for body in bodies]

    def advance():
        mujoco.mj_step(model, data, substeps)

    def read():
        return data.xpos[numbers].copy(), data.xquat[numbers][:, [1, 2, 3, 0]]

    return record(scene, frames, watch, read, advance)


def _set_velocities(model, data, scene, joint_of):
    """Give the joints the velocities at which the bodies start; refuse those that the joints do not allow."""
    named = {body.name: body for body in scene.bodies}
    for body in dynamic_bodies(scene):
        local = rotations.rotate(rotations.conjugate(body.orientation), body.angular_velocity)
        joint = joint_of.get(body.name)
        if joint is None:
            first = model.joint(f"free {body.name}").dofadr[0]
            data.qvel[first : first + 3] = body.linear_velocity
            data.qvel[first + 3 : first + 6] = local
            continue
        first = model.joint(joint.name).dofadr[0]
        carried = named[joint.body_a].angular_velocity if joint.body_a in named else np.zeros(3)
        relative = body.angular_velocity - carried
        if joint.kind == "hinge":
            axis = rotations.rotate(joint.orientation, np.array([0.0, 0.0, 1.0]))
            data.qvel[first] = axis @ relative
        else:
            data.qvel[first : first + 3] = rotations.rotate(rotations.conjugate(body.orientation), relative)
    mujoco.mj_forward(model, data)
    found = np.zeros(6)
    for body in dynamic_bodies(scene):
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, model.body(body.name).id, found, 0)
        off = np.abs(found - [*body.angular_velocity, *body.linear_velocity]).max()
        if off > 1e-6:
            raise RuntimeError(f"{body.name}: MuJoCo starts it with a velocity that is off by {off:.2g}")


def _numbers(values):
    return " ".join(f"{value:.12g}" for value in np.atleast_1d(values))


def _wxyz(orientation):
    return _numbers([orientation[3], *orientation[:3]])


def _range(joint):
    """Limits of a joint's angles; a ball's is one for the whole turn, whatever its axis."""
    limits = angle_limits(joint)
    if not limits:
        return ""
    if len(set(limits.values())) > 1:
        raise NotImplementedError(f"{joint.name}: MuJoCo limits all angles of a ball joint alike")
    limit = limits.popitem()[1]
    return f' limited="true" range="{0.0 if joint.kind == "ball" else -limit:.9g} {limit:.9g}"'


def _spring(joint):
    axis = spring_of(joint)
    return "" if axis is None else f' stiffness="{axis.stiffness:.12g}" damping="{axis.damping:.12g}"'


class _Document:
    """The scene as MuJoCo's XML."""

    def __init__(self, scene, step, hard):
        self.scene, self.step, self.hard = scene, step, hard
        self.named = {body.name: body for body in scene.bodies}
        self.tree = {joint.body_b: joint for joint in tree_joints(scene)}
        self.children = {}
        for body in dynamic_bodies(scene):
            parent = self.tree[body.name].body_a if body.name in self.tree else None
            self.children.setdefault(parent, []).append(body)

    def text(self):
        # An explosion must show: MuJoCo would put everything back to the start and go on.
        option = (
            f'<option timestep="{self.step:.15g}" gravity="{_numbers(self.scene.gravity)}" integrator="implicitfast" '
            f'cone="elliptic" iterations="100" tolerance="1e-8" impratio="{10 if self.hard else 1}">'
            '<flag autoreset="disable"/></option>'
        )
        floor = '<geom type="plane" size="0 0 1"/>' if has_floor(self.scene) else ""
        parts = [
            '<mujoco><compiler angle="radian"/>',
            option,
            '<size memory="1G"/>',
            self._defaults(),
            "<asset>",
            *self._meshes(),
            "</asset><worldbody>",
            floor,
            *map(self._stair, fixed_boxes(self.scene)),
            *(line for body in self.children.get(None, []) for line in self._body(body)),
            "</worldbody><equality>",
            *self._loops(),
            "</equality><actuator>",
            *self._motors(),
            "</actuator></mujoco>",
        ]
        return "\n".join(parts)

    def _defaults(self):
        friction, restitution = pair_material(self.scene)
        touch = f'solref="{2 * self.step:.9g} 1" solimp="{HARD}"' if self.hard else ""
        limit = f'<joint solreflimit="{2 * self.step:.9g} 1" solimplimit="{HARD}"/>' if self.hard else ""
        loop = f'<equality solref="{max(2 * self.step, 0.004):.9g} 1" solimp="{HARD}"/>' if self.hard else ""
        if restitution > 0.0:
            logarithm = np.log(restitution)
            ratio = -logarithm / np.sqrt(np.pi**2 + logarithm**2)
            damping = -2 * ratio * np.sqrt(BOUNCE_STIFFNESS)
            touch = f'solref="{-BOUNCE_STIFFNESS:.9g} {damping:.9g}" solimp="{HARD}"'
        return f'<default><geom friction="{friction} 0.005 0.0001" {touch} condim="3"/>{limit}{loop}</default>'

    def _meshes(self):
        for body in dynamic_bodies(self.scene):
            shape = only_shape(body)
            if isinstance(shape, ConvexHull):
                yield f'<mesh name={quoteattr(body.name)} vertex="{_numbers(shape.vertices.ravel())}"/>'

    def _body(self, body):
        joint = self.tree.get(body.name)
        parent = self.named.get(joint.body_a) if joint else None
        place, turn = in_body(parent, body.position), turned_into(parent, body.orientation)
        yield f'<body name={quoteattr(body.name)} pos="{_numbers(place)}" quat="{_wxyz(turn)}">'
        if joint is None:
            yield f"<freejoint name={quoteattr('free ' + body.name)}/>"
        else:
            axis = rotations.rotate(turned_into(body, joint.orientation), np.array([0.0, 0.0, 1.0]))
            laws = _range(joint) + _spring(joint)
            yield (
                f'<joint name={quoteattr(joint.name)} type="{joint.kind}" '
                f'pos="{_numbers(in_body(body, joint.position))}" axis="{_numbers(axis)}"{laws}/>'
            )
        yield self._geometry(body)
        for child in self.children.get(body.name, []):
            yield from self._body(child)
        yield "</body>"

    @staticmethod
    def _geometry(body):
        shape = only_shape(body)
        if isinstance(shape, Box):
            form = f'type="box" size="{_numbers(shape.half_extents)}"'
        elif isinstance(shape, Sphere):
            form = f'type="sphere" size="{_numbers(shape.radius)}"'
        elif isinstance(shape, Capsule):
            form = f'type="capsule" size="{_numbers([shape.radius, shape.half_height])}"'
        elif isinstance(shape, ConvexHull):
            form = f'type="mesh" mesh={quoteattr(body.name)}'
        else:
            raise NotImplementedError(f"{body.name}: MuJoCo would take the convex hull of a {type(shape).__name__}")
        alone = "" if collides(body) else ' contype="0" conaffinity="0"'
        return f'<geom {form} mass="{body.mass_properties()[0]:.12g}"{alone}/>'

    @staticmethod
    def _stair(body):
        place, turn = _numbers(body.position), _wxyz(body.orientation)
        return f'<geom type="box" size="{_numbers(only_shape(body).half_extents)}" pos="{place}" quat="{turn}"/>'

    def _loops(self):
        axes = [self._axis(joint) for joint in self.scene.joints if joint.kind == "hinge"]
        planar = all(np.linalg.norm(np.cross(axis, axes[0])) < 1e-9 for axis in axes)
        for joint in self.scene.joints:
            if joint is not self.tree[joint.body_b]:
                yield self._connect(joint, joint.position)
                if joint.kind == "hinge" and not planar:  # MuJoCo has no hinge that closes a loop
                    yield self._connect(joint, joint.position + HINGE_WIDTH * self._axis(joint))

    @staticmethod
    def _axis(joint):
        return rotations.rotate(joint.orientation, np.array([0.0, 0.0, 1.0]))

    def _connect(self, joint, place):
        a, b = joint_bodies(self.scene, joint)
        # The anchor is the first body's, so that the world, which has no name, comes second.
        first, second = (b, a) if a is None else (a, b)
        other = "" if second is None else f" body2={quoteattr(second.name)}"
        anchor = _numbers(in_body(first, place))
        return f'<connect body1={quoteattr(first.name)}{other} anchor="{anchor}"/>'

    def _motors(self):
        for joint in self.tree.values():
            drive = drive_of(joint)
            if drive is not None:
                limit = f'forcelimited="true" forcerange="{-drive.max_force:.9g} {drive.max_force:.9g}"'
                yield f'<velocity joint={quoteattr(joint.name)} kv="{drive.damping:.9g}" {limit}/>'
