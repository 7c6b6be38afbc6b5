# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that a body turned too far in: what tells them."""

from types import SimpleNamespace

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Scene, SolverConfig, Sphere, redetect, simulate
from axion.solver.passing import came_through
from axion.solver.plausible import PairOverlap, pair_number
from axion.solver.problem import JointRows, StepProblem
from axion.solver.rotations import IDENTITY
from judges import energies, largest_rise
from step_problems import bodies_of, contacts_of

CPU = SolverConfig(device="cpu")
STEP = 0.02


def one_above_another(gap):
    """Body 0 above the immovable body 1, one contact that points up."""
    bodies = bodies_of(
        [1.0, np.inf], [[0.1] * 3, [np.inf] * 3], [[0, 0, 1], [0, 0, 0]], [[0, 0, 0, 1]] * 2,
        [[0, 0, -1, 0, 0, 0], [0] * 6], STEP, gravity=(0, 0, 0),
    )  # fmt: skip
    contacts = contacts_of([0], [1], [[0, 0, -1.0 + gap]], [[0, 0, 0]], [[0, 0, 1.0]])
    contacts.start_gap = np.array([gap])
    return StepProblem(STEP, bodies, contacts, JointRows.empty())


def assembly_of(contacts, bodies):
    """What of an Assembly is asked for, of bodies that have the numbers of the scene."""
    sides, numbering = (contacts.body_a, contacts.body_b), SimpleNamespace(scene=np.append(np.arange(bodies), -1))
    overlap = PairOverlap(*sides, contacts.start_gap, bodies)
    problem = SimpleNamespace(contacts=contacts, bodies=SimpleNamespace(dynamic_count=bodies), step=0.01)
    pairs = pair_number(*sides, bodies)
    return SimpleNamespace(problem=problem, sides=sides, overlap=overlap, numbering=numbering, pairs=pairs)


def told_of(assembly, end):
    """``came_through`` of what overlaps at the end and did not at the start."""
    deep = np.flatnonzero(end.gap < 0.0)
    new = deep[assembly.overlap.of(end.body_a[deep], end.body_b[deep]) == 0.0]
    bodies = assembly.problem.bodies.dynamic_count
    end.pair = pair_number(end.body_a, end.body_b, bodies)  # each body has one shape
    places, turns = np.zeros((bodies + 1, 3)), np.tile(IDENTITY, (bodies + 1, 1))
    solution = SimpleNamespace(position=places, orientation=turns, velocity=np.zeros((bodies + 1, 6)))
    sizes = {"body_radius": np.ones(bodies), "shape_half": np.ones((bodies, 3)), "shapes": [None] * bodies}
    sizes["balls"] = np.zeros(bodies, bool)
    model = SimpleNamespace(movable=np.ones(bodies, bool), body_mesh=np.zeros(bodies, bool), compounds=[], **sizes)
    return came_through(assembly, solution, end, new, model, 0.0)


class Found(SimpleNamespace):
    def __len__(self):
        return len(self.gap)


@pytest.mark.parametrize(
    ("start", "normal", "swap", "through"),
    [
        (0.1, (0, 0, -1), False, True),
        (0.1, (0, 0, 1), True, True),  # the same, with the bodies the other way round
        (0.1, (0, 0, 1), False, False),
        (0.1, (1, 0, 0), False, False),  # off an edge
        (-0.1, (0, 0, -1), False, False),  # overlapped before
    ],
)
def test_what_points_to_the_far_side_came_through(start, normal, swap, through):
    assembly = assembly_of(one_above_another(start).contacts, 2)
    first, second = ([1], [0]) if swap else ([0], [1])
    end = Found(
        gap=np.array([-0.05]), normal=np.array([normal], float), body_a=np.array(first), body_b=np.array(second)
    )
    assert told_of(assembly, end).tolist() == [through]


