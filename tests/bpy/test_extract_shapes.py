# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes become shapes of the size that is seen, wherever the origin lies and whatever the scale."""

import math
import sys

import bpy
import numpy as np
import pytest
from axion.axion_blender import conventions
from axion.axion_blender.extract.scene import extraction_slices
from axion.solver import ConvexDecomposition, ConvexHull, SceneError, TriangleMesh, decomposition
from blend_scenes import CUBE_FACES, add, body, box, box_mesh, extract, mesh, plane


def world_bounds(made):
    """Axis-aligned box of a body's shapes in the world, for an upright body."""
    lower, upper = np.array([shape.bounds() for shape in made.shapes]).transpose(1, 0, 2)
    return made.position + lower.min(axis=0), made.position + upper.max(axis=0)


@pytest.mark.parametrize("kind", ["BOX", "SPHERE", "CAPSULE", "CYLINDER", "CONE"])
def test_primitives_fill_the_bounding_box_around_its_middle(kind):
    # Blender: a sphere as wide as the longest side, the others as wide as the longer of X and Y, upright along Z.
    box("Body", size=(1, 2, 6), center=(0.5, -1, 4), location=(10, 0, 0), collision_shape=kind)
    lower, upper = world_bounds(body("Body"))
    assert np.allclose(0.5 * (lower + upper), (10.5, -1, 4), atol=1e-6)
    expected = {"BOX": (1, 2, 6), "SPHERE": (6, 6, 6)}.get(kind, (2, 2, 6))
    assert np.allclose(upper - lower, expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["BOX", "CYLINDER", "CONE", "CONVEX_HULL", "MESH"])
@pytest.mark.parametrize("scale", [(2, 2, 3), (-2, 2, 3), (-2, -2, -3)])
def test_scale_is_baked_in(kind, scale):
    item = box("Body", size=(1, 1, 1), center=(0, 0, 0.5), collision_shape=kind)
    item.scale = scale
    bpy.context.view_layer.update()
    made = body("Body")
    corners = np.array([item.matrix_world @ v.co for v in item.data.vertices])
    rotation = conventions.rotation_matrix(made.orientation)
    for lower, upper in (shape.bounds() for shape in made.shapes):
        ends = np.array(
            [(x, y, z) for x in (lower[0], upper[0]) for y in (lower[1], upper[1]) for z in (lower[2], upper[2])]
        )
        ends = ends @ rotation.T + made.position
        assert np.allclose(ends.min(axis=0), corners.min(axis=0), atol=1e-5)
        assert np.allclose(ends.max(axis=0), corners.max(axis=0), atol=1e-5)


@pytest.mark.parametrize("scale", [(1, 1, 1), (-1, 1, 1), (1, 1, -1)])
def test_a_cone_points_where_its_object_points(scale):
    # The solid's centre lies a quarter of the height above the base, along the object's Z axis in the world.
    item = box("Cone", size=(1, 1, 4), collision_shape="CONE")
    item.scale = scale
    made = body("Cone")
    center = conventions.rotation_matrix(made.orientation) @ made.mass_properties()[1]
    assert np.allclose(center, (0, 0, -math.copysign(1.0, scale[2])), atol=1e-6)


@pytest.mark.parametrize("scale", [(1, 1, 1), (-1, 1, 1), (-1, -1, 2)])
def test_mesh_mass_is_that_of_the_volume_whatever_is_mirrored(scale):
    # An L of two boxes, 2 x 1 x 1 and 1 x 1 x 1 above one end: 3 m^3, centre of mass (2 (0, 0, 0) + (-.5, 0, 1)) / 3.
    profile = [(-1, -0.5), (1, -0.5), (1, 0.5), (0, 0.5), (0, 1.5), (-1, 1.5)]
    vertices = [(x, y, z) for y in (-0.5, 0.5) for x, z in profile]
    faces = [(0, 1, 2, 3, 4, 5), (11, 10, 9, 8, 7, 6), *((i, i + 6, (i + 1) % 6 + 6, (i + 1) % 6) for i in range(6))]
    item = add("L", mesh("l", vertices, faces), type="ACTIVE", collision_shape="MESH", use_density=True, density=10.0)
    item.scale = scale
    made = body("L")
    mass, center, _ = made.mass_properties()
    center = conventions.rotation_matrix(made.orientation) @ center
    assert math.isclose(mass, 30.0 * abs(np.prod(scale)), rel_tol=1e-6)
    assert np.allclose(center, np.array((-0.5 / 3, 0, 1 / 3)) * scale, atol=1e-6)
    (shape,) = made.shapes
    a, b, c = np.moveaxis(shape.vertices[shape.triangles], 1, 0)
    assert (a * np.cross(b, c)).sum() > 0.0, "the outside stays outside"


