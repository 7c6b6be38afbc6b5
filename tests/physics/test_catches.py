# SPDX-License-Identifier: GPL-3.0-or-later
"""Ropes with compliance throw back what they catch in mid-step: by the law of the elastic rope, however stiff it is."""

import io

import numpy as np
import pytest
from axion.solver import Body, Box, Checkpoint, Joint, Plane, Scene, SolverConfig, Sphere, simulate
from figures import figure

CPU = SolverConfig(device="cpu")
G, LENGTH = 9.81, 3.0
WAYS = {"down": (0.0, 0.0, -1.0), "aside": (1.0, 0.0, 0.0), "up": (0.6, 0.0, 0.8)}


def law(place, velocity, softness, seconds, floor=-np.inf):
    """(positions, velocities) 480 times a second of a point of 1 kg on an elastic rope from the origin, in steps of a
    96000th; what falls to the height ``floor`` stays on it.  softness: (K,) [m/N], of as many points at once.
    """
    x, v, h = np.array(place, float), np.array(velocity, float), 1.0 / 96000.0
    kept = [(x.copy(), v.copy())]

    def pull():
        far = np.linalg.norm(x, axis=1)
        return -(np.maximum(far - LENGTH, 0.0) / (softness * far))[:, None] * x - [0.0, 0.0, G]

    force = pull()
    for step in range(1, round(seconds / h) + 1):
        v += 0.5 * h * force
        x += h * v
        force = pull()
        v += 0.5 * h * force
        below = x[:, 2] < floor
        x[below, 2], v[below, 2] = floor, np.maximum(v[below, 2], 0.0)
        if step % 200 == 0:
            kept.append((x.copy(), v.copy()))
    return tuple(np.array(column) for column in zip(*kept, strict=True))


def energy(x, v, softness):
    """Of 1 kg, none where it hangs at rest on the unstrained rope [J]."""
    strain = np.maximum(np.linalg.norm(x, axis=-1) - LENGTH, 0.0)
    return 0.5 * (v**2).sum(axis=-1) + G * (x[..., 2] + LENGTH) + 0.5 * strain**2 / softness


def throw(place, velocity, softness, frames, fps=24, floor=None, **options):
    """Trajectory of a ball of 1 kg thrown on such a rope."""
    scene = Scene(gravity=(0, 0, -G))
    scene.add(Body("Ball", [Sphere(0.1)], position=place, mass=1.0, friction=0.0, linear_velocity=velocity))
    scene.add(Joint("Rope", "rope", None, "Ball", anchors=((0, 0, 0), place), length=LENGTH, compliance=softness))
    if floor is not None:
        scene.add(Body("Floor", [Plane()], motion="static", position=(0, 0, floor - 0.1), friction=0.0))
    trajectory = simulate(scene, frames, fps, CPU, **options)
    assert all(report.converged for report in trajectory.reports)
    return trajectory


@pytest.mark.parametrize("floor", [None, -LENGTH - 0.05])
@pytest.mark.parametrize("way", WAYS)
def test_a_ball_is_thrown_back_on_either_side_of_what_a_step_resolves(way, floor):
    # 4.34e-4 m/N has (omega h)^2 = 4.  Softer ropes came taut a step late, with up to 2.4 times the energy; stiffer
    # ones stopped the ball dead.  Slices have the time of half a swing to 2.4 %, 0.08 v / omega of way a catch.
    softness = np.repeat([1e-5, 1e-4, 3e-4, 4.2e-4, 4.4e-4, 5.4e-4, 1e-3, 1e-2], 3)
    speed, slack = np.tile([8.0, 12.0, 17.0], 8), np.resize([0.1, 0.22, 0.35, 0.5], 24)
    place = np.outer((1.0 - slack) * LENGTH, [0.0, 0.0, -1.0])
    velocity = np.outer(speed, WAYS[way])
    x, v = law(place, velocity, softness, 0.75, -np.inf if floor is None else floor)
    whole = energy(x, v, softness)
    over, lost, off = 0.0, 0.0, 0.0
    for k in range(24):
        motion = throw(place[k], velocity[k], softness[k], 18, floor=floor)
        found = energy(motion.position[:, 0], motion.linear_velocity[:, 0], softness[k]) / whole[0, k]
        # a frame on either side of a hit on the floor may be before it or after
        near = np.arange(19)[:, None] * 20 + np.arange(-10, 11)
        near = whole[np.clip(near, 0, len(whole) - 1), k] / whole[0, k]
        over, lost = max(over, (found - near.max(axis=1)).max()), max(lost, (near.min(axis=1) - found).max())
        off = max(off, np.abs(motion.position[:, 0] - x[::20, k]).max() / (speed[k] * np.sqrt(softness[k]) + 0.1))
    name = f"ball thrown {way} on a rope" + ("" if floor is None else " over a floor")
    assert figure(name, "energy beyond the law's", over, 0.01) < 0.01
    assert figure(name, "energy short of the law's", lost, 0.02) < 0.02
    if floor is None:  # there a little sooner or later may be a hit more or less
        assert figure(name, "way off the law's, in stretches", off, 0.2) < 0.2


