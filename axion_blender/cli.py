# SPDX-License-Identifier: GPL-3.0-or-later
"""``blender --command axion_bake IN.blend -o OUT.blend``, and the same program on the bpy wheel, ``axion-bake``.

Progress goes to stdout, a line a frame; the reason of a failure is one line on stderr.  OUT appears whole or not at
all.
"""

import argparse
import contextlib
import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

from . import report_files, whole_files

BAKED, FAILED, USAGE, MISSED, STOPPED = 0, 1, 2, 3, 130
NAME = "axion_bake"
TRACEBACK = "AXION_TRACEBACK"
"""Environment variable for developers: let an unexpected error show its traceback."""
EXPECTED = (ValueError, OSError, RuntimeError, MemoryError, ImportError)
"""SceneError among them; their text stands for itself, while that of a bug needs its type."""
CLASSES = ()
LAST_FRAME = 1048574
"""Blender's MAXFRAME; its first frame is the negative of it."""

_command = None


def attach():
    """Offer the command to Blender."""
    global _command
    import bpy

    _command = bpy.utils.register_cli_command(NAME, main)


def detach():
    """Withdraw the command."""
    global _command
    import bpy

    bpy.utils.unregister_cli_command(_command)
    _command = None


def parser(program=NAME):
    """The arguments.  Knows no Blender."""
    arguments = argparse.ArgumentParser(
        prog=program,
        description="Bake a scene's Axion bodies into keyframes.",
        epilog="Exit status: 0 baked; 1 the scene cannot be baked; 2 usage; 3 baked, but frames missed the tolerance"
        " and --strict was given; 130 stopped by Ctrl-C.  OUT is written only at 0 and 3.",
    )
    arguments.add_argument("input", metavar="IN.blend", help="file to bake; it is not changed, unless OUT is the same")
    arguments.add_argument("-o", "--output", metavar="OUT.blend", required=True, help="file to write")
    arguments.add_argument("--frames", nargs=2, type=int, metavar=("A", "B"), help="first and last frame")
    arguments.add_argument("--device", help='"auto", "cpu", "cuda:0" and the like; default: as the scene says')
    arguments.add_argument("--quality", choices=("preview", "normal", "final"), help="default: as the scene says")
    arguments.add_argument(
        "--report", metavar="R.json", help="write a report on every frame; R.csv, R.png: as table, graphs"
    )
    arguments.add_argument("--convert-native", action="store_true", help="convert Blender's rigid bodies first")
    arguments.add_argument(
        "--no-resume", action="store_true", help="solve every frame anew, whatever an earlier bake has kept"
    )
    arguments.add_argument("--strict", action="store_true", help="exit with 3 if a frame missed the tolerance")
    return arguments


def main(argv=None, program=NAME):
    """Run the command; returns its exit status.  ``argv``: the arguments after the command's name."""
    arguments = parser(program)
    try:
        options = arguments.parse_args(argv)
        if options.frames is not None and options.frames[1] <= options.frames[0]:
            arguments.error(f"--frames {options.frames[0]} {options.frames[1]}: the last must come after the first")
        if options.frames is not None and max(map(abs, options.frames)) > LAST_FRAME:
            arguments.error(
                f"--frames {options.frames[0]} {options.frames[1]}: Blender's frames end at {LAST_FRAME} either way"
            )
        if options.device is not None:
            _check_device(arguments, options.device)
    except SystemExit as leaving:
        return leaving.code or 0
    try:
        return _bake(options, program)
    except KeyboardInterrupt:
        return _say(program, "stopped, nothing was written", STOPPED)
    except Exception as error:
        # The last gate: who runs a farm reads one line and an exit status, not a traceback.
        if TRACEBACK in os.environ:
            raise
        expected = isinstance(error, EXPECTED)
        return _say(program, one_line(error) if expected else f"{type(error).__name__}: {one_line(error)}", FAILED)


