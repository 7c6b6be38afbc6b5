# SPDX-License-Identifier: GPL-3.0-or-later
"""What dampers of other rows take from springs that vibrate faster than a step follows, in float64 NumPy.

    y'' = -C (k y + d y'),   C = L L^T          y: (K,) coordinates off their targets, C: J M^-1 J^T of what holds them

A row alone has laws that are exact (springs.py).  A spring next to the damper of another joint has not: by the mean
coordinate it pulls with 1 / (omega h) of its force, as its vibration is that much slower, and the damper, which takes
F^2 / d of a force F that it yields to, hardly feels it.  So what the rows have after a step is compared with what they
have by the exact solution, in s = sqrt(k) y of the springs and y' = L w, whose squares are the energy:

    s' = sqrt(k) L w,   w' = -L^T (sqrt(k) s + d L w)

and a spring that keeps too much is given a damper of its own, which takes that: momenta stay, and no step amplifies.
"""

import numpy as np

from .springs import weights

LEAST = 1e-9  # of what rows with unit mobility have together, below which they are the same
ROUNDS = 4  # of the fixed point: what one spring's damper takes changes what others lose
LITTLE = 1e-3  # of the energy in a step, which is not worth another round
NONE = 1e-12  # of the energy, below which none is left
TERMS, SHORT = 8, 0.125  # of the series for exp(A), whose norm is at most this: exact to 1e-13


def factor(square):
    """(K, r) L of a square C (K, K), without directions in which nothing moves."""
    size = np.sqrt(np.maximum(np.diag(square), 0.0))
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)
    values, vectors = np.linalg.eigh(scale[:, None] * square * scale)
    kept = values > LEAST
    return size[:, None] * vectors[:, kept] * np.sqrt(values[kept])


def own_dampers(own, lever, which, h, state=None):
    """(S,) damping that springs lack in a step of h [s] for what dampers of the other rows take from them.

    own: stiffness and damping of the rows, (K,) each; lever: (K, r) L; which: (S,) numbers of springs; state: (K,)
    coordinates off their targets and how fast they change, or None.  At most what is critical, and what each would lack
    alone: less of it where what vibrates lasts longer than that, in whatever phase.
    """
    stiffness, damping = own
    springs, mobility = np.flatnonzero(stiffness > 0.0), (lever**2).sum(axis=1)
    exact, starts = _exact(springs, stiffness, damping, lever, h), _starts(springs, lever, which)
    left = np.maximum(_energies(exact @ starts).reshape(2, -1).mean(axis=0), NONE)
    most = h * np.maximum(2.0 * np.sqrt(stiffness * mobility) - damping * mobility, 0.0)[which]
    decay, all_of_it = np.zeros(len(which)), damping.copy()

    def after(decay, start):
        all_of_it[which] = damping[which] + decay / (h * mobility[which])
        return np.maximum(_energies(stepped(springs, (stiffness, all_of_it), lever, h, start)), NONE)

    for _ in range(ROUNDS):
        kept, before = after(decay, starts).reshape(2, -1).mean(axis=0), decay
        decay = np.clip(decay + np.log(kept / left), 0.0, most)
        if np.abs(decay - before).max() < LITTLE:
            break
    if state is not None and decay.max() > LITTLE:
        start = _both_phases(springs, stiffness, lever, state)
        if start is not None:
            left = max(_energies(exact @ start).sum(), NONE)
            decay *= _share(lambda share: np.log(after(share * decay, start).sum() / left))
    return decay / (h * mobility[which])


def _share(off):
    """Where ``off``, which falls, is 0: between 0 and 1."""
    low, high = off(0.0), off(1.0)
    if low <= 0.0 or high >= 0.0:
        return float(low > 0.0)
    lower, upper = 0.0, 1.0
    for _ in range(ROUNDS):
        middle = lower + (upper - lower) * low / (low - high)
        found = off(middle)
        if found > 0.0:
            lower, low = middle, found
        else:
            upper, high = middle, found
        if abs(found) < LITTLE:
            return middle
    return lower + (upper - lower) * low / (low - high)