def test_what_is_given_back_fades_where_no_stretch_is_left_to_tell():
    # All of it from 20 tolerances of stretch on, nothing below 5, and no cliff between.
    speed, back = 4.0, []
    stretch = np.array([3.0, 5.5, 8.0, 11.0, 14.0, 17.0, 19.5, 25.0]) * 1e-4
    for softness in (stretch / speed) ** 2:
        scene, place = Scene(gravity=(0, 0, 0)), (1.0, 0.0, 0.0)
        scene.add(Body("Ball", [Sphere(0.1)], position=place, mass=1.0, linear_velocity=(speed, 0, 0)))
        joint = Joint("Rope", "rope", None, "Ball", anchors=((0, 0, 0), place), length=1.07, compliance=softness)
        scene.add(joint)
        back.append(-simulate(scene, 3, config=CPU).linear_velocity[-1, 0, 0] / speed)
    assert abs(back[0]) < 2.0 * (24.0 * stretch[0] / speed) ** 2  # 2 / (omega h)^2, which is left of what vibrates
    assert abs(back[-1] - 1.0) < 1e-3
    assert (np.diff(back) > -0.05).all()
    assert figure("ball on ever stiffer ropes", "change of what is given back", np.diff(back).max(), 0.35) < 0.35


def test_several_loads_are_caught_in_one_frame_each_by_its_own_rope():
    scene, energies = Scene(gravity=(0, 0, -G)), 0.0
    for k in range(6):
        place = (float(k), 0.0, -1.0 - 0.1 * k)
        scene.add(
            Body(f"{k}", [Sphere(0.1)], position=place, mass=1.0 + k, linear_velocity=(0, 0, -8.0 - k), friction=0.0)
        )
        anchors, softness = ((k, 0, 0), place), 1e-3 * 3.0**-k
        scene.add(Joint(f"{k}", "rope", None, f"{k}", anchors=anchors, length=2.0, compliance=softness))
    motion = simulate(scene, 48, config=CPU)
    for k in range(6):
        x, v = motion.position[:, k] - [k, 0, 0], motion.linear_velocity[:, k]
        strain = np.maximum(np.linalg.norm(x, axis=1) - 2.0, 0.0)
        own = 0.5 * (v**2).sum(axis=1) + G * (x[:, 2] + 2.0) + 0.5 * strain**2 / (1e-3 * 3.0**-k * (1.0 + k))
        energies = max(energies, np.abs(own / own[0] - 1.0).max())
    assert figure("six loads on ropes of their own", "energy off, 2 s", energies, 0.01) < 0.01


@pytest.mark.parametrize("softness", [1e-3, 1e-5])
def test_two_bodies_that_a_rope_holds_together_keep_momentum_and_energy(softness):
    scene, mass = Scene(gravity=(0, 0, 0)), np.array([1.0, 3.0])
    scene.add(Body("A", [Sphere(0.1)], mass=mass[0], linear_velocity=(-6, 1, 0)))
    scene.add(Body("B", [Sphere(0.1)], mass=mass[1], position=(0.5, 0, 0), linear_velocity=(5, 0, 2)))
    anchors = ((0, 0, 0), (0.5, 0, 0))
    scene.add(Joint("Rope", "rope", "A", "B", anchors=anchors, length=2.0, compliance=softness))
    motion = simulate(scene, 72, config=CPU)
    v, apart = motion.linear_velocity, np.linalg.norm(motion.position[:, 1] - motion.position[:, 0], axis=1)
    momentum = np.einsum("b,fbi->fi", mass, v)
    assert np.abs(momentum - momentum[0]).max() < 1e-9
    whole = 0.5 * np.einsum("b,fbi,fbi->f", mass, v, v) + 0.5 * np.maximum(apart - 2.0, 0.0) ** 2 / softness
    off = np.abs(whole / whole[0] - 1.0).max()
    assert figure(f"two bodies on a rope of {softness:g} m/N", "energy off, 3 s", off, 2e-3) < 2e-3


