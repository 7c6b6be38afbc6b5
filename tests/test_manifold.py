# SPDX-License-Identifier: GPL-3.0-or-later
"""Persistent manifolds and the matching of contact points."""

from dataclasses import dataclass

import numpy as np
from axion.solver import Body, Scene, Sphere
from axion.solver.contact_stage import ContactStage
from axion.solver.convex_impacts import ConvexImpacts
from axion.solver.manifold import Manifolds, carry, match
from axion.solver.model import build_model
from axion.solver.rotations import exponential


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
REST = np.zeros((3, 3))
STRAIGHT = np.tile((0.0, 0.0, 0.0, 1.0), (3, 1))


@dataclass
class Accepted:
    """What a stage asks of a ContactSet."""

    manifolds: Manifolds

    def __len__(self):
        return len(self.manifolds)

    @property
    def source(self):
        return np.arange(len(self))


def renew(old, fresh, position, orientation):
    """The manifolds of three bodies after detection found ``fresh``, and which of ``old`` each point continues."""
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    for k in range(3):
        scene.add(Body(f"Body {k}", [Sphere(0.5)]))
    model, still = build_model(scene), np.zeros((3, 3))
    stage = ContactStage(model, ConvexImpacts(model).cores)
    stage.set_poses(position, orientation, still, still, 0.01, np.zeros(3), None, None)
    stage.remember(Accepted(old))
    stage.place(model.newton_model.state())
    stage.prepare()
    stage.write_fresh(fresh)
    stage.renew()
    manifolds = stage.read_manifolds()
    return manifolds, stage.chosen.link.numpy()[: len(manifolds)]


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
    still, moving = contacts(1, SQUARE), contacts(2, SQUARE, bodies=(0, 2))
    old, _ = renew(contacts(0, []), Manifolds.join([still, moving])[0], position, STRAIGHT)
    position[2, 0] = 5e-3
    noisy = np.add(SQUARE, (1e-4, 0.0, 0.0))
    fresh = Manifolds.join([contacts(1, noisy), contacts(2, noisy, bodies=(0, 2))])[0]
    result, link = renew(old, fresh, position, STRAIGHT)
    assert result.pair.tolist() == [1] * 4 + [2] * 4
    assert np.array_equal(result.point_a, np.concatenate([SQUARE, noisy]))
    assert link.tolist() == list(range(8))
    # The manifold made now counts its motion from here.
    again, link = renew(result, fresh, position, STRAIGHT)
    assert np.array_equal(again.point_a, result.point_a) and link.tolist() == list(range(8))


def test_turning_counts_as_motion():
    # An angle times the smaller shape's radius: 1e-3 rad x 0.5 m is below 2e-3 x 0.5 m, 4e-3 rad is not.
    old, _ = renew(contacts(0, []), contacts(1, [(0.0, 0.0, 0.0)]), REST, STRAIGHT)
    for angle, kept in ((1e-3, True), (4e-3, False)):
        turned = np.stack([STRAIGHT[0], exponential(np.array([0.0, 0.0, angle])), STRAIGHT[0]])
        result, _ = renew(old, contacts(1, [(1e-5, 0.0, 0.0)]), REST, turned)
        assert bool(result.point_a[0, 0] == 0.0) is kept


def test_pairs_that_part_are_dropped():
    # Detection does not look at a pair that hardly moved: its manifold stays by itself, but no other pair's does.
    old, _ = renew(contacts(0, []), Manifolds.join([contacts(1, SQUARE), contacts(2, SQUARE, bodies=(0, 2))])[0], REST,
                   STRAIGHT)  # fmt: skip
    apart = REST.copy()
    apart[1, 2] = 0.1
    result, link = renew(old, contacts(0, []), apart, STRAIGHT)
    assert result.pair.tolist() == [2] * 4 and link.tolist() == [4, 5, 6, 7]
    assert len(renew(old, contacts(0, []), REST, STRAIGHT)[0]) == 8


def test_impulses_without_successor_go_to_the_nearest():
    old, new = contacts(1, SQUARE), contacts(1, [(-0.5, -0.5, 0.0), (0.5, 0.5, 0.0)])
    values = np.arange(12.0).reshape(4, 3) + 1.0
    result = carry(values, old, new, match(new, old))
    assert np.allclose(result.sum(axis=0), values.sum(axis=0))
    assert np.all(result[0] >= values[0]) and np.all(result[1] >= values[3])
    # Of a pair that parted nothing is left.
    assert not carry(values, old, contacts(3, SQUARE), np.full(4, -1)).any()
