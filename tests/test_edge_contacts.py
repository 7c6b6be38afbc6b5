# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges of one mesh against those of another, and bodies that edges have pierced."""

from itertools import product

import numpy as np
import pytest
from axion.solver import Body, Box, Cone, ConvexHull, Cylinder, Sphere, TriangleMesh, shape_pairs
from axion.solver.edge_contacts import edge_contacts
from axion.solver.mesh_interior import depth_below, way_out
from axion.solver.mesh_sides import Sides
from axion.solver.rotations import exponential, matrices
from contact_scenes import CUBE, bowl, detect, grid, set_up, torus, upward

FRAME = {"mass": 1.0, "inertia": np.eye(3), "center_of_mass": (0.0, 0.0, 0.0)}


def solid(points):
    """A TriangleMesh of the hull of points (N, 3)."""
    hull = ConvexHull(points)
    return TriangleMesh(hull.vertices, hull.triangles)


def rock(random, corners=12):
    away = random.normal(size=(corners, 3))
    return solid(away / np.linalg.norm(away, axis=1)[:, None] * random.uniform(0.6, 1.0, 3))


def extents(one, other, way):
    """Gap along unit vectors ``way`` (N, 3): how far all corners of ``one`` are before all of ``other``."""
    return (one @ way.T).min(axis=0) - (other @ way.T).max(axis=0)


