# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles of limits: a ray through a handle means the value it stands for."""

import numpy as np
import pytest
from axion.axion_blender import limit_handles

TILTED = np.array([0.2, -0.4, 0.1, 0.9]) / np.linalg.norm([0.2, -0.4, 0.1, 0.9])
POSE = np.array([1.0, -2.0, 0.5]), TILTED
EYE = np.array([3.0, -8.0, 4.0])


@pytest.mark.parametrize("value", [-4.0, -1.2, 0.0, 0.7, 3.5, 6.0])
@pytest.mark.parametrize("limit", [f"limit_{k}_{a}_{e}" for k in ("lin", "ang") for a in "xyz" for e in ("lower",)])
def test_a_ray_through_the_handle_gives_its_value_back(limit, value):
    point, way = limit_handles.place(limit, value, *POSE, 0.3)
    assert limit_handles.value_at(limit, (EYE, point - EYE), *POSE, value + 0.4) == pytest.approx(value)
    ahead, _ = limit_handles.place(limit, value + 1e-6, *POSE, 0.3)
    moved = (ahead - point) / np.linalg.norm(ahead - point)
    assert moved @ way == pytest.approx(1.0) and np.linalg.norm(way) == pytest.approx(1.0)


def test_a_ray_along_the_axis_or_in_the_plane_tells_nothing():
    level = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
    assert limit_handles.value_at("limit_lin_x_upper", ((-5, 0, 0), (1, 0, 0)), *level, 0.0) is None
    assert limit_handles.value_at("limit_ang_z_upper", ((-5, 0, 0), (1, 0, 0)), *level, 0.0) is None


def test_ends_stay_on_their_side():
    assert limit_handles.allowed("limit_ang_z_upper", -0.5, 0.2) == 0.2
    assert limit_handles.allowed("limit_ang_z_lower", -0.5, 0.2) == -0.5
    assert limit_handles.allowed("limit_ang_z_upper", 9.0, 0.0) == pytest.approx(2 * np.pi)
    assert limit_handles.allowed("limit_lin_z_upper", 9.0, 0.0) == 9.0
    assert limit_handles.other_end("limit_ang_x_upper") == "limit_ang_x_lower"
    assert limit_handles.other_end("limit_ang_x_lower") == "limit_ang_x_upper"


def test_snapping():
    assert limit_handles.snapped("limit_ang_x_upper", np.radians(42.6)) == pytest.approx(np.radians(45.0))
    assert limit_handles.snapped("limit_lin_x_upper", 0.34) == pytest.approx(0.3)
