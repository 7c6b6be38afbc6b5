# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs every kernel's threads from the last to the first, and compares with the usual order: finds races without a GPU.

    python tools/reverse_threads.py

On the CPU Warp goes through the threads of a launch one after the other, so a kernel that relies on their order works
there, and breaks on CUDA.  Here two processes simulate the same scenes on the road of a CUDA device
(tests/far_device.py), one of them with the loop over threads turned round: what differs by more than rounding is a
race.
All kernels are compiled anew for it, newton's too: two minutes.  Exit status 1 where there is one.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import warp as wp

ROOT = Path(__file__).resolve().parent.parent
FRAMES = 10
LARGEST = 1e-9  # [m] what sums in another order make after some steps
FORWARD = "for (size_t task_index = 0; task_index < dim->size; ++task_index)"
REVERSED = "for (size_t task_index = dim->size; task_index-- > 0;)"


def simulate_all(file):
    """Positions of all scenes into a file of NumPy's."""
    sys.path.insert(0, str(ROOT / "tests"))
    import conftest  # noqa: F401
    import pytest
    from axion.solver import SolverConfig, simulate
    from far_device import far_device
    from scenes import chain, pile
    from test_far_device import SCENES

    scenes = SCENES | {"chain": chain(10, 50.0), "pile": pile(8)}
    config = SolverConfig(device="cuda:0", precision="float64")
    with pytest.MonkeyPatch.context() as patch, far_device(patch):
        found = {name: simulate(scene, FRAMES, config=config).position for name, scene in scenes.items()}
    np.savez(file, **found)


def turn_round(cache):
    """Let kernels be compiled with the loop over threads turned round, into a cache of their own."""
    from warp._src import codegen

    if FORWARD not in codegen.cpu_module_template_forward:
        raise SystemExit("this Warp goes through the threads of the CPU in another way: see FORWARD")
    codegen.cpu_module_template_forward = codegen.cpu_module_template_forward.replace(FORWARD, REVERSED)
    wp.config.kernel_cache_dir = str(cache)


def main():
    """Compare; returns the exit status."""
    wp.config.quiet = True
    if sys.argv[1:]:
        file, cache = sys.argv[1:]
        if cache:
            turn_round(cache)
        simulate_all(file)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / "usual.npz", Path(folder) / "reversed.npz"]
        for file, cache in zip(files, ("", Path(folder) / "kernels"), strict=True):
            subprocess.run([sys.executable, str(Path(__file__)), str(file), str(cache)], check=True)
        usual, turned = (dict(np.load(file)) for file in files)
    apart = {name: np.abs(usual[name] - turned[name]).max() for name in usual}
    for name, most in apart.items():
        print(f"{name:<10} {most:.2g} m apart")
    return int(not all(most <= LARGEST for most in apart.values()))


if __name__ == "__main__":
    sys.exit(main())
