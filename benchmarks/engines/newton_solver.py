# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's own solvers on the CPU.  A frame is captured once and replayed: no time goes into launching kernels."""

import newton
import numpy as np
import warp as wp
from axion.solver import Box, Capsule, ConvexHull, Sphere, rotations
from axion.solver.convex_hull import convex_hull

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

EAGER_FRAMES = 2
"""Frames before the capture: buffers are allocated and kernels compiled in them."""
CONTACTS_A_BODY = 40
WORLD_AXES = np.array([0.0, 0.0, 0.0, 1.0])


def version():
    """What ran."""
    return f"Newton {newton.__version__}, Warp {wp.__version__}"


def run(scene, frames, fps, watch, solver="xpbd", substeps=10, device="cpu"):
    """See the package.  ``substeps`` a frame, an even number; ``solver``: a key of SOLVERS."""
    if substeps % 2:
        raise ValueError(f"substeps is {substeps}: give an even number, so that the two states end where they began")
    wp.config.quiet = True
    build = SOLVERS[solver]
    builder = newton.ModelBuilder(gravity=tuple(map(float, scene.gravity)))
    if build.register is not None:
        build.register(builder)
    numbers = _fill(builder, scene, build.contact_stiffness)
    if solver == "vbd":
        builder.color()
    model = builder.finalize(device=device, skip_validation_joints=bool(scene.joints))
    states = [model.state(), model.state()]
    control = model.control()
    _set_velocities(model, states[0], scene, numbers)
    stepper, pipeline = build.make(model, scene)
    contacts = pipeline.contacts() if pipeline is not None else None
    step = 1.0 / (fps * substeps)

    def one_frame():
        for _ in range(substeps):
            states[0].clear_forces()
            if pipeline is not None:
                pipeline.collide(states[0], contacts)
            stepper.step(states[0], states[1], control, contacts, step)
            states.reverse()

    graph, done = None, 0

    def advance():
        nonlocal graph, done
        if done < EAGER_FRAMES:
            one_frame()
        else:
            if graph is None:
                with wp.ScopedCapture(device=device) as capture:
                    one_frame()
                graph = capture.graph
            wp.capture_launch(graph)
        done += 1

    def read():
        poses = states[0].body_q.numpy()[numbers].astype(float)
        return poses[:, :3], poses[:, 3:]

    return record(scene, frames, watch, read, advance)


def _transform(position, orientation):
    return wp.transform(wp.vec3(*map(float, position)), wp.quat(*map(float, orientation)))


def _fill(builder, scene, stiffness):
    """Add the scene's bodies and joints; returns the body numbers of the dynamic bodies."""
    friction, restitution = pair_material(scene)

    def material(density, touching=True):
        given = {} if stiffness is None else {"ke": stiffness, "kd": 0.0}
        return newton.ModelBuilder.ShapeConfig(
            density=float(density),
            mu=float(friction),
            restitution=float(restitution),
            has_shape_collision=touching,
            collision_group=1 if touching else 0,
            **given,
        )

    if has_floor(scene):
        builder.add_ground_plane(cfg=material(0.0))
    for body in fixed_boxes(scene):
        x, y, z = map(float, only_shape(body).half_extents)
        place = _transform(body.position, body.orientation)
        builder.add_shape_box(-1, xform=place, hx=x, hy=y, hz=z, cfg=material(0.0))
    jointed = {name for joint in scene.joints for name in (joint.body_a, joint.body_b)}
    number_of = {}
    for body in dynamic_bodies(scene):
        add = builder.add_link if body.name in jointed else builder.add_body
        number = number_of[body.name] = add(xform=_transform(body.position, body.orientation))
        shape = only_shape(body)
        looks = material(body.mass_properties()[0] / shape.volume(), collides(body))
        if isinstance(shape, Box):
            x, y, z = map(float, shape.half_extents)
            builder.add_shape_box(number, hx=x, hy=y, hz=z, cfg=looks)
        elif isinstance(shape, Sphere):
            builder.add_shape_sphere(number, radius=float(shape.radius), cfg=looks)
        elif isinstance(shape, Capsule):
            size = {"radius": float(shape.radius), "half_height": float(shape.half_height)}
            builder.add_shape_capsule(number, **size, cfg=looks)
        elif not isinstance(shape, ConvexHull):
            raise NotImplementedError(f"{body.name}: a {type(shape).__name__} is not translated for Newton")
        else:
            triangles = convex_hull(shape.vertices).astype(np.int32).ravel()
            mesh = newton.Mesh(shape.vertices.astype(np.float32), triangles)
            builder.add_shape_convex_hull(number, mesh=mesh, cfg=looks)
    tree = tree_joints(scene)
    hanging = [_joint(builder, scene, joint, number_of) for joint in tree]
    if hanging:
        builder.add_articulation(hanging)  # it takes joints of consecutive numbers alone: those of loops come after it
    for joint in scene.joints:
        if joint not in tree:
            _joint(builder, scene, joint, number_of)
    return list(number_of.values())


