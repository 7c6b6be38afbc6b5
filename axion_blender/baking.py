# SPDX-License-Identifier: GPL-3.0-or-later
"""A Blender scene's bake as a ``Job``: what the operator and the command have in common."""

import json
from contextlib import contextmanager, nullcontext

import bpy

from ..solver import SceneError
from . import cache_place, paths, report
from .cache import cached_solve
from .extract import extract_scene, solver_config
from .job import Job
from .writers import keyframes, overrides

SUMMARY = "axion_bake_summary"
"""Custom property of a baked scene: the summary of its report, JSON."""
TEXT = "Axion Report"
"""Start of the name of the text that holds a scene's whole report."""
FIRST_RUN = "Compiling kernels, first run only"


def make_job(context, frames=None, device=None, quality=None, say=print, resume=True):
    """A Job that bakes the context's scene, from its cache as far as that goes.

    frames: (first, last), device, quality: instead of the scene's.  say: called with one line a frame, and others.
    resume: False solves every frame anew.  Raises ValueError for a device or quality that does not exist.
    """
    scene, view_layer = context.scene, context.view_layer
    config = solver_config(scene, device, quality)
    first, last = frames or frame_range(scene)
    suspended, extractions, places, progress = [], [], [], []

    def gather():
        suspended.extend(keyframes.suspend(scene))  # what lies below an earlier bake is simulated
        with nullcontext() if frames is None else _frame_range(scene, first, last):
            extraction = _extract(context)
        extractions.append(extraction)
        job.fps = extraction.fps
        job.warnings += extraction.warnings
        if extraction.frames:
            places[:] = filter(None, [cache_place.place(scene)])
        return extraction.scene

    def simulate_from(*given, **named):
        if paths.start_warp():
            say(FIRST_RUN)
        from ..solver import simulate

        paths.settle_newton()
        return simulate(*given, **named)

    def solve(described, count, fps, config, on_frame):
        if not places:
            return simulate_from(described, count, fps=fps, config=config, on_frame=on_frame)
        trajectory, told = cached_solve(
            *(places[0], simulate_from, described, count, fps, config, on_frame),
            resume=resume,
            say=say,
            warn=job.warnings.append,
            on_found=job.take_found,
            first=first,
        )
        progress.append(told)
        return trajectory

    def write(trajectory):
        (extraction,) = extractions
        objects = extraction.objects(scene)
        warnings = keyframes.write(trajectory, objects, first, scene, view_layer, extraction.scale_length)
        left = [item for item in suspended if item not in objects.values()]  # no bodies any more
        keyframes.clear(scene, left)
        for told in progress:
            told.end("done")
        return warnings

    def undo():
        keyframes.resume(scene, suspended)
        for told in progress:
            told.end("cancelled" if job.error is None else "failed", job.error)

    def tell(result):
        say(report.progress_line(result.report, first + result.frame, last))

    job = Job(gather, solve, write, undo, last - first, 0.0, config, tell, first)
    return job


def check(context):
    """Everything that stands in the way of a bake: (problems, warnings), sentences that name an object."""
    scene = context.scene
    suspended = []
    try:
        suspended = keyframes.suspend(scene)
        extraction = _extract(context)
    except SceneError as error:
        return [str(problem) for problem in error.problems] or [str(error)], []
    finally:
        keyframes.resume(scene, suspended)
    return [], [*extraction.warnings, *overrides.warnings(scene, extraction.objects(scene).values())]


def frame_range(scene):
    """First and last frame of the scene's bake."""
    settings = scene.axion
    owner = settings if settings.use_frame_range else scene
    return owner.frame_start, owner.frame_end


def _extract(context):
    extraction = extract_scene(context)
    problems = overrides.problems(extraction.objects(context.scene).values())
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise SceneError(f"{problems[0]}{more}", problems)
    if not extraction.simulated:
        extraction.warnings.append(
            f"{context.scene.name} has no active body that is free to move: a bake writes no keys"
        )
    return extraction


@contextmanager
def _frame_range(scene, first, last):
    """Lets the extraction see other frames than the scene's, for a while."""
    settings = scene.axion
    before = settings.use_frame_range, settings.frame_start, settings.frame_end
    settings.use_frame_range, settings.frame_start, settings.frame_end = True, first, last
    try:
        yield
    finally:
        settings.use_frame_range, settings.frame_start, settings.frame_end = before


def keep_report(scene, job):
    """Keep the report of a finished job with the scene: the summary for the panel, all frames as a text.

    Returns the whole report, a tree of plain values.
    """
    document = report.document(
        job.trajectory,
        job.first_frame,
        job.fps,
        scene=scene.name,
        version=paths.version(),
        blender=bpy.app.version_string,
        config={name: getattr(job.config, name) for name in job.config.__dataclass_fields__},
        bake_time=job.wall_time,
        warnings=job.warnings,
    )
    scene[SUMMARY] = report.to_json(document["summary"])
    text = _text(scene) or bpy.data.texts.new(f"{TEXT} {scene.name}")
    text[SUMMARY] = scene
    text.from_string(report.to_json(document, indent=1))
    return document


def forget_report(scene):
    """Remove what ``keep_report`` left."""
    if SUMMARY in scene:
        del scene[SUMMARY]
    text = _text(scene)
    if text is not None:
        bpy.data.texts.remove(text)


def last_summary(scene):
    """The summary of the scene's last bake; ``report.summary`` says what is in it."""
    return json.loads(scene[SUMMARY])


def _text(scene):
    return next((text for text in bpy.data.texts if text.get(SUMMARY) == scene), None)
