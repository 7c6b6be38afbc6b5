# SPDX-License-Identifier: GPL-3.0-or-later
"""The places of boxes and hulls that are nearest to points and axes."""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Cone, ConvexHull, Cylinder, Plane, Scene, Sphere, TriangleMesh
from axion.solver.closest_features import nearest_feature
from axion.solver.closest_on_mesh import nearest_place
from axion.solver.model import build_model
from axion.solver.rotations import normalised

DRAW = np.random.default_rng(3)
SHAPES = {
    "box": Box((0.2, 0.5, 0.3), position=(0.1, 0.2, 0.3), orientation=normalised(DRAW.normal(size=4))),
    "tetrahedron": ConvexHull([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]),
    "many corners": ConvexHull(DRAW.normal(size=(40, 3)), orientation=normalised(DRAW.normal(size=4))),
}


@pytest.fixture(scope="module")
def model():
    """SHAPES among others that have no edges."""
    others = [Sphere(0.1), Cylinder(0.1, 0.2), Cone(0.1, 0.2), Capsule(0.1, 0.2)]
    bodies = [Body("others", others), Body("ground", [Plane()], motion="static")]
    return build_model(Scene(bodies=[*bodies, *(Body(name, [shape]) for name, shape in SHAPES.items())]))


def test_which_shapes_have_how_many_edges(model):
    # Euler: E = V + F - 2, and triangles have 3 F = 2 E.
    corners = len(np.unique(SHAPES["many corners"].triangles))
    assert np.diff(model.solids.first).tolist() == [0, 0, 0, 0, 0, 12, 6, 3 * corners - 6]


@pytest.mark.parametrize("long", [0.0, 0.7, 5.0])
@pytest.mark.parametrize("name", SHAPES)
def test_nearest_places(model, name, long):
    # x on the axis and y on the polyhedron are nearest where y - x leads to no place of either that is nearer: both are
    # convex, so no other two can be.
    shape = np.full(600, 5 + list(SHAPES).index(name))
    start = model.shape_middle[shape] + DRAW.normal(size=(600, 3)) * (1.0 + 2.0 * DRAW.uniform(size=(600, 1)))
    way = long * normalised(DRAW.normal(size=(600, 3)))
    found = nearest_feature(model, shape, start, way)
    faces = slice(*model.polygons.first[[shape[0], shape[0] + 1]])
    normals, offsets = model.polygons.normal[faces], model.polygons.offset[faces]
    corners = model.polygons.corner[slice(*model.polygons.start[[faces.start, faces.stop]])]
    many = start[:, None] + np.linspace(0.0, 1.0, 101)[:, None] * way[:, None]
    outside = ((many @ normals.T - offsets).max(axis=2) > 1e-3).all(axis=1)
    assert outside.sum() > 50
    x = start + found.share[:, None] * way
    apart = x - found.place
    assert ((found.place @ normals.T - offsets).max(axis=1) < 1e-5).all()
    assert np.abs(apart - found.length[:, None] * found.normal)[outside].max() < 1e-9
    assert np.einsum("ni,nci->nc", apart, corners - found.place[:, None])[outside].max() < 1e-4
    for end in (start, start + way):
        assert np.einsum("ni,ni->n", -apart, end - x)[outside].max() < 1e-9
    if not long:
        inside = (start @ normals.T - offsets).max(axis=1) < 0.0
        assert (found.length[inside] < 0.0).all() and found.on_face[inside].all()
    assert found.on_face[outside].any() and not found.on_face[outside].all()


def level_to(noise, seed):
    """Hull of a turned grid of places on the surface of a cube of 1 m, each off by ``noise`` [m]; its turn (3, 3)."""
    draw = np.random.default_rng(seed)
    across = np.linspace(-0.5, 0.5, 5)
    grid = np.stack(np.meshgrid(across, across, across), axis=-1).reshape(-1, 3)
    grid = grid[np.abs(grid).max(axis=1) == 0.5]
    turn = np.linalg.qr(draw.normal(size=(3, 3)))[0]
    return ConvexHull(grid @ turn.T + noise * draw.normal(size=grid.shape)), turn


@pytest.mark.parametrize("noise", [1e-7, 1e-6, 1e-5])
def test_faces_that_are_level_but_for_rounding_are_faces(noise):
    """Hulls of Blender's meshes far from their origin: those of grouped faces were off by up to 1 m."""
    for seed in range(8):
        hull, turn = level_to(noise, seed)
        model = build_model(Scene(bodies=[Body("hull", [hull])]))
        start = 0.9 * np.random.default_rng(seed).normal(size=(400, 3))
        start = start[(np.abs(start @ turn) > 0.55).any(axis=1)]
        found = nearest_feature(model, np.zeros(len(start), int), start, np.zeros_like(start))
        place = np.clip(start @ turn, -0.5, 0.5) @ turn.T
        length = np.linalg.norm(start - place, axis=1)
        assert found.length == pytest.approx(length, abs=10.0 * noise)
        assert np.einsum("ni,ni->n", found.normal, start - place) == pytest.approx(length, abs=10.0 * noise)


def test_places_of_meshes_are_those_of_their_hulls():
    hull = SHAPES["many corners"]
    mesh = TriangleMesh(hull.vertices, hull.triangles, orientation=hull.orientation)
    model = build_model(Scene(bodies=[Body("hull", [hull]), Body("mesh", [mesh], motion="static")]))
    start = 4.0 * DRAW.normal(size=(400, 3))
    both = nearest_place(model, np.repeat([0, 1], 400), np.tile(start, (2, 1)), np.zeros((800, 3)))
    outside = both.length[:400] > 0.0
    assert outside.sum() > 200
    for column in (both.place, both.normal, both.length, both.on_face):
        assert column[:400][outside] == pytest.approx(column[400:][outside], abs=1e-5)
