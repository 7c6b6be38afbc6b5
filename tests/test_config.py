# SPDX-License-Identifier: GPL-3.0-or-later
"""SolverConfig: its defaults are the contract, and bad values are named."""

import dataclasses

import pytest
from axion.solver import SolverConfig


def test_defaults():
    assert dataclasses.asdict(SolverConfig()) == {
        "device": "auto",
        "quality": "normal",
        "tolerance": None,
        "substeps": "auto",
        "method": "proximal",
        "precision": "auto",
        "joint_damping": 0.0,
        "deterministic": True,
        "record_forces": False,
        "states_per_frame": 1,
    }


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, (1e-5, 1e-4)),
        ({"quality": "preview"}, (5e-4, 5e-4)),
        ({"quality": "final"}, (1e-6, 1e-6)),
        ({"quality": "final", "tolerance": 2e-3}, (2e-3, 2e-3)),
    ],
)
def test_tolerances_slow_and_fast(settings, expected):
    assert SolverConfig(**settings).tolerances() == expected


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("device", "gpu"),
        ("device", None),
        ("quality", "best"),
        ("quality", ["normal"]),
        ("tolerance", 0.0),
        ("tolerance", -1e-5),
        ("tolerance", float("nan")),
        ("tolerance", float("inf")),
        ("tolerance", "1e-5"),
        ("substeps", 0),
        ("substeps", 2.5),
        ("substeps", "many"),
        ("substeps", True),
        ("states_per_frame", 0),
        ("states_per_frame", 65),
        ("states_per_frame", 2.0),
        ("method", "pgs"),
        ("precision", "float16"),
        ("joint_damping", -0.1),
        ("joint_damping", float("nan")),
        ("deterministic", "yes"),
    ],
)
def test_bad_values_are_named(setting, value):
    with pytest.raises(ValueError, match=setting) as caught:
        SolverConfig(**{setting: value})
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("device", ["auto", "cpu", "cuda", "cuda:0", "cuda:12"])
def test_devices_that_can_be_named(device):
    assert SolverConfig(device=device).device == device


def test_a_config_cannot_change_under_a_running_simulation():
    with pytest.raises(dataclasses.FrozenInstanceError):
        SolverConfig().quality = "final"
