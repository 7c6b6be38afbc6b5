# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs, drives, compliance and free axes of joints, each against its closed form, several to a scene."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, Scene, SolverConfig, Sphere, rotations, simulate
from figures import figure
from scenes import GRAVITY, downhill, turned

CPU = SolverConfig(device="cpu")
EXACT = SolverConfig(device="cpu", tolerance=1e-9)
SLOW, FAST = CPU.tolerances()
STEP = 1.0 / 24.0
UPWARDS = turned("y", -0.5 * np.pi)  # a joint frame whose X points up
SIDE = 0.2


def cube(scene, name, place=(0, 0, 0), mass=2.0, **options):
    """A cube that collides with nothing: moment of inertia m SIDE^2 / 6."""
    half = [0.5 * SIDE] * 3
    return scene.add(Body(name, [Box(half)], position=place, mass=mass, collision_mask=0, **options))


def twist(trajectory, body, axis):
    """(F + 1,) angle [rad] about a world axis, counted through whole turns."""
    q = trajectory.orientation[:, body]
    return 2.0 * np.unwrap(np.arctan2(q[:, "xyz".index(axis)], q[:, 3]), period=np.pi)


def test_springs_swing_by_the_mid_step_formula():
    # A spring acts at the mean coordinate of the step: each step turns the phase by 2 atan(w h / 2) and keeps the
    # energy, so x_n = v0 / w sin(n 2 atan(w h / 2)).
    k, m = 50.0, 2.0
    moment = m * SIDE**2 / 6.0
    scene = Scene(gravity=(0, 0, 0))
    cube(scene, "Slides", linear_velocity=(1, 0, 0))
    cube(scene, "Turns", (0, 2, 0), angular_velocity=(0, 0, 1))
    scene.add(Joint("Linear", "slider", None, "Slides", axes={"x": Axis(stiffness=k)}))
    scene.add(Joint("Angular", "hinge", None, "Turns", (0, 2, 0), axes={"rz": Axis(stiffness=k * moment / m)}))
    trajectory = simulate(scene, 120, config=EXACT)
    omega, n = np.sqrt(k / m), np.arange(121)
    want = np.sin(2.0 * np.arctan(0.5 * omega * STEP) * n) / omega
    for name, got in (("slider", trajectory.position[:, 0, 0]), ("hinge", twist(trajectory, 1, "z"))):
        off = np.abs(got - want).max()
        assert figure(f"spring on a {name}", "off the mid-step law, 5 s", off, 1e-5, "m or rad") < 1e-5
    energy = np.array([report.kinetic_energy for report in trajectory.reports]).max()
    assert energy < 0.5 * m + 0.5 * moment + 1e-6


def test_position_drive_lags_by_its_load_alone():
    # k (target - x) + d (target' - x') carries m g: on a target that rises steadily the lag is m g / k, whatever d.
    k, d, m, speed = 400.0, 80.0, 2.0, 0.5
    scene = Scene()
    cube(scene, "Lift", mass=m)
    drive = Axis(drive="position", stiffness=k, damping=d, target=([0.0, 4.0], [0.0, 4.0 * speed]))
    scene.add(Joint("Rail", "slider", None, "Lift", orientation=UPWARDS, axes={"x": drive}))
    trajectory = simulate(scene, 72, config=CPU)
    lag = speed * trajectory.times[-1] - trajectory.position[-1, 0, 2]
    want = m * GRAVITY / k
    assert figure("position drive that lifts 2 kg", "lag over m g / k", lag / want, "1 +- 1e-3") == pytest.approx(
        1.0, abs=1e-3
    )


def test_position_drive_within_its_force_falls_behind():
    # max_force 15 N under a weight of 19.62 N: a = -g + F / m.
    scene = Scene()
    cube(scene, "Lift")
    scene.add(
        Joint("Rail", "slider", None, "Lift", orientation=UPWARDS, axes={"x": Axis(drive="position", max_force=15.0)})
    )
    trajectory = simulate(scene, 24, config=CPU)
    acceleration = -GRAVITY + 15.0 / 2.0
    want = 0.5 * acceleration * trajectory.times**2
    off = np.abs(trajectory.position[:, 0, 2] - want).max()
    assert figure("position drive too weak", "off a t^2 / 2", off, 1e-4, "m") < 1e-4


