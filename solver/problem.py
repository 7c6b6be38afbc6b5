# SPDX-License-Identifier: GPL-3.0-or-later
"""StepProblem: everything one time-step solve needs, as plain float64 arrays.

It can be built by hand in a test, without a scene, a model or Warp.

Frames and conventions, used by the whole solver
    * Solver bodies are numbered 0..B-1.  The first ``dynamic_count`` of them move freely; the rest are immovable for
      this step (static, kinematic, the world): infinite mass, and a velocity that is known.
    * A body's solver frame sits at its centre of mass, along its principal axes of inertia.  ``position`` [m] and
      ``orientation`` (quaternion xyzw) give that frame in the world; points and axes called local are in it.
    * A velocity is six numbers (linear of the centre of mass [m/s], angular [rad/s]), both in world axes.
    * A row's impulse p acts on body b along +J_b^T and on body a along +J_a^T; its velocity is
      v = J_a u_a + J_b u_b + bias.
    * A contact's normal points from body b to body a, so a positive gap velocity n . (v_a - v_b) separates them.
"""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from .flags import numbers

TURNS = 1e-4  # [rad] in a step: what keyframes turn by less carries as what stands
GAINS = 1e-5  # [m] of its way in a step: what they make faster or slower by less is hit as what stands


class Lever(IntEnum):
    """Where the levers of a contact end: at the start, half way to the free pose, the mean of that way, half way at the
    place of a rim that is outermost there, the mean of the way that is made.
    """

    START = 0
    HALFWAY = 1
    MEAN = 2
    RIM = 3
    MADE = 4


class Coordinate(IntEnum):
    """What a joint row measures.  R_a, R_b: orientations; d: anchor b minus anchor a, in the world.

    LINEAR    (R_a axis_a) . d - offset                       [m]
    DOT       (R_a axis_a) . (R_b axis_b) - offset            [1, radians near zero]
    TWIST     angle about R_a axis_a of the rotation that took b from its reference orientation in a, in turns of its
              own: 2 atan2(v . axis_a, w) with (v, w) = q_a^-1 q_b reference^-1, unwrapped around
              ``offset`` [rad], - offset; where b swings by more than 120 degrees it fades (reference/rows.py)
    DISTANCE  |d| - offset                                    [m]
    """

    LINEAR = 0
    DOT = 1
    TWIST = 2
    DISTANCE = 3


