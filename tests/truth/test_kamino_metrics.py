# SPDX-License-Identifier: GPL-3.0-or-later
"""A step of ours judged by newton's Kamino: its SolutionMetrics, of our contacts, impulses and end velocity.

Kamino asks for the laws with the directions of the start of the step: M (u+ - u-) = h w + J-^T p, and p and J- u+ in
their cones and complementary.  Ours takes them at the end or half way, so all agrees to O(h), and exactly where nothing
turns.  It knows nothing of our code.
"""

from itertools import pairwise

import numpy as np
import pytest
import warp as wp
from axion.solver import Body, Box, Plane, Scene, SolverConfig, rotations, simulate
from figures import figure
from newton import ModelBuilder
from newton._src.solvers.kamino._src.core.bodies import update_body_inertias, update_body_wrenches
from newton._src.solvers.kamino._src.core.model import ModelKamino
from newton._src.solvers.kamino._src.dynamics.dual import DualProblem
from newton._src.solvers.kamino._src.dynamics.wrenches import compute_constraint_body_wrenches
from newton._src.solvers.kamino._src.geometry.contacts import ContactsKamino
from newton._src.solvers.kamino._src.kinematics.constraints import (
    make_unilateral_constraints_info,
    update_constraints_info,
)
from newton._src.solvers.kamino._src.kinematics.jacobians import DenseSystemJacobians
from newton._src.solvers.kamino._src.linalg import LLTBlockedSolver
from newton._src.solvers.kamino._src.solvers.metrics import SolutionMetrics
from scenes import GRAVITY

HALF, MASS, FRICTION = 0.1, 1.0, 0.5
SCENES = {  # velocity of the box [m/s], [rad/s]
    "box at rest": ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    "box that slides": ((1.0, 0.5, 0.0), (0.0, 0.0, 0.0)),
    "box that slides and spins": ((1.0, 0.5, 0.0), (0.0, 0.0, 2.0)),
}
RESIDUALS = ("r_eom", "r_ncp_primal", "r_ncp_dual", "r_ncp_compl", "r_vi_natmap", "r_v_plus")


def our_step(name, step):
    """(points (4, 3) at the start [m], impulses (4, 3) on the box [N s], end velocity (6,)) of one step."""
    speed, spin = SCENES[name]
    scene = Scene()
    scene.add(Body("Ground", [Plane()], motion="static", friction=FRICTION))
    scene.add(
        Body("Box", [Box((HALF,) * 3)], position=(0, 0, HALF), mass=MASS, friction=FRICTION, linear_velocity=speed,
             angular_velocity=spin)
    )  # fmt: skip
    config = SolverConfig(device="cpu", substeps=1, tolerance=1e-9, record_forces=True)
    trajectory = simulate(scene, 1, 1.0 / step, config)
    forces = trajectory.forces.frame(1)
    sign = np.where(forces.contact_body[:, :1] == 1, 1.0, -1.0)
    # Those points of the box where they were at the start: upright, its middle HALF above the ground.
    own = rotations.rotate(
        rotations.conjugate(trajectory.orientation[1, 1])[None], forces.contact_point - trajectory.position[1, 1]
    )
    return (
        own + (0, 0, HALF),
        sign * forces.contact_force * step,
        np.hstack([trajectory.linear_velocity[1, 1], trajectory.angular_velocity[1, 1]]),
    )


