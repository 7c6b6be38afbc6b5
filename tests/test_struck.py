# SPDX-License-Identifier: GPL-3.0-or-later
"""Blows that are over within a step: which are asked about, and what those they strike take up."""

from types import SimpleNamespace

import numpy as np
from axion.solver.problem import Contacts
from axion.solver.reference.rows import parting_speeds
from axion.solver.struck import _fastest, _pushed, _taken_up


def test_bodies_part_no_faster_than_is_told_without_a_look_at_how_they_turn():
    draw, bodies, count = np.random.default_rng(7), 9, 400
    turn = draw.normal(size=(bodies, 4))
    turn /= np.linalg.norm(turn, axis=1)[:, None]
    contacts = Contacts.empty()
    contacts.body_a, contacts.body_b = draw.integers(0, bodies, (2, count))
    contacts.point_a, contacts.point_b = draw.normal(size=(2, count, 3))
    contacts.margin_a, contacts.margin_b = draw.uniform(0.0, 0.5, (2, count))
    normal = draw.normal(size=(count, 3))
    contacts.normal = normal / np.linalg.norm(normal, axis=1)[:, None]
    velocity = draw.normal(size=(bodies, 6)) * draw.uniform(0.0, 3.0, (bodies, 1))
    speed = np.abs(parting_speeds(contacts, velocity, np.zeros((bodies, 3)), turn))
    most = _fastest(contacts, SimpleNamespace(velocity=velocity), np.arange(count))
    assert (speed <= most).all() and (most < 3.0 * speed).any()


def test_what_goes_by_mid_step_takes_up_twice_what_its_mean_velocity_changes_by():
    bodies = SimpleNamespace(
        dynamic_count=2, mass=np.array([2.0, 1.0, np.inf]), midpoint=np.array([0.0, 1.0, 0.0]),
        free_velocity=np.zeros((3, 6)),
    )  # fmt: skip
    velocity = np.zeros((3, 6))
    velocity[:2, 2] = -0.25, 1.5
    pushed = _pushed(bodies, SimpleNamespace(velocity=velocity))
    np.testing.assert_allclose(pushed[:, 2], [-0.5, 3.0])
    # A sixth goes the other way; of half of the second's it would have been a third, as where a blow is passed on.
    assert _taken_up(np.zeros(2, int), pushed, np.array([0]), np.array([[0.0, 0.0, 1.0]])).all()
