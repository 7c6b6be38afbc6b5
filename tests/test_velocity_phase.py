# SPDX-License-Identifier: GPL-3.0-or-later
"""What the velocity phase starts from: contacts at the end pose, and velocity without what they gave."""

from dataclasses import replace

import numpy as np
import pytest
from axion.solver.meeting import at_one_point
from axion.solver.problem import world_impulses
from axion.solver.reference.rotation import cross, rotate, world_inertia
from axion.solver.reference.round_cores import end_normals
from axion.solver.reference.rows import normals
from axion.solver.residuals import Judge
from axion.solver.topology import build_topology
from axion.solver.velocity_phase import velocity_problem
from judged_problems import any_solution, assembled, everything

JUDGE = Judge("cpu")
COLUMNS = ("impulse", "normal", "point_a", "point_b", "margin_a", "margin_b", "friction", "body_a", "body_b")


def given(problem, solution, taken):
    """(n, 6) velocity that the contacts ``taken`` gave: levers of the start pose, inertia of the end pose."""
    bodies, contacts, n = problem.bodies, problem.contacts, problem.bodies.dynamic_count
    force = world_impulses(contacts.normal, solution.contact_impulse)
    out = np.zeros((n, 6))
    inertia = world_inertia(solution.orientation[:n], bodies.inertia[:n])
    for c in np.flatnonzero(taken):
        for i, point, margin, sign in (
            (contacts.body_a[c], contacts.point_a[c], -contacts.margin_a[c], 1.0),
            (contacts.body_b[c], contacts.point_b[c], contacts.margin_b[c], -1.0),
        ):
            if i < n:
                push = sign * (1.0 + bodies.midpoint[i]) * force[c]
                lever = rotate(bodies.orientation[i], point) + margin * contacts.normal[c]
                out[i, :3] += push / bodies.mass[i]
                out[i, 3:] += np.linalg.solve(inertia[i], cross(lever, push))
    return out


@pytest.mark.parametrize("needed", ["all", "some", "none"])
@pytest.mark.parametrize("seed", range(4))
def test_contacts_are_solved_anew_at_one_point_of_the_end_pose(seed, needed):
    problem = everything(seed, dynamic=12, contacts=8, rows=0)
    problem.contacts.glides = problem.contacts.rim_axis = problem.contacts.rim_arm = None  # test_gliding.py has those,
    # and test_impacts.py what rebounds
    problem.contacts.rebound_speed = problem.contacts.rebound_gap = None
    assembly, solution = assembled(problem, seed), any_solution(problem, seed)
    islands = len(assembly.island_jointed)
    assert islands > 2
    need = np.arange(islands) % 2 == 0 if needed == "some" else np.full(islands, needed == "all")
    mask, n = need[assembly.island], problem.bodies.dynamic_count
    judged = JUDGE.step(assembly, solution, 1e-4)
    total = judged.velocity(np.ones(n, bool))
    got, loaded, taken = velocity_problem(assembly, solution, JUDGE, judged, total.copy(), mask)

    contacts = problem.contacts
    wide = np.append(mask, np.zeros(len(problem.bodies.mass) - n, bool))
    np.testing.assert_array_equal(taken, wide[contacts.body_a] | wide[contacts.body_b])
    here = taken if needed != "none" else taken[:0]  # contacts that take no part stay and carry nothing
    np.testing.assert_array_equal(loaded, here & (solution.contact_impulse[: len(here), 0] > 0.0))
    assert len(got.contacts) == len(here) and not got.contacts.impulse[~here].any()
    assert needed == "none" or build_topology(got) is build_topology(problem), "no list is made anew"
    turned = replace(
        contacts, impulse=world_impulses(contacts.normal, solution.contact_impulse),
        normal=end_normals(contacts, normals(contacts, solution.orientation), solution.position, solution.orientation),
    )  # fmt: skip
    want = at_one_point(turned, solution, n)
    for name in COLUMNS:
        found = getattr(got.contacts, name)[here]
        np.testing.assert_allclose(found, getattr(want, name)[taken], atol=1e-12, err_msg=name)
    expected = total - given(problem, solution, taken)
    np.testing.assert_allclose(got.bodies.free_velocity[:n], expected, atol=1e-11 * (1.0 + np.abs(expected).max()))
    np.testing.assert_array_equal(got.bodies.position, solution.position)


def test_contacts_of_a_step_that_is_no_longer_judged_are_refused():
    first, second = everything(1), everything(2)
    JUDGE.step(assembled(first), any_solution(first, 1), 1e-4)
    JUDGE.step(assembled(second), any_solution(second, 2), 1e-4)
    with pytest.raises(RuntimeError, match="after another one was judged"):
        JUDGE.contacts_at_end(first)
