# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes the pictures of the panels in docs/images, in the window of the Blender that the variable BLENDER names.

    BLENDER=/path/to/blender python tools/picture_panels.py [-o FOLDER] [--only NAME ...] [-- BLENDER ARGUMENTS]

It needs a screen, real or virtual.  Each picture shows chosen panels of this checkout, opened, on a scene made for it;
other panels are hidden, and what is empty is cut off.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH, HEIGHT = 440, 1400
"""Of the window [pixels]; a screen that is lower cuts long panels."""
MARGIN = 14
PATIENCE = 240.0
"""Seconds for all pictures."""
LARGEST = 150_000
"""Bytes of a picture."""


def outside(arguments, more):
    """Start Blender on this very file; returns its exit status."""
    blender = os.environ.get("BLENDER")
    if not blender:
        raise SystemExit("the environment variable BLENDER names no Blender program")
    arguments.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as profile:
        environment = {**os.environ, "BLENDER_USER_RESOURCES": profile}
        geometry = ["--window-geometry", "0", "0", str(WIDTH), str(HEIGHT)]
        own = ["--python", __file__, "--", str(arguments.output), *arguments.only]
        command = [blender, "--factory-startup", *geometry, "--python-exit-code", "1", *more, *own]
        return subprocess.run(command, env=environment, check=False, timeout=PATIENCE + 60.0).returncode


# Inside Blender -------------------------------------------------------------------------------------------------------


