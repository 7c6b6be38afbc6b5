# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies and joints of another file: linked ones are left alone, overrides keep what is set on them."""

import bpy
import pytest
from blend_scenes import box, joint
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