def test_open_mesh_takes_the_mass_of_its_hull_and_says_so():
    add("Bucket", mesh("open", box_mesh().vertices[:] and [v.co[:] for v in box_mesh().vertices], CUBE_FACES[:-1]))
    item = bpy.data.objects["Bucket"]
    item.axion.enabled, item.axion.collision_shape, item.axion.mass = True, "MESH", 6.0
    read = extract()
    mass, center, inertia = read.scene.bodies[0].mass_properties()
    # A solid cube: m a^2 / 6 about each axis.
    assert mass == 6.0 and np.allclose(center, 0.0, atol=1e-9) and np.allclose(inertia, np.eye(3), atol=1e-6)
    assert any("Bucket" in warning and "open" in warning for warning in read.warnings)


def test_open_passive_mesh_needs_no_mass():
    plane(collision_shape="MESH")
    read = extract()
    assert read.warnings == [] and isinstance(read.scene.bodies[0].shapes[0], TriangleMesh)


@pytest.mark.parametrize("kind", ["BOX", "CONVEX_HULL"])
@pytest.mark.parametrize("turned", [0.0, math.pi])
def test_flat_ground_becomes_a_slab_behind_its_faces(kind, turned):
    item = plane(size=10.0, collision_shape=kind)
    item.rotation_euler.x = turned
    read = extract()
    made = read.scene.bodies[0]
    lower, upper = made.shapes[0].bounds()
    # Local space: the surface that is seen stays, the slab lies below it, along the faces' backs.
    assert abs(upper[2]) < 1e-6 and np.isclose(lower[2], -0.2, atol=1e-6)
    assert any("Ground" in warning and "flat" in warning for warning in read.warnings)


@pytest.mark.parametrize("kind", ["BOX", "CYLINDER", "CONVEX_HULL"])
def test_flat_active_bodies_are_refused(kind):
    plane("Sheet", type="ACTIVE", collision_shape=kind)
    with pytest.raises(SceneError, match="Sheet.*flat.*Solidify"):
        extract()


def test_tilted_flat_hull_is_recognised():
    add("Tilted", mesh("t", [(0, 0, 0), (1, 0, 1), (0, 1, 1)], [(0, 1, 2)]), type="ACTIVE")
    with pytest.raises(SceneError, match="Tilted.*flat"):
        extract()


def test_vertices_on_a_line_are_refused():
    add("Wire", mesh("w", [(0, 0, 0), (1, 1, 1), (2, 2, 2), (4, 4, 4)]), type="PASSIVE")
    with pytest.raises(SceneError, match="Wire.*line"):
        extract()


def test_mesh_without_faces_is_refused():
    add("Points", mesh("p", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]), type="PASSIVE", collision_shape="MESH")
    with pytest.raises(SceneError, match="Points.*no faces"):
        extract()


@pytest.mark.parametrize(("source", "height"), [("BASE", 1.0), ("DEFORM", 2.0), ("FINAL", 4.0)])
def test_mesh_source(source, height):
    # A shape key stretches the box to 2, an array on top of it doubles that; a hook would come before the array.
    item = box("Body", mesh_source=source)
    item.shape_key_add(name="Basis")
    stretched = item.shape_key_add(name="Tall")
    for point in stretched.data:
        point.co.z *= 2.0
    stretched.value = 1.0
    array = item.modifiers.new("Array", "ARRAY")
    array.relative_offset_displace = 0, 0, 1
    lower, upper = world_bounds(body("Body"))
    assert np.isclose(upper[2] - lower[2], height, atol=1e-5)
    assert array.show_viewport


