# SPDX-License-Identifier: GPL-3.0-or-later
"""Drags the anchors and the frame of a rope by mouse in Blender's window, checks what comes of it, takes a picture.

    BLENDER=path/to/blender python tools/anchor_pictures.py docs/images [--capture "import -window root {}"]

capture: as for report_pictures.py.  Writes anchors.png.
"""

import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import blender_window
from mouse import Mouse
from report_pictures import Window

SIZE = (1000, 760)


def hanging_crate(bpy):
    """A crate on a rope from a beam; returns (beam, crate, rope)."""
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    parts = []
    for name, kind, place, size in (
        ("Beam", "PASSIVE", (0, 0, 3), (3, 0.3, 0.3)),
        ("Crate", "ACTIVE", (0, 0, 1), (1, 1, 1)),
    ):
        bpy.ops.mesh.primitive_cube_add(size=1.0, location=place)
        item = bpy.context.object
        item.name, item.scale = name, size
        item.axion.enabled, item.axion.type = True, kind
        parts.append(item)
    rope = bpy.data.objects.new("Rope", None)
    bpy.context.collection.objects.link(rope)
    rope.location, rope.empty_display_size = (0, 0, 2.2), 0.2
    joint = rope.axion_joint
    joint.enabled, joint.type, joint.object1, joint.object2 = True, "ROPE", *parts
    joint.anchor1, joint.anchor2 = (0, 0, -0.5), (0, 0, 0.5)
    bpy.ops.object.select_all(action="DESELECT")
    bpy.ops.ed.undo_push(message="Built")
    return (*parts, rope)


def inside(folder, capture):
    """The session in the window, in steps."""
    import bpy
    from axion.axion_blender import physics_strokes

    hanging_crate(bpy)
    view = Window(bpy, folder, capture)
    mouse = Mouse(view.window, view.area)
    view.look((0, 0, 1.9), 8.0, (math.radians(80), 0, math.radians(15)))
    view.space.show_region_ui = False
    yield 1.0
    yield from mouse.click_at((0, 0, 2.2))
    assert bpy.context.object is not None and bpy.context.object.name == "Rope", "a click selects the rope"

    def place(end):
        return tuple(physics_strokes.anchors(bpy.data.objects["Rope"])[end].tolist())

    def drag(end, goal, last="RELEASE", picture=None):
        start, stop = (view.project(point) for point in (place(end), goal))
        view.mouse("MOUSEMOVE", "NOTHING", start - type(start)((3, 0)))
        yield 0.3
        view.mouse("MOUSEMOVE", "NOTHING", start)
        yield 0.5
        view.mouse("LEFTMOUSE", "PRESS", start)
        for n in range(1, 11):
            yield 0.1
            view.mouse("MOUSEMOVE", "NOTHING", start.lerp(stop, n / 10))
        yield 0.3
        if picture is not None:
            yield from view.picture(picture)
        if last == "ESC":
            view.key("ESC")
            yield 0.3
        view.mouse("LEFTMOUSE", "RELEASE", stop)
        yield 0.5

    for end, goal in ((1, (0.5, 0.0, 1.5)), (0, (-1.2, 0.0, 2.85))):
        before = place(end)
        yield from drag(end, goal, picture="anchors.png" if end == 0 else None)
        after = place(end)
        off = math.dist(view.project(after), view.project(goal))
        assert off < 3.0, f"anchor {end + 1} went from {before} to {after}, {off:.1f} pixels from {goal}"
        print(f"anchor {end + 1} dragged, {off:.1f} pixels off", flush=True)
    view.key("Z", ctrl=True)
    yield 0.5
    assert math.dist(place(0), before) < 1e-6 and math.dist(place(1), before) > 0.5, (
        "undo takes back the last drag alone"
    )
    before = place(1)
    yield from drag(1, (0.0, 0.0, 1.0), last="ESC")
    assert math.dist(place(1), before) < 1e-6, "Esc puts an anchor back"
    rope = bpy.data.objects["Rope"]
    start = rope.location.copy()
    spot, goal = view.project(start), view.project((0.6, 0.0, 2.2))
    yield from mouse.drag("LEFTMOUSE", spot, goal)
    yield 0.5
    assert (bpy.data.objects["Rope"].location - start).length > 0.3, "the dot in the middle moves the joint"
    print("undo, Esc and the frame's dot work", flush=True)


if __name__ == "__main__":
    blender_window.pictures(__file__, inside, __doc__, SIZE)
