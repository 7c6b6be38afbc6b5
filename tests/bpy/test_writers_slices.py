# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing in slices: none does more than a count of things, and stopped between two of them nothing has changed."""

from collections import Counter

import bpy
import numpy as np
import pytest
from axion.axion_blender import baking, compat, conventions
from axion.axion_blender.job import Phase
from axion.axion_blender.slices import run_through
from axion.axion_blender.writers import channels, curves, custom_properties, outputs, parents, placing, points
from axion.solver import ForceHistory, FrameForces, Trajectory
from blend_scenes import add, box, box_mesh, joint, key
from test_writers_points import fingerprint, marks

STATES = 60


@pytest.fixture
def done(monkeypatch):
    """What was done since it was last cleared, a Counter."""
    done = Counter()

    def count(owner, name, amount=lambda *_: 1):
        function = getattr(owner, name)

        def counted(*arguments):
            done[name] += amount(*arguments)
            return function(*arguments)

        monkeypatch.setattr(owner, name, counted)

    count(parents, "_space_of")
    count(conventions, "quaternion", lambda rotation: rotation[..., 0, 0].size)
    count(channels, "pose_matrices", lambda position, _: position[..., 0].size)
    count(curves, "fill")
    count(points, "_looks")
    count(points, "_prototype")
    return done


def slices(work, done):
    """What each slice of a generator does, a list of Counters."""
    found, going = [], True
    while going:
        done.clear()
        going = next(work, None) is not None
        found.append(Counter(done))
    return found


def motion_of(items, forces=None):
    """A Trajectory in which all go their ways."""
    random, count = np.random.default_rng(2), len(items)
    position, orientation = random.normal(size=(STATES, count, 3)), random.normal(size=(STATES, count, 4))
    orientation /= np.linalg.norm(orientation, axis=2, keepdims=True)
    names, times = [item.name for item in items], np.arange(STATES) / 24.0
    return Trajectory(names, times, position, orientation, position, position, [], {}, forces=forces)


def boxes(count, kinds=1):
    """Objects of ``kinds`` meshes."""
    meshes = [box_mesh() for _ in range(kinds)]
    return [add(f"b{k:04}", meshes[k % kinds]) for k in range(count)]


def writing(items, motion, output):
    scene = bpy.context.scene
    return outputs.write_slices(
        motion, {item.name: item for item in items}, 1, scene, bpy.context.view_layer, 1.0, output
    )


def test_no_slice_of_writing_points_does_more_than_some(done):
    items = boxes(2 * parents.OBJECTS + 100, kinds=3 * parents.OBJECTS // points.COPY)
    found = slices(writing(items, motion_of(items), "POINTS"), done)
    assert max(one["_space_of"] for one in found) == parents.OBJECTS
    assert sum(one["_space_of"] for one in found) == len(items)
    matrices = [one["quaternion"] for one in found]
    assert max(matrices) <= points.MATRICES + len(items)  # and those of the objects
    assert sum(matrices) >= STATES * len(items)
    assert sum(one["_prototype"] for one in found) == 3 * parents.OBJECTS // points.COPY
    assert max(one["_looks"] + points.COPY * one["_prototype"] for one in found) <= parents.OBJECTS + points.COPY
    assert not any(found[-1].values()), "the last slice only hands over"


@pytest.fixture
def evaluations(monkeypatch):
    """What Blender had to evaluate or to show for the writing: names of functions, in their order."""
    found = []
    for owner, name in ((parents, "_go_to"), (points, "_show")):
        function = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *given, f=function, n=name: found.append(n) or f(*given))
    return found


