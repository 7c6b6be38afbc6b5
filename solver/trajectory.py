# SPDX-License-Identifier: GPL-3.0-or-later
"""What a simulation returns: the motion, and for every frame a report on how well the laws were kept."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from typing import ClassVar

import numpy as np

from . import archive
from .forces import ForceHistory, FrameForces


@dataclass
class StepReport:
    """How well one frame was solved.  Residuals are the worst over the steps of the frame.

    Attributes:
        frame: number of the frame, counted from 1 (frame 0 is the start).
        converged: every residual is within the tolerance.
        penetration: deepest overlap of two bodies at their contact points [m], not negative.
        gap_residual: worst error of the contact law, including contacts that push where there is a gap [m].
        joint_error: largest distance by which a locked joint coordinate is off [m].  Joints that keyframes let go of,
            or a step given up on left, so far apart that they close at a bounded speed tell it, too, until they have;
            that counts as converged.
        joint_error_angle: largest angle by which a locked joint coordinate is off [rad], likewise.
        friction_residual: worst error of Coulomb's law [m/s].
        momentum_residual: worst error of the equation of motion, as a velocity [m/s].
        newton_iterations: sum over the frame.
        linear_iterations: iterations of the linear solver, sum over the frame.
        substeps: solves done, retried halves included.
        contacts: largest number of contact points in a step.
        kinetic_energy: of all dynamic bodies at the end of the frame [J].
        potential_energy: in gravity, zero at the world's origin, at the end of the frame [J].
        wall_time: time spent on the frame [s].
        worst_bodies: names of the bodies with the worst residual, worst first, three at most.
        residual: worst of all residuals [m], each velocity times the length of the step it belongs to; a frame whose
            residual is within the tolerance has converged.
        velocity_residual: worst error of the laws that the velocity at the end of a step keeps, of motion, joints,
            contacts and friction [m/s], a radian counted as a metre; 0 where no step asked for a velocity phase.
        worst_joints: names of the joints with the worst residual, worst first, three at most.
        contradictory_joints: names of joints that cannot be met together, or not with what their bodies touch, worst
            first.  Looked for where a step was given up on.
        overlap: how deep bodies are inside each other [m] as the frame's last step begins, or at the start before the
            first frame, beyond what a step leaves: they were placed or let go so.  They are pushed apart at a bounded
            speed, which counts as converged.
        overlapping_bodies: names of these, two by two, deepest first, three pairs at most.
        crushed_bodies: names of bodies that had no room where a step was given up on, three at most: no motion meets
            all their contacts, or friction lets none.
        crushing_bodies: names of what else presses on them, three at most, that is prescribed or never moves.
    """

    frame: int
    converged: bool = True
    penetration: float = 0.0
    gap_residual: float = 0.0
    joint_error: float = 0.0
    joint_error_angle: float = 0.0
    friction_residual: float = 0.0
    momentum_residual: float = 0.0
    newton_iterations: int = 0
    linear_iterations: int = 0
    substeps: int = 0
    contacts: int = 0
    kinetic_energy: float = 0.0
    potential_energy: float = 0.0
    wall_time: float = 0.0
    worst_bodies: Sequence[str] = ()
    residual: float = 0.0
    velocity_residual: float = 0.0
    worst_joints: Sequence[str] = ()
    contradictory_joints: Sequence[str] = ()
    overlap: float = 0.0
    overlapping_bodies: Sequence[str] = ()
    crushed_bodies: Sequence[str] = ()
    crushing_bodies: Sequence[str] = ()


@dataclass
class FrameResult:
    """The state at the end of one frame, as handed to ``on_frame``.  B bodies in the scene's order; world frame.

    The arrays that ``on_frame`` gets are the Trajectory's own, and read-only: copy what is to be changed.  A copy or a
    pickled one has the same arrays, but no ``checkpoint``.

    Attributes:
        frame: counted from 1.
        time: since the start [s].
        position: (B, 3) of each body's frame [m].
        orientation: (B, 4) quaternion xyzw.
        linear_velocity: (B, 3) of each centre of mass [m/s].
        angular_velocity: (B, 3) [rad/s].
        report: StepReport of this frame; None at the start.
        forces: FrameForces, or None at the start and where SolverConfig.record_forces is not set.
        between_position, between_orientation: (N, B, 3) [m] and (N, B, 4), the states within the frame that
            SolverConfig.states_per_frame = N + 1 asks for, in order; None at the start and where N is 0.
    """

    frame: int
    time: float
    position: np.ndarray
    orientation: np.ndarray
    linear_velocity: np.ndarray
    angular_velocity: np.ndarray
    report: StepReport | None
    forces: FrameForces | None = None
    between_position: np.ndarray | None = None
    between_orientation: np.ndarray | None = None
    _capture: ClassVar = None

    @property
    def resumable(self):
        """Whether a running simulation made it, so that it can be asked for a ``checkpoint``."""
        return self._capture is not None

    def checkpoint(self):
        """The Checkpoint that ``simulate`` can go on from after this frame.

        Raises RuntimeError when asked for later than within ``on_frame``, or of a frame that no simulation made.
        """
        if self._capture is None:
            raise RuntimeError(f"frame {self.frame} comes from no running simulation: it has no checkpoint")
        return self._capture()

    def handed_out(self):
        """A FrameResult with the same arrays, which are read-only from now on."""
        owners = (self,) if self.forces is None else (self, self.forces)
        for values in (values for owner in owners for values in vars(owner).values()):
            if isinstance(values, np.ndarray):
                values.flags.writeable = False
        return copy(self)

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_capture"}


START = {"position": 3, "orientation": 4, "linear_velocity": 3, "angular_velocity": 3}
"""Fields of a FrameResult that hold the state, in its order, and their numbers a body."""
BETWEEN = ("position", "orientation")
"""Those that are kept within frames, too."""


@dataclass(frozen=True)
class Checkpoint:
    """What ``simulate(..., resume=checkpoint)`` goes on from; made by ``FrameResult.checkpoint``.

    Attributes:
        frame: number of the last frame simulated.
        fps: frames per second of that run.
        arrays: name -> NumPy array of numbers or bools; fit for any file that keeps type and shape.
    """

    frame: int
    fps: float
    arrays: dict

    @property
    def time(self):
        """Time that was simulated to [s], as the solver added it up."""
        return float(self.arrays["state.time"])

    def broken_joints(self, names):
        """{name: time [s]} of the joints that had broken.  names: of the scene's joints."""
        broken = zip(self.arrays["joints.broken"], self.arrays["joints.broken_time"], strict=True)
        return {names[number]: float(time) for number, time in broken}

    def start(self):
        """The FrameResult of frame 0, which the motion began with; no report."""
        return FrameResult(0, 0.0, *(self.arrays[f"start.{name}"] for name in START), None)


