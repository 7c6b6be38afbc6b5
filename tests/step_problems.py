# SPDX-License-Identifier: GPL-3.0-or-later
"""StepProblems built by hand or at random, and the proximal solver opened up stage by stage, for tests."""

import numpy as np
from axion.solver import rotations
from axion.solver.arrays import download
from axion.solver.problem import Bodies, Contacts, JointRows, StepProblem
from axion.solver.proximal import ProximalSolver, SolveOptions

G = 9.81
SOLVERS = {}


def unit(rng, *shape):
    v = rng.normal(size=shape)
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def bodies_of(mass, inertia, position, orientation=None, velocity=None, step=0.01, gravity=(0, 0, -G), midpoint=0.0):
    """Bodies, those of infinite mass immovable; free motion under gravity, spinning without gyroscopic torque."""
    mass, position = np.asarray(mass, float), np.asarray(position, float)
    count = len(mass)
    n = int(np.isfinite(mass).sum())
    orientation = np.tile(rotations.IDENTITY, (count, 1)) if orientation is None else np.asarray(orientation, float)
    velocity = np.zeros((count, 6)) if velocity is None else np.asarray(velocity, float)
    free = velocity.copy()
    free[:n, :3] += step * np.asarray(gravity, float) / (1.0 + midpoint)
    return Bodies(
        n, mass, np.asarray(inertia, float), position, orientation, velocity, position + step * free[:, :3],
        rotations.multiply(rotations.exponential(step * free[:, 3:]), orientation), free,
        np.where(np.isfinite(mass), float(midpoint), 0.0),
    )  # fmt: skip


def contacts_of(body_a, body_b, point_a, point_b, normal, friction=0.5, restitution=0.0, impulse=None):
    """Contacts without rounding margins."""
    count = len(body_a)
    return Contacts(
        np.asarray(body_a, np.int32), np.asarray(body_b, np.int32), np.asarray(point_a, float),
        np.asarray(point_b, float), np.zeros(count), np.zeros(count), np.asarray(normal, float).reshape(count, 3),
        np.full(count, float(friction)), np.full(count, float(restitution)),
        np.zeros((count, 3)) if impulse is None else np.asarray(impulse, float),
    )  # fmt: skip


def corners(half):
    """The four corners (4, 3) of a box's lower face."""
    return np.array([[x, y, -1.0] for x in (-1, 1) for y in (-1, 1)]) * half


def box_inertia(mass, half):
    """Principal moments of a solid box."""
    square = np.asarray(half, float) ** 2
    return mass / 3.0 * (square.sum() - square)


def random_bodies(rng, dynamic, immovable, step=0.02, midpoint=0.0):
    count = dynamic + immovable
    mass = np.append(rng.uniform(0.5, 3.0, dynamic), np.full(immovable, np.inf))
    inertia = rng.uniform(0.2, 0.5, (count, 3))
    inertia[dynamic:] = np.inf
    return bodies_of(
        mass, inertia, rng.normal(size=(count, 3)), unit(rng, count, 4), rng.normal(size=(count, 6)), step,
        midpoint=midpoint,
    )  # fmt: skip


def random_pairs(rng, count, dynamic, total):
    """Pairs of different bodies, at least one of them dynamic, in either order."""
    a = rng.integers(0, dynamic, count)
    b = (a + rng.integers(1, total, count)) % total
    swap = rng.random(count) < 0.5
    return np.where(swap, b, a).astype(np.int32), np.where(swap, a, b).astype(np.int32)


def random_problem(seed, dynamic=4, immovable=2, contacts=7, rows=6, step=0.02, midpoint=0.0, loaded=True):
    """A StepProblem without sense, but with everything in it: margins, overlaps, belts, joints, bounds, springs."""
    rng = np.random.default_rng(seed)
    total = dynamic + immovable
    bodies = random_bodies(rng, dynamic, immovable, step, midpoint)
    a, b = random_pairs(rng, contacts, dynamic, total)
    normal = unit(rng, contacts, 3)
    found = contacts_of(
        a, b, rng.normal(size=(contacts, 3)), rng.normal(size=(contacts, 3)), normal,
        impulse=normal + 0.4 * rng.normal(size=(contacts, 3)) if loaded else None,
    )  # fmt: skip
    found.margin_a[:], found.margin_b[:] = rng.uniform(0, 0.1, (2, contacts))
    found.friction[:] = rng.uniform(0.0, 1.0, contacts)
    found.surface_velocity = np.random.default_rng(seed + 1000).normal(size=(contacts, 3))
    return StepProblem(step, bodies, found, random_rows(rng, rows, bodies))


