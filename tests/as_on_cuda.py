# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets the CPU choose what it factors where contacts alone hold as CUDA does, or iterate whatever that costs."""

import numpy as np
import pytest
from axion.solver import device_problem
from axion.solver.linear.elimination import Eliminator


@pytest.fixture
def as_on_cuda(monkeypatch):
    """For a file whose simulations all run so: columns are factored, other islands without joints iterate."""
    monkeypatch.setattr(device_problem, "columns_alone", lambda device: True)


def iterate_without_joints(monkeypatch):
    """Factor islands with joints alone."""
    analyse = Eliminator.analyse

    def of_joints(self, topology, most):
        return analyse(self, topology, np.where(topology.jointed, most, 0.0))

    monkeypatch.setattr(Eliminator, "analyse", of_joints)


@pytest.fixture
def iterating(monkeypatch):
    """For a file whose simulations all iterate where they may."""
    iterate_without_joints(monkeypatch)