class CheckpointError(ValueError):
    """A Checkpoint that does not belong to the scene, or to frames and fps, that it was to go on with."""


@dataclass
class Trajectory:
    """The motion of B bodies over F frames.  World frame; state 0 is the start, or the checkpoint resumed from.

    Attributes:
        names: (B) of all bodies, static ones too, in the scene's order.
        times: (F+1,) [s].
        position: (F+1, B, 3) of each body's frame [m].
        orientation: (F+1, B, 4) quaternion xyzw.
        linear_velocity: (F+1, B, 3) of each centre of mass [m/s].
        angular_velocity: (F+1, B, 3) [rad/s].
        reports: F StepReports; ``reports[i]`` is about the frame of state i + 1.
        broken_joints: name of each joint that broke -> time [s].
        forces: ForceHistory of the F frames, or None where SolverConfig.record_forces was not set.
        between_position, between_orientation: (F, N, B, 3) [m] and (F, N, B, 4), what lies between state i and i + 1,
            at equal times; None unless SolverConfig.states_per_frame = N + 1 was more than 1.
    """

    names: list[str]
    times: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    linear_velocity: np.ndarray
    angular_velocity: np.ndarray
    reports: list[StepReport] = field(default_factory=list)
    broken_joints: dict[str, float] = field(default_factory=dict)
    forces: ForceHistory | None = None
    between_position: np.ndarray | None = None
    between_orientation: np.ndarray | None = None

    VERSION = 1

    @classmethod
    def of_frames(cls, names, results, broken_joints):
        """The Trajectory of FrameResults in order; the first is the state the motion begins with, its report is None.

        names: of the bodies.  broken_joints: {name: time [s]}.
        """

        def columns(name):
            return np.array([getattr(result, name) for result in results])

        def between(name):
            found = [getattr(result, name) for result in results[1:]]
            return None if not found or all(entry is None for entry in found) else np.array(found)

        forces = [result.forces for result in results[1:]]
        recorded = bool(forces) and all(frame is not None for frame in forces)

        made = cls(
            names=list(names),
            times=columns("time"),
            position=columns("position"),
            orientation=columns("orientation"),
            linear_velocity=columns("linear_velocity"),
            angular_velocity=columns("angular_velocity"),
            reports=[result.report for result in results[1:]],
            broken_joints=dict(broken_joints),
            forces=ForceHistory.of(forces) if recorded else None,
            between_position=between("between_position"),
            between_orientation=between("between_orientation"),
        )
        made._check_shapes()
        return made

    @property
    def states_per_frame(self):
        """States a frame, its end among them."""
        return 1 if self.between_position is None else 1 + self.between_position.shape[1]

    def every_state(self):
        """(position (S, B, 3), orientation (S, B, 4)) of all states at equal times, S = 1 + F states_per_frame."""
        found = []
        for name in BETWEEN:
            ends, between = getattr(self, name), getattr(self, f"between_{name}")
            if between is not None:
                whole = np.concatenate([between, ends[1:, None]], axis=1)
                ends = np.concatenate([ends[:1], whole.reshape(-1, *ends.shape[1:])])
            found.append(ends)
        return tuple(found)

    def index(self, name):
        """Number of the body called ``name``.  Raises KeyError."""
        if name not in self.names:
            raise KeyError(f"no body is called {name!r}")
        return list(self.names).index(name)

    def save(self, path):
        """Writes everything to one .npz without pickle, at exactly ``path``."""
        arrays = {name: np.asarray(getattr(self, name), float) for name in self._shapes()}
        columns = {}
        for column in fields(StepReport):
            values = [getattr(report, column.name) for report in self.reports]
            names = isinstance(column.default, tuple)
            columns[column.name] = [list(v) for v in values] if names else np.array(values)
        tree = {"names": list(self.names), "broken_joints": dict(self.broken_joints), "reports": columns, **arrays}
        if self.forces is not None:
            tree["forces"] = self.forces.tree()
        archive.write(path, "trajectory", self.VERSION, tree)

    @classmethod
    def load(cls, path):
        """Reads what ``save`` wrote.

        Raises:
            SceneError: the file is no trajectory, or damaged.
            OSError: the file cannot be opened.
        """
        return archive.read(path, "trajectory", cls.VERSION, cls._build)

    @classmethod
    def _build(cls, tree):
        columns, forces = tree.pop("reports"), tree.pop("forces", None)
        known = [column.name for column in fields(StepReport) if column.name in columns]
        rows = (dict(zip(known, row, strict=True)) for row in zip(*(_plain(columns[c]) for c in known), strict=True))
        trajectory = cls(reports=[StepReport(**row) for row in rows], **tree)
        trajectory._check_shapes()
        if forces is not None:
            trajectory.forces = ForceHistory.from_tree(forces, len(trajectory.names))
            if len(trajectory.forces) != len(trajectory.times) - 1:
                raise ValueError(f"forces of {len(trajectory.forces)} frames, not {len(trajectory.times) - 1}")
        return trajectory

    def _check_shapes(self):
        for name, shape in self._shapes().items():
            if np.shape(getattr(self, name)) != shape:
                raise ValueError(f"{name} has shape {np.shape(getattr(self, name))}, not {shape}")

    def _shapes(self):
        states, bodies = len(self.times), len(self.names)
        wanted = {
            "times": (states,),
            "position": (states, bodies, 3),
            "orientation": (states, bodies, 4),
            "linear_velocity": (states, bodies, 3),
            "angular_velocity": (states, bodies, 3),
        }
        if self.between_position is not None or self.between_orientation is not None:
            parts = np.shape(self.between_position)[1:2]
            wanted |= {f"between_{name}": (states - 1, *parts, bodies, START[name]) for name in BETWEEN}
        return wanted


def _plain(values):
    return [tuple(v) for v in values] if isinstance(values, list) else values.tolist()