def edges_of(one, faces, other, other_faces):
    """Each edge (2, 3) of one solid with each of the other: (N, 2, 3) and (N, 2, 3)."""
    edges = []
    for corners, triangles in ((one, faces), (other, other_faces)):
        pairs = np.unique(np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
        edges.append(corners[pairs])
    return np.repeat(edges[0], len(edges[1]), axis=0), np.tile(edges[1], (len(edges[0]), 1, 1))


def separation(one, faces, other, other_faces):
    """Most that two convex solids are apart along a face's normal or what is square to an edge of each: their overlap
    where it is negative, else no more than their distance.
    """
    a, b = edges_of(one, faces, other, other_faces)
    ways = [np.cross(a[:, 1] - a[:, 0], b[:, 1] - b[:, 0])]
    for tip in (one[faces], other[other_faces]):
        ways.append(np.cross(tip[:, 1] - tip[:, 0], tip[:, 2] - tip[:, 0]))
    way = np.concatenate(ways)
    length = np.linalg.norm(way, axis=1)
    way = way[length > 1e-9] / length[length > 1e-9, None]
    return extents(one, other, np.concatenate([way, -way])).max()


def apart(one, faces, other, other_faces):
    """Signed distance of two convex solids of corners (V, 3) and triangles (T, 3): positive where they are apart, the
    least of corners to triangles and of edges to edges.
    """
    best = separation(one, faces, other, other_faces)
    if best < 0.0:
        return best
    (a, b), best = edges_of(one, faces, other, other_faces), np.inf
    for corners, surface in ((one, other[other_faces]), (other, one[faces])):
        for corner, tip in product(corners, surface):
            best = min(best, to_triangle(corner, tip))
    for first, second in zip(a, b, strict=True):
        u, v, w = first[1] - first[0], second[1] - second[0], second[0] - first[0]
        system = np.array([[u @ u, -u @ v], [-u @ v, v @ v]])
        if np.linalg.det(system) > 1e-12:
            s, t = np.linalg.solve(system, (u @ w, -v @ w))
            if 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0:
                best = min(best, np.linalg.norm(w + t * v - s * u))
    return best


def to_triangle(point, tip):
    """Distance of a point to a triangle (3, 3)."""
    edge = np.roll(tip, -1, axis=0) - tip
    normal = np.cross(edge[0], edge[1])
    normal /= np.linalg.norm(normal)
    if np.all(np.einsum("ki,ki->k", np.cross(normal, edge), point - tip) >= 0.0):
        return abs(normal @ (point - tip[0]))
    share = np.clip(np.einsum("ki,ki->k", point - tip, edge) / np.einsum("ki,ki->k", edge, edge), 0.0, 1.0)
    return np.linalg.norm(tip + share[:, None] * edge - point, axis=1).min()


@pytest.mark.parametrize("kind", ["tetrahedra", "rocks"])
def test_the_nearest_contact_is_as_far_as_the_solids(kind):
    """Apart and just in each other: the definition of the distance, by all corners, faces and edges.

    Fails where edges yield one point each (newton), or none: rocks sank 2 to 3 cm into each other's edges.
    """
    random, tetrahedron = np.random.default_rng(7), CUBE[[0, 3, 5, 6]]
    shapes = [solid(tetrahedron), solid(1.3 * tetrahedron)] if kind == "tetrahedra" else [rock(random), rock(random)]
    faces, by_edges = [np.asarray(shape.triangles) for shape in shapes], 0
    collider, x, q = set_up(*(Body(f"Solid {k}", [shape], **FRAME) for k, shape in enumerate(shapes)))
    for _ in range(40):
        q[:] = [exponential(random.uniform(-2.0, 2.0, 3)) for _ in range(2)]
        away = random.normal(size=3)
        away /= np.linalg.norm(away)
        one, other = (shape.vertices @ turn.T for shape, turn in zip(shapes, matrices(q), strict=True))
        wanted, low, high = random.choice([random.uniform(-0.002, 0.0), random.uniform(0.0, 0.03)]), 0.0, 4.0
        for _ in range(22):  # the place on the way at which they are about that far apart
            x[0] = 0.5 * (low + high) * away
            beyond = separation(one + x[0], faces[0], other, faces[1]) > wanted
            low, high = (low, x[0] @ away) if beyond else (x[0] @ away, high)
        far = apart(one + x[0], faces[0], other, faces[1])
        contacts = detect(collider, x, q, linear=np.array([-6.0 * away, [0.0, 0.0, 0.0]]))
        assert contacts.gap.min() == pytest.approx(far, abs=1e-5)
        nearest = contacts.take([np.argmin(contacts.gap)])
        assert extents(one + x[0], other, upward(nearest, 0)) <= far + 1e-5
        if far < 0.0:
            assert extents(one + x[0], other, upward(nearest, 0)) == pytest.approx(far, abs=1e-5)
        ends = (nearest.point_a[0], nearest.body_a[0]), (nearest.point_b[0], nearest.body_b[0])
        by_edges += min(np.linalg.norm(shapes[body].vertices - point, axis=1).min() for point, body in ends) > 1e-3
    assert by_edges > 10


@pytest.mark.parametrize("floor", ["rough", "torus", "bowl"])
def test_all_edges_that_meet_are_found(floor, monkeypatch):
    """What the tree leaves out of all pairs of edges is no contact: rings on concave, round and rough meshes."""
    random = np.random.default_rng(11)
    rough = 0.2 * random.uniform(-1.0, 1.0, (9, 9))
    ground = {"rough": grid(8, 2.0, lambda x, y: rough), "torus": torus(), "bowl": bowl(1.2)}[floor]
    collider, x, q = set_up(
        Body("Ground", [ground], motion="static"), Body("Ring", [torus(0.4, 0.15, around=12, across=8)], **FRAME)
    )
    model, pairs, reach, seen = collider.model, np.array([[0, 1]]), np.array([0.4]), 0
    edges = model.edge_pairs.edges
    meshes, found = model.meshes.shape_mesh, model.edge_pairs.find
    for _ in range(80):
        x[1] = (*random.uniform(-0.9, 0.9, 2), random.uniform(-0.4, 0.7))
        q[1] = exponential(random.uniform(-2.0, 2.0, 3))
        sides = Sides()
        have = edge_contacts(model, pairs, reach, x, matrices(q), sides)

        def every(wanted):
            """All pairs of the edges asked for with all edges of the other mesh."""
            count = len(wanted["mesh"])
            if not count:
                return np.zeros((2, 0), int)
            mesh = int(np.searchsorted(model.meshes.first_triangle, wanted["first_triangle"][0], "right")) - 1
            other = np.arange(edges.first[mesh], edges.first[mesh + 1])
            return np.stack([np.repeat(np.arange(count), len(other)), np.tile(other, count)])

        monkeypatch.setattr(model.edge_pairs, "find", every)
        wanted = edge_contacts(model, pairs, reach, x, matrices(q), sides)
        monkeypatch.setattr(model.edge_pairs, "find", found)
        assert len(have) == len(wanted)
        order = [np.lexsort(np.round(each.point_a, 9).T) for each in (have, wanted)]
        assert have.point_a[order[0]] == pytest.approx(wanted.point_a[order[1]], abs=1e-9)
        assert have.normal[order[0]] == pytest.approx(wanted.normal[order[1]], abs=1e-9)
        seen += len(have)
    assert meshes.tolist() == [0, 1] and seen > 30


def test_cones_of_edges():
    """Convex edges of a box have the quarter turn between their faces, its diagonals none; concave ones only from the
    other side; those of a border half a turn.
    """
    box = solid(CUBE)
    valley = grid(2, 1.0, lambda x, y: np.abs(x))
    collider, _, _ = set_up(Body("Box", [box], **FRAME), Body("Valley", [valley], motion="static"))
    table, edges = collider.model.meshes, collider.model.edge_pairs.edges
    mean, cone, has = edges.cones(np.arange(18), np.zeros(18, bool))
    ends = table.vertices[edges.ends[:18]]
    assert has.sum() == 12 and cone[has] == pytest.approx(np.sqrt(0.5))
    assert mean[has] == pytest.approx(np.sqrt(2.0) * ends[has].mean(axis=1))
    number = np.arange(18, len(edges.ends))
    middle = table.vertices[edges.ends[number]].mean(axis=1)
    fold = (np.abs(middle[:, 0]) < 1e-9) & (np.abs(middle[:, 1]) < 0.9)
    border = np.abs(middle).max(axis=1) > 0.99
    for back in (False, True):
        mean, cone, has = edges.cones(number, np.full(len(number), back))
        assert np.array_equal(has, border | (fold & back))
        assert cone[border] == pytest.approx(0.0) and np.all((mean[border] * middle[border]).sum(axis=1) > 0.5)
        assert cone[fold] == pytest.approx(np.sqrt(0.5)) and mean[fold][:, 2] == pytest.approx(-1.0 if back else 1.0)


def test_edges_follow_a_mesh_that_deforms():
    """A flat sheet that folds down on both sides has a ridge then, and boxes around its edges as low as those."""
    flat = grid(2, 1.0, lambda x, y: 0.0 * x)
    folded = flat.vertices - [[0.0, 0.0, 1.0]] * np.abs(flat.vertices[:, :1])
    shapes = np.stack([flat.vertices, folded])
    sheet = TriangleMesh(flat.vertices, flat.triangles, times=(0.0, 1.0), moving_vertices=shapes)
    collider, _, _ = set_up(Body("Sheet", [sheet], motion="static"), Body("Box", [solid(CUBE)], **FRAME))
    mesh, wide, listed = 0, np.full((1, 3), 9.0), []
    for time, ridge in ((0.0, False), (1.0, True)):
        collider.deform(time, 0.0)
        edges, table = collider.model.edge_pairs.edges, collider.model.meshes
        some = np.arange(edges.first[mesh], edges.first[mesh + 1])
        ends = table.vertices[edges.ends[some]]
        assert edges.low[some] == pytest.approx(ends.min(axis=1))
        assert edges.high[some] == pytest.approx(ends.max(axis=1))
        top = np.abs(ends[:, :, 0]).max(axis=1) < 1e-9
        border = np.abs(ends.mean(axis=1)[:, :2]).max(axis=1) > 0.99
        _, found = edges.with_cones(np.array([mesh]), np.array([False]), -wide, wide)
        assert np.array_equal(np.isin(some, found), border | (top & ridge))
        listed.append(len(found))
    assert listed[1] == listed[0] + 2


def test_boxes_meet_those_of_their_group_only(monkeypatch):
    """As every box compared with every item; groups without items and without boxes among them, few at a time."""
    monkeypatch.setattr(shape_pairs, "COMPARED", 100)
    random = np.random.default_rng(4)
    start, group = np.array([0, 40, 40, 75, 90]), random.choice([0, 1, 2], 30)
    low, box_low = random.uniform(-1.0, 1.0, (90, 3)), random.uniform(-1.0, 1.0, (30, 3))
    high, box_high = low + random.uniform(0.0, 1.0, (90, 3)), box_low + random.uniform(0.0, 1.0, (30, 3))
    wanted = [
        [b, i]
        for b in range(30)
        for i in range(start[group[b]], start[group[b] + 1])
        if np.all(low[i] <= box_high[b]) and np.all(high[i] >= box_low[b])
    ]
    assert len(wanted) > 20
    assert shape_pairs.meeting(start, group, low, high, box_low, box_high).T.tolist() == wanted


@pytest.mark.parametrize("kind", ["box", "hull", "cylinder", "cone", "mesh"])
def test_what_a_ridge_has_pierced_leaves_upwards(kind):
    """A thin plate with a ridge through two thirds of it, as at the end of a step, and its top nearer.

    Fails where the shortest way apart counts: plates were pulled through.
    """
    half, ridge = np.array([0.3, 0.25, 0.03]), grid(8, 1.0, lambda x, y: 0.5 - np.abs(x))
    plate = {
        "box": Box(half),
        "hull": ConvexHull(2.0 * half * CUBE),
        "cylinder": Cylinder(0.3, 0.03),
        "cone": Cone(0.3, 0.03),
        "mesh": solid(2.0 * half * CUBE),
    }[kind]
    collider, x, q = set_up(Body("Ridge", [ridge], motion="static"), Body("Plate", [plate], **FRAME))
    q[1], x[1] = exponential(np.array([0.02, 0.0, 0.3])), (0.0, 0.02, 0.7)
    detect(collider, x, q, linear=np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -6.0]]))
    x[1, 2] = 0.5 + 0.03 - 0.04
    contacts = collider.collide_again(x, q)
    deep = contacts.gap < -0.01
    assert deep.sum() >= 1 and np.all(upward(contacts, 1)[deep, 2] > 0.6)
    assert contacts.gap.min() == pytest.approx(-0.04, abs=0.012)


