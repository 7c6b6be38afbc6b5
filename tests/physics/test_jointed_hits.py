# SPDX-License-Identifier: GPL-3.0-or-later
"""Jointed bodies rebound wherever in a frame they hit.

Newton's law of impact: a ball on an arm comes back from a wall with e times its speed, and in a Newton's cradle the
ball at one end hands all it has to the one at the other.  Hits in the last part of a frame, which the tangent of the
arc misses, counted as hits without restitution: up to 12 % of them stopped dead, and a cradle lost 83 % in a blow.
"""

import numpy as np
import pytest
from axion.solver import Body, Box, Joint, Scene, SolverConfig, Sphere, simulate
from figures import figure
from scenes import GRAVITY

CPU, FPS = SolverConfig(device="cpu"), 24.0


def hammer(start, spin, restitution):
    """The largest spin that a ball on a hinged arm of 1 m, ``start`` rad before a wall, comes back with [rad/s]."""
    scene, place = Scene(gravity=(0.0, 0.0, 0.0)), np.array([np.cos(start), np.sin(start), 0.0])
    moves = {"linear_velocity": spin * np.array([place[1], -place[0], 0.0]), "angular_velocity": (0.0, 0.0, -spin)}
    material = {"restitution": restitution, "friction": 0.0}
    scene.add(Body("Head", [Sphere(0.1)], position=tuple(place), mass=1.0, **material, **moves))
    scene.add(Joint("Hinge", "hinge", None, "Head", position=(0.0, 0.0, 0.0)))
    scene.add(Body("Wall", [Box((0.5, 0.1, 0.5))], motion="static", position=(1.0, -0.2, 0.0), **material))
    motion = simulate(scene, 6, FPS, config=CPU)
    assert all(report.converged for report in motion.reports)
    return motion.angular_velocity[:, 0, 2].max()


@pytest.mark.parametrize(("spin", "bound"), [(2.0, 0.01), (5.0, 0.03), (10.0, 0.1)])
def test_a_hammer_comes_back_from_a_wall(spin, bound):
    """It hits at 24 moments of a frame; arcs of ``spin`` / 24 rad are told by their tangents, within a bound."""
    phases = np.linspace(2.0, 3.0, 24, endpoint=False)
    back = np.array([hammer(spin * phase / FPS, spin, 0.9) / spin for phase in phases])
    name = f"hammer at {spin:g} rad/s, e = 0.9"
    assert figure(name, "least spin after over before", back.min(), f"0.9 - {bound}") > 0.9 - bound
    assert figure(name, "largest spin after over before", back.max(), f"0.9 + {bound}") < 0.9 + bound


@pytest.mark.parametrize(("balls", "bound"), [(1, 0.05), (2, 0.05), (3, 0.15)])
@pytest.mark.parametrize("kind", ["rope", "hinge"])
def test_a_cradle_goes_on(kind, balls, bound):
    """Five balls, the first ones raised by 0.6 rad: after 4 s, four blows, they have their energy yet.

    Those that swing side by side push each other by rounding: as if that were load, two kept 0.70 and three 0.57.
    """
    radius, length, raised = 0.1, 1.0, 0.6
    scene = Scene(gravity=(0.0, 0.0, -GRAVITY))
    for k in range(5):
        top = np.array([2.0 * radius * k, 0.0, 0.0])
        lean = raised if k < balls else 0.0
        place = top + length * np.array([-np.sin(lean), 0.0, -np.cos(lean)])
        scene.add(Body(f"Ball {k}", [Sphere(radius)], position=tuple(place), mass=1.0, restitution=1.0, friction=0.0))
        if kind == "rope":
            scene.add(Joint(f"Rope {k}", "rope", None, f"Ball {k}", anchors=(tuple(top), tuple(place))))
        else:
            lying = (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))
            scene.add(Joint(f"Hinge {k}", "hinge", None, f"Ball {k}", position=tuple(top), orientation=lying))
    motion = simulate(scene, 96, FPS, config=CPU)
    rest = 5.0 * GRAVITY * -length
    energy = [report.kinetic_energy + report.potential_energy for report in motion.reports]
    kept = (energy[-1] - rest) / (balls * GRAVITY * length * (1.0 - np.cos(raised)))
    kept = figure(f"cradle of five on {kind}s, {balls} raised, 4 s", "energy kept", kept, f"{1.0 - bound:g} to 1.01")
    assert 1.0 - bound < kept < 1.01
    assert all(report.converged for report in motion.reports)
