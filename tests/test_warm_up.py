# SPDX-License-Identifier: GPL-3.0-or-later
"""Which kernels are compiled ahead, and when."""

from types import SimpleNamespace

import axion.solver.warm_up as warm_up
import pytest
import warp as wp
from axion.solver.proximal import ProximalSolver
from axion.solver.schur import SchurSolver
from scenes import pile

SHARED = {"axion_contact_f64", "axion_joints_f64", "axion_motion_f64", "axion_assembly_f64"}


@pytest.mark.parametrize(("solver", "own"), [(ProximalSolver, "axion_cg_f64"), (SchurSolver, "axion_schur_f64")])
def test_the_modules_of_a_solver_are_found(solver, own):
    names = {module.name for module in warm_up.kernel_modules(solver("cpu", "float64"))}
    assert SHARED | {own} <= names
    assert not any(name.endswith("f32") for name in names), names


def test_with_all_kernels_in_the_cache_nothing_is_said_and_nothing_detected(monkeypatch):
    monkeypatch.setattr(warm_up, "is_compiled", lambda module, device: True)
    monkeypatch.setattr(warm_up, "_detect", pytest.fail)
    said = []
    warm_up.warm_up(pile(1), ProximalSolver("cpu", "float64"), said.append)
    assert said == []


def test_each_module_that_is_missing_is_loaded_once_and_told(monkeypatch):
    loaded, said = [], []
    monkeypatch.setattr(warm_up, "is_compiled", lambda module, device: False)
    monkeypatch.setattr(warm_up, "_detect", lambda scene, device: None)
    monkeypatch.setattr(wp, "force_load", lambda device, modules: loaded.extend(modules))
    solver = ProximalSolver("cpu", "float64")
    warm_up.warm_up(pile(1), solver, said.append)
    wanted = {module.name for module in warm_up.kernel_modules(solver)}
    assert {module.name for module in loaded} == wanted and len(loaded) == len(wanted)
    assert len(said) == len(wanted) + 1 and f"{len(wanted)} of {len(wanted)}" in said[-1]


def test_a_compiler_that_fails_ends_the_bake_with_its_words(monkeypatch):
    def fail(device, modules):
        raise Exception("no clang here")

    monkeypatch.setattr(warm_up, "is_compiled", lambda module, device: False)
    monkeypatch.setattr(warm_up, "_detect", lambda scene, device: None)
    monkeypatch.setattr(wp, "force_load", fail)
    with pytest.raises(RuntimeError, match="no clang here"):
        warm_up.warm_up(pile(1), SimpleNamespace(**vars(ProximalSolver("cpu", "float64"))))
