# SPDX-License-Identifier: GPL-3.0-or-later
"""Tooltips teach: each says more than the name, and a number without a unit of Blender's says which one it has."""

import re

import bpy
import pytest
from axion.axion_blender import operators, preferences, properties, ui
from axion.axion_blender.operators import session

FILLERS = {"the", "a", "an", "of", "to", "in", "is", "and", "for", "this", "that", "by", "as", "it", "axion"}
GROUPS = [*properties.CLASSES, *session.CLASSES, preferences.AXION_AP_preferences]
OPERATORS = [cls for cls in (*operators.CLASSES, *ui.CLASSES) if issubclass(cls, bpy.types.Operator)]
UNITS = ("newton", "metre", "radian", "kilogram", "second", "frame", "turn")
PLAIN = {
    # Ratios, counts and numbers whose unit is in the field itself.
    *("concavity", "friction", "restitution", "linear_damping", "angular_damping", "device_index", "time_scale"),
    *("gravity_factor", "checked", "neighbors", "force_scale"),
}


def stems(text):
    """Words of a text without endings and fillers."""
    words = {re.sub(r"(ing|ed|es|s|e)$", "", word) for word in re.findall(r"[a-z]+", text.lower())}
    return {word for word in words if word not in FILLERS and len(word) > 1}


def definitions(cls):
    """(identifier, definition) of a class's own properties."""
    if issubclass(cls, bpy.types.Operator):
        module, name = cls.bl_idname.split(".")
        found = getattr(getattr(bpy.ops, module), name).get_rna_type().properties
    else:
        found = cls.bl_rna.properties
    inherited = {"rna_type", "bl_idname", "name"} if not issubclass(cls, bpy.types.Operator) else {"rna_type"}
    return [entry for entry in found if entry.identifier not in inherited and not entry.is_hidden]


def teaches(name, description):
    return len(stems(description) - stems(name)) >= 2 and len(description) > len(name)


@pytest.mark.parametrize("cls", [*GROUPS, *OPERATORS], ids=lambda cls: cls.__name__)
def test_every_property_says_more_than_its_name(cls):
    for definition in definitions(cls):
        assert definition.name, definition.identifier
        assert teaches(definition.name, definition.description), f"{definition.identifier}: {definition.description!r}"
        for item in getattr(definition, "enum_items", ()):
            text = item.description
            assert text and stems(text) - stems(item.name), f"{definition.identifier} {item.identifier}: {text!r}"


@pytest.mark.parametrize("cls", OPERATORS, ids=lambda cls: cls.__name__)
def test_every_operator_says_more_than_its_name(cls):
    assert cls.bl_idname.startswith("axion.")
    assert teaches(cls.bl_label, cls.bl_description), cls.bl_description
    assert not cls.bl_description.endswith("."), "Blender adds none to its own either"


@pytest.mark.parametrize("cls", GROUPS, ids=lambda cls: cls.__name__)
def test_a_number_has_a_unit_or_says_it(cls):
    for definition in definitions(cls):
        numeric = definition.type in ("FLOAT", "INT") and definition.identifier not in PLAIN
        if numeric and definition.unit == "NONE" and not definition.identifier.endswith("_index"):
            text = f"{definition.name} {definition.description}".lower()
            assert any(unit in text for unit in UNITS), f"{definition.identifier}: {definition.description!r}"


def test_names_are_told_apart_by_a_search():
    # Property search, drivers and the graph editor show the name alone, not the panel it stands in.
    for cls in properties.CLASSES:
        names = [definition.name for definition in definitions(cls)]
        twice = {name for name in names if names.count(name) > 1}
        assert not twice, f"{cls.__name__}: {twice}"


def test_a_check_that_repeats_the_name_is_noticed():
    assert not teaches("Joint Damping", "The damping of the joint")
    assert not teaches("Mass", "")
    assert teaches("Mass", "How much the object weighs irrespective of gravity")