def imported():
    """The checkout as the package ``axion``."""
    spec = importlib.util.spec_from_file_location("axion", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    module = importlib.util.module_from_spec(spec)
    sys.modules["axion"] = module
    spec.loader.exec_module(module)
    return module


class Studio:
    """Registers the add-on with all panels open, and shows only those that a picture asks for."""

    def __init__(self, axion):
        import bpy

        ui = importlib.import_module("axion.axion_blender.ui")
        self.bpy, self.shown, self.failed = bpy, set(), []
        for cls in ui.CLASSES:
            if issubclass(cls, bpy.types.Panel):
                self._prepare(cls)
        bpy.context.preferences.view.show_splash = False
        bpy.context.preferences.system.use_region_overlap = False
        axion.register()
        for name in dir(bpy.types):
            cls = getattr(bpy.types, name)
            foreign = isinstance(cls, type) and issubclass(cls, bpy.types.Panel) and not name.startswith("AXION_")
            if foreign and getattr(cls, "is_registered", False) and self._in_the_way(cls):
                bpy.utils.unregister_class(cls)

    def _prepare(self, cls):
        cls.bl_options = set(getattr(cls, "bl_options", set())) - {"DEFAULT_CLOSED"}
        own = getattr(cls, "poll", None)
        shown = self.shown

        def poll(cls, context):
            return cls.__name__ in shown and (own is None or own.__func__(cls, context))

        cls.poll = classmethod(poll)
        drawing, failed = cls.draw, self.failed

        def draw(panel, context):
            try:
                drawing(panel, context)
            except Exception as error:
                failed.append(f"{cls.__name__}: {type(error).__name__}: {error}")
                raise

        cls.draw = draw

    @staticmethod
    def _in_the_way(cls):
        place = (getattr(cls, "bl_space_type", ""), getattr(cls, "bl_region_type", ""))
        if place == ("VIEW_3D", "UI"):
            return True
        return place == ("PROPERTIES", "WINDOW") and getattr(cls, "bl_context", "") in ("scene", "physics")

    def fill(self, kind):
        """Let the area of the wanted editor fill the window; returns nothing, the screen changes later."""
        bpy = self.bpy
        window = bpy.context.window_manager.windows[0]
        if window.screen.show_fullscreen:
            area = window.screen.areas[0]
            area.type = kind
            return
        area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
        area.type = kind
        with bpy.context.temp_override(window=window, area=area, region=area.regions[-1]):
            bpy.ops.screen.screen_full_area(use_hide_panels=True)

    def aim(self, picture):
        """Show the editor and tab of a picture."""
        area = self.bpy.context.window_manager.windows[0].screen.areas[0]
        space = area.spaces.active
        if picture.editor == "VIEW_3D":
            space.show_region_ui, space.show_region_toolbar, space.show_region_header = True, False, False
        else:
            space.context = picture.tab
            space.show_region_header = False
        area.tag_redraw()

    def shoot(self, picture, folder):
        """Generator of pauses: waits until the region of a picture is drawn again, and saves what was drawn."""
        bpy, taken = self.bpy, []
        area = bpy.context.window_manager.windows[0].screen.areas[0]
        kind = "UI" if picture.editor == "VIEW_3D" else "WINDOW"
        space = bpy.types.SpaceView3D if picture.editor == "VIEW_3D" else bpy.types.SpaceProperties
        handler = space.draw_handler_add(read_region, (taken,), kind, "POST_PIXEL")
        try:
            while not taken:
                area.tag_redraw()
                yield 0.2
        finally:
            space.draw_handler_remove(handler, kind)
        if self.failed:
            raise SystemExit("; ".join(self.failed))
        path = folder / f"panel_{picture.name}.png"
        save(bpy, taken[-1], path)
        size = path.stat().st_size
        if size > LARGEST:
            raise SystemExit(f"{path.name} has {size} bytes, more than {LARGEST}: show fewer panels in it")
        print(f"picture {path.name}: {size} bytes", flush=True)


def read_region(taken):
    """While a region is drawn: append its pixels (height, width, 4), bytes, the lowest row first.

    Blender's own screenshot reads the window's front buffer, which is black with some drivers.
    """
    import bpy
    import gpu
    import numpy as np

    width, height = bpy.context.region.width, bpy.context.region.height
    pixels = gpu.state.active_framebuffer_get().read_color(0, 0, width, height, 4, 0, "UBYTE")
    pixels.dimensions = width * height * 4
    taken.append(np.array(pixels, np.uint8).reshape(height, width, 4))


def save(bpy, pixels, path):
    """Cut off the empty rows below what ``pixels`` shows, and write a PNG."""
    import numpy as np

    inner = pixels[:, 12:-24, :3].astype(int)
    busy = np.flatnonzero(np.ptp(inner, axis=1).max(axis=1) > 5)
    if len(busy) == 0:
        raise SystemExit(f"{path.name} would be empty: its panels were not drawn")
    pixels = pixels[max(busy.min() - MARGIN, 0) :].astype(np.float32) / 255.0
    pixels[:, :, 3] = 1.0
    image = bpy.data.images.new("picture", pixels.shape[1], pixels.shape[0], alpha=False)
    image.pixels.foreach_set(np.ascontiguousarray(pixels).ravel())
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()
    bpy.data.images.remove(image)


def inside(folder, only):
    """Take the pictures one after the other while Blender draws in between, then quit."""
    import bpy

    sys.path.insert(0, str(ROOT / "tools"))
    studio = Studio(imported())
    import panel_scenes

    pictures = [picture for picture in panel_scenes.PICTURES if not only or picture.name in only]
    steps, began = take(studio, pictures, Path(folder)), time.monotonic()

    def tick():
        if time.monotonic() - began > PATIENCE:
            print("picture_panels: took too long", file=sys.stderr, flush=True)
            os._exit(1)
        try:
            return next(steps)
        except StopIteration:
            os._exit(0)
        except BaseException as error:  # noqa: BLE001 - a timer that fails leaves a window that nobody closes
            print(f"picture_panels: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)

    bpy.app.timers.register(tick, first_interval=1.0)


def take(studio, pictures, folder):
    """Generator of pauses [s] in which Blender draws."""
    for picture in pictures:
        studio.shown.clear()
        studio.shown.update(picture.panels)
        picture.setup()
        studio.fill(picture.editor)
        yield 0.5
        studio.aim(picture)
        yield 1.5
        yield from studio.shoot(picture, folder)


if __name__ == "__main__":
    if "bpy" in sys.modules:
        given = sys.argv[sys.argv.index("--") + 1 :]
        inside(given[0], set(given[1:]))
    else:
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs/images", help="folder of the pictures")
        parser.add_argument("--only", nargs="+", default=[], help="names of the pictures to take; all without it")
        split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
        sys.exit(outside(parser.parse_args(sys.argv[1:split]), sys.argv[split + 1 :]))