@dataclass
class Bodies:
    """B bodies, dynamic ones first.  Immovable ones: start pose, end pose, and the velocity from one to the other."""

    dynamic_count: int
    mass: np.ndarray  # (B,) [kg]; inf for immovable ones
    inertia: np.ndarray  # (B, 3) principal moments [kg m^2]; inf for immovable ones
    position: np.ndarray  # (B, 3) at the step's start [m]
    orientation: np.ndarray  # (B, 4) at the step's start
    velocity: np.ndarray  # (B, 6) at the step's start; immovable: mean over the step
    free_position: np.ndarray  # (B, 3) after free motion [m]; immovable: at the step's end
    free_orientation: np.ndarray  # (B, 4) likewise
    free_velocity: np.ndarray  # (B, 6) velocity of the free motion that the solve corrects; immovable: as ``velocity``
    midpoint: (
        np.ndarray
    )  # (B,) 1 where joint directions are taken in mid-step (energy kept), 0 at the end (dissipative)
    spin: np.ndarray | None = None  # (B, 3) angular momentum of bodies that spin too fast to answer joints by a turn
    # after their free one (spinning.py), on the scale of ``inertia`` [kg m^2/s]; 0 of others.  None: of all
    start_velocity: np.ndarray | None = None  # (B, 6) as ``velocity``, but of what animation moves at the start, too
    lever_inertia: np.ndarray | None = None  # (B, 3) by how much harder it is to turn what hangs on contacts: principal
    # moments that its change of spin has beyond ``inertia`` (hanging.py) [kg m^2].  None: nothing
    riders: object = None  # riders.Riders: who may ride on what moves freely itself; None: nobody

    @property
    def moments(self):
        """(B, 3) principal moments against which constraints change the spin [kg m^2]."""
        return self.inertia if self.lever_inertia is None else self.inertia + self.lever_inertia

    def still(self):
        """(B,) bool: of the bodies that do not move freely those without a velocity; of others nothing is said."""
        out, n = np.ones(len(self.mass), bool), self.dynamic_count
        np.logical_not(self.velocity[n:].any(axis=1), out=out[n:])
        return out

    def straight(self, step):
        """(B,) bool: of the bodies that do not move freely those that turn by no more than TURNS in a step [s]: what
        they carry moves past them as past what stands; of others nothing is said.
        """
        out, n = np.ones(len(self.mass), bool), self.dynamic_count
        spin = self.velocity[n:, 3:]
        out[n:] = np.einsum("bi,bi->b", spin, spin) * step**2 <= TURNS**2
        return out

    def evenly(self, step):
        """(B,) bool: of those that go ``straight`` the ones that get no faster or slower in a step [s]: what hits them
        does as if they stood; of others nothing is said.
        """
        out, n = self.straight(step), self.dynamic_count
        if self.velocity_at_start() is not self.velocity:
            gain = (self.start_velocity - self.velocity)[n:, :3]
            out[n:] &= np.einsum("bi,bi->b", gain, gain) * step**2 <= GAINS**2
        return out

    def velocity_at_start(self):
        """(B, 6) velocity of all bodies at the step's start."""
        return self.velocity if self.start_velocity is None else self.start_velocity

    def gyration(self):
        """(n,) largest radius of gyration sqrt(max I / m) of the dynamic bodies [m]."""
        n = self.dynamic_count
        return np.sqrt(self.inertia[:n].max(axis=1) / self.mass[:n])


@dataclass
class Contacts:
    """C contacts.  gap = n . (x_a - x_b) - margin_a - margin_b with x the world positions of the local points.

    In the gap, n turns with the body whose face is touched, and where both are round as they go past each other;
    impulses act along the normal of the step's start.
    """

    body_a: np.ndarray  # (C,) int
    body_b: np.ndarray  # (C,) int
    point_a: np.ndarray  # (C, 3) local [m]
    point_b: np.ndarray  # (C, 3) local [m]
    margin_a: np.ndarray  # (C,) rounding radius around the point [m]
    margin_b: np.ndarray  # (C,) [m]
    normal: np.ndarray  # (C, 3) world, at the step's start
    friction: np.ndarray  # (C,) Coulomb coefficient of the pair
    restitution: np.ndarray  # (C,) of the pair
    impulse: np.ndarray  # (C, 3) world vector on body a [N s]; start value for the solve
    start_gap: np.ndarray | None = None  # (C,) overlap the step starts with (< 0) [m]; None: the gap at the start pose
    rebound_gap: np.ndarray | None = None  # (C,) gap a rebound inside the step leads to [m]; None: nothing rebounds
    rebound_speed: np.ndarray | None = None  # (C,) and the separation speed it ends with [m/s]; see reference/impact.py
    face: np.ndarray | None = None  # (C,) int: body whose face it touches, -1 where the normal stays; None: it stays
    face_normal: np.ndarray | None = None  # (C, 3) the normal in that body's frame
    surface_velocity: np.ndarray | None = None  # (C, 3) world, of a's surface material relative to b's beyond the
    # bodies' own motion [m/s]; its tangential part adds to the slip.  None: no surface runs
    surface_drift: np.ndarray | None = None  # (C,) its normal part, of surfaces that deform [m/s]
    gap_noise: np.ndarray | None = (
        None  # (C,) contacts that start nearer than that to touching are held there [m]; None: 0
    )
    glides: np.ndarray | None = None  # (C,) bool: normal and levers of mid-step (gliding.py); has a face
    led: np.ndarray | None = None  # (C,) bool: of these those with what keyframes turn, whose levers are means; or None
    rolls: np.ndarray | None = None  # (C,) bool: and those whose levers are means of the way (roly_polies.py); or None
    rim_axis: np.ndarray | None = None  # (C, 3) of these those on the rim of a round end (rims_that_roll.py): its axis,
    rim_arm: np.ndarray | None = None  # (C, 3) and the arm from its middle to ``point`` [m], both in the frame of the
    # body that moves; 0 elsewhere.  None: there are none
    core_reach: np.ndarray | None = None  # (C,) how far apart two round cores are that touch (round_cores.py) [m]; 0: a
    # plane; None: there are none.  Along each other's axes they may go, of which these columns have up to two:
    core_axis_a: np.ndarray | None = None  # (C, 3) in the frame of body a, unit or 0
    core_axis_b: np.ndarray | None = None  # (C, 3) in that of body b

    @property
    def lever_kind(self):
        """(C,) int32, Lever.  None: all of the start."""
        if self.glides is None:
            return None
        kind = self.glides.astype(np.int32) if self.led is None else self.glides + self.led.astype(np.int32)
        kind = kind if self.rim_arm is None else np.where(self.rim_arm.any(axis=1), np.int32(Lever.RIM), kind)
        return kind if self.rolls is None else np.where(self.rolls, np.int32(Lever.MADE), kind)

    @classmethod
    def empty(cls):
        """No contacts at all."""
        return cls(
            np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0),
            np.zeros(0), np.zeros((0, 3)), np.zeros(0), np.zeros(0), np.zeros((0, 3)),
        )  # fmt: skip

    def __len__(self):
        return len(self.body_a)

    def take(self, index):
        """The Contacts at ``index`` (numbers or bool), as copies."""
        return _taken(self, index)


