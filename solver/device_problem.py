# SPDX-License-Identifier: GPL-3.0-or-later
"""A StepProblem on the device: arrays sized by capacity, filled anew each step, never shrunk.

``generation`` rises whenever arrays were allocated, which makes recorded graphs stale.
"""

from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np
import warp as wp

from .arrays import BodyArrays, ContactArrays, IslandArrays, PairArrays, RowArrays, allocate, upload, zeros
from .columns import Columns, ColumnSet
from .figures import Figures, figure_kernels
from .flags import every, places
from .gauss_seidel import RunArrays
from .linear.elimination import Eliminator
from .linear.ldlt import BlockFactor
from .linear.matrix import matrix_struct
from .mathx.real import real_types
from .problem import Coordinate, JointRows, frozen
from .reference.arcs import led_islands, welded
from .reference.rows import start_gaps
from .spinning import no_spin
from .teams import TeamArrays, most_parts, parts_of, width_on
from .topology import KEPT, build_topology, same_blocks

CG_REDUCTION, CG_MOST = 0.01, 100  # Newton needs a rough direction only
CG_COST = 0.6  # microseconds a block that conjugate gradients take for it on the CPU: 40 iterations of 15 ns
STIFF = 20.0  # times that is what a direct solve is worth where joints couple all: Newton takes as many more steps
HEAP = 320  # bodies; in larger islands without joints fill has never paid, and to find that out takes time
BODY_COLUMNS = ColumnSet(
    ("mass", "mass"), ("principal", "moments"), ("midpoint", "midpoint"), ("x0", "position"), ("q0", "orientation"),
    ("x_free", "free_position"), ("q_free", "free_orientation"), ("u_free", "free_velocity"),
)  # fmt: skip
ROW_COLUMNS = ColumnSet(
    ("a", "body_a"), ("b", "body_b"), ("start_impulse", "impulse"),
    *((name, name) for name in ("coordinate", "anchor_a", "anchor_b", "axis_a", "axis_b", "reference", "offset")),
    *((name, name) for name in ("centre", "beta", "target", "target_velocity", "compliance", "lower", "upper")),
)  # fmt: skip
MAYBE = {name: name for name in ("gap_noise", "rebound_gap", "rebound_speed", "surface_velocity", "core_reach")}
MAYBE["glides"] = "lever_kind"  # columns of contacts that a problem may leave out, and that are 0 then

COUNTED = "contacts", "rows", "pairs", "islands", "bodies", "parts", "constrained"  # slots of ``counts`` after DYNAMIC
_TOPOLOGY = {
    "bodies": {"island": "body_island"}
    | {f"{each}_{part}": f"body_{each}_{part}" for each in ("contact", "row") for part in ("start", "index")}
    | {name: name for name in ("neighbour_start", "neighbour_body", "neighbour_pair")},
    "contacts": {"island": "contact_island", "tied": "contact_tied"},
    "rows": {"island": "row_island"},
    "pairs": {
        name: f"pair_{name}" for name in ("island", "i", "j", "contact_start", "contact_end", "row_start", "row_index")
    },
    "islands": {f"{each}_{part}": f"island_{each}_{part}" for each in ("row", "body") for part in ("start", "index")}
    | {f"{each}_start": f"island_{each}_start" for each in ("contact", "run", "pair")}
    | {name: name for name in ("jointed", "constrained", "constrained_index", "looped")},
}  # what is taken over from a Topology: the names on the device, and its own
TOPOLOGY = {kind: ColumnSet(*columns.items()) for kind, columns in _TOPOLOGY.items()}


def columns_alone(device):
    """Whether islands without joints are factored on a device only where they have no more pairs than bodies.

    Conjugate gradients need eps of 1e-4 and more, by which a column is as soft as a spring: 60 boxes set aside swayed
    by two centimetres.  Elimination of a forest fills nothing in.
    """
    return not device.is_cpu


