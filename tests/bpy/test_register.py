# SPDX-License-Identifier: GPL-3.0-or-later
"""Registering offers everything that is promised, costs no heavy import, and leaves nothing behind when taken back."""

import subprocess
import sys
from pathlib import Path

import axion
import pytest

bpy = pytest.importorskip("bpy")

PROMISED = (
    *("add_bodies", "remove_bodies", "add_joint", "connect_selected", "copy_settings"),
    *("convert_native", "check_scene", "bake", "clear_bake"),
)
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def registered_as_before():
    from axion import axion_blender

    was = axion_blender._registered is not None
    yield
    (axion.register if was else axion.unregister)()


def draw_functions():
    """Functions that were appended to Blender's panels, menus and headers."""
    owners = [getattr(bpy.types, name) for name in dir(bpy.types)]
    return sum(len(getattr(getattr(owner, "draw", None), "_draw_funcs", ())) for owner in owners)


def left_behind():
    """Everything of Axion that Blender knows."""
    return {
        "types": [name for name in dir(bpy.types) if "AXION" in name.upper()],
        "operators": dir(bpy.ops.axion),
        "properties": [
            f"{owner.__name__}.{p.identifier}"
            for owner in (bpy.types.Object, bpy.types.Scene, bpy.types.WindowManager)
            for p in owner.bl_rna.properties
            if "axion" in p.identifier
        ],
        "draw functions": draw_functions(),
        "handlers": {
            name: len(getattr(bpy.app.handlers, name))
            for name in dir(bpy.app.handlers)
            if isinstance(getattr(bpy.app.handlers, name), list)
        },
    }


def test_three_times_on_and_off_leaves_nothing():
    axion.unregister()
    before = left_behind()
    assert before["types"] == [] and before["properties"] == []
    shown = []
    for _ in range(3):
        axion.register()
        shown.append(left_behind())
        axion.unregister()
        assert left_behind() == before
    assert shown[0] == shown[1] == shown[2]
    assert set(PROMISED) <= set(shown[0]["operators"])
    assert {"Object.axion", "Object.axion_joint", "Scene.axion"} <= set(shown[0]["properties"])
    assert any(name.startswith("AXION_PT_") for name in shown[0]["types"])
    assert shown[0]["draw functions"] == before["draw functions"] + 2


def test_a_second_register_changes_nothing_and_a_second_unregister_neither():
    axion.unregister()
    axion.register()
    once = left_behind()
    axion.register()
    assert left_behind() == once
    axion.unregister()
    axion.unregister()
    assert left_behind()["types"] == []


def test_the_command_comes_and_goes(monkeypatch):
    axion.unregister()
    commands, add, remove = {}, bpy.utils.register_cli_command, bpy.utils.unregister_cli_command

    def note(name, function):
        handle = add(name, function)
        commands[name] = handle
        return handle

    def forget(handle):
        remove(handle)
        del commands[next(name for name, known in commands.items() if known is handle)]

    monkeypatch.setattr(bpy.utils, "register_cli_command", note)
    monkeypatch.setattr(bpy.utils, "unregister_cli_command", forget)
    axion.register()
    assert list(commands) == ["axion_bake"]
    axion.unregister()
    assert commands == {}


def test_a_part_that_fails_takes_the_others_back(monkeypatch):
    axion.unregister()
    before = left_behind()
    from axion.axion_blender import ui

    class AXION_PT_broken(bpy.types.Panel):  # a panel without a space type cannot be registered
        pass

    monkeypatch.setattr(ui, "CLASSES", (*ui.CLASSES, AXION_PT_broken))
    with pytest.raises((RuntimeError, ValueError, AttributeError)):
        axion.register()
    assert left_behind() == before


@pytest.mark.skipif(not bpy.app.module, reason="a process of its own needs the bpy wheel")
def test_registering_imports_neither_warp_nor_newton():
    # They take seconds; Blender starts with the extension on and must not pay for them.
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'tests')!r}); import conftest, axion, os\n"
        "axion.register()\n"
        "heavy = sorted({name.partition('.')[0] for name in sys.modules} & {'warp', 'newton'})\n"
        "print('heavy:', heavy, flush=True)\n"
        "os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert "heavy: []" in done.stdout, done.stdout + done.stderr
