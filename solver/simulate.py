# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames made of steps: simulate(scene, frames) -> Trajectory.  No physics here."""

import time as clock
from dataclasses import replace
from functools import partial
from numbers import Real

import numpy as np
import warp as wp

from .checkpoint import capture, restore, start_arrays, starts_of
from .config import SolverConfig
from .constraints.rows import JointTable
from .contradiction import contradictory_joints
from .energies import Energies
from .errors import shown
from .frames import body_frames
from .gyroscopic import Gyroscopes
from .joint_types import JOINT_TYPES
from .loading import uncollected
from .made_of import MadeOf
from .model import build_model
from .overlaps import Overlap, deep_overlaps
from .pace import paces
from .proximal import ProximalSolver
from .rotors import Rotors
from .runaways import check_state
from .scene_copy import own_copy
from .step import Stepper
from .substeps import Substeps
from .trajectory import START, Checkpoint, CheckpointError, FrameResult, StepReport, Trajectory
from .turn_taking import ONE_AT_A_TIME
from .validate import raise_if_invalid
from .warm_up import order_again, order_sums, uncompiled, warm_up

wp.config.log_level = wp.LOG_WARNING  # before Warp starts, which greets, and tells of each module it loads

DEFAULT = SolverConfig()
SMALLEST = float(np.nextafter(0.0, 1.0))


def simulate(scene, frames, fps=24.0, config=DEFAULT, on_frame=None, resume=None, say=None):
    """Simulate ``frames`` frames of a scene.

    Threads may simulate at the same time: one of them computes a frame, or prepares itself, while the others wait, and
    all get the same bits as one by one.  In which order is not promised.

    Args:
        scene: Scene; it is copied at the start, so that changes to it within ``on_frame`` have no effect.
        frames: number of frames, at least 0.
        fps: frames per second.
        config: SolverConfig.
        on_frame: called with each FrameResult, whose arrays are read-only; returning False ends the simulation there.
            It may simulate itself.
        resume: Checkpoint of an earlier run of this scene, with the same fps and config on the same machine.  The
            frames after it come out as they would have there, to the last bit.
        say: called with sentences on what takes long before the first frame: kernels that have yet to be compiled.

    Returns:
        Trajectory with the start and every frame simulated; its first state is that of ``resume`` where one was given.

    Raises:
        SceneError: the scene is no Scene, or cannot be simulated (see ``validate``).
        ValueError: another argument is out of range or of another kind, or the device does not exist.
        CheckpointError: a ValueError; ``resume`` does not belong to this scene, frames or fps.
    """
    _check_arguments(frames, fps, on_frame, resume, say)
    with ONE_AT_A_TIME:
        run = _Run(scene, fps, config, resume, say)
    for frame in range(run.first + 1, frames + 1):
        with ONE_AT_A_TIME:
            result = run.frame(frame)
        try:
            answer = None if on_frame is None else on_frame(result)
        finally:
            result._capture = partial(_frame_over, frame)  # or all arrays lived on with the Trajectory
        if isinstance(answer, (bool, np.bool_)) and not answer:
            break
    with ONE_AT_A_TIME:
        return run.record.trajectory()


