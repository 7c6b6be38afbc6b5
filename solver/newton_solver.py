# SPDX-License-Identifier: GPL-3.0-or-later
"""SolverAxion: this solver behind newton's solver interface, for programs that build their scenes with newton.

    model = builder.finalize()
    solver = SolverAxion(model)
    pipeline = newton.CollisionPipeline(model)
    contacts = pipeline.contacts()
    pipeline.collide(state_0, contacts)
    solver.step(state_0, state_1, control, contacts, dt)

A step is a StepProblem like any other (assemble.py), built from the state, the contacts and the joint data that newton
hands over; newton detects the contacts, so a step sees those at its start and no others.
"""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import newton
import numpy as np
import warp as wp

from . import rotations
from .arrays import look, upload
from .assemble import Assembler
from .config import SolverConfig
from .constraints.breaking import row_forces
from .flags import places
from .frames import BodyFrames, principal_axes
from .given_up import calm, held_back
from .hand_over import HandOver, Holding
from .metrics import step_residuals
from .newton_contacts import ContactReader
from .newton_joints import NewtonJoints
from .outline import Outlines
from .passing import HALVED, LAST
from .position_phase import PositionPhase
from .predict import angular_acceleration
from .problem import Contacts, world_impulses
from .proximal import ProximalSolver
from .recording import recorded
from .reference.impact import approach
from .state import State
from .step_end import FIRST_EPS, end_velocity, moved_state
from .twists import count_turns

SHARPNESS = 0.1  # [m/s^2] a residual acts as no more acceleration than that: short steps need a finer tolerance
FINEST = {"float64": 1e-10, "float32": 1e-7}  # [m] what the precision allows
DEEPEST = 4  # a step that misses the tolerance is halved at most this often
KINDS = {int(kind): kind.name for kind in newton.JointType}