@dataclass
class JointRows:
    """R scalar joint rows, each with one proximal law.

    v = beta (c(q+) - target) / h + (1 - beta) (J u) - target_velocity,   p = clip(-v / compliance, lower, upper)
    where compliance -> 0 means rigid: v = 0 unless p rests on a bound.  Locked axis: beta 1, no bounds.
    Velocity drive: beta 0.
    Spring k, damper d: beta = h k / (h k + d), compliance = 1 / (h^2 k + h d).  Limit: lower 0 (or upper 0).
    """

    joint: np.ndarray  # (R,) int, which joint the row belongs to
    coordinate: np.ndarray  # (R,) int, Coordinate
    body_a: np.ndarray  # (R,) int
    body_b: np.ndarray  # (R,) int
    anchor_a: np.ndarray  # (R, 3) local [m]
    anchor_b: np.ndarray  # (R, 3) local [m]
    axis_a: np.ndarray  # (R, 3) local
    axis_b: np.ndarray  # (R, 3) local
    reference: np.ndarray  # (R, 4) orientation of b in a's frame at which a TWIST is zero
    offset: np.ndarray  # (R,) subtracted from the measured coordinate [m or rad]
    centre: np.ndarray  # (R,) to which a TWIST fades, less ``offset`` [rad]; NaN: it asks for a speed alone
    swings: np.ndarray  # (R,) bool: a TWIST of a joint that leaves other axes free, so that it may come to that
    start: np.ndarray  # (R,) the angle of such a TWIST where the step starts, with its turns, less ``offset`` [rad]
    beta: np.ndarray  # (R,)
    target: np.ndarray  # (R,) [m or rad]
    target_velocity: np.ndarray  # (R,) [m/s or rad/s]
    compliance: np.ndarray  # (R,) velocity per impulse [1/kg, or 1/(kg m^2)]; a joint's m/N divided by h^2
    lower: np.ndarray  # (R,) impulse bounds [N s, or N m s]
    upper: np.ndarray  # (R,)
    impulse: np.ndarray  # (R,) start value

    @classmethod
    def empty(cls):
        """No joints at all."""
        return cls.of(0)

    @classmethod
    def of(cls, count):
        """``count`` zeroed rows: rigid (beta 1), without bounds."""
        integer, vector = (lambda: np.zeros(count, np.int32)), (lambda: np.zeros((count, 3)))
        return cls(
            integer(), integer(), integer(), integer(), vector(), vector(), vector(), vector(),
            np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)), np.zeros(count), np.zeros(count), np.zeros(count, bool),
            np.zeros(count), np.ones(count), np.zeros(count), np.zeros(count), np.zeros(count),
            np.full(count, -np.inf), np.full(count, np.inf), np.zeros(count),
        )  # fmt: skip

    def __len__(self):
        return len(self.joint)

    def take(self, index):
        """The JointRows at ``index`` (numbers or bool), as copies."""
        return _taken(self, index)