def _joint(builder, scene, joint, number_of):
    a, b = joint_bodies(scene, joint)
    limits = angle_limits(joint)
    # Joint frames along the world's axes with the hinge's axis named in them, free of rounding: XPBD of Newton 1.8
    # returns NaN on the four-bar linkage when the axis is a little longer than 1, or a turned frame's Z.
    frames = {
        "parent_xform": _transform(in_body(a, joint.position), turned_into(a, WORLD_AXES)),
        "child_xform": _transform(in_body(b, joint.position), turned_into(b, WORLD_AXES)),
    }
    pair = (-1 if a is None else number_of[a.name], number_of[b.name])
    if joint.kind == "ball" and not limits:
        return builder.add_joint_ball(*pair, **frames)
    if joint.kind == "ball":
        axis = newton.ModelBuilder.JointDofConfig
        angles = [
            axis(axis=tuple(along), limit_lower=-limits.get(name, np.pi), limit_upper=limits.get(name, np.pi))
            for name, along in zip(("rx", "ry", "rz"), np.eye(3).tolist(), strict=True)
        ]
        return builder.add_joint_d6(*pair, angular_axes=angles, **frames)
    drive = drive_of(joint)
    motor = {f"limit_{side}": sign * limit for limit in limits.values() for side, sign in (("lower", -1), ("upper", 1))}
    if drive is not None:
        motor |= {
            "target_qd": float(drive.target),
            "target_kd": float(drive.damping),
            "target_ke": 0.0,
            "actuator_mode": newton.JointTargetMode.VELOCITY,
            "effort_limit": float(drive.max_force),
        }
    spring = spring_of(joint)
    if spring is not None:
        motor |= {
            "target_q": 0.0,
            "target_ke": float(spring.stiffness),
            "target_kd": float(spring.damping),
            "actuator_mode": newton.JointTargetMode.POSITION,
        }
    axis = np.round(rotations.rotate(joint.orientation, np.array([0.0, 0.0, 1.0])), 12)
    return builder.add_joint_revolute(*pair, axis=tuple(map(float, axis)), **frames, **motor)


def _set_velocities(model, state, scene, numbers):
    velocity = state.body_qd.numpy()
    for number, body in zip(numbers, dynamic_bodies(scene), strict=True):
        velocity[number] = [*body.linear_velocity, *body.angular_velocity]
    state.body_qd.assign(velocity)
    if state.joint_q is not None and len(state.joint_q):  # solvers in reduced coordinates start from these
        newton.eval_ik(model, state, state.joint_q, state.joint_qd)


class _Solver:
    """How one of Newton's solvers is made: ``make(model, scene)`` -> (solver, collision pipeline or None)."""

    def __init__(self, make, register=None, contact_stiffness=None):
        self.make, self.register, self.contact_stiffness = make, register, contact_stiffness


def _xpbd(model, scene):
    restitution = pair_material(scene)[1]
    solver = newton.solvers.SolverXPBD(model, iterations=10, enable_restitution=restitution > 0.0)
    return solver, newton.CollisionPipeline(model)


def _vbd(model, scene):
    pipeline = newton.CollisionPipeline(model, contact_matching="latest")
    solver = newton.solvers.SolverVBD(
        model,
        iterations=20,
        rigid_contact_history=True,
        rigid_joint_linear_ke=1e9,
        rigid_joint_angular_ke=1e9,
        rigid_body_contact_buffer_size=256,
    )
    return solver, pipeline


def _steel(model, scene):
    pipeline = newton.CollisionPipeline(model, contact_matching="latest")
    model.steel.rigid_body_angular_damping.fill_(0.0)
    limited = any(angle_limits(joint) for joint in scene.joints)
    solver = newton.solvers.SolverSteel(
        model,
        iterations=50,
        contact_warmstart=True,
        free_body_constraint_max=max(512, 60 * len(scene.bodies)),
        articulation_constraint_max=64,
        enable_joint_limits=limited,  # else it knows none, and any limit takes room
        drive_mode="rows",  # the other mode lets a drive have more than its torque
    )
    return solver, pipeline


def _kamino_config(model, scene, dynamics):
    config = newton.solvers.SolverKamino.Config.from_model(model, dynamics_solver=dynamics)
    config.use_collision_detector = True
    config.collision_detector.pipeline = "unified"
    config.collision_detector.max_contacts_per_world = max(64, CONTACTS_A_BODY * len(scene.bodies))
    return config


def _kamino(model, scene):
    config = _kamino_config(model, scene, "padmm")
    padmm = config.padmm
    padmm.primal_tolerance = padmm.dual_tolerance = padmm.compl_tolerance = 1e-4
    padmm.max_iterations, padmm.rho_0 = 200, 0.1
    padmm.contact_warmstart_method = "geom_pair_net_force"
    return newton.solvers.SolverKamino(model, config=config), None


def _kamino_defaults(dynamics):
    """How Kamino is made with one of its other dynamics solvers, at its defaults."""

    def make(model, scene):
        return newton.solvers.SolverKamino(model, config=_kamino_config(model, scene, dynamics)), None

    return make


SOLVERS = {
    "xpbd": _Solver(_xpbd),
    "vbd": _Solver(_vbd, contact_stiffness=1e8),
    "steel": _Solver(_steel, newton.solvers.SolverSteel.register_custom_attributes),
    "kamino": _Solver(_kamino, newton.solvers.SolverKamino.register_custom_attributes),
    "kamino_dvi": _Solver(_kamino_defaults("dvi"), newton.solvers.SolverKamino.register_custom_attributes),
    "kamino_lox": _Solver(_kamino_defaults("lox"), newton.solvers.SolverKamino.register_custom_attributes),
}
