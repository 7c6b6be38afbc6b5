# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of triangle meshes: inner edges, corners, open and inverted surfaces, concave in concave, rest."""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Cone, ConvexHull, Cylinder, Plane, Sphere, TriangleMesh
from axion.solver.closest_points import closest_points
from axion.solver.manifold import Manifolds
from axion.solver.mesh_contacts import thin_out
from axion.solver.plausible import pair_number
from axion.solver.rotations import exponential, matrices, multiply
from contact_scenes import CUBE, LYING, bowl, detect, grid, rock, set_up, support, torus, upward

FLOORS = {
    "plane": Plane(),
    "box": Box((12.0, 4.0, 0.5), position=(0.0, 0.0, -0.5)),
    "mesh": grid(24, 12.0),
    "closed mesh": TriangleMesh(CUBE * (24.0, 8.0, 1.0) - (0.0, 0.0, 0.5), ConvexHull(CUBE).triangles),
}
RESTING = {  # shape, height of its middle at rest, least number of points, how far inside their polygon it stands
    "box": (Box((0.5, 0.4, 0.3)), 0.3, 4, 0.35),
    "cylinder": (Cylinder(0.3, 0.5), 0.5, 3, 0.05),
    "cone": (Cone(0.3, 0.5), 0.5, 3, 0.05),
    "hull": (ConvexHull(CUBE), 0.5, 4, 0.45),
    "mesh cube": (TriangleMesh(CUBE, ConvexHull(CUBE).triangles), 0.5, 4, 0.45),
    "torus": (torus(), 0.3, 6, 0.8),
}


def row_on(floor):
    """All RESTING bodies in a row, 3 m apart, exactly on a floor; body 0 is the floor."""
    place = {"mass": 1.0, "inertia": np.eye(3), "center_of_mass": (0.0, 0.0, 0.0)}
    bodies = [
        Body(name, [shape], position=(3.0 * k - 7.5, 0.0, height), **place)
        for k, (name, (shape, height, _, _)) in enumerate(RESTING.items())
    ]
    return set_up(Body("Floor", [floor], motion="static"), *bodies)


def of_body(contacts, body):
    """The contacts of one body: gaps, pushes on it, and itself for ``support``."""
    index = np.flatnonzero((contacts.body_a == body) | (contacts.body_b == body))
    part = contacts.take(index)
    return part, upward(part, body)


@pytest.mark.parametrize("floor", FLOORS)
def test_bodies_at_rest_stand_on_enough_points(floor):
    # Equilibrium needs the centre of mass inside the polygon of the contacts, and normals of the floor: any other one
    # on a flat floor would block sliding (inner edges of the mesh floor) or lift the body.
    collider, start, q = row_on(FLOORS[floor])
    random = np.random.default_rng(5)
    for _ in range(4):
        x = start.copy()
        x[1:] += random.uniform((-0.3, -1.0, -1e-4), (0.3, 1.0, 1e-4), (len(RESTING), 3))
        for body in range(1, len(x)):
            turn = exponential(np.array([0.0, 0.0, random.uniform(-3.0, 3.0)]))
            q[body] = multiply(exponential(2e-4 * random.normal(size=3) * (1, 1, 0)), turn)
        contacts = detect(collider, x, q)
        for body, (kind, (_, _, least, inside)) in enumerate(RESTING.items(), 1):
            own, push = of_body(contacts, body)
            assert np.sum(np.abs(own.gap) < 2e-3) >= least, kind
            assert support(own, x, q, body) > inside, kind
            assert np.all(np.abs(own.gap) < 2e-2), kind
            assert np.all(push[:, 2] > np.cos(np.radians(2.0))), kind


def test_an_open_floor_carries_from_both_sides():
    # Blender's faces may look either way: a floor that faces down carries like one that faces up.
    floor = FLOORS["mesh"]
    collider, start, q = row_on(TriangleMesh(floor.vertices, floor.triangles[:, ::-1]))
    for gap in (1e-3, -1e-3, -0.05):
        x = start.copy()
        x[1:] += 0.1, 0.2, gap
        contacts = detect(collider, x, q)
        for body, (kind, (_, _, _, inside)) in enumerate(RESTING.items(), 1):
            own, push = of_body(contacts, body)
            assert own.gap.min() == pytest.approx(gap, abs=1e-5), kind
            assert support(own, x, q, body) > inside, kind
            assert np.all(push[:, 2] > 0.9), kind


