# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles every kernel of the solver for CUDA on a machine without a GPU: Warp brings NVRTC.

    python tools/compile_cuda.py [--arch 75 90] [--ptx] [--newton] [--only PART ...] [--resources]

Kernels with a real type are compiled for float64 and float32; the judge's modules, whose sums ``deterministic`` lets
Warp order, as they are with that and without.  ``--newton`` adds the kernels with which newton
detects contacts among all shapes.  ``--resources`` prints what each kernel takes: registers of a thread, bytes of its
stack (what does not fit into registers) and of its arguments.  Exit status 1 where something does not compile.
"""

import argparse
import importlib
import inspect
import itertools
import pkgutil
import struct
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import warp as wp

ROOT = Path(__file__).resolve().parent.parent
ARCHITECTURES = (75, 90)  # the oldest that Warp's NVRTC compiles for, and that of an H200
THREADS = 2
MODES = wp.DeterministicMode.NOT_GUARANTEED, wp.DeterministicMode.RUN_TO_RUN


def _package():
    """The solver, importable from a checkout whatever its folder is called."""
    if "axion" not in sys.modules:
        sys.path.insert(0, str(ROOT / "tests"))
        importlib.import_module("conftest")
    return importlib.import_module("axion.solver")


def solver_modules():
    """{name: Warp module} of all kernels in solver/: every factory of kernels is called for every real type."""
    package = _package()
    from axion.solver.mathx.real import real_types

    reals = [real_types(scalar) for scalar in (wp.float64, wp.float32)]
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        python = importlib.import_module(found.name)
        for factory in list(vars(python).values()):
            if hasattr(factory, "cache_info") and factory.__module__ == found.name:
                _make(factory, reals)
    known = {name: module for name, module in _modules().items() if module.kernels}
    return {name: module for name, module in known.items() if name.startswith("axion") and "_test_" not in name}


def ordered(modules):
    """Those of {name: Warp module} whose sums ``warm_up.order_sums`` lets Warp order."""
    _package()
    from axion.solver.residual_kernels import residual_kernels
    from axion.solver.warm_up import kernel_modules

    names = {module.name for module in kernel_modules(residual_kernels())}
    return {name: module for name, module in modules.items() if name in names}


def _make(factory, reals):
    """Call a cached function of a real type, with ropes and without, or of nothing; leave others alone."""
    names = tuple(inspect.signature(factory.__wrapped__).parameters)
    choices = {"real": reals, "ropes": (False, True)}
    if all(name in choices for name in names):
        for arguments in itertools.product(*(choices[name] for name in names)):
            factory(*arguments)


def _modules():
    from warp._src.context import user_modules

    return dict(user_modules)


def newton_modules():
    """{name: Warp module} of newton's kernels that a detection among all shapes launches on the CPU."""
    _package()
    from axion.solver import Body, Box, Capsule, Cone, ConvexHull, Cylinder, Plane, Scene, Sphere, TriangleMesh, warm_up

    corners = np.vstack([np.zeros(3), np.eye(3)])
    triangles = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    shapes = Box((0.5, 0.5, 0.5)), Sphere(0.5), Capsule(0.2, 0.3), Cylinder(0.3, 0.3), Cone(0.3, 0.3)
    scene = Scene(bodies=[Body("Floor", [Plane()], motion="static")])
    for k, shape in enumerate([*shapes, ConvexHull(corners), TriangleMesh(corners, triangles)]):
        scene.add(Body(f"Body {k}", [shape], position=(3.0 * k, 0.0, 1.0)))
    collider = warm_up._sample(scene, wp.get_device("cpu"))
    collider.prepare()
    warm_up._detect(collider)
    loaded = {name: module for name, module in _modules().items() if module.execs}
    return {name: module for name, module in loaded.items() if not name.startswith("axion")}