class SolverAxion(newton.solvers.SolverBase):
    """Steps a newton.Model of rigid bodies with the implicit non-smooth Newton solver.

    Joints are rigid, and so are their limits (joint_limit_ke, joint_limit_kd are not used); drives, springs, damping,
    friction and armature act implicitly; contact is rigid with Coulomb friction (shape_material_ke, kd, kf are not
    used).  Kinematic bodies push with their body_qd and pass through unchanged.  State.joint_q and joint_qd follow the
    bodies; revolute angles count their turns.  Steps cannot be recorded in a CUDA graph.
    """

    def __init__(self, model, config=None):
        """Make a solver for ``model``, on the model's device.

        Args:
            model: newton.Model.
            config: SolverConfig; its quality or tolerance, precision and joint_damping count.  Default: SolverConfig().

        Raises:
            ValueError: the model holds what this solver cannot move; names it.
        """
        super().__init__(model=model)
        _refuse(model)
        self.config = SolverConfig() if config is None else config
        precision = self.config.precision
        if precision == "auto":
            precision = "float32" if model.device.is_cuda else "float64"
        self._finest = FINEST[precision]
        self._solver = ProximalSolver(model.device, precision)
        self._last = None
        self.notify_model_changed(newton.ModelFlags.ALL)

    def notify_model_changed(self, flags):
        """Read the model's bodies, joints and materials again.  Gravity is read in every step."""
        model = self.model
        self._frames = _frames(model)
        self._joints = NewtonJoints(model, KINDS, self._frames)
        self._reader = ContactReader(model, self._frames)
        flag = model.body_flags.numpy() if model.body_count else np.zeros(0, int)
        self._kinematic = np.append((flag & int(newton.BodyFlags.KINEMATIC)) != 0, False)
        free = np.isfinite(self._frames.mass) & ~self._kinematic
        self._assembler = _NewtonAssembler(self._frames, self._joints, free)
        # Newton detects contacts, once a step: bodies of boundless size never move far enough to look again.
        size = {"body_size": np.full(len(free), np.inf), "body_radius": np.zeros(len(free))}
        bodies = SimpleNamespace(may_touch=True, meshes=SimpleNamespace(bounds=np.zeros((0, 2, 3))), **size)
        self._phase = PositionPhase(
            self._assembler,
            SimpleNamespace(model=bodies, deform=_nothing_deforms),
            self._frames,
            self._joints,
            self._solver,
            self.config.tolerances(),
        )
        self._phase.looks = False
        world = model.body_world.numpy() if model.body_count else np.zeros(0, int)
        self._world = np.append(world, -1)
        self._eps, self._swept = np.full(model.body_count + 1, FIRST_EPS), np.zeros(model.body_count + 1)
        self._written, self._inverse = None, None

    def step(self, state_in, state_out, control, contacts, dt, *, observables=None):
        """Advance bodies, joint_q and joint_qd by ``dt`` [s] from ``state_in`` to ``state_out`` (may be the same).

        control: newton.Control, or None for the model's own.  contacts: newton.Contacts found at state_in, or None for
        none.  observables: none are offered.

        Raises:
            ValueError: contacts that were lost for lack of room, or of a kind that this solver cannot take.
        """
        self.validate_observables(observables, contacts)
        if not self.model.body_count:
            return
        if self.device.is_capturing:
            raise RuntimeError("SolverAxion works on the host between its solves: it cannot be recorded in a graph")
        self._require_unreduced_contacts(contacts)
        state = self._read(state_in)
        self._load(state, state_in, control)
        touching = self._reader.read(contacts, self._assembler.free(0.0)).at(state.position, state.orientation)
        most = float(np.abs(self._assembler.gravity).max(initial=0.0))
        touching = touching.take(touching.near(state.orientation, state.velocity, most, dt))
        self._tolerances(dt)
        state, force = self._advance(state, *self._reader.matched(touching), dt, 0)
        self._reader.remember(touching, force)
        self._write(state, state_in, state_out)

    def residuals(self):
        """StepResiduals (metrics.py) of the last step solved: how well it kept every law, in float64.  None before."""
        return None if self._last is None else step_residuals(self._last[0].problem, self._last[1])

    # One step

    def _tolerances(self, step):
        slow, fast = self.config.tolerances()
        fine = max(SHARPNESS * step**2, self._finest)
        self._phase.slow, self._phase.fast = min(slow, fine), min(fast, fine)
        self._assembler.noise = self._phase.fast

    def _advance(self, state, contacts, force, step, depth):
        """(State after ``step``, (C, 3) world force of each contact [N]); in halves where it misses the tolerance."""
        contacts = contacts.at(state.position, state.orientation)
        assembly = self._assembler.build(state, step, contacts, force * step)
        solved = self._phase.solve(assembly, state, HALVED if depth < DEEPEST else LAST)
        assembly, solution, statistics = solved.assembly, solved.solution, solved.statistics
        sound = statistics.residual <= np.maximum(10.0 * solved.tolerance, self.config.tolerances()[1])  # NaN is not
        if not sound.all() and depth < DEEPEST:
            state, force = self._advance(state, contacts, force, 0.5 * step, depth + 1)
            known = replace(contacts, previous=np.arange(len(contacts)))
            self._joints.observe(state.position, state.orientation, state.velocity)
            return self._advance(state, known, force, 0.5 * step, depth + 1)
        judged = self._phase.judge.step(assembly, solution, self._phase.fast)
        count_turns(assembly.problem, solution, judged)
        end = end_velocity(solved, judged, state, self._phase, self.config.joint_damping, sound)
        solution = held_back(assembly, solution, sound, self._phase.fast)
        calm(assembly, solution, end.velocity, sound, sound)
        self._last = assembly, solution
        if len(assembly.problem.joints):
            self._joints.force[assembly.row_number] = row_forces(assembly, solution)
            way = step * solution.velocity.take(assembly.numbering.solver[:-1], 0)
            self._joints.go_on(state.position, state.orientation, way)
        force = world_impulses(assembly.problem.contacts.normal, solution.contact_impulse) / step
        return moved_state(state, assembly, solution, statistics, end), force

    # Newton's state and ours

    def _read(self, state_in):
        """State of the solver frames, the world last.  What this solver wrote itself comes back in full precision."""
        q, qd = look(state_in.body_q).reshape(-1, 7), look(state_in.body_qd).reshape(-1, 6)
        pose = np.vstack([q, np.array([0, 0, 0, 0, 0, 0, 1], np.float32)]).astype(float)
        velocity = np.vstack([qd, np.zeros(6)]).astype(float)
        place, turn = self._frames.to_solver(pose[:, :3], rotations.normalised(pose[:, 3:]))
        if self._written is not None:
            known = np.append((q == self._written.body_q).all(axis=1), False)
            place[known], turn[known] = self._written.position[known], self._written.orientation[known]
            known = np.append((qd == self._written.body_qd).all(axis=1), False)
            velocity[known] = self._written.velocity[known]
        return State(0.0, place, turn, velocity, self._eps, self._swept)  # nothing here depends on the time

    def _load(self, state, state_in, control):
        """Hand the assembler gravity, external forces and joint targets of this step."""
        model, source = self.model, self.model if control is None else control
        gravity = look(model.gravity).reshape(-1, 3).astype(float)
        wrench = np.zeros((len(state.position), 6))
        if state_in.body_f is not None:
            wrench[:-1] = look(state_in.body_f).reshape(-1, 6)
        if model.joint_count:
            joint_q = look(state_in.joint_q).astype(float)
            self._joints.aim(joint_q, (_numbers(source.joint_target_q), _numbers(source.joint_target_qd)))
            self._joints.observe(state.position, state.orientation, state.velocity)
            force = _numbers(source.joint_f)
            if force is not None and force.any():
                wrench += self._joints.wrench(force, state.position)
        acceleration = gravity[self._world] + wrench[:, :3] / self._frames.mass[:, None]
        self._assembler.gravity, self._assembler.torque = acceleration, wrench[:, 3:]

    def _write(self, state, state_in, state_out):
        model, keep = self.model, self._kinematic[:-1]
        q = np.hstack(self._frames.to_body(state.position, state.orientation))[:-1].astype(np.float32)
        qd = state.velocity[:-1].astype(np.float32)
        q[keep], qd[keep] = look(state_in.body_q)[keep], look(state_in.body_qd)[keep]
        upload(state_out.body_q, q)
        upload(state_out.body_qd, qd)
        self._eps, self._swept = state.eps, state.swept
        self._written = _Written(q.copy(), qd, state.position, state.orientation, state.velocity)
        self._written.body_q[keep] = np.nan
        if not model.joint_count:
            return
        joint_q, joint_qd = self._coordinates(q, qd, state_in)
        index, angle = self._joints.turns(state.position, state.orientation)
        joint_q[index] = angle
        upload(state_out.joint_q, joint_q)
        upload(state_out.joint_qd, joint_qd)

    def _coordinates(self, body_q, body_qd, state_in):
        """joint_q and joint_qd by newton.eval_ik; what it leaves out stays as in ``state_in``.

        The call is recorded once as a graph, on a state of our own: a launch from Python costs more than a small solve.
        """
        model = self.model
        if self._inverse is None:
            own = model.state()
            newton.eval_ik(model, own, own.joint_q, own.joint_qd)  # loads the kernel: recording must not compile
            self._inverse = own, recorded(self.device, lambda: newton.eval_ik(model, own, own.joint_q, own.joint_qd))
        own, graph = self._inverse
        upload(own.body_q, body_q)
        upload(own.body_qd, body_qd)
        upload(own.joint_q, look(state_in.joint_q))
        upload(own.joint_qd, look(state_in.joint_qd))
        wp.capture_launch(graph)
        return look(own.joint_q).copy(), look(own.joint_qd).copy()


