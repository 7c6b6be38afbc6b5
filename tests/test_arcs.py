# SPDX-License-Identifier: GPL-3.0-or-later
"""What joints bend ways aside by (arcs.py): the kernels against NumPy, and momentum with it."""

from dataclasses import replace

import numpy as np
import pytest
from axion.solver import Body, Box, Joint, Scene, SolverConfig, metrics, simulate
from axion.solver.position_phase import PositionPhase
from axion.solver.problem import Coordinate
from axion.solver.reference.arcs import arcs
from axion.solver.topology import build_topology

KINDS = ["fixed", "ball", "hinge", "slider", "piston", "distance", "generic"]


def jointed(kind, rng):
    """A body in the world on a hinge, one on it by a joint of this kind, and both turning."""
    scene = Scene()
    for name, at in (("A", (0.3, 0.0, 0.1)), ("B", (0.7, 0.2, 0.0))):
        scene.add(Body(name, [Box((0.1, 0.15, 0.2))], position=at, mass=rng.uniform(0.5, 2.0), collision_mask=0,
                       linear_velocity=rng.normal(size=3), angular_velocity=3.0 * rng.normal(size=3)))  # fmt: skip
    scene.add(Joint("World", "ball", None, "A", (0.0, 0.0, 0.0)))
    axes = {"anchors": ((0.4, 0.1, 0.0), (0.65, 0.2, 0.1))} if kind == "distance" else {}
    scene.add(Joint("Between", kind, "A", "B", (0.5, 0.1, 0.0), **axes))
    return scene


@pytest.mark.parametrize("method", ["proximal", "schur"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_ways_are_bent_by_is_that_of_numpy(kind, method, monkeypatch):
    seen, solve = [], PositionPhase.solve

    def watch(self, *arguments):
        solved = solve(self, *arguments)
        seen.append((solved.assembly.problem, solved.solution))
        return solved

    monkeypatch.setattr(PositionPhase, "solve", watch)
    config = SolverConfig(device="cpu", method=method, substeps=1, tolerance=1e-7)
    simulate(jointed(kind, np.random.default_rng(3)), 4, config=config)
    for problem, solution in seen:
        pose = solution.position, solution.orientation
        want, pulled, drawn = arcs(problem, *pose, solution.joint_impulse, build_topology(problem))
        assert np.abs(want).max() > 1e-3 and np.abs(pulled).max() > 1e-3
        assert np.array_equal(drawn != 0.0, problem.joints.coordinate == Coordinate.DISTANCE)
        np.testing.assert_allclose(solution.arc, want, atol=1e-9)
        np.testing.assert_allclose(solution.pulled, pulled, atol=1e-9)
        np.testing.assert_allclose(solution.drawn, drawn, atol=1e-9)
        judged = metrics.step_residuals(problem, solution).momentum_residual
        assert judged < 1e-4
        # The judge finds them itself, whatever a solver says that it took.
        assert (
            metrics.step_residuals(problem, replace(solution, arc=None, pulled=None, drawn=None)).momentum_residual
            == judged
        )
        straight = replace(solution, velocity=solution.velocity - solution.arc)
        assert metrics.step_residuals(problem, straight).momentum_residual > 1e-3
