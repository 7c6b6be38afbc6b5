# SPDX-License-Identifier: GPL-3.0-or-later
"""What contacts carried that only showed at a step's end is what the next step starts from, as of all others."""

import numpy as np
import pytest
from axion.solver import Body, Scene, SolverConfig, Sphere, simulate
from axion.solver.frames import BodyFrames
from axion.solver.late_forces import LateForces
from axion.solver.position_phase import PositionPhase
from axion.solver.problem import world_impulses
from axion.solver.step import Stepper
from contact_scenes import detect, grid, rock, set_up

CPU = SolverConfig(device="cpu", substeps=1)


def hills(x, y):
    return 0.15 * np.sin(2.0 * x) * np.cos(1.7 * y)


def rocks():
    """Hulls that tumble on hills of triangles."""
    scene, random = Scene(), np.random.default_rng(3)
    scene.add(Body("Floor", [grid(32, 2.0, hills)], motion="static"))
    for k in range(6):
        turn = random.normal(size=4)
        place, spin = (0.5 * (k % 3), 0.5 * (k // 3), 0.4), 3.0 * random.normal(size=3)
        pose = {"position": place, "orientation": turn / np.linalg.norm(turn)}
        scene.add(Body(f"Rock {k}", [rock(24, k)], angular_velocity=spin, mass=1.0, **pose))
    return scene


def of_pairs(assembly, impulse):
    """{(body, body): (3,) sum of world impulses (C, 3) on the first one} of the contacts of an Assembly."""
    contacts, order, total = assembly.problem.contacts, assembly.numbering.scene, {}
    for a, b, each in zip(order[contacts.body_a], order[contacts.body_b], impulse, strict=True):
        total[a, b] = total.get((a, b), 0.0) + each
    return total


def test_a_step_starts_from_what_its_pairs_carried_before(monkeypatch):
    """The sum of what a pair carries stays from step to step, as long as the pair touches: contacts that only showed at
    the end of the last step are no exception.  Failed where they were forgotten.
    """
    carried, late, checked = {}, 0, 0
    solve, accept = PositionPhase.solve, Stepper._accept

    def begin(phase, assembly, *rest):
        nonlocal checked
        starts = of_pairs(assembly, assembly.problem.contacts.impulse)
        for pair, impulse in starts.items():
            if pair in carried:
                np.testing.assert_allclose(impulse, carried[pair], rtol=1e-9, atol=1e-12)
                checked += 1
        return solve(phase, assembly, *rest)

    def end(stepper, attempt):
        nonlocal late
        assembly, solution = attempt.assembly, attempt.solution
        carried.clear()
        carried.update(of_pairs(assembly, world_impulses(assembly.problem.contacts.normal, solution.contact_impulse)))
        late += bool(solution.contact_impulse[len(assembly.contacts) :].any())
        accept(stepper, attempt)

    monkeypatch.setattr(PositionPhase, "solve", begin)
    monkeypatch.setattr(Stepper, "_accept", end)
    monkeypatch.setattr(Stepper, "_advance", lambda self, step, depth: whole_step(self, step))
    simulate(rocks(), 24, config=CPU)
    assert checked > 50 and late > 5


def whole_step(stepper, step):
    """A step that is never halved, for the lengths of steps to stay the same."""
    attempt = stepper._attempt(step, stepper.deepest)
    if attempt.again:
        return whole_step(stepper, step)
    stepper._accept(attempt)
    return [attempt.outcome()]


def test_a_force_goes_to_the_nearest_contact_of_its_pair():
    """Whatever order shapes are in; of a pair that has parted nothing is left."""
    bodies = [Body("Floor", [grid(4)], motion="static")]
    bodies += [Body(f"Ball {k}", [Sphere(0.1)], position=(0.5 * k, 0.1, 0.1)) for k in range(2)]
    collider, place, turn = set_up(*bodies)
    contacts = detect(collider, place, turn)
    ball = np.maximum(contacts.body_a, contacts.body_b)
    nearest = contacts.take([np.flatnonzero(ball == k)[0] for k in (2, 1)])
    force = np.array([[0.0, 0.0, 3.0], [1.0, 0.0, 2.0], [0.0, 1.0, 0.5]])
    both = [0, 1, 1]
    late = LateForces(*(getattr(nearest, name)[both] for name in ("body_a", "body_b", "point_a", "point_b")), force)
    laid = late.laid_on(contacts, 3)
    assert np.array_equal(laid[np.flatnonzero(ball == 2)[0]], force[0])
    assert np.array_equal(laid[np.flatnonzero(ball == 1)[0]], force[1] + force[2])
    assert np.array_equal(laid.sum(axis=0), force.sum(axis=0))
    assert np.array_equal(late.laid_on(contacts.take(ball == 1), 3).sum(axis=0), force[1] + force[2])
    assert late.laid_on(contacts.take(ball == 0), 3).shape == (0, 3)


@pytest.mark.parametrize("principal", [(0.0, 0.0, 0.0, 1.0), (0.5, 0.5, 0.5, 0.5)])
def test_points_come_back_from_the_solver_frames(principal):
    center, point = np.array([[0.1, -0.2, 0.3]]), np.array([[0.4, 0.5, 0.6]])
    frames = BodyFrames(np.ones(1), np.ones((1, 3)), center, np.array([principal]))
    body = np.zeros(1, int)
    np.testing.assert_allclose(frames.outward(body, frames.local(body, point)), point, atol=1e-15)
