# SPDX-License-Identifier: GPL-3.0-or-later
"""The proximal strength eps of a body that no constraint holds."""

from axion.solver import SolverConfig, simulate
from axion.solver.step import Stepper
from axion.solver.step_end import FIRST_EPS
from scenes import falling, ground


def test_eps_stays_fresh_in_free_flight_and_adapts_after_the_first_contact(monkeypatch):
    # eps learns from how hard constraints are to solve.  Free flight has none, so it must teach nothing: the first
    # impact begins with the first eps, however long the fall was.
    accept, seen = Stepper._accept, []

    def watched(stepper, *args):
        accept(stepper, *args)
        seen.append((len(stepper.state.contacts), stepper.state.eps[0]))

    monkeypatch.setattr(Stepper, "_accept", watched)
    scene = falling(height=0.6)
    ground(scene)
    simulate(scene, 10, 24.0, SolverConfig(device="cpu", substeps=1))
    contacts = [count for count, _ in seen]
    first = next(i for i, count in enumerate(contacts) if count)
    assert first >= 5  # sqrt(2 * 0.5 / g) = 0.319 s of flight is over seven frames
    assert all(eps == FIRST_EPS for _, eps in seen[:first])
    assert seen[-1][1] < FIRST_EPS
