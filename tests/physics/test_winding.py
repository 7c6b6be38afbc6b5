# SPDX-License-Identifier: GPL-3.0-or-later
"""Position drives and springs over whole turns: a pose alone does not tell them, so the way there must."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, Scene, SolverConfig, simulate
from figures import figure
from scenes import turned

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
TURN = 2.0 * np.pi
ABOUT_X = turned("y", -np.pi / 2)  # a joint frame whose X is the world's Z


def wound(axis="rz", kind="hinge", offset=0.0, frames=48, fps=24.0, frame=(0, 0, 0, 1), **law):
    """(Trajectory, (F + 1,) angle about Z, counted where frames lie less than half a turn apart, moment about it)."""
    scene = Scene(gravity=(0, 0, 0))
    scene.add(Body("Wheel", [Box((0.3, 0.1, 0.1))], mass=1.0, position=(offset, 0, 0), collision_mask=0))
    scene.add(Joint("Drive", kind, None, "Wheel", (0, 0, 0), frame, axes={axis: Axis(**law)}))
    trajectory = simulate(scene, frames, fps, CPU)
    assert all(report.converged for report in trajectory.reports)
    q = trajectory.orientation[:, 0]
    return trajectory, np.unwrap(2.0 * np.arctan2(q[:, 2], q[:, 3])), (0.3**2 + 0.1**2) / 3.0 + offset**2


def off_turns(angle, target):
    """How far an angle [rad] is from the target, whole turns aside."""
    return np.abs((angle - target + np.pi) % TURN - np.pi)


@pytest.mark.parametrize(
    ("axis", "kind", "frame"), [("rz", "hinge", (0, 0, 0, 1)), ("rx", "piston", ABOUT_X), ("rx", "generic", ABOUT_X)]
)
@pytest.mark.parametrize("soft", [{}, {"stiffness": 1e6, "damping": 1e4}])
def test_keyed_drive_winds_and_unwinds(axis, kind, frame, soft):
    # Two turns up in the first second, three back in the next: half a radian a frame and more, each in its turn.
    # A stiff one is behind by its rate over k / d, where the rate of its target jumps for a step.
    keys = ([0.0, 1.0, 2.0], [0.0, 2.0 * TURN, -TURN])
    trajectory, angle, _ = wound(axis, kind, frame=frame, drive="position", target=keys, **soft)
    want = np.interp(trajectory.times, *keys)
    bound = FAST if not soft else 0.05
    name = f"{'stiff' if soft else 'rigid'} drive on {axis} of a {kind}, 2 turns and 3 back"
    settled = (trajectory.times > 0.2) & (np.abs(trajectory.times - 1.1) > 0.15)
    off = np.abs(angle - want)[settled].max()
    assert figure(name, "off its target", off, bound, "rad") < bound


@pytest.mark.parametrize("offset", [0.0, 0.3])
@pytest.mark.parametrize("turns", [2.0, -2.0, 1.75])
def test_drive_within_a_force_winds_all_its_turns(offset, turns):
    # To where it brakes it has a torque: all turns are made, and it comes to rest there.
    trajectory, angle, _ = wound(offset=offset, drive="position", target=turns * TURN, max_force=5.0)
    name = f"drive of 5 N m, {turns:g} turns, {offset:g} m off its hinge"
    off = abs(angle[-1] - turns * TURN)
    assert figure(name, "off its target after 2 s", off, FAST, "rad") < FAST
    assert np.abs(trajectory.angular_velocity[-1]).max() < FAST * 24.0


@pytest.mark.parametrize("offset", [0.0, 0.3])
@pytest.mark.parametrize("turns", [2.0, -2.0, 1.75])
@pytest.mark.parametrize("law", ["rigid", "spring", "drive"])
def test_drive_that_is_there_at_once_stays_calm(law, turns, offset):
    # A stiff spring with much damping makes two turns within a step: I a'' + d a' + k (a - target) = 0 has no more
    # energy than k target^2 / 2 less what its damper takes, and after some 1 / rate, rate = k / d, it is there.  Rigid
    # ones are there at once.  By the pose alone the way was one to half a turn, and wheels came to 1e9 rad/s.
    target, stiffness, damping = turns * TURN, 1e6, 1e4
    law = {
        "rigid": {"drive": "position", "target": target},
        "spring": {"stiffness": stiffness, "damping": damping, "rest": target},
        "drive": {"drive": "position", "target": target, "stiffness": stiffness, "damping": damping},
    }[law]
    trajectory, angle, _ = wound(offset=offset, **law)
    name = f"{'rigid' if 'stiffness' not in law else 'stiff'} to {turns:g} turns, {offset:g} m off its hinge"
    fastest = np.abs(trajectory.angular_velocity).max()
    bound = abs(target) * stiffness / damping * np.exp(-stiffness / damping / 24.0) * 1.5  # at the end of a step
    assert figure(name, "fastest at a frame", fastest, bound, "rad/s") < bound
    off = off_turns(angle[6:], target).max()
    assert figure(name, "off its target from the sixth frame on", off, FAST, "rad") < FAST


def test_soft_spring_winds_up_as_its_equation_says():
    # I a'' + d a' + k (a - rest) = 0, three turns away, at half a turn in three frames: second order in the step.
    stiffness, damping, rest, off = 0.4, 0.05, 3.0 * TURN, []
    for fps in (24, 48):
        trajectory, angle, moment = wound(frames=3 * fps, fps=fps, stiffness=stiffness, damping=damping, rest=rest)
        rate, t = 0.5 * damping / moment, trajectory.times
        omega = np.sqrt(stiffness / moment - rate**2)
        want = rest * (1.0 - np.exp(-rate * t) * (np.cos(omega * t) + rate / omega * np.sin(omega * t)))
        off.append(np.abs(angle - want).max())
    assert figure("soft spring over 3 turns", "off its law, 3 s", off[0], 0.1, "rad") < 0.1
    assert off[0] / off[1] == pytest.approx(4.0, abs=0.1)


def test_limit_beside_a_rigid_drive_counts_its_turns():
    # The drive is two turns on at once; a limit half a turn beyond must not take that for two turns short of it.
    trajectory, angle, _ = wound(drive="position", target=2.0 * TURN, lower=1.5 * TURN, upper=2.5 * TURN)
    assert off_turns(angle, 0.0).max() < FAST
    assert np.abs(trajectory.angular_velocity).max() < FAST * 24.0
