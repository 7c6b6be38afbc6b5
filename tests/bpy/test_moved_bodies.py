# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked bodies that a user moves: at the start of the bake that is their new place, elsewhere it is told.

As with Blender's own rigid bodies: an active one that is moved at the first frame falls from there.
"""

import math
from itertools import product

import pytest

bpy = pytest.importorskip("bpy")

import blend_scenes as build  # noqa: E402
from axion.axion_blender import baking, compat, running, solving  # noqa: E402
from test_interactive import heights, solver, start, tick_until  # noqa: E402, F401


@pytest.fixture(autouse=True)
def no_warp(monkeypatch):
    """Checks that do not look for overlaps, which would load the real solver over the stand-in."""
    monkeypatch.setattr(solving, "overlaps", lambda *given: [])


def baked(solver):  # noqa: F811
    """A body that fell from z = 10, a metre a frame, seen at the first frame."""
    item = build.box("Box", location=(1, 2, 10))
    bake(solver)
    assert heights(item) == [10, 9, 8, 7, 6, 5]
    return item


def bake(solver):  # noqa: F811
    solver.gate.release(5)
    assert bpy.ops.axion.bake() == {"FINISHED"}


def test_moved_at_the_first_frame_it_starts_there_from_then_on(solver):  # noqa: F811
    item = baked(solver)
    item.location = (4, 2, 20)
    assert baking.check(bpy.context) == ([], []) and item.location[:] == (4, 2, 20), "a check leaves it in the hand"
    bake(solver)
    assert heights(item) == [20, 19, 18, 17, 16, 15] and item.location[:] == (4, 2, 20)
    bake(solver)
    assert heights(item) == [20, 19, 18, 17, 16, 15], "a third bake begins where the second did"
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert item.location[:] == (4, 2, 20)


@pytest.mark.parametrize("how", ["action", "data", "curves"])
def test_moved_without_its_keys_it_starts_there_too(how, solver):  # noqa: F811
    item = baked(solver)
    item.rotation_mode = "XYZ"
    if how == "action":
        bpy.data.actions.remove(item.animation_data.action)
    elif how == "data":
        item.animation_data_clear()
    else:
        bag = compat.channelbag(item)
        for curve in [curve for curve in bag.fcurves if curve.data_path == "location"]:
            bag.fcurves.remove(curve)
    item.location = (4, 2, 20)
    bake(solver)
    assert heights(item) == [20, 19, 18, 17, 16, 15] and item.location[:] == (4, 2, 20)
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert item.location[:] == (4, 2, 20)


def test_without_its_keys_it_is_told_at_other_frames(solver):  # noqa: F811
    item = baked(solver)
    bpy.data.actions.remove(item.animation_data.action)
    bpy.context.scene.frame_set(3)
    item.location = (4, 2, 20)
    assert any("Box was moved at frame 3" in words for words in baking.check(bpy.context)[1])
    bake(solver)
    assert heights(item) == [10, 9, 8, 7, 6, 5]


def test_what_was_not_moved_keeps_its_bits(solver):  # noqa: F811
    item, other = build.box("Box", location=(0.1, 0.2, 10)), build.box("Other", location=(0.3, 5.7, 10))
    item.rotation_euler = other.rotation_euler = (0.1, 0.2, 0.3)
    before = item.location[:], item.rotation_euler[:], other.location[:], other.rotation_euler[:]
    bake(solver)
    item.location.x = 3.3
    x = item.location.x
    bake(solver)
    bpy.ops.axion.clear_bake()
    assert item.location[:] == (x, *before[0][1:]) and item.rotation_euler[:] == before[1]
    assert (other.location[:], other.rotation_euler[:]) == before[2:]


@pytest.mark.parametrize("turn", ("KEEP", "QUATERNION"))
def test_turned_at_the_first_frame_it_starts_so(solver, turn):  # noqa: F811
    bpy.context.scene.axion.output_rotation = turn
    item = baked(solver)
    assert item.rotation_mode == ("XYZ" if turn == "KEEP" else turn)
    if turn == "KEEP":
        item.rotation_euler.z = math.radians(30)
    else:
        item.rotation_quaternion = (math.cos(math.radians(15)), 0, 0, math.sin(math.radians(15)))
    bake(solver)
    bpy.context.scene.frame_set(3)
    assert item.matrix_world.to_euler().z == pytest.approx(math.radians(30), abs=1e-6)
    bpy.context.scene.frame_set(1)
    bpy.ops.axion.clear_bake()
    assert item.rotation_mode == "XYZ"
    assert item.rotation_euler[:] == pytest.approx((0, 0, math.radians(30)), abs=1e-6)


def test_a_key_that_auto_keying_changed_at_the_start_counts_wherever_the_playhead_is(solver):  # noqa: F811
    item = baked(solver)
    item.location.z = 20
    item.keyframe_insert("location", frame=1)
    bpy.context.scene.frame_set(4)
    bake(solver)
    assert heights(item) == [20, 19, 18, 17, 16, 15]


@pytest.mark.parametrize("edit", ("later key", "cut", "shifted"))
def test_other_edits_of_the_keys_are_replaced_by_the_next_bake(solver, edit):  # noqa: F811
    item = baked(solver)
    curve = next(c for c in compat.channelbag(item).fcurves if (c.data_path, c.array_index) == ("location", 2))
    if edit == "later key":
        curve.keyframe_points[2].co[1] = 30
    elif edit == "cut":
        curve.keyframe_points.remove(curve.keyframe_points[0])
    else:
        for point in curve.keyframe_points:
            point.co[0] -= 2
    curve.update()
    bpy.context.scene.frame_set(2)
    bpy.context.scene.frame_set(1)
    assert baking.check(bpy.context) == ([], [])
    bake(solver)
    assert heights(item) == [10, 9, 8, 7, 6, 5]


def test_moved_at_another_frame_it_is_told_where_to_move_it(solver):  # noqa: F811
    item = baked(solver)
    bpy.context.scene.frame_set(3)
    item.location.z = 20
    told = "Box was moved at frame 3, but the bake begins at frame 1: move it there to let it start from another place"
    assert baking.check(bpy.context) == ([], [told]) and item.location.z == 20
    job = baking.make_job(bpy.context, say=lambda line: None)
    solver.gate.release(5)
    job.run()
    assert job.done and job.warnings == [told] and heights(item) == [10, 9, 8, 7, 6, 5]


def test_keys_of_its_own_below_the_bake_win_and_are_named(solver):  # noqa: F811
    item = build.box("Box", location=(1, 2, 10))
    build.key(item, "location", ((1, (1, 2, 10)), (9, (1, 2, 10))))
    bake(solver)
    item.location.z = 20
    (told,) = baking.check(bpy.context)[1]
    assert told.startswith("Box was moved, but keys of its own below the bake say where it starts: clear the bake")
    bake(solver)
    assert heights(item)[0] == 10


def test_a_frame_that_was_only_typed_in_is_no_move(solver):  # noqa: F811
    item, scene = baked(solver), bpy.context.scene
    scene.frame_set(5)
    scene.frame_current = 1  # Blender evaluates it later: the body still stands where it was at frame 5
    bake(solver)
    assert heights(item) == [10, 9, 8, 7, 6, 5]


def test_a_hidden_body_that_missed_the_frame_change_is_no_move(solver):  # noqa: F811
    item, scene = baked(solver), bpy.context.scene
    scene.frame_set(5)
    item.hide_viewport = True
    scene.frame_set(1)
    assert item.location.z != 10
    bake(solver)
    item.hide_viewport = False
    assert heights(item) == [10, 9, 8, 7, 6, 5]


@pytest.mark.parametrize("when", ("reading", "solving", "writing"))
def test_a_cancelled_bake_leaves_it_in_the_hand_and_its_record_as_it_was(solver, when):  # noqa: F811
    item = baked(solver)
    record = item["axion_bake"]
    item.location.z = 20
    bake_ = start(show=False)
    bake_.ticker.slice_time = 0.0
    if when == "reading":
        bake_.ticker.tick()
    elif when == "solving":
        solver.gate.release(2)
        tick_until(bake_, lambda: bake_.job.solved == 2)
        assert item.location.z == 20
    else:
        solver.gate.release(5)
        tick_until(bake_, lambda: bake_.ticker.writing)
        bake_.ticker.tick()
    bake_.job.cancel()
    solver.gate.release(1)
    tick_until(bake_, lambda: bake_.job.ended)
    running.end(bake_)
    assert item["axion_bake"] == record and not bake_.job.done
    assert when == "writing" or item.location.z == 20, "the writing plays the frames, which takes it from the hand"
    assert heights(item) == [10, 9, 8, 7, 6, 5]


def test_undo_of_the_bake_takes_the_new_place_back(solver):  # noqa: F811
    item = baked(solver)
    bpy.ops.ed.undo_push(message="bake")
    item.location.z = 20
    bpy.ops.ed.undo_push(message="move")
    bake(solver)
    bpy.ops.ed.undo_push(message="bake")
    assert heights(item) == [20, 19, 18, 17, 16, 15]
    bpy.ops.ed.undo()
    item = bpy.data.objects["Box"]
    assert heights(item) == [10, 9, 8, 7, 6, 5]
    bake(solver)
    assert heights(item) == [10, 9, 8, 7, 6, 5]


def job_that_is_solved(solver):  # noqa: F811
    job = baking.make_job(bpy.context, say=lambda line: None)
    job.do_gather()
    solver.gate.release(5)
    job.do_solve()
    return job


@pytest.mark.parametrize("what", ("body", "its parent", "nothing"))
def test_a_body_that_is_moved_during_its_first_bake_is_named(solver, what):  # noqa: F811
    item, parent = build.box("Box", location=(0, 0, 10)), build.add("Carrier")
    item.parent = parent
    job = job_that_is_solved(solver)
    moved = {"body": item, "its parent": parent}.get(what)
    if moved is not None:
        moved.location.x = 3
    bpy.context.scene.frame_set(4)
    job.do_write()
    told = "Box was moved while it was baked, and its motion goes on from where it is now: bake again"
    assert job.done and job.warnings == ([] if moved is None else [told])
    bpy.context.scene.frame_set(6)
    assert item.matrix_world.translation[:] == pytest.approx((0 if moved is None else 3, 0, 5))


@pytest.mark.parametrize("when", ("before", "meanwhile", "both"))
def test_a_baked_body_that_is_moved_during_the_next_bake_is_named(solver, when):  # noqa: F811
    item = baked(solver)
    if when != "meanwhile":
        item.location.z = 20
    job = job_that_is_solved(solver)
    if when != "before":
        item.location.z = 30
    job.do_write()
    told = "Box was moved while it was baked, and its new keys put it back: move it at frame 1 and bake again"
    assert job.done and job.warnings == ([] if when == "before" else [told])
    assert heights(item)[0] == (10 if when == "meanwhile" else 20)


@pytest.mark.parametrize(
    "output, mode",
    [*product(("KEEP",), ("QUATERNION", "AXIS_ANGLE", "ZXY")), *product(("QUATERNION",), ("AXIS_ANGLE", "ZXY", "XYZ"))],
)
def test_a_rotation_mode_that_was_changed_since_stays(output, mode, solver):  # noqa: F811
    item = build.box("Box", location=(1, 2, 10))
    item.rotation_euler = (0.3, 0.2, 1.0)
    bpy.context.view_layer.update()
    start = item.matrix_world.to_quaternion()
    bpy.context.scene.axion.output_rotation = output
    bake(solver)
    item.rotation_mode = mode
    assert baking.check(bpy.context) == ([], []) and item.rotation_mode == mode
    bpy.context.scene.axion.output_rotation = "KEEP"
    bake(solver)
    assert item.rotation_mode == mode and heights(item) == [10, 9, 8, 7, 6, 5]
    assert item.matrix_world.to_quaternion().rotation_difference(start).angle < 1e-5
    bpy.context.scene.axion.output_rotation = "QUATERNION"
    bake(solver)
    assert item.rotation_mode == "QUATERNION"
    assert bpy.ops.axion.clear_bake() == {"FINISHED"} and item.rotation_mode == mode
    bpy.context.view_layer.update()
    assert item.matrix_world.to_quaternion().rotation_difference(start).angle < 1e-5
