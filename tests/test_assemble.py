# SPDX-License-Identifier: GPL-3.0-or-later
"""From scene and state to a StepProblem: who moves, what is prescribed, free motion, islands, materials."""

import numpy as np
import pytest
from axion.solver import Body, Box, Joint, MotionPath, Scene, SolverConfig, Sphere
from axion.solver.assemble import Assembler
from axion.solver.collision import Collider
from axion.solver.components import connected_components
from axion.solver.constraints.rows import JointTable
from axion.solver.frames import body_frames
from axion.solver.model import build_model
from axion.solver.numbering import Links, Numbering, held
from axion.solver.problem import JointRows
from axion.solver.state import State
from scenes import GRAVITY, ground
from step_problems import contacts_of, random_pairs

H = 0.05
FLAT = np.tile([0.0, 0.0, 0.0, 1.0], (2, 1))


def scene_of_all_kinds():
    scene = Scene(gravity=(0, 0, -GRAVITY))
    ground(scene, friction=0.9)
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], position=(0, 0, 0.1), friction=0.4, restitution=0.3))
    path = MotionPath([0.0, 1.0], [[5, 0, 5], [7, 0, 5]], FLAT)
    scene.add(Body("Paddle", [Box((0.1, 0.1, 0.1))], motion="kinematic", path=path))
    scene.add(Body("Held", [Sphere(0.1)], path=MotionPath([0.0, 0.5], [[9, 0, 5], [9, 0, 6]], FLAT)))
    scene.add(Body("Bob", [Sphere(0.1)], position=(0, 9, 8)))
    scene.add(Body("Bob 2", [Sphere(0.1)], position=(0, 9, 7)))
    scene.add(Body("Free", [Sphere(0.1)], position=(20, 0, 9), linear_velocity=(1, 2, 3)))
    scene.add(Joint("Pivot", "ball", None, "Bob", (0, 9, 9)))
    scene.add(Joint("Link", "ball", "Bob", "Bob 2", (0, 9, 7.5)))
    return scene


def assembly(scene, time=0.0, config=None):
    frames = body_frames(scene)
    joints = JointTable(scene, frames)
    assembler = Assembler(scene, frames, joints, config or SolverConfig(device="cpu"))
    states = [body.prescribed(time) for body in scene.bodies]
    place, turn, linear, angular = (np.array([state[k] for state in states]) for k in range(4))
    count = len(states)
    learned = np.full(count, 1e-2), np.zeros(count)
    state = State(time, *frames.to_solver(place, turn), np.hstack([linear, angular]), *learned)
    collider = Collider(build_model(scene, "cpu", frames.center))
    velocity = assembler.prescribed_velocity(state, H)
    contacts = collider.collide(place, turn, velocity[:, :3], velocity[:, 3:], H)
    return assembler.build(state, H, contacts, np.zeros((len(contacts), 3)))


def test_dynamic_bodies_come_first_and_the_world_is_last():
    got = assembly(scene_of_all_kinds())
    order = got.numbering.scene
    assert order[: got.numbering.dynamic_count].tolist() == [1, 4, 5, 6]  # Held is still on its path
    assert order[-1] == 7
    assert got.numbering.solver[order].tolist() == list(range(8))
    assert np.isinf(got.problem.bodies.mass[got.numbering.dynamic_count :]).all()
    later = assembly(scene_of_all_kinds(), time=0.5)
    assert later.numbering.scene[: later.numbering.dynamic_count].tolist() == [1, 3, 4, 5, 6]


def test_prescribed_bodies_go_from_where_they_are_to_where_they_will_be():
    got = assembly(scene_of_all_kinds())
    bodies, number = got.problem.bodies, got.numbering.solver
    paddle, held = number[2], number[3]
    assert bodies.free_position[paddle] == pytest.approx([5 + 2 * H, 0, 5])
    assert bodies.velocity[paddle] == pytest.approx([2, 0, 0, 0, 0, 0])
    assert bodies.free_position[held] == pytest.approx([9, 0, 5 + 2 * H])


def test_free_motion_is_that_of_the_end_or_of_the_mean_velocity():
    # midpoint 1 (no contacts): x_free = x + h v + g h^2 / 2; midpoint 0 (touching): x + h (v + h g).
    got = assembly(scene_of_all_kinds())
    bodies, number = got.problem.bodies, got.numbering.solver
    free, box = number[6], number[1]
    assert bodies.midpoint[[free, box]].tolist() == [1.0, 0.0]
    want = np.array([20, 0, 9]) + H * np.array([1, 2, 3]) - 0.5 * GRAVITY * H**2 * np.array([0, 0, 1])
    assert bodies.free_position[free] == pytest.approx(want)
    assert bodies.free_position[box] == pytest.approx([0, 0, 0.1 - GRAVITY * H**2])
    assert got.end_velocity[free, :3] == pytest.approx([1, 2, 3 - GRAVITY * H])


def test_only_what_a_contact_holds_is_taken_by_backward_euler():
    # A ball 1 mm above the ground is in a contact list but falls freely for now: it keeps the mean velocity.
    scene = Scene(gravity=(0, 0, 0))
    ground(scene)
    scene.add(Body("Above", [Sphere(0.1)], position=(0, 0, 0.101)))
    scene.add(Body("Coming", [Sphere(0.1)], position=(1, 0, 0.101), linear_velocity=(0, 0, -1)))
    scene.add(Body("Hanging", [Sphere(0.1)], position=(1, 0, 1)))
    scene.add(Joint("Rod", "ball", "Coming", "Hanging", (1, 0, 0.5)))
    got = assembly(scene)
    assert len(got.problem.contacts) == 2 and got.pressed.sum() == 1
    above, coming, hanging = got.numbering.solver[1:4]
    assert got.problem.bodies.midpoint[[above, coming, hanging]].tolist() == [1.0, 0.0, 0.0]


