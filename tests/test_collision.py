# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts: their gaps, normals, foresight, persistence and repeatability.  Lengths in metres."""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Cone, ConvexHull, Cylinder, Plane, Scene, Sphere, TriangleMesh
from axion.solver.collision import Collider, carry_impulses
from axion.solver.model import build_model
from axion.solver.rotations import exponential, multiply, rotate

CUBE = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
LYING = (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))


def set_up(*bodies, gravity=(0.0, 0.0, -9.81)):
    """A scene's collider and the poses of its bodies at the start."""
    scene = Scene(gravity=gravity)
    for body in bodies:
        scene.add(body)
    pose = [body.start() for body in scene.bodies]
    return Collider(build_model(scene)), np.array([p for p, _ in pose]), np.array([q for _, q in pose])


def detect(collider, position, orientation, linear=None, angular=None, step=1.0 / 60.0):
    still = np.zeros_like(position)
    linear, angular = still if linear is None else linear, still if angular is None else angular
    return collider.collide(position, orientation, linear, angular, step)


def gaps(contacts, position, orientation):
    """The definition of the gap, from the local points alone."""
    x_a = position[contacts.body_a] + rotate(orientation[contacts.body_a], contacts.point_a)
    x_b = position[contacts.body_b] + rotate(orientation[contacts.body_b], contacts.point_b)
    return np.sum(contacts.normal * (x_a - x_b), axis=1) - contacts.margin_a - contacts.margin_b


def upward(contacts, body):
    """The push on ``body``: the normal where it is body a, else the opposite."""
    return np.where((contacts.body_a == body)[:, None], contacts.normal, -contacts.normal)


def support(contacts, position, orientation, body):
    """How far inside the contacts' polygon, seen from above, the body's origin lies (negative: it tips over)."""
    own = contacts.body_a == body
    point = np.where(own[:, None], contacts.point_a, contacts.point_b)
    place = rotate(np.tile(orientation[body], (len(contacts), 1)), point)[:, :2]
    angle = np.linspace(0.0, 2.0 * np.pi, 72, endpoint=False)
    return np.min(np.max(np.c_[np.cos(angle), np.sin(angle)] @ place.T, axis=1))


def torus(big=1.0, small=0.3, around=24, across=12):
    u, v = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    p, q = 2.0 * np.pi * u / around, 2.0 * np.pi * v / across
    ring = big + small * np.cos(q)
    vertices = np.stack([ring * np.cos(p), ring * np.sin(p), small * np.sin(q)], axis=-1).reshape(-1, 3)
    a, b = u * across + v, (u + 1) % around * across + v
    c, d = (u + 1) % around * across + (v + 1) % across, u * across + (v + 1) % across
    return TriangleMesh(vertices, np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3))


def grid(count=8, size=4.0):
    """An open, flat floor of triangles in z = 0."""
    x, y = np.meshgrid(*[np.linspace(-size, size, count + 1)] * 2, indexing="ij")
    i, j = np.meshgrid(*[np.arange(count)] * 2, indexing="ij")
    a, b = i * (count + 1) + j, (i + 1) * (count + 1) + j
    triangles = np.stack([a, b, b + 1, a, b + 1, a + 1], axis=-1).reshape(-1, 3)
    return TriangleMesh(np.stack([x, y, 0.0 * x], axis=-1).reshape(-1, 3), triangles)


def bowl(radius, rings=6, around=16, thickness=0.1):
    """A closed half shell below z = 0, open side up: concave.  ``radius`` of the inside."""
    polar = 0.5 * np.pi * np.arange(1, rings + 1) / rings  # from the pole up to the rim
    inside = radius * np.stack([np.sin(polar), -np.cos(polar)], axis=1)
    profile = np.concatenate([inside, (1.0 + thickness / radius) * inside[::-1]])
    turn = 2.0 * np.pi * np.arange(around) / around
    circles = np.stack([np.outer(profile[:, 0], f(turn)) for f in (np.cos, np.sin)], axis=-1)
    heights = np.repeat(profile[:, 1], around)
    poles = [(0.0, 0.0, -radius), (0.0, 0.0, -radius - thickness)]
    vertices = np.concatenate([np.c_[circles.reshape(-1, 2), heights], poles])
    k = np.arange(around)
    n, last, pole = (k + 1) % around, (2 * rings - 1) * around, 2 * rings * around
    triangles = [
        np.stack([np.full(around, pole), k, n], axis=1),
        np.stack([last + n, last + k, 0 * k + pole + 1], axis=1),
    ]
    for start in around * np.arange(2 * rings - 1):
        a, b, c, d = start + k, start + n, start + around + n, start + around + k
        triangles += [np.stack([a, d, c], axis=1), np.stack([a, c, b], axis=1)]
    return TriangleMesh(vertices, np.concatenate(triangles))


