# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake costs beside the solve: reading the scene, building the model, writing keys, points and cache, starting.

    python benchmarks/road.py [FIGURE ...]

Writes benchmarks/results/road.csv, one line a figure, with the bound that it should stay below; figures not named keep
their line.  Seconds are processor time of one process, so that what else the machine does counts little; where a window
or several processors matter it is time on the clock, which asks for a quiet machine.  ``redraws.py`` measures the
redraws of the window.
"""

import csv
import datetime
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RESULT = Path(__file__).resolve().parent / "results" / "road.csv"
COLUMNS = ("figure", "unit", "value", "bound", "machine", "date")
MANY, KEYED, FRAMES = 10_000, 1_000, 250
CPU_S, CLOCK_S = "s of processor", "s on the clock"


def main(argv):
    """Measure the figures named, or all, each in a process of its own, and renew their lines."""
    names = argv or list(MEASURES)
    lines = {}
    if RESULT.exists():
        with RESULT.open(newline="", encoding="utf-8") as file:
            lines = {line["figure"]: line for line in csv.DictReader(file)}
    for name in names:
        done = subprocess.run([sys.executable, __file__, "--measure", name], stdout=subprocess.PIPE, text=True)
        found = done.stdout.strip().rpartition("\n")[2]
        if not found.startswith("["):
            print(f"{name} failed with status {done.returncode}")
            return 1
        for figure, unit, value, bound in json.loads(found):
            stamp = datetime.datetime.now(datetime.UTC).date().isoformat()
            line = (figure, unit, f"{value:.3g}", "" if bound is None else f"{bound:g}", machine(), stamp)
            lines[figure] = dict(zip(COLUMNS, line, strict=True))
            print("  ".join(line), flush=True)
    with RESULT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(lines.values())
    return 0


def machine():
    """The processor, and how busy it was."""
    name = platform.processor() or platform.machine()
    cpu = Path("/proc/cpuinfo")
    if cpu.exists():
        rows = [row.partition(":")[2].strip() for row in cpu.read_text().splitlines() if row.startswith("model name")]
        name = rows[0] if rows else name
    load = f", load {os.getloadavg()[0] / os.cpu_count():.1f} a core" if hasattr(os, "getloadavg") else ""
    return f"{name}, {os.cpu_count()} cores{load}"


def fastest(work, times=3):
    """Processor seconds of the fastest of a few runs."""
    spent = []
    for _ in range(times):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return min(spent)


def blender_scene(count):
    """Fill the open Blender scene with ``count`` active boxes of one mesh over a ground: {name: Object} of them."""
    import axion
    import bpy

    axion.register()
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES + 1
    bpy.ops.mesh.primitive_cube_add(size=1.0)
    ground = bpy.context.object
    ground.scale, ground.location = (300.0, 300.0, 1.0), (0.0, 0.0, -0.5)
    ground.axion.enabled, ground.axion.type, ground.axion.collision_shape = True, "PASSIVE", "BOX"
    found = {}
    for number, place in enumerate(places(count)):
        item = bpy.data.objects.new(f"Box {number:05d}", ground.data)
        scene.collection.objects.link(item)
        item.location = place
        item.axion.enabled, item.axion.type, item.axion.collision_shape = True, "ACTIVE", "CONVEX_HULL"
        found[item.name] = item
    bpy.context.view_layer.update()
    return found


def places(count):
    """(count, 3) of boxes of one metre in four layers, none touching another."""
    side = int(np.ceil((count / 4) ** 0.5))
    layer, place = np.divmod(np.arange(count), side * side)
    return np.stack([1.5 * (place % side), 1.5 * (place // side), 0.6 + 1.2 * layer], axis=1)


def motion(objects, frames):
    """A smooth Trajectory of the objects, which tumble."""
    from axion.solver import Trajectory

    random, count = np.random.default_rng(1), len(objects)
    start = np.array([item.location for item in objects.values()])
    position = np.cumsum(random.normal(0.0, 0.05, (frames + 1, count, 3)), axis=0)
    position += start - position[0]
    orientation = np.cumsum(random.normal(0.0, 0.1, (frames + 1, count, 4)), axis=0) + [0.0, 0.0, 0.0, 3.0]
    orientation /= np.linalg.norm(orientation, axis=2, keepdims=True)
    still = np.zeros_like(position)
    return Trajectory(list(objects), np.arange(frames + 1) / 24.0, position, orientation, still, still, [])


def solver_scene(count):
    """``count`` boxes that fall on a plane, a solver.Scene."""
    from axion.solver import Body, Box, Plane, Scene

    scene = Scene()
    scene.add(Body("Ground", [Plane()], motion="static"))
    box = Box((0.5, 0.5, 0.5))
    for number, place in enumerate(places(count)):
        scene.add(Body(f"Box {number:05d}", [box], position=place))
    return scene


def memory():
    """Largest memory of this process so far [bytes]."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def extraction():
    """Reading a Blender scene."""
    import bpy

    blender_scene(MANY)
    from axion.axion_blender.extract import extract_scene, extraction_slices

    before = memory()
    extracted = extract_scene(bpy.context)
    bytes_a_body = (memory() - before) / MANY
    spent = fastest(lambda: extract_scene(bpy.context))
    gap, last = 0.0, time.process_time()
    for _ in extraction_slices(bpy.context):
        now = time.process_time()
        gap, last = max(gap, now - last), now
    assert len(extracted.scene.bodies) == MANY + 1
    return [
        (f"read {MANY} objects", CPU_S, spent, 5.0),
        (f"longest slice of reading {MANY} objects", CPU_S, gap, None),
        ("memory to read a body", "kB", bytes_a_body / 1e3, None),
    ]