@dataclass
class StepProblem:
    """One implicit time step of length ``step`` [s]."""

    step: float
    bodies: Bodies
    contacts: Contacts = field(default_factory=Contacts.empty)
    joints: JointRows = field(default_factory=JointRows.empty)
    push_out_speed: float = 3.0  # overlap present at the start is removed no faster than this [m/s]
    gives: np.ndarray | None = None  # (R,) bool: rows of a velocity phase that give way; None: none does


@dataclass
class StepSolution:
    """What a solver returns.  Impulses are those over the step; contact impulses in (normal, t1, t2)."""

    velocity: np.ndarray  # (B, 6) the velocity that carries the bodies from start to end
    position: np.ndarray  # (B, 3) at the end
    orientation: np.ndarray  # (B, 4) at the end
    contact_impulse: np.ndarray  # (C, 3)
    joint_impulse: np.ndarray  # (R,)
    newton_iterations: int = 0
    linear_iterations: int = 0
    arc: np.ndarray | None = None  # (B, 6) of ``velocity``, what the impulses did not give (arcs.py); None: nothing
    pulled: np.ndarray | None = None  # (B, 3) impulses of joints of which that is [N s]
    drawn: np.ndarray | None = None  # (R,) impulses of distances of which it is [N s]
    midway: np.ndarray | None = None  # (R,) bool: rows of a velocity phase that pushed in mid-step (midway.py)


def joined(first, second):
    """Two Contacts as one."""
    for contacts, other in ((first, second), (second, first)):
        for name in ("surface_velocity", "surface_drift"):
            like = getattr(other, name)
            if getattr(contacts, name) is None and like is not None:
                setattr(contacts, name, np.zeros((len(contacts), *like.shape[1:])))
    pairs = {name: (getattr(first, name), getattr(second, name)) for name in first.__dataclass_fields__}
    return Contacts(
        **{name: None if any(p is None for p in pair) else np.concatenate(pair) for name, pair in pairs.items()}
    )


def tangents(normal):
    """Two unit tangents of each normal.  normal (C, 3) -> t1 (C, 3), t2 = n x t1 (C, 3).

    Duff et al. 2017, "Building an Orthonormal Basis, Revisited": no branch cut but at n_z = 0, where the sign flips.
    """
    normal = np.asarray(normal, float).reshape(-1, 3)
    x, y, z = normal.T
    sign = np.where(z < 0.0, -1.0, 1.0)
    a = -1.0 / (sign + z)
    t1, t2 = np.empty_like(normal), np.empty_like(normal)  # filled by columns: few calls, for they take the time
    u, v, w = t1.T
    u[:], v[:], w[:] = 1.0 + sign * x**2 * a, sign * (x * y * a), -sign * x
    t2[:, 0], t2[:, 1], t2[:, 2] = y * w - z * v, z * u - x * w, x * v - y * u
    return t1, t2


def world_impulses(normal, impulse):
    """Contact impulses (C, 3) in (normal, t1, t2) as world vectors (C, 3) on body a."""
    if not len(normal):
        return np.zeros((0, 3))
    t1, t2 = tangents(normal)
    return impulse[:, :1] * normal + impulse[:, 1:2] * t1 + impulse[:, 2:] * t2


def frozen(values):
    """``values``, from now on read-only: who is handed the same array twice knows that nothing in it has changed."""
    values.setflags(write=False)
    return values


def _taken(table, index):
    """A dataclass of arrays of one length, cut down to ``index``."""
    index, out = numbers(index), object.__new__(type(table))  # not through ``__init__``, which takes as long
    out.__dict__ = {name: None if c is None else c.take(index, 0) for name, c in vars(table).items()}
    return out
