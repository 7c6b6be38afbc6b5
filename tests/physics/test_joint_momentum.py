# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints are internal forces: two free bodies on any of them keep linear and angular momentum (Dojo's bound, 1e-8)."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, Scene, SolverConfig, metrics, simulate
from axion.solver.frames import body_frames
from figures import figure
from scenes import turned

KINDS = ("fixed", "ball", "hinge", "slider", "piston", "distance", "rope", "generic")
SPRUNG = {axis: Axis(stiffness=20.0, damping=0.5) for axis in ("x", "y", "z")}
PARTS = 3.0  # [m] between pairs


def pairs(damped=False):
    """Two unequal turning boxes for each kind of joint, side by side, all in empty space."""
    scene = Scene(gravity=(0, 0, 0))
    for k, kind in enumerate(KINDS):
        shift = np.array([0.0, PARTS * k, 0.0])
        for name, half, place, mass, spin in (
            ("A", (0.3, 0.1, 0.1), (-0.3, 0, 0), 2.0, (1.0, 2.0, 3.0)),
            ("B", (0.2, 0.1, 0.15), (0.3, 0.1, 0), 1.0, (1.0, 2.0, -1.0)),
        ):
            scene.add(
                Body(f"{kind} {name}", [Box(half)], position=shift + place, mass=mass, angular_velocity=spin,
                     collision_mask=0)
            )  # fmt: skip
        bodies = f"{kind} A", f"{kind} B"
        if kind in ("distance", "rope"):
            anchors = (shift, shift + (0.2, 0.1, 0))
            scene.add(Joint(kind, kind, *bodies, anchors=anchors))
        else:
            axes = SPRUNG if kind == "generic" else {}
            scene.add(Joint(kind, kind, *bodies, shift, turned("y", 0.3), axes=axes))
    return scene


def pair_momenta(scene, trajectory):
    """(F + 1, kinds, 6) linear and angular momentum of each pair about its own place."""
    frames = body_frames(scene)
    out = np.zeros((len(trajectory.times), len(KINDS), 6))
    for t in range(len(trajectory.times)):
        x, q = frames.to_solver(trajectory.position[t], trajectory.orientation[t])
        u = np.hstack([trajectory.linear_velocity[t], trajectory.angular_velocity[t]])
        for k in range(len(KINDS)):
            i, about = slice(2 * k, 2 * k + 2), (0.0, PARTS * k, 0.0)
            out[t, k, :3] = metrics.linear_momentum(frames.mass[i], u[i])
            out[t, k, 3:] = metrics.angular_momentum(frames.mass[i], frames.inertia[i], q[i], u[i], x[i], about)
    return out


@pytest.mark.parametrize("fps", [24, 100])
def test_pairs_keep_their_momenta(fps):
    # Five seconds, at Dojo's h = 0.01 s too.  Exact solutions keep them to rounding; what is left of a step is the
    # joint's error times its force, so the tolerance is set to 1e-12 m.
    scene = pairs()
    trajectory = simulate(scene, 5 * fps, fps, SolverConfig(device="cpu", tolerance=1e-12))
    momentum = pair_momenta(scene, trajectory)
    drift = np.abs(momentum - momentum[0]).max(axis=0)
    seconds = trajectory.times[-1]
    for k, kind in enumerate(KINDS):
        name = f"free pair on a {kind} joint, {fps} fps"
        figure(name, f"linear momentum drift, {seconds:g} s", drift[k, :3].max(), 1e-8)
        figure(name, f"angular momentum drift, {seconds:g} s", drift[k, 3:].max(), 1e-8)
    assert drift[:, :3].max() < 1e-8
    assert drift[:, 3:].max() < 1e-8


@pytest.mark.parametrize("fps", [24, 100])
def test_pairs_keep_their_momenta_at_quality_normal(fps):
    # Both bodies of a joint get one impulse, taken where they meet: what a step is off by in its poses is no momentum.
    scene = pairs()
    trajectory = simulate(scene, 5 * fps, fps, SolverConfig(device="cpu"))
    momentum = pair_momenta(scene, trajectory)
    drift = np.abs(momentum - momentum[0]).max(axis=0)
    for k, kind in enumerate(KINDS):
        name = f"free pair on a {kind} joint, {fps} fps, quality normal"
        figure(name, "worst momentum drift, 5 s", drift[k].max(), 1e-8)
    assert drift.max() < 1e-8
