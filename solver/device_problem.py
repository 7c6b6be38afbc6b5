# SPDX-License-Identifier: GPL-3.0-or-later
"""A StepProblem on the device: arrays sized by capacity, filled anew each step, never shrunk.

``generation`` rises whenever arrays were allocated, which makes recorded graphs stale.
"""

import numpy as np
import warp as wp

from .arrays import (
    CONTACTS,
    DYNAMIC,
    ISLANDS,
    PAIRS,
    PUSH_OUT,
    ROWS,
    STEP,
    IslandArrays,
    allocate,
    structs,
    upload,
)  # fmt: skip
from .linear.elimination import Eliminator
from .linear.ldlt import BlockFactor
from .problem import Coordinate
from .reference.rows import start_gaps
from .rotations import matrices
from .topology import build_topology

CG_REDUCTION, CG_MOST = 0.01, 100  # Newton needs a rough direction only
CG_COST = 0.6  # microseconds a block that conjugate gradients take for it on the CPU: 40 iterations of 15 ns


class DeviceProblem:
    """The arrays of one solve on one device in one real type."""

    def __init__(self, device, real):
        self.device, self.real = device, real
        self.capacity = dict.fromkeys(("bodies", "contacts", "rows", "pairs", "islands"), 0)
        self.generation = 0
        self.topology = None
        self.factor = BlockFactor(device, real)
        self._factor_generation = self.factor.generation
        self._factor_key = None
        self._eliminator = Eliminator()
        self.counts = wp.zeros(8, dtype=wp.int32, device=device)
        self.flags = wp.zeros(8, dtype=wp.int32, device=device)
        self.settings = wp.zeros(2, dtype=real.scalar, device=device)
        self.cg_reduction, self.cg_most = wp.float64(CG_REDUCTION), wp.int32(CG_MOST)

    def restart(self):
        """Clear the loop flags (recorded, so that a replay starts like the first run)."""
        self.flags.zero_()

    def upload(self, problem, options, eps_joint, loaded=None):
        """Take over a problem: topology, arrays, island settings.  loaded: (C,) bool, see ProximalSolver."""
        topology = self.topology = build_topology(problem)
        sizes = {
            "bodies": len(problem.bodies.mass),
            "contacts": len(problem.contacts),
            "rows": len(problem.joints),
            "pairs": len(topology.pair_i),
            "islands": topology.island_count,
        }
        self._reserve(sizes)
        self._choose_direct(topology)
        counts = np.zeros(8, np.int32)
        counts[[DYNAMIC, CONTACTS, ROWS, PAIRS, ISLANDS]] = problem.bodies.dynamic_count, *list(sizes.values())[1:]
        upload(self.counts, counts)
        settings = np.zeros(2)
        settings[[STEP, PUSH_OUT]] = problem.step, problem.push_out_speed * problem.step
        upload(self.settings, settings)
        self._upload_bodies(problem, topology, options)
        self._upload_contacts(problem, topology, loaded)
        self._upload_rows(problem, topology)
        self._upload_pairs(topology)
        self._upload_islands(problem, topology, options, eps_joint, loaded)

    def _choose_direct(self, topology):
        """Set ``direct`` (islands,) bool and the structure of the factor: which islands take no conjugate gradients.

        Stiff joints need a direct solve.  Contacts alone do not, but fill decides which is faster: in columns and small
        heaps the factor is, in lattices it is not.  On CUDA one thread would work through an island's factor, so
        islands without joints iterate there.
        """
        n = len(topology.body_island)
        given = topology.pair_i, topology.pair_j, topology.jointed, topology.constrained
        key = (n, *(values.tobytes() for values in given))
        if key == self._factor_key:
            return
        blocks = np.bincount(topology.body_island, minlength=topology.island_count)
        blocks += 2 * np.bincount(topology.pair_island, minlength=topology.island_count)
        worth = CG_COST * blocks * topology.constrained if self.device.is_cpu else np.zeros(len(blocks))
        structure = self._eliminator.analyse(topology, np.where(topology.jointed, np.inf, worth))
        self.direct = np.diff(structure.island_start) > 0
        self.factor.set_structure(structure)
        self._factor_key = key
        if self.factor.generation != self._factor_generation:
            self._take_factor()
            self.generation += 1

    def _reserve(self, sizes):
        """Make room, twice what lacks, and at first for a heap: each time graphs are recorded again."""
        lacking = [name for name, size in sizes.items() if size > self.capacity[name] or self.capacity[name] == 0]
        if not lacking:
            return
        n = sizes["bodies"] if sizes["contacts"] else 0
        usual = {"contacts": 4 * n, "pairs": 2 * n, "islands": n}
        for name in lacking:
            needed = max(sizes[name] + sizes[name] // 2, usual.get(name, 0), 16)
            self.capacity[name] = max(2 * self.capacity[name], needed)
        types, size = structs(self.real), self.capacity
        body_lists = {
            "contact_start": size["bodies"] + 1,
            "contact_index": 2 * size["contacts"],
            "row_start": size["bodies"] + 1,
            "row_index": 2 * size["rows"],
            "neighbour_start": size["bodies"] + 1,
            "neighbour_body": 2 * size["pairs"],
            "neighbour_pair": 2 * size["pairs"],
        }
        pair_lists = {"row_start": size["pairs"] + 1, "row_index": size["rows"]}
        island_lists = {
            "contact_start": size["islands"] + 1,
            "row_start": size["islands"] + 1,
            "row_index": size["rows"],
        }
        self.bodies = allocate(types.BodyArrays, body_lists, size["bodies"], self.device)
        self.contacts = allocate(types.ContactArrays, {}, size["contacts"], self.device)
        self.rows = allocate(types.RowArrays, {}, size["rows"], self.device)
        self.pairs = allocate(types.PairArrays, pair_lists, size["pairs"], self.device)
        self.islands = allocate(IslandArrays, island_lists, size["islands"], self.device)
        bodies = size["bodies"]
        self.factor.reserve(islands=size["islands"], rows=bodies, blocks=4 * bodies, updates=4 * bodies)
        self._factor_key = None
        self._take_factor()
        self.generation += 1

    def _take_factor(self):
        # The factor's mask is the islands' own flag array: Newton decides who takes part in a direct solve.
        self.islands.direct_active = self.factor.mask
        self.islands.failed = self.factor.failed
        self._factor_generation = self.factor.generation

    def _upload_bodies(self, problem, topology, options):
        bodies, target = problem.bodies, self.bodies
        n = bodies.dynamic_count
        axes = matrices(bodies.free_orientation[:n])
        inertia = bodies.inertia[:n]
        upload(target.island, topology.body_island)
        upload(target.mass, bodies.mass[:n])
        upload(target.inverse_mass, 1.0 / bodies.mass[:n])
        upload(target.extent, bodies.gyration())
        upload(target.inertia, np.einsum("nij,nj,nkj->nik", axes, inertia, axes))
        upload(target.inverse_inertia, np.einsum("nij,nj,nkj->nik", axes, 1.0 / inertia, axes))
        upload(target.midpoint, bodies.midpoint)
        upload(target.x0, bodies.position)
        upload(target.q0, bodies.orientation)
        upload(target.x_free, bodies.free_position)
        upload(target.q_free, bodies.free_orientation)
        upload(target.x, bodies.free_position)
        upload(target.q, bodies.free_orientation)
        upload(target.u_free, bodies.free_velocity)
        # A body that nothing touches is solved by its free motion; the others start from the velocity they had.
        start = bodies.velocity.copy()
        if options.start is not None:
            start[:n] = options.start
        loose = ~topology.constrained[topology.body_island]
        start[:n][loose] = bodies.free_velocity[:n][loose]
        upload(target.u, start)
        upload(target.u_best, start)
        upload(target.contact_start, topology.body_contact_start)
        upload(target.contact_index, topology.body_contact_index)
        upload(target.row_start, topology.body_row_start)
        upload(target.row_index, topology.body_row_index)
        upload(target.neighbour_start, topology.neighbour_start)
        upload(target.neighbour_body, topology.neighbour_body)
        upload(target.neighbour_pair, topology.neighbour_pair)

    def _upload_contacts(self, problem, topology, loaded):
        contacts, target, order = problem.contacts, self.contacts, topology.contact_order
        upload(target.start_gap, start_gaps(problem)[order])
        upload(target.island, topology.contact_island)
        upload(target.a, contacts.body_a[order])
        upload(target.b, contacts.body_b[order])
        upload(target.point_a, contacts.point_a[order])
        upload(target.point_b, contacts.point_b[order])
        upload(target.margin_a, contacts.margin_a[order])
        upload(target.margin_b, contacts.margin_b[order])
        upload(target.n, contacts.normal[order])
        upload(target.face, np.full(len(order), -1) if contacts.face is None else contacts.face[order])
        if contacts.face is not None:
            upload(target.face_normal, contacts.face_normal[order])
        upload(target.mu, contacts.friction[order])
        for name in ("gap_noise", "rebound_gap", "rebound_speed"):
            values = getattr(contacts, name)
            upload(getattr(target, name), np.zeros(len(order)) if values is None else values[order])
        running = contacts.surface_velocity
        upload(target.surface_velocity, np.zeros((len(order), 3)) if running is None else running[order])
        upload(target.start_impulse, contacts.impulse[order])
        if loaded is not None:
            upload(target.loaded, loaded[order].astype(np.int32))

    def _upload_rows(self, problem, topology):
        rows, target = problem.joints, self.rows
        if not len(rows):
            return
        upload(target.island, topology.row_island)
        upload(target.a, rows.body_a)
        upload(target.b, rows.body_b)
        for name in (
            "coordinate", "anchor_a", "anchor_b", "axis_a", "axis_b", "reference", "offset", "beta", "target",
            "target_velocity", "compliance", "lower", "upper",
        ):  # fmt: skip
            upload(getattr(target, name), getattr(rows, name))
        upload(target.start_impulse, rows.impulse)
        # The judge takes the norm over a joint's rows, one radian for one metre: no row may use more than its share.
        angular = np.isin(rows.coordinate, (Coordinate.DOT, Coordinate.TWIST))
        group = 2 * rows.joint.astype(np.int64) + angular
        upload(target.share, np.sqrt(np.bincount(group))[group])
        upload(target.group, anchor_groups(rows))

    def _upload_pairs(self, topology):
        target = self.pairs
        upload(target.island, topology.pair_island)
        upload(target.i, topology.pair_i)
        upload(target.j, topology.pair_j)
        upload(target.contact_start, topology.pair_contact_start)
        upload(target.contact_end, topology.pair_contact_end)
        upload(target.row_start, topology.pair_row_start)
        upload(target.row_index, topology.pair_row_index)

    def _upload_islands(self, problem, topology, options, eps_joint, loaded):
        target, count, of_body = self.islands, topology.island_count, topology.body_island

        def strictest(values, ufunc, start):
            out = np.full(count, start, float)
            ufunc.at(out, of_body, values)
            return out

        # Where a contact of the island carries load from before, its friction is a better start than that of the cone.
        cold = np.ones(count, np.int32)
        known = problem.contacts.impulse.any(axis=1)
        cold[topology.contact_island[known[topology.contact_order]]] = 0
        upload(target.law, cold)
        upload(target.convex, np.ones(count, np.int32))
        upload(target.direct, self.direct.astype(np.int32))
        upload(target.jointed, topology.jointed.astype(np.int32))
        upload(target.sweeps_allowed, strictest(options.sweeps, np.maximum, 0).astype(np.int32))
        upload(target.contact_start, topology.island_contact_start)
        upload(target.row_start, topology.island_row_start)
        upload(target.row_index, topology.island_row_index)
        active = topology.constrained
        upload(target.constrained, active.astype(np.int32))
        if options.done is not None:
            active = active & (strictest(options.done, np.minimum, 1.0) == 0.0)
        upload(target.outer_active, active.astype(np.int32))
        upload(target.tolerance, strictest(options.tolerance, np.minimum, np.inf) / problem.step)
        upload(target.eps, strictest(options.eps, np.maximum, 0.0))
        upload(target.eps_joint, np.full(count, eps_joint))


def anchor_groups(rows):
    """(R,) on the first of each run of LINEAR or DISTANCE rows of one joint: the run's length; 0 elsewhere."""
    holds = np.isin(rows.coordinate, (Coordinate.LINEAR, Coordinate.DISTANCE))
    joint = np.where(holds, rows.joint, -1)
    first = holds & np.concatenate([[True], (joint[1:] != joint[:-1])])
    out = np.zeros(len(rows), np.int32)
    starts = np.nonzero(first)[0]
    run = np.cumsum(first) - 1
    lengths = np.bincount(run[holds], minlength=len(starts)) if len(starts) else []
    out[starts] = lengths
    return out