def test_pairs_are_told_apart_and_every_contact_of_the_start_counts():
    """Many contacts of few pairs, in any order and with either body first, against the words pair by pair."""
    rng = np.random.default_rng(3)
    count, bodies = 12, 4
    fell = 0
    for _ in range(20):
        axes = np.repeat(np.eye(3), 2, axis=0) * np.tile([1.0, -1.0], 3)[:, None]
        pairs = np.array([rng.choice(bodies, 2, replace=False) for _ in range(2 * count)])
        normal = axes[rng.integers(6, size=2 * count)]
        start, gap = rng.choice([-0.01, 0.1, 0.2], count, p=[0.02, 0.49, 0.49]), rng.normal(size=count)
        before, after = pairs[:count], pairs[count:]
        zero = np.zeros((count, 3))
        contacts = contacts_of(*before.T, zero, zero, normal[:count])
        contacts.start_gap = start
        end = Found(gap=gap, normal=normal[count:], body_a=after[:, 0], body_b=after[:, 1])
        told = told_of(assembly_of(contacts, bodies), end)
        expected = np.zeros(count, bool)
        for k in np.flatnonzero(gap < 0.0):
            same = [j for j in range(count) if set(before[j]) == set(after[k])]
            turned = [1.0 if (before[j] == after[k]).all() else -1.0 for j in same]
            cosines = [sign * normal[j] @ end.normal[k] for j, sign in zip(same, turned, strict=True)]
            expected[k] = same and min(start[same]) > 0.0 and max(cosines) < -0.1
        assert told.tolist() == expected.tolist()
        fell += int(expected.sum())
    assert fell > 5


@pytest.mark.parametrize("shape", [Sphere(0.1), Capsule(0.02, 0.1), Box((0.02, 0.05, 0.1))])
def test_spinning_body_that_falls_on_the_ground_gains_nothing(shape):
    # Two radians a frame and more, on a body much longer than thick: levers and inertia turn within the step.
    scene = Scene()
    scene.add(Body("Ground", [Box((5, 5, 0.5), position=(0, 0, -0.5))], motion="static"))
    scene.add(Body("Body", [shape], position=(0, 0, 0.6), angular_velocity=(50, 20, 30), linear_velocity=(1, 0, -3)))
    energy = energies(scene, simulate(scene, 24, config=CPU))
    weight = 9.81 * scene.bodies[1].mass_properties()[0]
    assert largest_rise(energy) < weight * CPU.tolerances()[1]  # lifted by the tolerance


def test_who_goes_the_same_way_is_not_looked_at_again(monkeypatch):
    """Rods that spin about in each other's way: asked once more, all keep their answer, and nothing is detected."""
    seen, alone, look = [], [], redetect.passed

    def twice(assembly, solution, collider, frames, assembler, tolerance, free, bad, before):
        where = frames, assembler, tolerance, free
        found = look(assembly, solution, collider, *where, bad, before)
        blind = SimpleNamespace(model=collider.model)
        same = look(assembly, solution, blind, *where, bad, (found, np.ones(len(free), bool)))
        fresh = look(assembly, solution, collider, *where, bad, (found, np.zeros(len(free), bool)))
        if assembler.carried is None:  # those that go along are not solved, but may be met
            assert not len(look(assembly, solution, blind, *where, np.ones_like(bad), None))
            alone.append(True)
        np.testing.assert_array_equal(same, found)
        if before is None:  # of those that kept theirs the looks were others
            np.testing.assert_array_equal(fresh, found)
        seen.append((len(found), before is not None))
        return found

    monkeypatch.setattr(redetect, "passed", twice)
    scene, draw = Scene(gravity=(0, 0, 0)), np.random.default_rng(0)
    for k in range(8):
        place, spin = (0.45 * (k % 2), 0.45 * (k // 2 % 2), 0.45 * (k // 4)), 40.0 * draw.normal(size=3)
        scene.add(Body(f"Rod {k}", [Box((0.02, 0.03, 0.4))], position=place, angular_velocity=spin))
    trajectory = simulate(scene, 6, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    assert any(count for count, _ in seen) and any(later for _, later in seen) and alone


def test_what_touches_is_not_looked_at(monkeypatch):
    """A slab that spins on the ground, 1.7 rad a frame: that they met is no answer, whatever looks would find."""
    turned, look = [], redetect.passed

    def blindly(assembly, solution, collider, frames, *others):
        turned.append(np.linalg.norm(solution.velocity[0, 3:]) * assembly.problem.step)
        return look(assembly, solution, SimpleNamespace(model=collider.model), frames, *others)

    monkeypatch.setattr(redetect, "passed", blindly)
    scene = Scene()
    scene.add(Body("Ground", [Box((5, 5, 0.5), position=(0, 0, -0.5))], motion="static", friction=0.0))
    scene.add(Body("Slab", [Box((0.1, 0.1, 0.02))], position=(0, 0, 0.02), angular_velocity=(0, 0, 40.0), friction=0.0))
    assert simulate(scene, 1, config=SolverConfig(device="cpu", substeps=1)).reports[0].converged
    assert max(turned) > 1.0
