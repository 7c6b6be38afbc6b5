# SPDX-License-Identifier: GPL-3.0-or-later
"""Pieces that joints hold and that touch each other fly as one body does, at 24 fps."""

import numpy as np
import pytest
from axion.solver import Body, Box, ForceField, Joint, Plane, Scene, SolverConfig, simulate
from figures import figure

CPU = SolverConfig(device="cpu")
SIZE, G, FRAMES = 0.2, 9.81, 24
CORNER = [(0, 0, 0), (1, 0, 0), (1, 1, 0)]  # its ends touch along an edge
SQUARE = [*CORNER, (0, 1, 0)]  # with three of four sides glued the last one only touches


def glued(cells, spin, start=0.0):
    """Boxes in ``cells`` (N, 3), each glued to the next, that turn about their common middle by ``spin`` [rad/s]."""
    scene, place = Scene(), np.array(cells, float) * SIZE
    middle = place.mean(axis=0)
    for k, at in enumerate(place):
        scene.add(Body(f"Box {k}", [Box((SIZE / 2,) * 3)], position=at + (0, 0, start), angular_velocity=spin,
                       linear_velocity=np.cross(spin, at - middle)))  # fmt: skip
        if k:
            seam = (at + place[k - 1]) / 2 + (0, 0, start)
            scene.add(Joint(f"Glue {k}", "fixed", f"Box {k - 1}", f"Box {k}", seam))
    return scene


def middles(trajectory, boxes):
    """(frames + 1, 3) of the boxes' common middle; all of them are as heavy."""
    return trajectory.position[:, -boxes:].mean(axis=1)


@pytest.mark.parametrize(("cells", "spin"), [(CORNER, (3, 2, 1)), (SQUARE, (3, 2, 1)), (SQUARE, (1, 0, 3))])
def test_glued_boxes_fall_by_law(cells, spin):
    # They press on each other where they touch, which is no hold: they came 0.2 m too far down in a second.
    trajectory = simulate(glued(cells, spin), FRAMES, config=CPU)
    way = middles(trajectory, len(cells))
    off = np.abs(way - way[0] + 0.5 * np.outer((np.arange(FRAMES + 1) / 24.0) ** 2, (0, 0, G))).max()
    assert figure(f"{len(cells)} glued boxes, 24 fps", "off the parabola [m]", off, "< 1e-4") < 1e-4
    assert all(report.converged for report in trajectory.reports)


def test_glued_boxes_fall_by_law_in_wind():
    scene = glued(SQUARE, (3, 2, 1))
    scene.add(ForceField("Wind", "wind", 40.0, orientation=(0, np.sqrt(0.5), 0, np.sqrt(0.5))))
    way = middles(simulate(scene, FRAMES, config=CPU), len(SQUARE))
    pull = np.array((40.0 / (1000.0 * SIZE**3), 0.0, -G))
    off = np.abs(way[-1] - way[0] - 0.5 * pull).max()
    assert figure("4 glued boxes in wind, 24 fps", "off the parabola [m]", off, "< 1e-4") < 1e-4


def test_glued_boxes_land_where_one_body_does():
    # They fall on to what holds them: from then on it is backward Euler again.
    scene = glued(SQUARE, (0, 0, 0), start=1.0)
    scene.bodies.insert(0, Body("Floor", [Plane()], motion="static"))
    trajectory = simulate(scene, 36, config=CPU)
    rest = middles(trajectory, len(SQUARE))[-1]
    assert np.allclose(rest, middles(trajectory, len(SQUARE))[0] * (1, 1, 0) + (0, 0, SIZE / 2), atol=1e-4)
    assert all(report.converged for report in trajectory.reports)
