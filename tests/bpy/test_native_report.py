# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a conversion is complete: whatever a native property does, it is carried, or somebody reads why not.

The properties are those that the running Blender has, so that one which a later Blender brings fails here.
"""

import bpy
import pytest
from axion.axion_blender import native
from axion.axion_blender.native import report, store
from blend_scenes import extract
from native_scenes import body, constraint, world


def names(kind):
    return [p.identifier for p in getattr(bpy.types, kind).bl_rna.properties if p.identifier != "rna_type"]


def convert():
    done = native.convert_native(bpy.context.scene, bpy.context.evaluated_depsgraph_get())
    store.keep(bpy.context.scene, done)
    return done


def native_scene(edit=lambda owners: None, kind="GENERIC_SPRING"):
    """A scene in which every property has something to say; ``edit`` changes it before it is converted."""
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 25
    first = body("First", type="ACTIVE", collision_shape="MESH")
    second = body("Second", location=(3, 0, 0), collision_shape="BOX")
    body("Third", location=(6, 0, 0), collision_shape="BOX")
    link = constraint("Link", kind, first, second, use_breaking=True)
    first.shape_key_add(name="Basis")
    key = first.shape_key_add(name="Bent")
    key.keyframe_insert("value", frame=2)
    bpy.ops.object.effector_add(type="WIND")
    edit({"RigidBodyObject": first.rigid_body, "RigidBodyConstraint": link.rigid_body_constraint, "world": world()})
    return convert()


OWNERS = {"BODY": ("First", "RigidBodyObject"), "JOINT": ("Link", "RigidBodyConstraint"), "WORLD": (None, "world")}


def entry_of(done, kind):
    name = OWNERS[kind][0] or bpy.context.scene.name
    return next(entry for entry in done.entries if (entry.kind, entry.name) == (kind, name))


@pytest.mark.parametrize(
    ("kind", "group", "count"),
    [("BODY", "RigidBodyObject", 18), ("JOINT", "RigidBodyConstraint", 52), ("WORLD", "RigidBodyWorld", 9)],
)
def test_every_property_is_accounted_for_once(kind, group, count):
    entry = entry_of(native_scene(), kind)
    noted = {note.name for note in entry.notes if note.name in names(group)}
    said = [*entry.carried, *entry.needless, *noted]
    assert sorted(said) == sorted(names(group))
    assert len(said) >= count


def dump():
    """All that Axion stores, and all that the conversion says."""
    found = []
    scene = bpy.context.scene
    for owner in (scene.axion, *(g for item in scene.objects for g in (item.axion, item.axion_joint))):
        for definition in owner.bl_rna.properties:
            value = getattr(owner, definition.identifier)
            if definition.type == "POINTER":
                value = getattr(value, "name", None)
            found.append(tuple(value) if getattr(definition, "is_array", False) else value)
    sentences = [(row["name"], row["sentence"]) for row in store.read(scene)]
    return found, sentences


def another(owner, name):
    """Give a property another value; whether that was possible."""
    definition = owner.bl_rna.properties[name]
    value = getattr(owner, name)
    if definition.type == "POINTER":
        if name in ("object1", "object2"):
            setattr(owner, name, bpy.data.objects["Third"])
        elif name in ("collection", "constraints"):
            setattr(owner, name, bpy.data.collections.new("Other"))
        elif name == "point_cache":
            value.frame_start = 5
        elif name == "effector_weights":
            value.wind = 0.5
        else:
            pytest.fail(f"{name} is new: say here how it can be changed")
    elif getattr(definition, "is_array", False):
        value = tuple(value)
        setattr(owner, name, [not entry for entry in value])
        return tuple(getattr(owner, name)) != value
    elif definition.type == "BOOLEAN":
        setattr(owner, name, not value)
    elif definition.type == "ENUM":
        others = [entry.identifier for entry in definition.enum_items if entry.identifier != value]
        setattr(owner, name, others[0])
    else:
        step = 1 if definition.type == "INT" else 0.25
        setattr(owner, name, value + step if value + step <= definition.hard_max else value - step)
    return getattr(owner, name) != value or definition.type == "POINTER"


@pytest.mark.parametrize(
    ("kind", "joint"),
    [("BODY", "FIXED"), ("WORLD", "FIXED"), *(("JOINT", joint) for joint in ("GENERIC_SPRING", "MOTOR", "HINGE"))],
)
def test_another_value_of_any_property_arrives_or_is_reported(kind, joint):
    owner, group = OWNERS[kind][1], {"world": "RigidBodyWorld"}.get(OWNERS[kind][1], OWNERS[kind][1])
    native_scene(kind=joint)
    before = dump()
    silent = []
    for name in names(group):
        changed = []
        done = native_scene(
            lambda owners, name=name, changed=changed: changed.append(another(owners[owner], name)), joint
        )
        assert changed == [True], name
        if done.reason:  # a world without bodies: the sentence says that
            continue
        needless = name in entry_of(done, kind).needless
        if dump() == before and not needless:
            silent.append(name)
    # Axion and the sentences look the same with the world on or off: it is switched off either way.
    assert silent == (["enabled"] if kind == "WORLD" else [])


def test_a_property_that_is_new_in_blender_is_reported():
    entry = report.Entry("Box", "BODY")
    entry.close(["mass", "magnetism"], {"mass"})
    assert entry.carried == ["mass"]
    (note,) = entry.notes
    assert (note.name, note.status) == ("magnetism", report.LOST) and note.sentence.startswith("Box has magnetism")


def test_report_is_kept_in_the_scene_and_replaced():
    done = native_scene()
    rows = store.read(bpy.context.scene)
    assert [row["sentence"] for row in rows if row["sentence"]] == done.notes
    assert {row["name"] for row in rows} == {"First", "Second", "Third", "Link", "Wind", bpy.context.scene.name} - {
        "Wind"
    }
    world().enabled = True
    convert()
    assert store.read(bpy.context.scene) == rows
    assert store.missing(bpy.context.scene) == len(done.notes)


def test_report_is_saved_with_the_file(tmp_path):
    native_scene()
    rows = store.read(bpy.context.scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "kept.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "kept.blend"))
    assert store.read(bpy.context.scene) == rows and rows


def test_choosing_a_line_selects_its_object():
    native_scene()
    kept = bpy.context.scene.axion_native
    index = next(k for k, row in enumerate(kept.rows) if row.name == "Second")
    kept.active_index = index
    assert bpy.context.view_layer.objects.active.name == "Second"
    assert [item.name for item in bpy.context.view_layer.objects.selected] == ["Second"]
    kept.active_index = next(k for k, row in enumerate(kept.rows) if row.name == "Link")
    assert [item.name for item in bpy.context.view_layer.objects.selected] == ["Link"]
    bpy.data.objects["Second"].name = "Renamed"
    kept.active_index = index
    kept.active_index = 9999
    assert bpy.context.view_layer.objects.active.name == "Link"


def test_report_can_be_cleared():
    native_scene()
    assert bpy.ops.axion.clear_conversion_report() == {"FINISHED"}
    assert store.read(bpy.context.scene) == [] and bpy.data.objects["First"].axion.enabled


def test_conversion_is_one_undo_step():
    bpy.context.preferences.edit.use_global_undo = True
    item = body("Box", collision_shape="BOX", friction=0.25)
    other = body("Other", location=(3, 0, 0), collision_shape="BOX")
    constraint("Joint", "HINGE", item, other)
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.axion.convert_native("EXEC_DEFAULT", True) == {"FINISHED"}
    assert len(extract().scene.bodies) == 2
    bpy.ops.ed.undo()
    scene = bpy.context.scene
    assert scene.rigidbody_world.enabled and store.read(scene) == []
    assert not any(entry.axion.enabled or entry.axion_joint.enabled for entry in scene.objects)
    bpy.ops.ed.redo()
    scene = bpy.context.scene
    assert not scene.rigidbody_world.enabled and store.read(scene) != []
    assert bpy.data.objects["Box"].axion.enabled and bpy.data.objects["Joint"].axion_joint.enabled
