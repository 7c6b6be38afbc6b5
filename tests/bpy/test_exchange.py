# SPDX-License-Identifier: GPL-3.0-or-later
"""Files for other programs: what is baked is in them, however the viewport hides it, and the scene stays as it was."""

import bpy
import numpy as np
import pytest
from axion.axion_blender.writers import exchange
from blend_scenes import box
from test_outputs import bake, motion
from test_outputs import scene as scene_to_bake
from test_point_looks import collection, layer_of
from test_writers_points import instances

scene = scene_to_bake


def bring_back(path, kind):
    """Import a file into an empty scene of 24 frames a second."""
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.context.scene.render.fps = 24
    if kind == "USD":
        bpy.ops.wm.usd_import(filepath=path, merge_parent_xform=False)
    else:
        bpy.ops.wm.alembic_import(filepath=path, as_background_job=False)


@pytest.mark.parametrize(("kind", "option"), [("USD", "usd"), ("ALEMBIC", "alembic")])
def test_other_programs_get_the_points_as_objects(scene, tmp_path, kind, option):
    if not getattr(bpy.app.build_options, option):
        pytest.skip(f"this Blender was built without {kind}")
    path = str(tmp_path / f"points{exchange.FORMATS[kind]}")
    bake("POINTS")
    wanted = {frame: np.array([matrix for _, matrix in instances(frame)]) for frame in (1, 4, 7)}
    assert bpy.ops.axion.export_motion(filepath=path, format=kind) == {"FINISHED"}
    bring_back(path, kind)
    for frame, matrices in wanted.items():
        bpy.context.scene.frame_set(frame)
        found = [item.matrix_world for item in bpy.data.objects if item.type == "MESH" and len(item.data.vertices) == 8]
        found = np.array(sorted(np.array(matrix).tolist() for matrix in found))
        assert np.allclose(found, sorted(matrices.tolist()), atol=1e-4)


@pytest.mark.parametrize(("kind", "option"), [("USD", "usd"), ("ALEMBIC", "alembic")])
def test_other_programs_get_the_baked_objects(scene, tmp_path, kind, option):
    path = str(tmp_path / f"motion{exchange.FORMATS[kind]}")
    if not getattr(bpy.app.build_options, option):
        bake()
        with pytest.raises(RuntimeError, match=f"(?i)built without {kind}"):
            bpy.ops.axion.export_motion(filepath=path, format=kind)
        return
    with pytest.raises(RuntimeError, match="holds no bake"):
        bpy.ops.axion.export_motion(filepath=path, format=kind)
    bake()
    wanted = motion("Tilted")
    scene.frame_set(3)
    assert bpy.ops.axion.export_motion(filepath=path, format=kind) == {"FINISHED"}
    assert (scene.frame_start, scene.frame_end, scene.frame_current) == (1, 7, 3)
    bring_back(path, kind)
    assert "Ground" not in bpy.data.objects, "only what was baked"
    assert np.allclose(motion("Tilted"), wanted, atol=1e-4)


def hide(scene):
    """Bodies that the viewport hides in every way that it has, one that renders leave out, and one to be excluded."""
    made = {name: box(name, location=(2 * k, 5, 3)) for k, name in enumerate(("Eye", "Off", "In", "Layer", "Locked"))}
    made["Off"].hide_viewport = made["Locked"].hide_select = True
    for name, flag in (("In", "hide_viewport"), ("Layer", ""), ("Locked", "hide_select")):
        folder = collection(f"{name} Folder", scene.collection, made[name])
        setattr(folder, flag or "color_tag", True if flag else "COLOR_01")
    layer_of("Layer Folder", bpy.context.view_layer.layer_collection).hide_viewport = True
    box("Unrendered", location=(-5, 5, 3)).hide_render = True
    collection("Excluded Folder", scene.collection, box("Excluded", location=(-8, 5, 3)))
    return made


def state(scene):
    """All that hides and selects."""
    view = bpy.context.view_layer
    own = [
        (item.name, item.hide_get(), item.hide_viewport, item.hide_render, item.hide_select, item.select_get())
        for item in scene.objects
    ]
    layers = [(one.name, one.hide_viewport, one.exclude) for one in view.layer_collection.children]
    folders = [(one.name, one.hide_viewport, one.hide_select) for one in scene.collection.children]
    return own, layers, folders, view.objects.active, scene.frame_current


@pytest.mark.parametrize(("kind", "option"), [("USD", "usd"), ("ALEMBIC", "alembic")])
def test_other_programs_get_bodies_that_the_viewport_hides(scene, tmp_path, kind, option, capfd):
    """They were left out without a word."""
    if not getattr(bpy.app.build_options, option):
        pytest.skip(f"this Blender was built without {kind}")
    hidden = hide(scene)
    bake()
    hidden["Eye"].hide_set(True)
    layer_of("Excluded Folder", bpy.context.view_layer.layer_collection).exclude = True
    bpy.data.objects["Box"].select_set(True)
    bpy.context.view_layer.objects.active = bpy.data.objects["Ground"]
    scene.frame_set(3)
    before, path = state(scene), tmp_path / f"motion{exchange.FORMATS[kind]}"
    assert bpy.ops.axion.export_motion(filepath=str(path), format=kind) == {"FINISHED"}
    assert state(scene) == before
    told = capfd.readouterr().out
    assert "Excluded is excluded from the view layer ViewLayer and not in the file: include it" in told
    assert "Unrendered is disabled in renders and not in the file: enable it" in told
    bpy.ops.wm.read_homefile(use_empty=True)
    if kind == "USD":
        bpy.ops.wm.usd_import(filepath=str(path), merge_parent_xform=False)
    else:
        bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False)
    found = {item.name for item in bpy.data.objects}
    assert found >= {*hidden, "Box", "Tilted"} and found.isdisjoint({"Ground", "Unrendered", "Excluded"})


def test_what_was_hidden_is_hidden_again_where_the_exporter_fails(scene, tmp_path, monkeypatch):
    if not bpy.app.build_options.usd:
        pytest.skip("this Blender was built without USD")
    hide(scene)
    bake()
    before = state(scene)

    def fails(path):
        assert bpy.data.objects["Off"].select_get()
        raise OSError("the disk is gone")

    monkeypatch.setattr(exchange, "_state", fails)
    with pytest.raises(OSError, match="gone"):
        exchange.export(bpy.context, str(tmp_path / "motion.usdc"), "USD", 1, 7)
    assert state(scene) == before
