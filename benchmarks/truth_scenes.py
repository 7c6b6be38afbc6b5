# SPDX-License-Identifier: GPL-3.0-or-later
"""More scenes of the comparison, those that the tests under tests/physics and tests/truth judge with finer tools.

They obey the rules of comparison_scenes.py; what the tests' own builders have beyond them is taken out here.
"""

import sys
from pathlib import Path

import numpy as np
from axion.solver import Body, Box, Joint, Scene, rotations
from comparison_scenes import GRAVITY, UNTOUCHABLE, about_y, arch, with_floor

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

import loop_scenes
import scenes
import table_scenes

THINNEST_ARCH = table_scenes.THINNEST_ARCH
LANE = 6.0
"""From one arch of ``arches`` to the next [m]: three times their depth."""


def from_the_world(scene):
    """The scene with the world as first body of every joint it takes part in."""
    for joint in scene.joints:
        if joint.body_b is None:
            joint.body_a, joint.body_b = None, joint.body_a
    return scene


def scaled_stack(size, count=10):
    """``count`` cubes of ``size`` metres and the density of water, exactly touching."""
    return scenes.stack(count, size=size, mass=1000.0 * size**3)


def arches(factor, radius=10.0):
    """An arch of each number of stones in THINNEST_ARCH, ``factor`` times as thick as it must be, in lanes along Y."""
    scene = with_floor(0.8)
    for lane, (stones, thinnest) in enumerate(THINNEST_ARCH.items()):
        for body in arch(stones, radius, factor * thinnest * radius).bodies[1:]:
            body.name = f"{stones} stones: {body.name}"
            body.position = body.position + (0.0, LANE * lane, 0.0)
            scene.add(body)
    return scene


def pendulum():
    """A ball of 0.1 m on a hinge 1 m above its middle, let go at the horizontal."""
    scene = scenes.pendulum(angle=0.5 * np.pi)
    scene.bodies[0].collision_mask = UNTOUCHABLE
    return scene


TOP_SPIN, TOP_LEAN, TOP_ARM = 60.0, 0.3, 0.1
"""Of ``top``: rad/s about its own axis, angle to the vertical at the start [rad], middle to point [m]."""


def top():
    """A square plate that leans and spins about its axis on a ball joint below its middle; it does not move else."""
    scene = Scene()
    turn = np.array([np.sin(TOP_LEAN / 2), 0.0, 0.0, np.cos(TOP_LEAN / 2)])
    up = rotations.rotate(turn, np.array([0.0, 0.0, 1.0]))
    scene.add(
        Body("Top", [Box((0.1, 0.1, 0.01))], position=TOP_ARM * up, orientation=turn, mass=0.5,
             angular_velocity=TOP_SPIN * up, collision_mask=UNTOUCHABLE)
    )  # fmt: skip
    scene.add(Joint("Point", "ball", None, "Top", (0, 0, 0)))
    return scene


def bricard():
    """Bricard's mechanism, IFToMM A04: its one freedom is there because of its lengths alone."""
    return from_the_world(loop_scenes.bricard())


def four_bars(windows):
    """IFToMM A02 with bars as thick as they are drawn: ``windows`` square windows side by side, turning."""
    scene = loop_scenes.many_four_bars(windows)
    for body in scene.bodies:
        body.inertia = None
    return scene


def door():
    """A door on three hinges of one axis, swinging at 1 rad/s."""
    scene = loop_scenes.three_hinge_door()
    scene.bodies[0].collision_mask = UNTOUCHABLE
    return scene


BLOCK = np.array([0.2, 0.2, 0.8])
"""Size of ``rocking_block`` [m]."""


def rocking_block():
    """Housner's block on the toe at x = 0, leaning towards -x by half the angle at which it would fall; friction 1."""
    scene, lean = with_floor(1.0), 0.5 * np.arctan(BLOCK[0] / BLOCK[2])
    toe = -0.5 * BLOCK * (1, 0, 1)
    turn = about_y(-lean)
    place = -rotations.rotate(turn, toe)
    scene.add(Body("Block", [Box(0.5 * BLOCK)], position=place, orientation=turn, mass=1.0, friction=1.0))
    return scene


def wrecking_ball():
    """A ball of 200 kg on a chain of 15 links of 1 kg swings into a wall of 30 boxes."""
    return table_scenes.wrecking_ball()


def rope_bridge():
    """20 planks of 2 kg on 42 ball joints, more than they need, under three boxes of 100 kg that fall onto them."""
    return from_the_world(table_scenes.rope_bridge())


def ragdolls():
    """Ten ragdolls of ten capsules with limits at their joints fall onto stairs."""
    return table_scenes.ragdolls(10)


def four_bars_pull(windows):
    """K of phi'' = -k cos phi, the law of ``four_bars`` [1/s^2]: phi is the angle of the uprights from +X."""
    count, own = windows + 1, (1.0 + (2.0 * loop_scenes.THIN) ** 2) / 12.0
    return GRAVITY * (0.5 * count + windows) / ((0.25 + own) * count + windows)
