# SPDX-License-Identifier: GPL-3.0-or-later
"""The system of linear/schur.py put together and solved: preconditioned conjugate residuals of warp.optim.linear.

Every island is a batch of one vector: contacts first, three unknowns each, then joint rows.  All islands iterate
together until each has reached its own relative residual.  The preconditioner is the diagonal.
"""

import numpy as np
import warp as wp
from warp.optim.linear import LinearOperator, cr

from ..arrays import allocate, upload, zeros
from .schur import START, STEP_ONLY, WHOLE, schur_kernels, schur_struct

CHECK_EVERY = 10  # iterations between two looks at the residual


class SchurSystem:
    """The system of one DeviceProblem.  Arrays grow with the problem's capacity and are kept from step to step."""

    def __init__(self, device, real, reduction, most):
        """reduction: relative residual at which conjugate residuals stop; most: iterations they are given."""
        self.device, self.real = device, real
        self.reduction, self.most = reduction, most
        self.kernels = schur_kernels(real)
        self._generation = None
        self._layout = None

    def set_problem(self, problem):
        """Take over the structure of an uploaded DeviceProblem."""
        capacity = problem.capacity
        self.problem = problem
        if self._generation != problem.generation:
            unknowns = 3 * capacity["contacts"] + capacity["rows"]
            sizes = dict.fromkeys(("contact_slot", "axis_e", "axis_f", "contact_step"), capacity["contacts"])
            sizes |= dict.fromkeys(("row_slot", "row_step"), capacity["rows"])
            sizes |= dict.fromkeys(("velocity", "inverse_block"), capacity["bodies"])
            self.arrays = allocate(schur_struct(self.real), sizes, unknowns, self.device)
            self._offsets = zeros(capacity["islands"] + 1, wp.int32, self.device)
            self._generation, self._layout, self._solve = problem.generation, None, None
        contact_slot, row_slot, offsets = unknown_slots(problem.topology, capacity["islands"])
        upload(self.arrays.contact_slot, contact_slot)
        upload(self.arrays.row_slot, row_slot)
        layout = offsets.tobytes()
        if layout != self._layout:
            upload(self._offsets, offsets)
            self._layout = layout
            if self._solve is None or not self.device.is_cpu:
                self._build()  # on CUDA, Warp plans its reductions once for a layout

    def _build(self):
        count = len(self.arrays.right)
        shape, scalar = (count, count), self.real.scalar
        operator = LinearOperator(shape, scalar, self.device, self.multiply, batch_offsets=self._offsets)
        self._solve = cr(
            operator, self.arrays.right, self.arrays.unknown, tol=self.reduction, atol=0.0, maxiter=self.most,
            M=self.arrays.inverse_diagonal, check_every=CHECK_EVERY, run=False,
        )  # fmt: skip

    def multiply(self, x, y, z, alpha, beta):
        """Multiply: z = alpha A x + beta y over all unknowns; y is not read where beta is 0."""
        p, sys, scalar = self.problem, self.arrays, self.real.scalar
        self._launch("to_bodies", "bodies", STEP_ONLY, x, p.bodies, p.contacts, p.rows, sys)
        self._launch("multiply", None, x, y, z, scalar(alpha), scalar(beta), p.contacts, p.rows, sys)

    def _launch(self, kernel, over, *arguments):
        size = self.problem.capacity
        dim = size[over] if over else size["contacts"] + size["rows"]
        inputs = [self.problem.counts, *arguments]
        wp.launch(getattr(self.kernels, kernel), dim=dim, inputs=inputs, device=self.device)

    def solve(self):
        """Solve: du into ``bodies.d``, dp into ``contact_step`` and ``row_step``, from the rows in ``arrays``.

        Returns the number of iterations.
        """
        p, sys = self.problem, self.arrays
        self._launch("body_blocks", "bodies", p.bodies, p.contacts, p.rows, sys)
        self._launch("scale_rows", None, p.bodies, p.contacts, p.rows, sys, p.islands)
        self._launch("to_bodies", "bodies", START, sys.unknown, p.bodies, p.contacts, p.rows, sys)
        self._launch("right_side", None, p.contacts, p.rows, sys, p.islands)
        iterations = self._solve()[0]
        self._launch("to_bodies", "bodies", WHOLE, sys.unknown, p.bodies, p.contacts, p.rows, sys)
        self._launch("read_bodies", "bodies", p.bodies, sys, p.islands)
        self._launch("read_impulses", None, p.contacts, sys)
        return iterations


def unknown_slots(topology, islands):
    """Where unknowns lie: (first of each contact's three (C,), of each row (R,), first of each island (islands + 1,)).

    Contacts as the topology sorts them.  Islands beyond the topology's are empty.
    """
    count = topology.island_count
    contacts = np.diff(topology.island_contact_start)
    rows = np.diff(topology.island_row_start)
    offsets = np.zeros(islands + 1, np.int32)
    offsets[1 : count + 1] = np.cumsum(3 * contacts + rows)
    offsets[count + 1 :] = offsets[count]
    own = np.arange(len(topology.contact_island)) - np.asarray(topology.island_contact_start)[topology.contact_island]
    contact_slot = offsets[topology.contact_island] + 3 * own
    row_slot = np.zeros(len(topology.row_island), np.int32)
    index, island = topology.island_row_index, topology.row_island
    own = np.arange(len(index)) - np.asarray(topology.island_row_start)[island[index]]
    row_slot[index] = offsets[island[index]] + 3 * contacts[island[index]] + own
    return contact_slot.astype(np.int32), row_slot, offsets
