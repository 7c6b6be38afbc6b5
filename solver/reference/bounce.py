# SPDX-License-Identifier: GPL-3.0-or-later
"""Free motion of one body that bounces off what stands or goes straight on: each impact at its own pose and time.

    M (u+ - u-) = J^T p        J at the pose of the impact
    v = J u - V        V: velocity of the surface there, that of what carries it and of a belt
    n.v+ >= -e n.v-  _|_  p_n >= 0        Newton's law of impact, for all contacts that touch there
    p_t = Proj_{|p_t| <= mu p_n} (p_t - v_t+ / w)        Coulomb's

Between impacts the body flies as ``free_motion.py`` has it, and its corners with it.  At the step's start the lever of
a corner is another one than where it lands, and after the first corner others follow: a box that lands on an edge
gets its spin there.  Friction at a lever may make Newton's law add energy; then all of that impact rebounds with the
largest share that adds none, as contacts do in ``energy_limit.py``.  None, that is E+ <= E- + p.V: what moves works.

What hits no faster than free motion gathers in half a step does not rebound: from there on the body is left to the
solve, which holds its contacts at the end of the step.
"""

from dataclasses import dataclass

import numpy as np

from .free_motion import free_rotation, reach
from .impact import MOST_HITS
from .rotation import conjugate, rotate

LOOK = 0.1  # [rad] turned at most from one look at the gaps to the next
LOOKS = 4  # at least, in a step
REFINE = 40  # looks for the time of an impact
EARLY = 1e-9  # [m] gap an impact may be taken at
SWEEPS = 200  # Gauss-Seidel over the contacts of one impact
SETTLED = 1e-10  # of the fastest approach: a sweep that changes less is the last
SHARES = 30  # halvings of the interval the share is looked for in


@dataclass
class Flyer:
    """One body that flies: solver frame, velocity (6,), and what acts on it."""

    mass: float  # [kg]
    inertia: np.ndarray  # (3,) [kg m^2]
    acceleration: np.ndarray  # (3,) [m/s^2]
    damping: float  # linear [1/s]
    turn_damping: float  # angular [1/s]

    def after(self, pose, time):
        """Position, orientation and velocity ``time`` [s] of free flight after those of ``pose``."""
        x, q, u = pose
        linear = u[:3] * np.exp(-self.damping * time) + self.acceleration * reach(self.damping, time)
        turned, spin = free_rotation(q[None], u[None, 3:], self.inertia[None], time)
        out = np.append(linear, spin[0] * np.exp(-self.turn_damping * time))
        return x + 0.5 * time * (u[:3] + linear), turned[0], out

    def energy(self, q, u):
        """Kinetic energy [J]."""
        local = rotate(conjugate(q), u[3:])
        return 0.5 * (self.mass * u[:3] @ u[:3] + local @ (self.inertia * local))


@dataclass
class Planes:
    """C contacts of one body with planes that stand still, or go on evenly faster or slower, and do not turn."""

    point: np.ndarray  # (C, 3) on the body, local [m]
    margin: np.ndarray  # (C,) radius around it and beyond the plane [m]
    normal: np.ndarray  # (C, 3) world, towards the body
    height: np.ndarray  # (C,) of the plane along its normal [m]
    friction: np.ndarray  # (C,)
    restitution: np.ndarray  # (C,)
    velocity: np.ndarray  # (C, 3) of the surface at the step's start [m/s]
    gain: np.ndarray  # (C, 3) and its acceleration [m/s^2]

    def gaps(self, x, q, time=0.0):
        """(C,) ``time`` [s] after the step's start [m]."""
        on_body = x + rotate(q, self.point) - time * (self.velocity + 0.5 * time * self.gain)
        return np.einsum("ci,ci->c", self.normal, on_body) - self.height - self.margin

    def levers(self, q):
        """(C, 3) from the centre of mass to the surface [m]."""
        return rotate(q, self.point) - self.normal * self.margin[:, None]

    def surface(self, time):
        """(C, 3) velocity there [m/s]."""
        return self.velocity + time * self.gain

    def speeds(self, lever, u, time):
        """(C,) gap velocities [m/s] at levers (C, 3)."""
        return np.einsum("ci,ci->c", self.normal, u[:3] + np.cross(u[3:], lever) - self.surface(time))


def bounce(flyer, pose, planes, step, slowest, close):
    """The pose after a step of free flight with impacts.

    Args:
        flyer: Flyer.
        pose: position (3,) [m], orientation (4,) and velocity (6,) at the step's start.
        planes: Planes; overlap at the start counts as touching.
        step: [s].
        slowest: (C,) approach [m/s] up to which a contact does not rebound.
        close: gaps below this touch [m].

    Returns:
        pose at the step's end, change of velocity by impacts (6,), impulses on the body (C, 3) [N s]; None where
        nothing rebounds, or no impulses are found that add no energy.
    """
    left, change, impulses = step, np.zeros(6), np.zeros((len(planes.margin), 3))
    overlap = np.minimum(planes.gaps(*pose[:2]), 0.0)
    bounced = False
    for _ in range(MOST_HITS):
        time = _next(flyer, pose, planes, (step - left, left), overlap)
        if time is None:
            break
        pose, left = flyer.after(pose, time), left - time
        lever, now = planes.levers(pose[1]), step - left
        touching = planes.gaps(*pose[:2], now) - overlap <= close
        fast = touching & (planes.speeds(lever, pose[2], now) < -slowest) & (planes.restitution > 0.0)
        if not fast.any():
            break
        struck = _struck(flyer, pose, planes, lever, np.flatnonzero(touching), fast, planes.surface(now))
        if struck is None:
            return None
        push, after = struck
        bounced = True
        impulses += push
        change += after - pose[2]
        pose = *pose[:2], after
        if (push.any(axis=1) & ~fast).any():
            break
    return (flyer.after(pose, left), change, impulses) if bounced else None


