# SPDX-License-Identifier: GPL-3.0-or-later
"""What is inside each other, and that nothing rubs there."""

import numpy as np
from axion.solver.overlaps import overlapping, without_friction
from axion.solver.problem import JointRows

FAST = 1e-4


def test_friction_ends_where_bodies_are_inside_each_other():
    gap, size = np.array([-0.01, -0.001, 0.0, -0.01]), np.full(4, 0.1)
    inside = overlapping(gap, size, FAST)
    assert inside.tolist() == [True, False, False, True]
    bodies = np.array([0, 0, 1, 2]), np.array([1, 2, 2, 3])
    rows = JointRows.of(2)
    rows.body_a[:], rows.body_b[:] = [0, 2], [1, 3]
    assert without_friction(np.full(4, 0.5), inside, bodies, [3], rows).tolist() == [0.0, 0.5, 0.5, 0.5]
    rows.body_b[:] = [5, 3]  # the first one's partner is held by nothing
    assert without_friction(np.full(4, 0.5), inside, bodies, [3], rows).tolist() == [0.5, 0.5, 0.5, 0.5]
