# SPDX-License-Identifier: GPL-3.0-or-later
"""How deep edges of meshes are inside other meshes, whatever the contacts say."""

import numpy as np
import pytest
from axion.solver import Body, ConvexHull, TriangleMesh
from axion.solver.rotations import exponential, matrices
from contact_scenes import CUBE, bowl, detect, grid, set_up

FRAME = {"mass": 1.0, "inertia": np.eye(3), "center_of_mass": (0.0, 0.0, 0.0)}


def cuboid(*half):
    """A mesh of these half extents [m]."""
    hull = ConvexHull(2.0 * CUBE * half)
    return TriangleMesh(hull.vertices, hull.triangles)


def pierced(collider, x, q):
    """{(body, other): depth [m]}."""
    detect(collider, x, q)
    return {(int(a), int(b)): depth for a, b, depth in zip(*collider.pierced(x, q), strict=True)}


def test_a_rod_through_a_block():
    """Its edges are inside from end to end of the block, whose own are not in it; of four places on each, one is 0.375
    from all faces.
    """
    collider, x, q = set_up(
        Body("Block", [cuboid(0.5, 0.5, 0.5)], **FRAME), Body("Rod", [cuboid(0.05, 0.05, 1.5)], **FRAME)
    )
    q[:] = exponential(np.array([0.3, -0.2, 0.5]))
    x[1] = matrices(q)[0] @ (0.1, 0.0, 0.05)
    found = pierced(collider, x, q)
    assert set(found) == {(1, 0)}
    assert found[1, 0] == pytest.approx(0.375, abs=1e-4)


@pytest.mark.parametrize("gap", [1e-6, -1e-6])
def test_what_only_touches_is_not_pierced(gap):
    """Cubes on each other, and edges that graze: deeper than the overlap that there is, nothing is said."""
    collider, x, q = set_up(
        Body("Low", [cuboid(0.5, 0.5, 0.5)], **FRAME), Body("High", [cuboid(0.4, 0.4, 0.4)], **FRAME)
    )
    random = np.random.default_rng(4)
    for _ in range(20):
        q[1] = exponential(np.array([0.0, 0.0, random.uniform(-3.0, 3.0)]))
        x[1] = *random.uniform(-0.3, 0.3, 2), 0.9 + gap
        assert max(pierced(collider, x, q).values(), default=0.0) < 5e-6


@pytest.mark.parametrize("up", [1.0, -1.0])
def test_open_ground_is_pierced_from_the_side_of_the_body(up):
    """A cube 0.1 m deep in open ground, or from below: its upright edges say so, to the resolution of the samples."""
    collider, x, q = set_up(Body("Ground", [grid(8)], motion="static"), Body("Cube", [cuboid(0.5, 0.5, 0.5)], **FRAME))
    q[1], x[1] = exponential(np.array([0.0, 0.0, 0.4])), (0.03, 0.02, up * 0.4)
    assert pierced(collider, x, q)[1, 0] == pytest.approx(0.1 * (1.0 - 0.5 / 4.0), abs=1e-4)
    x[1, 2] = up * 0.51
    assert not pierced(collider, x, q)


def test_nothing_is_inside_the_hollow_of_a_bowl():
    collider, x, q = set_up(Body("Bowl", [bowl(1.0)], motion="static"), Body("Cube", [cuboid(0.3, 0.3, 0.3)], **FRAME))
    x[1, 2] = -0.2
    assert not pierced(collider, x, q)
    x[1, 2] = -0.75
    assert pierced(collider, x, q)[1, 0] > 0.02


# Two knife edges past each other, and two tetrahedra whose edges are nearly parallel: as they lay in heaps.
PASSED = {
    "blades": (
        0.15 * np.array([[-1, y, z] for y in (-0.5, 0.5) for z in (0.0, 0.5)] + [[1, y, 0.0] for y in (-0.5, 0.5)]),
        np.array([(0.0, 0.0, 0.0), (0.0060577, -0.2628784, -0.0729341)]),
        np.array([(0.8511889, -0.4834633, -0.1930558, -0.0668597), (-0.3071588, -0.1470528, -0.5563607, -0.7579523)]),
        0.0004902,
    ),
    "nearly parallel": (
        0.25 * CUBE[[0, 3, 5, 6]],
        np.array([(0.0, 0.0, 0.0), (-0.1558619, -0.0020794, -0.0827915)]),
        np.array([(-0.3347151, -0.5131995, -0.3388088, 0.7140033), (-0.6172748, 0.6856468, -0.0991137, -0.3728764)]),
        0.0008554,
    ),
}


@pytest.mark.parametrize("name", PASSED)
def test_edges_past_each_other_are_a_contact_as_deep_as_the_solids(name):
    """Fails where an edge is looked for in the other solid no farther along than the two are deep: there was none."""
    corners, x_two, q_two, deep = PASSED[name]
    hull = ConvexHull(corners)
    mesh = TriangleMesh(hull.vertices, hull.triangles)
    collider, x, q = set_up(*(Body(f"{k}", [mesh], position=(0.0, 0.0, 9.0 * k), **FRAME) for k in range(2)))
    detect(collider, x, q)  # apart, so that they did not start in each other
    gap = collider.collide_again(x_two, q_two, np.ones(2, bool)).gap.min()
    assert gap == pytest.approx(-deep, abs=1e-5)
