# SPDX-License-Identifier: GPL-3.0-or-later
"""H and g of a small problem against a dense NumPy build, and the linear solvers against numpy.linalg.solve."""

import numpy as np
import pytest
import warp as wp
from axion.solver.arrays import download, upload
from axion.solver.device_problem import anchor_groups
from axion.solver.problem import Coordinate, JointRows, StepProblem, tangents
from axion.solver.reference.rotation import world_inertia
from axion.solver.reference.rows import contact_jacobians, jacobians
from axion.solver.rotations import rotate
from step_problems import Stages, across, bodies_of, random_problem, unit
from test_friction import DISC, evaluate

EPS, EPS_JOINT = 0.3, 0.2


def positive_part(K):
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def anchor_stiffness(r, p):
    """(r . p) 1 - (r p^T + p r^T) / 2: the derivative of the torque r x p as r turns, symmetric part."""
    return (r @ p) * np.eye(3) - 0.5 * (np.outer(r, p) + np.outer(p, r))


def stiffness(problem, orientation, row_impulse, j_b):
    """K (n, 3, 3) of a first iterate: h (1 - midpoint / 2) times the positive part of the anchors' stiffness."""
    bodies, rows = problem.bodies, problem.joints
    out = np.zeros((bodies.dynamic_count, 3, 3))
    holds = np.isin(rows.coordinate, (Coordinate.LINEAR, Coordinate.DISTANCE))
    for joint in np.unique(rows.joint):
        index = np.nonzero((rows.joint == joint) & holds)[0]
        if not len(index):
            continue
        force = (row_impulse[index, None] * j_b[index, :3]).sum(axis=0)
        for body, anchor, sign in (
            (rows.body_a[index[0]], rows.anchor_a[index[0]], -1.0),
            (rows.body_b[index[0]], rows.anchor_b[index[0]], 1.0),
        ):
            if body < bodies.dynamic_count:
                share = problem.step * (1.0 - 0.5 * bodies.midpoint[body])
                out[body] += share * positive_part(anchor_stiffness(rotate(orientation[body], anchor), sign * force))
    return out


def turning(problem, position, orientation, row_impulse, j_b):
    """[(row, (12, 12) stiffness)] of each DISTANCE that pulls: h (1 - midpoint / 2) T / L across its direction."""
    bodies, rows, out = problem.bodies, problem.joints, []
    for r in np.flatnonzero((rows.coordinate == Coordinate.DISTANCE) & (row_impulse < 0.0)):
        a, b = rows.body_a[r], rows.body_b[r]
        arms = rotate(orientation[b], rows.anchor_b[r]) - rotate(orientation[a], rows.anchor_a[r])
        share = problem.step * (1.0 - 0.5 * max(bodies.midpoint[a], bodies.midpoint[b]))
        tension = -row_impulse[r] / np.linalg.norm(position[b] - position[a] + arms)
        out.append((r, share * tension * across(rows, r, orientation, j_b[r, :3])))
    return out


def dense(problem, stages, u, centre, curvature_of_contacts):
    """(H (6n, 6n), g (6n,)) from Jacobians: M + K + J^T P J and M (u - u_free) + K (w - w_centre) - J^T p."""
    bodies, contacts, rows = problem.bodies, problem.contacts, problem.joints
    n, total = bodies.dynamic_count, len(bodies.mass)
    pose = download(stages.device.bodies.x, total), download(stages.device.bodies.q, total)
    H, g = np.zeros((total, 6, total, 6)), np.zeros((total, 6))
    j_a, j_b = jacobians(rows, *pose)
    impulse = np.clip(rows.impulse, rows.lower, rows.upper)
    K = stiffness(problem, pose[1], impulse, j_b)
    for i in range(n):
        M = np.zeros((6, 6))
        M[:3, :3] = bodies.mass[i] * np.eye(3)
        M[3:, 3:] = world_inertia(bodies.free_orientation[i], bodies.inertia[i])
        H[i, :, i] += M
        H[i, 3:, i, 3:] += K[i]
        g[i] += M @ (u[i] - bodies.free_velocity[i])
        g[i, 3:] += K[i] @ (u[i] - centre[i])[3:]
    sides = list(zip((rows.body_a, rows.body_b), (j_a, j_b), strict=True))
    for r in range(len(rows)):
        for body, j in sides:
            g[body[r]] -= stages.rows("p")[r] * j[r]
            for other, k in sides:
                H[body[r], :, other[r]] += stages.rows("curvature")[r] * np.outer(j[r], k[r])
    change = np.zeros((total, 6))
    change[:n] = (u - centre)[:n]
    for r, of_pair in turning(problem, *pose, impulse, j_b):
        pair = rows.body_a[r], rows.body_b[r]
        blocks = of_pair.reshape(2, 6, 2, 6)
        for k, body in enumerate(pair):
            for m, other in enumerate(pair):
                H[body, :, other] += blocks[k, :, m]
                g[body] += blocks[k, :, m] @ change[other]
    levers = contact_jacobians(contacts, bodies.position, bodies.orientation)
    sides = list(zip((contacts.body_a, contacts.body_b), levers, strict=True))
    for c in range(len(contacts)):
        for body, j in sides:
            g[body[c]] -= stages.contacts("p")[c] @ j[c]
            for other, k in sides:
                H[body[c], :, other[c]] += j[c].T @ curvature_of_contacts[c] @ k[c]
    return H[:n, :, :n].reshape(6 * n, 6 * n), g[:n].reshape(-1)


