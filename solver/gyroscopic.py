# SPDX-License-Identifier: GPL-3.0-or-later
"""How many steps fast tops need: a constraint's answer to spin must not be lost in one step.

A step answers an impulse p of a constraint by the turn h I^-1 J^T p after the free rotation.  A spinning body gives way
across: with L its angular momentum, the turn t obeys t' = I^-1 (J^T p + L x t), which goes round at the rate

    sqrt(sum_i (L_i / max(I_j, I_k))^2)        i, j, k the principal axes; |L| / I of a ball, L / I1 of a disc's spin

The step lacks that coupling, so its angle over a step must be small.  A body that spins about the levers of its joints
may turn with the impulse instead of before it (spinning.py): then only Newton bounds the angle.  A body that a hinge
or a firmer joint holds to others takes their moments along when its axis leans, and is not turned so; one held to
something immovable has no axis to lean.

A disc's top at 60 rad/s on a ball joint, turned before the impulse, exact lean at most 0.435 rad, after 2 s (energy in
parts of that of the spin):

    angle per step [rad]   4.9      2.5      1.2      0.62      0.31
    largest lean [rad]     2.88     0.96     0.465    0.438     0.435
    energy                 + 6240 % + 2 %    - 1.1 %  - 0.11 %  - 0.01 %

A hull as a top, 30 to 100 rad/s on a ring of 3 mm, lies down within a second with 2 rad a step, whatever its lean was,
within two with 0.5, and leans by 3 to 5 degrees as with 480 steps a second with 0.25.
"""

import numpy as np

from . import rotations
from .components import connected_components
from .flags import places, some
from .problem import Coordinate
from .shapes import Sphere

JOINTED = 0.65  # [rad] of that angle per step: such tops lose 0.5 to 1 % of energy in 10 s
SPINNING = 1.25  # [rad] where spinning.py turns them: a larger one takes Newton more rounds than it saves steps
SAFE = 0.99  # a bound below this is met, however it was rounded
ASIDE = 0.25  # of a spin, at most, across such a lever
TOUCHING = 2.0  # where contacts hold a body: backward Euler loses energy by more than it gains so
TIPTOE = 0.12  # where it turns on a tip: contacts at the end pose push late, and its axis swings wider each round
UNSEEN = 0.25  # where nobody knows yet what it touches, in the first frame
TIP = 0.5  # of its radius of gyration: how far apart the places of a tip may be
HOPS = 0.03  # and how far above what it turns on it may be, in parts of that, too
FRAME = 1.0 / 24.0  # [s]
MANY = 2.0**20  # steps of a frame that nobody takes
UPRIGHT = 0.7  # of its spin, at least, is about the normal there: what rolls does not turn on a tip


def gives_way(inertia, held=0.0):
    """(N, 3) rate at which bodies with principal moments (N, 3) give way across their spin about each axis, in parts of
    that spin; held: moment that must lean along [kg m^2].
    """
    return inertia / (np.maximum(inertia[:, [1, 2, 0]], inertia[:, [2, 0, 1]]) + held)


def shortest_step(gyration, fast):
    """(N,) [s] that a step must last to tell of the lean of bodies of radii of ``gyration`` (N,) [m]: in a FRAME that
    moves them by so much at most, of which each ``fast`` [m] is worth a step.
    """
    return FRAME * fast / gyration