@pytest.mark.parametrize("unit", [0.02, 1.0, 50.0])
@pytest.mark.parametrize("ground", [Plane(), Box((5.0, 5.0, 0.5), position=(0.0, 0.0, -0.5))], ids=["plane", "box"])
def test_gap_of_a_box_over_the_ground(unit, ground):
    # A box 1 mm (times the unit) above the ground: the gap is that, to float32's last digits, at every scale.
    if isinstance(ground, Box):
        ground = Box(ground.half_extents * unit, position=ground.position * unit)
    body = Body("Box", [Box((0.5 * unit,) * 3)], position=(0.3 * unit, 0.2 * unit, 0.501 * unit))
    collider, x, q = set_up(Body("Ground", [ground], motion="static"), body)
    contacts = detect(collider, x, q)
    assert len(contacts) == 4
    assert np.allclose(contacts.gap, 1e-3 * unit, atol=1e-6 * unit, rtol=0.0)
    assert np.allclose(gaps(contacts, x, q), contacts.gap, atol=1e-12 * unit, rtol=0.0)
    assert np.allclose(upward(contacts, 1), (0.0, 0.0, 1.0), atol=1e-6)


def test_contacts_far_from_the_world_origin():
    # Places are taken relative to the moving bodies, so that a scene 10 km out is as exact as one at the origin.
    far = np.array([1.0e4, -2.0e4, 300.0])
    collider, x, q = set_up(
        Body("Slab", [Box((5.0, 5.0, 0.5))], motion="static", position=far),
        Body("Box", [Box((0.5, 0.5, 0.5))], position=far + np.array([0.2, 0.1, 1.001])),
    )
    assert np.allclose(detect(collider, x, q).gap, 1e-3, atol=1e-6, rtol=0.0)


def test_normals_are_unit_and_point_from_b_to_a():
    collider, x, q = set_up(
        Body("Low", [Sphere(0.5)]), Body("High", [Sphere(0.4)], position=(0.1, 0.2, 0.88)), gravity=(0.0, 0.0, 0.0)
    )
    contacts = detect(collider, x, q)
    a, b = contacts.body_a[0], contacts.body_b[0]
    between = (x[a] - x[b]) / np.linalg.norm(x[a] - x[b])
    assert np.allclose(contacts.normal, between, atol=1e-6)
    assert np.allclose(np.linalg.norm(contacts.normal, axis=1), 1.0, atol=1e-14)
    assert contacts.gap[0] == pytest.approx(np.linalg.norm(x[a] - x[b]) - 0.9, abs=1e-6)


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
    part = type(contacts)(*[getattr(contacts, name)[index] for name in NAMES], contacts.manifolds, contacts.source)
    return part, upward(part, body)


NAMES = ["body_a", "body_b", "point_a", "point_b", "margin_a", "margin_b", "normal", "gap", "pair", "previous"]


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


@pytest.mark.parametrize("shape", [Cylinder(0.3, 0.5), Capsule(0.3, 0.5)], ids=["cylinder", "capsule"])
def test_a_lying_roller_touches_along_its_length(shape):
    collider, x, q = set_up(
        Body("Floor", [Plane()], motion="static"), Body("Roller", [shape], position=(0, 0, 0.301), orientation=LYING)
    )
    contacts = detect(collider, x, q)
    assert np.allclose(contacts.gap, 1e-3, atol=1e-6)
    point = np.where((contacts.body_a == 1)[:, None], contacts.point_a, contacts.point_b)
    assert np.ptp(point[:, 2]) == pytest.approx(1.0, abs=1e-5)


def test_a_cone_lies_on_its_side():
    # Half opening angle atan(r / 2h): lying on its side, the axis leans by it and the side touches along its length.
    lean = np.arctan2(0.3, 1.0)
    turn = exponential(np.array([0.0, 0.5 * np.pi + lean, 0.0]))
    apex = rotate(turn, np.array([0.0, 0.0, 0.5]))
    collider, x, q = set_up(
        Body("Floor", [Box((3, 3, 0.5), position=(0, 0, -0.5))], motion="static"),
        Body("Cone", [Cone(0.3, 0.5)], position=(0, 0, 0.001 - apex[2]), orientation=turn),
    )
    contacts = detect(collider, x, q)
    assert len(contacts) >= 2
    # newton looks for the outer points of round shapes in directions up to 2 degrees off, so some miss by r (1 - cos).
    assert np.allclose(contacts.gap, 1e-3, atol=0.3 * (1.0 - np.cos(np.radians(2.0))) + 1e-5)


