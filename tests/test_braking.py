# SPDX-License-Identifier: GPL-3.0-or-later
"""What a drive has to brake, against the inverse of all masses under all other joints."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, Scene
from axion.solver.constraints.rows import JointTable
from axion.solver.frames import body_frames
from axion.solver.reference.rotation import world_inertia
from axion.solver.reference.rows import jacobians
from axion.solver.rotations import IDENTITY
from scenes import turned
from step_problems import unit


def driven(kind, seed, base=None):
    """A drive between ``base`` or the world and an arm of three bodies; they are all welded together."""
    rng, scene, axis = np.random.default_rng(seed), Scene(), {"slider": "x", "hinge": "rz"}[kind]
    for k in range(3):
        scene.add(
            Body(f"Arm {k}", [Box(rng.uniform(0.1, 0.5, 3))], position=rng.normal(size=3), orientation=unit(rng, 4))
        )
    for k in range(2):
        scene.add(Joint(f"Weld {k}", "fixed", f"Arm {k}", f"Arm {k + 1}", rng.normal(size=3)))
    if base == "dynamic":
        scene.add(Body("Base", [Box((0.5, 0.4, 0.3))], position=rng.normal(size=3)))
    elif base:
        scene.add(Body("Base", [Box((0.5, 0.4, 0.3))], motion=base, position=rng.normal(size=3)))
    axes = {axis: Axis(drive="position", max_force=1.0)}
    scene.add(Joint("Drive", kind, base and "Base", "Arm 1", rng.normal(size=3), turned("y", 1.0), axes=axes))
    return scene


def at_start(scene):
    """(BodyFrames, JointTable, solver poses) of a scene."""
    frames, start = body_frames(scene), [body.start() for body in scene.bodies]
    pose = frames.to_solver(np.array([s[0] for s in start]), np.array([s[1] for s in start]))
    return frames, JointTable(scene, frames), pose


def measured(scene):
    """(mobility of the scene's one drive, that of its two bodies alone, by dense inverse under all other rows)."""
    frames, table, pose = at_start(scene)
    table.observe(*pose, np.zeros((len(scene.bodies), 6)))
    position, orientation = np.vstack([pose[0], np.zeros(3)]), np.vstack([pose[1], IDENTITY])
    j_a, j_b = jacobians(table.fixed, position, orientation)
    count = len(position)
    inverse, rows = np.zeros((6 * count, 6 * count)), np.zeros((len(table), 6 * count))
    for i in np.flatnonzero(np.isfinite(frames.mass)):
        inverse[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = np.eye(3) / frames.mass[i]
        turning = slice(6 * i + 3, 6 * i + 6)
        inverse[turning, turning] = np.linalg.inv(world_inertia(orientation[i], frames.inertia[i]))
    for r, (a, b) in enumerate(zip(table.fixed.body_a, table.fixed.body_b, strict=True)):
        rows[r, 6 * a : 6 * a + 6] += j_a[r]
        rows[r, 6 * b : 6 * b + 6] += j_b[r]
    (drive,) = table._arriving
    own, rest = rows[drive], np.delete(rows, drive, axis=0)
    alone = own @ inverse @ own
    coupled = own @ inverse @ rest.T
    want = alone - coupled @ np.linalg.pinv(rest @ inverse @ rest.T, rcond=1e-10) @ coupled
    return table.start.mobility[drive], alone, want


@pytest.mark.parametrize("base", [None, "static", "kinematic"])
@pytest.mark.parametrize("kind", ["slider", "hinge"])
@pytest.mark.parametrize("seed", range(3))
def test_a_drive_carries_what_is_welded_to_its_body(kind, seed, base):
    found, alone, want = measured(driven(kind, seed, base))
    assert found == pytest.approx(want, rel=1e-9)
    assert found < 0.9 * alone


def test_a_drive_between_two_bodies_moves_both():
    found, alone, want = measured(driven("slider", 0, "dynamic"))
    assert found < 0.9 * alone
    # As if the slider held no turn: what it pushes off centre turns as well, and gives way more easily.
    assert found <= want


def test_in_a_closed_loop_the_two_bodies_count_alone():
    scene = driven("hinge", 1)
    scene.add(Joint("Loop", "ball", None, "Arm 2", (1, 2, 3)))
    found, alone, _ = measured(scene)
    assert found == pytest.approx(alone, rel=1e-12)


def test_what_broke_off_is_carried_no_longer():
    frames, table, pose = at_start(driven("slider", 2))
    heavy = []
    for alive in (True, False):
        table.alive[0] = alive  # Weld 0 holds Arm 0
        table.observe(*pose, np.zeros((3, 6)))
        heavy.append(1.0 / table.start.mobility[table._arriving[0]])
    assert heavy == pytest.approx([frames.mass.sum(), frames.mass[1:].sum()])