def test_concave_in_concave():
    # A ring hanging on a ring: the link points lie inside both hulls, so that only concave surfaces can answer.
    ring = torus(1.0, 0.2)
    collider, x, q = set_up(
        Body("Held", [ring], motion="static"), Body("Link", [ring], position=(1.0, 0.0, 0.0), orientation=LYING)
    )
    assert len(detect(collider, x, q)) == 0  # each goes through the middle of the other's hole
    x[1, 0] = 1.595  # tubes of radius 0.2 around x = 1 and x = 0.595, with vertices on the line between
    contacts = detect(collider, x, q)
    # 5 mm apart are two corners; of the edges along either hole, 7.5 degrees askew to that line, places nearer by.
    assert contacts.gap.min() == pytest.approx(0.005 / np.sqrt(1.0 + 2.0 * np.tan(np.radians(7.5)) ** 2), abs=1e-6)
    assert upward(contacts, 1)[np.argmin(contacts.gap)][0] < -np.cos(np.radians(11.0))


def test_a_bowl_in_a_bowl_stands_on_its_inside():
    outer, inner = bowl(0.6), bowl(0.4)
    collider, x, q = set_up(
        Body("Outer", [outer], motion="static"), Body("Inner", [inner], position=(0.0, 0.0, -0.099))
    )
    contacts = detect(collider, x, q)
    # The inner bowl's pole (radius 0.5) is at z = -0.599, 1 mm above the outer's inside (radius 0.6).
    # Faces there lean by up to 7.5 degrees inside and as much outside, and n . d is less by the cosine.
    assert 1e-3 * np.cos(np.radians(18.0)) < contacts.gap.min() < 1e-3 + 1e-6
    assert upward(contacts, 1)[np.argmin(contacts.gap)][2] > 0.9
    ball, x, q = set_up(Body("Outer", [outer], motion="static"), Body("Ball", [Sphere(0.2)], position=(0, 0, -0.41)))
    assert detect(ball, x, q).gap.min() == pytest.approx(-0.01, abs=3e-3)


def test_a_mesh_turned_inside_out_is_the_same_solid():
    # As a mirrored object in Blender: all triangles wound the other way round.
    ring = torus()
    body = Body("Ring", [TriangleMesh(ring.vertices, ring.triangles[:, ::-1])], position=(0.0, 0.0, 0.301))
    for floor in (Plane(), grid(), Box((4.0, 4.0, 0.5), position=(0.0, 0.0, -0.5))):
        collider, x, q = set_up(Body("Floor", [floor], motion="static"), body)
        contacts = detect(collider, x, q)
        assert len(contacts) >= 6
        assert np.allclose(contacts.gap, 1e-3, atol=1e-5)


def test_a_thick_mesh_is_left_by_the_near_side():
    # A cube of triangles 1 mm deep in a slab must not be told to leave through the slab's far side.
    slab = Body("Slab", [Box((5.0, 5.0, 0.5))], motion="static", position=(0.0, 0.0, -0.5))
    cube = Body("Cube", [TriangleMesh(CUBE, ConvexHull(CUBE).triangles)], position=(0.0, 0.0, 0.499))
    collider, x, q = set_up(slab, cube)
    random = np.random.default_rng(1)
    for _ in range(20):
        q[1] = exponential(np.array([*random.normal(size=2) * 1e-4, random.uniform(-3.0, 3.0)]))
        contacts = detect(collider, x, q)
        assert contacts.gap.min() > -2e-3
        assert len(contacts) >= 4


@pytest.mark.parametrize("depth", [0.01, 0.03, 0.06, 0.09])
def test_a_ball_deep_in_an_edge_touches_it(depth):
    # Its middle is outside the cube, as that of a ball always is that has not gone all through.
    cube, radius = TriangleMesh(CUBE, ConvexHull(CUBE).triangles), 0.1
    place = np.array([0.5, 0.1, 0.5]) + (radius - depth) * np.array([0.6, 0.0, 0.8])
    collider, x, q = set_up(Body("Cube", [cube], motion="static"), Body("Ball", [Sphere(radius)], position=place))
    collider.collide(x, q, np.zeros((2, 3)), np.zeros((2, 3)), 1.0 / 24.0)
    contacts = collider.collide_again(x, q)
    assert contacts.gap == pytest.approx([-depth], abs=1e-6)
    assert contacts.normal == pytest.approx(np.array([[0.6, 0.0, 0.8]]), abs=1e-5)


