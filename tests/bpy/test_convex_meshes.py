# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes that are boxes or convex solids collide as such; all others stay meshes."""

import bpy
import numpy as np
import pytest
from axion.axion_blender import conventions
from axion.solver import Body, Box, ConvexHull, Plane, SolverConfig, TriangleMesh, simulate
from blend_scenes import CUBE_FACES, add, body, box, box_mesh, extract, mesh

CUBE = np.array([v.co for v in box_mesh().vertices])
WEDGE = [(0, 0, 0), (2, 0, 0), (0, 0, 1), (0, 3, 0), (2, 3, 0), (0, 3, 1)]
WEDGE_FACES = [(0, 1, 2), (3, 5, 4), (0, 3, 4, 1), (1, 4, 5, 2), (0, 2, 5, 3)]


def shape_of(vertices, faces, **settings):
    add("Body", mesh("body", vertices, faces), collision_shape="MESH", type="PASSIVE", **settings)
    (shape,) = body("Body").shapes
    return shape


def subdivided(times=3):
    """(vertices, faces) of a cube with (2^times)^2 quads a side."""
    data = box_mesh()
    item = bpy.data.objects.new("Fine", data)
    item.modifiers.new("Subdivision", "SUBSURF").subdivision_type = "SIMPLE"
    item.modifiers[0].levels = times
    bpy.context.scene.collection.objects.link(item)
    made = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    vertices, faces = np.array([v.co for v in made.vertices]), [tuple(p.vertices) for p in made.polygons]
    bpy.data.objects.remove(item)
    return vertices, faces


@pytest.mark.parametrize("inside_out", [False, True])
@pytest.mark.parametrize("scale", [(1, 1, 1), (20, 30, 0.1), (-4, 1, 2)])
def test_cubes_are_boxes(scale, inside_out):
    faces = [face[::-1] for face in CUBE_FACES] if inside_out else CUBE_FACES
    add("Body", mesh("body", CUBE + (0.3, 0.0, -2.0), faces), collision_shape="MESH", type="PASSIVE")
    bpy.data.objects["Body"].scale = scale
    made = body("Body")
    (shape,) = made.shapes
    assert isinstance(shape, Box)
    sides = np.abs(scale) * np.ptp(CUBE, axis=0)
    assert np.allclose(shape.half_extents, 0.5 * sides, rtol=1e-6)
    place = made.position + conventions.rotation_matrix(made.orientation) @ shape.position
    assert np.allclose(place, np.array(scale) * (0.3, 0.0, -2.0), atol=1e-5)


def test_a_cube_that_stands_askew_in_its_mesh_is_a_box():
    turn = conventions.rotation_matrix(np.array([0.3, -0.5, 0.1, np.sqrt(1.0 - 0.35)]))
    shape = shape_of((CUBE * (1, 2, 3)) @ turn.T + (5, 0, 0), CUBE_FACES)
    assert isinstance(shape, Box)
    assert np.allclose(np.sort(shape.half_extents), np.sort(np.ptp(CUBE, axis=0) * (0.5, 1, 1.5)), rtol=1e-5)
    own = conventions.rotation_matrix(shape.orientation)
    corners = (CUBE * (1, 2, 3)) @ turn.T
    assert np.allclose(np.abs(corners @ own).max(axis=0), shape.half_extents, rtol=1e-5)


def test_a_cube_of_many_quads_is_a_box():
    shape = shape_of(*subdivided())
    assert isinstance(shape, Box)
    assert np.allclose(shape.half_extents, 0.5 * np.ptp(CUBE, axis=0), rtol=1e-6)


def test_a_wedge_is_its_hull():
    shape = shape_of(WEDGE, WEDGE_FACES)
    assert isinstance(shape, ConvexHull) and len(shape.vertices) == 6
    assert shape.solid().volume == pytest.approx(3.0, rel=1e-6)


@pytest.mark.parametrize("depth", [1e-4, 1e-2])
def test_a_dent_keeps_it_a_mesh(depth):
    vertices, faces = subdivided()
    top = np.argmin(np.linalg.norm(vertices - CUBE.max(axis=0) * (0.0, 0.0, 1.0), axis=1))
    vertices[top, 2] -= depth
    assert isinstance(shape_of(vertices, faces), TriangleMesh)


def test_a_bump_keeps_it_a_mesh():
    vertices, faces = subdivided()
    top = np.argmin(np.linalg.norm(vertices - CUBE.max(axis=0) * (0.0, 0.0, 1.0), axis=1))
    vertices[top, 2] += 1e-4
    assert isinstance(shape_of(vertices, faces), TriangleMesh)


