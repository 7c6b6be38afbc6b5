# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts in single precision: scenes of other files that failed there alone, at their bounds.

What is factored is float64 in any precision, so these iterate.
"""

import pytest
import test_crests
import test_handed_on
import test_rough_ground
from as_on_cuda import iterating  # noqa: F401  a fixture
from in_single import SINGLE, tell_single

pytestmark = pytest.mark.usefixtures("iterating")


def in_single(monkeypatch, module):
    """Let the simulations of a test module, each of which names its config, run in float32."""
    simulate = module.simulate
    monkeypatch.setattr(module, "simulate", lambda *given, config, **rest: simulate(*given, config=SINGLE, **rest))
    tell_single(monkeypatch, module)


@pytest.mark.parametrize("friction", [0.0, 1.0])
def test_a_ball_goes_over_a_hill_without_loss(monkeypatch, friction):
    """Contacts that only showed at the end of a step were let as deep as their places are where it began, a millimetre
    and more: frames took 50 solves and lost up to 1 % of the energy.
    """
    in_single(monkeypatch, test_crests)
    test_crests.test_a_ball_goes_over_a_hill_without_loss("cylinder", 2.0, 0.1, 2.4, friction)


def test_open_sheets_come_to_lie_on_open_ground(monkeypatch):
    in_single(monkeypatch, test_rough_ground)
    test_rough_ground.test_open_sheets_come_to_lie_on_open_ground([3])


def test_marbles_in_a_pit_come_to_rest(monkeypatch):
    in_single(monkeypatch, test_handed_on)
    test_handed_on.test_marbles_in_a_pit_come_to_rest(0.0)