def test_a_fast_ball_is_seen_before_it_reaches_a_thin_wall():
    # At 60 m/s and 60 steps a second the ball covers 1 m a step, and would be past the 4 cm wall after one step.
    collider, x, q = set_up(
        Body("Wall", [Box((0.02, 1.0, 1.0))], motion="static"), Body("Ball", [Sphere(0.05)], position=(-0.8, 0.1, 0.0))
    )
    velocity = np.array([[0.0, 0.0, 0.0], [60.0, 0.0, 0.0]])
    contacts = detect(collider, x, q, velocity)
    assert len(contacts) == 1
    assert contacts.gap[0] == pytest.approx(0.8 - 0.05 - 0.02, abs=1e-6)
    assert len(detect(collider, x, q)) == 0  # a ball at rest there has nothing to fear
    assert len(detect(collider, x, q, -velocity, step=1.0 / 600.0)) == 0


def test_what_falls_or_spins_is_seen_in_time():
    # The way of a step counts gravity, g h^2, and the turning of long bodies.
    h = 1.0 / 24.0
    collider, x, q = set_up(
        Body("Floor", [Plane()], motion="static"), Body("Bar", [Box((1.0, 0.02, 0.02))], position=(0.0, 0.0, 0.036))
    )
    assert len(detect(collider, x, q, step=h)) == 4  # 16 mm up, falls 17 mm
    x[1, 2] = 0.5
    assert len(detect(collider, x, q, step=h)) == 0
    spin = np.array([[0.0, 0.0, 0.0], [0.0, 12.0, 0.0]])
    assert detect(collider, x, q, angular=spin, step=h).gap.min() == pytest.approx(0.48, abs=1e-4)


def test_manifold_stays_put_while_the_pair_hardly_moves():
    # 0.1 mm of motion of a 1 m box is below the threshold of 2e-3 half extents (1 mm): the points are the same material
    # points, and the gap follows the motion exactly.
    collider, x, q = set_up(
        Body("Slab", [Box((3.0, 3.0, 0.5))], motion="static"), Body("Box", [Box((0.5,) * 3)], position=(0, 0, 1.0005))
    )
    first = detect(collider, x, q)
    collider.accept(first)
    moved = x + np.array([[0.0] * 3, [6e-5, -5e-5, -7e-5]])
    second = detect(collider, moved, q)
    assert np.array_equal(second.previous, np.arange(len(first)))
    assert np.array_equal(second.point_a, first.point_a) and np.array_equal(second.point_b, first.point_b)
    assert np.allclose(second.gap, first.gap - 7e-5, atol=1e-12)
    # Beyond the threshold the manifold is made anew, and still knows its predecessors.
    third = detect(collider, x + np.array([[0.0] * 3, [3e-3, 0.0, 0.0]]), q)
    assert not np.array_equal(third.point_a, first.point_a)
    assert sorted(third.previous) == [0, 1, 2, 3]
    spot = np.where((third.body_a == 1)[:, None], third.point_a, third.point_b)
    before = np.where((first.body_a == 1)[:, None], first.point_a, first.point_b)
    assert np.allclose(spot, before[third.previous], atol=1e-5)


def test_persistence_moves_with_both_bodies():
    # Only relative motion counts: a pair that falls and turns as one keeps its manifold.
    collider, x, q = set_up(Body("Low", [Box((0.5,) * 3)]), Body("High", [Box((0.5,) * 3)], position=(0.1, 0.0, 1.001)))
    first = detect(collider, x, q)
    collider.accept(first)
    turn = exponential(np.array([0.3, -0.7, 1.1]))
    moved = rotate(np.tile(turn, (2, 1)), x) + np.array([0.5, 2.0, -1.0])
    second = detect(collider, moved, multiply(np.tile(turn, (2, 1)), q))
    assert np.array_equal(second.point_a, first.point_a)
    assert np.allclose(second.normal, rotate(np.tile(turn, (len(first), 1)), first.normal), atol=1e-12)


def test_only_accepted_contacts_are_remembered():
    # A step that is tried, thrown away and halved must not move the memory.
    collider, x, q = set_up(
        Body("Floor", [Plane()], motion="static"), Body("Box", [Box((0.5,) * 3)], position=(0, 0, 0.5))
    )
    first = detect(collider, x, q)
    collider.accept(first)
    away = x + np.array([[0.0] * 3, [0.2, 0.0, 0.0]])
    detect(collider, away, q)
    collider.collide_again(away, q)
    again = detect(collider, x, q)
    assert np.array_equal(again.previous, np.arange(4)) and np.array_equal(again.point_a, first.point_a)


