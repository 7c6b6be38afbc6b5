# SPDX-License-Identifier: GPL-3.0-or-later
"""newton's contacts sorted on the host against NumPy's stable sort."""

import numpy as np
import pytest
import warp as wp
from axion.solver.contact_order import ContactColumns, ContactOrder

ROOM = 50


@pytest.mark.parametrize("count", [0, 1, 2, 17, ROOM, ROOM + 3])
@pytest.mark.parametrize("kinds", [1, 5, 1000])  # of keys: many are equal, or none
@pytest.mark.parametrize("ascending", [False, True])
def test_contacts_come_in_order_of_their_keys(count, kinds, ascending):
    # newton counts on beyond its room: what lies there is all that there is.
    rng = np.random.default_rng(100 * count + kinds)
    key = rng.integers(0, kinds, ROOM)
    if ascending:
        key.sort()
    given = {}
    for name, member in ContactColumns.vars.items():
        shape = (ROOM, *getattr(member.type.dtype, "_shape_", ()))
        given[name] = key if name == "key" else rng.integers(0, 1000, shape)
    columns = {
        name: wp.array(values, dtype=ContactColumns.vars[name].type.dtype, device="cpu")
        for name, values in given.items()
    }
    number = wp.array([count], dtype=wp.int32, device="cpu")
    unused = dict.fromkeys(("stiffness", "damping", "friction"))
    ContactOrder(ROOM).sort_full(columns.pop("key"), number, device="cpu", **unused, **columns)
    order = np.arange(ROOM)
    order[:count] = key[:count].argsort(kind="stable")
    for name, values in columns.items():
        assert np.array_equal(values.numpy(), given[name][order]), name
