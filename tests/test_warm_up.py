# SPDX-License-Identifier: GPL-3.0-or-later
"""Which kernels are compiled ahead, and when."""

import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import axion.solver.warm_up as warm_up
import newton
import numpy as np
import pytest
import warp as wp
from axion.solver import Joint, SolverConfig, simulate, starting_overlaps
from axion.solver.proximal import ProximalSolver
from axion.solver.residual_kernels import JOINT_MODULE
from axion.solver.scene import Body, Scene
from axion.solver.schur import SchurSolver
from axion.solver.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, Sphere
from scenes import ground, pendulum, pile, stack


def row_of_balls():
    """Two balls that touch and a third that runs into them, all bouncing."""
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    for number, x in enumerate((0.0, 0.2, 0.5)):
        run = (-2.0 if number == 2 else 0.0, 0.0, 0.0)
        scene.add(Body(f"Ball {number}", [Sphere(0.1)], position=(x, 0.0, 0.0), linear_velocity=run, restitution=0.8))
    return scene


SHARED = {"axion_contact", "axion_joints", "axion_motion"}
OWN = [
    (ProximalSolver, {"axion_cg_f64", "axion_assembly_ropes_f64"}),
    (SchurSolver, {"axion_schur_f64", "axion_step_search_f64"}),
]


def box_on_its_edge():
    """A box that rebounds from an edge."""
    scene = Scene()
    ground(scene, restitution=0.5)
    scene.add(Body("Box", [Box((0.2, 0.1, 0.1))], position=(0, 0, 0.5), orientation=(0, 0.2, 0, 0.9797959)))
    return scene


@pytest.mark.parametrize(("solver", "own"), OWN)
def test_the_modules_of_a_solver_are_found(solver, own):
    names = {module.name for module in warm_up.kernel_modules(solver("cpu", "float64"))}
    assert SHARED | own <= names
    assert not any(name.endswith("f32") for name in names), names


@pytest.mark.parametrize("kind", ["ball", "rope", "distance"])
def test_only_scenes_with_ropes_take_the_kernels_for_them(kind, monkeypatch):
    scene, seen = pile(1), []
    anchors = {} if kind == "ball" else {"anchors": ((0, 0, 5), (0, 0, 2))}
    place = ((0, 0, 5),) if kind == "ball" else ()
    scene.add(Joint("Joint", kind, None, scene.bodies[1].name, *place, **anchors))
    simulation = sys.modules["axion.solver.simulate"]
    monkeypatch.setattr(simulation, "uncompiled", lambda *of_scene: seen.append(warm_up.launched(*of_scene)))
    starting_overlaps(scene, SolverConfig(device="cpu"), compile_kernels=False)
    names = {module.name for module in seen[0]}
    assert ("axion_newton_ropes" in names) == (kind != "ball")
    assert ("axion_newton" in names) == (kind == "ball")


def test_with_all_kernels_in_the_cache_nothing_is_said_and_nothing_detected(monkeypatch):
    monkeypatch.setattr(warm_up, "is_compiled", lambda module, device: True)
    monkeypatch.setattr(warm_up, "_sample", pytest.fail)
    said = []
    warm_up.warm_up(pile(1), ProximalSolver("cpu", "float64"), said.append)
    assert said == []


@pytest.fixture
def loaded(monkeypatch):
    """Names of the modules that were loaded, in that order, where the cache lacks all and nothing is compiled."""
    found = []
    monkeypatch.setattr(warm_up, "is_compiled", lambda module, device: False)
    monkeypatch.setattr(warm_up, "_detect", lambda collider: None)
    monkeypatch.setattr(wp, "force_load", lambda device, modules: found.extend(module.name for module in modules))
    return found


def test_each_module_that_is_missing_is_loaded_once_and_told(loaded):
    said, solver = [], ProximalSolver("cpu", "float64")
    warm_up.warm_up(pendulum(), solver, said.append)
    wanted = {module.name for module in warm_up.kernel_modules(solver)}
    wanted |= {"axion_residuals", "axion_contacts", "axion_free_motion", newton.CollisionPipeline.__module__}
    assert wanted <= set(loaded) and len(loaded) == len(set(loaded)), loaded
    assert len(said) == len(loaded) + 1 and f"{len(loaded)} of {len(loaded)}" in said[-1]


