# SPDX-License-Identifier: GPL-3.0-or-later
"""What touches or overlaps has a contact, also where newton's search in single precision ends without one.

It does so for small things at large or thin walls: of coins that touch a wall of 100 m by 10 nm one in seven, and of
capsules whose middle is within a wall of 1 mm one in forty, had none.
"""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Cone, ConvexHull, Cylinder, Scene, Sphere
from axion.solver.collision import Collider
from axion.solver.contact_arrays import FRESH, NEWTONS
from axion.solver.contact_stage import ContactStage
from axion.solver.convex_impacts import ConvexImpacts
from axion.solver.manifold import gaps_of
from axion.solver.model import build_model
from axion.solver.rotations import matrices
from contact_scenes import rock
from figures import figure

SHAPES = {
    "ball": Sphere(0.01),
    "box": Box((0.01, 0.02, 0.03)),
    "capsule": Capsule(0.01, 0.05),
    "disc": Cylinder(0.02, 0.002),
    "rod": Cylinder(0.005, 0.05),
    "cone": Cone(0.02, 0.02),
    "hull": rock(12, 3, 0.02),
}
CORNERS = np.stack(np.meshgrid(*3 * [(-1.0, 1.0)]), axis=-1).reshape(-1, 3)
WALLS = {"box": Box, "hull": lambda half: ConvexHull(CORNERS * half)}
X, LIE = np.array([1.0, 0.0, 0.0]), (0.0, 0.0, 0.0, 1.0)
DRAWN = 40
TOUCH = 1e-8  # [m]


def reach(cores, shape, rounding, rotation, way):
    """How far along ``way`` (..., 3) a shape reaches from its body's origin; cores: views of CoreArrays."""
    own = slice(*cores.first[shape : shape + 2])
    way = way @ rotation
    across = np.linalg.norm(way - (way @ cores.axis[shape])[..., None] * cores.axis[shape], axis=-1)
    return (way @ cores.middle[own].T + cores.disc[own] * across[..., None]).max(axis=-1) + rounding


def drawn_turn(draw):
    turn = draw.normal(size=4)
    return turn / np.linalg.norm(turn)


@pytest.mark.parametrize("wide", [2.0, 100.0])
@pytest.mark.parametrize("thick", [0.001, 0.02])
@pytest.mark.parametrize("wall", WALLS)
def test_what_touches_or_is_within_a_wall_has_a_contact(wall, thick, wide):
    half, without = np.array([0.5 * thick, 0.5 * wide, 0.5 * wide]), 0
    for shape in SHAPES.values():
        scene = Scene()
        scene.add(Body("Wall", [WALLS[wall](half)], motion="static"))
        scene.add(Body("Body", [shape]))
        model, draw = build_model(scene), np.random.default_rng(1)
        collider, cores = Collider(model), ConvexImpacts(model).cores.views
        for _ in range(DRAWN):
            turn = drawn_turn(draw)
            ahead, behind = (reach(cores, 1, model.shape_rounding[1], matrices(turn), way) for way in (X, -X))
            beside = draw.uniform(-0.9, 0.9, 2)
            for depth in (-TOUCH, TOUCH, 0.5 * (ahead + behind) + draw.uniform(0.0, 1.0) * thick):
                place = np.array([(0.0, 0.0, 0.0), (depth - ahead - half[0], *beside)])
                found = collider.collide_again(place, np.array([LIE, turn]))
                without += not len(found)
                if len(found) and np.abs(depth) == TOUCH:
                    toward = np.where(found.body_a == 1, -1.0, 1.0) * found.normal[:, 0]
                    assert toward.max() > 1.0 - 1e-6
    assert figure(f"{wall} of {thick:g} m by {wide:g} m", "pairs without a contact", without, 0) == 0


def test_a_contact_on_a_face_beyond_which_the_middle_of_the_box_around_lies_is_none_that_points_inward():
    corner = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])
    scene = Scene(bodies=[Body(name, [ConvexHull(hull)]) for name, hull in (("a", corner), ("b", 2.0 / 3.0 - corner))])
    collider = Collider(build_model(scene))
    found = collider.collide_again(np.array([np.zeros(3), np.full(3, 1e-4)]), np.array([LIE, LIE]))
    counts = collider._stage.read_counts()
    assert len(found) and counts[FRESH] == counts[NEWTONS] == 4


def shortest_way_out(cores, rounding, place, rotation, draw):
    """How far two bodies, a above b, are apart along the best of many normals: less than 0 where they overlap."""
    ways = draw.normal(size=(4000, 3))
    for spread in (0.1, 0.03, 0.01, 0.003, 0.0):
        ways /= np.linalg.norm(ways, axis=1)[:, None]
        low, high = (reach(cores, k, rounding[k], rotation[k], sign * ways) for k, sign in ((0, -1.0), (1, 1.0)))
        gap = ways @ (place[0] - place[1]) - low - high
        ways = ways[np.argmax(gap)] + spread * draw.normal(size=(400, 3))
    return gap.max()


@pytest.mark.parametrize("first", SHAPES)
@pytest.mark.parametrize("second", SHAPES)
def test_the_contact_of_what_newton_says_nothing_of_is_the_shortest_way_out(first, second):
    if first == second == "ball":
        return  # of two balls newton tells without a search
    scene = Scene(bodies=[Body(name, [SHAPES[each]]) for name, each in (("a", first), ("b", second))])
    model, draw = build_model(scene), np.random.default_rng(2)
    cores = ConvexImpacts(model).cores
    stage, nothing = ContactStage(model, cores), Collider(model)
    nothing.prepare()
    still, worst, found, size = np.zeros((2, 3)), 0.0, 0, model.shape_size.min()
    for _ in range(DRAWN):
        place, turn = draw.normal(scale=0.01, size=(2, 3)), np.array([drawn_turn(draw), drawn_turn(draw)])
        stage.set_poses(place, turn, still, still, 0.0, still[0], None, None)
        stage.place(nothing._state)
        stage.renew_pairs()
        stage.remember(None)
        stage.prepare()
        nothing._contacts.rigid_contact_count.zero_()
        stage.take(nothing._contacts)
        told, rotation = stage.read_fresh(), matrices(turn)
        assert stage.read_counts()[NEWTONS] == 0
        gap = shortest_way_out(cores.views, model.shape_rounding, place, rotation, draw)
        if len(told):
            found += 1
            worst = max(worst, (gap - gaps_of(told, place, rotation)[0]) / max(-gap, 0.1 * size))
        else:
            assert gap > 0.0
    assert found > DRAWN // 4
    assert figure(f"{first} in {second}", "way out longer than the shortest", worst, 0.2, "of it") < 0.2
