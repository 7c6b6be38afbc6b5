# SPDX-License-Identifier: GPL-3.0-or-later
"""Violent scenes: falling piles, walls that are struck, ragdolls on stairs, a bridge on redundant joints under load.

No closed form tells where the bodies go; what must hold is that they stay solid and joined, that none is lost, and that
nothing but gravity does work: no collider moves, contacts with e = 0 and rigid joints only take energy away.
"""

import numpy as np
import pytest
from axion.solver import SolverConfig, simulate
from figures import figure
from judges import anchor_distances, energies, largest_rise, overlaps
from table_scenes import dropped_pile, ragdolls, rope_bridge, struck_wall, tumbling_pile, wrecking_ball

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
SCENES = {  # builder, frames, what one frame counts in the search for overlaps
    "pile of 64": (lambda: tumbling_pile(64), 72, 1),
    "pile of 125": (lambda: dropped_pile(125), 120, 2),
    "10 ragdolls on stairs": (lambda: ragdolls(10), 72, 1),
    "wrecking ball": (wrecking_ball, 48, 1),
    "rope bridge": (rope_bridge, 48, 1),
    "wall under a ball of 2 t": (lambda: struck_wall(6, 8), 24, 1),
    "wall of 180 bricks": (struck_wall, 12, 1),
}


@pytest.fixture(scope="module")
def motion():
    """The scene and trajectory of a name and a number of substeps, simulated once."""
    known = {}

    def run(name, substeps="auto"):
        if (name, substeps) not in known:
            scene, config = SCENES[name][0](), SolverConfig(device="cpu", substeps=substeps)
            known[name, substeps] = scene, simulate(scene, SCENES[name][1], config=config)
        return known[name, substeps]

    return run


def titled(name, substeps):
    """The name of a scene for its figures."""
    return f"{name}, one step a frame" if substeps == 1 else name


def within(report, bound=FAST):
    """Whether a frame's overlap and residuals, velocities times the length of their step, are within ``bound`` [m]."""
    return report.converged or max(report.residual, report.penetration) <= bound


@pytest.mark.slow
@pytest.mark.parametrize("substeps", ["auto", 1])
@pytest.mark.parametrize("name", SCENES)
def test_frames_keep_the_laws(name, substeps, motion):
    # >= 99 % of the frames within 1e-4 m, where one step a frame is asked for, too.
    trajectory = motion(name, substeps)[1]
    name = titled(name, substeps)
    bad = sum(not within(report) for report in trajectory.reports)
    solves = np.mean([report.substeps for report in trajectory.reports])
    figure(name, "frames off by more than 1e-4 m", bad, f"1 % of {len(trajectory.reports)}")
    figure(name, "frames that missed their tolerance", sum(not r.converged for r in trajectory.reports), "")
    figure(name, "solves a frame", solves, "")
    assert bad <= 0.01 * len(trajectory.reports)


@pytest.mark.slow
@pytest.mark.parametrize("substeps", ["auto", 1])
@pytest.mark.parametrize("name", SCENES)
def test_bodies_stay_solid_and_joined(name, substeps, motion):
    # Told from the poses alone: overlap of the true shapes, and the distance of each ball's two anchors.
    scene, trajectory = motion(name, substeps)
    depth = overlaps(scene, trajectory, range(1, len(trajectory.times), SCENES[name][2]))
    name = titled(name, substeps)
    figure(name, "deepest overlap", depth.max(), 1e-3, "m")
    figure(name, "frames with overlap above 1e-4 m", (depth > FAST).sum(), f"1 % of {len(depth)}")
    assert (depth > FAST).sum() <= 0.01 * len(depth)
    assert depth.max() < 1e-3
    if scene.joints:
        apart = anchor_distances(scene, trajectory).max()
        figure(name, "widest joint", apart, FAST, "m")
        assert apart < FAST


@pytest.mark.slow
@pytest.mark.parametrize("substeps", ["auto", 1])
@pytest.mark.parametrize("name", SCENES)
def test_energy_only_falls_and_no_body_is_lost(name, substeps, motion):
    scene, trajectory = motion(name, substeps)
    free = [i for i, body in enumerate(scene.bodies) if body.motion == "dynamic"]
    weight, place = 9.81 * sum(scene.bodies[i].mass for i in free), trajectory.position[:, free]
    rise, most = largest_rise(energies(scene, trajectory)), 0.1 * weight * FAST
    title = titled(name, substeps)
    figure(title, "energy rise", rise, most, "J")
    figure(title, "lowest middle of a body", place[..., 2].min(), 0.0, "m")
    assert np.all(np.isfinite(place)) and np.all(np.isfinite(trajectory.linear_velocity))
    assert place[..., 2].min() > 0.0 and np.abs(place).max() < 20.0
    assert rise < most  # each body lifted by a tenth of the tolerance, all at once
    if name == "rope bridge":  # it carries its load: none fell through it or off it, onto the ground
        loads = trajectory.position[:, [i for i in free if scene.bodies[i].name.startswith("Load")]]
        assert figure(title, "lowest load", loads[..., 2].min(), "> 1", "m") > 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "most"), [("wall of 180 bricks", 7500), ("10 ragdolls on stairs", 27000)])
def test_rounds_begin_where_the_last_ones_ended(name, most, motion):
    # Newton takes 5000 and 21 000 iterations; 10 200 and 32 700 where rounds on cones or with joints assume nothing,
    # eps grows by a factor of two, and rounds that repeat themselves go on.
    taken = sum(report.newton_iterations for report in motion(name)[1].reports)
    assert figure(name, "Newton iterations", taken, most, "") < most
