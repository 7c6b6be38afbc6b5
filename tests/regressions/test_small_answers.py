# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers and values that are falsy or empty in an unusual way are still taken at their word."""

import numpy as np
from axion.solver import Body, Joint, Scene, SolverConfig, Sphere, simulate, validate
from scenes import falling


def test_numpy_false_from_on_frame_ends_the_simulation():
    # Comparisons of arrays answer numpy.False_, which is not the object False: it ends the simulation all the same.
    times = []

    def on_frame(result):
        times.append(result.time)
        return np.False_ if len(times) == 2 else np.True_

    simulate(falling(), 6, config=SolverConfig(device="cpu", substeps=1), on_frame=on_frame)
    assert len(times) == 2


def test_a_distance_joint_between_coincident_anchors_is_refused_and_a_rope_is_not():
    # |a - b| has no gradient where a = b, so a distance of nothing has no direction to act along.  A rope of some
    # length hangs slack there and needs none.
    def problems(kind):
        scene = Scene()
        scene.add(Body("Ball", [Sphere(0.1)]))
        scene.add(Joint("Link", kind, None, "Ball", anchors=((0, 0, 0), (0, 0, 0)), length=0.5))
        return validate(scene)

    assert any("same point" in str(problem) for problem in problems("distance"))
    assert not problems("rope")