class DeviceProblem:
    """The arrays of one solve on one device.  real: the type of its matrix; ``usual``: sizes to begin with, see
    ``usual_room``.
    """

    usual = MappingProxyType({})

    def __init__(self, device, real):
        self.device, self.real, self._kernels = device, real, figure_kernels()
        self.capacity = dict.fromkeys(("bodies", "contacts", "rows", "pairs", "islands"), 0)
        self.launched = {}  # the same, 0 where the problem has none: on the CPU a kernel in vain costs a microsecond
        self.generation = 0
        self.topology = None
        self.factor = BlockFactor(device)
        self._factor_generation = self.factor.generation
        self._grouped = None  # columns of the rows whose groups lie in the arrays
        self._welded = deque(maxlen=2)  # columns of rows and their welds: both phases of a step take turns
        self._factored = self._laid = None  # the Topology that the factor is laid out for, and that in the arrays
        self._eliminator = Eliminator()
        self.counts = zeros(8, wp.int32, device)
        self.flags = zeros(8, wp.int32, device)
        self.width = width_on(self.device)
        self.settings = zeros(2, wp.float64, device)
        self.cg_reduction, self.cg_most = wp.float64(CG_REDUCTION), wp.int32(CG_MOST)

    def restart(self):
        """Clear the loop flags (recorded, so that a replay starts like the first run)."""
        self.flags.zero_()

    def begin(self, eps_joint, eps_iterated=0.0):
        """Launch what comes first in a solve: islands take what is asked of their bodies.

        eps_joint: proximal strength of joints to start from, eps_iterated: at least, without a direct solve.
        """
        size, kernels, islands = self.launched, self._kernels, self.islands
        self.restart()
        self.teams.arrived.zero_()
        self._launch(kernels.clear, size["islands"], wp.float64(eps_joint), wp.float64(eps_iterated), islands)
        self._launch(kernels.ask, size["bodies"], self.bodies, self.figures, islands)
        self._launch(kernels.warm, size["contacts"], self.contacts, islands)

    def tell(self):
        """Launch what comes last in a solve: the figures of every body's island."""
        self._launch(self._kernels.tell, self.capacity["bodies"], self.flags, self.bodies, self.figures, self.islands)

    def _launch(self, kernel, size, *arguments):
        wp.launch(kernel, dim=size, inputs=[self.counts, *arguments], device=self.device)

    def upload(self, problem, options, loaded=None):
        """Take over a problem: topology, arrays, island settings.  loaded: (C,) bool, see ProximalSolver."""
        topology = build_topology(problem)
        if self._laid is not topology:  # equal ones that follow each other are the same
            self._lay_out(problem, topology)
        upload(self.settings, (problem.step, problem.push_out_speed * problem.step))
        self._upload_bodies(problem, self.plan, options)
        self._upload_contacts(problem, self.plan, loaded)
        self._upload_rows(problem)
        self._upload_options(problem, options)

    def _lay_out(self, problem, topology):
        """Make room for a Topology, and upload what follows from it."""
        self.topology, self.plan = topology, _plan(topology)
        sizes = {
            "bodies": len(problem.bodies.mass),
            "contacts": len(problem.contacts),
            "rows": len(problem.joints),
            "pairs": len(topology.pair_i),
            "islands": topology.island_count,
        }
        self._reserve(sizes)
        sizes["parts"], sizes["constrained"] = self._form_teams(topology), len(topology.constrained_index)
        # On the CPU a kernel in vain costs a microsecond, but pairs and direct solves come and go in a heap: to record
        # takes 10 ms.
        self.launched = {name: room if sizes[name] or name == "pairs" else 0 for name, room in self.capacity.items()}
        self._choose_direct(topology)
        self.launched["direct"] = 1 if self.device.is_cpu else self.factor.structure.row_count
        upload(self.counts, (problem.bodies.dynamic_count, *(sizes[name] for name in COUNTED)))
        self._upload_topology(topology)

    def _choose_direct(self, topology):
        """Set ``direct`` (islands,) bool and the structure of the factor: which islands take no conjugate gradients.

        Stiff joints need a direct solve, but a heap of thousands with a few joints would take longer for it.  Contacts
        alone do not, but fill decides which is faster: in columns and small heaps the factor is, in lattices it is not.
        On CUDA, where a block of threads works on an island's factor, it is columns alone, in which nothing fills in.
        """
        if topology is self._factored:  # topologies are kept: equal ones are the same
            return
        if self._factored is not None and same_blocks(topology, self._factored):
            self._factored = topology
            return
        islands = topology.island_count
        bodies, pairs = (np.bincount(of, minlength=islands) for of in (topology.body_island, topology.pair_island))
        joined = np.bincount(topology.pair_island[topology.pair_joined], minlength=islands)
        worth, small = CG_COST * (bodies + 2 * pairs) * topology.constrained, bodies <= HEAP
        stiff = np.where(small, np.inf, STIFF * worth * joined / np.maximum(pairs, 1))
        alone = small & (pairs <= bodies) if columns_alone(self.device) else small
        structure = self._eliminator.analyse(topology, np.where(topology.jointed, stiff, worth * alone))
        self.direct = frozen(structure.island_start[1:] > structure.island_start[:-1])
        self.factor.set_structure(structure)
        self._factored = topology
        if self.factor.generation != self._factor_generation:
            self._take_factor()
            self.generation += 1

    def _reserve(self, sizes):
        """Make room, twice what lacks, and at first what is ``usual``: each time graphs are recorded again."""
        size = self.capacity  # none for rows before the first: without joints their kernels are not even compiled
        lacking = [name for name, needed in sizes.items() if needed > size[name] or not (size[name] or name == "rows")]
        if not lacking:
            return
        for name in lacking:
            needed = max(sizes[name] + sizes[name] // 2, self.usual.get(name, 0), 16)
            self.capacity[name] = max(2 * self.capacity[name], needed)
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
            "body_start": size["islands"] + 1,
            "body_index": size["bodies"],
            "run_start": size["islands"] + 1,
            "pair_start": size["islands"] + 1,
        }
        matrix_lists = {"block": size["pairs"], "exact_block": size["pairs"], "s": 2 * size["bodies"]}
        exact = self.real is real_types(wp.float64)  # then the matrix is the one that a factor wants
        if exact:
            matrix_lists["exact_diagonal"] = matrix_lists["exact_block"] = 1
        self.bodies = allocate(BodyArrays, body_lists, size["bodies"], self.device)
        self.contacts = allocate(ContactArrays, {}, size["contacts"], self.device)
        runs = {"start": size["contacts"] + 1, "colour": size["contacts"]}
        self.runs = allocate(RunArrays, runs, size["bodies"], self.device)
        self.rows = allocate(RowArrays, {}, size["rows"], self.device)
        self.pairs = allocate(PairArrays, pair_lists, size["pairs"], self.device)
        self.matrix = allocate(matrix_struct(self.real), matrix_lists, size["bodies"], self.device)
        if exact:
            self.matrix.exact_diagonal, self.matrix.exact_block = self.matrix.diagonal, self.matrix.block
        self.islands = allocate(IslandArrays, island_lists, size["islands"], self.device)
        self.figures = allocate(Figures, {}, size["bodies"], self.device)
        self.team_room = most_parts(size["islands"], size["bodies"])
        self.blocks = 1 if self.width == 1 else self.team_room
        self.teams = allocate(TeamArrays, {"sums": 4 * self.team_room}, self.team_room, self.device)
        self._into = {name: Columns(getattr(self, name)) for name in (*self.capacity, "figures", "teams", "runs")}
        bodies = size["bodies"]
        self.factor.reserve(islands=size["islands"], rows=bodies, blocks=4 * bodies, updates=4 * bodies)
        self._factored = self._laid = self._grouped = None
        self._take_factor()
        self.generation += 1

    def _take_factor(self):
        # The factor's mask is the islands' own flag array: Newton decides who takes part in a direct solve.
        self.islands.direct_active = self.factor.mask
        self.islands.failed = self.factor.failed
        self._factor_generation = self.factor.generation

    def _form_teams(self, topology):
        """Upload which part of which team works on which island.  Returns how many parts there are."""
        islands = topology.constrained_index
        start = topology.island_body_start
        parts = parts_of(islands, (start[1:] - start[:-1]).take(islands), self.device.is_cpu)
        for name, values in zip(("island", "first", "size"), parts, strict=True):
            self._into["teams"].fill(name, values)
        self._into["runs"].fill("start", topology.run_start)
        return len(parts[0])

    def _upload_topology(self, topology):
        """The indices that no kernel writes."""
        for kind, columns in TOPOLOGY.items():
            self._into[kind].put_all(topology, columns)
        self._laid = topology

    def _upload_bodies(self, problem, plan, options):
        bodies, into = problem.bodies, self._into["bodies"]
        n = bodies.dynamic_count
        into.put_all(bodies, BODY_COLUMNS)
        into.put("spin", no_spin(len(bodies.mass)) if bodies.spin is None else bodies.spin)
        self.launched["spinning"] = 0 if bodies.spin is None else self.launched["bodies"]
        # A body that nothing touches is solved by its free motion; the others start from the velocity they had.
        start = bodies.velocity
        if options.start is not None or len(plan.loose):
            start = start.copy()
            if options.start is not None:
                start[:n] = options.start
            start[plan.loose] = bodies.free_velocity[plan.loose]
        into.fill("u", start)

    def _upload_contacts(self, problem, plan, loaded):
        contacts, into, order = problem.contacts, self._into["contacts"], plan.order
        count = len(contacts)
        if not count:
            return
        into.put("start_gap", start_gaps(problem), order)
        into.put("a", contacts.body_a, order)
        into.put("b", contacts.body_b, order)
        for name in ("point_a", "point_b", "margin_a", "margin_b"):
            into.put(name, getattr(contacts, name), order)
        into.put("n", contacts.normal, order)
        into.put_or("face", contacts.face, -1, count, order)
        if contacts.face is not None:
            into.put("face_normal", contacts.face_normal, order)
        into.put("mu", contacts.friction, order)
        into.put("start_impulse", contacts.impulse, order)
        for name, source in MAYBE.items():
            into.put_or(name, getattr(contacts, source), 0, count, order)
        if contacts.rim_arm is not None:
            into.put("rim_axis", contacts.rim_axis, order)
            into.put("rim_arm", contacts.rim_arm, order)
        if contacts.core_reach is not None:
            into.put("core_axis_a", contacts.core_axis_a, order)
            into.put("core_axis_b", contacts.core_axis_b, order)
        if loaded is not None:
            into.put("loaded", loaded, order)

    def _upload_rows(self, problem):
        rows, into = problem.joints, self._into["rows"]
        if not len(rows):
            return
        into.put_all(rows, ROW_COLUMNS)
        self._into["islands"].put_or("led", led_islands(problem, self.topology), 0, self.topology.island_count)
        laws = rows.joint, rows.coordinate
        if not _same(self._grouped, laws):
            share, following = _row_groups(*(np.asarray(values, np.int64).tobytes() for values in laws))
            into.put("share", share)
            into.put("group", following)
            self._grouped = laws
        locks = (*laws, rows.beta, rows.compliance, rows.lower, rows.upper)
        flags = next((flags for known, flags in self._welded if _same(known, locks)), None)
        if flags is None:
            flags = frozen(welded(rows))
            self._welded.append((locks, flags))
        into.put("welded", flags)

    def _upload_options(self, problem, options):
        into = self._into["figures"]
        into.put("tolerance", options.tolerance / problem.step)
        into.put("eps", options.eps)
        into.put("sweeps", options.sweeps)
        into.put("done", _nothing(len(options.sweeps)) if options.done is None else options.done)
        self._into["islands"].put("direct", self.direct)


