# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that start inside each other: pushed apart at a bounded speed, and the push leaves no motion behind."""

import numpy as np
import pytest
from axion.solver import (
    Body,
    Box,
    Capsule,
    ConvexHull,
    Cylinder,
    Joint,
    MotionPath,
    Scene,
    SolverConfig,
    Sphere,
    TriangleMesh,
    simulate,
    starting_overlaps,
)
from axion.solver.frames import body_frames
from contact_scenes import CUBE, grid, rock, torus
from figures import figure
from judges import energies, overlaps
from scenes import ground, turned

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
STEP = 1.0 / 24.0
PUSH_OUT = 3.0  # m/s, see StepProblem.push_out_speed


def pair():
    return [Body("A", [Box([0.2] * 3)], position=(0, 0, 0)), Body("B", [Box([0.2] * 3)], position=(0.05, 0.03, 0.3))]


def rocks():
    return [Body(f"Rock {i}", [rock(16, i)], position=(0.1 * i, 0.05 * (i % 2), 0.25)) for i in range(5)]


def boxes():
    random = np.random.default_rng(0)
    made = []
    for i in range(8):
        turn = random.normal(size=4)
        place = random.uniform(-0.15, 0.15, 3)
        made.append(Body(f"Box {i}", [Box([0.1] * 3)], position=place, orientation=turn / np.linalg.norm(turn)))
    return made


def limbs():
    """A chain of six capsules folded up: neighbours are joined, every second one lies within the one after next."""
    across = turned("y", 0.5 * np.pi)
    made = [Body(f"Limb {i}", [Capsule(0.06, 0.14)], position=(0.1, 0.03 * i, 1), orientation=across) for i in range(6)]
    for i in range(1, 6):
        place = (0.2 if i % 2 else 0.0, 0.03 * i - 0.015, 1)
        made.append(Joint(f"Joint {i}", "ball", f"Limb {i - 1}", f"Limb {i}", place))
    return made


STARTS = {"two boxes": pair, "five hulls": rocks, "eight boxes": boxes, "folded limbs": limbs}


@pytest.mark.parametrize("name", STARTS)
def test_pushed_apart_without_speed(name):
    # Weightless and at rest: nothing gives them energy.  A residual of FAST a step is a speed of FAST / h.
    scene = Scene(gravity=(0, 0, 0))
    for thing in STARTS[name]():
        scene.add(thing)
    trajectory, frames, count = simulate(scene, 36, config=CPU), body_frames(scene), len(scene.bodies)
    mass, title = frames.mass[:count], f"{name} inside each other"
    energy, bound = max(report.kinetic_energy for report in trajectory.reports), 0.5 * mass.sum() * (FAST / STEP) ** 2
    assert figure(title, "kinetic energy", energy, bound, "J") < bound
    depth = overlaps(scene, trajectory, [0, 36])
    assert depth[0] > 0.02 and figure(title, "overlap at the end", depth[1], FAST, "m") < FAST
    # What still pushes at the end of a step parts at PUSH_OUT, no faster: else its gap and its impulse both were there.
    assert all(report.converged for report in trajectory.reports)
    gap = max(report.gap_residual for report in trajectory.reports)
    assert figure(title, "gap where there is an impulse", gap, FAST, "m") < FAST
    # Each pair parts at PUSH_OUT, and a body may be pushed by all the others at once, of whom each takes its share.
    place = np.array(
        [frames.to_solver(*pose)[0] for pose in zip(trajectory.position, trajectory.orientation, strict=True)]
    )
    centre = np.einsum("b,tbi->ti", mass, place) / mass.sum()
    off = np.abs(centre - centre[0]).max()
    assert figure(title, "common centre moved", off, 1e-12, "m") < 1e-12
    velocity, bound = np.diff(place, axis=0) / STEP, PUSH_OUT * (count - 1) * 0.5 * mass.max() / mass.mean()
    fastest = np.linalg.norm(velocity, axis=2).max()
    assert figure(title, "fastest body", fastest, bound, "m/s") < bound
    assert all(report.joint_error < FAST for report in trajectory.reports)


