# SPDX-License-Identifier: GPL-3.0-or-later
"""Ends bakes in every way a window knows, in the real Blender, and checks that each leaves a sound Blender behind.

    BLENDER=/path/to/blender python tools/end_bakes.py [NAME ...]

Esc, undo, another file, a deleted scene, a closed window, work in another one, the extension switched off, Edit Mode at
the end, playback, a script that blocks, and Blender's own end.  Each way is one start of Blender; NAMEs choose some.
"""

import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import blender_window  # noqa: E402

FRAMES = 2000
LIMIT = 180.0
"""Seconds that a step may take."""
WORKERS = ("THREAD", "PROCESS")


def main(names):
    """Outside Blender; returns the number of ways that failed."""
    failed = []
    for name in names or WAYS:
        for worker in WORKERS:
            status = blender_window.start(__file__, [name, worker], size=(900, 600), simulate=True, limit=400)
            print(f"{'ok    ' if status == 0 else 'FAILED'} {name}, {worker.lower()}", flush=True)
            failed += [name] * (status != 0)
    return len(failed)


def inside():
    """Inside Blender."""
    name, worker = blender_window.arguments()
    from axion.axion_blender import preferences

    chosen = preferences.get
    preferences.get = lambda asked: worker if asked == "solve_in" else chosen(asked)
    blender_window.play(WAYS[name]())


def build(frames=FRAMES):
    """Boxes that fall."""
    import bpy

    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames + 1
    for n in range(4):
        bpy.ops.mesh.primitive_cube_add(size=1.0, location=(2.0 * n, 0.0, 5.0))
        bpy.context.object.axion.enabled = True
    bpy.ops.ed.undo_push(message="Built")


def begin(window=None):
    """Bake as the button does; returns the running Bake."""
    import bpy
    from axion.axion_blender import running

    window = window or bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.axion.bake("INVOKE_DEFAULT")
    return running.current()


def wait(reached):
    """Leave Blender alone until ``reached()``."""
    until = time.monotonic() + LIMIT
    while not reached():
        if time.monotonic() > until:
            raise AssertionError("it takes too long")
        yield 0.05


def under_way(frames=FRAMES):
    """Build, bake, and wait for some frames; returns the running Bake."""
    build(frames)
    yield 0.5
    bake = begin()
    yield from wait(lambda: bake.job.solved > 20)
    return bake


def settled(bake, phase="cancelled"):
    """Wait until nothing runs, and check that nothing is left of it."""
    import bpy
    from axion.axion_blender import running

    yield from wait(lambda: running.current() is None)
    yield from wait(lambda: all(thread.name != "axion bake" for thread in threading.enumerate()))
    # Operators end at the next event of their window.
    yield from wait(lambda: not any(window.modal_operators for window in bpy.context.window_manager.windows))
    assert bake.job.phase.value == phase, bake.job.phase
    assert all(not workspace.status_text_set(None) for workspace in bpy.data.workspaces)
    assert phase == "done" or not bpy.data.actions, "no keys are left"
    assert bpy.data.scenes[0].frame_current == 1


def key(name, number=0, **modifiers):
    """A key on the keyboard, with the mouse over the viewport of the window of that number."""
    import bpy

    window = bpy.context.window_manager.windows[number]
    window.event_simulate("MOUSEMOVE", "NOTHING", x=300, y=300)
    yield 0.1
    for value in ("PRESS", "RELEASE"):
        window.event_simulate(name, value, x=300, y=300, **modifiers)
        yield 0.1


def by_escape():
    """Esc."""
    bake = yield from under_way()
    yield from key("ESC")
    yield from settled(bake)


def by_undo():
    """Ctrl Z."""
    bake = yield from under_way()
    yield from key("Z", ctrl=True)
    yield from settled(bake)
    assert "Undo" in bake.stopped


def by_file():
    """Another file."""
    import bpy

    bake = yield from under_way()
    bpy.ops.wm.read_homefile(app_template="")
    yield from settled(bake)


def by_scene():
    """The scene is deleted."""
    import bpy

    bake = yield from under_way()
    scene = bpy.context.scene
    bpy.context.window_manager.windows[0].scene = bpy.data.scenes.new("Other")
    bpy.data.scenes.remove(scene)
    yield from settled(bake)
    assert "deleted" in bake.stopped