def _same(before, columns):
    """Whether these columns are those of ``before``, a tuple or None, and nothing in them can have changed."""
    if before is None:
        return False
    return all(old is new and not new.flags.writeable for old, new in zip(before, columns, strict=True))


@lru_cache(maxsize=KEPT)
def _nothing(count):
    return frozen(np.zeros(count, bool))


@dataclass(eq=False)
class Plan:
    """What follows from a Topology alone."""

    order: np.ndarray | None  # (C,) contact_order, or None where contacts come in it
    place: np.ndarray | None  # (C,) where each contact comes in it
    loose: np.ndarray  # (K,) bodies that nothing touches
    constrained: np.ndarray  # (n,) bool: the body's island has a contact or a joint row


@lru_cache(maxsize=KEPT)
def _plan(topology):
    order, numbers = topology.contact_order, np.arange(len(topology.contact_order))
    order, place = (None, None) if every(order == numbers) else (order, np.empty_like(order))
    if order is not None:
        place[order] = numbers
    constrained = frozen(topology.constrained.take(topology.body_island))
    return Plan(order, place, places(~constrained), constrained)


@lru_cache(maxsize=KEPT)
def _row_groups(joint, coordinate):
    """(share (R,), group (R,)) of RowArrays; joint, coordinate: bytes of those of the rows."""
    rows = JointRows.empty()
    rows.joint, rows.coordinate = np.frombuffer(joint, np.int64), np.frombuffer(coordinate, np.int64)
    # The judge takes the norm over a joint's rows, one radian for one metre: no row may use more than its share.
    angular = np.isin(rows.coordinate, (Coordinate.DOT, Coordinate.TWIST))
    kind = 2 * rows.joint.astype(np.int64) + angular
    return frozen(np.sqrt(np.bincount(kind))[kind]), frozen(anchor_groups(rows))


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
