# SPDX-License-Identifier: GPL-3.0-or-later
"""MuJoCo, its C library through the ``mujoco`` package: bodies that hang on joints move in reduced coordinates."""

from math import inf
from xml.sax.saxutils import quoteattr

import mujoco
import numpy as np
from axion.solver import Box, Sphere, rotations

from .common import (
    collides,
    drive_of,
    dynamic_bodies,
    has_floor,
    in_body,
    joint_bodies,
    only_shape,
    pair_material,
    record,
    tree_joints,
    turned_into,
)

HARD = "0.99 0.999 0.001 0.5 2"
BOUNCE_STIFFNESS = 1e5
"""Of contacts that bounce [1/s^2]: their damping is chosen for the restitution, as the manual's formula says."""


def version():
    """What ran."""
    return f"MuJoCo {mujoco.__version__}"


def run(scene, frames, fps, cpu_limit=inf, substeps=40):
    """See the package.  ``substeps`` a frame."""
    model = mujoco.MjModel.from_xml_string(_Document(scene, 1.0 / (fps * substeps)).text())
    data = mujoco.MjData(model)
    bodies = dynamic_bodies(scene)
    joint_of = {joint.body_b: joint for joint in tree_joints(scene)}
    for body in bodies:
        if body.name not in joint_of:
            first = model.joint(f"free {body.name}").dofadr[0]
            data.qvel[first : first + 3] = body.linear_velocity
            local = rotations.rotate(rotations.conjugate(body.orientation), body.angular_velocity)
            data.qvel[first + 3 : first + 6] = local
    data.ctrl[:] = [drive_of(joint).target for joint in joint_of.values() if drive_of(joint)]
    mujoco.mj_forward(model, data)
    numbers = [model.body(body.name).id for body in bodies]

    def advance():
        mujoco.mj_step(model, data, substeps)

    def read():
        return data.xpos[numbers].copy(), data.xquat[numbers][:, [1, 2, 3, 0]]

    return record(scene, frames, cpu_limit, read, advance)


def _numbers(values):
    return " ".join(f"{value:.12g}" for value in np.atleast_1d(values))


def _wxyz(orientation):
    return _numbers([orientation[3], *orientation[:3]])


class _Document:
    """The scene as MuJoCo's XML."""

    def __init__(self, scene, step):
        self.scene, self.step = scene, step
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
            'cone="elliptic" iterations="100" tolerance="1e-8" impratio="10"><flag autoreset="disable"/></option>'
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
        solref = f"{2 * self.step:.9g} 1"
        if restitution > 0.0:
            logarithm = np.log(restitution)
            ratio = -logarithm / np.sqrt(np.pi**2 + logarithm**2)
            solref = f"{-BOUNCE_STIFFNESS:.9g} {-2 * ratio * np.sqrt(BOUNCE_STIFFNESS):.9g}"
        return (
            f'<default><geom friction="{friction} 0.005 0.0001" solref="{solref}" solimp="{HARD}" condim="3"/>'
            f'<equality solref="{max(2 * self.step, 0.004):.9g} 1" solimp="{HARD}"/></default>'
        )

    def _meshes(self):
        for body in dynamic_bodies(self.scene):
            shape = only_shape(body)
            if not isinstance(shape, (Box, Sphere)):
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
            yield (
                f'<joint name={quoteattr(joint.name)} type="{joint.kind}" '
                f'pos="{_numbers(in_body(body, joint.position))}" axis="{_numbers(axis)}"/>'
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
        else:
            form = f'type="mesh" mesh={quoteattr(body.name)}'
        alone = "" if collides(body) else ' contype="0" conaffinity="0"'
        return f'<geom {form} mass="{body.mass_properties()[0]:.12g}"{alone}/>'

    def _loops(self):
        for joint in self.scene.joints:
            if joint is not self.tree[joint.body_b]:
                a, b = joint_bodies(self.scene, joint)
                anchor = _numbers(in_body(a, joint.position))
                yield f'<connect body1={quoteattr(a.name)} body2={quoteattr(b.name)} anchor="{anchor}"/>'

    def _motors(self):
        for joint in self.tree.values():
            drive = drive_of(joint)
            if drive is not None:
                limit = f'forcelimited="true" forcerange="{-drive.max_force:.9g} {drive.max_force:.9g}"'
                yield f'<velocity joint={quoteattr(joint.name)} kv="{drive.damping:.9g}" {limit}/>'
