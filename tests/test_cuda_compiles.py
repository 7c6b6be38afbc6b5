# SPDX-License-Identifier: GPL-3.0-or-later
"""Every kernel compiles for CUDA, which needs no GPU: Warp brings NVRTC."""

import ast
import sys
from pathlib import Path

import pytest
import warp as wp
from axion.solver.warm_up import ON_HOST

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import compile_cuda  # noqa: E402

pytestmark = pytest.mark.skipif(not wp.get_cuda_supported_archs(), reason="this build of Warp has no NVRTC")
WITHOUT, REPEATED = compile_cuda.MODES


@pytest.fixture(scope="module")
def modules():
    return compile_cuda.solver_modules()


def test_no_kernel_of_the_solver_is_left_out(modules):
    """What a decorator named kernel marks in a source file is in one of the modules, or in one for each real type."""
    marked = set()
    for path in (ROOT / "solver").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and any("kernel" in ast.dump(d) for d in node.decorator_list):
                marked.add(node.name)
    known = {kernel.adj.fun_name for module in modules.values() for kernel in module.kernels.values()}
    assert len(marked) > 80 and marked - {"kernel"} <= known, marked - known
    doubles = {name.removesuffix("f64") for name in modules if name.endswith("f64")}
    assert len(doubles) > 4 and doubles == {name.removesuffix("f32") for name in modules if name.endswith("f32")}


@pytest.mark.slow
def test_every_kernel_compiles_for_the_oldest_devices(modules):
    """As they are launched unless the user asks for less: the judge's with sums that repeat."""
    assert modules.keys() > set(ON_HOST)
    launched = {name: module for name, module in modules.items() if name not in ON_HOST}
    ordered = compile_cuda.ordered(launched)
    assert {"axion_residuals", "axion_residuals_joints"} <= set(ordered) < set(launched)
    others = {name: module for name, module in launched.items() if name not in ordered}
    assert compile_cuda.compile_all(ordered, [75], [REPEATED], ptx=True) == {}
    assert compile_cuda.compile_all(others, [75], [WITHOUT], ptx=True) == {}


def test_the_direct_solver_needs_little_stack_and_its_arguments_are_small(modules):
    """As machine code, to see what a thread takes: 6x6 blocks in float64 must stay in registers, 255 of them at most.

    More than 4096 bytes of arguments need a driver of CUDA 12.1.
    """
    found = {}
    name = "axion.solver.linear.ldlt_levels"
    failed = compile_cuda.compile_all({name: modules[name]}, [90], [WITHOUT], tell=lambda _, taken: found.update(taken))
    assert failed == {} and len(found) == 2, found
    for kernel, taken in found.items():
        assert 0 < taken["registers"] <= 255 and taken["stack"] == 0 and 100 < taken["arguments"] < 4096, (
            kernel,
            taken,
        )


def test_what_cuda_cannot_compile_is_told(tmp_path):
    module = wp.get_module("axion_test_not_for_cuda")

    @wp.func_native("no_such_function();")
    def only_here(): ...

    @wp.kernel(module=module)
    def broken():
        only_here()

    failed = compile_cuda.compile_all({"broken": module}, [90], [WITHOUT], ptx=True)
    assert list(failed) == ["broken sm_90"]