@dataclass
class _Written:
    """The state last written, as newton holds it (float32) and as it was computed."""

    body_q: np.ndarray
    body_qd: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray


def _nothing_deforms(time, step, at_end=False):
    """Colliders of a newton.Model keep their shape."""


class _NewtonAssembler(Assembler):
    """Assembler of a newton.Model: each body has its own gravity and forces; who is not free moves at its velocity."""

    def __init__(self, frames, joints, free):
        count = len(free)
        held = np.nonzero(~np.asarray(free))[0]
        self.outlines = Outlines((), frames)  # a landing counts as one stroke
        self.set_out(frames, joints, Holding(count, held, np.full(len(held), -np.inf), np.full(len(held), np.inf)))
        self.hand_over = HandOver((), frames, self.holding)  # a velocity at which something moves on is no path
        self.linear_damping = self.angular_damping = np.zeros(count)
        self._moving = places(~free[:-1])
        self.gravity, self.torque, self.noise = np.zeros((count, 3)), np.zeros((count, 3)), 0.0

    def prescribed(self, state, time):
        """Solver poses of all bodies at ``time``: those that are not free move on at their velocity."""
        position, orientation, i = state.position.copy(), state.orientation.copy(), self._moving
        if len(i):
            way = (time - state.time) * state.velocity[i]
            position[i] += way[:, :3]
            orientation[i] = rotations.multiply(rotations.exponential(way[:, 3:]), orientation[i])
        return position, orientation

    def acceleration(self, bodies):
        """(n, 3) of gravity and forces on ``bodies`` (n,) [m/s^2]."""
        return self.gravity[bodies]

    def contacts(self, contacts, impulses, number, orientation):
        """NewtonContacts as solver Contacts."""
        return Contacts(
            number.solver[contacts.body_a].astype(np.int32), number.solver[contacts.body_b].astype(np.int32),
            contacts.point_a, contacts.point_b, contacts.margin_a, contacts.margin_b, contacts.normal,
            contacts.friction, contacts.restitution, impulses, contacts.gap,
        )  # fmt: skip

    def build(self, state, step, contacts, *arguments):
        """The Assembly of one step, see Assembler.build; but a contact that rebounds ends the step at the surface.

        It leaves with the speed of Newton's law, so that bounces are as high as they would be, and newton's states and
        sensors show that it touched.
        """
        assembly = super().build(state, step, contacts, *arguments)
        touches = assembly.problem.contacts
        if touches.rebound_gap.any():
            pull = approach(assembly.problem.bodies, touches, assembly.end_velocity)[1] / step
            height, speed = touches.rebound_gap, touches.rebound_speed
            leaving = np.sqrt(np.maximum(0.0, speed**2 - 2.0 * pull * height))
            touches.rebound_speed = np.where(height > 0.0, leaving, speed)
            touches.rebound_gap = np.zeros(len(touches))
        return assembly

    def _bodies(self, state, step, number):
        n, order = number.dynamic_count, number.scene
        if not self.torque.any():
            self._gain = np.zeros((n, 3))
            return super()._bodies(state, step, number)
        free, velocity = order[:n], state.velocity.copy()
        torque, inertia = self.torque[free], self.frames.inertia[free]
        velocity[free, 3:] += step * angular_acceleration(state.orientation[free], torque, inertia)
        bodies, end, acceleration = super()._bodies(replace(state, velocity=velocity), step, number)
        bodies.velocity[:n] = state.velocity[free]
        self._gain = step * angular_acceleration(bodies.free_orientation[:n], torque, inertia)
        return bodies, end, acceleration

    def _take_mean_velocity(self, bodies, end_velocity, midpoint, step):
        super()._take_mean_velocity(bodies, end_velocity, midpoint, step)
        n, half = bodies.dynamic_count, 0.5 * midpoint[:, None] * self._gain
        if half.any():  # in mid-step the turn takes half of what the torque adds
            bodies.free_velocity[:n, 3:] -= half
            turn = rotations.exponential(-step * half)
            bodies.free_orientation[:n] = rotations.multiply(turn, bodies.free_orientation[:n])


