# SPDX-License-Identifier: GPL-3.0-or-later
"""Loading without the garbage collector leaves it as it was, with what was loaded among the old objects."""

import gc

import pytest
from axion.solver.loading import uncollected


@pytest.fixture(autouse=True)
def collector():
    yield
    gc.enable()


def test_what_is_loaded_counts_as_old_afterwards():
    with uncollected():
        assert not gc.isenabled()
        loaded = [[] for _ in range(5000)]  # more than a young generation holds
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
    old = {id(thing) for thing in gc.get_objects(generation=2)}
    assert {id(thing) for thing in loaded} <= old


def test_it_is_back_after_an_error():
    with pytest.raises(ValueError, match="broken"), uncollected():
        raise ValueError("broken")
    assert gc.isenabled()


def test_who_has_switched_it_off_keeps_it_off():
    gc.disable()
    with uncollected():
        pass
    assert not gc.isenabled()


def test_what_others_keep_from_it_stays_kept():
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        with uncollected():
            pass
        assert gc.get_freeze_count() >= count - 100  # some of it may have ended since
    finally:
        gc.unfreeze()
