# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws panels, Blender's or ours, on a layout that notes what they show and refuses what does not exist."""

import inspect
import types
from dataclasses import dataclass
from types import SimpleNamespace

import bpy


@dataclass(frozen=True)
class Shown:
    """One thing in a panel.  path: titles from the outermost panel in; kind: "prop", "operator", "label" or "list"."""

    path: tuple
    kind: str
    name: str
    label: str


class Layout:
    """Takes what UILayout takes; refuses names that do not exist."""

    def __init__(self, log, path):
        self._log, self._path = log, path

    def column(self, **options):
        """A part of the layout."""
        return Layout(self._log, self._path)

    row = box = split = grid_flow = column_flow = column

    def separator(self, **options):
        """Nothing to note."""

    def _note(self, kind, name, label):
        self._log.append(Shown(self._path, kind, name, label))

    def label(self, text="", icon="NONE", **options):
        """Note a text."""
        self._note("label", icon, text)

    def prop(self, data, name, text=None, **options):
        """Note a property, which must exist."""
        assert name in data.bl_rna.properties, f"{data.bl_rna.identifier} has no {name}"
        self._note("prop", name, data.bl_rna.properties[name].name if text is None else text)

    def operator(self, name, text=None, **options):
        """Note an operator, which must exist; returns where its options go."""
        module, function = name.split(".")
        assert function in dir(getattr(bpy.ops, module)), name
        self._note("operator", name, text or "")
        return SimpleNamespace()

    def operator_menu_enum(self, name, prop, text=None, **options):
        """Note an operator's menu; the operator must have that option."""
        module, function = name.split(".")
        assert prop in getattr(getattr(bpy.ops, module), function).get_rna_type().properties, f"{name} has no {prop}"
        return self.operator(name, text)

    def template_list(self, listtype_name, list_id, data, prop, active_data, active_prop, **options):
        """Note a list; its data must exist."""
        assert hasattr(data, prop) and hasattr(active_data, active_prop)
        self._note("list", listtype_name, prop)

    def __getattr__(self, name):
        if name.startswith("template_") or name == "context_pointer_set":
            return lambda *args, **options: None
        raise AttributeError(name)


class Drawn:
    """Stands for a panel while its draw functions run."""

    def __init__(self, panel, log, path):
        self._panel, self.layout = panel, Layout(log, path)

    def __getattr__(self, name):
        value = getattr(self._panel, name)
        plain = isinstance(value, types.FunctionType)
        if plain and not isinstance(inspect.getattr_static(self._panel, name), staticmethod):
            return types.MethodType(value, self)
        return value


def draw(panel, context, path=()):
    """[Shown] of one panel without its sub-panels, or None where it hides."""
    if hasattr(panel, "poll") and not panel.poll(context):
        return None
    log = []
    drawn = Drawn(panel, log, (*path, panel.bl_label))
    if hasattr(panel, "draw_header"):
        drawn.draw_header(context)
    drawn.draw(context)
    return log


def draw_tree(classes, context):
    """[Shown] of panels and sub-panels, in the order in which Blender shows them: that of ``classes``, by bl_order."""
    panels = [cls for cls in classes if issubclass(cls, bpy.types.Panel)]
    panels.sort(key=lambda panel: getattr(panel, "bl_order", 0))
    own = {getattr(panel, "bl_idname", panel.__name__): panel for panel in panels}
    roots = [panel for panel in panels if getattr(panel, "bl_parent_id", "") not in own]
    return [shown for panel in roots for shown in _branch(panel, panels, context, ())]


def _branch(panel, panels, context, path):
    shown = draw(panel, context, path)
    if shown is None:
        return []
    name, inner = getattr(panel, "bl_idname", panel.__name__), (*path, panel.bl_label)
    children = [other for other in panels if getattr(other, "bl_parent_id", "") == name]
    # A title without content shows up, too.
    title = [Shown(path, "panel", panel.__name__, panel.bl_label)]
    return title + shown + [entry for child in children for entry in _branch(child, panels, context, inner)]
