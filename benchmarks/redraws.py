# SPDX-License-Identifier: GPL-3.0-or-later
"""How often Blender's interface redraws while Axion bakes a thousand bodies.

    BLENDER=/path/to/blender python benchmarks/redraws.py [--bodies 1000] [--frames 250] [--check]

Opens Blender's window, bakes falling boxes, and notes when the sidebar and the viewport were drawn: while the scene is
read, solved and written, and before, when nothing runs.  Writes benchmarks/results/redraws.csv; --check exits with 1
where the sidebar was drawn less than ten times a second.
"""

import argparse
import csv
import itertools
import os
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import blender_window  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "redraws.csv"
SIZE = (640, 400)
"""Of the window.  Without a graphics card each pixel of the viewport costs the processor: at 1280 x 800 a redraw of a
thousand boxes takes 0.12 s, Axion or not, which column ``viewport_ms`` tells."""
LIMIT = 10.0
"""Redraws a second that the interface must reach."""
IDLE = 3.0
"""Seconds of watching Blender redraw as fast as the bake's timer asks, with no bake."""
COLUMNS = (
    *("driver", "phase", "seconds", "redraws_per_second", "longest_gap_ms", "viewport_per_second"),
    *("load_per_core", "renderer", "viewport_ms"),
)
"""The last three say what the figures are worth: what else the machine did, who drew, and how long one drawing of the
viewport takes."""


def main(argv):
    """Outside Blender: measure each driver, write the table, judge it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bodies", type=int, default=1000)
    parser.add_argument("--frames", type=int, default=250)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(argv)
    rows = []
    for driver in ("THREAD", "PROCESS"):
        part = RESULT.with_suffix(f".{driver.lower()}")
        status = blender_window.start(__file__, [driver, str(options.bodies), str(options.frames), str(part)], SIZE)
        if status:
            return status
        with part.open(newline="", encoding="utf-8") as file:
            rows += list(csv.DictReader(file))
        part.unlink()
    with RESULT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    print("\n".join("  ".join(row.values()) for row in rows))
    slow = [row for row in rows if row["phase"] != "idle" and float(row["redraws_per_second"]) < LIMIT]
    return 1 if options.check and slow else 0


def inside():
    """Inside Blender."""
    driver, bodies, frames, path = blender_window.arguments()
    blender_window.play(measure(driver, int(bodies), int(frames), path))


def measure(driver, bodies, frames, path):
    """Steps of the measurement, a generator for ``blender_window.play``."""
    import bpy
    import gpu
    from axion.axion_blender import preferences, running
    from axion.axion_blender.job import Phase

    chosen = preferences.get
    preferences.get = lambda name: driver if name == "solve_in" else chosen(name)
    # Each sample of it draws the viewport once more, which takes a third of a second without a graphics card.
    bpy.context.preferences.system.viewport_aa = "OFF"
    pile(bodies, frames)
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    area.spaces.active.show_region_ui = True
    yield 1.0
    sidebar = next(region for region in area.regions if region.type == "UI")
    view = next(region for region in area.regions if region.type == "WINDOW")
    sidebar.active_panel_category = "Axion"
    drawn, seen = {"UI": [], "WINDOW": []}, {}
    for name, times in drawn.items():
        bpy.types.SpaceView3D.draw_handler_add(lambda t=times: t.append(time.perf_counter()), (), name, "POST_PIXEL")
    yield 1.0
    with bpy.context.temp_override(window=window, area=area, region=view):
        alone = drawing_time()
    drawn["WINDOW"].clear()
    seen["idle"] = began, until = time.perf_counter(), time.perf_counter() + IDLE
    while time.perf_counter() < until:
        sidebar.tag_redraw()
        yield 0.04
    with bpy.context.temp_override(window=window, area=area, region=view):
        bpy.ops.axion.bake("INVOKE_DEFAULT")
    job = running.current().job
    names = {Phase.READY: "read", Phase.GATHERED: "solve", Phase.SOLVED: "write"}
    while not job.ended:
        name, now = names[job.phase], time.perf_counter()
        if name == "solve" and not job.solved:
            name = "start"  # of Warp and its kernels
        seen[name] = seen.get(name, (now, now))[0], now
        yield 0.02
    if not job.done:
        raise RuntimeError(f"the bake is {job.phase.value}: {job.error}")
    load = f"{os.getloadavg()[0] / os.cpu_count():.1f}" if hasattr(os, "getloadavg") else ""
    renderer = gpu.platform.renderer_get().partition(",")[0].partition(" (")[0]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for name, (began, until) in seen.items():
            if until - began > 0.2:
                writer.writerow([driver.lower(), name, *figures(drawn, began, until), load, renderer, alone])


def drawing_time():
    """Milliseconds that the region of the context takes to be drawn; the median of five."""
    import bpy

    times = []
    for _ in range(5):
        began = time.perf_counter()
        bpy.ops.wm.redraw_timer(type="DRAW", iterations=1)
        times.append(1e3 * (time.perf_counter() - began))
    return f"{statistics.median(times):.0f}"


def figures(drawn, began, until):
    """Columns of one phase: seconds, redraws a second of the sidebar, its longest gap, redraws of the viewport."""
    times = [began, *(t for t in drawn["UI"] if began <= t <= until), until]
    gap = max(b - a for a, b in itertools.pairwise(times))
    views = sum(began <= t <= until for t in drawn["WINDOW"])
    seconds = until - began
    return f"{seconds:.2f}", f"{(len(times) - 2) / seconds:.1f}", f"{1e3 * gap:.0f}", f"{views / seconds:.1f}"


def pile(bodies, frames):
    """A scene of stacks of boxes over a ground, ``bodies`` of them active."""
    import bpy

    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames + 1
    bpy.ops.mesh.primitive_cube_add(size=1.0)
    mesh = bpy.context.object.data
    ground = bpy.context.object
    ground.scale, ground.location = (60.0, 60.0, 1.0), (0.0, 0.0, -0.5)
    ground.axion.enabled, ground.axion.type, ground.axion.collision_shape = True, "PASSIVE", "BOX"
    side = round((bodies / 4) ** 0.5) or 1
    for n in range(bodies):
        item = bpy.data.objects.new(f"Box {n:04d}", mesh)
        scene.collection.objects.link(item)
        layer, place = divmod(n, side * side)
        item.location = (1.5 * (place % side - side / 2), 1.5 * (place // side - side / 2), 0.6 + 1.2 * layer)
        item.axion.enabled, item.axion.type, item.axion.collision_shape = True, "ACTIVE", "BOX"


if __name__ == "__main__":
    if blender_window.in_blender():
        inside()
    else:
        sys.exit(main(sys.argv[1:]))