def test_what_may_stay_is_not_looked_for_again():
    # Three boxes, each 0.4 m inside the next: in its first steps all that is left overlaps as much as it may.
    scene = Scene()
    ground(scene)
    for number in range(3):
        place = (0.0, 0.1 * number, 0.5 + 0.6 * number)
        scene.add(Body(f"Box {number}", [Box([0.5] * 3)], position=place, mass=1.0))
    trajectory = simulate(scene, 4, config=CPU)
    depth = np.array([report.penetration for report in trajectory.reports])
    # Of two boxes that are pushed down onto others, each leaves at PUSH_OUT.
    assert depth[:3] == pytest.approx(0.4 - PUSH_OUT * STEP * np.arange(1, 4), abs=2 * FAST)
    assert depth[3] < FAST
    assert [report.substeps for report in trajectory.reports] == [1] * 4
    assert [report.contacts for report in trajectory.reports] == [12] * 4


def test_folded_limbs_gain_nothing_in_their_fall():
    # Pushing each other apart does not lift their middle, so energy only falls from the start on.
    scene = Scene()
    ground(scene)
    for thing in limbs():
        scene.add(thing)
    trajectory = simulate(scene, 72, config=CPU)
    energy = energies(scene, trajectory)
    weight = 9.81 * sum(body.mass_properties()[0] for body in scene.bodies[1:])
    assert np.all(energy <= energy[0] + weight * FAST)
    assert overlaps(scene, trajectory, [72])[0] < FAST
    assert np.abs(trajectory.linear_velocity[-1]).max() < FAST / STEP


