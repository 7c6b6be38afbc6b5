# SPDX-License-Identifier: GPL-3.0-or-later
"""What rides on keyframed bodies: thrown as high as they are fast, and where they let it go, within a frame or not."""

import numpy as np
import pytest
from axion.solver import Body, Box, MotionPath, Scene, SolverConfig, Sphere, simulate
from figures import figure

CPU = SolverConfig(device="cpu")
GRAVITY, FPS, SAMPLES = 9.81, 24, 4
LOADS = {"box": Box((0.2, 0.2, 0.2)), "ball": Sphere(0.2)}


def keyed(way, seconds, load, axis=2, friction=0.5, count=1):
    """The way of the load on a keyed plate, of the uppermost where ``count`` of them are stacked, (F, 3) [m].

    way: of the plate's top along an axis, as a function of times (S,) [s].
    """
    times = np.arange(int(seconds * FPS * SAMPLES) + 1) / (FPS * SAMPLES)
    place = np.zeros((len(times), 3))
    place[:, axis] = way(times)
    path = MotionPath(times, place - (0.0, 0.0, 0.1), np.tile([0.0, 0.0, 0.0, 1.0], (len(times), 1)))
    scene = Scene()
    scene.add(Body("Plate", [Box((3.0, 3.0, 0.1))], motion="kinematic", path=path, friction=friction))
    speed = np.zeros(3)
    speed[axis] = (way(times[1:2]) - way(times[:1])).item() * FPS * SAMPLES if axis == 2 else 0.0
    for k in range(count):
        start = place[0] + (0.0, 0.0, 0.2 + 0.4 * k)
        scene.add(Body(f"Load {k}", [load], position=start, linear_velocity=speed, friction=friction))
    run = simulate(scene, int(seconds * FPS), config=CPU)
    assert all(report.converged for report in run.reports)
    return run.position[:, -1] - (0.0, 0.0, 0.4 * count - 0.2)


def apex(height, begin, end):
    """Highest place of the parabola through the heights (F,) of the frames between two times [s]."""
    times = np.arange(len(height)) / FPS
    flies = (times > begin) & (times < end)
    rise = np.polyfit(times[flies], height[flies] + 0.5 * GRAVITY * times[flies] ** 2, 1)
    return rise[1] + rise[0] ** 2 / (2.0 * GRAVITY)


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("stop", [20.0, 20.25, 20.5, 20.75])
def test_a_lift_that_stops_dead_throws_as_high_as_it_is_fast(stop, load):
    speed, end = 2.0, stop / FPS
    height = keyed(lambda t: speed * np.minimum(t, end), 2.0, LOADS[load])[:, 2]
    rise, want = apex(height, end + 0.5 / FPS, end + 1.8 * speed / GRAVITY) - speed * end, speed**2 / (2.0 * GRAVITY)
    got = figure(f"lift of 2 m/s, stops after {stop:g} frames, {load}", "rise / law", rise / want, "1 +- 0.002")
    assert got == pytest.approx(1.0, abs=0.002)


@pytest.mark.parametrize(("count", "most"), [(1, 0.015), (3, 0.04)])
@pytest.mark.parametrize("late", [0.0, 0.37, 0.71])
@pytest.mark.parametrize(("way", "seconds"), [(1.0, 8 / 24), (2.0, 0.5), (0.5, 0.25), (3.0, 1.0)])
def test_an_eased_lift_throws_from_where_it_slows_down_faster_than_its_load(way, seconds, late, count, most):
    """Blender's keys ease in and out as 3 s^2 - 2 s^3; the load leaves where that bends by -g."""
    begin = (3.0 + late) / FPS

    def eased(times):
        share = np.clip((times - begin) / seconds, 0.0, 1.0)
        return way * share**2 * (3.0 - 2.0 * share)

    share = 0.5 + GRAVITY * seconds**2 / (12.0 * way)
    leaves, speed = begin + share * seconds, 6.0 * way / seconds * share * (1.0 - share)
    height = keyed(eased, leaves + 1.2 * speed / GRAVITY, LOADS["box"], count=count)[:, 2]
    rise = apex(height, leaves + 1.5 / FPS, leaves + 1.2 * speed / GRAVITY) - way * share**2 * (3.0 - 2.0 * share)
    want = speed**2 / (2.0 * GRAVITY)
    name = f"lift eased over {way:g} m in {seconds:.2g} s, {late:g} frames late, {count} boxes"
    assert figure(name, "rise / law", rise / want, f"1 +- {most:g}") == pytest.approx(1.0, abs=most)


def on_a_shaken_plate(way, seconds, friction=None, steps=400):
    """Places (F,) of a point that lies on a plate shaken up and down, or to and fro with friction, in each frame."""
    h = 1.0 / (FPS * steps)
    times = np.arange(int(seconds * FPS) * steps + 1) * h
    plate = way(times)
    run = np.gradient(plate, h)
    place, speed, out = plate[0], run[0] if friction is None else 0.0, [plate[0]]
    for k in range(1, len(times)):
        if friction is None:
            speed -= GRAVITY * h
            place += speed * h
            if place <= plate[k]:
                place, speed = plate[k], max(speed, run[k])
        else:
            speed += np.clip(run[k] - speed, -friction * GRAVITY * h, friction * GRAVITY * h)
            place += speed * h
        if k % steps == 0:
            out.append(place)
    return np.array(out)


@pytest.mark.parametrize(("size", "rate"), [(0.05, 12.0), (0.1, 12.0), (0.2, 10.0)])
def test_a_box_hops_on_a_plate_shaken_up_and_down(size, rate):
    def way(times):
        return size * np.sin(rate * times)

    height, want = keyed(way, 3.0, LOADS["box"])[:, 2], on_a_shaken_plate(way, 3.0)
    off = np.abs(height - want).max() / np.ptp(want)
    assert figure(f"plate shaken up by {size:g} m at {rate:g} rad/s", "most off / range", off, "< 0.02") < 0.02


@pytest.mark.parametrize(("size", "rate", "most"), [(0.05, 12.0, 0.03), (0.5, 5.0, 0.03), (0.3, 8.0, 0.05)])
def test_a_box_slides_on_a_plate_shaken_to_and_fro(size, rate, most):
    def way(times):
        return size * np.sin(rate * times)

    place, want = keyed(way, 3.0, LOADS["box"], axis=0)[:, 0], on_a_shaken_plate(way, 3.0, friction=0.5)
    off = np.sqrt(np.mean((place - want) ** 2)) / np.ptp(want)
    name = f"plate shaken to and fro by {size:g} m at {rate:g} rad/s"
    assert figure(name, "rms off / range", off, f"< {most:g}") < most