def test_points_over_points_are_written_without_showing_the_bodies(evaluations):
    items = boxes(6)
    for k, item in enumerate(items):
        item.rotation_mode = ("XYZ", "QUATERNION", "AXIS_ANGLE", "ZYX", "XYZ", "QUATERNION")[k]
        item.location, item.delta_location = np.random.default_rng(k).normal(size=(2, 3))
        item.rotation_euler, item.delta_rotation_euler = np.random.default_rng(k + 9).normal(size=(2, 3))
        item.scale, item.delta_scale = np.random.default_rng(k + 99).uniform(0.5, 2.0, size=(2, 3))
    items[3].hide_render = True
    run_through(writing(items, motion_of(items), "POINTS"))
    first = places_of_points()
    evaluations.clear()
    work = writing(items, motion_of(items), "POINTS")
    for _ in work:
        assert all(item.hide_viewport for item in items)
    assert evaluations == ["_show"] and np.array_equal(places_of_points(), first)  # of nobody, at the end
    bpy.context.scene.frame_set(1)
    items[0].driver_add("location", 0).driver.expression = "1 + 2"  # only Blender knows where that leads
    evaluations.clear()
    run_through(writing(items, motion_of(items), "POINTS"))
    assert "_go_to" in evaluations
    outputs.clear(bpy.context.scene)
    assert [item.hide_render for item in items] == [False] * 3 + [True] + [False] * 2
    assert not any(item.hide_viewport for item in items)


def places_of_points():
    """Places of all points of the scene on all frames."""
    motion = next(item for item in bpy.data.objects if item.name.startswith("Axion Points Scene Motion"))
    found = np.empty(3 * len(motion.data.vertices), np.float32)
    motion.data.attributes["position"].data.foreach_get("vector", found)
    return found


def test_an_object_that_nothing_moves_stands_as_blender_evaluates_it():
    """Read from its own channels, to the last bit; a parent, a driver or a constraint needs Blender."""
    items, random = boxes(40), np.random.default_rng(7)
    for k, item in enumerate(items):
        item.rotation_mode = ("XYZ", "QUATERNION", "AXIS_ANGLE", "ZYX")[k % 4]
        item.location, item.delta_location, item.rotation_euler, item.delta_rotation_euler = random.normal(size=(4, 3))
        item.rotation_quaternion, item.rotation_axis_angle, item.delta_rotation_quaternion = random.normal(size=(3, 4))
        item.scale, item.delta_scale = random.uniform(-2.0, 2.0, size=(2, 3))
    items[0].parent = items[1]
    items[2].constraints.new("LIMIT_LOCATION")
    items[3].constraints.new("LIMIT_LOCATION").mute = True
    key(items[4], "location", [(1, (0, 0, 0)), (5, (1, 0, 0))], "LINEAR")
    scene, layer = bpy.context.scene, bpy.context.view_layer
    assert parents.followers(items) == [items[0], items[2], items[4]]
    read = run_through(parents.sample(scene, layer, items, [1]))
    layer.update()
    for item in items:
        assert np.array_equal(read[item.name].world, np.array(item.evaluated_get(layer.depsgraph).matrix_world))


def test_no_slice_of_writing_keys_does_more_than_some(done):
    items = boxes(450)  # more than one chunk
    found = slices(writing(items, motion_of(items), "KEYFRAMES"), done)
    assert max(one["pose_matrices"] for one in found) <= placing.CHUNK
    assert sum(one["pose_matrices"] for one in found) == STATES * len(items)
    fills = [one["fill"] for one in found]
    assert sum(fills) == 6 * len(items) + 6 and max(fills) == 12, "an object a slice, the first with its pattern"


def test_no_slice_of_preparing_values_does_more_than_some(done):
    items = boxes(150)
    settings = bpy.context.scene.axion
    settings.use_keyed_speed = True
    work = custom_properties.stage_asked(
        motion_of(items, forces_of(len(items))), {item.name: item for item in items}, 1, bpy.context.scene
    )
    found = slices(work, done)
    fills = [one["fill"] for one in found]
    assert sum(fills) == 3 * len(items) + 3 and max(fills) == 6
    assert len(found) > len(items) + STATES - 1, "the contacts of a frame at a time"