def main_wheel():
    """Entry point of ``axion-bake`` on the bpy wheel.  Does not return: bpy may hang while Python shuts down."""
    status = main(sys.argv[1:], "axion-bake")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _bake(options, program):
    source, target = Path(options.input).resolve(), Path(options.output).resolve()
    report_target = Path(options.report).resolve() if options.report else None
    if report_target in (source, target):
        return _say(program, f"--report {report_target}: IN or OUT has that name: give the report its own", USAGE)
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        source.stat()  # a name that is too long is told as such: is_file would call it no file
    if not source.is_file():
        return _say(program, f"{source} is not a file", FAILED)
    for path in filter(None, (target, report_target)):
        # What is there and no file, such as /dev/null, would be replaced by one.
        if not os.path.isdir(path.parent) or (os.path.exists(path) and not os.path.isfile(path)):
            return _say(
                program, f"{path} cannot be written: it needs an existing folder and the name of a file", FAILED
            )
        try:
            whole_files.write(path, Path.touch, keep=False)
        except OSError as error:
            reason = error.strerror or error
            return _say(program, f"{path} cannot be written: {reason}: choose another folder or name", FAILED)
    if target.suffix.lower() != ".blend":
        return _say(program, f"-o {target}: the baked scene is a Blender file: give it a name in .blend", USAGE)
    if report_target is not None and report_target.suffix.lower() not in report_files.SUFFIXES:
        wanted = " or ".join((", ".join(report_files.SUFFIXES[:-1]), report_files.SUFFIXES[-1]))
        return _say(program, f"--report {report_target}: its ending says what is written: give it {wanted}", USAGE)
    with _held_back() as pressed:  # bpy swallows an interrupt while it is imported, and the bake would begin
        import bpy

        from . import baking, register, report

        register()  # does nothing inside Blender, where the extension is on
        try:
            bpy.ops.wm.open_mainfile(filepath=str(source), load_ui=False)
        except RuntimeError as error:
            return _say(program, f"{source} cannot be read: {one_line(error)}", FAILED)
    if pressed:
        raise KeyboardInterrupt
    scene = bpy.context.scene
    if options.convert_native:
        bpy.ops.axion.convert_native()
    job = baking.make_job(bpy.context, options.frames, options.device, options.quality, resume=not options.no_resume)
    job.warnings += _left_out(scene)
    with _interruptible(job):
        job.run()
    if job.error is not None:
        raise job.error
    if not job.done:
        kept = "; the next bake goes on from here" if scene.axion.use_cache and job.reports else ""
        return _say(program, f"stopped, nothing was written{kept}", STOPPED)
    with _held_back():  # from here on both files are written, or an error says why not
        document = baking.keep_report(scene, job)
        if report_target is not None:
            made = report_files.contents(document, report_target.suffix.lower())
            whole_files.write(report_target, lambda path: path.write_bytes(made))
        whole_files.write(target, _save)
    for line in (*(f"Warning: {text}" for text in job.warnings), *report.summary_lines(document["summary"])):
        print(line)
    print(f"Wrote {target}", flush=True)
    return MISSED if options.strict and document["summary"]["missed"] else BAKED


def _left_out(scene):
    """Sentences on the scenes of a file that have bodies of their own and are not baked with ``scene``."""
    import bpy

    own = set(scene.objects)
    return [
        f"{other.name} has bodies, too, and is not baked: the command bakes {scene.name}, the scene that the file was "
        "saved in"
        for other in bpy.data.scenes
        if other.library is None and any(item.axion.enabled and item not in own for item in other.objects)
    ]


def _check_device(arguments, device):
    from ..solver import SolverConfig

    try:
        SolverConfig(device=device)
    except ValueError as error:
        arguments.error(str(error))


def _interruptible(job):
    """Ctrl-C lets the frame at hand finish, so that the bake ends in order; a second one does not wait."""

    def stop(number, frame):
        if job.cancelling:
            raise KeyboardInterrupt
        job.cancel()

    return _on_ctrl_c(stop)


@contextmanager
def _held_back():
    """Ctrl-C is only noted, in the list that this yields."""
    pressed = []
    with _on_ctrl_c(lambda number, frame: pressed.append(number)):
        yield pressed


@contextmanager
def _on_ctrl_c(handler):
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        # A handler that was not set from Python reads as None and cannot be put back.
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


def _save(path):
    import bpy

    compress = bpy.context.preferences.filepaths.use_file_compression
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, check_existing=False, compress=compress)


def one_line(error):
    """The text of an exception without Blender's prefix and line ends."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename} cannot be used: {error.strerror}: choose another folder or name"
    parts = (part.strip() for part in str(error).strip().removeprefix("Error: ").splitlines())
    return " ".join(filter(None, parts)) or type(error).__name__


def _say(program, text, status):
    sys.stdout.flush()
    print(f"{program}: {text}", file=sys.stderr, flush=True)
    return status