def _both_phases(springs, stiffness, lever, state):
    """(n + r, 2) states of unit energy: that of coordinates ``state``, and a quarter of each vibration on; None: at
    rest.
    """
    root = np.sqrt(stiffness[springs])
    strained, moving = root * state[0][springs], np.linalg.lstsq(lever, state[1], rcond=None)[0]
    energy = strained @ strained + moving @ moving
    if energy == 0.0:
        return None
    left, size, right = np.linalg.svd(root[:, None] * lever[springs], full_matrices=False)
    left, right = left[:, size > LEAST * size.max()], right[size > LEAST * size.max()]
    later = np.concatenate([left @ (right @ moving), -right.T @ (left.T @ strained)])
    return np.stack([np.concatenate([strained, moving]), later], axis=1) / np.sqrt(energy)


def stepped(springs, own, lever, h, start):
    """(n + r, N) states (s, w) after a step of h [s] by the laws of springs.py, each row fitted to what it moves.

    springs: (n,) numbers of rows; own: stiffness (K,) and damping (K,); lever: (K, r); start: (n + r, N).
    """
    (stiffness, damping), n, unit = own, len(springs), np.eye(lever.shape[1])
    found = weights(stiffness, damping, (lever**2).sum(axis=1), h, np.full(len(stiffness), 2.0))
    root, (s, w) = (h * np.sqrt(stiffness[springs]))[:, None], (start[:n], start[n:])
    rate = lever @ w
    way = 0.5 * (h * damping * (1.0 - found.way_damper))[:, None] * rate
    way[springs] += 0.5 * root * s
    gain = 0.5 * h * (h * stiffness * found.way_spring + damping * found.way_damper)
    mean = lever @ np.linalg.solve(unit + lever.T @ (gain[:, None] * lever), w - lever.T @ way)
    impulse, after = -2.0 * (way + gain[:, None] * mean), s + root * mean[springs]
    late = (h * damping * (1.0 - found.end_damper))[:, None] * rate
    early = found.end_spring[springs][:, None]
    late[springs] += root * ((1.0 - early) * s + early * after)
    acts = damping > 0.0
    ours, gain = lever[acts], (h * damping * found.end_damper)[acts]
    free = w + lever.T @ impulse - ours.T @ (late + impulse)[acts]
    return np.concatenate([after, np.linalg.solve(unit + ours.T @ (gain[:, None] * ours), free)])


def _starts(springs, lever, which):
    """(n + r, 2 S) states of unit energy: each of the springs ``which`` (S,) strained alone, and each struck."""
    n, count = len(springs), len(which)
    out = np.zeros((n + lever.shape[1], 2 * count))
    out[np.searchsorted(springs, which), np.arange(count)] = 1.0
    struck = lever[which].T
    out[n:, count:] = struck / np.sqrt((struck**2).sum(axis=0))
    return out


def _energies(states):
    """(N,) squares of states (n + r, N)."""
    return (states**2).sum(axis=0)


def _exact(springs, stiffness, damping, lever, h):
    """(n + r, n + r) exp of the rates of (s, w) over h [s]: no state grows, so that squaring it is safe."""
    n, pulls = len(springs), h * np.sqrt(stiffness[springs])[:, None] * lever[springs]
    rates = np.zeros((n + lever.shape[1],) * 2)
    rates[:n, n:], rates[n:, :n] = pulls, -pulls.T
    rates[n:, n:] = -h * lever.T @ (damping[:, None] * lever)
    halvings = max(0, int(np.ceil(np.log2(max(np.abs(rates).sum(axis=0).max(), SHORT) / SHORT))))
    rates, unit = rates * 0.5**halvings, np.eye(len(rates))
    found = unit.copy()
    for term in range(TERMS, 0, -1):
        found = unit + rates @ found / term
    for _ in range(halvings):
        found = found @ found
    return found
