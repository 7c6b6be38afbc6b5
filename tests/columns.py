# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether functions of NumPy whose vector form has other bits get columns: see ``arctan2`` of reference/rotation.py."""

import sys
from pathlib import Path

import numpy as np

FUNCTIONS = (
    *("arctan2", "arctan", "arccos", "arcsin", "exp", "expm1", "exp2", "log", "log1p", "power"),
    *("tan", "sin", "cos", "sinh", "cosh", "tanh", "cbrt"),
)
PRODUCT = Path(__file__).resolve().parent.parent


def columns_taken(patch):
    """A set that gets "file:line function" of each such call of the product, from now on; patch: a MonkeyPatch."""
    seen = set()

    def watched(name, function):
        def call(*arguments, **options):
            if any(isinstance(each, np.ndarray) and not each.flags.forc for each in arguments):
                caller = sys._getframe(1)
                path = Path(caller.f_code.co_filename)
                if path.is_relative_to(PRODUCT) and not path.is_relative_to(PRODUCT / "tests"):
                    seen.add(f"{path.relative_to(PRODUCT).as_posix()}:{caller.f_lineno} {name}")
            return function(*arguments, **options)

        return call

    for name in FUNCTIONS:
        patch.setattr(np, name, watched(name, getattr(np, name)))
    return seen
