# SPDX-License-Identifier: GPL-3.0-or-later
"""The thread that writes: in order, whole, and what fails is told once."""

import threading

import pytest
from axion.axion_blender.cache.scribe import ROOM, Scribe


def test_what_is_handed_in_is_written_in_order_on_another_thread():
    found = []
    scribe = Scribe(lambda *chunk: found.append((threading.current_thread(), chunk)))
    for number in range(10):
        scribe.take(number, str(number))
    scribe.close()
    assert [chunk for _, chunk in found] == [(number, str(number)) for number in range(10)]
    assert {thread for thread, _ in found}.isdisjoint({threading.current_thread()})


def test_a_slow_disk_holds_up_whoever_is_too_many_files_ahead():
    gate, begun = threading.Semaphore(0), []
    scribe = Scribe(lambda number: (begun.append(number), gate.acquire()))
    for number in range(ROOM + 1):  # one is being written, the others wait
        scribe.take(number)
    ahead = threading.Thread(target=scribe.take, args=(ROOM + 1,))
    ahead.start()
    ahead.join(0.2)
    assert ahead.is_alive()
    for _ in range(ROOM + 2):
        gate.release()
    ahead.join(10.0)
    scribe.close()
    assert begun == list(range(ROOM + 2))


def test_a_failure_is_told_once_and_nothing_is_written_after_it():
    found = []

    def write(number):
        if number == 1:
            raise OSError("full")
        found.append(number)

    scribe = Scribe(write)
    scribe.take(0)
    scribe.take(1)
    with pytest.raises(OSError, match="full"):
        scribe.close()
    scribe.take(2)
    scribe.close()
    assert found == [0]