def test_detection_again_sees_what_turned_into_contact():
    collider, x, q = set_up(
        Body("Floor", [Plane()], motion="static"), Body("Box", [Box((0.5,) * 3)], position=(0, 0, 0.6))
    )
    x[1, 2], q[1] = 0.65, exponential(np.array([0.0, np.pi / 4.0, 0.0]))  # on its edge: half diagonal 0.7071
    contacts = collider.collide_again(x, q)
    assert np.allclose(np.sort(contacts.gap)[:2], 0.65 - np.sqrt(0.5), atol=1e-5)
    assert np.all(contacts.previous == -1)


def test_impulses_follow_their_contacts_and_their_sum_stays():
    collider, x, q = set_up(
        Body("Slab", [Box((3.0, 3.0, 0.5))], motion="static"), Body("Box", [Box((0.5,) * 3)], position=(0, 0, 1.0))
    )
    first = detect(collider, x, q)
    collider.accept(first)
    impulse = np.arange(12.0).reshape(4, 3) + 1.0
    same = detect(collider, x, q)
    assert np.array_equal(carry_impulses(first, impulse, same), impulse)
    # On its edge the box has two points for four old impulses: the pair's total is kept.
    x[1, 2], q[1] = 0.5 + np.sqrt(0.5), exponential(np.array([0.0, np.pi / 4.0, 0.0]))
    edge = detect(collider, x, q)
    carried = carry_impulses(first, impulse, edge)
    assert carried.shape == (len(edge), 3)
    assert np.allclose(carried.sum(axis=0), impulse.sum(axis=0))


def test_same_input_gives_identical_arrays():
    random = np.random.default_rng(2)
    bodies = [Body("Floor", [grid()], motion="static")]
    for number in range(12):
        shape = [Box((0.3, 0.2, 0.25)), torus(0.3, 0.1, 12, 6), ConvexHull(0.5 * CUBE)][number % 3]
        place = random.uniform((-0.8, -0.8, 0.1), (0.8, 0.8, 0.8))
        bodies.append(Body(f"Body {number}", [shape], position=place))
    results = []
    for _ in range(2):
        collider, x, q = set_up(*bodies)
        results += [detect(collider, x, q), detect(collider, x, q)]
    assert len(results[0]) > 20
    for other in results[1:]:
        for name in ("body_a", "body_b", "point_a", "point_b", "normal", "gap", "pair"):
            assert np.array_equal(getattr(results[0], name), getattr(other, name)), name


def test_buffers_grow_and_lose_nothing():
    # 25 boxes side by side on a plane: 100 contacts, whatever room there was at first.
    boxes = [Body(f"Box {k}", [Box((0.4,) * 3)], position=(k % 5, k // 5, 0.4)) for k in range(25)]
    collider, x, q = set_up(Body("Floor", [Plane()], motion="static"), *boxes)
    for capacity in (7, 100):  # 100: full to the brim must count as full
        collider._pipeline, collider._contact_capacity = None, capacity
        assert len(detect(collider, x, q)) == 100
        assert collider._contact_capacity > 100
    floor = Body("Floor", [Box((5.0, 5.0, 0.5), position=(0, 0, -0.5))], motion="static")
    collider, x, q = set_up(floor, Body("Ring", [torus(0.3, 0.1)], position=(0.0, 0.0, 0.1)))
    ample = detect(collider, x, q)
    used = int(collider._pipeline.narrow_phase.triangle_pairs_count.numpy()[0])
    collider._pipeline, collider._triangle_capacity = None, used // 2
    assert np.array_equal(detect(collider, x, q).gap, ample.gap)
    assert collider._triangle_capacity > used


def test_concave_in_concave():
    # A ring hanging on a ring: the link points lie inside both hulls, so that only concave surfaces can answer.
    ring = torus(1.0, 0.2)
    collider, x, q = set_up(
        Body("Held", [ring], motion="static"), Body("Link", [ring], position=(1.0, 0.0, 0.0), orientation=LYING)
    )
    assert len(detect(collider, x, q)) == 0  # each goes through the middle of the other's hole
    x[1, 0] = 1.595  # tubes of radius 0.2 around x = 1 and x = 0.595, with vertices on the line between
    contacts = detect(collider, x, q)
    # Where corners meet, a normal may be that of one of the faces (7.5 degrees off here): n . d is less by the cosine.
    assert 0.005 * np.cos(np.radians(8.0)) < contacts.gap.min() < 0.005 + 1e-5
    assert upward(contacts, 1)[np.argmin(contacts.gap)][0] < -0.99


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
