# SPDX-License-Identifier: GPL-3.0-or-later
"""The same scene on the same device gives the same bits, in another process too, where nothing is warm or in order."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Joint, SolverConfig, Sphere, device_problem, rotations, simulate
from scenes import pile, stack

FRAMES = {"proximal": 14, "schur": 6}  # the latter takes ten times as long for a heap


def crowd():
    """A pile that falls on the ground, a heavy ball on links that swings into it, a door whose joint breaks."""
    scene, upper = pile(8), None
    for i in range(5):
        name, shape = (f"Link {i + 1}", Capsule(0.02, 0.06)) if i < 4 else ("Ball", Sphere(0.08))
        place, lying = (-0.5 - 0.16 * (i + 0.5), 0.02, 0.75), rotations.exponential(np.array([0.0, 0.5 * np.pi, 0.0]))
        scene.add(Body(name, [shape], position=place, orientation=lying, mass=0.1 if i < 4 else 5.0))
        scene.add(Joint(f"Joint {i + 1}", "ball", upper, name, (-0.5 - 0.16 * i, 0.02, 0.75)))
        upper = name
    scene.add(Body("Door", [Box((0.2, 0.02, 0.2))], position=(1.2, 0, 0.4), mass=3.0))
    scene.add(Joint("Hinge", "hinge", None, "Door", (1.0, 0, 0.4), break_force=20.0))  # its weight is 29 N
    return scene


def fingerprint(precision, method="proximal"):
    """SHA-256 of every number of the motion and of the report but the time it took.

    What is factored is float64 in any precision, so the heap takes conjugate gradients in float32, as on CUDA.
    """
    config = SolverConfig(device="cpu", precision=precision, method=method, deterministic=True)
    with patch.object(device_problem, "columns_alone", lambda device: precision == "float32"):
        trajectory = simulate(crowd(), FRAMES[method], config=config)
    assert max(report.contacts for report in trajectory.reports) > 20 and trajectory.broken_joints
    sums = hashlib.sha256()
    for name in ("position", "orientation", "linear_velocity", "angular_velocity"):
        sums.update(np.ascontiguousarray(getattr(trajectory, name)).tobytes())
    for report in trajectory.reports:
        report.wall_time = 0.0
        sums.update(repr(report).encode())
    sums.update(repr(trajectory.broken_joints).encode())
    return sums.hexdigest()


@pytest.mark.slow
def test_two_processes_give_the_same_bits():
    # hash seeds differ between the processes: no order may come from a set or dict of names
    here = Path(__file__).resolve().parent
    kinds = [(precision, method) for precision in ("float64", "float32") for method in FRAMES]
    code = f"import conftest, test_determinism as t; print(*(t.fingerprint(*kind) for kind in {kinds!r}))"
    found = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONPATH": str(here), "PYTHONHASHSEED": seed}
        run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        found.append(run.stdout.splitlines()[-1].split())
    assert len(set(found[0])) == len(kinds) and all(len(bits) == 64 for bits in found[0])
    assert dict(zip(kinds, found[0], strict=True)) == dict(zip(kinds, found[1], strict=True))


def test_a_second_run_of_a_process_gives_the_same_bits():
    # Its kernels are loaded and its graphs recorded by then.  Other bits must give another fingerprint.
    first = fingerprint("float64")
    simulate(stack(3), 2, config=SolverConfig(device="cpu"))
    assert first == fingerprint("float64") and first != fingerprint("float32")
