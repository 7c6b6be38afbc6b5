# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's force fields: the same motion as its own rigid bodies get from them, and what is not carried is named."""

import bpy
import numpy as np
import pytest
from axion.axion_blender.extract import noise_table
from axion.solver import SolverConfig, simulate
from axion.solver.noise import noise
from blend_scenes import add, box, extract, key
from mathutils import noise as blender_noise

FRAMES = 24
SUBSTEPS = 40


def effector(kind, location=(0, 0, 0), **settings):
    """An empty with a force field."""
    item = add("Field", None, location)
    bpy.context.view_layer.objects.active = item
    bpy.ops.object.forcefield_toggle()
    item.field.type = kind
    for name, value in settings.items():
        setattr(item.field, name, value)
    return item


def native_motion(place, substeps=SUBSTEPS):
    """(F + 1, 3) places of a cube of 2 kg that Blender's own rigid bodies move."""
    scene = bpy.context.scene
    scene.gravity = (0, 0, 0)
    cube = box("Cube", location=place)
    cube.axion.enabled = False
    bpy.ops.rigidbody.world_add()
    scene.rigidbody_world.collection = bpy.data.collections.new("Bodies")
    scene.rigidbody_world.collection.objects.link(cube)
    cube.rigid_body.mass = 2.0
    cube.rigid_body.linear_damping = cube.rigid_body.angular_damping = 0.0
    scene.rigidbody_world.substeps_per_frame = substeps
    places = []
    for frame in range(1, FRAMES + 2):
        scene.frame_set(frame)
        places.append(np.array(cube.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation))
    scene.frame_set(1)
    cube.axion.enabled, cube.axion.mass = True, 2.0
    scene.rigidbody_world.enabled = False
    return np.array(places)


def axion_motion():
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES + 1
    read = extract()
    trajectory = simulate(read.scene, read.frames, read.fps, SolverConfig(device="cpu", substeps=1))
    return trajectory.position[:, trajectory.names.index("Cube")], read


CASES = {
    "wind": ("WIND", {"strength": 50.0, "flow": 0.0}),
    "wind with flow": ("WIND", {"strength": 50.0, "flow": 2.0}),
    "force": ("FORCE", {"strength": 80.0}),
    "force with falloff": (
        "FORCE",
        {"strength": 200.0, "falloff_power": 2.0, "use_min_distance": True, "distance_min": 0.5},
    ),
    "gravitation": ("FORCE", {"strength": 100.0, "use_gravity_falloff": True, "flow": 0.5}),
    "line": ("FORCE", {"strength": 80.0, "shape": "LINE"}),
    "plane": ("FORCE", {"strength": 80.0, "shape": "PLANE", "falloff_power": 1.0}),
    "vortex": ("VORTEX", {"strength": 6.0, "flow": 0.0, "shape": "POINT"}),
    "spiral": ("VORTEX", {"strength": 3.0, "flow": 0.0, "shape": "PLANE"}),
    "harmonic": ("HARMONIC", {"strength": 200.0, "harmonic_damping": 0.02, "rest_length": 0.5}),
    "drag in wind": ("DRAG", {"linear_drag": 0.02, "quadratic_drag": 0.3}),
    "turbulence": ("TURBULENCE", {"strength": 200.0, "size": 0.8, "flow": 0.0}),
    "turbulence in the world": ("TURBULENCE", {"strength": 200.0, "size": 1.3, "use_global_coords": True}),
    "magnet": ("MAGNET", {"strength": 3.0, "shape": "PLANE"}),
    "tube": (
        "WIND",
        {"strength": 80.0, "flow": 0.0, "falloff_type": "TUBE", "falloff_power": 1.0, "radial_falloff": 1.0},
    ),
    "cone": ("WIND", {"strength": 80.0, "flow": 0.0, "falloff_type": "CONE", "radial_falloff": 0.1}),
    "one side": ("WIND", {"strength": 80.0, "flow": 0.0, "z_direction": "NEGATIVE"}),
    "noise": ("WIND", {"strength": 20.0, "flow": 0.0, "noise": 10.0, "seed": 5}),
    "no location": ("WIND", {"strength": 20.0, "apply_to_location": False}),
}


