# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels drawn on a layout that checks: each property and operator they show exists, in every state of the scene."""

from types import SimpleNamespace

import bpy
import pytest
from axion.axion_blender import baking, report, ui
from axion.axion_blender.properties.joint import TYPES
from axion.axion_blender.ui import joint, motion, physics
from axion.solver import StepReport
from panel_recorder import Layout, draw_tree
from panel_recorder import draw as draw_panel

PHYSICS = (*physics.CLASSES, *motion.CLASSES, *joint.CLASSES)


def draw(panel, context):
    """Names and texts that a panel shows, or None where it hides."""
    shown = draw_panel(panel, context)
    return None if shown is None else [entry.label if entry.kind == "label" else entry.name for entry in shown]


def names(classes):
    """Names and texts in all panels of ``classes``."""
    return [name for panel in classes if issubclass(panel, bpy.types.Panel) for name in draw(panel, bpy.context) or ()]


@pytest.fixture
def item(empty_file):
    made = bpy.data.objects.new("thing", bpy.data.meshes.new("thing"))
    empty_file.collection.objects.link(made)
    bpy.context.view_layer.objects.active = made
    made.select_set(True)
    return made


def switches(group):
    """Sets every checkbox of a group."""
    for definition in group.bl_rna.properties:
        if definition.type == "BOOLEAN" and not definition.is_array and not definition.is_readonly:
            setattr(group, definition.identifier, True)


def test_a_plain_object_shows_buttons_and_no_panel(item):
    assert [draw(panel, bpy.context) for panel in PHYSICS] == [None] * len(PHYSICS)
    shown = []
    physics.draw_buttons(SimpleNamespace(layout=Layout(shown, ())), bpy.context)
    assert [entry.name for entry in shown] == ["axion.add_bodies", "axion.enable_joint"]


@pytest.mark.parametrize("kind", ("ACTIVE", "PASSIVE"))
@pytest.mark.parametrize("all_on", (False, True))
def test_every_setting_of_a_body_is_shown_somewhere(item, kind, all_on):
    item.axion.enabled, item.axion.type = True, kind
    if all_on:
        switches(item.axion)
        item.axion.collision_shape = "CONVEX_DECOMPOSITION"
    shown = names((*physics.CLASSES, *motion.CLASSES))
    assert {"type", "collision_shape", "friction", "restitution", "collision_collections"} <= set(shown)
    if kind == "ACTIVE" and all_on:
        left = (
            {p.identifier for p in item.axion.bl_rna.properties} - set(shown) - {"rna_type", "name", "enabled", "mass"}
        )
        assert not left, "a setting that no panel shows"


NATIVE = {"Damping Translation", "Target Velocity", "Disable Collisions"}
"""Labels of Blender's own that are cut off there, too."""


@pytest.mark.parametrize("kind", [kind[0] for kind in TYPES])
def test_labels_are_not_cut_off(item, kind):
    """In Blender's own layout on a screen of 1600 pixels 12 letters fit beside a value, 15 beside a checkbox."""
    item.axion.enabled = item.axion_joint.enabled = True
    item.axion.collision_shape = "CONVEX_DECOMPOSITION"
    own, item.axion_joint.type = item.axion_joint, kind
    for group in (item.axion, own):
        switches(group)
    for own.motor_lin_type, own.motor_ang_type in (("POSITION", "POSITION"), ("VELOCITY", "VELOCITY")):
        for entry in draw_tree(PHYSICS, bpy.context):
            if entry.kind != "prop" or entry.label in NATIVE:
                continue
            group = own if entry.path[0] == "Axion Joint" else item.axion
            prop = group.bl_rna.properties[entry.name]
            label = f"{entry.label} X" if entry.label and getattr(prop, "is_array", False) else entry.label
            assert len(label) <= (15 if prop.type == "BOOLEAN" else 12), entry


def test_every_setting_of_a_joint_is_shown_by_some_type(item):
    item.axion_joint.enabled = True
    switches(item.axion_joint)
    shown = set()
    for kind in item.axion_joint.bl_rna.properties["type"].enum_items:
        item.axion_joint.type = kind.identifier
        for motor in ("VELOCITY", "POSITION"):
            item.axion_joint.motor_lin_type = item.axion_joint.motor_ang_type = motor
            shown |= set(names(joint.CLASSES))
    left = {p.identifier for p in item.axion_joint.bl_rna.properties} - shown - {"rna_type", "name", "enabled"}
    assert not left, "a setting that no panel shows"


def test_scene_settings_are_shown_in_the_scene_tab_and_the_sidebar(item):
    switches(bpy.context.scene.axion)
    bpy.context.scene.axion.device = "CUDA"
    own = bpy.context.scene.axion
    elsewhere = {"rna_type", "name", "uuid", "overlays", "effector_weights"}
    wanted = {p.identifier for p in own.bl_rna.properties} - elsewhere
    wanted |= {p.identifier for p in own.effector_weights.bl_rna.properties} - {"rna_type", "name"}
    for shown in (names(ui.scene.CLASSES), draw(ui.sidebar.AXION_PT_sidebar_settings, bpy.context)):
        assert wanted <= set(shown)