def test_no_contact_is_nearer_than_the_mesh():
    """A ball beside round and hollow places of a ring: facets past an edge are no surface that could be met.

    Fails where a facet seen from the side counts as the whole of its plane: overlaps of half the ball in the open air.
    """
    radius, random, compared = 0.35, np.random.default_rng(2), 0
    ring = torus(big=0.6, small=0.35, around=48, across=32)
    collider, x, q = set_up(
        Body("Ring", [ring], mass=1.0, inertia=np.eye(3), center_of_mass=(0.0, 0.0, 0.0)),
        Body("Ball", [Sphere(radius)], mass=1.0),
    )
    for _ in range(400):
        away = random.normal(size=3)
        x[1] = random.uniform(0.3, 1.5) * away / np.linalg.norm(away)
        q[0] = exponential(random.uniform(-3.0, 3.0, 3))
        local = x[1] @ matrices(q)[0]
        _, _, place, sign = closest_points(collider.model, np.array([0]), local[None], np.array([np.inf]))
        gap = np.linalg.norm(place[0] - local) - radius
        if sign[0] < 0.0 or gap < 0.0:
            continue
        contacts = detect(collider, x, q, linear=np.array([[0, 0, 0], -3.0 * away / np.linalg.norm(away)]))
        if len(contacts):
            assert contacts.gap.min() > gap - 1e-2 * radius  # a gap is measured along the normal as they touch
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("shape", ["box", "hull"])
@pytest.mark.parametrize("tilt", [1.0, 5.0, 12.0])
def test_all_corners_over_flat_triangles_are_contacts(shape, tilt):
    """Those of a leaning face, too: newton gave places amid its edges in their stead, from 3 degrees on."""
    shape = Box((0.5, 0.4, 0.3)) if shape == "box" else ConvexHull(CUBE * (1.0, 0.8, 0.6))
    collider, x, q = set_up(Body("Floor", [grid(24)], motion="static"), Body("Thing", [shape], mass=1.0))
    q[1] = exponential(np.radians(tilt) * np.array([0.6, 0.8, 0.0]))
    corners = CUBE * (1.0, 0.8, 0.6)
    height = (corners @ matrices(q)[1].T)[:, 2]
    x[1] = 0.03, 0.01, 0.02 - height.min()
    contacts = detect(collider, x, q, linear=np.array([[0, 0, 0], [0, 0, -6.0]]))
    own = np.where((contacts.body_a == 1)[:, None], contacts.point_a, contacts.point_b)
    near = corners[height - height.min() < 0.15]  # at 6 m/s, 20 cm matter in a step
    assert len(near) >= 2
    for corner in near:
        assert np.linalg.norm(own - corner, axis=1).min() < 1e-5
    assert contacts.normal[:, 2] == pytest.approx(np.where(contacts.body_a == 1, 1.0, -1.0), abs=1e-6)


def test_a_stick_over_a_valley_is_before_both_slopes():
    """Its middle is below the plane of either slope beside it.

    Fails where that plane tells the side of an open mesh: its ends were pulled through.
    """
    floor = grid(8, height=lambda x, y: np.abs(x))
    collider, x, q = set_up(Body("Floor", [floor], motion="static"), Body("Stick", [Box((0.7, 0.02, 0.02))], mass=1.0))
    q[1] = exponential(np.array([0.0, np.radians(40.0), 0.0]))
    x[1] = -0.5, 0.05, 0.5 + 0.03 * np.sqrt(2.0)  # leans on one slope, and its upper end is far over the other
    contacts = detect(collider, x, q, linear=np.array([[0, 0, 0], [0, 0, -3.0]]))
    upward = np.where(contacts.body_a == 1, contacts.normal[:, 2], -contacts.normal[:, 2])
    assert len(contacts) >= 2 and upward.min() > 0.5


@pytest.mark.parametrize("shape", [Capsule(0.05, 0.2), Sphere(0.05), Cone(0.1, 0.1), Cylinder(0.1, 0.1)])
def test_what_sinks_in_is_pushed_back_to_where_it_came_from(shape):
    """At a step's end its middle may be on the far side of an open mesh; it belongs to that of the start."""
    collider, x, q = set_up(Body("Floor", [grid(8)], motion="static"), Body("Thing", [shape], mass=1.0))
    q[1], x[1] = exponential(np.array([0.0, 1.0, 0.0])), (0.02, 0.05, 0.2)
    detect(collider, x, q, linear=np.array([[0, 0, 0], [0, 0, -20.0]]))
    x[1, 2] = -0.02
    contacts = collider.collide_again(x, q)
    upward = np.where(contacts.body_a == 1, contacts.normal[:, 2], -contacts.normal[:, 2])
    assert contacts.gap.min() < -0.05 and upward.min() > 0.5


