# SPDX-License-Identifier: GPL-3.0-or-later
"""Small newton models, and their motion under SolverAxion."""

import newton
import numpy as np
import warp as wp
from axion.solver.newton_solver import SolverAxion

G = 9.81
STEP = 1e-3
INERTIA = (0.02, 0.03, 0.04)


def builder(gravity=0.0):
    """An empty ModelBuilder with Z up."""
    return newton.ModelBuilder(gravity=(0.0, 0.0, -gravity), up_axis=newton.Axis.Z)


def link(build, mass=2.0, com=(0.0, 0.0, 0.0), **options):
    """A link with mass properties and no shape."""
    return build.add_link(mass=mass, com=wp.vec3(*com), inertia=wp.mat33(*np.diag(INERTIA).ravel()), **options)


class Run:
    """A model in motion: ``go(steps)``, then ``q``, ``qd`` (joint coordinates) and ``pose``, ``twist`` (bodies)."""

    def __init__(self, build, joints=None, collide=False):
        if joints is not None:
            build.add_articulation(joints)
        self.model = build.finalize(device="cpu")
        self.solver = SolverAxion(self.model)
        self.state, self.next = self.model.state(), self.model.state()
        self.control = self.model.control()
        self.pipeline = newton.CollisionPipeline(self.model) if collide else None
        self.contacts = self.pipeline.contacts() if collide else None
        newton.eval_fk(self.model, self.state.joint_q, self.state.joint_qd, self.state)

    def go(self, steps, body_f=None, step=STEP):
        """Advance; body_f: (B, 6) on the bodies throughout."""
        for _ in range(steps):
            self.state.clear_forces()
            if body_f is not None:
                self.state.body_f.assign(np.asarray(body_f, np.float32))
            if self.pipeline is not None:
                self.pipeline.collide(self.state, self.contacts)
            self.solver.step(self.state, self.next, self.control, self.contacts, step)
            self.state, self.next = self.next, self.state
        return self

    q = property(lambda self: self.state.joint_q.numpy().astype(float))
    qd = property(lambda self: self.state.joint_qd.numpy().astype(float))
    pose = property(lambda self: self.state.body_q.numpy().astype(float))
    twist = property(lambda self: self.state.body_qd.numpy().astype(float))


def revolute(gravity=0.0, com=(0.0, 0.0, 0.0), **options):
    """One link on a revolute joint about Y, and its Run."""
    build = builder(gravity)
    body = link(build, com=com)
    return Run(build, [build.add_joint_revolute(-1, body, axis=newton.Axis.Y, **options)])


def prismatic(gravity=0.0, **options):
    """One link of 2 kg on a prismatic joint along Z, and its Run."""
    build = builder(gravity)
    body = link(build)
    return Run(build, [build.add_joint_prismatic(-1, body, axis=newton.Axis.Z, **options)])
