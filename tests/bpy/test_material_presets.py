# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials and masses: presets with sources, and the mass that a density gives."""

import math

import bpy
import pytest
from axion.axion_blender import materials
from axion.axion_blender.extract import weight
from axion.solver import decomposition, shapes
from blend_scenes import add, box, box_mesh, joint
from test_operators import select


@pytest.mark.parametrize("name", materials.MATERIALS)
def test_each_figure_names_its_source(name):
    material = materials.MATERIALS[name]
    figures = (material.density, material.friction, material.restitution)
    for figure, source in zip(figures, material.sources, strict=True):
        assert (source in materials.SOURCES) == (figure is not None) == bool(source)
    assert 0.0 < material.density < 25000.0
    assert material.friction is None or 0.0 < material.friction < 1.5
    assert material.restitution is None or 0.0 <= material.restitution <= 1.0


def test_pairs_that_were_measured_come_out():
    # The scene takes the geometric mean; these pairs stand in the sources themselves.
    own = {name: material.friction for name, material in materials.MATERIALS.items()}
    assert math.sqrt(own["RUBBER"] * own["CONCRETE"]) == pytest.approx(0.80, abs=0.005)
    assert math.sqrt(own["COPPER"] * own["STEEL"]) == pytest.approx(0.36, abs=0.005)
    assert math.sqrt(own["ALUMINIUM"] * own["STEEL"]) == pytest.approx(0.47, abs=0.01)


def test_every_source_is_used():
    used = {source for material in materials.MATERIALS.values() for source in material.sources}
    assert used - {""} == set(materials.SOURCES)


def test_a_material_is_applied_to_the_selected_bodies(empty_file):
    first, second, other = box("first"), box("second", type="PASSIVE"), add("other", box_mesh())
    other.axion.friction = 0.11
    select(other, first, second)
    assert bpy.ops.axion.apply_material(material="STEEL") == {"FINISHED"}
    for item in (first, second):
        own = item.axion
        assert (own.use_density, own.density) == (True, 7850.0)
        assert own.friction == pytest.approx(0.57) and own.restitution == pytest.approx(0.6)
    assert other.axion.friction == pytest.approx(0.11)


def test_what_has_no_figure_stays(empty_file):
    item = box("ice", restitution=0.25)
    select(item)
    assert bpy.ops.axion.apply_material(material="ICE") == {"FINISHED"}
    assert item.axion.restitution == 0.25 and item.axion.friction == pytest.approx(0.03)


@pytest.mark.parametrize("name", ("apply_material", "calculate_mass", "change_shape"))
def test_no_body_selected_is_said(empty_file, name):
    select(add("plain", box_mesh()))
    with pytest.raises(RuntimeError, match="(?i)no .* was"):
        getattr(bpy.ops.axion, name)()


def weigh(item, **options):
    cook = weight.cook(bpy.context.evaluated_depsgraph_get(), bpy.context.scene.unit_settings)
    return weight.mass(item, cook, **options)


@pytest.mark.parametrize(
    ("shape", "volume"),
    [
        ("BOX", 2 * 3 * 4),
        ("CONVEX_HULL", 2 * 3 * 4),
        ("MESH", 2 * 3 * 4),
        # Blender's rules for the bounding box: the longer half side of X and Y, or of all three, is the radius.
        ("CYLINDER", math.pi * 1.5**2 * 4),
        ("CONE", math.pi * 1.5**2 * 4 / 3),
        ("SPHERE", math.pi * 4 / 3 * 2.0**3),
        ("CAPSULE", math.pi * 1.5**2 * (4 - 3) + math.pi * 4 / 3 * 1.5**3),
    ],
)
def test_the_mass_is_volume_times_density(empty_file, shape, volume):
    item = box("thing", size=(1, 1, 1), collision_shape=shape, density=500.0)
    item.scale = (2, 3, 4)
    bpy.context.view_layer.update()
    assert weigh(item) == pytest.approx(500.0 * volume, rel=1e-6)
    assert weigh(item, density=1.0) == pytest.approx(volume, rel=1e-6)


def test_the_unit_scale_counts_as_in_the_bake(empty_file):
    # One unit is a centimetre: a cube of 10 units is a litre of 1000 kg/m^3, 1 kg; Blender shows mass times 0.01^3.
    empty_file.unit_settings.scale_length = 0.01
    item = box("cube", size=(10, 10, 10), density=1000.0)
    bpy.context.view_layer.update()
    assert weigh(item) * 0.01**3 == pytest.approx(1.0, rel=1e-5)


def test_a_compound_weighs_all_its_parts(empty_file):
    parent = add("parent", None, collision_shape="COMPOUND", density=100.0)
    for x in (0, 3):
        box(f"part {x}", location=(x, 0, 0)).parent = parent
    bpy.context.view_layer.update()
    assert weigh(parent) == pytest.approx(200.0, rel=1e-6)