def test_curves_and_texts_have_surfaces():
    data = bpy.data.curves.new("Letters", "FONT")
    data.body, data.extrude = "A", 0.5
    add("Letters", data, type="ACTIVE", collision_shape="CONVEX_HULL")
    lower, upper = world_bounds(body("Letters"))
    assert np.isclose(upper[2] - lower[2], 1.0, atol=1e-5)


def test_edits_of_edit_mode_count():
    item = box("Body")
    bpy.context.view_layer.objects.active = item
    item.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    import bmesh

    edited = bmesh.from_edit_mesh(item.data)
    for vertex in edited.verts:
        vertex.co *= 3.0
    lower, upper = world_bounds(body("Body"))
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.allclose(upper - lower, 3.0, atol=1e-6)


@pytest.mark.parametrize("kind", ["CONVEX_HULL", "MESH", "BOX"])
def test_copies_share_one_shape(kind):
    data = box_mesh()
    for i in range(20):
        item = add(f"Copy {i:02}", data, (2 * i, 0, 0), type="ACTIVE", collision_shape=kind)
        item.rotation_euler = i, 2 * i, 3 * i
    add("Large", data, (0, 9, 0), type="ACTIVE", collision_shape=kind).scale = 2, 2, 2
    bodies = extract().scene.bodies
    shapes = {id(b.shapes[0]) for b in bodies}
    assert len(shapes) == 2, "one for the copies, whose matrices differ in the last digits, one for the large one"
    assert np.allclose(np.ptp(bodies[-1].shapes[0].bounds(), axis=0), 2.0)


def test_copies_with_modifiers_do_not_share():
    data = box_mesh()
    add("Plain", data, type="ACTIVE")
    item = add("Tall", data, (3, 0, 0), type="ACTIVE")
    item.modifiers.new("Array", "ARRAY").relative_offset_displace = 0, 0, 1
    plain, tall = extract().scene.bodies
    assert plain.shapes[0] is not tall.shapes[0]
    assert np.isclose(np.ptp(tall.shapes[0].bounds(), axis=0)[2], 2.0)


def test_compound_takes_the_shapes_of_its_children():
    # Two unit cubes 3 m apart, turned and scaled with their parent: a dumb-bell.
    parent = add("Compound", None, (0, 0, 10), type="ACTIVE", collision_shape="COMPOUND", use_density=True, density=1.0)
    parent.rotation_euler.z = math.pi / 2
    for x in (-1.5, 1.5):
        child = box(f"Child {x}", location=(x, 0, 0))
        child.parent, child.scale = parent, (1, 1, 2)
    add("Bystander", box_mesh()).parent = parent
    read = extract()
    (made,) = read.scene.bodies
    assert made.name == "Compound" and len(made.shapes) == 2 and read.simulated == ("Compound",)
    mass, center, inertia = made.mass_properties()
    assert math.isclose(mass, 4.0, rel_tol=1e-6) and np.allclose(center, 0.0, atol=1e-6)
    # Each 1 x 1 x 2, 2 kg: about Z 2 (1 + 1) / 12 + 2 1.5^2; about X 2 (1 + 4) / 12; twice.
    assert np.allclose(np.diag(inertia), 2 * np.array([10 / 12, 10 / 12 + 4.5, 4 / 12 + 4.5]), rtol=1e-5)


def test_compound_children_of_all_kinds_sit_where_they_are_seen():
    parent = add("Compound", None, (5, 0, 0), type="ACTIVE", collision_shape="COMPOUND")
    parent.rotation_euler = 0.3, 0.2, 0.1
    for i, kind in enumerate(("SPHERE", "CONVEX_HULL", "MESH", "CYLINDER")):
        child = box(f"Child {i}", location=(2 * i, i, 0), center=(0, 0.5, 0), collision_shape=kind)
        child.parent, child.rotation_euler, child.scale = parent, (i, 0, i), (1, 1, 1 - 2 * (i % 2))
    bpy.context.view_layer.update()
    made = body("Compound")
    rotation = conventions.rotation_matrix(made.orientation)
    middles = [s.center_of_mass() @ rotation.T + made.position for s in made.shapes]
    seen = [np.array(bpy.data.objects[f"Child {i}"].matrix_world)[:3] @ (0, 0.5, 0, 1) for i in range(4)]
    assert np.allclose(middles, seen, atol=1e-5)