def _frames(model):
    """BodyFrames of a newton.Model's bodies and, last, the world.  Raises ValueError for mass without inertia."""
    count = model.body_count
    frames = BodyFrames(
        np.full(count + 1, np.inf), np.full((count + 1, 3), np.inf), np.zeros((count + 1, 3)),
        np.tile(rotations.IDENTITY, (count + 1, 1)),
    )  # fmt: skip
    if not count:
        return frames
    mass, inertia = model.body_mass.numpy(), model.body_inertia.numpy().reshape(-1, 3, 3)
    frames.center[:-1] = model.body_com.numpy()
    for i in np.nonzero(mass > 0.0)[0]:
        frames.mass[i] = mass[i]
        frames.inertia[i], frames.principal[i] = principal_axes(inertia[i].astype(float))
        if frames.inertia[i].min() <= 0.0:
            raise ValueError(f"body {model.body_label[i]}: it has a mass and no inertia about some axis; give it one")
    return frames


def _refuse(model):
    """Raise ValueError for what SolverAxion does not move."""
    if model.particle_count:
        raise ValueError(
            "SolverAxion moves rigid bodies: the model has particles, use SolverVBD or SolverXPBD for them"
        )
    if model.tendon_segment_count:
        raise ValueError("SolverAxion has no tendons")
    kinds = model.joint_type.numpy() if model.joint_count else np.zeros(0, int)
    if (kinds == int(newton.JointType.ROD)).any():
        raise ValueError("SolverAxion has no ROD joints")
    unmet = _equality_rows(model)
    if len(unmet):
        raise ValueError(
            f"SolverAxion does not know MuJoCo's equality constraints, as number {unmet[0]} of the model: "
            "close loops with joints outside articulations"
        )
    mimic = model.joint_mimic_joint.numpy() if model.joint_mimic_joint is not None else np.zeros(0)
    if (mimic >= 0).any() or model.constraint_mimic_count:
        raise ValueError("SolverAxion has no mimic joints")


def _equality_rows(model):
    """Numbers of the enabled equality constraints of MuJoCo for which no joint of the model stands."""
    rows = getattr(model, "mujoco", None)
    if not getattr(rows, "equality_constraint_count", 0):
        return np.zeros(0, int)
    enabled, target = (getattr(rows, f"equality_constraint_{name}").numpy() for name in ("enabled", "target"))
    return np.flatnonzero(enabled.astype(bool) & (target < 0))


def _numbers(array):
    return None if array is None else look(array).astype(float)