class Gyroscopes:
    """The bodies of one scene whose spin decides how long a step may be."""

    def __init__(self, scene, frames, joints, fast):
        """joints: JointTable; fast: tolerance of what moves fast [m].  Balls that only touch are left out: what they
        touch does not see them turn.
        """
        self.frames, self.joints, self.fast = frames, joints, fast
        self.ball = np.array([len(b.shapes) == 1 and isinstance(b.shapes[0], Sphere) for b in scene.bodies], bool)
        self._known = None, None

    def steps(self, state, seconds, free):
        """((B,) int number of equal steps that each body asks ``seconds`` to be cut into, or None where each is content
        with one; (B,) bool: bodies to be turned with the impulses of a step, as spinning.py has it, or None where there
        are none).  free: (B,) bool, bodies that move freely.
        """
        jointed, alone, gain, most, levers = self._structure(free)
        spin = state.velocity[:, 3:]
        count, unknown = len(free), state.contacts is None  # in the first frame nobody has looked
        # What touches can only ease the bound and leave bodies out: where even the strictest asks for one step, it is.
        strictest = most[0 if unknown or len(state.contacts.body_a) else 1]
        if (np.einsum("ni,ni->n", spin, spin) * strictest).max(initial=0.0) * seconds**2 <= SAFE:
            return None, None
        touching = np.zeros(count, bool)
        if not unknown:
            touching[state.contacts.body_a] = touching[state.contacts.body_b] = True
        hung = jointed & ~touching
        touching |= unknown
        taken = free & (jointed | (touching & ~self.ball))
        local = rotations.rotate(rotations.conjugate(state.orientation), spin)
        rate = np.sqrt(((local * gain) ** 2).sum(axis=1))
        fast = taken & hung & alone & (rate * seconds > JOINTED)
        if some(fast):
            fast &= self._along(local, levers)
        bound = np.where(hung, np.where(fast, SPINNING, JOINTED), TOUCHING)
        whirls = taken & ~hung & (rate * seconds > TIPTOE)
        if some(whirls):
            tips = places(whirls if unknown else self._on_tips(state, whirls))
            worth = rate[tips] * shortest_step(self._gyration(tips), self.fast)
            bound[tips] = np.clip(worth, UNSEEN if unknown else TIPTOE, TOUCHING)
        asked = np.ceil(np.where(taken, np.minimum(rate * seconds / bound, MANY), 1.0)).astype(int)
        return np.maximum(asked, 1), fast if some(fast) else None

    def _structure(self, free):
        """Of each body (B,): whether it has joints; whether nothing leans with it; (B, 3) the rate at which it gives
        way across its spin about each principal axis, in parts of that; (2, B) the most that (rate / bound)^2 can be of
        its spin squared, with contacts and without any in the scene; and the levers at which joints push.

        Anew where joints break and bodies are held or let go.
        """
        key = free.tobytes(), self.joints.alive.tobytes()
        if self._known[0] != key:
            fixed, jointed = self.joints.fixed, np.zeros(len(free) + 1, bool)
            alive = self.joints.alive[fixed.joint] if len(fixed) else np.zeros(0, bool)
            jointed[fixed.body_a[alive]] = jointed[fixed.body_b[alive]] = True
            jointed, inertia, gain = jointed[:-1], self.frames.inertia[free], np.zeros((len(free), 3))
            held = self._held(free)
            gain[free] = gives_way(inertia, held[free, None])
            turns = np.stack([free & (jointed | ~self.ball), free & jointed])
            most = np.where(turns, (gain.max(axis=1) / np.array([[TIPTOE], [JOINTED]])) ** 2, 0.0)
            self._known = key, (jointed, held == 0.0, gain, most, self._levers(free))
        return self._known[1]

    def _gyration(self, bodies):
        """Largest radius of gyration of ``bodies``, numbers or (B,) bool [m]."""
        return np.sqrt(self.frames.inertia[bodies].max(axis=1) / self.frames.mass[bodies])

    def _on_tips(self, state, whirls):
        """(B,) bool: those of ``whirls`` that stand on a tip, and spin about the normal there."""
        contacts, spin, upright = state.contacts, state.velocity[:, 3:], np.zeros(len(whirls), bool)
        speed, gyration = np.linalg.norm(spin, axis=1), np.zeros(len(whirls))
        gyration[whirls] = self._gyration(whirls)
        low, high = np.full((2, *spin.shape), np.inf) * np.array([1.0, -1.0])[:, None, None]
        for body, point in ((contacts.body_a, contacts.point_a), (contacts.body_b, contacts.point_b)):
            own = np.flatnonzero(whirls[body] & (contacts.gap <= HOPS * gyration[body]))
            of = body[own]
            np.minimum.at(low, of, point[own])
            np.maximum.at(high, of, point[own])
            upright[of[np.abs(np.einsum("ci,ci->c", contacts.normal[own], spin[of])) >= UPRIGHT * speed[of]]] = True
        span = np.linalg.norm(np.where(upright[:, None], high - low, np.inf), axis=1)
        return whirls & upright & (span <= TIP * gyration)

    def _along(self, spin, levers):
        """(B,) bool: bodies that spin, (B, 3) in their own axes, about all their ``levers``: the push keeps its
        direction while they turn.  A whip's links do not.
        """
        body, direction = levers
        speed, along = np.einsum("ni,ni->n", spin, spin), np.einsum("ni,ni->n", spin.take(body, 0), direction)
        out = np.ones(len(spin), bool)
        out[body[along**2 < (1.0 - ASIDE**2) * speed.take(body)]] = False
        return out

    def _levers(self, free):
        """Those at which joints push free bodies: (L,) of which body, (L, 3) direction in its own axes."""
        fixed = self.joints.fixed
        turns = (fixed.coordinate == Coordinate.DOT)[:, None]
        body = np.concatenate([fixed.body_a, fixed.body_b])
        lever = np.concatenate(
            [np.where(turns, fixed.axis_a, fixed.anchor_a), np.where(turns, fixed.axis_b, fixed.anchor_b)]
        )
        length = np.linalg.norm(lever, axis=1)
        pushes = np.tile(self.joints.alive[fixed.joint], 2) & np.append(free, False)[body] & (length > 0.0)
        return body[pushes], lever[pushes] / length[pushes, None]

    def _held(self, free):
        """(B,) moment of inertia that must lean along with each body, at least [kg m^2]."""
        count, joints = len(free), self.joints
        least = np.append(np.where(free, self.frames.inertia.min(axis=1), np.inf), np.inf)
        fixed = joints.fixed
        locks = fixed.coordinate == Coordinate.DOT
        turns = np.bincount(fixed.joint[locks], minlength=len(joints.joints))
        firm = np.array([joint.angular_compliance == 0.0 for joint in joints.joints], bool) & joints.alive
        first = np.unique(fixed.joint, return_index=True)
        a, b = np.zeros((2, len(joints.joints)), int)
        a[first[0]], b[first[0]] = fixed.body_a[first[1]], fixed.body_b[first[1]]
        rigid, hinged = firm & (turns == 3), firm & (turns == 2)
        group = connected_components(count + 1, a[rigid], b[rigid])
        moment = np.bincount(group, least)
        around = moment.copy()
        hinged &= group[a] != group[b]
        np.add.at(around, group[a[hinged]], moment[group[b[hinged]]])
        np.add.at(around, group[b[hinged]], moment[group[a[hinged]]])
        held = around[group[:count]]
        return np.where(np.isfinite(held), held - np.where(free, least[:count], 0.0), np.inf)
