# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes: volume, centre, inertia and bounds against integrals done another way."""

import numpy as np
import pytest
from axion.solver import Box, Capsule, Cone, ConvexHull, Cylinder, Plane, SceneError, Sphere, TriangleMesh
from axion.solver.rotations import matrices

TURN = np.array([0.1, -0.4, 0.3, 0.8]) / np.linalg.norm([0.1, -0.4, 0.3, 0.8])
PLACE = np.array([0.3, -2.0, 5.0])
CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
CUBE_TRIANGLES = ConvexHull(CUBE).triangles


def integrate_discs(radius_at, pieces):
    """Volume, centre height, moments across and along z of a body of revolution.

    A disc of radius r has area pi r^2, moments pi r^4 / 4 across and pi r^4 / 2 along.  Gauss-Legendre with 12 nodes
    on each piece is exact for the polynomials here.
    """
    nodes, weights = np.polynomial.legendre.leggauss(12)
    total = np.zeros(4)
    for start, end in pieces:
        z, w = 0.5 * (start + end) + 0.5 * (end - start) * nodes, 0.5 * (end - start) * weights
        square = radius_at(z) ** 2
        area = np.pi * square
        total += [w @ area, w @ (area * z), w @ (area * square / 4 + area * z**2), w @ (area * square / 2)]
    volume, first, across, along = total
    return volume, first / volume, across - first**2 / volume, along


def half_ball(z):
    return np.sqrt(np.maximum(0.4**2 - np.maximum(np.abs(z) - 0.7, 0.0) ** 2, 0.0))


REVOLVED = {
    "sphere": (Sphere(0.4), lambda z: np.sqrt(0.16 - z**2), [(-0.4, 0.4)]),
    "capsule": (Capsule(0.4, 0.7), half_ball, [(-1.1, -0.7), (-0.7, 0.7), (0.7, 1.1)]),
    "cylinder": (Cylinder(0.4, 0.7), lambda z: np.full_like(z, 0.4), [(-0.7, 0.7)]),
    "cone": (Cone(0.4, 0.7), lambda z: 0.4 * (0.7 - z) / 1.4, [(-0.7, 0.7)]),
}


@pytest.mark.parametrize("name", REVOLVED)
def test_bodies_of_revolution_match_the_integral_over_discs(name):
    shape, radius_at, pieces = REVOLVED[name]
    volume, center, across, along = integrate_discs(radius_at, pieces)
    assert shape.volume() == pytest.approx(volume, rel=1e-12)
    np.testing.assert_allclose(shape.center_of_mass(), [0, 0, center], atol=1e-14)
    np.testing.assert_allclose(shape.inertia(), np.diag([across, across, along]), rtol=1e-12, atol=1e-15)


def test_cone_stands_on_its_base():
    # Centre of mass of a cone: a quarter of the height above the base.
    assert Cone(1.0, 2.0).center_of_mass()[2] == pytest.approx(-2.0 + 4.0 / 4.0)


def test_box_hull_and_mesh_of_the_same_box_agree():
    half = np.array([0.2, 0.5, 1.5])
    corners = (2.0 * CUBE - 1.0) * half
    expected = Box(half, PLACE, TURN)
    assert expected.volume() == pytest.approx(8 * half.prod())
    # I_xx = m (b^2 + c^2) / 3 with half sizes b, c.
    assert Box(half).inertia()[0, 0] == pytest.approx(8 * half.prod() * (0.5**2 + 1.5**2) / 3)
    for shape in (ConvexHull(corners, PLACE, TURN), TriangleMesh(corners, CUBE_TRIANGLES, PLACE, TURN)):
        assert shape.volume() == pytest.approx(expected.volume(), rel=1e-12)
        np.testing.assert_allclose(shape.center_of_mass(), expected.center_of_mass(), atol=1e-12)
        np.testing.assert_allclose(shape.inertia(), expected.inertia(), atol=1e-12)
        np.testing.assert_allclose(shape.bounds(), expected.bounds(), atol=1e-12)


def test_tetrahedron_has_its_known_moments():
    # Unit corner tetrahedron: V = 1/6, centre 1/4, integral of x^2 about the corner 1/60, of x y 1/120.
    shape = ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    variance, covariance = 1 / 60 - 1 / 96, 1 / 120 - 1 / 96
    assert shape.volume() == pytest.approx(1 / 6)
    np.testing.assert_allclose(shape.center_of_mass(), [0.25] * 3)
    expected = np.full((3, 3), -covariance) + np.eye(3) * (2 * variance + covariance)
    np.testing.assert_allclose(shape.inertia(), expected, rtol=1e-12)


def test_a_mesh_far_from_its_origin_keeps_its_inertia():
    # Inertia about the own centre does not depend on the place; moments about the origin would lose 12 digits here.
    here, there = TriangleMesh(CUBE, CUBE_TRIANGLES), TriangleMesh(CUBE + 1e6, CUBE_TRIANGLES)
    np.testing.assert_allclose(there.inertia(), here.inertia(), rtol=1e-9, atol=1e-9)


