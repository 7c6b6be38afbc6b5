# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets the CPU solve as CUDA does where contacts alone hold: by conjugate gradients, whatever the factor costs."""

import numpy as np
from axion.solver.linear.elimination import Eliminator


def iterate_without_joints(monkeypatch):
    """Factor islands with joints alone."""
    analyse = Eliminator.analyse

    def of_joints(self, topology, most):
        return analyse(self, topology, np.where(topology.jointed, most, 0.0))

    monkeypatch.setattr(Eliminator, "analyse", of_joints)
