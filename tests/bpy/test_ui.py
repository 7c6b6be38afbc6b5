# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels drawn on a layout that checks: each property and operator they show exists, in every state of the scene."""

import types
from types import SimpleNamespace

import pytest

bpy = pytest.importorskip("bpy")

from axion.axion_blender import baking, report, ui  # noqa: E402
from axion.axion_blender.ui import physics  # noqa: E402
from axion.solver import StepReport  # noqa: E402


class Layout:
    """Takes what UILayout takes; refuses names that do not exist, notes what was shown."""

    def __init__(self, shown):
        self.shown = shown

    def column(self, **options):
        return self

    row = column

    def separator(self):
        pass

    def label(self, text="", icon="NONE"):
        self.shown.append(text)

    def prop(self, data, name, text=None):
        assert name in data.bl_rna.properties, f"{data.bl_rna.identifier} has no {name}"
        self.shown.append(name)

    def operator(self, name, text="", icon="NONE"):
        module, function = name.split(".")
        assert function in dir(getattr(bpy.ops, module)), name
        self.shown.append(name)
        return SimpleNamespace()

    def operator_menu_enum(self, name, prop, text=""):
        self.operator(name)


def draw(panel, context):
    """What a panel shows, or None where it hides."""
    if hasattr(panel, "poll") and not panel.poll(context):
        return None
    shown = []
    drawn = SimpleNamespace(layout=Layout(shown))
    if issubclass(panel, physics.PhysicsPanel):
        drawn.column = types.MethodType(physics.PhysicsPanel.column, drawn)
    panel.draw(drawn, context)
    return shown


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
    assert [draw(panel, bpy.context) for panel in physics.CLASSES] == [None] * len(physics.CLASSES)
    shown = []
    physics.draw_buttons(SimpleNamespace(layout=Layout(shown)), bpy.context)
    assert shown == ["axion.add_bodies", "axion.enable_joint"]


@pytest.mark.parametrize("kind", ("ACTIVE", "PASSIVE"))
@pytest.mark.parametrize("all_on", (False, True))
def test_every_setting_of_a_body_is_shown_somewhere(item, kind, all_on):
    item.axion.enabled, item.axion.type = True, kind
    if all_on:
        switches(item.axion)
        item.axion.collision_shape = "CONVEX_DECOMPOSITION"
    shown = [name for panel in physics.CLASSES for name in draw(panel, bpy.context) or ()]
    assert {"type", "collision_shape", "friction", "restitution", "collision_collections"} <= set(shown)
    if kind == "ACTIVE" and all_on:
        left = (
            {p.identifier for p in item.axion.bl_rna.properties} - set(shown) - {"rna_type", "name", "enabled", "mass"}
        )
        assert not left, "a setting that no panel shows"


def test_every_setting_of_a_joint_is_shown_by_some_type(item):
    item.axion_joint.enabled = True
    switches(item.axion_joint)
    shown = set()
    for kind in item.axion_joint.bl_rna.properties["type"].enum_items:
        item.axion_joint.type = kind.identifier
        shown |= {name for panel in physics.CLASSES for name in draw(panel, bpy.context) or ()}
    left = {p.identifier for p in item.axion_joint.bl_rna.properties} - shown - {"rna_type", "name", "enabled"}
    assert not left, "a setting that no panel shows"


def test_scene_settings_are_shown_in_the_scene_tab_and_the_sidebar(item):
    switches(bpy.context.scene.axion)
    bpy.context.scene.axion.device = "CUDA"
    names = {p.identifier for p in bpy.context.scene.axion.bl_rna.properties} - {"rna_type", "name", "uuid"}
    for panel in (ui.scene.AXION_PT_scene, ui.sidebar.AXION_PT_sidebar_settings):
        assert names == set(draw(panel, bpy.context))


def test_the_menu_offers_every_operator_of_the_workflow(item):
    offered = set(draw(ui.menu.AXION_MT_object, bpy.context))
    assert {f"axion.{name}" for name in ("add_bodies", "add_joint", "convert_native", "check_scene", "bake")} <= offered


def test_sidebar_shows_problems_and_the_last_report(item):
    context = bpy.context
    assert draw(ui.sidebar.AXION_PT_sidebar_report, context) is None
    context.window_manager.axion.problems = "\n".join(f"thing: problem {n}" for n in range(10))
    shown = draw(ui.sidebar.AXION_PT_sidebar, context)
    assert {"axion.bake", "axion.clear_bake", "axion.check_scene", "thing: problem 0", "and 2 more"} <= set(shown)
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