@pytest.mark.slow
def test_rings_that_start_through_each_other_are_not_thrown_about():
    # Their contacts push both ways.  Each pair parts on a way of its own, be it one after the other.
    scene, draw, frames = Scene(), np.random.default_rng(3), 12
    ground(scene)
    for number in range(5):
        turn = 0.3 * draw.normal(size=4) + (0.0, 0.0, 0.0, 1.0)
        place = (*(0.1 * draw.normal(size=2)), 0.3 + 0.35 * number)
        body = Body(f"Ring {number}", [torus(0.3, 0.1)], position=place, orientation=turn / np.linalg.norm(turn))
        scene.add(body)
    trajectory = simulate(scene, frames, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    assert trajectory.reports[-1].overlap == 0.0 and trajectory.reports[-1].penetration < FAST
    way = np.linalg.norm(np.diff(trajectory.position, axis=0), axis=-1)
    fallen = 9.81 * STEP * np.arange(1, frames + 1)[:, None]
    assert (way <= 2.0 * (PUSH_OUT + fallen) * STEP).all(), "twice as fast as overlap is pushed out and bodies fall"


def twins(offset, **options):
    """Two boxes of 2 m on the ground, one ``offset`` m beside the other."""
    scene = Scene()
    ground(scene)
    for number, name in enumerate(("Left", "Right")):
        scene.add(Body(name, [Box([1.0] * 3)], position=(offset * number, 0, 1), mass=1.0, **options))
    return scene


def test_a_start_inside_each_other_is_named_with_its_depth_until_it_is_gone():
    scene = twins(1.0)
    (found,) = starting_overlaps(scene, CPU)
    assert {found.body_a, found.body_b} == {"Left", "Right"} and found.depth == pytest.approx(1.0, abs=1e-4)
    assert (
        str(found) == "Left and Right start inside each other, 1000 mm deep: move them apart, or let them not collide"
    )
    reports = simulate(scene, 12, config=CPU).reports
    # 1 m at 3 m/s is 8 frames.
    depths = [report.overlap for report in reports]
    assert depths[0] == pytest.approx(1.0, abs=1e-4) and np.all(np.diff(depths[:9]) < 0.0)
    assert depths[1] == pytest.approx(reports[0].penetration, abs=1e-4), "the next frame begins where one ends"
    assert [bool(report.overlapping_bodies) for report in reports] == [True] * 8 + [False] * 4
    assert all(set(report.overlapping_bodies) == {"Left", "Right"} for report in reports[:8])
    assert all(report.converged for report in reports)


def test_what_only_touches_or_must_not_collide_is_no_overlap():
    assert starting_overlaps(twins(2.0), CPU) == []
    assert starting_overlaps(twins(1.999), CPU) == [], "less than two hundredths of a half extent"
    assert starting_overlaps(twins(1.0, collision_mask=0), CPU) == []
    scene = twins(1.0)
    scene.add(Joint("Hinge", "hinge", "Left", "Right", (0.5, 0, 1), collide_connected=False))
    assert starting_overlaps(scene, CPU) == []
    for report in simulate(twins(2.0), 3, config=CPU).reports:
        assert report.overlap == 0.0 and list(report.overlapping_bodies) == []


def test_bodies_that_nothing_can_move_may_overlap_and_one_that_is_let_go_is_told():
    scene = twins(0.5)
    path = MotionPath([0.0, 1.0], [(0.5, 0, 1)] * 2, [(0, 0, 0, 1)] * 2)
    scene.bodies[1].motion, scene.bodies[2].path = "static", path
    scene.bodies[2].held = [(0.0, 3.5 * STEP)]
    assert starting_overlaps(scene, CPU) == []
    told = [bool(report.overlapping_bodies) for report in simulate(scene, 6, config=CPU).reports]
    assert not any(told[:3]) and told[4]


def test_the_deepest_pairs_come_first_three_at_most():
    scene = Scene(gravity=(0, 0, 0))
    for number, place in enumerate((0.0, 0.5, 1.1, 1.8, 2.6)):
        scene.add(Body(f"Box {number}", [Box([0.5] * 3)], position=(place, 0, 0)))
    found = starting_overlaps(scene, CPU)
    depths = [overlap.depth for overlap in found]
    assert len(found) == 4 and depths == sorted(depths, reverse=True)
    assert (found[0].body_a, found[0].body_b) == ("Box 0", "Box 1")
    assert len(simulate(scene, 1, config=CPU).reports[0].overlapping_bodies) == 6


HALF = 0.5
ON_FLOORS = {  # shape, and how high it stands [m]: their middles are above the floor, and tell from where they came
    "box": (Box([HALF] * 3), HALF), "ball": (Sphere(HALF), HALF), "cylinder": (Cylinder(HALF, HALF), HALF),
    "hull": (ConvexHull(2.0 * HALF * CUBE), HALF),
    "capsule": (Capsule(0.3, 0.4), 0.7),
}  # fmt: skip


def hilly_slab(thickness, count=16, size=10.0):
    """A closed concave mesh: hills of 5 cm on top, level below."""
    top = grid(count, size, lambda x, y: 0.05 * np.sin(1.3 * x) * np.cos(1.1 * y))
    side, points = count + 1, len(top.vertices)
    k = np.arange(count)
    rim = np.concatenate([k * side, count * side + k, (count - k) * side + count, count - k])
    ahead = np.roll(rim, -1)
    walls = np.concatenate([np.c_[rim, rim + points, ahead + points], np.c_[rim, ahead + points, ahead]])
    below = np.concatenate([top.vertices[:, :2], np.full((points, 1), -thickness)], axis=1)
    triangles = np.concatenate([top.triangles, top.triangles[:, ::-1] + points, walls])
    return TriangleMesh(np.concatenate([top.vertices, below]), triangles)


@pytest.mark.parametrize("thickness", [0.1, 0.5])
@pytest.mark.parametrize("depth", [0.08, 0.3])
@pytest.mark.parametrize("name", ON_FLOORS)
def test_what_starts_deep_in_a_floor_of_triangles_comes_up(name, depth, thickness):
    """Its corners are nearer to the floor's far side, or below that: boxes and cylinders were pushed both ways and
    stuck, balls and hulls that reach through fell out of it below, without a word.
    """
    mesh, (shape, height) = hilly_slab(thickness), ON_FLOORS[name]
    assert mesh.is_closed() and mesh.outward() is mesh.wound
    scene = Scene()
    scene.add(Body("Floor", [mesh], motion="static"))
    scene.add(Body("Thing", [shape], position=(0.1, 0.07, height - depth), mass=1.0))
    seen = []
    simulate(scene, 24, config=CPU, on_frame=seen.append)
    assert all(frame.report.converged for frame in seen)
    assert seen[0].report.overlap == pytest.approx(depth, abs=0.03)
    heights = [frame.position[1, 2] for frame in seen]
    assert min(heights[4:]) > height - 0.2 and seen[-1].report.overlap < FAST