def test_a_slab_with_a_hole_stays_a_mesh():
    """All of its vertices lie on its hull, of whose volume it lacks a hundred thousandth."""
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    vertices = [(x, y, z) for z in (0.0, 0.1) for half in (10.0, 0.03) for x, y in half * corners]
    faces = []
    for k in range(4):
        o, n = k, (k + 1) % 4
        faces += [(8 + o, 8 + n, 12 + n, 12 + o), (n, o, 4 + o, 4 + n)]
        faces += [(o, n, 8 + n, 8 + o), (4 + n, 4 + o, 12 + o, 12 + n)]
    assert isinstance(shape_of(vertices, faces), TriangleMesh)


def test_two_cubes_and_open_ones_stay_meshes():
    both = np.concatenate([CUBE, CUBE + (3, 0, 0)])
    assert isinstance(shape_of(both, [*CUBE_FACES, *[[i + 8 for i in face] for face in CUBE_FACES]]), TriangleMesh)
    add("Open", mesh("open", CUBE, CUBE_FACES[:-1]), collision_shape="MESH", type="PASSIVE")
    assert isinstance(body("Open").shapes[0], TriangleMesh)


def test_a_cube_that_deforms_stays_a_mesh_and_a_rigid_one_beside_it_does_not():
    item = add("Body", mesh("body", CUBE, CUBE_FACES), collision_shape="MESH", type="PASSIVE")
    item.shape_key_add(name="Basis")
    key = item.shape_key_add(name="Up")
    for point in key.data:
        point.co.z += 0.5 if point.co.z > 0.0 else 0.0
    key.value = 0.0
    key.keyframe_insert("value", frame=1)
    key.value = 1.0
    key.keyframe_insert("value", frame=20)
    add("Other", mesh("other", CUBE, CUBE_FACES), collision_shape="MESH", type="PASSIVE", location=(5, 0, 0))
    assert isinstance(body("Body").shapes[0], TriangleMesh) and isinstance(body("Other").shapes[0], Box)


def test_what_starts_half_way_through_a_thin_floor_comes_up():
    """A floor of 10 cm as Add Passive has it; balls and boxes of 1 m, 30 cm deep.  With a mesh as a floor they fell out
    of it below, in frames that had converged.
    """
    floor = box("Floor", size=(20, 20, 0.1), center=(0, 0, -0.05), collision_shape="MESH", type="PASSIVE")
    assert floor.axion.collision_shape == "MESH"
    for k, kind in enumerate(("SPHERE", "BOX", "CYLINDER", "CONVEX_HULL")):
        box(f"Body {k}", size=(1, 1, 1), location=(3 * k - 6, 0, 0.2), collision_shape=kind, type="ACTIVE")
    trajectory = simulate(extract().scene, frames=30, config=SolverConfig(device="cpu"))
    assert all(report.converged for report in trajectory.reports)
    assert trajectory.reports[0].overlap == pytest.approx(0.3, abs=1e-3)
    assert np.allclose(trajectory.position[-1, 1:, 2], 0.5, atol=1e-3)


@pytest.mark.parametrize("inside_out", [False, True])
@pytest.mark.parametrize("kind", ["PASSIVE", "ACTIVE"])
def test_a_cube_in_which_something_stands_is_a_room(kind, inside_out):
    # The ball fell out of it below, in frames that had all converged.
    faces = [face[::-1] for face in CUBE_FACES] if inside_out else CUBE_FACES
    room = add("Room", mesh("room", 4.0 * CUBE, faces), collision_shape="MESH", type=kind)
    add("Ball", box_mesh(), collision_shape="SPHERE", location=(1.0, 0.5, 0.0))
    wide = 4.0 * np.ptp(CUBE, axis=0)[2] / 2.0
    scene = extract().scene
    made = {each.name: each for each in scene.bodies}
    assert isinstance(made["Room"].shapes[0], TriangleMesh)
    scene.add(Body("Ground", [Plane()], motion="static", position=(0.0, 0.0, -wide)))
    trajectory = simulate(scene, 48, config=SolverConfig(device="cpu"))
    names = list(trajectory.names)
    apart = trajectory.position[-1, names.index("Ball")] - trajectory.position[-1, names.index("Room")]
    assert all(report.converged for report in trajectory.reports)
    assert apart[2] == pytest.approx(made["Ball"].shapes[0].radius - wide, abs=1e-3)
    room.location.x = 20.0
    bpy.context.view_layer.update()
    assert isinstance(body("Room").shapes[0], Box)
