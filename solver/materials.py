# SPDX-License-Identifier: GPL-3.0-or-later
"""How the friction and the restitution of two touching bodies become those of the pair.  Stated here once."""

import numpy as np

COMBINE = {
    "multiply": np.multiply,
    "geometric_mean": lambda a, b: np.sqrt(a * b),
    "average": lambda a, b: 0.5 * (a + b),
    "min": np.minimum,
    "max": np.maximum,
}
"""Rule name -> function of the two coefficients.  Blender's own engine (Bullet) multiplies both."""


def combine(rule, a, b):
    """Coefficient of each pair.

    Args:
        rule: a key of COMBINE.
        a: coefficients of the first bodies, any shape, not negative.
        b: coefficients of the second bodies, broadcast against ``a``.

    Returns:
        float64 array (a NumPy scalar for scalars).

    Raises:
        ValueError: for a rule that does not exist.
    """
    if rule not in COMBINE:
        raise ValueError(f"combine rule {rule!r} does not exist: choose one of {', '.join(COMBINE)}")
    return COMBINE[rule](np.asarray(a, float), np.asarray(b, float))
