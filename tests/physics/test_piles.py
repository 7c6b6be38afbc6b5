# SPDX-License-Identifier: GPL-3.0-or-later
"""Tumbling boxes: overlap told again from the corners at the keyframes, energy that only falls, rest at the end."""

import numpy as np
import pytest
from axion.solver import Body, Box, Scene, SolverConfig, contact_stage, position_phase, rotations, simulate
from axion.solver.collision import Collider
from axion.solver.step import Stepper
from scenes import ground, pile

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])


def lowest(trajectory, body, half):
    """Height of the lowest corner of a box in each frame (F + 1,)."""
    position, orientation = trajectory.position[:, body], trajectory.orientation[:, body]
    corners = position[:, None] + rotations.rotate(orientation[:, None], CORNERS * half)
    return corners[..., 2].min(axis=1)


@pytest.fixture(scope="module")
def heap():
    return simulate(pile(12), 48, config=CPU)


def test_no_corner_is_deeper_than_the_report_says(heap):
    # Told from the corners alone; collision detection itself is single precision, about 1e-7 m here.
    depth = -np.min([lowest(heap, body, 0.1) for body in range(1, 13)], axis=0)
    told = np.array([report.penetration for report in heap.reports])
    assert np.all(depth[1:] < told + 1e-6)
    assert depth.max() < 2.0 * FAST


def test_heap_loses_energy_and_comes_to_rest(heap):
    energy = np.array([report.kinetic_energy + report.potential_energy for report in heap.reports])
    mass = 1000.0 * 0.2**3
    # a residual of the fast tolerance is a velocity tolerance / h: that much energy may come back per box and step
    assert np.diff(energy).max() < 12 * mass * 9.81 * FAST + 12 * 0.5 * mass * (FAST * 24) ** 2
    assert heap.reports[-1].kinetic_energy < 1e-3 * (energy[0] - energy[-1])
    assert all(report.converged for report in heap.reports)


@pytest.mark.parametrize("spin", [(5.0, 3.0, 0.0), (25.0, 0.0, 10.0)])
def test_spinning_box_strikes_with_whichever_corner_comes_first(spin):
    # Up to a radian a step: corners the first detection did not see come in during the step.
    half = np.array([0.2, 0.1, 0.05])
    scene = Scene()
    ground(scene)
    scene.add(Body("Box", [Box(half)], position=(0, 0, 0.6), angular_velocity=spin, linear_velocity=(1, 0, -3)))
    trajectory = simulate(scene, 24, config=CPU)
    assert lowest(trajectory, 1, half).min() > -2.0 * FAST


def room(stepper):
    """Sizes of the arrays that solve, judge and detect."""
    stage, phase = stepper.collider._stage, stepper.position_phase
    sizes = dict(stepper.solver.problem.capacity), dict(phase.judge._capacity)
    return (*sizes, len(stage.points.pair), len(stage.found.pair), len(stage.wanted))


@pytest.mark.parametrize("ample", [True, False])
def test_falling_heap_finds_room_and_would_do_with_less_at_first(heap, monkeypatch, ample):
    # What grows is recorded anew, which takes longer than many steps do.
    rooms, advance = [], Stepper.advance

    def watched(stepper, step):
        outcomes = advance(stepper, step)
        rooms.append(room(stepper))
        return outcomes

    monkeypatch.setattr(Stepper, "advance", watched)
    if not ample:
        for module in (position_phase, contact_stage):
            monkeypatch.setattr(module, "usual_room", lambda bodies: {"contacts": 0})
        monkeypatch.setattr(contact_stage, "FEWEST", 16)
    again = simulate(pile(12), 24, config=CPU)
    assert all(each == rooms[0] for each in rooms) == ample
    assert np.array_equal(again.position, heap.position[:25])
    assert np.array_equal(again.linear_velocity, heap.linear_velocity[:25])


def test_contacts_do_not_depend_on_the_first_capacity(heap, monkeypatch):
    # Buffers that are too small at first grow and detection is repeated: the same bits as with ample ones.
    grown = []

    class Small(Collider):
        def __init__(self, model):
            super().__init__(model)
            self._contact_capacity = 8

        def _grow(self, count):
            grown.append(super()._grow(count))
            return grown[-1]

    monkeypatch.setattr("axion.solver.stepped_scene.Collider", Small)
    again = simulate(pile(12), 24, config=CPU)
    assert any(grown)
    for name in ("position", "orientation", "linear_velocity", "angular_velocity"):
        assert np.array_equal(getattr(again, name), getattr(heap, name)[:25])
    assert [report.contacts for report in again.reports] == [report.contacts for report in heap.reports[:24]]
