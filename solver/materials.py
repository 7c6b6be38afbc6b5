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


COEFFICIENTS = "friction", "restitution"
KINDS = 64  # of bodies, up to which what two of them make is found once for all


class Materials:
    """The coefficients of pairs of the bodies of a scene."""

    def __init__(self, rules, *coefficients):
        """rules: of each of COEFFICIENTS, a key of COMBINE; coefficients: of each (B,)."""
        self._rules, self._own, self._tables = rules, [np.array(each, float) for each in coefficients], None
        if len(self._own[0]):
            kinds, number = np.unique(np.stack(self._own, axis=1), axis=0, return_inverse=True)
            self._count, self._kind = len(kinds), number.reshape(-1)
            if self._count <= KINDS:
                pairs = zip(rules, kinds.T, strict=True)
                self._tables = [combine(rule, values[:, None], values).reshape(-1) for rule, values in pairs]

    def of(self, a, b):
        """(N,) for each of COEFFICIENTS, of pairs of bodies (N,), (N,)."""
        if self._tables is None:
            own = zip(self._rules, self._own, strict=True)
            return [combine(rule, values[a], values[b]) for rule, values in own]
        pair = self._kind.take(a) * self._count + self._kind.take(b)
        return [table.take(pair) for table in self._tables]


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