@pytest.mark.parametrize("softness", [1e-3, 1e-4, 1e-5])
def test_a_box_that_slides_on_ice_comes_back_from_its_rope(softness):
    # A step that ended slack took the strain of its start along: contacts hold, and nothing gave it back.
    scene, place = Scene(gravity=(0, 0, -G)), (0.0, 0.0, 0.2)
    scene.add(Body("Floor", [Plane()], motion="static", friction=0.0))
    shape = [Box((0.2, 0.2, 0.2))]
    scene.add(Body("Box", shape, position=place, mass=1.0, linear_velocity=(6, 0, 0), friction=0.0))
    scene.add(Joint("Rope", "rope", None, "Box", anchors=(place, place), length=2.0, compliance=softness))
    speed = np.abs(simulate(scene, 72, config=CPU).linear_velocity[:, 1, 0]).max(initial=0.0, where=np.arange(73) > 48)
    lost = abs(1.0 - (speed / 6.0) ** 2)
    assert figure(f"box on ice, rope of {softness:g} m/N", "energy lost, 3 s", lost, 2e-3) < 2e-3


def test_what_hangs_on_a_stiff_rope_hangs_still():
    # Let go unstrained: what a step does not resolve is lost, as before, and costs no slices.
    motion = throw((0.0, 0.0, -LENGTH), (0.0, 0.0, 0.0), 1e-5, 24)
    assert max(report.substeps for report in motion.reports) == 1
    assert np.abs(motion.position[1:, 0, 2] + LENGTH + G * 1e-5).max() < 1e-5
    assert np.abs(motion.linear_velocity[2:, 0, 2]).max() < 1e-4


def test_a_run_resumed_in_the_middle_of_a_catch_has_the_same_bits():
    kept = {}

    def keep(result):
        stored = io.BytesIO()
        np.savez(stored, **result.checkpoint().arrays)
        stored.seek(0)
        with np.load(stored, allow_pickle=False) as found:
            kept[result.frame] = Checkpoint(
                result.checkpoint().frame, result.checkpoint().fps, {name: found[name] for name in found.files}
            )

    place, velocity = (0.0, 0.0, -2.0), (0.0, 0.0, -8.0)
    whole = throw(place, velocity, 3e-4, 6, on_frame=keep)
    middle = [frame for frame, checkpoint in kept.items() if checkpoint.arrays["joints.caught"].any()]
    assert middle, "no frame ends within the catch"
    again = throw(place, velocity, 3e-4, 6, resume=kept[middle[0]])
    assert np.array_equal(again.linear_velocity, whole.linear_velocity[middle[0] :])
    assert np.array_equal(again.position, whole.position[middle[0] :])


@pytest.mark.parametrize("softness", [1e-5, 1e-3])
def test_what_flies_away_is_thrown_back_as_what_stays(softness):
    # At 100 m/s the 16 J of a catch counted as nothing beside the energy of the flight: the rope gave none of it back.
    ends = []
    for flight in (0.0, 100.0):
        scene = Scene(gravity=(0, 0, 0))
        for name, x, mass, velocity in (("Light", 0.0, 1.0, (-2.5, 0, 0)), ("Heavy", 0.5, 2.0, (2.5, 0.3, 0))):
            velocity = np.array(velocity) + [flight, 0, 0]
            scene.add(Body(name, [Sphere(0.1)], mass=mass, position=(x, 0, 0), linear_velocity=velocity))
        anchors = ((0, 0, 0), (0.5, 0, 0))
        scene.add(Joint("Rope", "rope", "Light", "Heavy", anchors=anchors, length=3.0, compliance=softness))
        ends.append(simulate(scene, 24, 24, CPU).linear_velocity[-1] - [flight, 0, 0])
    off = np.abs(ends[1] - ends[0]).max()
    figure(f"two on a rope of {softness:g} m/N that fly at 100 m/s", "velocities off", off, 1e-6, "m/s")
    assert ends[0][1, 0] - ends[0][0, 0] < -4.0  # thrown back, at 5 m/s before
    assert off < 1e-6