@pytest.mark.parametrize("floor", ["flat", "bent", "ring"])
def test_a_ball_meets_no_edge_from_the_side(floor):
    """The way from a mesh to the ball's middle leads away from all triangles there: d . (v - p) <= 0 for corners v.

    Fails where neighbours of the triangle below a ball count, at their edges, with normals up to 2 degrees askew.
    """
    radius, random = 0.2, np.random.default_rng(4)
    mesh = {
        "flat": grid(32, 2.0),
        "bent": grid(32, 2.0, lambda x, y: 0.1 * np.cos(2.0 * x) * np.sin(1.5 * y)),
        "ring": torus(0.8, 0.3, around=64, across=32),
    }[floor]
    collider, x, q = set_up(Body("Floor", [mesh], motion="static"), Body("Ball", [Sphere(radius)], mass=1.0))
    corners = mesh.vertices[mesh.triangles]
    seen = 0
    for _ in range(50):
        k = random.integers(len(corners))
        up = np.cross(corners[k, 1] - corners[k, 0], corners[k, 2] - corners[k, 0])
        up /= np.linalg.norm(up)
        x[1] = random.dirichlet(np.ones(3)) @ corners[k] + (radius + random.uniform(-1e-3, 1e-3)) * up
        contacts = detect(collider, x, q, linear=np.array([[0.0, 0.0, 0.0], random.normal(size=3)]))
        assert len(contacts)
        place = np.where((contacts.body_a == 0)[:, None], contacts.point_a, contacts.point_b)
        for p, d in zip(place, upward(contacts, 1), strict=True):
            there = np.linalg.norm(corners - p, axis=2).min(axis=1) < 0.3
            around = corners[there]
            normal = np.cross(around[:, 1] - around[:, 0], around[:, 2] - around[:, 0])
            normal /= np.linalg.norm(normal, axis=1)[:, None]
            sides = np.cross(normal[:, None], np.roll(around, -1, axis=1) - around)
            sides /= np.linalg.norm(sides, axis=2)[:, :, None]
            inside = np.all(np.einsum("tki,tki->tk", sides, p - around) > -1e-5, axis=1)
            touched = around[inside & (np.abs(np.einsum("ti,ti->t", normal, p - around[:, 0])) < 1e-5)]
            assert len(touched)
            way = touched - p
            cosine = np.einsum("tki,i->tk", way, d) / np.maximum(np.linalg.norm(way, axis=2), 1e-3)
            assert cosine.max() < 2e-3
            seen += 1
    assert seen >= 50


@pytest.mark.parametrize("shape", [Cone(0.15, 0.15), Cylinder(0.15, 0.15)])
def test_round_sides_that_lie_across_a_ridge_touch_its_edge(shape):
    """The gap is the least distance of the ridge's line to the side, for any direction of the axis.

    Fails where a place a millimetre beside the edge counts as one amid the face: cones sank 7 cm deep, all "converged".
    """
    roof, random = grid(8, 1.0, lambda x, y: -0.5 * np.abs(x)), np.random.default_rng(2)
    collider, x, q = set_up(Body("Roof", [roof], motion="static"), Body("Thing", [shape], mass=1.0))
    line = np.c_[np.zeros(4001), np.linspace(-0.4, 0.4, 4001), np.zeros(4001)]
    taper = 0.0 if isinstance(shape, Cylinder) else 0.5 * shape.radius / shape.half_height
    for _ in range(30):
        lying = exponential(np.array([0.5 * np.pi + np.arctan(taper), 0.0, 0.0]))  # its side level, below its axis
        q[1] = multiply(exponential(np.array([0.0, 0.0, np.radians(random.uniform(20.0, 160.0))])), lying)
        q[1] = multiply(exponential(np.radians(random.uniform(-4.0, 4.0)) * np.array([1.0, 0.0, 0.0])), q[1])
        low, high = 0.0, 0.4
        wanted = random.uniform(-2e-3, 2e-3)
        for _ in range(30):
            middle = 0.5 * (low + high)
            local = (line - (0.02, 0.03, middle)) @ matrices(q)[1]
            radius = taper * (shape.half_height - local[:, 2]) if taper else shape.radius
            side = (np.hypot(local[:, 0], local[:, 1]) - radius) / np.hypot(1.0, taper)
            far = side[np.abs(local[:, 2]) < shape.half_height].min(initial=1.0)
            low, high = (low, middle) if far > wanted else (middle, high)
        x[1] = 0.02, 0.03, low
        contacts = detect(collider, x, q)
        on_edge = np.abs(upward(contacts, 1)[:, 0]) < 0.4
        assert on_edge.any()
        assert contacts.gap[on_edge].min() == pytest.approx(wanted, abs=3e-4)