def test_kernels_of_joints_are_compiled_for_scenes_with_joints_only(loaded):
    warm_up.warm_up(pile(1), ProximalSolver("cpu", "float64"))
    assert "axion_contact" in loaded and not {"axion_joints", "axion_stiffness", JOINT_MODULE} & set(loaded)


@pytest.fixture
def launched(monkeypatch):
    """Names of the modules whose kernels are launched with any threads."""
    launch, found = wp.launch, set()

    def note(kernel, dim, **given):
        if dim:
            found.add(kernel.module.name)
        return launch(kernel, dim=dim, **given)

    monkeypatch.setattr(wp, "launch", note)
    return found


@pytest.mark.parametrize(("scene", "joints"), [(stack(1), False), (pendulum(), True)])
def test_kernels_of_joints_are_launched_for_scenes_with_joints_only(launched, scene, joints):
    simulate(scene, 12)  # until the box lies: its fall is not solved for
    assert "axion_motion" in launched
    assert {name in launched for name in ("axion_joints", "axion_stiffness", JOINT_MODULE)} == {joints}


def test_the_kernel_of_bounces_is_compiled_ahead(launched):
    simulate(box_on_its_edge(), 12)
    ahead = warm_up.launched(box_on_its_edge(), ProximalSolver("cpu", "float64", ropes=False))
    assert "axion_bounces" in launched and "axion_bounces" in {module.name for module in ahead}


@pytest.mark.parametrize(
    ("scene", "own"),
    [
        (pendulum(), set()),
        (stack(1), {"axion_contact_frames", "axion_impact"}),
        (row_of_balls(), {"axion_contact_frames", "axion_impact", "axion_knock_on"}),
    ],
    ids=["pendulum", "box", "balls"],
)
def test_nothing_is_compiled_in_the_middle_of_a_bake(launched, scene, own):
    simulate(scene, 12)
    ahead = {module.name for module in warm_up.launched(scene, ProximalSolver("cpu", "float64", ropes=False))}
    hit = {"axion_contact_frames", "axion_impact", "axion_knock_on", "axion_bounces"}
    assert launched & hit == ahead & hit == own
    assert {name for name in launched if name.startswith("axion")} <= ahead | {JOINT_MODULE, "axion_joints"}


ROUND, HULLS = "axion_round_contacts", "axion_hull_contacts"