def assembled(problem, precision="float64"):
    """Stages after one assembly at an iterate away from the proximal centre, and that iterate."""
    n = problem.bodies.dynamic_count
    rng = np.random.default_rng(99)
    centre, u = problem.bodies.free_velocity[:n] + rng.normal(size=(2, n, 6))
    stages = Stages(problem, precision, eps=EPS, eps_joint=EPS_JOINT, start=centre).linearise().newton()
    stages.device.bodies.u.numpy()[:n] = u
    return stages.laws().assemble(), u, centre


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("seed", range(4))
def test_newton_system_is_that_of_dense_algebra(seed, precision):
    problem = random_problem(seed, contacts=10, rows=8)
    stages, u, centre = assembled(problem, precision)
    contacts = problem.contacts
    # the law, restated from v and the start impulse, which start as centre, radius and dual
    axes = np.stack([contacts.normal, *tangents(contacts.normal)], axis=1)
    start = np.einsum("cki,ci->ck", axes, contacts.impulse)
    start[:, 0] = np.maximum(start[:, 0], 0.0)
    sigma = EPS * stages.contacts("w")
    y = start - stages.contacts("v") / sigma[:, None]
    r = contacts.friction * start[:, 0]
    p, P, _ = evaluate(DISC, y, contacts.friction, r, d=start[:, 1:], primal_dual=1)
    H, g = dense(problem, stages, u, centre, P / sigma[:, None, None])
    limit = {"float64": 1e-12, "float32": 2e-5}[precision]
    assert stages.contacts("p") == pytest.approx(p, abs=limit * np.abs(y).max())
    assert np.abs(stages.matrix() - H).max() < limit * np.abs(H).max()
    assert np.abs(stages.bodies("r").reshape(-1) + g).max() < limit * np.abs(H).max()
    assert np.linalg.eigvalsh(stages.matrix()).min() > 0.0


@pytest.mark.parametrize("seed", range(4))
def test_in_single_precision_what_is_factored_is_exact(seed):
    # Where joints are 1e6 times as stiff as a body is heavy, float32 leaves nothing of its mass.
    found = {}
    for precision in ("float64", "float32"):
        stages, _, _ = assembled(random_problem(seed, contacts=10, rows=8), precision)
        p = stages.device
        p.factor.launch_factor(p.matrix.exact_diagonal, p.matrix.exact_block)
        p.factor.launch_solve(p.bodies.r, p.bodies.d)
        of_bodies, of_pairs = stages.problem.bodies.dynamic_count, len(p.topology.pair_i)
        blocks = download(p.matrix.exact_diagonal, of_bodies), download(p.matrix.exact_block, of_pairs)
        found[precision] = *blocks, stages.bodies("r"), stages.bodies("d")
    for double, single in zip(*found.values(), strict=True):
        assert np.abs(single - double).max() <= 1e-11 * np.abs(double).max()


def test_some_of_those_problems_have_ropes_that_pull():
    pulled = 0
    for seed in range(4):
        rows = random_problem(seed, contacts=10, rows=8).joints
        impulse = np.clip(rows.impulse, rows.lower, rows.upper)
        pulled += np.count_nonzero((rows.coordinate == Coordinate.DISTANCE) & (impulse < 0.0))
    assert pulled > 2


