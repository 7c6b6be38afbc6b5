# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes the manual's pictures of the panels that open over others, in Blender's window.

    BLENDER=path/to/blender python tools/popover_pictures.py docs/images [--capture "import -window root {}"]

capture: as for report_pictures.py.  Keeps a material of its own in an empty profile, so that the list shows one.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import blender_window
from panel_popovers import POPOVERS
from report_pictures import Window

SIZE = (1000, 1400)
MARGIN = 12
"""Pixels around what opened."""
PATIENCE = 40
"""Looks at the screen, half a second apart, until something has opened."""


def inside(folder, capture):
    """The session in the window, in steps."""
    import bpy

    view = Window(bpy, folder, capture)
    view.space.show_region_ui = False
    cube = bpy.data.objects["Cube"]
    cube.axion.enabled, cube.axion.use_density, cube.axion.density = True, True, 1150.0
    bpy.context.view_layer.objects.active = cube
    bpy.ops.axion.add_material_preset(name="Rubber Mat")
    for item in list(bpy.data.objects):  # the viewport behind is still and grey
        if item != cube:
            bpy.data.objects.remove(item)
    cube.hide_set(True)
    view.space.overlay.show_floor = view.space.overlay.show_axis_x = view.space.overlay.show_axis_y = False
    spot = (view.region.width // 2, 9 * view.region.height // 10)
    for name, (panel, picture) in POPOVERS.items():
        view.mouse("MOUSEMOVE", "NOTHING", spot)
        yield 1.0
        yield from view.picture(picture)
        before = read(bpy, view.folder / picture)
        with bpy.context.temp_override(window=view.window, area=view.area, region=view.region):
            bpy.ops.wm.call_panel("INVOKE_DEFAULT", name=panel, keep_open=True)
        for _ in range(PATIENCE):
            yield from view.picture(picture)
            after = read(bpy, view.folder / picture)
            if (abs(after - before).max(axis=2) > 0.1).mean() > 0.01:
                break
        else:
            raise AssertionError(f"{panel} did not open")
        yield 1.0
        yield from view.picture(picture)
        cut(view.folder / picture, before, read(bpy, view.folder / picture))
        print(f"{name}: {picture}", flush=True)
        view.key("ESC")
        yield 1.0


def read(bpy, path):
    """Pixels (height, width, 3) of a PNG, 0 to 1, the highest row first."""
    import numpy as np

    image = bpy.data.images.load(str(path), check_existing=False)
    pixels = np.empty(4 * image.size[0] * image.size[1], np.float32)
    image.pixels.foreach_get(pixels)
    pixels = pixels.reshape(image.size[1], image.size[0], 4)[::-1, :, :3]
    bpy.data.images.remove(image)
    return pixels


def cut(path, before, after):
    """Keep of a picture what has opened since ``before``."""
    import numpy as np
    from axion.axion_blender import raster

    changed = abs(after - before).max(axis=2) > 0.1
    rows, columns = np.flatnonzero(changed.mean(axis=1) > 0.05), np.flatnonzero(changed.mean(axis=0) > 0.02)
    top, bottom = max(rows.min() - MARGIN, 0), rows.max() + MARGIN
    left, right = max(columns.min() - MARGIN, 0), columns.max() + MARGIN
    path.write_bytes(raster.png(np.round(255.0 * after[top:bottom, left:right]).astype(np.uint8)))


if __name__ == "__main__":
    blender_window.pictures(__file__, inside, __doc__, SIZE)