@pytest.mark.parametrize(
    ("shape", "own"),
    [
        (Box((0.2, 0.2, 0.2)), set()),
        (Sphere(0.2), set()),
        (Capsule(0.2, 0.2), {ROUND}),
        (Cylinder(0.2, 0.2), {ROUND}),
        (Cone(0.2, 0.2), {ROUND}),
        (ConvexHull([[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2]]), {HULLS}),
        (ConvexHull([[np.cos(t), np.sin(t), z] for t in np.arange(16) for z in (-0.2, 0.2)]), {HULLS, ROUND}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_kernels_of_shapes_are_compiled_where_there_are_such_shapes(launched, shape, own):
    scene = Scene()
    ground(scene)
    scene.add(Body("Body", [shape], position=(0.0, 0.0, 0.3)))
    simulate(scene, 2)
    ahead = {module.name for module in warm_up.launched(scene, ProximalSolver("cpu", "float64", ropes=False))}
    assert launched & {ROUND, HULLS} == ahead & {ROUND, HULLS} == own


def test_what_detection_waits_for_is_loaded_before_all_else(monkeypatch):
    loaded, begun, goes_on = [], threading.Event(), threading.Event()

    def load(device, modules):
        if modules == ["first"]:
            begun.set()
            assert goes_on.wait(30.0)
        loaded.extend(modules)

    monkeypatch.setattr(wp, "force_load", load)
    team = warm_up._Team(dict.fromkeys(["first", "later", "known"], "cpu"), None)
    assert begun.wait(30.0)
    team.load(dict.fromkeys(["new", "known"], "cpu"))
    assert loaded == ["new", "known"]
    threading.Timer(0.1, goes_on.set).start()
    team.load({"first": "cpu"})
    assert "first" in loaded
    team.finish()
    assert set(loaded) == {"new", "known", "first", "later"} and len(loaded) == 4


def test_a_compiler_that_fails_ends_the_bake_with_its_words(monkeypatch):
    def fail(device, modules):
        raise Exception("no clang here")

    monkeypatch.setattr(warm_up, "is_compiled", lambda module, device: False)
    monkeypatch.setattr(warm_up, "_detect", lambda collider: None)
    monkeypatch.setattr(wp, "force_load", fail)
    with pytest.raises(RuntimeError, match="no clang here"):
        warm_up.warm_up(pile(1), SimpleNamespace(**vars(ProximalSolver("cpu", "float64"))))


def test_a_cuda_device_adds_up_in_one_order_unless_asked_not_to(monkeypatch):
    modules = warm_up.kernel_modules(warm_up.residual_kernels())
    before = {module: module.options["deterministic"] for module in modules}
    changed = []
    monkeypatch.setattr(wp.Module, "mark_modified", lambda module: changed.append(module))
    warm_up.order_sums(SimpleNamespace(is_cuda=False), True)
    assert not changed and set(before.values()) == {wp.DeterministicMode.NOT_GUARANTEED}  # nor compiled anew
    try:
        for deterministic, mode in ((True, "RUN_TO_RUN"), (True, "RUN_TO_RUN"), (False, "NOT_GUARANTEED")):
            warm_up.order_sums(SimpleNamespace(is_cuda=True), deterministic)
            assert {module.options["deterministic"].name for module in modules} == {mode}
        assert changed == 2 * modules
        assert {"axion_residuals", JOINT_MODULE} <= {module.name for module in modules}
    finally:
        for module, mode in before.items():
            module.options["deterministic"] = mode


def test_a_cuda_device_has_all_modules_before_anything_is_recorded(loaded, monkeypatch):
    monkeypatch.setattr(warm_up, "is_compiled", lambda module, device: True)
    solver = ProximalSolver("cpu", "float32")
    solver.device = SimpleNamespace(is_cuda=True, is_cpu=False)
    warm_up.warm_up(pile(1), solver)
    assert {"axion_sweep", "axion_cg_f32"} <= set(loaded) and "axion_joints" not in loaded


def in_a_fresh_process(code):
    """Lines that a Python prints that holds no kernels yet."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


COMPILED_AHEAD = """
import importlib, warp as wp
import conftest, scenes
wp.config.quiet = True
frames = importlib.import_module("axion.solver.simulate")
warm_up, ahead = frames.warm_up, {}
def noted(scene, solver, say=None):
    warm_up(scene, solver, say)
    launched = importlib.import_module("axion.solver.warm_up").launched(scene, solver)
    ahead.update({module: set(module.kernels) for module in launched})
frames.warm_up = noted
scene = scenes.four_bar()
scene.joints[1].axes = {"rz": scenes.Axis(stiffness=1.0, damping=0.1)}
frames.simulate(scene, 2)
assert len(ahead) > 10
print([module.name for module, known in ahead.items() if set(module.kernels) != known])
"""


BEGUN = """
import importlib, sys
import scenes
frames, warm_up = importlib.import_module("axion.solver.simulate"), importlib.import_module("axion.solver.warm_up")
def begin(self, work, say):
    print("newton" in sys.modules)
    raise KeyboardInterrupt
warm_up._Team.__init__ = begin
warm_up.is_compiled = lambda module, device: False
try:
    frames.simulate(scenes.pile(1), 1)
except KeyboardInterrupt:
    print("begun")
"""


def test_compiling_begins_before_newton_is_imported():
    """That takes a second, in which the other core would stand still."""
    assert in_a_fresh_process(BEGUN) == ["False", "begun"]


def test_no_module_gets_a_kernel_after_it_was_compiled():
    """It would be compiled once more, in the middle of the first bake: 2 s for the springs of a mechanism."""
    assert in_a_fresh_process(COMPILED_AHEAD)[-1] == "[]"


SAME_FLAGS = """
import conftest, scenes, warp as wp
from axion.solver import SolverConfig, simulate
simulate(scenes.stack(2), frames=1, config=SolverConfig(device="cpu"))
loaded = [module for module in wp._src.context.user_modules.values() if module.execs]
assert len(loaded) > 5
print({module.options["cpu_compiler_flags"] for module in loaded})
"""


def test_all_modules_have_the_same_flags_for_the_compiler():
    """Warp compiles a module with other options of LLVM while nothing else is compiled: half of the threads' gain."""
    assert in_a_fresh_process(SAME_FLAGS)[-1] == "{None}"
