# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact rows on the device against NumPy: gaps, levers, effective masses, allowed overlap, and the row velocities."""

import numpy as np
import pytest
from axion.solver.problem import tangents
from axion.solver.reference.rotation import conjugate, rotate, world_inertia
from axion.solver.reference.rows import contact_jacobians, gaps, normal_jacobians, normals, surface_slip
from step_problems import Stages, random_problem

ACCURACY = {"float64": 1e-12, "float32": 2e-5}


def inverse_masses(problem):
    """(B, 6, 6) at the free orientation; zero for immovable bodies."""
    bodies = problem.bodies
    out = np.zeros((len(bodies.mass), 6, 6))
    for i in range(bodies.dynamic_count):
        out[i, :3, :3] = np.eye(3) / bodies.mass[i]
        out[i, 3:, 3:] = world_inertia(bodies.free_orientation[i], 1.0 / bodies.inertia[i])
    return out


def effective_masses(problem):
    """(C, 3): diagonal of J M^-1 J^T of the contacts in (n, t1, t2)."""
    contacts, inverse = problem.contacts, inverse_masses(problem)
    j_a, j_b = contact_jacobians(contacts, problem.bodies.position, problem.bodies.orientation)
    return sum(
        np.einsum("cki,cij,ckj->ck", j, inverse[body], j)
        for j, body in ((j_a, contacts.body_a), (j_b, contacts.body_b))
    )


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("seed", range(3))
def test_geometry_agrees_with_numpy(seed, precision):
    problem = random_problem(seed, contacts=20)
    bodies, contacts, limit = problem.bodies, problem.contacts, ACCURACY[precision]
    n = bodies.dynamic_count
    rng = np.random.default_rng(seed)  # some touch a face of either body, whose normal turns with it
    contacts.face = np.choose(rng.integers(0, 3, 20), [np.full(20, -1), contacts.body_a, contacts.body_b])
    contacts.face_normal = rotate(conjugate(bodies.orientation[contacts.face]), contacts.normal)
    stages = Stages(problem, precision, start=bodies.free_velocity[:n])
    j_a, j_b = contact_jacobians(contacts, bodies.position, bodies.orientation)
    w = effective_masses(problem)
    assert stages.contacts("w") == pytest.approx(w.mean(axis=1), rel=10 * limit)
    assert stages.contacts("w_normal") == pytest.approx(w[:, 0], rel=10 * limit)
    assert stages.contacts("w_tangent") == pytest.approx(w[:, 1:].max(axis=1), rel=10 * limit)
    # overlap at the start may stay as far as push_out_speed * step does not remove it
    before = gaps(contacts, bodies.position, bodies.orientation)
    allowed = np.where(before < 0.0, np.minimum(0.0, before + problem.push_out_speed * problem.step), 0.0)
    assert stages.contacts("allowed") == pytest.approx(allowed, abs=limit)
    stages.linearise()
    after = gaps(contacts, bodies.free_position, bodies.free_orientation)
    assert stages.contacts("phi") == pytest.approx(after, abs=limit)
    ju = np.einsum("cki,ci->ck", j_a, bodies.free_velocity[contacts.body_a])
    ju += np.einsum("cki,ci->ck", j_b, bodies.free_velocity[contacts.body_b])
    slip = ju[:, 1:] + surface_slip(contacts)
    want = np.column_stack([(after - allowed) / problem.step, slip])
    assert stages.contacts("v") == pytest.approx(want, abs=limit / problem.step)
    assert stages.contacts("bias")[:, 0] == pytest.approx(want[:, 0] - ju[:, 0], abs=limit / problem.step)
    assert stages.contacts("bias")[:, 1:] == pytest.approx(surface_slip(contacts), abs=limit)


def test_contacts_nearer_than_the_noise_are_held_where_they_are():
    # allowed = the gap they start with, above and below zero; where joints hold bodies, too, half of the noise deep, so
    # that what is a little off is not squeezed; farther ones as ever.
    for rows in (0, 6):
        problem = random_problem(5, contacts=12, rows=rows)
        contacts = problem.contacts
        contacts.start_gap = np.linspace(-3e-6, 3e-6, 12)
        contacts.gap_noise = np.full(12, 1e-6)
        problem.push_out_speed = 0.0
        near = np.abs(contacts.start_gap) <= 1e-6
        held = np.full(12, -5e-7) if rows else contacts.start_gap
        want = np.where(near, held, np.minimum(contacts.start_gap, 0.0))
        assert near.sum() == 4
        assert Stages(problem).contacts("allowed") == pytest.approx(want, abs=1e-15)


def test_start_impulses_are_read_along_the_normal_and_its_tangents():
    problem = random_problem(3, contacts=20)
    contacts = problem.contacts
    stages = Stages(problem)
    axes = np.stack([contacts.normal, *tangents(contacts.normal)], axis=1)
    want = np.einsum("cki,ci->ck", axes, contacts.impulse)
    want[:, 0] = np.maximum(want[:, 0], 0.0)
    assert stages.contacts("p") == pytest.approx(want, abs=1e-14)
    # and written back as the same world force
    stages.linearise()
    p = stages.device
    stages.solver._over_contacts(stages.solver._contact.contact_forces, p.islands.constrained, p.contacts, p.islands)
    assert stages.contacts("force") == pytest.approx(np.einsum("cki,ck->ci", axes, want), abs=1e-14)


def test_residual_is_the_natural_map():
    # |min(v_n, w p_n)| and w |p_t - P_{mu p_n}(p_t - v_t / w)|, the worst of each island.
    problem = random_problem(4, dynamic=3, immovable=1, contacts=9, rows=3)
    stages = Stages(problem).linearise().newton()
    p, s = stages.device, stages.solver
    s._residual()
    v, impulse, w = stages.contacts("v"), stages.contacts("p"), stages.contacts("w")
    normal = np.abs(np.minimum(v[:, 0], w * impulse[:, 0]))
    y = impulse[:, 1:] - v[:, 1:] / w[:, None]
    r = problem.contacts.friction * impulse[:, 0]
    y *= np.minimum(1.0, r / np.hypot(*y.T))[:, None]
    tangent = w * np.hypot(*(impulse[:, 1:] - y).T)
    island = p.topology.body_island[np.minimum(problem.contacts.body_a, problem.contacts.body_b)]
    for values, name in ((normal, "residual_normal"), (tangent, "residual_tangent")):
        worst = np.zeros(p.topology.island_count)
        np.maximum.at(worst, island, values)
        assert getattr(p.islands, name).numpy()[: len(worst)] == pytest.approx(worst, rel=1e-12)


@pytest.mark.parametrize("glides", [False, True])
def test_rows_along_normals_alone_are_the_first_of_three(glides):
    problem, rng = random_problem(3, contacts=20), np.random.default_rng(3)
    bodies, contacts = problem.bodies, problem.contacts
    contacts.glides = np.arange(20) % 2 == 0 if glides else None
    whole = contact_jacobians(contacts, bodies.position, bodies.orientation, bodies.free_orientation)
    alone = normal_jacobians(contacts, bodies.orientation, bodies.free_orientation)
    for rows, row in zip(whole, alone, strict=True):
        np.testing.assert_array_equal(rows[:, 0], row)
    contacts.face = np.choose(rng.integers(0, 3, 20), [np.full(20, -1), contacts.body_a, contacts.body_b])
    contacts.face_normal = rotate(conjugate(bodies.orientation[contacts.face]), contacts.normal)
    index = np.array([3, 0, 17])
    taken = normals(contacts.take(index), bodies.free_orientation)
    np.testing.assert_array_equal(normals(contacts, bodies.free_orientation, index), taken)
