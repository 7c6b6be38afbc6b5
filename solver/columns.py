# SPDX-License-Identifier: GPL-3.0-or-later
"""Columns of host tables in the arrays of a struct on a device: what lies there already is not copied again."""

import operator

import numpy as np

from .arrays import host_view, staging, upload


class ColumnSet:
    """Columns of a table that are taken over together: pairs (name on the device, name in the table)."""

    def __init__(self, *pairs):
        self.pairs, self.names = pairs, tuple(name for name, _ in pairs)
        of = operator.attrgetter(*(source for _, source in pairs))
        self.of = of if len(pairs) > 1 else lambda table: (of(table),)


class Columns:
    """The arrays of a struct as the host fills them, step by step."""

    def __init__(self, struct):
        self._struct, self._lies, self._views, self._sets = struct, {}, {}, {}

    def put_all(self, table, columns):
        """``put`` for a ColumnSet of ``table``; nothing else may put what belongs to it."""
        values, lies = columns.of(table), self._sets.get(columns)
        if lies is None:
            lies = self._sets[columns] = [None] * len(columns.names)
        for k, column in enumerate(values):
            if column is not lies[k]:
                self.fill(columns.names[k], column)
                flags = column.flags
                lies[k] = column if not flags.writeable and flags.owndata else None

    def put(self, name, values, order=None):
        """Copy ``values`` (n, ...) into the first n elements of an array that no kernel writes, the rest is left.

        order: (n,) read-only, in which they are taken, or None.  A read-only array that lies there already is not
        copied again: nothing in it has changed.
        """
        lies = self._lies.get(name)
        if lies is not None and lies[0] is values and lies[1] is order:
            return
        flags = values.flags
        self._lies[name] = (values, order) if not flags.writeable and flags.owndata else None
        self.fill(name, values if order is None else values.take(order, 0))

    def put_one(self, name, value, count):
        """``put`` for a number that is that of all ``count`` elements, and of all parts of each."""
        lies = self._lies.get(name)
        if lies is None or lies[0] is not value or lies[1] < count:
            self._lies[name] = value, count
            self.fill(name, np.full((count, *staging(getattr(self._struct, name)).shape[1:]), value))

    def put_or(self, name, values, missing, count, order=None):
        """``put``, or where a table of ``count`` elements has no such column the number ``missing`` for all of them."""
        if values is None:
            self.put_one(name, missing, count)
        else:
            self.put(name, values, order)

    def fill(self, name, values):
        """Copy ``values`` (n, ...) into an array that kernels write, too."""
        view = self._views.get(name)
        if view is not None:
            view[: len(values)] = values
            return
        array = getattr(self._struct, name)
        if array.device.is_cpu:
            self._views[name] = host_view(array)
        upload(array, values)