def random_rows(rng, count, bodies):
    out = JointRows.of(count)
    out.body_a[:], out.body_b[:] = random_pairs(rng, count, bodies.dynamic_count, len(bodies.mass))
    out.joint[:] = np.arange(count)
    out.coordinate[:] = np.arange(count) % 4
    out.anchor_a, out.anchor_b = rng.normal(size=(2, count, 3))
    out.axis_a, out.axis_b = unit(rng, 2, count, 3)
    out.reference = unit(rng, count, 4)
    out.offset = rng.normal(size=count)
    out.target = 0.1 * rng.normal(size=count)
    out.target_velocity = rng.normal(size=count)
    out.beta = rng.choice([0.0, 0.3, 1.0], count)
    out.compliance = rng.choice([0.0, 0.2], count)
    out.impulse = rng.normal(size=count)
    out.lower = np.where(rng.random(count) < 0.3, -0.5, -np.inf)
    out.centre = np.where(np.arange(count) % 8 < 4, out.target, np.nan)  # a quarter of random twists fade
    return out


def options(problem, tolerance=1e-6, eps=1e-2, sweeps=True, start=None):
    n = problem.bodies.dynamic_count
    return SolveOptions(np.full(n, tolerance), np.full(n, eps), np.full(n, sweeps), start)


def solver(precision="float64"):
    """One ProximalSolver a precision for all tests: its graphs are recorded once."""
    if precision not in SOLVERS:
        SOLVERS[precision] = ProximalSolver("cpu", precision)
    return SOLVERS[precision]


def solve(problem, precision="float64", **settings):
    """The StepSolution of the position phase."""
    return solver(precision).solve(problem, options(problem, **settings))[0]


def across(rows, r, orientation, e):
    """(12, 12) G^T (1 - e e^T) G, where the anchors of row r of JointRows move against each other by G (u_a, u_b)."""
    arms = [
        rotations.rotate(orientation[body[r]], anchor[r])
        for body, anchor in ((rows.body_a, rows.anchor_a), (rows.body_b, rows.anchor_b))
    ]
    skew_a, skew_b = (np.cross(arm, np.eye(3)).T for arm in arms)
    G = np.hstack([-np.eye(3), skew_a, np.eye(3), -skew_b])
    return G.T @ (np.eye(3) - np.outer(e, e)) @ G


class Stages:
    """A problem on the device, at its first iterate: the stages of one Newton iteration one by one.

    The arrays are the shared solver's, so only the latest Stages can be read.
    """

    def __init__(self, problem, precision="float64", eps=1e-2, eps_joint=1e-2, start=None):
        self.problem, self.solver = problem, solver(precision)
        self.solver.problem.upload(problem, options(problem, eps=eps, start=start))
        self.device = p = self.solver.problem
        p.begin(eps_joint)
        self.solver._over_bodies(self.solver._motion.prepare_bodies, p.bodies)
        self.solver._over_contacts(self.solver._contact.prepare_contacts, p.settings, p.bodies, p.contacts, p.islands)
        self.solver._over_rows(self.solver._joint.prepare_rows, p.bodies, p.rows)
        self.solver._over_islands(self.solver._control.begin, p.flags, p.islands)

    def linearise(self):
        self.solver._linearise(True, self.device.islands.outer_active)
        self.solver._stiffen(True)
        return self

    def newton(self):
        """The start of a round."""
        p, s = self.device, self.solver
        s._over_islands(s._control.outer_begin, p.flags, p.islands)
        s._over_bodies(s._motion.centre, p.bodies, p.islands)
        return self

    def laws(self):
        """Impulses, g, and which islands go on."""
        self.solver._gradient()
        return self

    def assemble(self):
        """H."""
        self.solver._assemble()
        return self

    def bodies(self, name):
        return download(getattr(self.device.bodies, name), self.problem.bodies.dynamic_count)

    def rows(self, name):
        return download(getattr(self.device.rows, name), len(self.problem.joints))

    def contacts(self, name):
        """Values in the problem's order (on the device they are sorted by island and pair)."""
        values = download(getattr(self.device.contacts, name), len(self.problem.contacts))
        out = np.empty_like(values)
        out[self.device.topology.contact_order] = values
        return out

    def matrix(self):
        """H (6n, 6n) from its blocks."""
        n, topology = self.problem.bodies.dynamic_count, self.device.topology
        H = np.zeros((n, 6, n, 6))
        H[np.arange(n), :, np.arange(n)] = download(self.device.matrix.diagonal, n)
        block = download(self.device.matrix.block, len(topology.pair_i))
        for k, (i, j) in enumerate(zip(topology.pair_i, topology.pair_j, strict=True)):
            H[i, :, j] += block[k]
            H[j, :, i] += block[k].T
        return H.reshape(6 * n, 6 * n)
