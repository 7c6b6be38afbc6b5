# SPDX-License-Identifier: GPL-3.0-or-later
"""Which scene and settings a checkpoint belongs to: others are refused, and the error says what differs."""

import numpy as np
import pytest
from axion.solver import (
    Axis,
    Body,
    Box,
    CheckpointError,
    ForceField,
    Joint,
    MotionPath,
    SolverConfig,
    simulate,
)
from scenes import pile
from test_checkpoint import CPU, assert_same, run


def changed(**options):
    """A pile whose box 1 has other attributes."""
    scene = pile(3)
    for name, value in options.items():
        setattr(scene.bodies[1], name, value)
    return scene


def windy(strength):
    scene = pile(3)
    scene.add(ForceField("Wind", "wind", strength))
    scene.add(Joint("Spring", "generic", None, "Box 1", axes={"x": Axis(stiffness=strength)}))
    return scene


def test_a_checkpoint_of_a_scene_that_differs_is_refused_and_tells_in_what():
    _, checkpoints = run(pile(3), 4)
    stronger = pile(3)
    stronger.gravity = (0, 0, -9.8)
    for scene, name in (
        (changed(mass=2.0), "Box 1"),
        (changed(friction=0.1), "Box 1"),
        (changed(shapes=[Box((0.1, 0.1, 0.11))]), "Box 1"),
        (changed(path=MotionPath([0.0], [(0, 0, 1)], [(0, 0, 0, 1)])), "Box 1"),
        (stronger, "Scene.gravity"),
    ):
        with pytest.raises(CheckpointError, match=f"^{name} is not what the checkpoint was made with: .*another scene"):
            simulate(scene, 9, config=CPU, resume=checkpoints[4])
    _, checkpoints = run(windy(1.0), 4)
    for scene, name in ((windy(2.0), "Spring"), (pile(3), "made_of.joints of the checkpoint")):
        with pytest.raises(CheckpointError, match=f"^{name} .*another scene"):
            simulate(scene, 9, config=CPU, resume=checkpoints[4])


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"quality": "final"}, "tolerance"),
        ({"tolerance": 1e-3}, "tolerance"),
        ({"substeps": 3}, "substeps"),
        ({"joint_damping": 0.5}, "joint_damping"),
        ({"precision": "float32"}, "precision"),
        ({"method": "schur", "substeps": 2}, r"substeps \(and 1 more\)"),
        ({"states_per_frame": 2}, "states_per_frame"),
    ],
)
def test_a_checkpoint_of_another_config_is_refused(options, name):
    _, checkpoints = run(pile(2), 4)
    with pytest.raises(CheckpointError, match=f"^{name} is not what the checkpoint was made with: .*another config"):
        simulate(pile(2), 9, config=SolverConfig(device="cpu", **options), resume=checkpoints[4])


def test_numbers_of_another_type_are_the_same_scene():
    whole, checkpoints = run(changed(collision_group=1, collision_mask=7), 6)
    same = changed(collision_group=np.int64(1), collision_mask=np.uint32(7))
    config = SolverConfig(device="cpu", joint_damping=0, tolerance=None, record_forces=True)
    assert_same(run(same, 6, config, resume=checkpoints[4])[0], whole, 4)


def swaying(last, count=12):
    """A table on a path whose samples from ``last`` on are others."""
    times = np.arange(count) / 24.0
    path = [(0.1 * np.sin(5.0 * t) + 0.2 * (k >= last), 0.0, 0.1) for k, t in enumerate(times)]
    scene = pile(2)
    sway = MotionPath(times, path, np.tile([0, 0, 0, 1.0], (count, 1)))
    scene.add(Body("Table", [Box((0.5, 0.5, 0.1))], motion="kinematic", path=sway))
    return scene


def test_animation_counts_as_far_as_it_was_read():
    _, checkpoints = run(swaying(99), 6)
    longer = swaying(99, 20)
    assert_same(run(longer, 8, resume=checkpoints[6])[0], simulate(longer, 8, config=CPU), 6)
    # A step looks two frames ahead, and may be a rounding error beyond the sample there: sample 9 still counts.
    assert_same(run(swaying(10), 8, resume=checkpoints[6])[0], simulate(swaying(10), 8, config=CPU), 6)
    for other in (swaying(9), swaying(6), swaying(2), swaying(99, 5)):
        with pytest.raises(CheckpointError, match="^Table is not what"):
            simulate(other, 8, config=CPU, resume=checkpoints[6])


def test_of_a_coarse_path_the_sample_that_is_under_way_counts():
    def led(end):
        scene = pile(1)
        path = MotionPath((0.0, 1.0), ((0.0, 0.0, 0.1), (end, 0.0, 0.1)), np.tile([0, 0, 0, 1.0], (2, 1)))
        scene.add(Body("Table", [Box((0.5, 0.5, 0.1))], motion="kinematic", path=path))
        return scene

    _, checkpoints = run(led(0.1), 6)
    with pytest.raises(CheckpointError, match="^Table is not what"):
        simulate(led(1.0), 8, config=CPU, resume=checkpoints[6])
    assert_same(run(led(0.1), 8, resume=checkpoints[6])[0], simulate(led(0.1), 8, config=CPU), 6)