def test_the_lowest_corner_of_a_smooth_body_is_a_contact():
    """A pebble whose faces meet at less than 5 degrees, over a floor of triangles, turned by lot.

    Fails where a corner amid a smooth surface must lie within 2 degrees of the mean of the faces around it: of bowls
    the lowest corner was left out, and others held them 3 mm too low.
    """
    number, random = np.arange(3000), np.random.default_rng(5)
    height, turn = 1.0 - (2.0 * number + 1.0) / len(number), np.pi * (3.0 - np.sqrt(5.0)) * number
    round_off = np.sqrt(1.0 - height**2)
    points = np.stack([round_off * np.cos(turn), round_off * np.sin(turn), height], axis=1) * (0.3, 0.2, 0.1)
    hull = ConvexHull(points)
    pebble = TriangleMesh(hull.vertices, hull.triangles)
    collider, x, q = set_up(Body("Floor", [grid(2, 2.0)], motion="static"), Body("Pebble", [pebble]))
    for _ in range(20):
        q[1] = random.normal(size=4)
        q[1] /= np.linalg.norm(q[1])
        lowest = (pebble.vertices @ matrices(q[1]).T)[:, 2].min()
        x[1] = (*random.uniform(-1.0, 1.0, 2), 1e-3 - lowest)
        contacts = detect(collider, x, q)
        assert contacts.gap.min() == pytest.approx(1e-3, abs=1e-5)


def test_what_lies_at_another_depth_is_no_twin():
    """Of two contacts of one place and normal the deeper one remains, but not where they are at different depths.

    The deeper one may be an edge of the far side, which proves implausible later: then the corner must still be there.
    """
    floor = Body("Floor", [grid(2, 2.0)], motion="static")
    cube = Body("Cube", [TriangleMesh(CUBE, ConvexHull(CUBE).triangles)])
    collider, x, q = set_up(floor, cube)
    depth = np.array([0.35, 0.0012, 0.00121])
    ends, zero = np.array([[0.0, 0.0, -each] for each in depth]), np.zeros(3)
    up = np.tile([0.0, 0.0, 1.0], (3, 1))
    found = Manifolds(
        pair=np.ones(3, np.int64), body_a=np.ones(3, int), body_b=np.zeros(3, int), point_a=ends, point_b=0.0 * ends,
        margin_a=zero, margin_b=zero, normal=up, size=zero + 0.5, lever=zero + 0.9, place=ends,
        tilt=np.tile(np.eye(3), (3, 1, 1)),
    )  # fmt: skip
    x[:] = 0.0
    keep = thin_out(collider.model, found, x, matrices(q))
    assert keep.tolist() == [True, False, True]


def test_what_falls_side_by_side_is_not_near():
    """A rock amid a ring, 11 cm from it, that both fall at 20 m/s, by 67 cm in two steps: neither nears the other.

    Fails where the ways of both are added up: all corners and edges of a falling heap were looked up in all others.
    """
    hull = rock(60, size=0.07)
    small = TriangleMesh(hull.vertices, hull.triangles)
    collider, x, q = set_up(Body("Ring", [torus(0.3, 0.1)]), Body("Rock", [small]))
    falling = np.tile([0.0, 0.0, -20.0], (2, 1))
    assert len(detect(collider, x, q, linear=falling).manifolds) == 0
    falling[1, 0] = 6.0  # closes the gap between them twice in a step: foreseen
    assert detect(collider, x, q, linear=falling).gap.min() == pytest.approx(0.11, abs=0.01)


def test_of_pairs_that_do_not_matter_nothing_is_looked_up():
    """A pile of four cubes as meshes: what is asked for is found as ever, and nothing else."""
    cube = TriangleMesh(CUBE, ConvexHull(CUBE).triangles)
    collider, x, q = set_up(*(Body(f"Cube {k + 1}", [cube], position=(0.1 * k, 0.0, 1.0 * k)) for k in range(4)))
    every = collider.collide_again(x, q)
    wanted = pair_number(np.array([2]), np.array([1]), 4)

    def asked(a, b):
        return ~np.isin(pair_number(a, b, 4), wanted)

    some = collider.collide_again(x, q, pairs=wanted)
    of_wanted = np.isin(pair_number(every.body_a, every.body_b, 4), wanted)
    assert 0 < len(some) == of_wanted.sum() < len(every)
    assert np.array_equal(some.point_a, every.point_a[of_wanted])
    everyone = np.ones(len(x), bool)
    faster = collider.collide_faster(x, q, 0.0 * x, 0.0 * x, 0.01, None, asked, everyone)
    assert set(pair_number(faster.body_a, faster.body_b, 4)) == set(pair_number(every.body_a, every.body_b, 4)) - {
        *wanted
    }