def model():
    """Building the collision model, and the hull of a fine mesh."""
    from axion.solver import ConvexHull
    from axion.solver.model import build_model

    scene = solver_scene(MANY)
    build_model(solver_scene(2))
    before = memory()
    began = time.process_time()
    build_model(scene)
    spent = time.process_time() - began
    points = np.random.default_rng(2).normal(size=(2500, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return [
        (f"build the model of {MANY} bodies", CPU_S, spent, None),
        ("memory of the model a body", "kB", (memory() - before) / MANY / 1e3, None),
        ("hull of 2500 vertices", CPU_S, fastest(lambda: ConvexHull(points).triangles), None),
    ]


def keys():
    """Keyframes on a thousand objects, then once more over them."""
    import bpy

    objects = blender_scene(KEYED)
    from axion.axion_blender.writers import outputs

    scene, layer, moved, first, second = bpy.context.scene, bpy.context.view_layer, motion(objects, FRAMES), [], []
    for _ in range(3):
        for spent in (first, second):
            began = time.process_time()
            outputs.write(moved, objects, 1, scene, layer, 1.0)
            spent.append(time.process_time() - began)
        outputs.clear(scene)
    size = f"{KEYED} x {FRAMES}"
    return [
        (f"write keyframes {size}", CPU_S, min(first), 0.5),
        (f"write keyframes {size} over a bake", CPU_S, min(second), 2.0 * min(first)),
    ]


def points():
    """Playback of ten thousand points."""
    import bpy

    objects = blender_scene(MANY)
    from axion.axion_blender.writers import outputs

    scene = bpy.context.scene
    outputs.write(motion(objects, 60), objects, 1, scene, bpy.context.view_layer, 1.0, output="POINTS")
    spent = []
    for frame in range(2, 60):
        began = time.process_time()
        scene.frame_set(frame)
        spent.append(time.process_time() - began)
    return [(f"play a frame of {MANY} points", "ms of processor", 1e3 * float(np.median(spent)), 1.0)]


def cache():
    """The part of a solve that waits for its cache."""
    from axion.axion_blender.cache import Place, cached_solve
    from axion.axion_blender.cache import solve as cached
    from axion.solver import SolverConfig, simulate

    scene, config, waited = solver_scene(KEYED), SolverConfig(device="cpu", quality="preview"), []
    simulate(scene, 1, 24.0, config)
    for name in ("take", "close"):
        setattr(cached._Writer, name, _timed(getattr(cached._Writer, name), waited))
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        cached_solve(Place(Path(folder) / "cache", {}), simulate, scene, 24, 24.0, config, lambda result: True)
        whole = time.perf_counter() - began
    return [(f"wait for the cache while {KEYED} bodies are solved", "%", 100.0 * sum(waited) / whole, 2.0)]


def _timed(function, spent):
    def run(*given):
        began = time.perf_counter()
        try:
            return function(*given)
        finally:
            spent.append(time.perf_counter() - began)

    return run


START = """
import time, sys
began, used = time.perf_counter(), time.process_time()
sys.path.insert(0, {folder!r})
from road import solver_scene
from axion.solver import SolverConfig, simulate
simulate(solver_scene(2), 1, 24.0, SolverConfig(device="cpu"))
print(time.perf_counter() - began, time.process_time() - used)
"""


def start():
    """The first frame of two boxes, with no kernel compiled, and with all of them."""
    code = START.format(folder=str(Path(__file__).parent))
    with tempfile.TemporaryDirectory() as folder:
        environment, found = {**os.environ, "WARP_CACHE_PATH": folder}, []
        for _ in range(3):
            done = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
            found.append([float(word) for word in done.stdout.split()[-2:]])
    (clock, used), next_clock = found[0], min(pair[0] for pair in found[1:])
    return [
        ("first frame after installing", CLOCK_S, clock, 20.0),
        ("first frame after installing, work of all cores", CPU_S, used, None),
        ("first frame after starting", CLOCK_S, next_clock, 3.0),
        ("first frame after starting, work of all cores", CPU_S, min(pair[1] for pair in found[1:]), None),
    ]


def bodies():
    """Memory of a solve."""
    from axion.solver import SolverConfig, simulate

    config = SolverConfig(device="cpu", quality="preview")
    simulate(solver_scene(2), 1, 24.0, config)
    before = memory()
    simulate(solver_scene(MANY), 1, 24.0, config)
    return [("memory of a solve a body", "kB", (memory() - before) / MANY / 1e3, None)]


MEASURES = {
    function.__name__: function for function in (extraction, model, keys, points, cache, start, bodies)
}  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(MEASURES[sys.argv[2]]()), flush=True)
        os._exit(0)  # the module bpy may hang or crash at an ordinary end
    sys.exit(main(sys.argv[1:]))
