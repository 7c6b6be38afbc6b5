# SPDX-License-Identifier: GPL-3.0-or-later
"""Which islands are factorised: those that joints make stiff, unless next to nothing in a large heap is joined."""

import numpy as np
import pytest
from axion.solver.problem import Contacts, Coordinate, JointRows, StepProblem
from step_problems import bodies_of, options, solver

SIDE = 10


def lattice(joined):
    """1000 bodies that touch their neighbours in a lattice; a row couples each of the first ``joined`` pairs, too."""
    number = np.arange(SIDE**3).reshape(3 * (SIDE,))
    pairs = [(number.take(range(SIDE - 1), axis), number.take(range(1, SIDE), axis)) for axis in range(3)]
    a, b = (np.concatenate([pair[side].ravel() for pair in pairs]) for side in range(2))
    place = np.argwhere(number >= 0).astype(float)
    bodies = bodies_of(np.append(np.ones(len(place)), np.inf), np.ones((len(place) + 1, 3)), [*place, (0, 0, -1)])
    normal = place[a] - place[b]
    half = 0.5 * normal
    contacts = Contacts(
        a, b, -half, half, *np.zeros((2, len(a))), normal, np.full(len(a), 0.5), np.zeros(len(a)),
        np.zeros((len(a), 3)), np.zeros(len(a)),
    )  # fmt: skip
    rows = JointRows.of(joined)
    rows.coordinate[:] = Coordinate.DISTANCE
    rows.joint[:] = np.arange(joined)
    rows.body_a[:], rows.body_b[:] = a[:joined], b[:joined]
    return StepProblem(0.02, bodies, contacts, rows)


def chain(links):
    bodies = bodies_of(
        np.append(np.ones(links), np.inf), np.ones((links + 1, 3)), np.arange(3.0 * (links + 1)).reshape(-1, 3)
    )
    rows = JointRows.of(links - 1)
    rows.coordinate[:] = Coordinate.DISTANCE
    rows.joint[:], rows.body_a[:], rows.body_b[:] = (np.arange(links - 1) + k for k in (0, 0, 1))
    return StepProblem(0.02, bodies, Contacts.empty(), rows)


@pytest.mark.parametrize(
    ("problem", "direct"),
    [
        (chain(2), True),
        (chain(1500), True),
        (lattice(2700), True),
        (lattice(10), False),
        (lattice(0), False),
    ],
    ids=["two links", "1500 links", "lattice of joints", "heap with ten joints", "heap"],
)
def test_islands_that_joints_make_stiff_are_factorised(problem, direct):
    device = solver().problem
    device.upload(problem, options(problem))
    assert device.topology.island_count == 1
    assert device.direct.tolist() == [direct]