def kamino_judges(ours, name, step):
    """{residual: value} by Kamino of a step as ``our_step`` gives it; velocities [m/s], impulses [N s]."""
    points, impulses, end = ours
    assert len(points) == 4
    builder = ModelBuilder()
    builder.begin_world(label="box")
    inertia = wp.mat33(np.eye(3) * MASS * (2.0 * HALF) ** 2 / 6.0)
    body = builder.add_body(
        mass=MASS, inertia=inertia, xform=wp.transformf(0.0, 0.0, HALF, 0.0, 0.0, 0.0, 1.0), lock_inertia=True
    )
    builder.add_shape_box(body=body, hx=HALF, hy=HALF, hz=HALF, cfg=ModelBuilder.ShapeConfig(mu=FRICTION))
    builder.add_ground_plane(cfg=ModelBuilder.ShapeConfig(mu=FRICTION))
    builder.end_world()
    builder.body_qd[body] = wp.spatial_vectorf(*SCENES[name][0], *SCENES[name][1])
    model = ModelKamino.from_newton(builder.finalize(device="cpu"))
    model.time.dt.fill_(wp.float32(step))
    model.time.inv_dt.fill_(wp.float32(1.0 / step))
    data, before, contacts = model.data(), model.state(), ContactsKamino(capacity=[4], device="cpu")
    contacts.model_active_contacts.assign([4])
    contacts.world_active_contacts.assign([4])
    contacts.wid.assign([0] * 4)
    contacts.cid.assign(range(4))
    contacts.bid_AB.assign([(-1, 0)] * 4)
    contacts.position_A.assign(points.astype(np.float32))
    contacts.position_B.assign(points.astype(np.float32))
    contacts.gapfunc.assign(np.column_stack([np.tile([0.0, 0.0, 1.0], (4, 1)), points[:, 2]]).astype(np.float32))
    contacts.frame.assign(np.tile(np.float32([0, 0, 0, 1]), (4, 1)))  # two tangents along x and y, then the normal
    contacts.material.assign(np.tile(np.float32([FRICTION, 0.0]), (4, 1)))
    make_unilateral_constraints_info(model, data, None, contacts)
    jacobians = DenseSystemJacobians(model=model, limits=None, contacts=contacts)
    problem = DualProblem(
        model=model, data=data, limits=None, contacts=contacts, jacobians=jacobians, solver=LLTBlockedSolver,
        sparse=False,
    )  # fmt: skip
    update_body_inertias(model=model.bodies, data=data.bodies)
    update_constraints_info(model=model, data=data)
    jacobians.build(model=model, data=data, limits=None, contacts=contacts.data)
    problem.build(model=model, data=data, limits=None, contacts=contacts, jacobians=jacobians)
    lambdas = wp.array(impulses.astype(np.float32).ravel(), dtype=wp.float32, device="cpu")
    velocities = end[:3] + np.cross(end[3:], points - (0, 0, HALF))
    slips = wp.array(velocities.astype(np.float32).ravel(), dtype=wp.float32, device="cpu")
    compute_constraint_body_wrenches(model, data, jacobians, problem.data.vio, lambdas, None, contacts)
    update_body_wrenches(model.bodies, data.bodies)
    data.bodies.u_i.assign(end[None].astype(np.float32))
    metrics = SolutionMetrics(model=model)
    metrics.reset()
    metrics.evaluate(
        sigma=wp.zeros(1, dtype=wp.vec2f, device="cpu"), lambdas=lambdas, v_plus=slips, model=model, data=data,
        state_p=before, problem=problem, jacobians=jacobians, limits=None, contacts=contacts,
    )  # fmt: skip
    return {residual: float(getattr(metrics.data, residual).numpy()[0]) for residual in RESIDUALS}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["box at rest", "box that slides"])
def test_kamino_finds_a_step_that_does_not_turn_to_obey_its_laws(name):
    # Nothing turns, so directions are the same all along: to single precision, which is Kamino's.
    judged = kamino_judges(our_step(name, 1.0 / 24.0), name, 1.0 / 24.0)
    for residual in RESIDUALS:
        assert figure(f"{name}, judged by Kamino", residual, judged[residual], 1e-6, "m/s or N s") < 1e-6


@pytest.mark.slow
def test_what_kamino_finds_in_a_step_that_turns_falls_with_the_step():
    # Directions turn by w h in a step, and gravity changes speeds by g h: all is off by some g w h^2, a quarter of it
    # with half the step.  Impulses stay in their cones at any.
    name, judged = "box that slides and spins", {}
    for fps in (24, 48, 96):
        judged[fps] = kamino_judges(our_step(name, 1.0 / fps), name, 1.0 / fps)
        for residual in RESIDUALS:
            figure(f"{name}, {fps} fps, judged by Kamino", residual, judged[fps][residual], "h^2", "m/s or N s")
        assert judged[fps]["r_ncp_primal"] < 1e-6
        bound = 2.0 * GRAVITY * SCENES[name][1][2] / fps**2
        assert figure(f"{name}, {fps} fps, judged by Kamino", "worst", max(judged[fps].values()), bound) < bound
    for coarse, fine in pairwise(judged):
        for residual in RESIDUALS:
            if residual != "r_ncp_primal":  # r_ncp_compl, a product of two, falls faster than the others
                ratio = judged[coarse][residual] / judged[fine][residual]
                assert figure(name, f"{residual} at {coarse} fps over that at {fine}", ratio, "> 3.4") > 3.4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "residual"), [("weight", "r_eom"), ("friction", "r_ncp_primal"), ("slip", "r_v_plus")]
)
def test_kamino_sees_what_is_wrong(wrong, residual):
    # A tenth off in the normal impulses, in friction, which then leaves its cone, or in the end velocity.
    name = "box that slides"
    points, impulses, end = our_step(name, 1.0 / 24.0)
    if wrong == "slip":
        end = 1.1 * end
    else:
        impulses[:, slice(2, 3) if wrong == "weight" else slice(0, 2)] *= 1.1
    judged = kamino_judges((points, impulses, end), name, 1.0 / 24.0)
    assert figure(f"{name}, {wrong} a tenth off", residual, judged[residual], "> 1e-3") > 1e-3
