# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels run on the host beside NumPy: what a step does before its solve, in plain loops over bodies and contacts.

A HostTable keeps the arrays of one Warp struct in the CPU's memory and gives NumPy views of them; a HostKernel is a
launch over them, recorded once.  Both live as long as the scene; a call costs one microsecond.
"""

from types import SimpleNamespace

import warp as wp

from .arrays import allocate, host_view
from .recording import recorded

LEAST = 256  # elements of a table: a thread in vain takes a nanosecond, to grow and record anew half a millisecond
MANY = 2048  # of a table of contacts that one thread goes over alone: a heap of 125 boxes does not outgrow it


def graph_of(kernel, size, *arrays):
    """A graph of ``size`` threads of a kernel over these structs: a launch would put its arguments together anew."""
    return recorded("cpu", lambda: wp.launch(kernel, dim=size, inputs=list(arrays), device="cpu"))


class HostTable:
    """The arrays of a Warp struct on the CPU, ``size`` elements each or as many as ``fixed`` says; they only grow.

    ``least``: elements to begin with.
    """

    def __init__(self, struct, least=LEAST, **fixed):
        self._struct, self._least, self._fixed = struct, least, fixed
        self.size = self.generation = 0

    def reserve(self, size):
        """Make room for ``size`` elements, with some to spare.  Returns the views, by the names of the struct."""
        if size > self.size or not self.generation:
            self.size = max(2 * size, self._least)
            self.generation += 1
            self.arrays = allocate(self._struct, self._fixed, self.size, "cpu")
            self.views = SimpleNamespace(**{name: host_view(getattr(self.arrays, name)) for name in self._struct.vars})
        return self.views


class HostKernel:
    """A kernel over HostTables: it takes their structs, and returns at once beyond the counts it finds in them."""

    def __init__(self, kernel, *tables, alone=False):
        """tables: the first one says over how many elements the kernel goes, if it is not one thread ``alone``."""
        self._kernel, self._tables, self._alone = kernel, tables, alone
        self._recorded = None

    def run(self):
        """Run it over what lies in the tables now."""
        made = [table.generation for table in self._tables]
        if made != self._recorded:
            size = 1 if self._alone else self._tables[0].size
            self._graph = graph_of(self._kernel, size, *[table.arrays for table in self._tables])
            self._recorded = made
        wp.capture_launch(self._graph)