def compile_all(modules, architectures=ARCHITECTURES, modes=MODES, ptx=False, tell=None):
    """Compile modules for each architecture, in each DeterministicMode.

    ptx: stop at PTX, before the machine code; tell: called with one sentence on each that is compiled, and with what
    its kernels take (see ``resources``).  Returns {"module sm_90": error} of those that do not compile.
    """
    failed = {}
    for mode in modes:
        before = {name: module.options["deterministic"] for name, module in modules.items()}
        try:
            _set_mode(modules, dict.fromkeys(modules, mode))
            with ThreadPoolExecutor(THREADS) as team:
                jobs = [(name, architecture) for architecture in architectures for name in modules]
                made = team.map(lambda job: _compile(modules[job[0]], job[1], ptx), jobs)
                for (name, architecture), (error, seconds, taken) in zip(jobs, made, strict=True):
                    label = f"{name} sm_{architecture}"
                    if error is not None:
                        failed[label] = error
                    elif tell is not None:
                        tell(f"{label} {mode.name}: {seconds:.1f} s", taken)
        finally:
            _set_mode(modules, before)
    return failed


def _set_mode(modules, modes):
    for name, module in modules.items():
        module.options["deterministic"] = modes[name]
        module.mark_modified()


def _compile(module, architecture, ptx):
    """(error or None, seconds, resources of its kernels)."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        try:
            (made,) = wp.compile_aot_module(module, arch=architecture, module_dir=folder, use_ptx=ptx)
        except Exception as error:  # noqa: BLE001  all of them are told together
            return error, time.perf_counter() - began, {}
        return None, time.perf_counter() - began, {} if ptx else resources(made.read_bytes())


def resources(cubin):
    """{kernel: {"registers", "stack" [bytes], "arguments" [bytes]}} of a cubin: an ELF file with NVIDIA's notes."""
    sections = dict(_sections(cubin))
    text, symbols, taken = sections[".strtab"], sections[".symtab"], {}
    names = [_text(text, at) for (at,) in (struct.unpack_from("<I", symbols, k) for k in range(0, len(symbols), 24))]
    for code, value in _notes(sections[".nv.info"]):
        if code in (0x2F, 0x11):
            symbol, number = struct.unpack("<II", value)
            taken.setdefault(names[symbol], {})["registers" if code == 0x2F else "stack"] = number
    kernels = {name.removeprefix(".nv.info.") for name in sections if name.startswith(".nv.info.")}
    for name in kernels:
        found = [value for code, value in _notes(sections[f".nv.info.{name}"]) if code == 0x19]
        taken.setdefault(name, {})["arguments"] = found[0] if found else 0
    return {name: found for name, found in taken.items() if name in kernels}


def _sections(elf):
    (start,), (size, count, names) = struct.unpack_from("<Q", elf, 0x28), struct.unpack_from("<HHH", elf, 0x3A)
    heads = [struct.unpack_from("<IIQQQQIIQQ", elf, start + size * k) for k in range(count)]
    for name, kind, _, _, offset, length, *_ in heads:
        if kind != 8:  # nothing of it is in the file
            yield _text(elf, heads[names][4] + name), elf[offset : offset + length]


def _text(strings, at):
    return strings[at : strings.index(b"\0", at)].decode()


def _notes(blob):
    at = 0
    while at < len(blob):
        form, code, value = struct.unpack_from("<BBH", blob, at)
        at += 4
        if form == 4:  # the value is a length
            value, at = blob[at : at + value], at + value
        yield code, value


def main():
    """Compile what the command line names; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--arch", type=int, nargs="+", default=ARCHITECTURES)
    parser.add_argument("--ptx", action="store_true")
    parser.add_argument("--newton", action="store_true")
    parser.add_argument("--only", nargs="+", default=[""], metavar="PART", help="of a module's name")
    parser.add_argument("--resources", action="store_true")
    chosen = parser.parse_args()
    wp.config.quiet = True

    def tell(sentence, taken):
        print(sentence, flush=True)
        for name, found in sorted(taken.items() if chosen.resources else ()):
            print("   ", *(f"{found.get(kind, 0):5d} {kind}" for kind in ("registers", "stack", "arguments")), name)

    own = {name: m for name, m in solver_modules().items() if any(part in name for part in chosen.only)}
    failed = compile_all(own, chosen.arch, MODES[:1], chosen.ptx, tell)
    failed |= compile_all(ordered(own), chosen.arch, MODES[1:], chosen.ptx, tell)
    if chosen.newton:
        failed |= compile_all(newton_modules(), chosen.arch, MODES[:1], chosen.ptx, tell)
    for label, error in failed.items():
        print(f"{label} does not compile: {error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
