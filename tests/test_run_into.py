# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that pushed from afar: which bodies surely meet without them."""

import numpy as np
from axion.solver import Body, Box, Plane, Scene, SolverConfig, ghosts, simulate


def falling_boxes():
    """Boxes, turned by little, that fall on a table and on each other."""
    rng, scene = np.random.default_rng(4), Scene()
    scene.add(Body("Ground", [Plane()], motion="static"))
    scene.add(Body("Table", [Box((1.0, 1.0, 0.2))], motion="static", position=(0, 0, 0.1)))
    for k in range(18):
        turn = np.append(0.05 * rng.normal(size=3), 1.0)
        place = *(0.12 * rng.uniform(-1.0, 1.0, 2)), 0.5 + 0.24 * k
        orientation = tuple(turn / np.linalg.norm(turn))
        scene.add(Body(f"Box {k}", [Box((0.2, 0.15, 0.1))], mass=1.0, position=place, orientation=orientation))
    return scene


def test_what_is_told_to_run_into_another_is_found_to_meet(monkeypatch):
    """No pair is told to meet without a look that a look finds apart."""
    run_into, met, asked, told = ghosts._run_into, ghosts.met, [], []

    def leave_open(*question):
        asked.append(run_into(*question))
        return np.zeros_like(asked[-1])

    def look(*question):
        found = met(*question)
        if asked:
            told.extend(zip(asked.pop(), found, strict=True))
        return found

    monkeypatch.setattr(ghosts, "_run_into", leave_open)
    monkeypatch.setattr(ghosts, "met", look)
    simulate(falling_boxes(), frames=24, config=SolverConfig(device="cpu"))
    assert sum(sure for sure, _ in told) >= 5
    assert all(found for sure, found in told if sure)