def test_masses_are_calculated_once_and_shown(empty_file):
    item, flat = box("cube", size=(2, 2, 2), density=1000.0, use_density=True), box("passive", type="PASSIVE")
    select(item, flat)
    assert bpy.ops.axion.calculate_mass() == {"FINISHED"}
    assert item.axion.mass == pytest.approx(8000.0) and not item.axion.use_density
    assert flat.axion.mass == 1.0
    assert bpy.ops.axion.calculate_mass(material="ICE") == {"FINISHED"}
    assert item.axion.mass == pytest.approx(8 * 917.0) and item.axion.density == 917.0
    assert bpy.ops.axion.calculate_mass(material="CUSTOM", density=2.0) == {"FINISHED"}
    assert item.axion.mass == pytest.approx(16.0)


def test_what_encloses_no_volume_is_named_and_the_others_are_weighed(empty_file, capfd):
    item = box("cube", density=10.0)
    flat = add("flat", box_mesh((1, 1, 0)), collision_shape="BOX", mass=3.0)
    select(item, flat)
    assert bpy.ops.axion.calculate_mass() == {"FINISHED"}
    assert "flat" in capfd.readouterr().out
    assert item.axion.mass == pytest.approx(10.0) and flat.axion.mass == 3.0
    select(flat)
    with pytest.raises(RuntimeError, match="no volume|No mass"):
        bpy.ops.axion.calculate_mass()


def test_a_panel_knows_the_mass_and_notices_changes(empty_file):
    item = box("cube", density=10.0)

    def known():
        return weight.known_mass(item, bpy.context.evaluated_depsgraph_get(), empty_file.unit_settings)

    assert known() == pytest.approx(10.0)
    item.scale = (2, 1, 1)
    bpy.context.view_layer.update()
    assert known() == pytest.approx(20.0)
    item.axion.density = 1.0
    assert known() == pytest.approx(2.0)
    item.data.vertices[0].co.x -= 1.0
    item.data.update()
    bpy.context.view_layer.update()
    item.axion.collision_shape = "CONVEX_HULL"
    assert known() > 2.0


def test_what_would_be_taken_apart_is_weighed_as_it_is(empty_file, monkeypatch):
    """Calculate Mass took the mesh apart, a minute for a monkey, and the panel showed no mass."""
    monkeypatch.setattr(decomposition, "_pieces", lambda *_: pytest.fail("it was taken apart"))
    item = box("cube", size=(2, 2, 2), density=100.0, collision_shape="CONVEX_DECOMPOSITION")
    depsgraph = bpy.context.evaluated_depsgraph_get()
    assert weigh(item) == pytest.approx(800.0, rel=1e-6)
    assert weight.known_mass(item, depsgraph, empty_file.unit_settings) == pytest.approx(800.0, rel=1e-6)


def test_a_body_that_turns_and_copies_of_one_are_weighed_once(empty_file, monkeypatch):
    """At each frame of a playback the Physics tab found the hull anew, and Calculate Mass that of each copy."""
    found, hull = [], shapes.convex_hull
    monkeypatch.setattr(shapes, "convex_hull", lambda points: found.append(1) or hull(points))
    item = box("cube", density=10.0, collision_shape="CONVEX_HULL")
    for angle in (0.0, 0.3, 1.2):
        item.rotation_euler, item.location = (angle, 2 * angle, -angle), (angle, 0.0, 0.0)
        bpy.context.view_layer.update()
        known = weight.known_mass(item, bpy.context.evaluated_depsgraph_get(), empty_file.unit_settings)
        assert known == pytest.approx(10.0, rel=1e-4)
    assert len(found) == 1
    copies = [item.copy() for _ in range(3)]
    for copy in copies:
        empty_file.collection.objects.link(copy)
    select(*copies)
    assert bpy.ops.axion.calculate_mass() == {"FINISHED"}
    assert len(found) == 2 and copies[2].axion.mass == pytest.approx(10.0, rel=1e-4)


def test_own_materials_are_kept_under_a_name(empty_file, tmp_path, monkeypatch):
    monkeypatch.setattr(bpy.utils, "user_resource", lambda *args, path="", create=False: str(tmp_path))
    source, target = box("source", use_density=True, density=123.0, friction=0.25), box("target", mass=7.0)
    select(source)
    assert bpy.ops.axion.add_material_preset(name="Balsa") == {"FINISHED"}
    (kept,) = tmp_path.glob("*.py")
    select(target)
    bpy.ops.script.execute_preset(filepath=str(kept), menu_idname="AXION_PT_material_presets")
    own = target.axion
    assert (own.use_density, own.density, own.friction, own.mass) == (True, 123.0, 0.25, 7.0)


def test_copying_joint_settings_leaves_what_they_join(empty_file):
    first, second = box("first"), box("second")
    source = joint("source", "HINGE", first, second, break_force=7.0)
    target = joint("target", "FIXED", second, None)
    select(target, source)
    assert bpy.ops.axion.copy_settings() == {"FINISHED"}
    own = target.axion_joint
    assert (own.type, own.break_force, own.object1, own.object2) == ("HINGE", 7.0, second, None)