def test_compound_without_children_and_compound_in_compound():
    parent = add("Compound", None, type="ACTIVE", collision_shape="COMPOUND")
    with pytest.raises(SceneError, match="Compound.*no direct child"):
        extract()
    inner = add("Inner", None, type="ACTIVE", collision_shape="COMPOUND")
    inner.parent = parent
    with pytest.raises(SceneError, match="Inner.*no direct child"):
        extract()
    leaf = box("Leaf", size=(1, 1, 1), location=(0, 0, 2))
    leaf.parent, inner.location.x = inner, 1.0
    (made,) = extract().scene.bodies
    assert made.name == "Compound" and np.allclose(made.shapes[0].center_of_mass(), (1, 0, 2), atol=1e-6)


def test_hulls_hold_all_vertices():
    item = box("Body", size=(1, 2, 3), collision_shape="CONVEX_HULL")
    item.modifiers.new("Smooth", "SUBSURF").levels = 2
    bpy.context.view_layer.update()
    (shape,) = body("Body").shapes
    seen = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    assert isinstance(shape, ConvexHull) and len(shape.vertices) == len(seen.vertices) > 8


def test_large_hulls_are_found_in_slices_so_that_blender_goes_on():
    bpy.ops.mesh.primitive_uv_sphere_add(segments=100, ring_count=50, location=(0, 0, 3))
    bpy.context.object.axion.enabled, bpy.context.object.axion.collision_shape = True, "CONVEX_HULL"
    assert len(list(extraction_slices(bpy.context))) > 50


def corner(name="Corner", **settings):
    """An L of three unit cubes, extruded along Y: its hull holds a triangular prism more."""
    outline = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    vertices = [(x, y, z) for y in (0, 1) for x, z in outline]
    sides = [(i, (i + 1) % 6, 6 + (i + 1) % 6, 6 + i) for i in range(6)]
    caps = [(3, 2, 1, 0), (5, 4, 3, 0), (6, 7, 8, 9), (6, 9, 10, 11)]
    faces = [tuple(reversed(side)) for side in sides] + [tuple(reversed(cap)) for cap in caps]
    return add(name, mesh(name, vertices, faces), collision_shape="CONVEX_DECOMPOSITION", **settings)


@pytest.mark.parametrize("scale", [(1, 1, 1), (2, 1, 0.5), (-1, 1, 1)])
def test_convex_decomposition_weighs_what_the_mesh_weighs(scale):
    item = corner(use_density=True, density=10.0)
    item.scale = scale
    made = body("Corner")
    (shape,) = made.shapes
    assert isinstance(shape, ConvexDecomposition) and len(shape.parts()) == 2
    size = abs(math.prod(scale))
    assert math.isclose(made.mass_properties()[0], 10.0 * 3.0 * size, rel_tol=1e-5)
    # Cut where the L turns: nothing is covered that is not the mesh.
    assert math.isclose(sum(part.volume() for part in shape.parts()), 3.0 * size, rel_tol=1e-2)


def test_coarse_convex_decomposition_fills_the_hollow():
    corner(concavity=1.0)
    (shape,) = body("Corner").shapes
    (part,) = shape.parts()
    assert math.isclose(part.volume(), 3.5, rel_tol=1e-5)


def test_convex_decomposition_in_a_compound():
    parent = add("Parent", None, (3, 0, 0), collision_shape="COMPOUND")
    corner().parent = parent
    (shape,) = body("Parent").shapes
    assert len(shape.parts()) == 2 and math.isclose(shape.volume(), 3.0, rel_tol=1e-5)


def test_convex_decomposition_without_its_package_names_object_and_cure(monkeypatch):
    monkeypatch.setitem(sys.modules, "coacd", None)
    decomposition._kept.clear()
    corner(location=(1, 2, 3))
    with pytest.raises(SceneError, match=r"^Corner: .*coacd, which is not installed: install it \(pip install coacd\)"):
        extract()
    with pytest.raises(RuntimeError, match="Corner: .*coacd"):
        bpy.ops.axion.check_scene()


def test_convex_decomposition_needs_faces():
    add("Points", mesh("points", [(0, 0, 0), (1, 0, 0), (0, 1, 0)]), collision_shape="CONVEX_DECOMPOSITION")
    with pytest.raises(SceneError, match="Points.*no faces"):
        extract()
