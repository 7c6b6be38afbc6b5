# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake says that it is out of date when settings changed since, names them, and no longer when they are back."""

import bpy
import pytest
from axion.axion_blender import bake_inputs, last_bake, out_of_date
from axion.axion_blender.slices import run_through
from blend_scenes import add, box, box_mesh, joint, key, plane
from call_count import calls_of
from panel_recorder import draw

START = "Bake is out of date, settings changed since: "


def said():
    """What a look finds."""
    text = run_through(out_of_date.look(bpy.context.scene))
    return text.removeprefix(START) if text else ""


@pytest.fixture
def baked(empty_file):
    """A baked scene of three boxes, two joined to each other, over a ground, in a wind."""
    empty_file.frame_end = 3
    ground = plane()
    first, second = box("First", location=(0, 0, 3)), box("Second", location=(2, 0, 3))
    held = box("Held", location=(5, 0, 3))
    key(held, "axion.kinematic", [(1, True), (2, False)], "CONSTANT")
    motor = joint("Motor", "MOTOR", first, second, (1, 0, 3))
    motor.axion_joint.use_motor_lin = True
    key(motor, "axion_joint.motor_lin_target_velocity", [(1, 0.0), (3, 1.0)])
    bpy.ops.object.effector_add(type="WIND")
    bpy.context.object.name = "Wind"
    empty_file.frame_set(1)
    bpy.context.view_layer.objects.active = ground
    assert said() == "", "without a bake there is nothing to say"
    assert bpy.ops.axion.bake() == {"FINISHED"}
    return empty_file


CHANGES = {
    "First": lambda data: setattr(data.objects["First"].axion, "mass", 2.0),
    "Ground": lambda data: setattr(data.objects["Ground"].axion, "friction", 0.9),
    "Second": lambda data: setattr(data.objects["Second"].axion, "collision_shape", "SPHERE"),
    "Motor": lambda data: setattr(data.objects["Motor"].axion_joint, "object2", data.objects["Held"]),
    "Wind": lambda data: setattr(data.objects["Wind"].field, "strength", 7.0),
    "Gravity": lambda data: setattr(data.scenes[0], "gravity", (0, 0, -1)),
    "Frame Range": lambda data: setattr(data.scenes[0], "frame_end", 30),
    "Quality": lambda data: setattr(data.scenes[0].axion, "quality", "FINAL"),
    "Field Weights": lambda data: setattr(data.scenes[0].axion.effector_weights, "wind", 0.5),
    "Held": lambda data: key(data.objects["Held"], "axion.kinematic", [(3, True)], "CONSTANT"),
}
MORE = {
    "Ground": [
        lambda data: setattr(data.objects["Ground"], "location", (0, 0, -1)),
        lambda data: setattr(data.objects["Ground"].axion, "enabled", False),
    ],
    "Motor": [
        lambda data: setattr(data.objects["Motor"].axion_joint, "motor_lin_max_force", 3.0),
        lambda data: setattr(data.objects["Motor"], "rotation_euler", (0, 0, 1)),
    ],
    "Second": [lambda data: setattr(data.objects["Second"], "scale", (2, 1, 1))],
    "Fourth": [lambda data: box("Fourth", location=(9, 0, 0))],
    "First": [lambda data: data.objects.remove(data.objects["First"])],
}


@pytest.mark.parametrize(
    ("name", "change"), [*CHANGES.items(), *((name, change) for name, many in MORE.items() for change in many)]
)
def test_what_changed_is_named(baked, name, change):
    assert said() == ""
    change(bpy.data)
    assert name in said().split(", ")


def test_what_does_not_change_the_motion_says_nothing(baked, tmp_path):
    for frame in (2, 3, 60, 1):  # keyed settings have another value at each
        baked.frame_set(frame)
        assert said() == ""
    bpy.data.objects["First"].name = "Renamed"
    baked.axion.overlays.show = False
    baked.axion.use_tolerance, baked.axion.tolerance = False, 0.5
    add("Decoration", box_mesh())
    assert said() == ""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert said() == ""
    bpy.data.objects["Second"].axion.mass = 5.0
    assert said() == "Second"


@pytest.mark.parametrize("output", ["KEYFRAMES", "POINTS"])
def test_another_bake_brings_it_up_to_date_and_clear_forgets_it(baked, output):
    baked.axion.output, baked.axion.use_keyed_forces = output, True
    assert said() != ""
    for _ in range(2):
        assert bpy.ops.axion.bake() == {"FINISHED"}
        assert said() == ""
    bpy.data.objects["First"].axion.mass = 2.0
    assert said() == "First"
    bpy.ops.axion.clear_bake()
    assert said() == ""