def test_velocity_drive_with_a_gain_lags_exponentially():
    # F = d (target - v): v = target (1 - exp(-d t / m)); with a load F0 it ends at target - F0 / d.
    d, m, target = 4.0, 2.0, 1.5
    error = {}
    for fps in (24, 48):
        scene = Scene()
        cube(scene, "Level", mass=m)
        cube(scene, "Upwards", (0, 2, 0), mass=m)
        axis = {"x": Axis(drive="velocity", damping=d, target=target)}
        scene.add(Joint("Level rail", "slider", None, "Level", axes=axis))
        scene.add(Joint("Upright rail", "slider", None, "Upwards", (0, 2, 0), UPWARDS, axes=axis))
        trajectory = simulate(scene, 4 * fps, fps, CPU)
        level, upwards = trajectory.linear_velocity[:, 0, 0], trajectory.linear_velocity[:, 1, 2]
        error[fps] = np.abs(level - target * -np.expm1(-d * trajectory.times / m)).max()
        figure(f"velocity drive with a gain, {fps} fps", "off target (1 - exp(-d t / m))", error[fps],
               0.5 * d / m / fps * target, "m/s")  # fmt: skip
        assert level[-1] == pytest.approx(target * -np.expm1(-8.0), abs=1e-3)
        assert upwards[-1] == pytest.approx(target - m * GRAVITY / d, rel=2e-3)
        # an implicit step is off by (d h / m)^2 / 2 at most, and what it is off by decays: d h / 2 m of the target
        assert error[fps] < 0.5 * d / m / fps * target
    assert error[24] / error[48] > 1.7


