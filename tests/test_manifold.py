# SPDX-License-Identifier: GPL-3.0-or-later
"""Persistent manifolds and the matching of contact points, in NumPy alone."""

import numpy as np
from axion.solver.manifold import Manifolds, carry, match, renew
from axion.solver.rotations import exponential, matrices


def contacts(pair, points, bodies=(0, 1), size=0.5):
    """Contacts of body 1 (a) on body 0 (b), both in the same frame, normal up."""
    count = len(points)
    points = np.asarray(points, float).reshape(-1, 3)
    return Manifolds(
        np.broadcast_to(np.asarray(pair, np.int64), count).copy(),
        np.full(count, bodies[1]),
        np.full(count, bodies[0]),
        points,
        points.copy(),
        np.zeros(count),
        np.zeros(count),
        np.tile((0.0, 0.0, 1.0), (count, 1)),
        np.full(count, size),
        np.full(count, size),
        np.zeros((count, 3)),
        np.zeros((count, 3, 3)),
    )


SQUARE = [(-0.5, -0.5, 0.0), (0.5, -0.5, 0.0), (-0.5, 0.5, 0.0), (0.5, 0.5, 0.0)]
REST = np.zeros((2, 3))
STRAIGHT = matrices(np.tile((0.0, 0.0, 0.0, 1.0), (2, 1)))


def test_points_match_their_nearest_one_to_one():
    # Two new points near one old one: the nearer takes it, the other takes what is left within reach, or nothing.
    old = contacts(7, [(0.0, 0.0, 0.0), (0.04, 0.0, 0.0), (0.3, 0.0, 0.0)])
    new = contacts(7, [(0.01, 0.0, 0.0), (0.018, 0.0, 0.0), (0.9, 0.0, 0.0)])
    assert match(new, old).tolist() == [0, 1, -1]


def test_points_of_other_pairs_never_match():
    assert match(contacts(8, SQUARE), contacts(7, SQUARE)).tolist() == [-1] * 4


def test_reach_scales_with_size():
    # 0.1 half extents: 5 cm for a body of 1 m, 5 mm for one of 10 cm.
    shift = np.add(SQUARE, (0.02, 0.0, 0.0))
    assert match(contacts(1, shift), contacts(1, SQUARE)).tolist() == [0, 1, 2, 3]
    assert match(contacts(1, shift, size=0.05), contacts(1, SQUARE, size=0.05)).tolist() == [-1] * 4


def test_pairs_are_kept_or_renewed_each_for_itself():
    # Body 2 moved by 5 mm, beyond 2e-3 half extents; body 1 did not: only the second pair gets fresh points.
    position = np.zeros((3, 3))
    rotation = matrices(np.tile((0.0, 0.0, 0.0, 1.0), (3, 1)))
    still, moving = contacts(1, SQUARE), contacts(2, SQUARE, bodies=(0, 2))
    old, _ = renew(contacts(0, []), Manifolds.join([still, moving])[0], position, rotation)
    position[2, 0] = 5e-3
    noisy = np.add(SQUARE, (1e-4, 0.0, 0.0))
    fresh = Manifolds.join([contacts(1, noisy), contacts(2, noisy, bodies=(0, 2))])[0]
    result, link = renew(old, fresh, position, rotation)
    assert result.pair.tolist() == [1] * 4 + [2] * 4
    assert np.array_equal(result.point_a, np.concatenate([SQUARE, noisy]))
    assert link.tolist() == list(range(8))
    # The manifold made now counts its motion from here.
    again, link = renew(result, fresh, position, rotation)
    assert np.array_equal(again.point_a, result.point_a) and link.tolist() == list(range(8))


def test_turning_counts_as_motion():
    # An angle times the smaller shape's radius: 1e-3 rad x 0.5 m is below 2e-3 x 0.5 m, 4e-3 rad is not.
    old, _ = renew(contacts(0, []), contacts(1, [(0.0, 0.0, 0.0)]), REST, STRAIGHT)
    for angle, kept in ((1e-3, True), (4e-3, False)):
        rotation = matrices(np.stack([[0.0, 0.0, 0.0, 1.0], exponential(np.array([0.0, 0.0, angle]))]))
        result, _ = renew(old, contacts(1, [(1e-5, 0.0, 0.0)]), REST, rotation)
        assert bool(result.point_a[0, 0] == 0.0) is kept


def test_pairs_that_are_no_longer_found_are_dropped():
    old, _ = renew(contacts(0, []), Manifolds.join([contacts(1, SQUARE), contacts(2, SQUARE)])[0], REST, STRAIGHT)
    result, link = renew(old, contacts(2, SQUARE), REST, STRAIGHT)
    assert result.pair.tolist() == [2] * 4 and link.tolist() == [4, 5, 6, 7]
    assert len(renew(old, contacts(0, []), REST, STRAIGHT)[0]) == 0


def test_impulses_without_successor_go_to_the_nearest():
    old, new = contacts(1, SQUARE), contacts(1, [(-0.5, -0.5, 0.0), (0.5, 0.5, 0.0)])
    values = np.arange(12.0).reshape(4, 3) + 1.0
    result = carry(values, old, new, match(new, old))
    assert np.allclose(result.sum(axis=0), values.sum(axis=0))
    assert np.all(result[0] >= values[0]) and np.all(result[1] >= values[3])
    # Of a pair that parted nothing is left.
    assert not carry(values, old, contacts(3, SQUARE), np.full(4, -1)).any()