def test_undo_and_redo(baked):
    bpy.ops.ed.undo_push(message="baked")
    bpy.data.objects["First"].axion.mass = 2.0
    bpy.ops.ed.undo_push(message="changed")
    assert said() == "First"
    bpy.ops.ed.undo()
    assert said() == ""
    bpy.ops.ed.redo()
    assert said() == "First"
    assert bpy.ops.axion.bake() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="baked again")
    assert said() == ""
    bpy.ops.ed.undo()
    assert said() == "First", "the earlier bake is back"


def test_many_changes_are_counted(baked):
    for item in baked.objects:
        item.axion.friction = 0.25
    baked.gravity = (0, 0, -1)
    assert said() == "Gravity, Ground, First and 2 more"


def test_the_panel_shows_what_the_timer_found(baked):
    from axion.axion_blender.ui.sidebar import AXION_PT_sidebar_bake

    def shown():
        return [entry.label for entry in draw(AXION_PT_sidebar_bake, bpy.context) if entry.kind == "label"]

    assert shown() == []
    bpy.data.objects["First"].axion.mass = 2.0
    assert shown() == [], "drawing looks at nothing by itself"
    while out_of_date._tick() == out_of_date.REST:
        pass
    assert " ".join(shown()) == f"{START}First"
    bpy.data.objects["First"].axion.mass = 1.0
    while out_of_date._tick() == out_of_date.REST:
        pass
    assert shown() == []


def test_scenes_wait_for_each_other_and_those_that_went_are_left_out(baked):
    bpy.data.objects["First"].axion.mass = 2.0
    gone = bpy.data.scenes.new("Gone")
    out_of_date._asked.update({gone.session_uid: True, baked.session_uid: True})
    bpy.data.scenes.remove(gone)
    while out_of_date._tick() == out_of_date.REST:
        pass
    assert out_of_date.sentence(baked) == f"{START}First"
    out_of_date.detach()


def test_a_scene_that_goes_during_a_look(baked):
    slices = bake_inputs.read(baked)
    next(slices)
    bpy.ops.wm.read_homefile(use_empty=True)
    with pytest.raises(StopIteration) as ended:
        next(slices)
    assert ended.value.value is None


@pytest.mark.parametrize("broken", ["", "[]", "{}", '{"scene": {}, "objects": {"First": 3}}', "NaN", "{"])
def test_a_record_that_somebody_broke_says_nothing(baked, broken):
    text = last_bake.text_of(baked)
    text[last_bake.INPUTS], text[last_bake.STAMP] = broken, "another"
    bpy.data.objects["First"].axion.mass = 2.0
    assert said() == ""


def test_slices_cost_what_their_objects_do(empty_file):
    def slices_of(count):
        data = box_mesh()
        for number in range(len(empty_file.objects), count):
            add(f"b{number:04}", data, collision_shape="BOX")
        slices, costs = bake_inputs.read(empty_file), []
        while True:
            made, calls = calls_of(lambda: next(slices, None))
            if made is None:
                return costs
            costs.append(calls)

    few, many = slices_of(400), slices_of(2000)
    assert len(many) == 21 and len(few) == 5
    assert max(many) < 1.1 * max(few)


def apart(scene, item):
    """Put an object into a collection of its own.  Returns what excludes that."""
    group = bpy.data.collections.new("Apart")
    scene.collection.children.link(group)
    for owner in item.users_collection:
        owner.objects.unlink(item)
    group.objects.link(item)
    return bpy.context.view_layer.layer_collection.children[group.name]


def test_who_is_excluded_keeps_its_keys_and_is_named(baked):
    item = bpy.data.objects["Held"]
    layer = apart(baked, item)
    assert said() == ""
    layer.exclude = True
    assert said() == "Held"
    assert bpy.ops.axion.bake() == {"FINISHED"}
    assert "axion_bake" in item and said() == ""
    layer.exclude = False
    assert said() == "Held"


def test_keys_that_go_because_a_body_takes_no_part_any_more_are_named(baked):
    item = bpy.data.objects["First"]
    item.axion.enabled = False
    bpy.data.objects["Motor"].axion_joint.enabled = False
    assert bpy.ops.axion.bake() == {"FINISHED"}
    assert "axion_bake" not in item
    (line,) = [w for w in last_bake.text_of(baked).as_string().splitlines() if "took no part" in w]
    assert "First took no part: the keys of an earlier bake were removed" in line