@pytest.mark.parametrize("shape", ["bowl", "cube"])
def test_ways_out_of_meshes(shape):
    """From places inside, along axes: as far as thin slices of the way say."""
    mesh = bowl(1.0, thickness=0.2) if shape == "bowl" else solid(CUBE)
    collider, _, _ = set_up(Body("Solid", [mesh], **FRAME), Body("Ball", [Sphere(0.1)], mass=1.0))
    random, model = np.random.default_rng(3), collider.model
    point, number = random.uniform(-1.2, 1.2, (400, 3)), np.zeros(400, int)
    inside = depth_below(model, number, point, np.zeros(400, bool)) > 0.0
    point, number = point[inside], number[inside]
    assert len(point) > 20
    way = random.normal(size=point.shape)
    way /= np.linalg.norm(way, axis=1)[:, None]
    far = way_out(model, number, point, way)
    for share, sign in ((0.5, 1.0), (0.999, 1.0), (1.0, 0.0), (1.002, -1.0)):
        depth = depth_below(model, number, point + share * far[:, None] * way, np.zeros(len(point), bool))
        assert np.all(sign * depth > 0.0) if sign else np.abs(depth).max() < 1e-5


def test_a_tip_just_over_an_edge_stays_on_top():
    """A flat tetrahedron on its tip, which is 2e-5 m in the top of a cube and 1e-5 m from its side.

    Fails where the nearest face counts: the tip seems to leave by the side, and slides through.
    """
    tip = solid(np.array([(0.0, 0.0, 0.0), (0.5, 0.0, 0.2), (-0.3, 0.4, 0.2), (-0.3, -0.4, 0.2)]))
    collider, x, q = set_up(Body("Cube", [solid(CUBE)], motion="static"), Body("Tip", [tip], **FRAME))
    x[1] = 0.5 - 1e-5, 0.03, 0.5 - 2e-5
    contacts = detect(collider, x, q)
    push = upward(contacts, 1)
    assert push[:, 2].min() > 0.5
    assert contacts.gap[np.argmax(push[:, 2])] == pytest.approx(-2e-5, abs=1e-6) and push[:, 2].max() > 0.9999
