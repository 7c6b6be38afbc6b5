# SPDX-License-Identifier: GPL-3.0-or-later
"""Things at rest: stacks, slopes and weights stay where they are on every frame, and the reports say the truth."""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Cylinder, Plane, Scene, SolverConfig, rotations, simulate
from scenes import STEEP, chain, downhill, ground, hanging_mass, slope, stack

CPU = SolverConfig(device="cpu")
TOLERANCE = CPU.tolerances()[0]  # 1e-5 m: what is slow


def drift(trajectory):
    return np.abs(trajectory.position - trajectory.position[0]).max()


@pytest.fixture(scope="module")
def standing():
    return simulate(stack(10), 72, config=CPU)


def test_stack_of_ten_converges_on_every_frame_and_stands(standing):
    assert all(report.converged for report in standing.reports)
    assert all(report.substeps == 1 for report in standing.reports)
    assert drift(standing) < 1e-3
    # each contact may be off by the tolerance, and ten boxes stand on each other
    assert drift(standing) < 10 * TOLERANCE
    assert np.abs(standing.linear_velocity[-1]).max() < TOLERANCE * 24


def test_stack_tells_its_overlap_truly(standing):
    # Boxes stay level, so the deepest overlap is that of neighbouring faces, told again from the keyframes.
    boxes = standing.position[1:, 1:]
    height = np.concatenate([np.full((len(boxes), 1), -0.1), boxes[..., 2]], axis=1)
    overlap = np.maximum(0.0, 0.2 - np.diff(height, axis=1)).max(axis=1)
    tilt = 2.0 * np.linalg.norm(standing.orientation[1:, 1:, :2], axis=2).max() * 0.1 * np.sqrt(2.0)
    told = np.array([report.penetration for report in standing.reports])
    assert np.abs(told - overlap).max() < 2.0 * tilt + 1e-7


def test_stack_tells_its_energy(standing):
    # m g z of ten boxes of 1 kg, and next to nothing else.
    assert standing.reports[-1].potential_energy == pytest.approx(9.81 * standing.position[-1, 1:, 2].sum(), rel=1e-12)
    assert standing.reports[-1].kinetic_energy < 10 * 0.5 * (TOLERANCE * 24) ** 2


def test_single_precision_stands_as_well():
    trajectory = simulate(stack(10), 48, config=SolverConfig(device="cpu", precision="float32"))
    assert drift(trajectory) < 1e-4


@pytest.mark.parametrize("ratio", [1000.0, 0.001])
def test_heavy_on_light(ratio):
    trajectory = simulate(stack(2, heavier=ratio), 48, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    assert drift(trajectory) < 1e-4


def test_box_creeps_less_than_a_tenth_of_a_millimetre_on_a_slope_it_can_stand_on():
    trajectory = simulate(slope(STEEP), 120, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    assert drift(trajectory) < 1e-4
    later = trajectory.position[-1, 1] - trajectory.position[48, 1]
    assert abs(later @ downhill(STEEP)) < 2e-5  # and it comes to rest


def test_hanging_mass_neither_moves_nor_loses_its_rod():
    trajectory = simulate(hanging_mass(), 48, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    assert drift(trajectory) < TOLERANCE
    assert max(report.joint_error for report in trajectory.reports) < TOLERANCE


@pytest.mark.parametrize("ratio", [1.0, 1000.0])
def test_hanging_chain_holds_its_end(ratio):
    trajectory = simulate(chain(10, end_mass_ratio=ratio), 24, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    assert drift(trajectory) < 1e-4


@pytest.mark.parametrize("size", [0.01, 10.0])
def test_small_and_large_stacks_stand_alike(size):
    trajectory = simulate(stack(3, size=size), 24, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    assert drift(trajectory) < 10 * TOLERANCE


@pytest.mark.parametrize(
    "shape",
    [Box((0.2, 0.1, 0.3)), Cylinder(0.1, 0.2), Capsule(0.1, 0.2, orientation=rotations.exponential([0, np.pi / 2, 0]))],
)
def test_shapes_lie_still_on_a_turned_and_shifted_plane(shape):
    # The plane z' = 0 of a tilted frame with gravity along -z': nothing may depend on the world's axes.
    turn, shift = rotations.exponential(np.array([0.4, -0.7, 0.2])), np.array([3.0, -2.0, 5.0])
    half = {Box: 0.3, Cylinder: 0.2, Capsule: 0.1}[type(shape)]
    up = rotations.rotate(turn, np.array([0.0, 0, 1]))
    scene = Scene(gravity=-9.81 * up)
    scene.add(Body("Floor", [Plane()], motion="static", position=shift, orientation=turn))
    scene.add(Body("Body", [shape], position=shift + half * up, orientation=turn))
    trajectory = simulate(scene, 48, config=CPU)
    assert drift(trajectory) < 1e-4


def test_overlap_at_the_start_leaves_slowly_and_ends_as_rest():
    # 5 cm deep: pushed out no faster than 3 m/s, and that push is no velocity afterwards.
    scene = Scene()
    ground(scene)
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], position=(0, 0, 0.05)))
    trajectory = simulate(scene, 24, config=CPU)
    height = trajectory.position[:, 1, 2]
    assert height.max() < 0.1 + 10 * TOLERANCE
    assert height[-1] == pytest.approx(0.1, abs=10 * TOLERANCE)
    assert np.diff(height).max() < 3.0 / 24.0 + TOLERANCE