def test_concave_mesh_weighs_less_than_its_hull():
    # An L of three unit cubes: volume 3, centre by the sum of cubes; its hull adds half a cube.
    outline = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], float)
    vertices = np.concatenate([np.c_[outline, np.zeros(6)], np.c_[outline, np.ones(6)]])
    caps = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    triangles = [(c, b, a) for a, b, c in caps] + [(a + 6, b + 6, c + 6) for a, b, c in caps]
    for i in range(6):
        j = (i + 1) % 6
        triangles += [(i, j, j + 6), (i, j + 6, i + 6)]
    mesh = TriangleMesh(vertices, triangles)
    assert mesh.is_closed()
    assert mesh.volume() == pytest.approx(3.0)
    np.testing.assert_allclose(mesh.center_of_mass(), [5 / 6, 5 / 6, 0.5])
    assert ConvexHull(vertices).volume() == pytest.approx(3.5)


def test_split_vertices_do_not_open_a_mesh():
    corners = CUBE[CUBE_TRIANGLES].reshape(-1, 3)
    mesh = TriangleMesh(corners, np.arange(36).reshape(-1, 3))
    assert mesh.is_closed()
    assert mesh.volume() == pytest.approx(1.0)


def test_inside_out_mesh_is_the_same_solid():
    mesh = TriangleMesh(CUBE, CUBE_TRIANGLES[:, ::-1])
    assert mesh.volume() == pytest.approx(1.0)
    np.testing.assert_allclose(mesh.inertia(), Box([0.5] * 3).inertia(), atol=1e-14)


@pytest.mark.parametrize("damage", ["hole", "doubled"])
def test_meshes_without_a_clear_inside_say_so(damage):
    triangles = CUBE_TRIANGLES.copy()
    if damage == "hole":
        triangles = triangles[1:]
    else:
        triangles = np.concatenate([triangles, triangles[:1]])
    mesh = TriangleMesh(CUBE, triangles)
    assert not mesh.is_closed()
    assert not mesh.encloses_volume()
    with pytest.raises(SceneError, match="ConvexHull"):
        mesh.volume()


def test_sheet_of_two_sides_has_no_volume():
    sheet = TriangleMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 1]])
    assert sheet.is_closed()
    with pytest.raises(SceneError, match="thickness"):
        sheet.inertia()


@pytest.mark.parametrize(
    "shape",
    [
        Box((0.2, 0.5, 1.5), PLACE, TURN),
        Sphere(0.3, PLACE, TURN),
        Capsule(0.3, 0.8, PLACE, TURN),
        Cylinder(0.3, 0.8, PLACE, TURN),
        Cone(0.3, 0.8, PLACE, TURN),
        ConvexHull(CUBE, PLACE, TURN),
    ],
    ids=lambda shape: type(shape).__name__,
)
def test_bounds_touch_the_surface_on_every_side(shape):
    # Points of the surface from its definition; the sampling misses the extreme by less than r (1 - cos(pi / 400)).
    angle = np.linspace(0, 2 * np.pi, 401)
    ring = np.c_[np.cos(angle), np.sin(angle), 0 * angle]
    ball = np.concatenate([ring * [np.cos(a), np.cos(a), 0] + [0, 0, np.sin(a)] for a in angle])
    up = np.array([0, 0, 1.0])
    local = {
        "Box": lambda: (2 * CUBE - 1) * shape.half_extents,
        "Sphere": lambda: shape.radius * ball,
        "Capsule": lambda: np.concatenate([shape.radius * ball + s * shape.half_height * up for s in (-1, 1)]),
        "Cylinder": lambda: np.concatenate([shape.radius * ring + s * shape.half_height * up for s in (-1, 1)]),
        "Cone": lambda: np.concatenate([shape.radius * ring - shape.half_height * up, [shape.half_height * up]]),
        "ConvexHull": lambda: CUBE,
    }[type(shape).__name__]()
    points = local @ matrices(TURN).T + PLACE
    lower, upper = shape.bounds()
    np.testing.assert_allclose(lower, points.min(axis=0), atol=5e-5)
    np.testing.assert_allclose(upper, points.max(axis=0), atol=5e-5)


def test_plane_is_half_of_space_and_weighs_nothing_finite():
    lower, upper = Plane(position=(0, 0, 2)).bounds()
    assert np.isneginf(lower).all()
    np.testing.assert_array_equal(upper, [np.inf, np.inf, 2.0])
    assert not Plane().encloses_volume()
    with pytest.raises(SceneError, match="static"):
        Plane().volume()


def test_shapes_cannot_change_after_construction():
    source = CUBE.copy()
    hull = ConvexHull(source)
    source[:] = 0.0
    assert hull.volume() == pytest.approx(1.0)
    with pytest.raises(ValueError, match="read-only"):
        hull.vertices[0] = 9.0
    with pytest.raises(AttributeError):
        hull.position = (0, 0, 1)
