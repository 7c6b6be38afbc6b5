# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are driven beyond what float64 can multiply: a run ends there with one sentence instead of NaN."""

import numpy as np

from .errors import SceneError

FASTEST = 1e40
"""Metres, metres a second, radians a second and metres a second squared that are still computed with."""


def check_state(names, frame, state):
    """Raises SceneError where a body of a State went or moves beyond FASTEST.  names: of the bodies."""
    for values, unit, does in (
        (state.position, "m", "it is"),
        (state.velocity[:, :3], "m/s", "it moves at"),
        (state.velocity[:, 3:], "rad/s", "it turns at"),
    ):
        most = np.abs(values).max(initial=0.0)
        if not most <= FASTEST:  # NaN, too
            worst = _worst(values)
            away = " away" if unit == "m" else ""
            raise SceneError(
                f"{names[worst]}: {does} {_told(values[worst])} {unit}{away} at frame {frame}, and the solver"
                f" computes up to {FASTEST:g} {unit}: weaken the force fields, drives and velocities that act on it"
            )


def check_field(names, field, time, acceleration, rate):
    """Raises SceneError where a ForceField asks bodies for more than FASTEST.

    names: of the bodies it acts on; time [s]; acceleration (n, 3) [m/s^2] and rate (n,) of braking [1/s] it gives them.
    """
    for values, unit, does in ((acceleration, "m/s^2", "accelerates"), (rate[:, None], "1/s", "brakes")):
        if not np.abs(values).max(initial=0.0) <= FASTEST:
            worst = _worst(values)
            raise SceneError(
                f"{field.name}: it {does} {names[worst]} by {_told(values[worst])} {unit} at {time:g} s, and the"
                f" solver computes up to {FASTEST:g} {unit}: lower its strength, raise its power, or give it a"
                " max_distance"
            )


def _told(values):
    most = np.abs(values).max()
    return f"{most:g}" if np.isfinite(most) else "more than 1e308"


def _worst(values):
    """Number of the row with the largest entry; one that is no number is largest."""
    size = np.abs(values).max(axis=1)
    return int(np.where(np.isnan(size), np.inf, size).argmax())
