# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables and kernels on the host: they grow, and a recorded launch follows them."""

from types import SimpleNamespace

import numpy as np
import pytest
import warp as wp
from axion.solver.arrays import download
from axion.solver.columns import Columns, ColumnSet
from axion.solver.host import HostKernel, HostTable
from axion.solver.problem import frozen


@wp.struct
class Table:
    count: wp.array(dtype=wp.int32)
    number: wp.array(dtype=wp.float64)
    square: wp.array(dtype=wp.float64)


@wp.kernel(module="axion_test_host", enable_backward=False)
def squared(table: Table):
    i = wp.tid()
    if i < table.count[0]:
        table.square[i] = table.number[i] * table.number[i]


def test_a_table_grows_and_its_kernel_follows():
    table = HostTable(Table, count=1)
    kernel = HostKernel(squared, table)
    sizes = []
    for size in (3, 16, 17, 500, 4):
        views = table.reserve(size)
        sizes.append(table.size)
        views.count[0], views.number[:size], views.square[:] = size, np.arange(size), -1.0
        kernel.run()
        assert views.square[:size].tolist() == (np.arange(size) ** 2.0).tolist()
        assert (views.square[size:] == -1.0).all()
    assert (
        sizes == sorted(sizes) and sizes[0] == sizes[1] and sizes[-1] == sizes[-2]
    )  # grown when it must, never shrunk


def test_a_table_begins_with_the_room_it_is_told():
    table = HostTable(Table, 700, count=1)
    assert len(table.reserve(3).number) == len(table.reserve(700).number) == 700 and table.generation == 1


def columns():
    struct = Table()
    struct.number = wp.zeros(6, dtype=wp.float64, device="cpu")
    return struct, Columns(struct)


def test_columns_take_values_in_an_order():
    struct, into = columns()
    into.put("number", np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1]))
    assert download(struct.number, 4).tolist() == [3.0, 1.0, 2.0, 0.0]
    into.put("number", np.zeros(0))
    assert download(struct.number, 3).tolist() == [3.0, 1.0, 2.0]


def test_only_what_cannot_have_changed_is_not_copied_again():
    struct, into = columns()
    fixed, order = frozen(np.array([1.0, 2.0, 3.0])), frozen(np.array([2, 1, 0]))
    into.put("number", fixed)
    struct.number.numpy()[:] = 7.0  # shows whether anything is copied
    into.put("number", fixed)
    assert download(struct.number, 3).tolist() == [7.0] * 3
    into.put("number", fixed, order)
    assert download(struct.number, 3).tolist() == [3.0, 2.0, 1.0]
    for values in (np.array([4.0, 5.0, 6.0]), fixed):
        into.put("number", values)
        assert download(struct.number, 3).tolist() == values.tolist()
    open_to_change = np.array([1.0, 1.0, 1.0])
    looks_frozen = open_to_change.view()
    looks_frozen.setflags(write=False)
    for values in (open_to_change, looks_frozen):
        into.put("number", values)
        open_to_change += 1.0
        into.put("number", values)
        assert download(struct.number, 3).tolist() == open_to_change.tolist()


def test_columns_of_a_table_are_taken_over_where_they_may_have_changed():
    struct, into = columns()
    struct.square = wp.zeros(6, dtype=wp.float64, device="cpu")
    both = ColumnSet(("number", "first"), ("square", "second"))
    table = SimpleNamespace(first=frozen(np.array([1.0, 2.0])), second=np.array([3.0, 4.0]))

    def taken():
        into.put_all(table, both)
        found = download(struct.number, 2).tolist(), download(struct.square, 2).tolist()
        struct.number.numpy()[:] = struct.square.numpy()[:] = 7.0  # shows what is copied next time
        return found

    assert taken() == ([1.0, 2.0], [3.0, 4.0])
    table.second += 1.0
    assert taken() == ([7.0, 7.0], [4.0, 5.0])
    table.second = frozen(np.array([8.0, 9.0]))
    assert taken() == ([7.0, 7.0], [8.0, 9.0])
    assert taken() == ([7.0, 7.0], [7.0, 7.0])
    table.first = frozen(np.array([5.0]))
    assert taken() == ([5.0, 7.0], [7.0, 7.0])


def test_frozen_arrays_refuse_changes():
    with pytest.raises(ValueError, match="read-only"):
        frozen(np.zeros(3))[0] = 1.0
