# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies and joints of another file: linked ones are left alone, overrides keep what is set on them."""

import axion
import bpy
import pytest
from axion.axion_blender import override_records
from blend_scenes import box, joint, key, plane
from test_operators import select


@pytest.fixture
def library(empty_file, tmp_path):
    """A file with a body "Wheel" and a joint "Axle", and an empty file of its own to link it to."""
    wheel = box("Wheel", mass=3.0, friction=0.25)
    joint("Axle", "HINGE", wheel, None)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Wheel", "Axle"]
    for item in wanted.objects:
        bpy.context.scene.collection.objects.link(item)
    return tmp_path


def test_linked_bodies_are_not_touched_and_named(library):
    wheel = bpy.data.objects["Wheel"]
    select(wheel)
    for name in ("add_bodies", "remove_bodies", "apply_material", "calculate_mass", "change_shape", "remove_joints"):
        with pytest.raises(RuntimeError, match="(?i)no .* was"):
            getattr(bpy.ops.axion, name)()
    assert (wheel.axion.mass, wheel.axion.friction, wheel.axion.enabled) == (3.0, 0.25, True)


def test_an_override_keeps_its_settings_and_takes_the_others_from_the_library(library):
    wheel = bpy.data.objects["Wheel"].override_create(remap_local_usages=True)
    axle = bpy.data.objects["Axle"].override_create(remap_local_usages=True)
    wheel.axion.mass, axle.axion_joint.use_motor_ang, axle.axion_joint.object2 = 5.0, True, None
    select(wheel)
    assert bpy.ops.axion.apply_material(material="RUBBER") == {"FINISHED"}
    wheel.name = "Own Wheel"
    path = str(library / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    own = next(item for item in bpy.data.objects if item.override_library and item.axion.enabled).axion
    assert own.mass == 5.0 and own.density == 1100.0 and own.friction == pytest.approx(1.07)
    assert own.collision_shape == "BOX", "what was not set comes from the library"
    held = next(item for item in bpy.data.objects if item.override_library and item.axion_joint.enabled).axion_joint
    assert held.use_motor_ang and held.type == "HINGE"


@pytest.fixture(params=["plain", "animated"])
def shot(request, empty_file, tmp_path):
    """A saved file with an override "Crate" over a floor, of a library in which it has keys of its own or none."""
    crate = box("Crate", location=(0, 0, 3))
    if request.param == "animated":
        key(crate, "location", [(1, (0, 0, 3)), (7, (1, 0, 3))])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Crate"]
    scene = bpy.context.scene
    scene.collection.objects.link(wanted.objects[0])
    wanted.objects[0].override_create(remap_local_usages=True)
    plane()
    scene.frame_start, scene.frame_end, scene.render.fps, scene.axion.use_cache = 1, 7, 24, False
    scene.axion.device = "CPU"
    scene.frame_set(1)
    return str(tmp_path / "shot.blend")


def reopened(path):
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)


def crate():
    return next(item for item in bpy.context.scene.objects if item.name == "Crate")


def left(item):
    """Custom properties of a bake."""
    return {name for name, _ in item.items() if name.startswith("axion_")} - {"axion_joint"}


def portrait(item):
    """All that a bake may change on an object."""
    bpy.context.scene.frame_set(1)
    data = item.animation_data
    action = None if data is None or data.action is None else data.action.name
    flags = item.hide_viewport, item.hide_render, item.rotation_mode
    return [list(row) for row in item.matrix_basis], flags, action, len(bpy.data.actions)


def heights():
    """Of what is seen of the crate, at frames 1 and 7."""
    found = []
    for frame in (1, 7):
        bpy.context.scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for one in depsgraph.object_instances:
            if one.is_instance or one.object.name == "Crate":
                found.append(one.matrix_world.translation.z)
    return found


@pytest.mark.parametrize("output", ["KEYFRAMES", "POINTS"])
def test_a_bake_of_an_override_is_known_again_after_the_file_was_opened(shot, output):
    scene = bpy.context.scene
    scene.axion.output, scene.axion.use_keyed_speed = output, True
    before = portrait(crate())
    assert bpy.ops.axion.bake() == {"FINISHED"}
    baked = heights()
    assert len(baked) == 2 and baked[1] < 2.8
    scene.frame_set(7)
    reopened(shot)
    assert heights() == baked
    assert output == "POINTS" or crate()["axion_speed"] > 1.0, "keys of custom properties play, too"
    assert override_records.KEPT not in bpy.context.scene
    assert bpy.ops.axion.bake() == {"FINISHED"}
    assert heights() == baked, "the earlier bake is replaced, and is not simulated as the crate's own animation"
    bpy.context.scene.frame_set(7)
    reopened(shot)
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert portrait(crate()) == before and not left(crate())
    reopened(shot)
    assert portrait(crate()) == before and bpy.ops.axion.clear_bake() == {"CANCELLED"}


def test_a_bake_is_known_where_axion_is_switched_on_after_the_file_was_opened(shot):
    before = portrait(crate())
    assert bpy.ops.axion.bake() == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    axion.unregister()
    try:
        bpy.ops.wm.open_mainfile(filepath=shot)
        reopened(shot)  # a save without Axion loses nothing
        assert not left(crate())
    finally:
        axion.register()
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert portrait(crate()) == before and not left(crate())


def test_apply_keeps_the_motion_of_an_override_of_an_opened_file(shot):
    assert bpy.ops.axion.bake() == {"FINISHED"}
    baked = heights()
    reopened(shot)
    assert bpy.ops.axion.apply_bake() == {"FINISHED"}
    assert not left(crate()) and heights() == baked


def test_all_bodies_that_are_overrides_are_hidden_behind_their_points(empty_file, tmp_path):
    """Only the first was: Blender sets nothing on overrides where it sets a property of many objects at once."""
    library, shot = str(tmp_path / "library.blend"), str(tmp_path / "shot.blend")
    names = [f"Crate {number}" for number in range(3)]
    for number, name in enumerate(names):
        box(name, location=(2 * number, 0, 3))
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.objects = list(names)
    scene = bpy.context.scene
    for item in wanted.objects:
        scene.collection.objects.link(item)
        item.override_create(remap_local_usages=True)
    box("Local", location=(-2, 0, 3))
    scene.frame_start, scene.frame_end, scene.axion.use_cache, scene.axion.output = 1, 4, False, "POINTS"
    scene.axion.device = "CPU"
    bodies = [*names, "Local"]

    def flags():
        found = {item.name: (item.hide_viewport, item.hide_render) for item in bpy.context.scene.objects}
        return {found[name] for name in bodies}

    assert bpy.ops.axion.bake() == {"FINISHED"}
    assert flags() == {(True, True)}
    prototypes = bpy.data.collections["Axion Points Scene Prototypes"].objects
    assert len(prototypes) == 4 and not any(one.override_library for one in prototypes), "plain objects of this file"
    reopened(shot)
    assert flags() == {(True, True)}
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert flags() == {(False, False)}