@pytest.mark.parametrize("case", CASES)
def test_motion_is_that_of_blenders_own_rigid_bodies(case):
    kind, settings = CASES[case]
    item = effector(kind, (0.2, -0.1, 0.3), **settings)
    item.rotation_euler = (0.3, 0.2, 0.1)
    if case in ("drag in wind", "magnet"):
        other = effector("WIND", **{"strength": 60.0, "flow": 0.0})
        other.rotation_euler = (0, 1.5, 0)
    # Blender asks its random numbers anew in each substep, so with many of them little is left of the noise.
    native = native_motion((0.9, 0.4, 1.5), 1 if case == "noise" else SUBSTEPS)
    ours, _ = axion_motion()
    # Bullet keeps a frame's force from its beginning on: of first order in the frame, so a few percent of the way.
    way = np.abs(native - native[0]).max()
    assert np.abs(ours - native).max() <= 0.07 * way + 1e-4, (ours[-1] - ours[0], native[-1] - native[0])
    assert way > 0.05 or case == "no location" or case == "one side"


def test_weights_and_collection():
    item = effector("WIND", strength=48.0, flow=0.0)
    weights = bpy.context.scene.axion.effector_weights
    box("Cube", mass=2.0)
    assert extract().scene.fields[0].weight == 1.0
    weights.wind, weights.all = 0.5, 0.5
    assert extract().scene.fields[0].weight == 0.25
    weights.wind = 0.0
    assert not extract().scene.fields
    weights.wind, weights.collection = 1.0, bpy.data.collections.new("Some")
    assert not extract().scene.fields
    weights.collection.objects.link(item)
    assert extract().scene.fields


def test_strength_that_is_animated_and_a_field_that_moves():
    item = effector("WIND", flow=0.0)
    key(item, "field.strength", [(1, 0.0), (25, 48.0)])
    key(item, "location", [(1, (0, 0, 0)), (25, (6, 0, 0))])
    box("Cube")
    bpy.context.scene.frame_end = 25
    (made,) = extract().scene.fields
    assert np.isclose(np.interp(0.5, *made.strength), 24.0, atol=1e-3)
    assert np.allclose(made.path.pose(0.5)[0], (3, 0, 0), atol=1e-4)


def test_what_a_bake_does_not_follow_is_read_at_the_first_frame():
    item = effector("WIND", flow=0.0)
    key(item, "field.flow", [(1, 1.0), (25, 5.0)])
    box("Cube")
    bpy.context.scene.frame_end = 25
    read = extract()
    assert np.isclose(read.scene.fields[0].flow, 1.0)
    assert any("field.flow" in note and "first frame" in note for note in read.warnings)


def test_a_field_on_an_active_body_goes_with_it_and_spares_it():
    item = box("Fan", location=(1, 2, 3))
    bpy.context.view_layer.objects.active = item
    bpy.ops.object.forcefield_toggle()
    child = effector("WIND")
    child.parent = item
    box("Cube")
    own, carried = sorted(extract().scene.fields, key=lambda field: field.name == "Field")
    assert own.body == carried.body == "Fan" and own.excludes == ["Fan"] and not carried.excludes
    assert np.allclose(own.position, 0) and np.allclose(carried.position, (0, 0, 0), atol=1e-6)


def test_what_is_not_carried_is_named():
    box("Cube")
    for kind, settings in (
        ("CHARGE", {}),
        ("TEXTURE", {}),
        ("FLUID_FLOW", {}),
        ("FORCE", {"use_absorption": True}),
    ):
        effector(kind, **settings).name = kind
    mesh = box("Cloud", location=(9, 9, 9))
    mesh.axion.enabled = False
    bpy.context.view_layer.objects.active = mesh
    bpy.ops.object.forcefield_toggle()
    mesh.field.type, mesh.field.shape = "WIND", "POINTS"
    warnings = extract().warnings
    for name, words in (
        ("CHARGE", "particles only"),
        ("TEXTURE", "does not have"),
        ("FLUID_FLOW", "does not have"),
        ("Cloud", "as a point"),
        ("FORCE", "absorption"),
    ):
        assert any(sentence.startswith(name) and words in sentence for sentence in warnings), name


def test_unit_scale_does_not_change_the_motion_in_blender_units():
    effector("FORCE", (0, 0, 0), strength=80.0, falloff_power=1.5)
    box("Cube", location=(0.5, 0, 1), mass=2.0)
    bpy.context.scene.gravity = (0, 0, 0)
    plain, _ = axion_motion()
    bpy.context.scene.unit_settings.scale_length = 0.01
    small, _ = axion_motion()
    assert np.allclose(small / 0.01, plain, atol=1e-5)


def test_permutation_is_that_of_blenders_noise():
    table = noise_table.permutation()
    assert np.array_equal(np.sort(table), np.arange(256))
    points = np.random.default_rng(3).uniform(-20, 20, (500, 3))
    theirs = [blender_noise.noise(point, noise_basis="PERLIN_NEW") for point in points]
    assert np.abs(noise(points, table) - theirs).max() < 1e-5  # Blender's is in single precision