@pytest.mark.parametrize("method", ["conjugate gradients", "direct"])
@pytest.mark.parametrize("seed", range(4))
def test_newton_direction_solves_the_system(seed, method):
    problem = random_problem(seed, contacts=10, rows=8)
    stages, _, _ = assembled(problem)
    H, g, p = stages.matrix(), -stages.bodies("r").reshape(-1), stages.device
    if method == "direct":
        p.factor.launch_factor(p.matrix.diagonal, p.matrix.block)
        p.factor.launch_solve(p.bodies.r, p.bodies.d)
        limit = 1e-10
    else:
        p.islands.direct.zero_()
        s = stages.solver
        reduction = 1e-10
        s._by_teams(s._cg, wp.float64(reduction), wp.int32(200), p.bodies, p.matrix, p.islands)
        rounds = download(p.islands.linear_count, p.topology.island_count).max()
        # exact arithmetic ends after as many rounds as unknowns; rounding adds some
        assert rounds <= 2 * len(g)
        limit = reduction * np.sqrt(np.linalg.cond(H))
    want = np.linalg.solve(H, -g)
    got = stages.bodies("d").reshape(-1)
    # in the energy norm of H, where conjugate gradients measure
    error = np.sqrt((got - want) @ H @ (got - want) / (want @ H @ want))
    assert error < max(limit, 1e-14 * np.linalg.cond(H))


def test_islands_of_conjugate_gradients_do_not_touch_each_other():
    # Two problems side by side give each the direction it gives alone.
    alone = random_problem(1, dynamic=3, immovable=1, contacts=4, rows=0)
    n = alone.bodies.dynamic_count
    stages, _, _ = assembled(alone)
    H, g = stages.matrix(), -stages.bodies("r").reshape(-1)
    islands = stages.device.topology.body_island
    for k in np.unique(islands):
        rows = np.nonzero(np.repeat(islands, 6) == k)[0]
        others = np.setdiff1d(np.arange(6 * n), rows)
        assert not H[np.ix_(rows, others)].any()
    assert np.isfinite(g).all()


@pytest.mark.parametrize("convex", [0, 1])
@pytest.mark.parametrize("seed", range(20))
def test_anchor_stiffness_is_that_of_the_lever_or_its_positive_part(seed, convex):
    # One ball joint with the impulse p on its rows: K of body b is anchor_stiffness(r_b, p), of a that of (r_a, -p).
    rng = np.random.default_rng(seed)
    h = 0.03
    bodies = bodies_of(np.ones(2), np.ones((2, 3)), rng.normal(size=(2, 3)), unit(rng, 2, 4), step=h, gravity=(0, 0, 0))
    rows = JointRows.of(3)
    rows.body_b[:] = 1
    rows.axis_a[:] = np.eye(3)
    rows.anchor_a[:], rows.anchor_b[:] = rng.normal(size=(2, 3))
    rows.impulse[:] = rng.normal(size=3)
    if seed % 5 == 0:  # along the lever: the closed form has a branch there
        axes_b = rotate(bodies.orientation[1], rows.anchor_b[0])
        rows.impulse[:] = rotate(bodies.orientation[0] * (-1, -1, -1, 1), axes_b) * (1 if seed % 2 else -1)
    problem = StepProblem(h, bodies, joints=rows)
    stages = Stages(problem)
    upload(stages.device.islands.convex, np.full(1, convex))
    stages.linearise()
    force = rotate(bodies.orientation[0], rows.impulse)
    for body, anchor, sign in ((0, rows.anchor_a[0], -1.0), (1, rows.anchor_b[0], 1.0)):
        want = h * anchor_stiffness(rotate(bodies.orientation[body], anchor), sign * force)
        want = positive_part(want) if convex else want
        assert np.abs(stages.bodies("stiffness")[body] - want).max() < 1e-8 * h


def test_one_stiffness_a_joint_not_a_row():
    # Runs of LINEAR or DISTANCE rows of one joint count once, with the sum of their impulses.
    rows = JointRows.of(7)
    rows.joint[:] = (0, 0, 0, 0, 1, 2, 2)
    C = Coordinate
    rows.coordinate[:] = (C.LINEAR, C.LINEAR, C.LINEAR, C.DOT, C.DISTANCE, C.TWIST, C.LINEAR)
    assert anchor_groups(rows).tolist() == [3, 0, 0, 0, 1, 0, 1]
    assert anchor_groups(JointRows.empty()).tolist() == []
