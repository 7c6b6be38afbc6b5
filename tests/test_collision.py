# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts: their gaps, normals, foresight, persistence and repeatability.  Lengths in metres."""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Cone, ConvexHull, Cylinder, Plane, Sphere
from axion.solver.contact_set import carry_impulses
from axion.solver.rotations import exponential, multiply, rotate
from contact_scenes import CUBE, LYING, detect, gaps, grid, set_up, torus, upward


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
    # points of the box, those of the slab lie opposite, and the gap follows the motion exactly.
    collider, x, q = set_up(
        Body("Slab", [Box((3.0, 3.0, 0.5))], motion="static"), Body("Box", [Box((0.5,) * 3)], position=(0, 0, 1.0005))
    )
    first = detect(collider, x, q)
    collider.accept(first)
    moved = x + np.array([[0.0] * 3, [6e-5, -5e-5, -7e-5]])
    second = detect(collider, moved, q)
    assert np.array_equal(second.previous, np.arange(len(first)))
    on_box, on_slab = ((second.point_a, second.point_b)[k] for k in (second.body_b[0], second.body_a[0]))
    assert np.array_equal(on_box, (first.point_a, first.point_b)[first.body_b[0]])
    assert np.abs((x[0] + on_slab - moved[1] - on_box)[:, :2]).max() < 1e-12
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


def test_colliders_share_the_kernels_of_newton():
    # Warp hashes the modules of kernels made anew: 0.1 s at the start of each bake, and whenever a buffer grows.
    made = []
    for _ in range(2):
        collider, x, q = set_up(Body("Floor", [Plane()], motion="static"), Body("Ring", [torus(0.3, 0.1)]))
        detect(collider, x, q)
        narrow = collider._pipeline.narrow_phase
        made.append((narrow.primitive_kernel, narrow.narrow_phase_kernel, narrow.mesh_triangle_contacts_kernel))
    assert None not in made[0] and made[0] == made[1]


def test_contacts_between_bodies_that_cannot_move_now_are_left_out():
    # A body held by its path counts as movable in the model; held, its contact with the floor means nothing.
    collider, x, q = set_up(
        Body("Floor", [Plane()], motion="static"),
        Body("Held", [Box((0.5,) * 3)], position=(0.0, 0.0, 0.5)),
        Body("Free", [Box((0.5,) * 3)], position=(0.0, 0.0, 1.5)),
    )
    still = np.zeros((3, 3))
    held = collider.collide(x, q, still, still, 0.01, free=np.array([False, False, True]))
    assert set(zip(held.body_a, held.body_b, strict=True)) <= {(1, 2), (2, 1)} and len(held) == 4
    collider.accept(held)
    assert len(collider.collide(x, q, still, still, 0.01)) == 8


def test_a_scene_in_which_nothing_may_touch_is_not_searched():
    # Two boxes in one place, which by their masks collide with nothing.
    boxes = [Body(name, [Box((0.5,) * 3)], collision_mask=0) for name in ("One", "Other")]
    collider, x, q = set_up(*boxes)
    assert len(detect(collider, x, q)) == len(collider.collide_again(x, q)) == 0
    assert collider._pipeline is None


def test_pairs_that_did_not_move_are_left_out_of_the_second_look():
    boxes = [Body(f"Box {k}", [Box((0.5,) * 3)], position=(0.0, 0.0, 0.5 + k)) for k in range(3)]
    collider, x, q = set_up(Body("Floor", [Plane()], motion="static"), *boxes)
    again = collider.collide_again(x, q, moved=np.array([False, False, False, True]))
    assert set(zip(again.body_a, again.body_b, strict=True)) <= {(2, 3), (3, 2)} and len(again) == 4
    assert len(collider.collide_again(x, q)) == 12
    assert not len(collider.collide_again(x, q, moved=np.zeros(4, bool)))
