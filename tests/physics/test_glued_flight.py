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
CUBE = [(x, y, z) for z in (0, 1) for x, y, _ in SQUARE]


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


def spin_of(trajectory, boxes):
    """(frames + 1, 3) angular momentum [kg m^2/s] of the boxes about their common middle, and (frames + 1,) the kinetic
    energy of their motion about it [J].
    """
    place, velocity, spin = (
        getattr(trajectory, name)[:, -boxes:].astype(float)
        for name in ("position", "linear_velocity", "angular_velocity")
    )
    mass, moment = 1000.0 * SIZE**3, 1000.0 * SIZE**5 / 6.0
    arm, past = (each - each.mean(axis=1, keepdims=True) for each in (place, velocity))
    momentum = (mass * np.cross(arm, past) + moment * spin).sum(axis=1)
    return momentum, 0.5 * (mass * past**2 + moment * spin**2).sum(axis=(1, 2))


@pytest.mark.parametrize("spin", [(3, 2, 1), (0, 0, 6)])
@pytest.mark.parametrize("cells", [CORNER, SQUARE, CUBE], ids=len)
def test_glued_boxes_keep_their_spin(cells, spin):
    # Backward Euler, as if something held them where they touch, took up to 43 % of it in two seconds.
    trajectory = simulate(glued(cells, spin), 2 * FRAMES, config=CPU)
    momentum, energy = spin_of(trajectory, len(cells))
    lost = np.linalg.norm(momentum - momentum[0], axis=1).max() / np.linalg.norm(momentum[0])
    name = f"{len(cells)} glued boxes that spin by {spin}, 2 s at 24 fps"
    assert figure(name, "angular momentum lost", lost, "< 1e-9") < 1e-9
    assert figure(name, "energy", energy[-1] / energy[0], "1 +- 1e-3") == pytest.approx(1.0, abs=1e-3)
    assert all(report.converged for report in trajectory.reports)


def test_glued_boxes_swing_on():
    # An L of boxes on a hinge at its end, from where it stands out level.
    scene = glued(CORNER, (0, 0, 0))
    pivot = (-SIZE / 2, 0.0, 0.0)
    scene.add(Joint("Hinge", "hinge", None, "Box 0", pivot, orientation=(np.sqrt(0.5), 0, 0, np.sqrt(0.5))))
    trajectory = simulate(scene, 240, config=CPU)
    height = middles(trajectory, len(CORNER))[:, 2]
    low, top = height.min(), height[120:].max()
    assert figure("3 glued boxes on a hinge, 10 s", "height regained", (top - low) / -low, "> 0.99") > 0.99


def test_broken_glue_lets_pieces_touch():
    # The fourth of a square, let go in the first step, flies off, past those it touches and through none of them.
    scene = glued(SQUARE, (0, 0, 6))
    scene.joints[-1].break_force = 1e-3
    trajectory = simulate(scene, FRAMES, config=CPU)
    assert list(trajectory.broken_joints) == [scene.joints[-1].name]
    apart = np.linalg.norm(trajectory.position[-1, 3] - trajectory.position[-1, 2])
    assert apart > SIZE + 0.5 * 6 * np.sqrt(0.5) * SIZE
    assert all(report.converged for report in trajectory.reports)


def test_glued_boxes_fall_on_glued_boxes():
    # While they touch, what lies inside each of them holds as elsewhere: the upper one comes to rest on the lower.
    lower, upper = glued(SQUARE, (0, 0, 0), start=0.5 * SIZE), glued(SQUARE, (0, 0, 0), start=3.0 * SIZE)
    scene = Scene()
    scene.add(Body("Floor", [Plane()], motion="static"))
    for prefix, part in (("Lower", lower), ("Upper", upper)):
        for body in part.bodies:
            body.name = f"{prefix} {body.name}"
            scene.add(body)
        for joint in part.joints:
            joint.name = f"{prefix} {joint.name}"
            joint.body_a, joint.body_b = f"{prefix} {joint.body_a}", f"{prefix} {joint.body_b}"
            scene.add(joint)
    trajectory = simulate(scene, 48, config=CPU)
    assert trajectory.position[-1, -4:, 2] == pytest.approx(np.full(4, 1.5 * SIZE), abs=1e-4)
    assert all(report.converged for report in trajectory.reports)


