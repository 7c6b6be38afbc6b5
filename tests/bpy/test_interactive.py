# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake beside the user's work, by simulated ticks: what is locked, what is shown, and what ends it.

The solver is replaced by one that lets every body fall a metre a frame, when the test allows a frame.
"""

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import axion  # noqa: E402
import axion.solver  # noqa: E402
from axion.axion_blender import baking, running, solving  # noqa: E402
from axion.axion_blender.ghost import BOX_TRIANGLES, Ghost  # noqa: E402
from axion.axion_blender.job import Phase  # noqa: E402
from axion.axion_blender.operators.bake import AXION_OT_bake, AXION_OT_guard_window  # noqa: E402
from axion.axion_blender.ui import preview  # noqa: E402
from axion.axion_blender.ui.bake import draw_bake  # noqa: E402
from axion.axion_blender.writers import records  # noqa: E402
from axion.solver import FrameResult, StepReport, Trajectory  # noqa: E402

PATIENCE = 20.0


class Solver:
    """Falls a metre a frame; each frame waits for ``gate``."""

    def __init__(self):
        self.gate = threading.Semaphore(0)

    def __call__(self, scene, frames, fps, config, on_frame, say=None):
        place = [np.array([body.position for body in scene.bodies], float)]
        turned = np.array([body.orientation for body in scene.bodies], float)
        falls = np.array([[0, 0, -float(body.motion == "dynamic")] for body in scene.bodies])
        reports, zero = [], np.zeros_like(falls)
        for frame in range(1, frames + 1):
            assert self.gate.acquire(timeout=PATIENCE)
            place.append(place[-1] + falls)
            reports.append(StepReport(frame, wall_time=0.5, residual=1e-6))
            if on_frame(FrameResult(frame, frame / fps, place[-1], turned, zero, zero, reports[-1])) is False:
                break
        count = len(place)
        zeros = np.zeros((count, *falls.shape))
        names = [body.name for body in scene.bodies]
        return Trajectory(
            names, np.arange(count) / fps, np.array(place), np.repeat(turned[None], count, 0), zeros, zeros, reports
        )


@pytest.fixture
def solver(monkeypatch, empty_file):
    """The stand-in; ends a bake that a test left."""
    made = Solver()
    monkeypatch.setitem(vars(axion.solver), "simulate", made)
    monkeypatch.setattr(solving, "start_warp", lambda folder: False)
    empty_file.frame_start, empty_file.frame_end = 1, 6
    yield made
    made.gate.release(1000)
    running.stop("the test is over", patience=None)


def body(name, location=(0, 0, 10)):
    bpy.ops.mesh.primitive_cube_add(size=1, location=location)
    bpy.context.object.name = name
    bpy.context.object.axion.enabled = True
    return bpy.context.object


def start(show=True):
    """Begin a bake as the button does; without a window nobody ticks it."""
    scene = bpy.context.scene
    shown = preview.Preview(scene, baking.frame_range(scene)[0]) if show else None
    job = baking.make_job(bpy.context, say=lambda line: None, show=shown.show if show else None)
    return running.begin(job, scene, preview=shown)


def tick_until(bake, reached):
    until = time.monotonic() + PATIENCE
    while not reached():
        bake.ticker.tick()
        assert time.monotonic() < until, bake.job.phase
        time.sleep(0.001)


def heights(item):
    scene, found = bpy.context.scene, []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        found.append(item.matrix_world.translation.z)
    scene.frame_set(1)
    return found


def test_ticks_bake_what_a_blocking_bake_does(solver):
    box = body("box")
    solver.gate.release(5)
    assert bpy.ops.axion.bake() == {"FINISHED"}
    blocking = heights(box)
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    solver.gate.release(5)
    bake = start()
    tick_until(bake, lambda: bake.job.ended)
    running.end(bake)
    assert bake.job.done and heights(box) == blocking == [10, 9, 8, 7, 6, 5]


def test_the_setup_is_locked_while_a_bake_runs(solver):
    body("box")
    names = ("bake", "clear_bake", "check_scene", "add_bodies", "remove_bodies", "add_joint", "connect_selected")
    bpy.ops.object.select_all(action="SELECT")
    assert all(getattr(bpy.ops.axion, name).poll() for name in names)
    assert not bpy.ops.axion.cancel_bake.poll() and not bpy.context.window_manager.axion.running
    bake = start()
    assert not any(getattr(bpy.ops.axion, name).poll() for name in (*names, "convert_native"))
    assert bpy.context.window_manager.axion.running
    assert bpy.ops.axion.cancel_bake() == {"FINISHED"}
    tick_until(bake, lambda: bake.job.ended)
    running.end(bake)
    assert bake.job.phase is Phase.CANCELLED
    assert all(getattr(bpy.ops.axion, name).poll() for name in names)


def test_nothing_steps_through_frames_beside_a_render(solver, monkeypatch):
    body("box")
    solver.gate.release(5)
    bpy.ops.axion.bake()
    names = ("bake", "check_scene", "clear_bake", "apply_bake", "export_motion", "report_jump")
    assert all(getattr(bpy.ops.axion, name).poll() for name in names)
    monkeypatch.setattr(running, "is_rendering", lambda: True)
    assert not any(getattr(bpy.ops.axion, name).poll() for name in names)
    with pytest.raises(RuntimeError, match="Blender is rendering, and would render wrong frames: wait for its end"):
        bpy.ops.axion.bake()
    assert bpy.ops.axion.add_bodies.poll() and bpy.ops.axion.select_guilty.poll()


def test_keys_wait_for_the_end_of_a_render_and_esc_is_its_first(solver, monkeypatch):
    box = body("box")
    bake = start()
    solver.gate.release(5)
    tick_until(bake, lambda: bake.job.solved == 5)
    monkeypatch.setattr(running, "is_rendering", lambda: True)
    bake.ticker._thread.join(PATIENCE)
    left = []
    operator = SimpleNamespace(
        _bake=bake,
        _windows=set(),
        _screen=SimpleNamespace(update=lambda context, bake: None),
        _leave=lambda context, how: left.append(how),
    )
    for _ in range(3):
        assert AXION_OT_bake._tick(operator, bpy.context) == {"PASS_THROUGH"}
    assert bake.waits(bpy.context) == "The keyframes wait for the end of the render"
    assert not left and bake.job.phase is Phase.SOLVED and box.animation_data is None
    esc = SimpleNamespace(type="ESC", value="PRESS", mouse_x=-1, mouse_y=-1)
    assert AXION_OT_bake.modal(operator, bpy.context, esc) == {"PASS_THROUGH"} and not bake.job.cancelling
    monkeypatch.setattr(running, "is_rendering", lambda: False)
    while not left:
        AXION_OT_bake._tick(operator, bpy.context)
    assert bake.job.done and heights(box)[-1] == 5
    running.end(bake)


def test_objects_can_be_selected_while_a_bake_is_solved(solver):
    box = body("box")
    body("other", (5, 0, 10))
    bpy.ops.object.select_all(action="DESELECT")
    bake = start()
    assert not bpy.ops.axion.select_object.poll(), "an undo step would hold the scene as it is while it is read"
    tick_until(bake, lambda: bake.job.phase is Phase.GATHERED)
    assert bpy.ops.axion.select_object(name="box") == {"FINISHED"}
    assert bpy.context.selected_objects == [box] and not bpy.ops.axion.add_bodies.poll()
    solver.gate.release(5)
    tick_until(bake, lambda: bake.job.ended)
    running.end(bake)
    assert bake.job.done


def test_another_window_is_guarded_while_the_scene_is_read_or_written(solver, monkeypatch):
    body("box")
    bake, removed, passed = start(), [], []
    guard = SimpleNamespace(_bake=bake, cancel=removed.append)

    def sees(kind):
        event = SimpleNamespace(type=kind, value="PRESS", mouse_x=-1, mouse_y=-1)
        return AXION_OT_guard_window.modal(guard, bpy.context, event)

    assert sees("DEL") == {"RUNNING_MODAL"} and sees("MOUSEMOVE") == {"PASS_THROUGH"}
    tick_until(bake, lambda: bake.job.phase is Phase.GATHERED)
    assert sees("DEL") == {"PASS_THROUGH"} and not bake.job.cancelling
    write = bake.job.write

    def watched(trajectory):
        yield 0.0
        passed.append(sees("DEL"))
        yield from write(trajectory)

    bake.job.write = watched
    solver.gate.release(5)
    tick_until(bake, lambda: bake.job.ended)
    assert passed == [{"RUNNING_MODAL"}] and not removed
    running.end(bake)
    assert sees("DEL") == {"FINISHED", "PASS_THROUGH"} and len(removed) == 1
    guard._bake = bake = start()
    assert sees("ESC") == {"RUNNING_MODAL"} and bake.job.cancelling


def test_a_cancelled_bake_leaves_the_earlier_one(solver):
    box = body("box")
    solver.gate.release(5)
    bpy.ops.axion.bake()
    first, curves = heights(box), len(box.animation_data.action.layers[0].strips[0].channelbags[0].fcurves)
    bpy.context.scene.frame_set(4)
    bake = start()
    solver.gate.release(2)
    tick_until(bake, lambda: bake.job.solved == 2)
    assert box.matrix_world.translation.z == first[3], "the earlier bake plays while the new one is solved"
    bake.job.cancel()
    solver.gate.release(1)
    tick_until(bake, lambda: bake.job.ended)
    running.end(bake)
    assert heights(box) == first
    assert len(box.animation_data.action.layers[0].strips[0].channelbags[0].fcurves) == curves


def test_the_panel_tells_how_far_it_is(solver):
    body("box")
    bake = start()
    solver.gate.release(2)
    tick_until(bake, lambda: bake.job.solved == 2)
    shown = []

    class Layout:
        scale_y = 1.0

        def progress(self, factor, text):
            shown.append((factor, text))

        def label(self, text):
            shown.append(text)

        def prop(self, data, name):
            assert name in data.bl_rna.properties

        def operator(self, name, text, icon):
            shown.append(name)

        def row(self, align=False):
            return self

        column = row

    draw_bake(Layout(), bpy.context)
    assert shown == [(0.4, "Frame 3 of 6"), "axion.cancel_bake", "2 s left", "Worst residual 0.0010 mm"]


def test_the_preview_follows_the_newest_frame_or_the_playhead(solver):
    box = body("box")
    box.scale = (1, 2, 1)
    bake = start()
    solver.gate.release(3)
    tick_until(bake, lambda: bake.job.solved == 3)
    shown = bake.preview
    assert [shown.result(frame).frame for frame in (1, 2, 3, 4, 6)] == [3, 1, 2, 3, 3]
    assert shown.result(0) is None
    corners, lit = shown.ghost.posed(shown.result(1).position, shown.result(1).orientation)
    assert corners.min(axis=0) == pytest.approx((-0.5, -1.0, 6.5), abs=1e-6)
    assert corners.max(axis=0) == pytest.approx((0.5, 1.0, 7.5), abs=1e-6)
    assert len(corners) == 36 and 0.0 <= lit.min() < lit.max() <= 1.0


def test_the_preview_shows_what_hangs_on_a_body_and_boxes_for_much(solver, monkeypatch):
    box = body("box")
    bpy.ops.mesh.primitive_uv_sphere_add(location=(2, 0, 10))
    bpy.context.object.parent, bpy.context.object.matrix_parent_inverse = box, box.matrix_world.inverted()
    bake = start()
    tick_until(bake, lambda: bake.job.phase is Phase.GATHERED)
    corners, _ = bake.preview.ghost.posed(np.array([[0, 0, 10.0]]), np.array([[0, 0, 0, 1.0]]))
    assert corners[:, 0].min() == pytest.approx(-0.5) and corners[:, 0].max() == pytest.approx(3.0)
    assert len(corners) > 1000
    monkeypatch.setattr("axion.axion_blender.ghost.BUDGET", 20)
    ghost = Ghost()
    extraction = SimpleNamespace(objects=lambda scene: {"box": box}, scene=bake.job.scene)
    for _ in ghost.read(bpy.context.scene, bpy.context.evaluated_depsgraph_get(), extraction):
        pass
    assert len(ghost.corners) == 36 + 3 * len(BOX_TRIANGLES)


def test_objects_renamed_or_deleted_during_the_bake(solver):
    kept, _ = body("kept"), body("lost", (5, 0, 10))
    bake = start()
    solver.gate.release(2)
    tick_until(bake, lambda: bake.job.solved == 2)
    kept.name = "another name"
    bpy.data.objects.remove(bpy.data.objects["lost"])
    solver.gate.release(3)
    tick_until(bake, lambda: bake.job.ended)
    running.end(bake)
    assert bake.job.done and heights(kept) == [10, 9, 8, 7, 6, 5]
    assert [line for line in bake.job.warnings if line.startswith("lost is no longer in")]


def end_by_file():
    bpy.ops.wm.read_homefile(use_empty=True)


def end_by_undo():
    for handler in bpy.app.handlers.undo_pre:
        handler(bpy.context.scene)


def end_by_unregister():
    axion.unregister()
    axion.register()


@pytest.mark.parametrize("ending", (end_by_file, end_by_undo, end_by_unregister))
@pytest.mark.parametrize("when", ("reading", "solving", "writing"))
def test_what_takes_the_scene_away_ends_the_bake(solver, ending, when):
    body("box")
    before = threading.active_count()
    bake = start()
    solver.gate.release(2)
    if when == "reading":
        bake.ticker.slice_time = 0.0
        bake.ticker.tick()
        assert bake.job.phase is Phase.READY
    elif when == "writing":
        solver.gate.release(3)
        bake.ticker.slice_time = 0.0
        tick_until(bake, lambda: bake.ticker.writing)
        bake.ticker.tick()
        assert bake.ticker.writing and not bake.job.ended
    else:
        tick_until(bake, lambda: bake.job.solved == 2)
    threading.Timer(0.05, solver.gate.release).start()
    ending()
    assert running.current() is None and bake.job.phase is Phase.CANCELLED and bake.stopped
    assert threading.active_count() <= before + 1, "the thread is gone; the timer of this test may still be there"
    assert not any(records.is_baked(item) for item in bpy.context.scene.objects) and not bpy.data.actions
    assert bpy.context.scene.frame_current == 1


def test_a_deleted_scene_is_noticed(solver):
    body("box")
    bake = start(show=False)
    solver.gate.release(1)
    tick_until(bake, lambda: bake.job.solved == 1)
    assert bake.scene == bpy.context.scene
    bpy.context.window_manager.windows[0].scene = other = bpy.data.scenes.new("other")
    bpy.data.scenes.remove(next(scene for scene in bpy.data.scenes if scene != other))
    assert bake.scene is None


def test_handlers_come_and_go_with_the_extension(addon):
    def ours():
        return [
            name for name in running.HANDLERS for h in getattr(bpy.app.handlers, name, ()) if "axion" in h.__module__
        ]

    there = ours()
    assert {"load_pre", "undo_pre", "redo_pre"} <= set(there) and len(there) == len(set(there))
    addon.unregister()
    assert ours() == []
    addon.register()
    assert ours() == there