def forces_of(count):
    """Forces of STATES - 1 frames in which body k touches k + 1 with k + 1 newtons."""
    pairs = np.stack([np.arange(count - 1), np.arange(1, count)], axis=1)
    force = np.zeros((count - 1, 3))
    force[:, 2] = np.arange(1.0, count)
    none = {"joint_anchor": (2, 3), "joint_frame": (2, 4), "joint_force": (3,), "joint_torque": (3,)}
    none = {name: np.zeros((0, *shape)) for name, shape in none.items()}
    none |= {"joint_error": np.zeros(0), "joint_error_angle": np.zeros(0)}
    one = FrameForces([], pairs, force, force, force, np.zeros(count - 1), **none)
    return ForceHistory.of([one] * (STATES - 1))


def test_the_force_of_a_body_is_that_of_all_its_contacts():
    items = boxes(4)
    motion = motion_of(items, forces_of(4))
    found = run_through(custom_properties.body_values(motion))
    assert np.array_equal(found["axion_contact_force"], np.tile([1.0, 3.0, 5.0, 3.0], (STATES - 1, 1)))
    assert np.allclose(found["axion_speed"], np.linalg.norm(motion.position, axis=2))


@pytest.fixture
def solved():
    """A solved bake of a hung weight, a box with keys of its own and one without, with speeds and forces."""
    scene = bpy.context.scene
    scene.frame_end = 4
    weight = box("Weight", (0.1, 0.1, 0.1), (0, 0, 1))
    joint("Rod", "HINGE", None, weight, (0, 0, 2))
    box("Falling", (0.1, 0.1, 0.1), (3, 0, 9))
    key(box("Keyed", (0.1, 0.1, 0.1), (6, 0, 9)), "show_name", [(1, False), (5, True)], "CONSTANT")
    scene.axion.use_keyed_speed = scene.axion.use_keyed_forces = True
    scene.axion.use_cache = False
    scene.axion.device = "CPU"
    job = baking.make_job(bpy.context, say=lambda line: None)
    job.do_gather()
    job.do_solve()
    assert job.phase is Phase.SOLVED, job.error
    return job


def seen():
    """All that a bake may change, with every key and every value."""
    keys = {}
    for item in bpy.data.objects:
        for curve in compat.curves_of(item):
            group = curve.group.name if curve.group is not None else None
            points_ = [(*k.co, *k.handle_left, *k.handle_right, k.interpolation) for k in curve.keyframe_points]
            keys[item.name, curve.data_path, curve.array_index] = group, points_
    values = {
        (item.name, name): item[name]
        for item in bpy.data.objects
        for name in marks(item)
        if isinstance(item[name], (str, float))
    }
    return fingerprint(), keys, values


@pytest.mark.parametrize("output", ["KEYFRAMES", "POINTS"])
@pytest.mark.parametrize("earlier", [None, "KEYFRAMES", "POINTS"])
def test_stopped_between_any_two_slices_nothing_is_half_written(solved, output, earlier):
    settings = bpy.context.scene.axion
    if earlier is not None:
        settings.output = earlier
        run_through(solved.write(solved.trajectory))
    settings.output = output
    before, stop = seen(), 0
    while True:
        work = solved.write(solved.trajectory)
        if sum(1 for _ in zip(range(stop), work, strict=False)) < stop:
            break
        work.close()
        assert seen() == before, f"after {stop} slices"
        stop += 1
    assert stop > 8
    assert seen() != before or earlier == output, "at last all is written"
    paths = {curve.data_path for curve in compat.curves_of(bpy.data.objects["Falling"])}
    assert '["axion_speed"]' in paths and ("location" in paths) == (output == "KEYFRAMES")
    written = seen()
    run_through(solved.write(solved.trajectory))
    assert seen() == written, "a second bake replaces the first"
    outputs.clear(bpy.context.scene)
    assert not any(marks(item) for item in bpy.data.objects)
