# SPDX-License-Identifier: GPL-3.0-or-later
"""The house rules that a program can check, read from the source: who may import whom, and what every file carries."""

import ast
import importlib
import subprocess
import sys
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


@pytest.mark.parametrize("path", FILES, ids=name)
def test_file_has_licence_docstring_and_measure(path):
    text = path.read_text(encoding="utf-8")
    if not text.strip() and path.name == "__init__.py":
        pytest.fail(
            f"{name(path)} is empty: it needs the licence line and a docstring that says what the package holds"
        )
    assert text.startswith("# SPDX-License-Identifier: GPL-3.0-or-later\n"), "the first line names the licence"
    assert ast.get_docstring(ast.parse(text)), "a docstring says what the file is for"
    lines = len(text.splitlines())
    assert lines < LINE_LIMIT, f"{lines} lines, the limit is {LINE_LIMIT}: split it by purpose"


@pytest.mark.parametrize("path", PRODUCT, ids=name)
def test_imports_inside_are_relative(path):
    # Inside Blender the package is called bl_ext.<repository>.axion_blender, so an absolute name breaks there.
    own = {"axion", "axion_blender", "solver", "bl_ext"}
    assert not top_level(imports_of(path)) & own


@pytest.mark.parametrize("path", SOLVER, ids=name)
def test_solver_knows_nothing_of_blender(path):
    found = imports_of(path)
    assert not top_level(found) & {"bpy", "bpy_extras", "bmesh", "mathutils", "gpu", "blf", "addon_utils"}
    assert not {module for module in modules(found) if module.startswith("axion_blender")}


@pytest.mark.parametrize("path", SOLVER, ids=name)
def test_newton_is_met_in_few_places(path):
    found = imports_of(path)
    assert not {module for module in modules(found) if module.startswith("newton._src")}, "only Newton's public names"
    if name(path) not in NEWTON_USERS:
        assert "newton" not in top_level(found)


@pytest.mark.parametrize("path", sorted((ROOT / "solver/reference").glob("*.py")), ids=name)
def test_reference_needs_numpy_alone(path):
    found = imports_of(path)
    outside = top_level(found) - {"numpy"} - sys.stdlib_module_names
    assert not outside
    inside = {module for module, _, relative in found if relative and not module.startswith("solver.reference")}
    allowed = {"solver.problem", "solver.scene"}
    assert inside <= allowed | {"solver"}
    from_solver = modules([entry for entry in found if entry[0] == "solver"]) - {"solver"}
    assert from_solver <= allowed


@pytest.mark.parametrize("path", BLENDER, ids=name)
def test_bridge_uses_public_names_of_the_solver_only(path):
    public = public_names()
    for module, names, relative in imports_of(path):
        if relative and (module == "solver" or module.startswith("solver.")):
            assert module == "solver", f"{module} is internal: import from ..solver"
            assert set(names) <= public
        if relative and module == "" and "solver" in names:
            pytest.fail("import the names needed from ..solver, so that this test can read them")


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
