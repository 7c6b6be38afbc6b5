# SPDX-License-Identifier: GPL-3.0-or-later
"""What a simulation carries from step to step.  Changed only when a step is accepted, so a step can be tried again."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class State:
    """B bodies of the scene, in its order; poses of the solver frames (frames.py)."""

    time: float  # [s]
    position: np.ndarray  # (B, 3) [m]
    orientation: np.ndarray  # (B, 4)
    velocity: np.ndarray  # (B, 6)
    eps: np.ndarray  # (B,) proximal strength each body's island ended with
    swept: np.ndarray  # (B,) sweeps of Gauss-Seidel that the last solve of its island took
    contacts: object = None  # ContactSet of the last step, or None
    contact_force: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))  # (C, 3) world, on body a [N]
    locked: np.ndarray | None = None  # (B,) bool: bodies of islands whose last solve left overlap that friction locks
    late: object = None  # LateForces of the last step, or None
    way: np.ndarray | None = None  # (B,) how far any point of each body moved in the last step [m]
    ruled: np.ndarray | None = None  # (B,) bool: bodies whose velocity fits their joints
    owed: np.ndarray | None = None  # (B, 2) shares of what its group lacks and had most of energy [J] (kept_energy.py,
    # and strokes.py of what rolls)
    left: np.ndarray | None = None  # (B,) energy with which what rolls left the last edge it landed on, inf before it
    # has, 0: it does not roll [J] (strokes.py)
    along: np.ndarray | None = None  # (B,) [s] for which each body still counts as carried along a curve (curves.py)
    beyond: np.ndarray | None = None  # (B,) energy that mid-step gave each body's island [J] (energy_limit.py)
    glide: np.ndarray | None = None  # (B, 13) what bodies taken back still have to go to their paths (hand_over.py)
    still: np.ndarray | None = (
        None  # (B, 8) the pose each body has hardly left, after the time since when [s] (rest.py)
    )
    proof: np.ndarray | None = None  # (B, 10) residuals each resting body has a part in; inf where awake (rest.py)
