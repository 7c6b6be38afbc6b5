# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex decomposition: what the pieces cover, what the body weighs, what it holds, and what is refused."""

import subprocess
import sys

import numpy as np
import pytest
from axion.solver import (
    Body,
    ConvexDecomposition,
    ConvexHull,
    Scene,
    SceneError,
    SolverConfig,
    Sphere,
    TriangleMesh,
    decompose,
    decomposition,
    simulate,
    validate,
)
from contact_scenes import CUBE, bowl, torus
from scenes import ground

CPU = SolverConfig(device="cpu")
RADIUS = 0.5


@pytest.fixture(scope="module")
def cup():
    mesh = bowl(RADIUS, rings=3, around=8)
    return mesh, decompose(mesh.vertices, mesh.triangles, concavity=0.1)


@pytest.fixture(scope="module")
def ring():
    mesh = torus(around=12, across=6)
    return mesh, decompose(mesh.vertices, mesh.triangles, concavity=0.1)


def outside(piece, points):
    """(N,) how far points lie outside the hull of a piece: the largest distance from one of its faces' planes [m]."""
    hull = ConvexHull(piece)
    a, b, c = (hull.vertices[hull.triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    return np.max(points @ normal.T - np.sum(normal * a, axis=1), axis=1)


@pytest.mark.parametrize("name", ["cup", "ring"])
def test_pieces_cover_the_mesh_and_little_more(name, request):
    # Pieces cut from the mesh and filled up: together at least its volume, and more by what the hollows allow.
    mesh, made = request.getfixturevalue(name)
    size = np.ptp(mesh.vertices, axis=0).max()
    volumes = [part.volume() for part in made.parts()]
    assert len(volumes) > 4 and all(isinstance(part, ConvexHull) for part in made.parts())
    assert mesh.volume() * (1.0 - 1e-3) < sum(volumes) < mesh.volume() * 1.25
    middles = mesh.vertices[mesh.triangles].mean(axis=1)
    for points in (mesh.vertices, middles):
        assert np.min([outside(piece, points) for piece in made.pieces], axis=0).max() < 2e-3 * size
    # No piece fills the hollow: it is that of the mesh still.
    hollow = np.zeros((1, 3))
    assert np.min([outside(piece, hollow) for piece in made.pieces]) > 0.3


@pytest.mark.parametrize("name", ["cup", "ring"])
def test_mass_is_that_of_the_mesh(name, request):
    mesh, made = request.getfixturevalue(name)
    for ours, theirs in zip(
        Body("x", [made], mass=3.0).mass_properties(), Body("x", [mesh], mass=3.0).mass_properties(), strict=True
    ):
        assert np.array_equal(ours, theirs)
    assert Body("x", [made]).mass_properties()[0] == pytest.approx(1000.0 * mesh.volume())


def test_cup_holds_a_ball(cup):
    # Dropped into the cup off its middle the ball stays within, and both come to rest on the floor.  The floor of the
    # hollow lies at -RADIUS where the mesh has a vertex, and a piece may fill a tenth of the size.
    scene = Scene()
    ground(scene)
    floor = RADIUS + 0.1
    scene.add(Body("Cup", [cup[1]], position=(0, 0, floor), density=500.0, angular_damping=2.0))
    scene.add(Body("Ball", [Sphere(0.15)], position=(0.1, 0.05, floor + 0.1), angular_damping=2.0))
    trajectory = simulate(scene, 192, config=CPU)  # it goes to and fro for four seconds and more
    apart = trajectory.position[-1, 2] - trajectory.position[-1, 1]
    assert np.hypot(*apart[:2]) < RADIUS - 0.15 and -RADIUS + 0.15 - 1e-3 < apart[2] < -RADIUS + 0.15 + 0.1
    assert all(report.penetration < 1e-3 for report in trajectory.reports)
    assert np.abs(trajectory.linear_velocity[-1]).max() < 1e-3


def test_hole_of_a_ring_is_open(ring):
    # A ball that flies through the hole of the ring touches nothing.
    scene = Scene(gravity=(0, 0, 0))
    scene.add(Body("Ring", [ring[1]]))
    scene.add(Body("Ball", [Sphere(0.5)], linear_velocity=(0, 0, 1.0), position=(0, 0, -1)))
    trajectory = simulate(scene, 48, config=CPU)
    assert trajectory.position[-1, 1] == pytest.approx([0, 0, 1.0], abs=1e-6)
    assert not np.any(trajectory.linear_velocity[:, 0])


def test_pieces_do_not_depend_on_unit_or_place(ring):
    mesh, made = ring
    other = decompose(0.01 * mesh.vertices + (5.0, -3.0, 2.0), mesh.triangles, concavity=0.1)
    assert len(other.pieces) == len(made.pieces)
    for mine, theirs in zip(other.pieces, made.pieces, strict=True):
        assert (mine - (5.0, -3.0, 2.0)) / 0.01 == pytest.approx(theirs, abs=1e-6)


def test_same_mesh_is_taken_apart_once(ring, monkeypatch):
    mesh, made = ring
    monkeypatch.setattr(decomposition, "_pieces", lambda *_: pytest.fail("it was taken apart again"))
    again = decompose(mesh.vertices, mesh.triangles, concavity=0.1)
    assert all(np.array_equal(mine, theirs) for mine, theirs in zip(again.pieces, made.pieces, strict=True))


def test_a_search_that_is_given_up_ends_its_process(monkeypatch):
    """Blender stood still for a minute while a monkey was taken apart; now it looks after the search now and then."""
    started = []

    def start(*arguments, **options):
        started.append(popen(*arguments, **options))
        return started[-1]

    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setattr(decomposition, "PROGRAM", "import time; time.sleep(600)")
    mesh = TriangleMesh(CUBE, ConvexHull(CUBE).triangles)
    slices = decomposition.decomposing(mesh.vertices, mesh.triangles, concavity=0.123)
    for _ in range(3):
        next(slices)
    (process,) = started
    assert process.poll() is None
    slices.close()
    assert process.poll() is not None


def test_survives_a_file(cup, tmp_path):
    scene = Scene()
    scene.add(Body("Cup", [cup[1]]))
    scene.save(tmp_path / "cup.npz")
    shape = Scene.load(tmp_path / "cup.npz").bodies[0].shapes[0]
    assert isinstance(shape, ConvexDecomposition) and not validate(scene)
    for mine, theirs in zip(shape.pieces, cup[1].pieces, strict=True):
        assert np.array_equal(mine, theirs)


def test_missing_package_is_named_with_its_cure(monkeypatch):
    monkeypatch.setitem(sys.modules, "coacd", None)
    mesh = TriangleMesh(CUBE, ConvexHull(CUBE).triangles)
    decomposition._kept.clear()
    with pytest.raises(SceneError, match=r"coacd, which is not installed: install it \(pip install coacd\)"):
        decompose(mesh.vertices, mesh.triangles)


FACES = ConvexHull(CUBE).triangles
BAD = {
    "no faces": ((CUBE, np.zeros((0, 3), int)), "without triangles"),
    "flat array": ((CUBE.ravel(), FACES), "shape (V, 3)"),
    "fractions": ((CUBE, FACES + 0.5), "whole vertex numbers"),
    "beyond": ((CUBE, FACES + 1), "beyond the 8"),
    "NaN": ((CUBE * np.nan, FACES), "NaN"),
    "a point": ((CUBE * 0.0, FACES), "one place"),
    "too fine": ((CUBE, FACES, 0.001), "from 0.01 to 1"),
    "concavity is text": ((CUBE, FACES, "low"), "'low'"),
}


@pytest.mark.parametrize("name", BAD)
def test_refused_before_coacd_sees_it(name):
    arguments, message = BAD[name]
    with pytest.raises(SceneError) as caught:
        decompose(*arguments)
    assert message in str(caught.value)


PIECES = {
    "none": ((), "decompose"),
    "number": (3, "decompose"),
    "flat": ((CUBE * (1, 1, 0),), "piece 0"),
    "NaN": ((CUBE, CUBE * np.nan), "piece 1"),
}


@pytest.mark.parametrize("name", PIECES)
def test_wrong_pieces_are_named(name):
    pieces, message = PIECES[name]
    scene = Scene()
    scene.add(Body("Thing", [ConvexDecomposition(CUBE, FACES, pieces=pieces)]))
    (problem,) = validate(scene)
    assert problem.object_name == "Thing" and message in str(problem)


def test_a_mesh_that_coacd_breaks_down_on_does_not_take_the_process_along():
    # A needle with thickness but no width: coacd ends its process with "unexpected code path was hit".
    line = np.array([(0.0, 0.0, 0.0), (0.5, 0.0, 0.0), (1.0, 0.0, 0.0)])
    vertices = np.concatenate([line, line - [0.0, 0.0, 0.01]])
    triangles = [(0, 1, 2), (3, 5, 4), (0, 2, 5), (0, 5, 3), (1, 0, 3), (1, 3, 4), (2, 1, 4), (2, 4, 5)]
    with pytest.raises(SceneError, match="no convex decomposition.*thickness"):
        decompose(vertices, triangles)
