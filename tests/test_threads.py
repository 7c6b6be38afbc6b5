# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulations in several threads, simulations within on_frame, and what on_frame may do to a simulation: nothing."""

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from axion.solver import ForceField, SolverConfig, simulate, starting_overlaps
from scenes import chain, pile

CPU = SolverConfig(device="cpu", record_forces=True)
FRAMES = 12


def made(number):
    """One of several scenes that take unlike times and unlike kernels."""
    return (chain(5, sideways=True), pile(3), pile(5))[number % 3]


def same(one, other):
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("position", "orientation", "linear_velocity", "angular_velocity")
    )


def test_threads_get_the_same_bits_as_one_by_one():
    serial = [simulate(made(k), FRAMES, config=CPU) for k in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: simulate(made(k), FRAMES, config=CPU), range(4)))
        overlaps = list(pool.map(lambda k: starting_overlaps(made(k), CPU), range(4)))
    assert all(same(a, b) for a, b in zip(serial, found, strict=True))
    assert overlaps == [starting_overlaps(made(k), CPU) for k in range(4)]


def test_on_frame_may_simulate_and_wait_for_a_thread_that_does():
    alone = [simulate(made(k), FRAMES, config=CPU) for k in range(2)]
    inner = []

    def another(result):
        if result.frame == 3:
            inner.append(simulate(made(0), FRAMES, config=CPU))
        if result.frame == 5:
            thread = threading.Thread(target=lambda: inner.append(simulate(made(0), FRAMES, config=CPU)), daemon=True)
            thread.start()
            thread.join(120.0)
            assert not thread.is_alive()

    outer = simulate(made(1), FRAMES, config=CPU, on_frame=another)
    assert same(outer, alone[1]) and len(inner) == 2
    assert all(same(found, alone[0]) for found in inner)


def test_a_simulation_that_fails_keeps_no_other_waiting():
    def fail(result):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        simulate(made(1), 2, config=CPU, on_frame=fail)
    with ThreadPoolExecutor(1) as pool:
        assert len(pool.submit(simulate, made(1), 2, config=CPU).result(120.0).reports) == 2


def test_a_scene_changed_within_on_frame_changes_nothing():
    whole, scene = simulate(made(1), FRAMES, config=CPU), made(1)

    def change(result):
        scene.gravity = (0.0, 0.0, 50.0)
        scene.gravity[:] = 50.0
        for body in scene.bodies:
            body.mass, body.friction = 1e3, 0.0
            body.position[:] = 7.0
        scene.add(ForceField("Late", "wind", 1e4))
        del scene.bodies[3:]

    assert same(simulate(scene, FRAMES, config=CPU, on_frame=change), whole)


def test_a_frame_result_is_read_only_and_another_may_be_made_of_it():
    whole, seen = simulate(made(1), FRAMES, config=CPU), []

    def tamper(result):
        for owner in (result, result.forces):
            for name, values in vars(owner).items():
                if isinstance(values, np.ndarray) and values.size:
                    with pytest.raises(ValueError, match="read-only"):
                        values[...] = 7.0
                    seen.append(name)
        for made_of in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
            assert np.array_equal(made_of.position, result.position) and not made_of.resumable
            made_of.position[:] = 7.0
        assert result.resumable
        result.checkpoint()
        result.position = result.linear_velocity = np.full_like(result.position, 7.0)

    changed = simulate(made(1), FRAMES, config=CPU, on_frame=tamper)
    assert same(changed, whole) and {"position", "angular_velocity", "contact_force"} <= set(seen)
    assert changed.position.flags.writeable
