# SPDX-License-Identifier: GPL-3.0-or-later
"""What rests in double precision rests in single precision, too, whichever way it lies and whatever leans on it.

A body's velocity and orientation and a contact's normal and levers in float32, times what lies above, moved what should
rest by up to a tolerance a frame: a box of 1 kg under ten tonnes missed in 86 frames of 120, columns crept, and a heavy
load shook the chain that it hung on.
"""

import numpy as np
import pytest
from as_on_cuda import as_on_cuda  # noqa: F401  a fixture
from axion.solver import Body, Box, Scene, SolverConfig, rotations, simulate
from figures import figure
from judges import farthest_moved, rms_speed
from scenes import chain, ground, turned
from test_stacks_aside import ASIDE, stack_aside

pytestmark = pytest.mark.usefixtures("as_on_cuda")
SINGLE = SolverConfig(device="cpu", precision="float32")
TILT = rotations.multiply(turned("x", 0.35), turned("y", 0.2))


def tilted(scene):
    """``scene`` in a world that is turned as a whole, gravity too: no axis of it is a direction of anything."""
    scene.gravity = tuple(rotations.rotate(TILT, np.array([0.0, 0.0, -9.81])))
    for item in (*scene.bodies, *scene.joints):
        item.position = tuple(rotations.rotate(TILT, np.asarray(item.position, float)))
        item.orientation = rotations.multiply(TILT, np.asarray(item.orientation, float))
    return scene


def column(masses, aside=0.0):
    """Cubes of 1 m on each other."""
    scene = Scene()
    scene.add(Body("Floor", [Box((5.0, 5.0, 0.5))], motion="static", position=(aside, 0.0, -0.5)))
    for i, mass in enumerate(masses):
        scene.add(Body(f"Box {i + 1}", [Box((0.5, 0.5, 0.5))], position=(aside, 0.0, i + 0.5), mass=mass))
    return scene


def rests(name, scene, frames):
    trajectory = simulate(scene, frames, config=SINGLE)
    drift, speed = farthest_moved(scene, trajectory).max(), rms_speed(scene, trajectory)
    figure(f"{name}, in float32", "drift", drift, 1e-3, "m")
    assert sum(not report.converged for report in trajectory.reports) == 0
    assert drift < 1e-3
    assert speed[-1] == 0.0


@pytest.mark.parametrize("turn", [0.0, 0.3])
def test_a_box_rests_under_ten_thousand_times_its_mass(turn):
    scene = Scene()
    ground(scene)
    for i, mass in enumerate((1.0, 1e4)):
        place, way = (0.0, 0.0, i + 0.5), turned("z", turn)
        scene.add(Body(f"Box {i + 1}", [Box((0.5, 0.5, 0.5))], position=place, orientation=way, mass=mass))
    rests(f"10 t on 1 kg, turned by {turn:g} rad", scene, 120)


@pytest.mark.parametrize("masses", [[1.0] * 20, [1.0] * 40, [1.0, 1e4]], ids=["20", "40", "10 t on 1 kg"])
def test_a_column_rests_in_a_world_that_leans(masses):
    rests(f"column of {len(masses)} in a world that leans", tilted(column(masses)), 120)


@pytest.mark.parametrize("masses", [[1.0] * 20, [1.0, 1e4]], ids=["20", "10 t on 1 kg"])
def test_a_column_rests_far_aside(masses):
    rests(f"column of {len(masses)}, 30 m aside", column(masses, 30.0), 120)


@pytest.mark.parametrize(
    ("count", "aside", "turn", "seed"),
    [(10, 0.0, np.pi, 0), (30, 0.0, np.pi, 0), (60, ASIDE, 0.0, 5), (60, 0.0, np.pi, 0)],
)
def test_a_stack_of_boxes_aside_comes_to_rest(count, aside, turn, seed):
    name = f"stack of {count}, {100 * aside:g} cm aside, turned by up to {turn:.0f} rad, {seed}"
    rests(name, stack_aside(count, aside, turn, seed), 240)


@pytest.mark.parametrize("kind", ["ball", "hinge"])
@pytest.mark.parametrize("ratio", [100.0, 1000.0])
def test_a_chain_hangs_still_under_a_heavy_load(ratio, kind):
    trajectory = simulate(tilted(chain(10, end_mass_ratio=ratio, kind=kind)), 120, config=SINGLE)
    drift = np.abs(trajectory.position - trajectory.position[0]).max()
    name = f"chain of 10 under {ratio:g} times a link, {kind}, in float32"
    assert figure(name, "drift", drift, 1e-6, "m") < 1e-6
    assert not trajectory.linear_velocity[-60:].any() and not trajectory.angular_velocity[-60:].any()
