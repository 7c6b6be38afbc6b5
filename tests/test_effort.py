# SPDX-License-Identifier: GPL-3.0-or-later
"""How hard solves try: the kernel against NumPy, and that it takes over what changes."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from axion.solver.effort import Effort, hanging
from axion.solver.position_phase import AIM, CALM, SLOW
from axion.solver.problem import Contacts, frozen
from step_problems import random_bodies

TIGHT, LOOSE, SETTLED, RESTING = 1e-5, 1e-4, 0.5, 0.1


def reference(bodies, island, jointed):
    n = bodies.dynamic_count
    linear, angular = np.linalg.norm(bodies.velocity[:n].reshape(n, 2, 3), axis=2).T
    fastest = np.zeros(len(jointed))
    np.maximum.at(fastest, island, np.maximum(linear, bodies.gyration() * angular))
    speed = fastest[island]
    tolerance = np.where(speed > SLOW, LOOSE, TIGHT)
    share = np.where(speed > SLOW, AIM, SETTLED)
    return tolerance, np.where((speed <= CALM) & ~jointed[island], RESTING, share) * tolerance, speed > CALM


@pytest.mark.parametrize("fixed", [False, True])
def test_an_island_is_held_to_what_its_fastest_body_needs(fixed):
    effort, seen = Effort((TIGHT, LOOSE), (AIM, SETTLED, RESTING), (SLOW, CALM)), set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        bodies = random_bodies(rng, 30, 2)
        island = np.sort(rng.integers(0, 12, 30))
        jointed = rng.random(12) < 0.5
        if fixed:
            for values in (bodies.mass, bodies.inertia, island, jointed):
                frozen(values)
        for scale in (0.3, 0.02):
            factor = np.append(rng.choice([0.1, 1.0, 3.0], 12)[island], [1.0, 1.0])
            bodies.velocity = scale * factor[:, None] * rng.normal(size=(32, 6))
            for got, want in zip(effort.of(bodies, island, jointed), reference(bodies, island, jointed), strict=True):
                np.testing.assert_array_equal(got, want)
            moving, carried = replace(bodies, velocity=bodies.velocity.copy()), rng.integers(-3, 3, (30, 3))
            moving.velocity[:30, :3] += carried
            bodies.velocity[:30, :3] = moving.velocity[:30, :3] - carried  # what is left of it after rounding
            for got, want in zip(
                effort.of(moving, island, jointed, carried), reference(bodies, island, jointed), strict=True
            ):
                np.testing.assert_array_equal(got, want)
            seen |= set(effort.of(bodies, island, jointed)[1].tolist())
    assert seen == {AIM * LOOSE, SETTLED * TIGHT, RESTING * TIGHT}


def test_what_hangs_is_jointed_and_touches_nothing():
    # Islands: two jointed bodies, two jointed ones of which one touches the ground, one alone.
    contacts = replace(Contacts.empty(), body_a=np.array([5, 4]), body_b=np.array([2, 5]))
    problem = SimpleNamespace(contacts=contacts)
    assembly = SimpleNamespace(
        problem=problem, island=np.array([0, 0, 1, 1, 2]), island_jointed=np.array([True, True, False])
    )
    assert hanging(assembly).tolist() == [True, True, False, False, False]
