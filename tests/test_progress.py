# SPDX-License-Identifier: GPL-3.0-or-later
"""What a running job says of itself."""

from types import SimpleNamespace

import pytest
from axion.axion_blender import progress
from axion.axion_blender.job import Job, Phase
from axion.solver import StepReport


def job(phase=Phase.GATHERED, solved=0, residual=0.0, converged=True):
    made = Job(None, None, None, 10, 24.0, None, first_frame=100, phase=phase)
    for frame in range(1, solved + 1):
        report = StepReport(frame, residual=residual, wall_time=2.0, converged=converged)
        made._one_frame(SimpleNamespace(frame=frame, report=report))
    return made


@pytest.mark.parametrize("seconds, text", ((0.2, "1 s"), (59.5, "1 min 0 s"), (125, "2 min 5 s"), (3780, "1 h 3 min")))
def test_duration(seconds, text):
    assert progress.duration(seconds) == text


def test_status_of_each_phase():
    assert progress.status(job(Phase.READY)) == "Reading the scene"
    assert progress.status(job(solved=3)) == "Frame 103 of 110"
    assert progress.status(job(Phase.SOLVED)) == "Writing keyframes"
    assert progress.status(job(Phase.SOLVED), "Go to Object Mode") == "Go to Object Mode"
    assert progress.status(job(solved=3), "Go to Object Mode") == "Frame 103 of 110"
    compiling, stopping = job(), job()
    compiling.said = "Compiling kernels"
    assert progress.status(compiling) == "Compiling kernels"
    stopping.cancel()
    assert progress.status(stopping) == "Stopping once the solver has started"
    stopping = job(solved=1)
    stopping.cancel()
    assert progress.status(stopping) == "Stopping after this frame"


def test_details():
    assert progress.details(job()) == []
    assert progress.details(job(solved=4, residual=2e-6)) == ["12 s left", "Worst residual 0.0020 mm"]
    assert progress.details(job(solved=9, residual=float("nan"), converged=False)) == [
        "2 s left",
        "Worst residual unknown",
        "9 frames missed the tolerance",
    ]