@pytest.mark.parametrize("gap", [0.001, 0.01])
def test_glued_bricks_spin_on_beside_a_wall_that_they_do_not_touch(gap):
    # The wall was foreseen, so the bricks pressed on each other: 8 rad/s became 4.6 in a second.
    spin, half = np.array((0.0, 8.0, 0.0)), SIZE / 2
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    place = {(x, z): np.array((x - 1.0, 0.0, z - 0.5)) * SIZE for x in range(3) for z in range(2)}
    for at, middle in place.items():
        scene.add(Body(f"Brick {at}", [Box((half,) * 3)], position=middle, angular_velocity=spin,
                       linear_velocity=np.cross(spin, middle)))  # fmt: skip
    for x, z in place:
        for other in ((x + 1, z), (x, z + 1)):
            if other in place:
                seam = (place[x, z] + place[other]) / 2
                scene.add(Joint(f"Glue {x, z} {other}", "fixed", f"Brick {x, z}", f"Brick {other}", seam))
    scene.add(Body("Wall", [Box((1.0, 0.1, 1.0))], motion="static", position=(0.0, 0.1 + half + gap, 0.0)))
    turning = simulate(scene, FRAMES, config=CPU).angular_velocity[-1, :6, 1]
    off = np.abs(turning / 8.0 - 1.0).max()
    assert figure(f"glued bricks {gap} m beside a wall", "spin off", off, 1e-3, "of itself") < 1e-3


def slab(scene, side, height, turn, places, **options):
    """Add bricks at ``places`` (N, 2), glued where they are side by side, that turn about the vertical by ``turn``."""
    middles = {tuple(at): np.array((*at, 0.0)) * side for at in places}
    for at, middle in middles.items():
        velocity = np.cross((0.0, 0.0, turn), middle)
        scene.add(Body(f"Brick {at}", [Box((side / 2, side / 2, height / 2))], position=middle + (0, 0, height / 2),
                       mass=1.0, linear_velocity=velocity, angular_velocity=(0.0, 0.0, turn)))  # fmt: skip
    for x, y in middles:
        for other in ((x + 1, y), (x, y + 1)):
            if other in middles:
                seam = (middles[x, y] + middles[other]) / 2 + (0, 0, height / 2)
                names = f"Brick {x, y}", f"Brick {other}"
                scene.add(Joint(f"Glue {x, y} {other}", "fixed", *names, seam, **options))
    return scene


GLUE = pytest.mark.parametrize("glue", [{}, {"break_force": 1e6}], ids=["glued", "may break"])


@GLUE
def test_a_glued_slab_spins_on_on_ice(glue):
    # Bricks that touch along an edge pressed on each other: 8 rad/s became 4.4 in a second.
    scene = Scene()
    scene.add(Body("Ice", [Plane()], motion="static", friction=0.0))
    scene.friction_combine = "min"
    slab(scene, SIZE, SIZE, 8.0, [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)], **glue)
    trajectory = simulate(scene, FRAMES, config=CPU)
    kept = trajectory.angular_velocity[-1, 1:, 2] / 8.0
    assert all(report.converged for report in trajectory.reports)
    name = "glued slab on ice" + (", may break" if glue else "")
    assert figure(name, "spin kept in 1 s", kept.min(), 1.0, "of itself") == pytest.approx(1.0, abs=1e-3)


@GLUE
def test_glued_crosses_turn_past_each_other(glue):
    # They do not touch, but are foreseen to: their arms pressed on each other, and a fifth of the energy went.
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    cross = [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)]
    slab(scene, 0.4, 0.2, 12.0, cross, **glue)
    other = slab(Scene(), 0.4, 0.2, 12.0, cross, **glue)
    for each in (*other.bodies, *other.joints):
        each.position = np.array(each.position) + (2.0, -1.5, 0.0)
        each.name = "Other " + each.name
        if isinstance(each, Joint):
            each.body_a, each.body_b = "Other " + each.body_a, "Other " + each.body_b
        else:
            each.linear_velocity = np.array(each.linear_velocity) - (4.0, 0.0, 0.0)
        scene.add(each)
    trajectory = simulate(scene, 28, config=CPU)
    energy = np.array([report.kinetic_energy for report in trajectory.reports])
    name = "glued crosses that pass each other" + (", may break" if glue else "")
    kept = energy[-1] / energy[0]
    assert figure(name, "energy kept in 28 frames", kept, 1.0, "of itself") == pytest.approx(1.0, abs=5e-3)
