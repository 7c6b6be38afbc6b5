# SPDX-License-Identifier: GPL-3.0-or-later
"""The proximal solver's kernels on a friction problem without bodies: u = W r + q with a dense Delassus matrix W.

The contact law, its curvature, Newton's control, line search, proximal centres and the test of convergence are the
solver's own kernels, launched in the order of ``ProximalSolver``.  Only what rows and masses are is different: with
W = L L^T the unknowns are velocities x of unit mass, and u = L x + q, where bodies would have levers and inertias.
These dense products are NumPy in the real type of the kernels, and so are the sweeps of Gauss-Seidel over W, written
after gauss_seidel.py; Newton's linear system is solved in float64, as the solver's block factorisation does.
"""

from functools import cache

import numpy as np
import warp as wp
from axion.solver.arrays import (
    CONSTRAINED,
    CONTACTS,
    INNER,
    ISLANDS,
    OUTER,
    PARTS,
    SWEEP,
    BodyArrays,
    ContactArrays,
    IslandArrays,
    RowArrays,
    allocate,
)
from axion.solver.constraints.contact import contact_kernels
from axion.solver.line_search import search_kernels
from axion.solver.newton_control import Limits, control_kernels, goes_on, iteration_begins
from axion.solver.problem import tangents
from axion.solver.proximal import SWEEPS_PER_BLOCK, ProximalSolver
from axion.solver.teams import TeamArrays

NORMAL = np.array([0.0, 0.0, 1.0])
inner_slot = wp.constant(INNER)
AXES = np.stack([NORMAL, *(t[0] for t in tangents(NORMAL))], axis=1)  # columns n, t1, t2


def factor(W):
    """L (3n, k) with L L^T = W, without the directions in which W is zero but for rounding."""
    size, axes = np.linalg.eigh(0.5 * (W + W.T))
    keep = size > 1e-13 * size[-1]
    return axes[:, keep] * np.sqrt(size[keep])


@cache
def law_kernel():
    """The laws of all contacts, at the start of a Newton iteration."""
    apply_contact_law = contact_kernels().apply_contact_law

    @wp.kernel(module="unique", enable_backward=False)
    def laws(con: ContactArrays, isl: IslandArrays):
        iteration_begins(isl, 0)
        if isl.inner_active[0] == 1:
            for c in range(isl.contact_start[0], isl.contact_start[1]):
                apply_contact_law(con, isl, c, 0)

    return laws


@wp.kernel(module="axion_test_dense_contacts", enable_backward=False)
def check(flags: wp.array(dtype=wp.int32), limits: Limits, isl: IslandArrays):
    """Whether Newton goes on."""
    if isl.inner_active[0] == 1:
        isl.inner_active[0] = wp.where(goes_on(limits, isl, 0), 1, 0)
    flags[inner_slot] = isl.inner_active[0]


