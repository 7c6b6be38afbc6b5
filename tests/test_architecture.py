# SPDX-License-Identifier: GPL-3.0-or-later
"""The house rules that a program can check, read from the source: who may import whom, and what every file carries."""

import ast
import importlib
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("axion_blender", "solver", "tools", "examples", "tests", "benchmarks")
FILES = [ROOT / "__init__.py", *(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))]
PRODUCT = [path for path in FILES if path.relative_to(ROOT).parts[0] in ("__init__.py", "axion_blender", "solver")]
SOLVER = [path for path in PRODUCT if path.is_relative_to(ROOT / "solver")]
BLENDER = [path for path in PRODUCT if path.is_relative_to(ROOT / "axion_blender")]
LINE_LIMIT = 400
NEWTON_USERS = {f"solver/{name}.py" for name in ("model", "shapes", "collision", "newton_kernels", "newton_solver")}
"""The first four build Newton's model and collide with it; the last one is Newton's own solver interface."""


def name(path):
    """Path below the root, as an identifier of the test case."""
    return path.relative_to(ROOT).as_posix()


def imports(source, package=()):
    """Every module that ``source`` imports anywhere in it: (absolute dotted name, imported names, is relative).

    ``package``: parts of the dotted name of the package the file lies in, below the root.
    """
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(alias.name, (), False) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            if node.level:
                parts = (*package[: len(package) - node.level + 1], *filter(None, (node.module or "").split(".")))
                found.append((".".join(parts), names, True))
            else:
                found.append((node.module, names, False))
    return found


@cache
def imports_of(path):
    """``imports`` of a file of the package; ``solver.linear``-like names for what lies inside it."""
    return imports(path.read_text(encoding="utf-8"), path.relative_to(ROOT).parts[:-1])


def modules(found):
    """Dotted names an import can stand for: the module itself, and module.name for each name taken from it."""
    return {full for module, names, _ in found for full in (module, *(f"{module}.{n}".lstrip(".") for n in names))}


def top_level(found):
    """First part of each absolute import."""
    return {module.split(".")[0] for module, _, relative in found if not relative}


def test_reading_of_imports():
    source = "import a.b\nfrom c import d\nfrom . import e\nfrom ..g.h import i\ndef f():\n    import j as k\n"
    found = imports(source, ("axion_blender", "extract"))
    assert top_level(found) == {"a", "c", "j"}
    assert {"axion_blender.extract.e", "axion_blender.g.h.i"} <= modules(found)


def faults(paths, rule):
    """{file: what ``rule(path)`` finds wrong with it} of the files that break a rule, which returns it or None.

    One test for all files: there are hundreds, and a test of each costs more than reading them.
    """
    found = {name(path): rule(path) for path in paths}
    assert found
    return {path: fault for path, fault in found.items() if fault}


def test_files_have_licence_docstring_and_measure():
    def rule(path):
        text = path.read_text(encoding="utf-8")
        lines = len(text.splitlines())
        if not text.startswith("# SPDX-License-Identifier: GPL-3.0-or-later\n"):
            return "the first line names the licence"
        if not ast.get_docstring(ast.parse(text)):
            return "a docstring says what the file is for, or what the package holds"
        return f"{lines} lines, the limit is {LINE_LIMIT}: split it by purpose" if lines >= LINE_LIMIT else None

    assert faults(FILES, rule) == {}


def test_imports_inside_are_relative():
    # Inside Blender the package is called bl_ext.<repository>.axion_blender, so an absolute name breaks there.
    own = {"axion", "axion_blender", "solver", "bl_ext"}
    assert faults(PRODUCT, lambda path: top_level(imports_of(path)) & own) == {}


def test_solver_knows_nothing_of_blender():
    blenders = {"bpy", "bpy_extras", "bmesh", "mathutils", "gpu", "blf", "addon_utils"}

    def rule(path):
        found = imports_of(path)
        bridge = {module for module in modules(found) if module.startswith("axion_blender")}
        return top_level(found) & blenders | bridge

    assert faults(SOLVER, rule) == {}


def test_newton_is_met_in_few_places_by_its_public_names():
    def rule(path):
        found = imports_of(path)
        private = {module for module in modules(found) if module.startswith("newton._src")}
        return private | (top_level(found) & {"newton"} if name(path) not in NEWTON_USERS else set())

    assert faults(SOLVER, rule) == {}


def test_reference_needs_numpy_alone():
    allowed = {"solver.problem", "solver.scene"}

    def rule(path):
        found = imports_of(path)
        inside = {module for module, _, relative in found if relative and not module.startswith("solver.reference")}
        from_solver = modules([entry for entry in found if entry[0] == "solver"]) - {"solver"}
        outside = top_level(found) - {"numpy"} - sys.stdlib_module_names
        return outside | (inside - allowed - {"solver"}) | (from_solver - allowed)

    assert faults(sorted((ROOT / "solver/reference").glob("*.py")), rule) == {}


def test_bridge_uses_public_names_of_the_solver_only():
    public = public_names()

    def rule(path):
        found = [entry for entry in imports_of(path) if entry[2]]
        internal = {module for module, _, _ in found if module.startswith("solver.")}
        private = {taken for module, names, _ in found if module == "solver" for taken in set(names) - public}
        unread = {"solver" for module, names, _ in found if module == "" and "solver" in names}  # and no names of it
        return internal | private | unread

    assert faults(BLENDER, rule) == {}


def public_names():
    """What the solver offers to others."""
    return set(importlib.import_module("axion.solver").__all__)


def test_solver_states_its_public_names():
    promised = {
        *("Scene", "Body", "MotionPath", "Joint", "Axis", "SolverConfig", "simulate", "Trajectory", "FrameResult"),
        *("StepReport", "SceneError", "validate", "reference"),
        *("Box", "Sphere", "Capsule", "Cylinder", "Cone", "ConvexHull", "TriangleMesh", "Plane"),
    }
    assert promised <= public_names()


HEAVY = ("bpy", "warp", "newton")
IMPORT_ROOT = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("axion", {str(ROOT / "__init__.py")!r},
                                              submodule_search_locations=[{str(ROOT)!r}])
sys.modules["axion"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
"""


def heavy_modules_after(statement, blocked=()):
    """Which of HEAVY a fresh interpreter holds after ``statement``; importing a name in ``blocked`` fails there."""
    block = "".join(f"sys.modules[{module!r}] = None\n" for module in blocked)
    code = IMPORT_ROOT + block + statement + f"\nprint([m for m in {HEAVY} if sys.modules.get(m)])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return ast.literal_eval(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("statement", ["import axion", "import axion.solver", "from axion.solver import Scene, Body"])
def test_importing_starts_nothing_heavy(statement):
    assert heavy_modules_after(statement) == []


def test_solver_works_without_blender():
    assert "bpy" not in heavy_modules_after("from axion.solver import simulate", blocked=("bpy", "mathutils"))