def test_motor_against_a_spring_ends_where_the_two_are_alike():
    # With a gain d where k x = d target; with a largest force F it swings about F / k, no faster than its target.
    gain = Axis(stiffness=8.0, damping=4.0, drive="velocity", target=1.5)
    force = Axis(stiffness=8.0, drive="velocity", target=0.5, max_force=6.0)
    scene = Scene()
    for place, (name, axis) in enumerate({"Gain": gain, "Force": force}.items()):
        cube(scene, name, (0, 2 * place, 0), mass=1.0)
        scene.add(Joint(f"{name} rail", "slider", None, name, (0, 2 * place, 0), axes={"x": axis}))
    trajectory = simulate(scene, 240, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    off = abs(trajectory.position[-1, 0, 0] - 0.75)
    assert figure("motor with a gain against a spring", "off its end d target / k", off, FAST, "m") < FAST
    farthest = trajectory.position[:, 1, 0].max() - 0.75
    assert figure("motor with a largest force against a spring", "farthest over v / omega beyond F / k",
                  farthest / (0.5 / np.sqrt(8.0)), 0.02) == pytest.approx(1.0, abs=0.02)  # fmt: skip


def test_weak_motor_climbs_a_slope_by_newtons_law():
    # On a rail up 30 degrees: a = F / m - g / 2 along it, up to its speed; without a motor it runs down at g / 2.
    rail = turned("y", np.radians(30.0))  # X points down the slope
    scene = Scene()
    cube(scene, "Driven")
    cube(scene, "Free", (0, 2, 0))
    scene.add(
        Joint("Motor", "slider", None, "Driven", orientation=rail,
              axes={"x": Axis(drive="velocity", target=-0.6, max_force=12.0)})
    )  # fmt: skip
    scene.add(Joint("Rail", "slider", None, "Free", (0, 2, 0), rail))
    trajectory = simulate(scene, 36, config=CPU)
    down = downhill(np.radians(30.0))
    driven = trajectory.linear_velocity[:, 0] @ down
    want = np.maximum(-0.6, (0.5 * GRAVITY - 6.0) * trajectory.times)
    off = np.abs(driven - want).max()
    assert figure("weak motor up 30 degrees", "speed off (F / m - g sin) t", off, SLOW / STEP, "m/s") < SLOW / STEP
    way = (trajectory.position[:, 1] - (0, 2, 0)) @ down
    off = np.abs(way - 0.25 * GRAVITY * trajectory.times**2).max()
    assert figure("slider down 30 degrees", "way off g sin t^2 / 2", off, FAST, "m") < FAST


def test_dry_friction_brakes_a_slider_and_then_holds_it():
    # v = v0 - F t / m, then it stands; on a slope it stands where F > m g sin, and runs at g sin - F / m else.
    rail = turned("y", np.radians(30.0))
    scene = Scene()
    cube(scene, "Level", linear_velocity=(1.0, 0, 0))
    cube(scene, "Held", (0, 2, 0))
    cube(scene, "Runs", (0, 4, 0))
    flat = Joint("Level rail", "slider", None, "Level", axes={"x": Axis(friction=3.0)})
    scene.add(flat)
    for name, y, force in (("Held", 2, 10.0), ("Runs", 4, 9.0)):  # m g sin = 9.81 N
        scene.add(Joint(f"{name} rail", "slider", None, name, (0, y, 0), rail, axes={"x": Axis(friction=force)}))
    trajectory = simulate(scene, 48, config=CPU)
    want = np.maximum(0.0, 1.0 - 1.5 * trajectory.times)
    off = np.abs(trajectory.linear_velocity[:, 0, 0] - want).max()
    assert figure("slider with friction 3 N", "speed off v0 - F t / m", off, SLOW / STEP, "m/s") < SLOW / STEP
    creep = np.linalg.norm(trajectory.position[-1, 1] - trajectory.position[24, 1])
    assert figure("slider held by friction at 30 degrees", "creep in 1 s", creep, 1e-5, "m") < 1e-5
    way = np.linalg.norm(trajectory.position[-1, 2] - (0, 4, 0))
    law = 0.5 * (0.5 * GRAVITY - 4.5) * 4.0
    assert figure("slider at 30 degrees, friction 9 N", "way over (g sin - F / m) t^2 / 2", way / law, "1 +- 3e-3") == (
        pytest.approx(1.0, abs=3e-3)
    )


@pytest.mark.parametrize("fps", [24, 96])
def test_dry_friction_holds_an_arm_or_lets_it_fall_as_far_as_its_energy(fps):
    # Out at the horizontal m g L pulls.  Friction of 1.01 times that holds it; of f times that it lets the arm fall
    # until m g L (sin a - f a) is used up, and then holds it.  The way of a step is a chord, (w h)^2 / 12 too short,
    # and the arm stands at the end of a step.
    length, mass, radius, h = 0.5, 2.0, 0.1, 1.0 / fps
    pull, moment = mass * GRAVITY * length, mass * (length**2 + 0.4 * radius**2)
    falls = {0.5: 1.8954942670, 0.9: 0.7866830720}  # f -> a > 0 with sin a = f a
    scene = Scene()
    for k, share in enumerate((1.01, *falls)):
        name, at = f"{share:g}", (0.0, 2.0 * k, 0.0)
        scene.add(Body(name, [Sphere(radius)], position=(length, 2.0 * k, 0), mass=mass))
        axes = {"rz": Axis(friction=share * pull)}
        scene.add(Joint(name, "hinge", None, name, at, turned("x", -0.5 * np.pi), axes=axes))
    trajectory = simulate(scene, 4 * fps, fps, CPU)
    assert all(report.converged for report in trajectory.reports)
    angle = np.arctan2(-trajectory.position[..., 2], trajectory.position[..., 0])
    moved = length * np.abs(angle[:, 0]).max()
    name = f"arm with friction, {fps} fps"
    assert figure(name, "moved under 0.99 of it, 4 s", moved, 10.0 * SLOW, "m") < 10.0 * SLOW
    for k, (share, end) in enumerate(falls.items(), 1):
        assert np.sin(end) == pytest.approx(share * end, abs=1e-9)
        fastest = 2.0 * pull / moment * (np.sin(np.arccos(share)) - share * np.arccos(share))  # w^2
        braking = pull / moment * (share - np.cos(end))
        bound = end * fastest * h**2 / 12.0 + braking * h**2 / 2.0
        off = abs(angle[-1, k] - end)
        assert figure(name, f"stands off sin a = {share:g} a", off, bound, "rad") < bound
        still = length * np.abs(angle[-fps:, k] - angle[-1, k]).max()
        assert figure(name, f"moved in the last second, {share:g}", still, 2.0 * SLOW, "m") < 2.0 * SLOW


def test_compliant_joints_give_way_by_force_times_compliance():
    # At rest: m g c along the weight for every kind that carries it; m g L c_angular about a bracket's root, for every
    # kind that locks the turn.
    c, m, arm = 2e-4, 2.0, 0.5
    scene = Scene()
    locks = {"generic": {"axes": {axis: Axis(locked=True) for axis in ("x", "y", "z", "rx", "ry", "rz")}}}
    kinds = ("fixed", "ball", "hinge", "slider", "piston", "generic", "distance", "rope")
    for k, kind in enumerate(kinds):
        place, options = np.array([0.0, 2.0 * k, 0.0]), {"compliance": c, **locks.get(kind, {})}
        cube(scene, kind, place, mass=m, linear_damping=15.0, angular_damping=15.0)
        if kind in ("distance", "rope"):
            options["anchors"] = (place + (0, 0, 1), place)
        scene.add(Joint(f"Joint {kind}", kind, None, kind, place, **options))
    twist_compliance, brackets = 1e-3, ("fixed", "hinge", "slider", "piston", "generic")
    for k, kind in enumerate(brackets):
        cube(scene, f"{kind} beam", (arm, 2 * k, 5), mass=m, linear_damping=15.0, angular_damping=15.0)
        options = {"angular_compliance": twist_compliance, **locks.get(kind, {})}
        scene.add(Joint(f"{kind} bracket", kind, None, f"{kind} beam", (0, 2 * k, 5), **options))
    trajectory = simulate(scene, 96, config=CPU)
    assert np.abs(trajectory.linear_velocity[-1]).max() < 1e-3
    for k, kind in enumerate(kinds):
        sag = -trajectory.position[-1, k, 2]
        want = m * GRAVITY * c
        assert figure(f"compliant {kind} joint", "sag over m g c", sag / want, "1 +- 0.01") == pytest.approx(
            1.0, abs=0.01
        )
    want = m * GRAVITY * arm * twist_compliance
    for k, kind in enumerate(brackets):
        turn = twist(trajectory, len(kinds) + k, "y")[-1]
        name = f"{kind} bracket with angular compliance"
        assert figure(name, "turn over m g L c", turn / want, "1 +- 0.01") == pytest.approx(1.0, abs=0.01)


def test_piston_slides_and_turns_each_on_its_own():
    # Along X g sin of the slope it lies on, about X what it began with.
    rail = turned("y", np.radians(30.0))
    down = downhill(np.radians(30.0))
    scene = Scene()
    cube(scene, "Piston", orientation=rail, angular_velocity=3.0 * down)
    scene.add(Joint("Cylinder", "piston", None, "Piston", orientation=rail))
    trajectory = simulate(scene, 48, config=CPU)
    off = np.abs(trajectory.position[:, 0] @ down - 0.25 * GRAVITY * trajectory.times**2).max()
    assert figure("piston down 30 degrees", "way off g sin t^2 / 2", off, FAST, "m") < FAST
    spin = trajectory.angular_velocity[-1, 0]
    assert figure("piston down 30 degrees", "spin kept", spin @ down / 3.0, "1 +- 1e-6") == pytest.approx(1.0, abs=1e-6)
    assert np.abs(np.cross(spin, down)).max() < 1e-5


@pytest.mark.parametrize("kind", ["distance", "rope"])
def test_conical_pendulum_keeps_its_cone(kind):
    # w^2 = g / (L cos a): the weight on its rod or rope goes round at one height.  A step follows the chord of an arc:
    # (w h)^2 / 12 of the way.
    lean, length = np.radians(40.0), 1.0
    omega = np.sqrt(GRAVITY / (length * np.cos(lean)))
    place = length * np.array([np.sin(lean), 0.0, -np.cos(lean)])
    scene = Scene()
    scene.add(Body("Weight", [Sphere(0.02)], position=place, mass=1.0, linear_velocity=(0, omega * place[0], 0)))
    scene.add(Joint("Rod", kind, None, "Weight", anchors=((0, 0, 0), place)))
    trajectory = simulate(scene, 120, config=CPU)
    height = trajectory.position[:, 0, 2]
    bound = (omega * STEP) ** 2
    off = np.abs(height - place[2]).max()
    name = f"conical pendulum on a {kind}"
    assert figure(name, "height off, 5 s", off, bound, "m") < bound
    angle = np.unwrap(np.arctan2(trajectory.position[:, 0, 1], trajectory.position[:, 0, 0]))
    rate = angle[-1] / trajectory.times[-1] / omega
    assert figure(name, "rate over sqrt(g / (L cos a))", rate, f"1 +- {bound / 12:.2g}") == pytest.approx(
        1.0, abs=bound / 12 + 1e-3
    )
    length_off = np.abs(np.linalg.norm(trajectory.position[:, 0], axis=1) - length).max()
    assert figure(name, "length off", length_off, FAST, "m") < FAST


def test_rope_pulls_and_never_pushes():
    # A ball moving towards its hook flies on as if there were no rope, until the rope is taut on the other side; there
    # it stops along the rope and keeps what it has across.
    scene = Scene(gravity=(0, 0, 0))
    scene.add(Body("Ball", [Sphere(0.02)], position=(0.5, 0.3, 0), mass=1.0, linear_velocity=(-2.0, 0, 0)))
    scene.add(Joint("Rope", "rope", None, "Ball", anchors=((0, 0, 0), (0.5, 0.3, 0)), length=1.0))
    trajectory = simulate(scene, 48, config=CPU)
    edge = np.sqrt(1.0 - 0.3**2)
    taut = (0.5 + edge) / 2.0
    free = trajectory.times < taut - STEP
    flight = np.array([0.5, 0.3, 0.0]) + trajectory.times[:, None] * (-2.0, 0.0, 0.0)
    off = np.abs(trajectory.position[free, 0] - flight[free]).max()
    assert figure("slack rope", "off free flight", off, 1e-9, "m") < 1e-9
    # across the rope at (-edge, 0.3): v . t = 2 * 0.3; it goes round at that speed.  In which part of the step the
    # rope becomes taut decides by what chord: v h over the length, squared.
    speed = np.linalg.norm(trajectory.linear_velocity[-1, 0])
    bound = 2.0 * STEP * edge + 0.01
    assert figure("taut rope", "speed round its hook over v sin", speed / 0.6, f"1 +- {bound:.2g}") == pytest.approx(
        1.0, abs=bound
    )
    length = np.linalg.norm(trajectory.position[:, 0], axis=1).max()
    assert figure("taut rope", "length over its own", length - 1.0, FAST, "m") < FAST


def test_generic_joint_with_a_law_on_each_axis():
    # x driven at 0.4 m/s, y on a spring, z down to a limit, rx free, ry locked, rz with friction: each by its own law.
    m, k = 2.0, 80.0
    scene = Scene()
    cube(scene, "Body", linear_velocity=(0, 0.5, 0), angular_velocity=(1.0, 0, 0))
    axes = {
        "x": Axis(drive="velocity", target=0.4),
        "y": Axis(stiffness=k),
        "z": Axis(lower=-0.2),
        "ry": Axis(locked=True),
        "rz": Axis(friction=0.01),
    }
    scene.add(Joint("Test", "generic", None, "Body", axes=axes))
    trajectory = simulate(scene, 48, config=CPU)
    t, omega = trajectory.times, np.sqrt(k / m)
    x, y, z = trajectory.position[:, 0].T
    assert np.abs(x - 0.4 * t).max() < 48 * SLOW
    phase = 2.0 * np.arctan(0.5 * omega * STEP) / STEP
    off = np.abs(y - 0.5 / omega * np.sin(phase * t)).max()
    assert figure("generic joint", "spring axis off the mid-step law", off, 48 * FAST, "m") < 48 * FAST
    fall = np.maximum(-0.2, -0.5 * GRAVITY * t**2)
    off = np.abs(z - fall).max()
    bound = np.sqrt(2 * GRAVITY * 0.2) * STEP  # where in the step it meets the limit
    assert figure("generic joint", "limit axis off the fall", off, bound, "m") < bound
    assert z[-1] == pytest.approx(-0.2, abs=FAST)
    spin = trajectory.angular_velocity[-1, 0]
    assert figure("generic joint", "free axis: spin kept", spin[0], "1 +- 1e-3", "rad/s") == pytest.approx(
        1.0, abs=1e-3
    )
    assert np.abs(spin[1:]).max() < FAST / STEP / SIDE


def test_spring_relaxes_at_its_rest():
    # With damping, the body comes to rest where k (x - rest) = m g.
    scene = Scene()
    cube(scene, "Hung", mass=2.0)
    axis = Axis(stiffness=200.0, damping=40.0, rest=0.3)
    scene.add(Joint("Spring", "slider", None, "Hung", orientation=UPWARDS, axes={"x": axis}))
    trajectory = simulate(scene, 96, config=CPU)
    off = abs(trajectory.position[-1, 0, 2] - (0.3 - 2.0 * GRAVITY / 200.0))
    assert figure("spring with a rest of 0.3 m", "off rest - m g / k", off, 1e-4, "m") < 1e-4


def test_hinge_turns_about_its_own_axis_wherever_it_points():
    # Oblique axis through the centre, no gravity: spin stays, and so does the axis, in 2 s.
    axis = np.array([1.0, 2.0, -1.0]) / np.sqrt(6.0)
    angle = np.arccos(axis[2])
    across = np.cross([0.0, 0.0, 1.0], axis)
    frame = rotations.exponential(angle * across / np.linalg.norm(across))
    scene = Scene(gravity=(0, 0, 0))
    scene.add(Body("Plate", [Box((0.3, 0.2, 0.02))], mass=1.0, angular_velocity=4.0 * axis))
    scene.add(Joint("Hinge", "hinge", None, "Plate", orientation=frame))
    trajectory = simulate(scene, 48, config=CPU)
    spin = trajectory.angular_velocity[:, 0]
    off = np.abs(spin @ axis / 4.0 - 1.0).max()
    assert figure("unbalanced plate on an oblique hinge", "spin off what it was, 2 s", off, 1e-5) < 1e-5
    assert np.linalg.norm(np.cross(spin, axis), axis=1).max() < FAST / STEP / 0.3
