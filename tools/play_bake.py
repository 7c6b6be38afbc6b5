# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays a bake through in Blender's window by mouse alone, checks every step, and leaves pictures for the manual.

    BLENDER=/path/to/blender python tools/play_bake.py [--pictures docs/images] [--capture "import -window root {}"]

Selects boxes, makes them bodies, joins a door to its post, bakes, looks at another frame meanwhile, cancels, bakes
again and clears the bake.  --capture: a command that takes the picture where Blender cannot read its own window.
"""

import argparse
import shlex
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import blender_window  # noqa: E402
from mouse import Mouse  # noqa: E402

FRAMES, SUBSTEPS = 120, 6
SHADES = 48
"""Of each colour in the pictures; a tenth of their size, and nobody sees it."""
LIMIT = 400.0
"""Seconds that any step may take."""


def main(argv):
    """Outside Blender."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", default=str(ROOT / "docs" / "images"), help="folder for the pictures")
    parser.add_argument("--capture", default="", help="command that writes a picture of the screen to {}")
    options = parser.parse_args(argv)
    folder = str(Path(options.pictures).resolve())
    return blender_window.start(__file__, [folder, options.capture], size=(1000, 760), simulate=True)


class Play:
    """The steps; each is a generator for ``blender_window.play``."""

    def __init__(self, folder, capture):
        import bpy

        self.folder, self.capture = Path(folder), capture
        self.scene = bpy.context.scene
        self.window = bpy.context.window_manager.windows[0]
        self.area = next(area for area in self.window.screen.areas if area.type == "VIEW_3D")
        self.mouse = Mouse(self.window, self.area)

    def steps(self):
        """Everything, in order."""
        import bpy
        from axion.axion_blender import running

        build(self.scene)
        self.area.spaces.active.show_region_ui = True
        self.area.spaces.active.region_3d.view_location = (2.6, 1.2, 1.0)
        self.area.spaces.active.region_3d.view_distance = 19.0
        yield 1.5
        self.mouse.region("UI").active_panel_category = "Axion"
        yield 1.0
        objects = self.scene.objects
        boxes = [item for item in objects if item.name.startswith("Box")]

        yield from self.select(boxes)
        yield from self.mouse.press("axion.add_bodies(type='ACTIVE')")
        expect(all(item.axion.enabled and item.axion.type == "ACTIVE" for item in boxes), "the boxes are active bodies")
        for name, kind in (("Ground", "PASSIVE"), ("Post", "PASSIVE"), ("Door", "ACTIVE")):
            yield from self.select([objects[name]])
            yield from self.mouse.press(f"axion.add_bodies(type='{kind}')")
            expect(objects[name].axion.enabled and objects[name].axion.type == kind, f"{name} is {kind.lower()}")
        yield from self.select([objects["Post"], objects["Door"]])
        yield from self.mouse.press("axion.add_joint(type='HINGE'")
        joint = next((item for item in objects if item.axion_joint.enabled), None)
        expect(joint is not None and joint.axion_joint.type == "HINGE", "a hinge joins post and door")

        before = state(self.scene)
        yield from self.mouse.press("axion.bake()")
        expect(running.current() is not None, "a bake runs")
        yield from wait(lambda: running.current().job.solved > FRAMES // 20, "the first frames are solved")
        poll = bpy.ops.axion.add_bodies.poll
        expect(not poll() and not bpy.ops.axion.bake.poll(), "the setup is locked")
        yield from self.orbit()
        yield from wait(lambda: running.current().job.solved > FRAMES // 15, "it goes on while the view turns")
        yield from self.picture("bake-running")
        # The solver waits until the button is found: a slow screen takes longer for that than a fast solver for all.
        goes_on = hold(running.current().job)
        place = yield from self.mouse.find("axion.cancel_bake()")
        solved = running.current().job.solved
        expect(0 < solved < FRAMES, "it has not ended")
        yield from self.mouse.click(*place)
        expect(running.current() is None or running.current().job.cancelling, "a click asks it to stop")
        goes_on.set()
        yield from wait(lambda: running.current() is None, "the bake is cancelled")
        expect(state(self.scene) == before, "a cancelled bake leaves nothing behind")
        yield from self.picture("bake-cancelled")

        yield from self.mouse.press("axion.bake()")
        again = running.current().job
        yield from wait(lambda: again.latest is not None, "the second bake begins")
        expect(again.solved >= solved and again.reports[0].frame == 1, "it goes on where the first was cancelled")
        yield from wait(lambda: running.current() is None, "the second bake ends")
        expect(objects["Door"].animation_data is not None, "the door has keys")
        self.scene.frame_set(self.scene.frame_end)
        yield 1.0
        yield from self.picture("bake-done")
        self.scene.frame_set(1)
        yield from self.mouse.press("axion.clear_bake()")
        expect(state(self.scene) == before, "Clear Bake gives the scene back")
        print("played through", flush=True)

    def failure(self):
        """Leave a picture of where it went wrong."""
        for _ in self.picture("bake-failed"):
            pass

    def select(self, items):
        """Click the first, shift-click the others."""
        for number, item in enumerate(items):
            yield from self.mouse.click_at(item.matrix_world.translation, shift=number > 0)
        chosen = {item.name for item in self.scene.objects if item.select_get()}
        expect(chosen == {item.name for item in items}, f"{', '.join(item.name for item in items)} selected")

    def orbit(self):
        """Turn the view a little with the middle mouse button."""
        view = self.area.spaces.active.region_3d
        before = view.view_rotation.copy()
        yield from self.mouse.drag("MIDDLEMOUSE", (300, 300), (380, 310))
        expect(view.view_rotation != before, "the view turns during the bake")

    def picture(self, name):
        """A picture of the window, small enough for the repository."""
        import bpy

        path = self.folder / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        yield 0.5
        if self.capture:
            subprocess.run(shlex.split(self.capture.format(path)), check=True)
        else:
            with bpy.context.temp_override(window=self.window):
                bpy.ops.screen.screenshot(filepath=str(path))
        shrink(path, self.window)


def hold(job):
    """Let a running job wait after its next frame; returns the threading.Event that lets it go on."""
    goes_on, on_frame = threading.Event(), job.on_frame

    def wait_there(result):
        on_frame(result)
        goes_on.wait(LIMIT)

    job.on_frame = wait_there
    return goes_on


def expect(truth, what):
    """Say a step that worked; stop where it did not."""
    if not truth:
        raise AssertionError(f"not so: {what}")
    print(f"ok: {what}", flush=True)


def wait(reached, what):
    """Leave Blender alone until ``reached()``."""
    until = time.monotonic() + LIMIT
    while not reached():
        if time.monotonic() > until:
            expect(False, f"{what} within {LIMIT:g} s")
        yield 0.05
    expect(True, what)


def state(scene):
    """What a bake may not change for good."""
    import bpy

    moved = {item.name: (tuple(item.location), tuple(item.rotation_euler)) for item in scene.objects}
    return moved, len(bpy.data.actions), len(bpy.data.texts), scene.frame_current, sorted(bpy.data.objects.keys())


def build(scene):
    """A floor, a post with a door, and boxes that fall on it."""
    import bpy

    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    scene.frame_start, scene.frame_end = 1, FRAMES + 1
    parts = {"Ground": ((0, 0, -0.25), (12, 12, 0.5)), "Post": ((-2, -3.5, 1.5), (0.3, 0.3, 3))}
    parts["Door"] = ((-2, -2.4, 1.5), (0.2, 1.7, 2.6))
    parts |= {f"Box {n}": ((1.0 + 1.6 * (n % 3), 0.3 * n, 1.5 + 1.6 * (n // 3)), (1, 1, 1)) for n in range(6)}
    for name, (location, size) in parts.items():
        bpy.ops.mesh.primitive_cube_add(size=1.0, location=location)
        item = bpy.context.object
        item.name, item.scale = name, size
    for item in scene.objects:
        item.select_set(False)
    # The floor shakes and the steps are short, or all would be at rest, and solved, before the mouse finds a button.
    shaken = bpy.data.objects["Ground"].driver_add("location", 2).driver
    shaken.expression = "0.02 * sin(frame / 3) - 0.25"
    scene.axion.substeps = SUBSTEPS


def shrink(path, window):
    """Cut a picture to the window and pack it as tightly as PNG goes."""
    import bpy
    import numpy as np

    image = bpy.data.images.load(str(path), check_existing=False)
    width, height = image.size
    pixels = np.empty(4 * width * height, np.float32)
    image.pixels.foreach_get(pixels)
    pixels = pixels.reshape(height, width, 4)[: window.height, : window.width]
    bpy.data.images.remove(image)
    expect(pixels[..., :3].max() > 0.05, f"{path.name} is not black")
    small = bpy.data.images.new("picture", pixels.shape[1], pixels.shape[0])
    small.pixels.foreach_set((np.round(pixels * SHADES) / SHADES).ravel())
    settings = bpy.context.scene.render.image_settings
    settings.file_format, settings.color_mode, settings.compression = "PNG", "RGB", 100
    view = bpy.context.scene.view_settings.view_transform
    bpy.context.scene.view_settings.view_transform = "Standard"
    small.save_render(str(path))
    bpy.context.scene.view_settings.view_transform = view
    bpy.data.images.remove(small)


if __name__ == "__main__":
    if blender_window.in_blender():
        given = Play(*blender_window.arguments())
        blender_window.play(given.steps(), on_failure=given.failure)
    else:
        sys.exit(main(sys.argv[1:]))
