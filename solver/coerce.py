# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns what a caller hands over into float64 arrays, and leaves alone what cannot be turned.

Construction never fails: ``validate`` reads the fields afterwards and reports every problem of a scene at once.
"""

from numbers import Real
from typing import ClassVar

import numpy as np

UNIT_TOLERANCE = 1e-6
"""Quaternions whose length differs from 1 by no more than this are rounding noise and are normalised; others are kept
as they are, for ``validate`` to refuse."""
ROUNDED = 1e-15
"""What is left of that in a quaternion that was normalised: it stays as it is, else a scene would change by being saved
and loaded, or handed to another process."""


def array(value):
    """A float64 copy of ``value``, or ``value`` itself where it holds no numbers."""
    if value is None:
        return None
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return value


def singles(value):
    """A float32 copy of ``value``, for arrays that are many frames long, or ``value`` where it holds no numbers.

    What is beyond float32 becomes infinite, which is refused.
    """
    if value is None:
        return None
    try:
        with np.errstate(over="ignore"):
            return np.array(value, dtype=np.float32)
    except (TypeError, ValueError, OverflowError):
        return value


def quaternion(value):
    """Like ``array``; quaternions (..., 4) of unit length within UNIT_TOLERANCE are normalised."""
    value = array(value)
    if isinstance(value, np.ndarray) and value.ndim >= 1 and value.shape[-1] == 4 and np.isfinite(value).all():
        length = np.sqrt(np.einsum("...i,...i->...", value, value))[..., None]
        off = np.abs(length - 1.0)
        if np.all(off <= UNIT_TOLERANCE):
            value /= np.where(off <= ROUNDED, 1.0, length)
    return value


def indices(value):
    """An int32 copy of ``value``, or ``value`` itself where it does not hold whole numbers within int32."""
    try:
        numbers = np.array(value)
    except ValueError:
        return value
    if numbers.size == 0:
        return numbers.reshape(numbers.shape).astype(np.int32)
    if numbers.dtype.kind not in "iu" or numbers.min() < -(2**31) or numbers.max() >= 2**31:
        return value
    return numbers.astype(np.int32)


def sequence(value):
    """A new list of the entries of ``value``, or ``value`` itself where it has none."""
    try:
        return list(value)
    except TypeError:
        return value


def arrays(value):
    """A tuple of float64 copies of the entries, read-only, or ``value`` itself where it has none."""
    try:
        entries = tuple(array(entry) for entry in value)
    except TypeError:
        return value
    for entry in entries:
        if isinstance(entry, np.ndarray):
            entry.flags.writeable = False
    return entries


def number(value):
    """A float, or ``value`` itself where it is not one number within the range of float64."""
    if not isinstance(value, Real) and not (isinstance(value, np.ndarray) and value.ndim == 0):
        return value
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return value


def number_or_series(value):
    """A float, or ((times), (values)) as tuples of floats, or ``value`` itself where it is neither."""
    try:
        times, values = value
        return tuple(float(t) for t in times), tuple(float(v) for v in values)
    except (TypeError, ValueError, OverflowError):
        return number(value)


class Coerced:
    """Base of mutable dataclasses: the fields named in ``_coerce`` are converted whenever they are assigned."""

    _coerce: ClassVar[dict] = {}

    def __setattr__(self, name, value):
        convert = self._coerce.get(name)
        object.__setattr__(self, name, convert(value) if convert else value)


class CoercedOnce:
    """Base of frozen dataclasses: the fields named in ``_coerce`` are converted once, arrays made read-only."""

    _coerce: ClassVar[dict] = {}

    def __post_init__(self):
        for name, convert in self._coerce.items():
            value = convert(getattr(self, name))
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)
