# SPDX-License-Identifier: GPL-3.0-or-later
"""A Blender scene's bake as a ``Job``: what the operator and the command have in common."""

import json

import bpy

from ..solver import SceneError, validate
from . import conventions, paths, report
from .extract.config import solver_config
from .extract.scene import extract, frame_range
from .job import Job
from .writers import keyframes, overrides

SUMMARY = "axion_bake_summary"
"""Custom property of a baked scene: the summary of its report, JSON."""
TEXT = "Axion Report"
"""Start of the name of the text that holds a scene's whole report."""
FIRST_RUN = "Compiling kernels, first run only"


def make_job(scene, view_layer, frames=None, device=None, quality=None, say=print):
    """A Job that bakes ``scene``.

    frames: (first, last), device, quality: instead of the scene's.  say: called with one line a frame, and others.
    Raises ValueError for a device or quality that does not exist, SceneError for an empty range of frames.
    """
    first, last = frames or frame_range(scene)
    if last <= first:
        raise SceneError(f"{scene.name}: the bake ends at frame {last} and begins at {first}; let it end later.")
    config = solver_config(scene, device, quality)
    suspended, objects = [], {}

    def gather():
        suspended.extend(keyframes.suspend(scene))  # the scene below an earlier bake is what is simulated
        extraction = extract(scene, view_layer, first, last)
        objects.update(extraction.objects)
        problems = [*map(str, validate(extraction.scene)), *overrides.problems(objects.values())]
        if problems:
            raise SceneError(
                problems[0] + (f" (and {len(problems) - 1} more: see Check Scene)" if problems[1:] else "")
            )
        return extraction.scene

    def solve(described, count, fps, config, on_frame):
        if paths.start_warp():
            say(FIRST_RUN)
        from ..solver import simulate

        return simulate(described, count, fps=fps, config=config, on_frame=on_frame)

    def write(trajectory):
        settings = scene.unit_settings
        metres = conventions.metres_per_unit(settings.system, settings.scale_length)
        return keyframes.write(trajectory, objects, first, scene, view_layer, metres)

    def undo():
        keyframes.clear(scene)
        keyframes.resume(scene, suspended)

    def tell(result):
        say(report.progress_line(result.report, first + result.frame, last))

    fps = scene.render.fps / scene.render.fps_base / scene.axion.time_scale
    return Job(gather, solve, write, undo, last - first, fps, config, tell, first)


def keep_report(scene, job):
    """Keep the report of a finished job with the scene: the summary for the panel, all frames as a text.

    Returns the whole report, a tree of plain values.
    """
    document = report.document(
        job.trajectory,
        job.first_frame,
        job.fps,
        scene=scene.name,
        blender=bpy.app.version_string,
        config={name: getattr(job.config, name) for name in job.config.__dataclass_fields__},
        bake_time=job.wall_time,
        warnings=job.warnings,
    )
    scene[SUMMARY] = report.to_json(document["summary"])
    text = _text(scene) or bpy.data.texts.new(f"{TEXT} {scene.name}")
    text[SUMMARY] = scene.name
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
    text = bpy.data.texts.get(f"{TEXT} {scene.name}")
    return text if text is not None and SUMMARY in text else None