def test_the_menu_offers_every_operator_of_the_workflow(item):
    offered = set(draw(ui.menu.AXION_MT_object, bpy.context))
    assert {f"axion.{name}" for name in ("add_bodies", "add_joint", "convert_native", "check_scene", "bake")} <= offered


def test_the_sidebar_is_the_way_to_a_bake(item):
    titles = [entry.label for entry in draw_tree(ui.sidebar.CLASSES, bpy.context) if entry.kind == "panel"]
    assert titles == ["Set Up", "Joints", "Check", "Bake", "Settings", "Report"]
    shown = names(ui.sidebar.CLASSES)
    steps = [shown.index(f"axion.{name}") for name in ("add_bodies", "add_joint", "check_scene", "bake", "clear_bake")]
    assert steps == sorted(steps)


def test_a_finding_is_listed_with_its_object_and_shown_in_full(item):
    session = bpy.context.window_manager.axion
    other = bpy.data.objects.new("thing: small", None)
    bpy.context.scene.collection.objects.link(other)
    session.problems = "thing: its mass is 0: type another\nthing: small: it has no mesh"
    session.warnings = "thing has an open mesh"
    assert [(f.name, f.kind) for f in session.findings] == [
        ("thing", "ERROR"),
        ("thing: small", "ERROR"),
        ("thing", "INFO"),
    ]
    assert "AXION_UL_findings" not in draw(ui.sidebar.AXION_PT_sidebar_check, bpy.context), "of another scene"
    session.checked = bpy.context.scene.session_uid
    session.finding_index = 1
    assert bpy.context.view_layer.objects.active == other and other.select_get() and not item.select_get()
    shown = draw(ui.sidebar.AXION_PT_sidebar_check, bpy.context)
    assert "AXION_UL_findings" in shown and "thing: small: it has no mesh" in " ".join(shown)
    session.problems = session.warnings = ""
    assert len(session.findings) == 0
    assert "AXION_UL_findings" not in draw(ui.sidebar.AXION_PT_sidebar_check, bpy.context)


def test_the_list_of_joints_holds_those_that_are_off_too(item):
    context, session = bpy.context, bpy.context.window_manager.axion
    assert "AXION_UL_joints" not in draw(ui.sidebar.AXION_PT_sidebar_joints, context)
    for name, enabled in (("b", True), ("a", False)):
        other = bpy.data.objects.new(name, None)
        context.scene.collection.objects.link(other)
        other.axion_joint.object2, other.axion_joint.enabled = item, enabled
    assert "AXION_UL_joints" in draw(ui.sidebar.AXION_PT_sidebar_joints, context)
    found = list(context.scene.objects)
    shown, order = ui.lists.filtered(context.scene.objects, "", 1)
    assert {owner.name for owner, flag in zip(found, shown, strict=True) if flag} == {"a", "b"}
    assert order[found.index(bpy.data.objects["a"])] < order[found.index(bpy.data.objects["b"])]
    only_b, _ = ui.lists.filtered(context.scene.objects, "B", 1)
    assert {owner.name for owner, flag in zip(found, only_b, strict=True) if flag} == {"b"}
    session.joint_index = found.index(bpy.data.objects["a"])
    assert context.view_layer.objects.active.name == "a"


def test_a_joint_says_what_is_amiss_with_its_objects(item):
    other = bpy.data.objects.new("other", None)
    own = item.axion_joint
    own.enabled, item.axion.enabled = True, False

    def said():
        return " ".join(draw(joint.AXION_PT_joint_objects, bpy.context))

    assert "Choose the bodies" in said()
    own.object1 = own.object2 = item
    assert "itself" in said()
    own.object2 = other
    assert "thing is no Axion body" in said()
    item.axion.enabled = other.axion.enabled = True
    assert said() == "object1 object2"


def test_sidebar_shows_the_last_report(item):
    context = bpy.context
    assert draw(ui.sidebar.AXION_PT_sidebar_report, context) == ["Nothing is baked yet"]
    torn = ("Hinge", "Rod")
    summary = report.summary([StepReport(1, penetration=2e-3, converged=False, contradictory_joints=torn)], 1)
    context.scene[baking.SUMMARY] = report.to_json(summary)
    shown = draw(ui.sidebar.AXION_PT_sidebar_report, context)
    assert "2.0000 mm" in " ".join(shown) and "missed" in " ".join(shown)
    assert "Joints that contradict each other: Hinge, Rod" in " ".join(shown)


def test_a_report_with_an_unknown_number_can_be_shown(item):
    # JSON has no NaN; a residual that was one must not stop the panel from drawing.
    summary = report.summary([StepReport(1, penetration=float("nan"), converged=False)], 1)
    bpy.context.scene[baking.SUMMARY] = report.to_json(summary)
    assert any("missed" in line for line in draw(ui.sidebar.AXION_PT_sidebar_report, bpy.context))
