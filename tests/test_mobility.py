# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes along with a damped coordinate (constraints/mobility.py): closed forms, and the dense formula."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, Scene, rotations
from axion.solver.constraints.mobility import Held, matters, with_what_goes_along
from axion.solver.constraints.rows import JointTable
from axion.solver.frames import body_frames
from axion.solver.reference.rows import jacobians
from step_problems import unit

DAMPED = {"damping": 1e3}


def found_of(scene):
    """(J M^-1 J^T alone, that with what is held) of the only damped row, where the scene starts."""
    frames = body_frames(scene)
    table = JointTable(scene, frames)
    position, orientation = frames.to_solver(
        np.array([body.position for body in scene.bodies]), np.array([body.orientation for body in scene.bodies])
    )
    table.observe(position, orientation, np.zeros((len(position), 6)))
    k = [k for k, ask in enumerate(table._asks) if ask.axis is not None and ask.axis.damping > 0.0]
    (k,) = k
    pose = np.vstack([position, np.zeros(3)]), np.vstack([orientation, rotations.IDENTITY])
    rows = table.fixed.take([k])
    j_a, j_b = jacobians(rows, *pose)
    inverse = np.zeros((len(frames.mass) + 1, 6))
    inverse[:-1, :3] = 1.0 / frames.mass[:, None]
    inverse[:-1, 3:] = 1.0 / frames.inertia
    own = 0.0
    for j, body in ((j_a[0], rows.body_a[0]), (j_b[0], rows.body_b[0])):
        turn = rotations.rotate(rotations.conjugate(pose[1][body]), j[3:])
        own += inverse[body] @ np.append(j[:3], turn) ** 2
    return own, table.start.mobility[k]


def test_door_turns_about_its_edge():
    # Moment m (a^2 + b^2) / 3 + m r^2 about the hinge, of which the row alone knows the first part.
    scene = Scene()
    scene.add(Body("Door", [Box((0.5, 0.05, 1.0))], mass=20.0, position=(0.5, 0, 0)))
    scene.add(Joint("Hinge", "hinge", None, "Door", (0, 0, 0), axes={"rz": Axis(**DAMPED)}))
    own, found = found_of(scene)
    middle = 20.0 / 3.0 * (0.5**2 + 0.05**2)
    assert own == pytest.approx(1.0 / middle)
    assert found == pytest.approx(1.0 / (middle + 20.0 * 0.5**2), rel=1e-6)


def test_slider_on_a_shaft_that_is_held_moves_alone():
    scene = Scene()
    scene.add(Body("Shaft", [Box((0.01, 0.01, 0.5))], mass=0.3))
    scene.add(Body("Slider", [Box((0.05, 0.05, 0.05))], mass=3.0))
    scene.add(Joint("Bearing", "hinge", None, "Shaft", (0, 0, 0.5)))
    frame = rotations.exponential(np.array([0.0, -np.pi / 2, 0.0]))  # X along the world's Z
    scene.add(Joint("Guide", "slider", "Shaft", "Slider", (0, 0, 0), frame, axes={"x": Axis(**DAMPED)}))
    own, found = found_of(scene)
    assert own == pytest.approx(1.0 / 0.3 + 1.0 / 3.0)
    assert found == pytest.approx(1.0 / 3.0, rel=1e-6)


def test_two_free_bodies_on_a_slider_keep_their_reduced_mass():
    scene = Scene()
    for name, x, mass in (("A", -1.0, 2.0), ("B", 1.0, 3.0)):
        scene.add(Body(name, [Box((0.1, 0.1, 0.1))], mass=mass, position=(x, 0, 0)))
    scene.add(Joint("Rail", "slider", "A", "B", (0, 0, 0), axes={"x": Axis(**DAMPED)}))
    own, found = found_of(scene)
    assert own == pytest.approx(1.0 / 2.0 + 1.0 / 3.0) and found == pytest.approx(own, rel=1e-6)


def chain(joints, redundant=False):
    """Boxes of random mass and pose, linked in a row and to the world by hinges; the last one damped."""
    rng = np.random.default_rng(4)
    scene = Scene()
    for k in range(joints):
        scene.add(
            Body(f"{k}", [Box(rng.uniform(0.05, 0.3, 3))], mass=rng.uniform(0.5, 5.0), position=rng.normal(size=3),
                 orientation=unit(rng, 1, 4)[0])
        )  # fmt: skip
        axes = {"rz": Axis(**DAMPED)} if k == joints - 1 else {}
        place, turn = rng.normal(size=3), unit(rng, 1, 4)[0]
        scene.add(Joint(f"{k}", "hinge", f"{k - 1}" if k else None, f"{k}", place, turn, axes=axes))
        if redundant and k < joints - 1:
            scene.add(Joint(f"{k} again", "hinge", f"{k - 1}" if k else None, f"{k}", place, turn))
    return scene