def test_islands_know_their_joints_and_contacts():
    got = assembly(scene_of_all_kinds())
    number = got.numbering.solver
    box, bob, bob2, free = (got.island[number[i]] for i in (1, 4, 5, 6))
    assert len({box, bob, free}) == 3 and bob == bob2
    assert got.island_jointed[[box, bob, free]].tolist() == [False, True, False]


def test_contacts_combine_materials_by_the_scenes_rule():
    # geometric mean of 0.9 and 0.4; max of 0 and 0.3.
    got = assembly(scene_of_all_kinds())
    assert len(got.problem.contacts) == 4
    assert got.problem.contacts.friction == pytest.approx(np.full(4, 0.6))
    assert got.problem.contacts.restitution == pytest.approx(np.full(4, 0.3))


def test_joints_of_held_bodies_wait():
    scene = scene_of_all_kinds()
    scene.add(Joint("Waiting", "ball", None, "Held", (9, 0, 5)))
    assert len(assembly(scene).problem.joints) == 6
    assert len(assembly(scene, time=0.5).problem.joints) == 9


@pytest.mark.parametrize("seed", range(30))
def test_held_is_what_joints_and_pressed_contacts_link_to_a_pressed_contact(seed):
    # Against the definition: components of joints and pressed contacts together, marked where one has a contact.
    rng = np.random.default_rng(seed)
    bodies, n = 14, 11
    free = rng.permutation(np.arange(bodies) < n)
    number = Numbering.of(free)
    fixed = JointRows.of(7)
    fixed.joint = np.array([0, 0, 1, 2, 2, 3, 4])
    a, b = (side[fixed.joint] for side in random_pairs(rng, 5, n, bodies + 1))
    fixed.body_a, fixed.body_b = number.scene[a], number.scene[b]
    alive = rng.random(5) < 0.7
    links = Links.of(fixed, alive, number)
    holds = alive[fixed.joint]
    assert links.a.tolist() == a[holds].tolist() and links.b.tolist() == b[holds].tolist()
    assert links.joint.tolist() == fixed.joint[holds].tolist()
    of_body = [
        {joint for *ends, joint in zip(links.a, links.b, links.joint, strict=True) if body in ends}
        for body in range(bodies + 1)
    ]
    assert links.wheels.tolist() == [len(joints) == 1 for joints in of_body]
    with_limits = Links.of(fixed, alive, number, limits=np.array([2, 5])).wheels
    limited = {fixed.joint[2], fixed.joint[5]}
    assert with_limits.tolist() == [len(joints) == 1 and not joints & limited for joints in of_body]
    i, j = random_pairs(rng, 6, n, bodies + 1)
    blank = np.zeros((6, 3))
    contacts, pressed = contacts_of(i, j, blank, blank, blank), rng.random(6) < 0.4
    first, second = np.append(a[holds], i[pressed]), np.append(b[holds], j[pressed])
    linked = (first < n) & (second < n)
    group = connected_components(n, first[linked], second[linked])
    passed = rng.random(5) < 0.3  # joints beyond a limit
    back = passed[fixed.joint[holds]]
    ends = np.concatenate([i[pressed], j[pressed], a[holds][back], b[holds][back]])
    marked = {group[k] for k in ends if k < n}
    found = held(links, contacts, pressed, passed)
    assert found[:n].tolist() == [label in marked for label in group] and not found[n:].any()


def test_what_is_kept_follows_who_moves_and_which_joints_hold():
    # One Assembler through a release, a broken joint and bodies at rest: each time what a fresh one would say.
    scene = scene_of_all_kinds()
    scene.add(Joint("Waiting", "ball", None, "Held", (9, 0, 5)))
    frames = body_frames(scene)
    config, joints = SolverConfig(device="cpu"), JointTable(scene, frames)
    collider = Collider(build_model(scene, "cpu", frames.center))
    kept = Assembler(scene, frames, joints, config)
    resting = np.arange(len(scene.bodies)) == 1
    for time, alive, asleep in (
        (0.0, [1, 1, 1], None), (0.5, [1, 1, 1], None), (0.5, [1, 0, 1], None), (0.5, [1, 0, 1], resting),
        (0.0, [1, 1, 1], None), (0.0, [0, 0, 0], resting),
    ):  # fmt: skip
        joints.alive = np.array(alive, bool)
        fresh = Assembler(scene, frames, joints, config)
        poses = [body.prescribed(time) for body in scene.bodies]
        place, turn, linear, angular = (np.array([state[k] for state in poses]) for k in range(4))
        velocity = np.hstack([linear, angular])
        state = State(time, *frames.to_solver(place, turn), velocity, np.full(len(poses), 1e-2), np.zeros(len(poses)))
        contacts = collider.collide(place, turn, linear, angular, H)
        contacts = contacts.take(np.full(len(contacts), asleep is None))
        for step in (H, 0.5 * H):
            got, want = (
                each.build(state, step, contacts, np.ones((len(contacts), 3)))
                for each in (kept, fresh)
                if setattr(each, "asleep", asleep) is None
            )
            assert got.numbering.scene.tolist() == want.numbering.scene.tolist()
            assert np.array_equal(got.row_number, want.row_number) and np.array_equal(got.island, want.island)
            for part in ("bodies", "contacts", "joints"):
                first, second = (vars(getattr(each.problem, part)) for each in (got, want))
                for name, values in first.items():
                    assert np.array_equal(values, second[name]), (time, alive, part, name)
        held = {1, 2, 3} if time == 0.0 and asleep is not None else set()
        assert not held & set(got.numbering.scene[: got.numbering.dynamic_count].tolist())
