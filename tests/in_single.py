# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets tests of other files run in float32 on the CPU, and their figures say so."""

from axion.solver import SolverConfig

SINGLE = SolverConfig(device="cpu", precision="float32")


def tell_single(monkeypatch, module):
    """The figures of a test module are those of float32."""
    told = module.figure
    monkeypatch.setattr(module, "figure", lambda name, *rest: told(f"{name}, in float32", *rest))


def solve_in_single(monkeypatch, module):
    """So are its simulations, which take ``CPU`` of the module."""
    monkeypatch.setattr(module, "CPU", SINGLE)
    tell_single(monkeypatch, module)