class DenseContacts:
    """Solves u = W r + q with Coulomb friction on the CPU by the solver's kernels, in one precision."""

    def __init__(self, precision):
        self.type = np.float64 if precision == "float64" else np.float32
        self.contact, self.control = contact_kernels(), control_kernels()
        self.search, self.laws = search_kernels(False).search, law_kernel()
        self.limits = ProximalSolver("cpu", precision)._limits

    def solve(self, W, q, mu, tolerance, eps=1e-2):
        """R (3n,).  tolerance: [m/s] of the natural maps and of what is left of the velocities' balance."""
        self.count = len(mu)
        L = factor(W)
        self.L, self.q, self.W = L.astype(self.type), q.astype(self.type), W.astype(self.type)
        self.rest = (W - L @ L.T).astype(self.type)
        self.con = allocate(ContactArrays, {}, self.count, "cpu")
        self.isl = allocate(IslandArrays, {"contact_start": 2, "row_start": 2, "body_start": 2}, 1, "cpu")
        self.isl.contact_start.numpy()[1] = self.count
        kinds = BodyArrays, RowArrays, TeamArrays
        self.bodies, self.rows, self.team = (allocate(kind, {}, 1, "cpu") for kind in kinds)
        self.team.size.fill_(1)
        self.flags, self.counts = wp.zeros(8, dtype=wp.int32, device="cpu"), np.zeros(8, np.int32)
        self.counts[[CONTACTS, ISLANDS, PARTS, CONSTRAINED]] = self.count, 1, 1, 1
        self.counts = wp.array(self.counts, dtype=wp.int32, device="cpu")
        self.con.n.assign(np.tile(NORMAL, (self.count, 1)).astype(self.type))
        self.con.mu.assign(mu.astype(self.type))
        self.con.w.assign(W.diagonal().reshape(-1, 3).mean(axis=1).astype(self.type))
        for name, value in (
            ("tolerance", tolerance),
            ("eps", eps),
            ("law", 1),
            ("outer_active", 1),
            ("sweeps_allowed", 1),
        ):
            getattr(self.isl, name).fill_(value)
        self.x = np.zeros(self.L.shape[1], self.type)
        self.best = self.x.copy()
        self._run()
        return self.con.p.numpy().astype(float).ravel()

    def _run(self):
        con, isl, control, flags = self.con, self.isl, self.control, self.flags
        self._island(control.begin, flags, isl)
        self._linearise()
        while flags.numpy()[OUTER]:
            self._island(control.outer_begin, flags, isl)
            self._island(self.contact.shift_contacts, con, isl)
            g = self._gradient()
            while flags.numpy()[INNER]:
                self._newton(g)
                g = self._gradient()
            self._island(self.contact.contact_forces, isl.outer_active, con, isl)
            self.x = self._force() @ self.L  # momentum is exact, as in ``ProximalSolver._settle``
            self._island(control.request_sweeps, flags, self.limits, isl)
            while flags.numpy()[SWEEP]:
                self._sweep()
                wp.launch(control.sweep_reset, 1, inputs=[flags], device="cpu")
                self._island(control.sweeps_done, flags, wp.int32(SWEEPS_PER_BLOCK), isl)
            self._linearise()
            self._island(control.residual_begin, isl)
            self._island(self.contact.contact_residual, con, isl)
            self._island(control.outer_check, flags, self.limits, isl)
            if isl.keep.numpy()[0]:
                self.best = self.x.copy()
            if isl.restore.numpy()[0]:
                self.x = self.best.copy()
            self._island(self.contact.keep_contacts, con, isl)
            self._linearise()

    def _gradient(self):
        con, isl = self.con, self.isl
        wp.launch(self.laws, 1, inputs=[con, isl], device="cpu")
        g = self.x - self._force() @ self.L
        isl.gradient.fill_(float(np.abs(self.L @ g).max()))  # as contact velocities [m/s]
        wp.launch(check, 1, inputs=[self.flags, self.limits, isl], device="cpu")
        return g

    def _newton(self, g):
        con, isl = self.con, self.isl
        curved = np.einsum("ji,cjk,kl->cil", AXES, con.curvature.numpy().astype(float), AXES)
        L = self.L.astype(float)
        H = np.eye(L.shape[1]) + L.T @ np.einsum("cij,cjk->cik", curved, L.reshape(self.count, 3, -1)).reshape(L.shape)
        d = np.linalg.solve(H, -g.astype(float)).astype(self.type)
        dv = self.L @ d
        con.dv.assign(dv.reshape(-1, 3))
        isl.bend_base.fill_(float(d @ d))
        isl.slope0.fill_(float(g @ d))
        isl.slope_base.fill_(float(g @ d + dv @ con.p.numpy().ravel()))
        self._island(self.search, self.team, 1, 1, self.limits, self.bodies, con, self.rows, isl)
        self.x += self.type(isl.alpha.numpy()[0]) * d

    def _sweep(self):
        """A block of sweeps: each contact's normal impulse, then its friction on the disc of radius mu p_n."""
        p, mu = self.con.p.numpy(), self.con.mu.numpy()
        w = self.W.diagonal().reshape(-1, 3)
        v = self.W @ p.ravel() + self.q
        for _ in range(SWEEPS_PER_BLOCK):
            for c in range(self.count):
                i, old = 3 * c, p[c].copy()
                p[c, 0] = max(0.0, old[0] - v[i] / w[c, 0])
                v += self.W[:, i] * (p[c, 0] - old[0])
                y = old[1:] - v[i + 1 : i + 3] / w[c, 1:].max()
                length, reach = np.hypot(*y), mu[c] * p[c, 0]
                p[c, 1:] = y * (reach / length) if length > reach else y
                v += self.W[:, i + 1 : i + 3] @ (p[c, 1:] - old[1:])
        self.con.p.assign(p)
        self._island(self.contact.contact_forces, self.isl.outer_active, self.con, self.isl)
        self.x = self._force() @ self.L

    def _linearise(self):
        p = self.con.p.numpy().ravel()
        self.con.v.assign((self.L @ self.x + self.q + self.rest @ p).reshape(-1, 3))

    def _force(self):
        """Impulses (3n,) as the kernels put them into world axes, back in (normal, t1, t2)."""
        return (self.con.force.numpy() @ AXES).ravel().astype(self.type)

    def _island(self, kernel, *arguments):
        """Launch a kernel on the one thread that goes over all there is."""
        wp.launch(kernel, 1, inputs=[self.counts, *arguments], device="cpu")