def _next(flyer, pose, planes, times, overlap):
    """Time [s] until the first contact's gap falls through zero; None where none does within what is left.

    times: since the step's start, and what is left of it [s].
    """
    now, left = times
    looks = max(LOOKS, int(np.ceil(np.linalg.norm(pose[2][3:]) * left / LOOK)))

    def worst(time, of=slice(None)):
        x, q, u = flyer.after(pose, time)
        return (planes.gaps(x, q, now + time) - overlap)[of], (planes.speeds(planes.levers(q), u, now + time) < 0.0)[of]

    before, falls = worst(0.0)
    if ((before <= EARLY) & falls).any():
        return 0.0
    low = 0.0
    for k in range(1, looks + 1):
        high = left * k / looks
        gap, falls = worst(high)
        under = np.flatnonzero((gap < 0.0) & falls)
        if len(under):
            break
        low = high
    else:
        return None
    g_low, g_high = worst(low, under)[0].min(), gap[under].min()
    if g_low <= EARLY:
        return low
    for k in range(REFINE):
        time = low + (high - low) * (g_low / (g_low - g_high) if k % 3 else 0.5)
        found = worst(time, under)[0].min()
        if found < 0.0:
            high, g_high = time, found
        else:
            low, g_low = time, found
            if found <= EARLY:
                break
    return low


def _struck(flyer, pose, planes, lever, touching, fast, surface):
    """(impulses (C, 3), velocity (6,) after them) of one impact at ``pose`` of the contacts ``touching``.

    None where sweeps do not find impulses that add no energy.  surface: (C, 3) velocities there.
    """
    q, u = pose[1], pose[2].copy()
    carried = np.append(surface[touching[0]], np.zeros(3))
    surface = surface - carried[:3]  # to the first there is no work of it
    u -= carried
    start, inverse = flyer.energy(q, u), 1.0 / flyer.inertia

    def at(share):
        push, after = _solved(flyer, q, u, planes, lever, touching, fast, inverse, share, surface)
        return push, after, flyer.energy(q, after) - np.sum(push * surface)

    best = at(1.0)
    if best[2] > start * (1.0 + 1e-12):
        low, high, best = 0.0, 1.0, at(0.0)
        if best[2] > start * (1.0 + 1e-12):
            return None
        for _ in range(SHARES):
            share = 0.5 * (low + high)
            tried = at(share)
            if tried[2] > start:
                high = share
            else:
                low, best = share, tried
    return best[0], best[1] + carried


def _solved(flyer, q, u, planes, lever, touching, fast, inverse, share, surface):
    """The impulses and velocity with which contacts rebound with a ``share`` of what Newton's law asks for."""
    after, push = u.copy(), np.zeros_like(lever)
    arms, surfaces = [lever[c] for c in touching], [surface[c] for c in touching]

    def velocity(arm, runs):
        return after[:3] + np.cross(after[3:], arm) - runs

    def add(c, arm, impulse):
        push[c] += impulse
        after[:3] += impulse / flyer.mass
        after[3:] += rotate(q, inverse * rotate(conjugate(q), np.cross(arm, impulse)))

    def weight(arm, axis):
        local = rotate(conjugate(q), np.cross(arm, axis))
        return 1.0 / flyer.mass + local @ (inverse * local)

    wanted, normal_weight, slip_weight = [], [], []
    for c, arm, runs in zip(touching, arms, surfaces, strict=True):
        n = planes.normal[c]
        approach = n @ velocity(arm, runs)
        wanted.append(-share * planes.restitution[c] * approach if fast[c] else 0.0)
        normal_weight.append(weight(arm, n))
        slip_weight.append(sum(weight(arm, axis) for axis in np.eye(3)) - normal_weight[-1])  # no less than either's
    each = list(zip(touching, arms, surfaces, strict=True))
    scale = max(np.abs([planes.normal[c] @ velocity(arm, runs) for c, arm, runs in each]))
    for _ in range(SWEEPS):
        most = 0.0
        for k, (c, arm, runs) in enumerate(each):
            n, v = planes.normal[c], velocity(arm, runs)
            pressing = push[c] @ n
            new = max(0.0, pressing + (wanted[k] - n @ v) / normal_weight[k])
            add(c, arm, (new - pressing) * n)
            held, v = push[c] - new * n, velocity(arm, runs)
            slip = held - (v - (n @ v) * n) / slip_weight[k]
            size, most_slip = np.linalg.norm(slip), planes.friction[c] * new
            if size > most_slip:
                slip = slip * (most_slip / size)
            add(c, arm, slip - held)
            most = max(most, abs(new - pressing) * normal_weight[k], np.linalg.norm(slip - held) * slip_weight[k])
        if most <= SETTLED * scale:
            break
    return push, after