def by_window():
    """The window that the bake was started in is closed, another one stays."""
    import bpy

    build()
    bpy.ops.wm.window_new()
    yield 1.0
    window = bpy.context.window_manager.windows[-1]
    bake = begin(window)
    yield from wait(lambda: bake.job.solved > 20)
    with bpy.context.temp_override(window=window):
        bpy.ops.wm.window_close()
    yield from settled(bake)


def beside_another_window():
    """Somebody deletes the bodies in another window: not while keys are written, else as in the bake's own."""
    import bpy

    build(100)
    bpy.ops.wm.window_new()
    yield 1.0
    bake = begin()
    write, tried = bake.job.write, []

    def dawdling(trajectory):
        while not tried:
            yield 0.0
        return (yield from write(trajectory))

    bake.job.write = dawdling
    yield from wait(lambda: bake.ticker.writing)
    names = set(bpy.data.objects.keys())
    bpy.ops.object.select_all(action="SELECT")
    yield from key("DEL", number=1)
    yield 0.5
    assert bake.ticker.writing and set(bpy.data.objects.keys()) == names, "nothing is deleted while keys are written"
    tried.append(True)
    yield from settled(bake, "done")
    yield from key("DEL", number=1)
    yield 0.5
    assert not bpy.data.objects, "the other window is free again"


def beside_another_window_escape():
    """Esc in another window."""
    import bpy

    build()
    bpy.ops.wm.window_new()
    yield 1.0
    bake = begin()
    yield from wait(lambda: bake.job.solved > 20)
    yield from key("ESC", number=1)
    yield from settled(bake)


def by_extension():
    """The extension is switched off, and on again."""
    import axion

    bake = yield from under_way()
    axion.unregister()
    yield 0.5
    axion.register()
    yield from settled(bake)


def after_edit_mode():
    """The user is in Edit Mode when the last frame is solved: the keys wait, and are one undo step."""
    import bpy

    bake = yield from under_way(100)
    bpy.ops.object.mode_set(mode="EDIT")
    yield from wait(lambda: bake.job.phase.value == "solved")
    yield 1.0
    assert bake.job.phase.value == "solved", "no keys in Edit Mode"
    bpy.ops.object.mode_set(mode="OBJECT")
    yield from settled(bake, "done")
    baked = len(bpy.data.actions)
    yield from key("Z", ctrl=True)
    assert baked == 1 and not bpy.data.actions, "one undo takes the bake back"
    yield from key("Z", ctrl=True, shift=True)
    assert len(bpy.data.actions) == 1, "one redo brings it again"


def while_playing():
    """The animation plays, Esc stops it and not the bake; the second Esc is the bake's."""
    import bpy

    bake = yield from under_way()
    screen = bpy.context.window_manager.windows[0].screen
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
        bpy.ops.screen.animation_play()
    yield 1.0
    assert screen.is_animation_playing and bpy.context.scene.frame_current != 1
    yield from key("ESC")
    assert not screen.is_animation_playing and not bake.job.cancelling
    bpy.context.scene.frame_set(1)
    yield from key("ESC")
    yield from settled(bake)


def by_script():
    """A script's bake blocks and is done when it returns."""
    import bpy

    build(10)
    yield 0.5
    assert bpy.ops.axion.bake() == {"FINISHED"} and len(bpy.data.actions) == 1


def by_crash():
    """The process that solves dies; on a thread nothing can, so there it is Esc."""
    bake = yield from under_way()
    if bake.job._abort is None:
        yield from key("ESC")
        yield from settled(bake)
        return
    bake.job._abort()
    yield from settled(bake, "failed")
    assert "died after frame" in str(bake.job.error)


def by_quitting():
    """Blender is closed."""
    import bpy

    yield from under_way()
    bpy.ops.wm.quit_blender()
    yield LIMIT
    raise AssertionError("Blender is still there")


WAYS = {
    way.__name__: way
    for way in (
        *(by_escape, by_undo, by_file, by_scene, by_window, beside_another_window, beside_another_window_escape),
        *(by_extension, after_edit_mode, while_playing, by_script, by_crash, by_quitting),
    )
}


if __name__ == "__main__":
    if blender_window.in_blender():
        inside()
    else:
        sys.exit(main(sys.argv[1:]))
