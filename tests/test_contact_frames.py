# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts from the scene's frames into the solver's: against frames.py in NumPy."""

import numpy as np
import pytest
from axion.solver import rotations
from axion.solver.contact_frames import ContactFrames
from axion.solver.frames import BodyFrames
from step_problems import unit


@pytest.mark.parametrize("count", [0, 1, 40, 200])
def test_points_and_normals_are_those_of_the_frames(count):
    rng = np.random.default_rng(count)
    bodies = 7
    frames = BodyFrames(
        np.ones(bodies), np.ones((bodies, 3)), rng.normal(size=(bodies, 3)), unit(rng, bodies, 4)
    )  # fmt: skip
    table = ContactFrames(frames)
    for _ in range(2):  # numbers may change from step to step
        number = np.append(rng.permutation(bodies), bodies)
        a, b = rng.integers(0, bodies, (2, count))
        face = np.where(rng.random(count) < 0.3, -1, np.where(rng.random(count) < 0.5, a, b))
        point_a, point_b, normal = rng.normal(size=(3, count, 3))
        got = table.turned((a, b), (point_a, point_b), face, normal, number)
        assert [values.dtype for values in got[:3]] == [np.int32] * 3
        assert got[0].tolist() == number[a].tolist() and got[1].tolist() == number[b].tolist()
        assert got[2].tolist() == np.where(face >= 0, number[face], -1).tolist()
        assert got[3] == pytest.approx(frames.local(a, point_a), abs=1e-14)
        assert got[4] == pytest.approx(frames.local(b, point_b), abs=1e-14)
        flat = face >= 0
        turned = rotations.rotate(rotations.conjugate(frames.principal[face]), normal)
        assert got[5][flat] == pytest.approx(turned[flat], abs=1e-14)
