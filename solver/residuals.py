# SPDX-License-Identifier: GPL-3.0-or-later
"""The judge at work: the residuals of metrics.py for every step of a bake, from recorded kernels in float64.

metrics.py says what the residuals are, and tests hold these numbers against it.  Problem and solution are handed over
as they are, whatever the solver made of them on its device; arrays are sized by capacity and kept from step to step.
"""

from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import warp as wp

from .arcs import no_arcs
from .arrays import BodyArrays, ContactArrays, RowArrays, allocate, fetch, upload, zeros
from .columns import Columns, ColumnSet
from .components import anchored
from .copies import replace
from .flags import every, some
from .metrics import StepResiduals, VelocityResiduals
from .problem import Coordinate, frozen
from .recording import recorded
from .reference.rows import start_gaps
from .residual_kernels import residual_kernels
from .residual_laws import (
    FRICTION,
    GAP,
    JOINT,
    JOINT_ANGLE,
    KINDS,
    LANDED,
    MOMENTUM,
    OF_BODY,
    OF_CONTACT,
    ROUNDED,
    STOOD,
    TURNED,
    Judged,
)
from .spinning import no_spin, spinning_kernels
from .topology import groups_with

# Columns that are taken over from the tables of problem.py, by their names on the device; those of a step's end first.
# Counts are in the order of the slots of arrays.py, and of ``residual_laws.BODIES``.
_SAME = ("point_a", "point_b", "margin_a", "margin_b", "surface_velocity", "rebound_speed")
COLUMNS = {
    "bodies": (
        ColumnSet(
            ("mass", "mass"), ("x0", "position"), ("q0", "orientation"), ("q_free", "free_orientation"),
            ("u_free", "free_velocity"),
        ),
        ColumnSet(("x_free", "free_position"), ("midpoint", "midpoint")),
    ),
    "contacts": (
        ColumnSet(
            ("a", "body_a"), ("b", "body_b"), ("n", "normal"), ("mu", "friction"), ("glides", "lever_kind"),
            ("core_reach", "core_reach"),
            *((s, s) for s in _SAME),
        ),
        ColumnSet(*((name, name) for name in ("rebound_gap", "face", "face_normal"))),
        ColumnSet(*((name, name) for name in ("rim_axis", "rim_arm"))),
        ColumnSet(*((name, name) for name in ("core_axis_a", "core_axis_b"))),
    ),
    "rows": (
        ColumnSet(
            ("a", "body_a"), ("b", "body_b"),
            *((name, name) for name in ("coordinate", "anchor_a", "anchor_b", "axis_a", "axis_b", "reference")),
            *((name, name) for name in ("offset", "centre", "target_velocity", "compliance", "lower", "upper")),
        ),
        ColumnSet(("beta", "beta"), ("target", "target")),
    ),
}  # fmt: skip
OWN = {  # what else is used of the solver's structs
    "bodies": ("inverse_mass", "inverse_inertia", "island", "spin", "arc", "pulled", "x", "q", "u"),
    "contacts": ("start_gap", "loaded", "p"), "rows": ("p", "drawn"),
}  # fmt: skip
RIMS, CORES = 2, 3  # parts of the columns of contacts
DOT, TWIST = int(Coordinate.DOT), int(Coordinate.TWIST)  # NumPy compares with members of an enum ten times slower
MISSING = {"face": -1}  # the value of a column that a problem leaves out, where it is not 0


@dataclass
class JudgedStep:
    """What there is to say about a solved step."""

    residuals: StepResiduals
    body: np.ndarray  # (B,) worst residual each body has a part in, as metrics.body_residuals without penetration [m]
    gained: np.ndarray  # (n,) bool: bodies of islands that gained energy from what only takes it
    need: np.ndarray  # (islands,) bool: with joints, a rebound, overlap pushed out, round bodies that met, or that roll
    lands: np.ndarray  # (islands,) bool: of those the ones that only have come to touch what moves, and not freely
    rolls: np.ndarray  # (islands,) bool: of one body without joints that rolls from facet to facet
    driven: np.ndarray  # (islands,) bool: islands that something else than joint rows may give energy
    work: np.ndarray  # (2, islands) of joint rows where some may give energy, and how far it may be off [J]; else 0
    speed: np.ndarray  # (n,) of the fastest body of each body's island [m/s], its spin at the radius of gyration
    coordinate: np.ndarray  # (R,) joint coordinates at the end pose, minus their offsets [m or rad]
    _velocity: np.ndarray  # (2, n, 6)
    fading: np.ndarray = field(init=False)  # (F,) numbers of TWISTs that fade on the way, as twists.py finds them
    turned: np.ndarray = field(init=False)  # (R,) as ``coordinate``, but the angles of those
    reached: np.ndarray = field(init=False)  # (R,) likewise, with the turns from which the next step counts on

    def __post_init__(self):
        """Nothing fades."""
        self.turned, self.reached, self.fading = self.coordinate, self.coordinate, np.zeros(0, int)

    def velocity(self, sound):
        """(n, 6) velocity at the step's end with all impulses, angular momentum carried to the end pose.

        Where joints alone hold a body, its change is that of the impulses: what the solve left of momentum has one sign
        step after step where joints turn, and a wheel would gain spin from it.
        sound: (n,) bool, bodies within the tolerance; the impulses of others tell nothing.
        """
        return self._velocity[0] if every(sound) else np.where(sound[:, None], *self._velocity)