class _Run:
    """A simulation between its frames.  ONE_AT_A_TIME is held by whoever makes it or calls it."""

    def __init__(self, scene, fps, config, resume, say):
        scene = _checked(scene)
        self.stepper = stepper = _stepper(scene, config, partial(warm_up, say=say))
        stepper.assembler.frame = 1.0 / fps
        self.fps, self.parts, self.deterministic = fps, int(config.states_per_frame), config.deterministic
        self.substeps = Substeps(None if config.substeps == "auto" else int(config.substeps), self.parts)
        self.made_of = MadeOf(scene, config, 1.0 / fps)
        self.gyroscopes = Gyroscopes(scene, stepper.frames, stepper.joints, stepper.fast)
        self.rotors = Rotors(scene, stepper.model)
        if resume is not None:
            restore(resume, stepper, self.substeps, self.made_of)
        self.first = 0 if resume is None else resume.frame
        self.record = _Record(scene, stepper.frames, stepper, fps, self.first)
        self.began_with = start_arrays(self.record.results[0]) if resume is None else starts_of(resume)

    def frame(self, frame):
        """Step through one frame.  Returns the FrameResult for ``on_frame``."""
        began, stepper, substeps, record = clock.perf_counter(), self.stepper, self.substeps, self.record
        order_again(stepper.solver.device, self.deterministic)  # another simulation may have had its turn
        outcomes, between, length, idle = [], [], 1.0 / self.fps, stepper.idle(1.0 / self.fps)
        if idle:
            outcomes.append(stepper.pause(length, substeps.count))
            between = [record.pose()] * (self.parts - 1)
        else:
            steps = self._steps(length)
            for step in range(1, steps + 1):
                outcomes += stepper.advance(1.0 / (self.fps * steps))
                check_state(record.names, frame, stepper.state)
                if step < steps and step % (steps // self.parts) == 0:
                    between.append(record.pose())
            given_up = any(outcome.given_up is not None for outcome in outcomes)
            hopeless = stepper.learn(given_up)
            substeps.learn(sum(not outcome.partial for outcome in outcomes), hopeless, given_up)
        handed = record.add(frame, outcomes, between, began, idle).handed_out()
        handed._capture = partial(capture, frame, self.fps, stepper, substeps, self.began_with, self.made_of)
        return handed

    def _steps(self, length):
        """Number of steps of a frame of ``length`` seconds in which something moves."""
        stepper, substeps, state = self.stepper, self.substeps, self.stepper.state
        free = stepper.assembler.free(state.time)
        asked, stepper.assembler.spinning = self.gyroscopes.steps(state, length, free)
        steps = self.rotors.steps(state, length, free)
        if asked is None:
            stepper.longest = None
            return substeps.take(steps)
        whole, wanted = paces(asked, *stepper.rest.moving(state))
        steps = substeps.take(max(steps, whole))
        stepper.longest = substeps.longest(wanted, length)
        return steps


def starting_overlaps(scene, config=DEFAULT, compile_kernels=True):
    """Overlaps, deepest first, of bodies that start inside each other; [] where all stand free or only touch.

    They do not stop a simulation, which pushes them apart.  compile_kernels: False returns None where that, which takes
    a minute, has yet to be done.  Raises what ``simulate`` raises.
    """
    with ONE_AT_A_TIME:
        scene = _checked(scene)
        try:
            stepper = _stepper(scene, config, None if compile_kernels else _expect_compiled)
        except _UncompiledError:
            return None
        names = [body.name for body in scene.bodies]
        return [Overlap(names[a], names[b], depth) for depth, a, b in _overlaps(stepper, stepper.touching())]


class _UncompiledError(Exception):
    """Kernels would have to be compiled first."""


def _expect_compiled(scene, solver):
    if uncompiled(scene, solver):
        raise _UncompiledError


def _overlaps(stepper, contacts):
    if stepper.carried is not None:  # on a straight way between two poses they may pass through what they went around
        solved = stepper.model.movable & ~stepper.carried.mask
        contacts = contacts.take(solved[contacts.body_a] | solved[contacts.body_b])
    return deep_overlaps(contacts, stepper.model.body_size, stepper.fast)


def _checked(scene):
    """A copy of a scene, which is valid."""
    raise_if_invalid(scene)
    return own_copy(scene)


def _stepper(scene, config, prepare=None):
    """A Stepper at the start of a scene; ``prepare`` is called with the scene and the solver before anything runs."""
    if not isinstance(config, SolverConfig):
        raise ValueError(f"config is {shown(config)}: give a SolverConfig")
    device, precision = _device(config.device), resolve(config)[1]
    body = body_frames(scene)
    joints = JointTable(scene, body, config.tolerances()[1])
    solver = _solver(scene, config.method, device, precision)
    order_sums(solver.device, config.deterministic)
    with uncollected():
        if prepare is not None:
            prepare(scene, solver)
        stepper = Stepper(scene, body, joints, build_model(scene, device, body.center), solver, config)
    stepper.start(*_start(scene, body))
    return stepper


def _solver(scene, method, device, precision):
    if method == "proximal":
        return ProximalSolver(device, precision, any(JOINT_TYPES[joint.kind].anchors for joint in scene.joints))
    from .schur import SchurSolver  # late: it imports warp.optim, which nothing else needs

    return SchurSolver(device, precision)


def resolve(config):
    """(name of the device, precision) that ``simulate`` computes with where ``config`` leaves them open: two texts.

    Raises ValueError where the device does not exist.
    """
    device, precision = _device(config.device), config.precision
    if precision == "auto":
        precision = "float64" if device.is_cpu else "float32"
    return "cpu" if device.is_cpu else device.name, precision


def _check_arguments(frames, fps, on_frame, resume, say):
    if isinstance(frames, bool) or not isinstance(frames, (int, np.integer)) or frames < 0:
        raise ValueError(f"frames is {shown(frames)}: give a whole number of at least 0")
    if isinstance(fps, bool) or not isinstance(fps, Real) or not np.isfinite(fps) or fps <= 0.0:
        raise ValueError(f"fps is {shown(fps)}: give a positive number of frames per second")
    if on_frame is not None and not callable(on_frame):
        raise ValueError(f"on_frame is {shown(on_frame)}: give a function that takes a FrameResult, or None")
    if say is not None and not callable(say):
        raise ValueError(f"say is {shown(say)}: give a function that takes a sentence, or None")
    if resume is not None and not isinstance(resume, Checkpoint):
        raise CheckpointError(f"resume is {shown(resume)}: give a Checkpoint, or None")
    if resume is not None and (resume.fps != fps or not 0 <= resume.frame <= frames):
        raise CheckpointError(
            f"the checkpoint is of frame {resume.frame} at {resume.fps:g} frames per second: it cannot go on to frame"
            f" {frames} at {fps:g}"
        )


def _frame_over(frame):
    raise RuntimeError(f"frame {frame} is over: ask for its checkpoint within on_frame")


def _device(name):
    loops = wp.is_conditional_graph_supported()  # steps are recorded with their loops
    if name == "auto":
        name = "cuda:0" if wp.is_cuda_available() and loops else "cpu"
    elif name != "cpu" and not wp.is_cuda_available():
        raise ValueError(f'device is "{name}", but no CUDA device was found: choose "cpu" or "auto"')
    elif name != "cpu" and not loops:
        raise ValueError(
            f'device is "{name}", but the NVIDIA driver knows CUDA {_version(wp.get_cuda_driver_version())} only, and'
            ' 12.4 is needed: update the driver, or choose "cpu" or "auto"'
        )
    try:
        return wp.get_device(name)
    except (RuntimeError, ValueError) as error:
        raise ValueError(f'device "{name}" does not exist: {error}') from error


def _version(numbers):
    return ".".join(str(number) for number in numbers)


def _start(scene, frames):
    """Solver poses and velocities at time 0, where prescribed bodies begin their paths."""
    states = [body.prescribed(0.0) for body in scene.bodies]
    column = [np.array([state[k] for state in states], float) for k in range(4)]
    count = len(states)
    position, orientation = frames.to_solver(column[0].reshape(count, 3), column[1].reshape(count, 4))
    return position, orientation, np.hstack([column[2].reshape(count, 3), column[3].reshape(count, 3)])


class _Record:
    """Collects what becomes the Trajectory."""

    def __init__(self, scene, frames, stepper, fps, first):
        self.scene, self.frames, self.stepper, self.fps = scene, frames, stepper, fps
        self.names = [body.name for body in scene.bodies]
        self.joints = [joint.name for joint in stepper.joints.joints]
        self.energies = Energies(frames.mass, frames.inertia, scene.gravity)
        self.results = [self._result(first, None)]
        self.at_start = _overlaps(stepper, stepper.touching()) if first == 0 else []
        self._idle = False

    def pose(self):
        """(position (B, 3), orientation (B, 4)) of the bodies' frames now."""
        return self.frames.to_body(self.stepper.state.position, self.stepper.state.orientation)

    def _result(self, frame, report, forces=None):
        velocity = self.stepper.state.velocity.copy()
        return FrameResult(frame, frame / self.fps, *self.pose(), velocity[:, :3], velocity[:, 3:], report, forces)

    def add(self, frame, outcomes, between, began, idle):
        """The FrameResult of a frame whose work ``began`` then [s].

        between: poses within it, see ``pose``; idle: nothing moved in it.
        """
        forces = None
        if self.stepper.recorder is not None:
            forces = self.stepper.recorder.take(*self.pose(), 1.0 / self.fps)
        if idle and self._idle:
            result = self._repeated(frame, forces)
        else:
            result = self._result(frame, self._report(frame, outcomes), forces)
        if between:
            poses = (np.array(column) for column in zip(*between, strict=True))
            result.between_position, result.between_orientation = poses
        self._idle = idle
        result.report.wall_time = clock.perf_counter() - began
        self.results.append(result)
        return result

    def _repeated(self, frame, forces):
        """The last frame once more, which was idle, too."""
        last = self.results[-1]
        report = replace(last.report, frame=frame, worst_bodies=list(last.report.worst_bodies))
        motion = (getattr(last, name).copy() for name in START)
        return FrameResult(frame, frame / self.fps, *motion, report, forces)

    def _report(self, frame, outcomes):
        state = self.stepper.state
        overlaps = self.at_start if frame == 1 else _overlaps(self.stepper, state.contacts)
        residuals = [outcome.residuals for outcome in outcomes]
        kinetic, potential = self.energies.of(state.position, state.orientation, state.velocity)

        def most(name):
            return float(max([getattr(residual, name) for residual in residuals]))

        def worst(name):
            values = [getattr(outcome, name) for outcome in outcomes]
            return values[0] if len(values) == 1 else np.max(values, axis=0)

        return StepReport(
            frame=frame,
            converged=all(outcome.converged for outcome in outcomes),
            penetration=most("penetration"),
            gap_residual=most("gap_residual"),
            joint_error=most("joint_error"),
            joint_error_angle=most("joint_error_angle"),
            friction_residual=most("friction_residual"),
            momentum_residual=most("momentum_residual"),
            newton_iterations=sum(outcome.newton for outcome in outcomes),
            linear_iterations=sum(outcome.linear for outcome in outcomes),
            substeps=sum(outcome.solves for outcome in outcomes),
            contacts=max(outcome.contacts for outcome in outcomes),
            kinetic_energy=kinetic,
            potential_energy=potential,
            wall_time=0.0,
            worst_bodies=_worst_names(self.names, worst("worst"), self.stepper.model.movable),
            residual=float(worst("residual")),
            velocity_residual=float(worst("velocity_residual")),
            worst_joints=_worst_names(self.joints, worst("worst_joint")),
            contradictory_joints=[self.joints[k] for k in self._contradictory(outcomes)],
            overlap=overlaps[0][0] if overlaps else 0.0,
            overlapping_bodies=[self.names[k] for _, *pair in overlaps[:3] for k in pair],
            crushed_bodies=self._crushed(outcomes, "bodies"),
            crushing_bodies=self._crushed(outcomes, "pressing"),
        )

    def _contradictory(self, outcomes):
        """Numbers of joints that cannot be met together, told from the worst step that was given up on."""
        given_up = [outcome for outcome in outcomes if outcome.given_up is not None]
        if not given_up:
            return []
        return contradictory_joints(*max(given_up, key=lambda o: o.residual).given_up, self.stepper.fast)

    def _crushed(self, outcomes, part):
        """Up to three names of the bodies that are this ``part`` of what has no room."""
        found = [getattr(outcome.crushed, part) for outcome in outcomes if outcome.crushed is not None]
        return [self.names[i] for i in np.flatnonzero(np.any(found, axis=0))[:3]] if found else []

    def trajectory(self):
        return Trajectory.of_frames(self.names, self.results, self.stepper.joints.broken)


def _worst_names(names, residual, moves=None):
    """Up to three names, worst first, of those with a residual; one that is no number is worst.

    A contact is both its bodies' fault: of equals, those that move (``moves``, of each) come first, then the alphabet.
    """
    count = min(3, len(names))
    if not count:
        return []
    residual = np.where(residual < np.inf, residual, np.inf)
    least = residual.copy()
    least.partition(len(names) - count)
    found = (residual >= max(least.item(len(names) - count), SMALLEST)).nonzero()[0].tolist()
    found.sort(key=lambda i: (-residual.item(i), moves is not None and not moves[i], names[i]))
    return [names[i] for i in found[:3]]
