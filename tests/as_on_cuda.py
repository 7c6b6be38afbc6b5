# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets the CPU solve as CUDA does where contacts alone hold: what is no column takes conjugate gradients."""

import pytest
from axion.solver import device_problem


def iterate_without_joints(monkeypatch):
    """Factor islands with joints and columns alone."""
    monkeypatch.setattr(device_problem, "columns_alone", lambda device: True)


@pytest.fixture
def as_on_cuda(monkeypatch):
    """For a file whose simulations all run so."""
    iterate_without_joints(monkeypatch)