class Judge:
    """Judges the steps of one scene on one device.  ``usual``: sizes to begin with, see ``usual_room``."""

    usual = MappingProxyType({})

    def __init__(self, device):
        self.device = wp.get_device(device)
        self._kernels = residual_kernels()
        self._capacity = dict.fromkeys(("bodies", "contacts", "rows", "joints"), 0)
        self._counts = zeros(8, wp.int32, self.device)
        self._settings = zeros(3, wp.float64, self.device)
        self._into, self._graphs, self._latest = {}, {}, None
        self._numbered = None, 0  # the rows' joints, and one more than the largest of them
        self._measured = None, None  # the rows' coordinates, and which of them are angles

    def step(self, assembly, solution, tolerance):
        """The JudgedStep of a solved position phase.

        Args:
            assembly: Assembly of the step.
            solution: StepSolution for its problem.  NaN anywhere in it comes out as NaN.
            tolerance: [m] overlap that is pushed out without a velocity phase; ten times that is no speed in a step.
        """
        problem, bodies, island = assembly.problem, assembly.problem.bodies, assembly.island
        self._begin(problem, solution, tolerance)
        judged, contacts, n = self.judged, problem.contacts, bodies.dynamic_count
        self._into["bodies"].put_all(bodies, COLUMNS["bodies"][1])
        self._into["bodies"].put("spin", no_spin(len(bodies.mass)) if bodies.spin is None else bodies.spin)
        self._into["bodies"].put("island", island)
        self._into["judged"].put("jointed", assembly.island_jointed)
        upload(self.bodies.x, solution.position)
        upload(self.bodies.q, solution.orientation)
        upload(judged.end_velocity, assembly.end_velocity)
        if len(contacts):
            upload(self.contacts.start_gap, start_gaps(problem))
            self._load_contacts(1, contacts)
        self._into["rows"].put_all(problem.joints, COLUMNS["rows"][1])
        self._into["judged"].put("rate", assembly.row_rate)
        hung, count = None, len(assembly.island_jointed)
        if solution.drawn is not None and some(solution.drawn != 0.0):
            hung = groups_with(island, anchored((problem.joints.body_a, problem.joints.body_b), n), count)
        self._into["judged"].put_or("hung", hung, 0, count)
        self._replay("step" if bodies.spin is None else "spinning step")
        islands = len(assembly.island_jointed)
        (
            body, contact, row, worst, error, need, rolls, gained, *islands_of, coordinate, velocity,
        ) = self._results(
            problem, *((values, islands) for values in (judged.need, judged.rolls)), (judged.gained, n),
            *((values, islands) for values in (judged.driven, judged.fastest, judged.work, judged.work_spare)),
            (judged.coordinate, len(problem.joints)), (judged.velocity, n),
        )  # fmt: skip
        driven, fastest, *work = islands_of
        given, bounces = driven > 1, assembly.bounces
        if bounces is not None:
            given[island[bounces.led]] = True
        residuals = StepResiduals(*worst, *body, *contact, row, self._angles(problem.joints))
        rolls = self._rolls(rolls, assembly)
        others = (need > 1) | rolls | assembly.island_jointed
        return JudgedStep(
            residuals, error, gained > 0, (need > 0) | others, (need == 1) & ~others, rolls, given,
            np.array(work) * (driven > 0), fastest.view(float).take(island), coordinate.copy(), velocity.copy(),
        )  # fmt: skip

    def _rolls(self, told, assembly):
        """(islands,) bool: those that ``JudgedStep.rolls`` names; told: (islands,) flags of residual_laws.py."""
        if not some(told):
            return np.zeros(len(told), bool)
        rolls = (told & TURNED > 0) | (told & (STOOD | LANDED) == STOOD | LANDED)
        rolls &= told & ROUNDED == 0
        if some(rolls):  # in heaps it costs half as much again
            rolls &= (np.bincount(assembly.island, minlength=len(told)) == 1) & ~assembly.island_jointed
        return rolls

    def contacts_at_end(self, problem):
        """The Contacts of the step judged last at its end pose, and (n, 6) velocity that their impulses gave there.

        The normals of faces have turned; both points are half way between the two, as meeting.at_one_point puts
        them, and impulses are those of the solution.
        problem: StepProblem of that step.  RuntimeError: another one was judged since.
        """
        if problem is not self._latest:
            raise RuntimeError("the contacts at the end of a step are asked for after another one was judged")
        self._replay("turn")
        count = len(problem.contacts)
        at_end, given = fetch((self.judged.contact_end, count), (self.judged.given, problem.bodies.dynamic_count))
        impulse, normal, point_a, point_b = at_end.copy()
        turned = replace(
            problem.contacts, impulse=impulse, normal=normal, point_a=point_a, point_b=point_b,
            margin_a=np.zeros(count), margin_b=np.zeros(count), rim_axis=None, rim_arm=None, rolls=None,
            core_reach=None, core_axis_a=None, core_axis_b=None,
        )  # fmt: skip
        return turned, given.copy()

    def end(self, problem, solution, loaded):
        """(VelocityResiduals, (B,) worst residual each body has a part in [m/s]) of a solved velocity phase.

        Args: as metrics.velocity_residuals.
        """
        self._begin(problem, solution, 0.0)
        upload(self.contacts.loaded, loaded.astype(np.int32))
        self._replay("end")
        body, contact, row, worst, error = self._results(problem)
        residuals = VelocityResiduals(
            *(worst[kind] for kind in (MOMENTUM, GAP, FRICTION, JOINT, JOINT_ANGLE)), body[0], contact[0],
            contact[FRICTION - GAP], row, self._angles(problem.joints),
        )  # fmt: skip
        return residuals, error

    # Problem in, results out

    def _begin(self, problem, solution, tolerance):
        """Take over what both phases are judged by."""
        bodies, contacts, rows = problem.bodies, problem.contacts, problem.joints
        if rows.joint is not self._numbered[0] or rows.joint.flags.writeable:
            self._numbered = rows.joint, int(rows.joint.max(initial=-1)) + 1
        sizes = len(bodies.mass), len(contacts), len(rows), self._numbered[1]
        self._reserve(sizes)
        self._latest = problem
        upload(self._counts, (bodies.dynamic_count, sizes[1], sizes[2], 0, 0, sizes[0]))
        upload(self._settings, (problem.step, problem.push_out_speed * problem.step, tolerance))
        self._into["bodies"].put_all(bodies, COLUMNS["bodies"][0])
        self._into["judged"].put("principal", bodies.inertia)
        self._into["judged"].put("moments", bodies.moments)
        upload(self.bodies.u, solution.velocity)
        bent = no_arcs(len(bodies.mass)) if solution.arc is None else (solution.arc, solution.pulled)
        for name, values in zip(("arc", "pulled"), bent, strict=True):
            self._into["bodies"].put(name, values)
        if sizes[1]:
            self._load_contacts(0, contacts)
            if contacts.rim_arm is not None:
                self._load_contacts(RIMS, contacts)
            if contacts.core_reach is not None:
                self._load_contacts(CORES, contacts)
            upload(self.contacts.p, solution.contact_impulse)
        if sizes[2]:
            self._into["rows"].put_all(rows, COLUMNS["rows"][0])
            upload(self.rows.p, solution.joint_impulse)
            self._into["rows"].put_or("drawn", solution.drawn, 0.0, sizes[2])
            self._into["judged"].put("joint", rows.joint)

    def _load_contacts(self, part, contacts):
        """Take over a part of COLUMNS."""
        into = self._into["contacts"]
        for name, source in COLUMNS["contacts"][part].pairs:
            into.put_or(name, getattr(contacts, source), MISSING.get(name, 0), len(contacts))

    def _results(self, problem, *more):
        """Residuals of bodies (OF_BODY, B), contacts (OF_CONTACT, C) and rows (R,), the worst of each kind and those
        that each body (B,) has a part in; and ``more``, as ``fetch`` has it.
        """
        judged, count = self.judged, len(problem.bodies.mass)
        body, contact, row, worst, error, *more = fetch(
            (judged.body, count), (judged.contact, len(problem.contacts)), (judged.row, len(problem.joints)),
            (judged.worst, KINDS), (judged.error, count), *more,
        )  # fmt: skip
        numbers = body.copy(), contact.copy(), row.copy(), worst.view(float).tolist(), error.copy().view(float)
        return *numbers, *more

    def _angles(self, rows):
        """(R,) bool, read-only: rows that measure angles."""
        coordinate = rows.coordinate
        if self._measured[0] is not coordinate or coordinate.flags.writeable:
            self._measured = coordinate, frozen((coordinate == DOT) | (coordinate == TWIST))
        return self._measured[1]

    # Arrays and graphs

    def _reserve(self, sizes):
        """Make room for bodies, contacts, rows and joints: twice what is asked where it lacks; see ``usual``.

        There is none for rows before the first: without joints their kernels are not even compiled.
        """
        capacity = self._capacity
        if capacity["contacts"] and all(room >= size for room, size in zip(capacity.values(), sizes, strict=True)):
            return
        for name, size in zip(capacity, sizes, strict=True):
            if size > capacity[name] or not (capacity[name] or name in ("rows", "joints")):
                capacity[name] = max(2 * capacity[name], size + size // 2, self.usual.get(name, 0), 16)
        device = self.device
        self.bodies, self.contacts, self.rows = (
            self._allocate(kind, struct, capacity[kind])
            for kind, struct in (
                ("bodies", BodyArrays), ("contacts", ContactArrays), ("rows", RowArrays),
            )
        )  # fmt: skip
        sizes = dict.fromkeys(("joint", "row", "coordinate", "rate"), capacity["rows"])
        sizes |= {
            "counts": 0, "settings": 0, "square": 2 * capacity["joints"], "worst": KINDS,
            "body": (OF_BODY, capacity["bodies"]),
            "contact": (OF_CONTACT, capacity["contacts"]), "contact_end": (4, capacity["contacts"]),
            "velocity": (2, capacity["bodies"]),
        }  # fmt: skip
        self.judged = allocate(Judged, sizes, capacity["bodies"], device)
        self.judged.counts, self.judged.settings = self._counts, self._settings
        self.bodies.principal = self.judged.principal
        self._into["judged"] = Columns(self.judged)
        self._graphs.clear()

    def _allocate(self, kind, struct, size):
        """One of the solver's structs, with room only in what is used here."""
        used = {*OWN[kind], *(name for part in COLUMNS[kind] for name in part.names)}
        arrays = allocate(struct, dict.fromkeys(set(struct.vars) - used, 1), size, self.device)
        self._into[kind] = Columns(arrays)
        return arrays

    def _replay(self, phase):
        if (graph := self._graphs.get(phase)) is None:
            if self.device.is_cuda:
                self._launch(phase)  # loads the kernels: recording there must see no compilation
            graph = self._graphs[phase] = recorded(self.device, lambda: self._launch(phase))
            if self.device.is_cuda:
                return
        wp.capture_launch(graph)

    def _launch(self, phase):
        k, size, judged = self._kernels, self._capacity, self.judged

        def launch(kernel, dim, *inputs):
            wp.launch(kernel, dim=dim, inputs=[*inputs, judged], device=self.device)

        launch(k.begin, max(size["bodies"], 2 * size["joints"], KINDS))
        if phase == "turn":
            launch(k.turn, size["contacts"], self.bodies, self.contacts)
            launch(k.given, size["bodies"], self.bodies)
            return
        launch(k.masses, size["bodies"], self.bodies)
        if phase == "spinning step":
            lead, sizes = spinning_kernels()[1], (self._counts, self._settings)
            wp.launch(lead, dim=size["bodies"], inputs=[*sizes, self.bodies, judged.led], device=self.device)
        if phase != "end":
            launch(k.motion, size["bodies"], self.bodies)
            launch(k.contacts, size["contacts"], self.bodies, self.contacts)
            launch(k.rows, size["rows"], self.bodies, self.rows)
            launch(k.norms, size["rows"], self.rows)
            launch(k.bodies, size["bodies"], self.bodies)
        else:
            launch(k.contacts_at_end, size["contacts"], self.bodies, self.contacts)
            launch(k.rows_at_end, size["rows"], self.bodies, self.rows)
            launch(k.norms, size["rows"], self.rows)
            launch(k.bodies_at_end, size["bodies"], self.bodies)