@pytest.mark.parametrize("redundant", [False, True])
def test_chain_has_the_mobility_of_the_dense_formula(redundant):
    # 1 / m by the pseudo-inverse over all rigid rows, in body axes; rows twice over change nothing.
    scene = chain(5, redundant)
    frames = body_frames(scene)
    table, count = JointTable(scene, frames), len(scene.bodies)
    pose = frames.to_solver(
        np.array([body.position for body in scene.bodies]), np.array([body.orientation for body in scene.bodies])
    )
    pose = np.vstack([pose[0], np.zeros(3)]), np.vstack([pose[1], rotations.IDENTITY])
    rows = table.fixed
    dense = np.zeros((len(rows), count + 1, 6))
    for j, body in zip(jacobians(rows, *pose), (rows.body_a, rows.body_b), strict=True):
        local = rotations.rotate(rotations.conjugate(pose[1][body]), j[:, 3:])
        dense[np.arange(len(rows)), body] += np.hstack([j[:, :3], local])
    dense = dense[:, :count].reshape(len(rows), -1)
    inverse = np.hstack([np.repeat(1.0 / frames.mass[:, None], 3, 1), 1.0 / frames.inertia]).ravel()
    soft = [k for k, ask in enumerate(table._asks) if ask.axis is not None and ask.axis.damping > 0.0]
    j, g = dense[soft[0]], np.delete(dense, soft, axis=0)
    held = np.linalg.pinv((g * inverse) @ g.T, rcond=1e-11)
    across = (g * inverse) @ j
    want = (j * inverse) @ j - across @ held @ across
    own, found = found_of(scene)
    assert found == pytest.approx(want, rel=1e-5)
    assert found < own


def test_what_is_locked_altogether_keeps_a_little_and_small_dampers_are_not_asked():
    scene = Scene()
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], mass=2.0))
    scene.add(Joint("Hinge", "hinge", None, "Box", (0, 0, 0), axes={"rz": Axis(**DAMPED)}))
    scene.add(Joint("Weld", "fixed", None, "Box", (0, 0, 0)))
    own, found = found_of(scene)
    assert 0.0 < found < 1e-6 * own
    asked = matters(np.array([0.0, 0.0, 1e4]), np.array([1e-2, 1e2, 0.0]), np.ones(3))
    assert asked.tolist() == [False, True, False]


def test_what_has_no_direction_holds_nothing():
    scene = Scene()
    scene.add(Body("Shaft", [Box((0.01, 0.01, 0.5))], mass=0.3))
    scene.add(Body("Wheel", [Box((0.05, 0.05, 0.05))], mass=3.0))
    scene.add(Joint("Bearing", "hinge", None, "Shaft", (0, 0, 0.5), axes={"rz": Axis(**DAMPED)}))
    before = found_of(scene)
    scene.add(Joint("Peg", "distance", "Shaft", "Wheel", anchors=((0, 0, 0.2), (0, 0, 0.2))))
    assert found_of(scene) == pytest.approx(before, rel=1e-9)


def test_large_groups_stay_with_the_row_alone():
    scene = chain(45)  # 225 rigid rows
    frames = body_frames(scene)
    table = JointTable(scene, frames)
    soft = np.array([k for k, ask in enumerate(table._asks) if ask.axis is not None and ask.axis.damping > 0.0])
    held = Held(table.fixed, soft, np.setdiff1d(np.arange(len(table)), soft), frames)
    own = np.array([3.0])
    assert held.mobility(np.zeros((46, 3)), np.tile(rotations.IDENTITY, (46, 1)), own, np.ones(1, bool)) == 3.0


def test_what_goes_along_counts_for_compliance_that_is_firm_without_it_and_that_nothing_locks():
    class AllHeld:
        def mobility(self, position, orientation, own, matters):
            return np.where(matters, own * [0.1, 0.1, 1e-9], own)

    softness, own = np.array([1.0, 1e-3, 1e-3]), np.ones(3)
    found = with_what_goes_along(AllHeld(), softness, own, None, None)
    np.testing.assert_array_equal(found, [1.0, 0.1, 1.0])
    assert with_what_goes_along(None, np.ones(3), own, None, None) is own
