# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes the pictures of the overlays and the report for the manual, and checks by mouse what they show.

    BLENDER=path/to/blender python tools/report_pictures.py docs/images [--capture "import -window root {}"]

A wrecking ball is baked in the window; the graph is clicked, a limit is dragged and undone, and the redraw of a
thousand bodies is timed.  Needs a display.  capture: a program that writes a picture of the screen, where Blender's own
screenshot is black, as with some drivers.  Writes overlays.png, report.png and limits.png.
"""

import math
import shlex
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import blender_window

SIZE = (1500, 900)
LINKS, BALL = 3, 0.25
COLORS = 4  # steps between two shades in the pictures: fewer colours make small files


def wrecking_ball(bpy):
    """A ball on a chain of hinges with limits, crates in its way, and a hammer that drives into a post held fast."""
    scene = bpy.context.scene
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 49, 24
    bpy.ops.mesh.primitive_plane_add(size=6.0)
    _body(bpy, "Ground", type="PASSIVE", collision_shape="BOX")
    for row in range(3):
        for k in range(3 - row):
            bpy.ops.mesh.primitive_cube_add(size=0.5, location=(0.9, (k - (2 - row) / 2) * 0.52, 0.25 + 0.5 * row))
            _body(bpy, f"Crate {row}{k}", collision_shape="BOX", mass=5.0)
    above = None
    for k in range(LINKS):
        bpy.ops.mesh.primitive_cube_add(size=1.0, location=(-0.25 - 0.5 * k, 0, 2.2))
        bpy.context.object.dimensions = (0.5, 0.08, 0.08)
        link = _body(bpy, f"Link {k + 1}", collision_shape="BOX", mass=1.0)
        pin = _joint(bpy, f"Pin {k + 1}", "HINGE", above, link, (-0.5 * k, 0, 2.2))
        pin.use_limit_ang_z, reach = True, 2.4 if k == 0 else 0.6
        pin.limit_ang_z_lower, pin.limit_ang_z_upper = -reach, reach
        above = link
    bpy.ops.mesh.primitive_ico_sphere_add(radius=BALL, subdivisions=3, location=(-0.5 * LINKS - BALL, 0, 2.2))
    ball = _body(bpy, "Ball", collision_shape="SPHERE", mass=20.0)
    _joint(bpy, "Hook", "FIXED", above, ball, (-0.5 * LINKS, 0, 2.2))
    bpy.ops.mesh.primitive_cube_add(size=0.4, location=(2.2, 0, 0.6))
    post = _body(bpy, "Post", collision_shape="BOX", mass=5.0)
    _joint(bpy, "Nail", "FIXED", None, post, (2.2, 0, 0.4))
    bpy.ops.mesh.primitive_cube_add(size=0.4, location=(2.2, 0, 1.3))
    hammer = _body(bpy, "Hammer", type="PASSIVE", collision_shape="BOX")
    for frame, height in ((36, 1.3), (40, 0.97), (42, 0.97), (46, 1.3)):  # deeper than the nail can give way
        hammer.location.z = height
        hammer.keyframe_insert("location", frame=frame)
    bpy.ops.object.select_all(action="DESELECT")


def _body(bpy, name, **settings):
    item = bpy.context.object
    item.name, item.axion.enabled = name, True
    for key, value in settings.items():
        setattr(item.axion, key, value)
    return item


def _joint(bpy, name, kind, first, second, location):
    bpy.ops.object.empty_add(radius=0.1, location=location, rotation=(math.pi / 2, 0, 0))
    item = bpy.context.object
    item.name, own = name, item.axion_joint
    own.enabled, own.type, own.object1, own.object2 = True, kind, first, second
    return own


class Window:
    """The window at hand, its 3D viewport, and a mouse."""

    def __init__(self, bpy, folder, capture):
        self.bpy, self.folder, self.capture = bpy, Path(folder), capture
        self.window = bpy.context.window_manager.windows[0]
        self.area = max((a for a in self.window.screen.areas if a.type == "VIEW_3D"), key=lambda a: a.width)
        self.region = next(r for r in self.area.regions if r.type == "WINDOW")
        self.space = self.area.spaces.active

    def look(self, place, distance, turn):
        """Look at a place from a distance, turned by Euler angles."""
        from mathutils import Euler

        view = self.space.region_3d
        view.view_location, view.view_distance = place, distance
        view.view_rotation, view.view_perspective = Euler(turn).to_quaternion(), "PERSP"

    def mouse(self, kind, value, spot):
        """A mouse event at a spot of the region."""
        x, y = int(self.region.x + spot[0]), int(self.region.y + spot[1])
        self.window.event_simulate(type=kind, value=value, x=x, y=y)

    def key(self, kind, **held):
        """Press and release a key over the region."""
        for value in ("PRESS", "RELEASE"):
            self.window.event_simulate(type=kind, value=value, x=self.region.x + 9, y=self.region.y + 9, **held)

    def project(self, point):
        """The spot of the region that shows a place of the world."""
        from bpy_extras.view3d_utils import location_3d_to_region_2d

        return location_3d_to_region_2d(self.region, self.space.region_3d, point)

    def picture(self, name):
        """Write what the viewport and its sidebar show."""
        path = self.folder / name
        yield 0.5
        if self.capture:
            subprocess.run(shlex.split(self.capture.format(path)), check=True)
        else:
            with self.bpy.context.temp_override(window=self.window):
                self.bpy.ops.screen.screenshot(filepath=str(path))
        self._trim(path)

    def _trim(self, path):
        """Cut a picture of the whole screen to the viewport, with few colours, so that it is small."""
        import numpy as np
        from axion.axion_blender import raster

        image, area = self.bpy.data.images.load(str(path), check_existing=False), self.area
        width, height = image.size
        pixels = np.empty(4 * width * height, np.float32)
        image.pixels.foreach_get(pixels)
        self.bpy.data.images.remove(image)
        pixels = (255.0 * pixels.reshape(height, width, 4)[..., :3]).astype(np.uint8)  # the lowest row first
        pixels = pixels[area.y : area.y + area.height, area.x : area.x + area.width][::-1]
        path.write_bytes(raster.png(pixels // COLORS * COLORS))
        assert np.ptp(pixels) > 100, f"{path.name} shows nothing: give --capture a program that reads the screen"
        print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB", flush=True)


def inside(folder, capture):
    """The session in the window, in steps."""
    import bpy
    from axion.axion_blender import graph, last_bake, limit_handles, physics_strokes
    from axion.axion_blender.ui import report_graph

    wrecking_ball(bpy)
    scene, view = bpy.context.scene, Window(bpy, folder, capture)
    view.look((0.4, 0, 0.9), 5.6, (math.radians(82), 0, math.radians(20)))
    view.space.show_region_ui = False
    yield 0.5
    bpy.ops.axion.bake("EXEC_DEFAULT")
    scene.frame_set(26)
    yield 1.0
    yield from view.picture("overlays.png")

    scene.axion.overlays.graph = "ALL"
    yield 1.0
    with bpy.context.temp_override(window=view.window, area=view.area, region=view.region):
        plot = report_graph.drawing(bpy.context).plots[1]
    frames = graph.table(last_bake.document(scene)).frames
    wanted = next((run[2] for run in _runs(last_bake.document(scene))), 30)
    part = (wanted - frames[0]) / (frames[-1] - frames[0])
    spot = plot[0] + part * plot[2], plot[1] + 0.5 * plot[3]
    for kind, value in (("MOUSEMOVE", "NOTHING"), ("LEFTMOUSE", "PRESS"), ("LEFTMOUSE", "RELEASE")):
        view.mouse(kind, value, spot)
        yield 0.5
    chosen = [item.name for item in bpy.context.view_layer.objects.selected]
    assert scene.frame_current == wanted and chosen, (scene.frame_current, wanted, chosen)
    print(f"a click on the graph went to frame {wanted} and selected {', '.join(chosen)}", flush=True)
    yield from view.picture("report.png")

    scene.axion.overlays.graph = "NONE"
    scene.frame_set(1)
    pin = bpy.data.objects["Pin 1"]
    bpy.ops.object.select_all(action="DESELECT")
    pin.select_set(True)
    bpy.context.view_layer.objects.active = pin
    bpy.ops.ed.undo_push(message="Select")
    view.look((0, 0, 2.2), 1.6, (math.radians(80), 0, math.radians(10)))
    yield 1.0
    before, pose = pin.axion_joint.limit_ang_z_upper, physics_strokes.pose_now(scene, pin)
    size = scene.axion.overlays.size
    ways = [limit_handles.place("limit_ang_z_upper", before - k * 0.1, *pose, size)[0] for k in range(11)]
    spots = [view.project(way) for way in ways]
    view.mouse("MOUSEMOVE", "NOTHING", spots[0])
    yield 0.5
    view.mouse("LEFTMOUSE", "PRESS", spots[0])
    for spot in spots:
        view.mouse("MOUSEMOVE", "NOTHING", spot)
        yield 0.1
    yield from view.picture("limits.png")
    view.mouse("LEFTMOUSE", "RELEASE", spots[-1])
    yield 0.5
    after = bpy.data.objects["Pin 1"].axion_joint.limit_ang_z_upper
    assert abs(after - (before - 1.0)) < 0.05, (before, after)
    view.key("Z", ctrl=True)
    yield 0.5
    assert bpy.data.objects["Pin 1"].axion_joint.limit_ang_z_upper == before
    print(f"a drag took the limit from {before:.3f} to {after:.3f}, undo took it back", flush=True)
    yield from _thousand(bpy, view)


def _runs(document):
    from axion.axion_blender import report

    return report.bad_runs(document)


def _thousand(bpy, view):
    """Time the redraw of 1000 bodies at rest, with and without overlays."""
    scene = bpy.context.scene
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    cube = bpy.data.meshes.new("Cube")
    corners = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)]
    faces = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    cube.from_pydata(corners, [], faces)
    bpy.ops.mesh.primitive_plane_add(size=20.0)
    _body(bpy, "Ground", type="PASSIVE", collision_shape="BOX")
    for k in range(1000):
        item = bpy.data.objects.new(f"Cube {k}", cube)
        scene.collection.objects.link(item)
        item.location = (0.3 * (k % 32) - 4.6, 0.3 * (k // 32) - 4.6, 0.1)
        item.axion.enabled, item.axion.collision_shape = True, "BOX"
    scene.frame_end, scene.axion.use_tolerance = 4, False
    bpy.ops.axion.bake("EXEC_DEFAULT")
    view.look((0, 0, 0), 14.0, (math.radians(60), 0, 0.4))
    yield 1.0
    for show in (True, False, True):
        scene.axion.overlays.show = show
        times = []
        for frame in (2, 3, 4):
            scene.frame_set(frame)
            with bpy.context.temp_override(window=view.window, area=view.area, region=view.region):
                began = time.perf_counter()
                bpy.ops.wm.redraw_timer(type="DRAW", iterations=1)
                first = time.perf_counter() - began
                bpy.ops.wm.redraw_timer(type="DRAW", iterations=5)
                times.append((first, (time.perf_counter() - began - first) / 5.0))
        first, again = (1e3 * min(column) for column in zip(*times, strict=True))
        print(f"1000 bodies, overlays {show}: {first:.1f} ms a new frame, {again:.1f} ms again", flush=True)
        yield 0.2


if __name__ == "__main__":
    blender_window.pictures(__file__, inside, __doc__, SIZE)
