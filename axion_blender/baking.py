# SPDX-License-Identifier: GPL-3.0-or-later
"""A Blender scene's bake as a ``Job``: what the operator and the command have in common."""

import json
from contextlib import contextmanager, nullcontext

import bpy

from ..solver import SceneError
from . import bake_inputs, cache_place, child, identity, kept_motion, last_bake, paths, report, solving
from .extract import extraction_slices, solver_config
from .job import Job
from .slices import part, run_through
from .writers import custom_properties, outputs, overrides, records, shared

SUMMARY = last_bake.SUMMARY
TEXT = "Axion Report"
"""Start of the name of the text that holds a scene's whole report."""
VALUES = 0.2
"""Part of the writing that is about speeds and forces."""


def make_job(
    context, frames=None, device=None, quality=None, say=print, resume=True, show=None, apart=False,
):  # fmt: skip
    """A Job that bakes the context's scene, from its cache as far as that goes.

    frames: (first, last), device, quality: instead of the scene's.  say: called with one line a frame, and others.
    resume: False solves every frame anew.  show: a generator function, run with the Extraction and a list that the
    FrameResults will go to.  apart: solve in a process of its own.  Raises ValueError for a device or quality that does
    not exist.
    """
    config = solver_config(context.scene, device, quality)
    first, last = frames or frame_range(context.scene)
    scene_uid, layer_name = context.scene.session_uid, context.view_layer.name
    kernels = paths.kernel_cache()
    extractions, moves, uids, places, results = [], [], {}, [None], []

    def gather():
        scene = context.scene
        job.inputs = yield from bake_inputs.read(scene)
        with outputs.below(scene, first) as moved:
            with nullcontext() if frames is None else _frame_range(scene, first, last):
                extraction = yield from _extract(context, mention)
            job.said = ""
            if show is not None:
                yield from show(extraction, results)
        extractions.append(extraction)
        moves.append(moved)
        uids.update(identity.numbers(extraction.objects(scene)))
        moved.watch(extraction.objects(scene).values())
        job.fps = extraction.fps
        job.warnings += [*extraction.warnings, *moved.warnings]
        if extraction.frames:
            places[0] = cache_place.place(scene)
        return extraction.scene

    def solve(described, count, fps, config, on_frame):
        told = {"kernels": kernels, "place": places[0], "resume": resume, "first": first}
        told |= {"say": mention, "warn": job.warnings.append, "on_found": job.take_found}
        if apart:
            trajectory = child.solve(described, count, fps, config, on_frame, started=job.may_abort_by, **told)
        else:
            trajectory = solving.solve(described, count, fps, config, on_frame, **told)
        if not job.cancelling:  # here, as it takes seconds for which the window would stand still
            job.said = "Packing the forces"
            metres = extractions[-1].scale_length
            job.forces = last_bake.packed(trajectory, first, config.tolerances()[1], metres)
        return trajectory

    def write(trajectory):
        (extraction,), (moved,) = extractions, moves
        scene = identity.scene_of(scene_uid)
        view_layer = scene.view_layers.get(layer_name) or scene.view_layers[0]
        objects, lost = identity.objects_of(scene, uids)
        others = shared.scenes(scene, outputs.holds)
        left_out = [item for item in scene.objects if records.is_baked(item) and item not in objects.values()]
        layer = set(view_layer.objects)  # what is excluded from it keeps its keys
        ended = [item for item in left_out if item in layer or not item.axion.enabled]
        values = yield from part(custom_properties.stage_asked(trajectory, objects, first, scene), 0.0, VALUES)
        strayed = moved.since(scene, first, objects.values())
        moved.adopt(scene)
        motion = outputs.write_slices(
            *(trajectory, objects, first, scene, view_layer, extraction.scale_length),
            output=scene.axion.output,
            rotation=scene.axion.output_rotation,
        )
        try:
            warnings = yield from part(motion, VALUES, 1.0)
        except BaseException:
            values.remove()
            moved.take_back(scene)
            raise
        outputs.clear(scene, ended)
        warnings += values.hand_over()
        if ended:
            warnings.append(
                f"{report.listed([item.name for item in ended], 3)} took no part: the keys of an earlier bake were "
                "removed (Undo, then Apply Bake keeps them)"
            )
        for other in others:
            forget_report(other)
        kept_motion.remember(scene, trajectory)
        return [
            *warnings,
            *strayed,
            *(f"{name} is no longer in {scene.name}: its motion was not written" for name in lost),
        ]

    def mention(line):
        job.said = line
        say(line)

    def tell(result):
        if show is not None:
            results.append(result)
        say(report.progress_line(result.report, first + result.frame, last))

    job = Job(gather, solve, write, last - first, 0.0, config, tell, first)
    job.on_end = lambda ended: places[0] and solving.tell_end(places[0], ended)
    if show is not None:
        job.on_found = results.extend
    return job


def check(context):
    """Everything that stands in the way of a bake: (problems, warnings), sentences that name an object."""
    scene = context.scene
    try:
        with outputs.below(scene, frame_range(scene)[0]) as moved:
            extraction = run_through(_extract(context))
    except SceneError as error:
        return [str(problem) for problem in error.problems] or [str(error)], error.warnings
    warnings = [*extraction.warnings, *moved.warnings, *overrides.warnings(scene, extraction.objects(scene).values())]
    try:
        return [], [*warnings, *solving.overlaps(extraction.scene, solver_config(scene), paths.kernel_cache())]
    except (ValueError, ImportError) as error:
        return [f"{scene.name} cannot be solved here: {error}"], warnings


def is_baked(scene):
    """Whether a scene holds a bake."""
    return outputs.is_baked(scene)


def frame_range(scene):
    """First and last frame of the scene's bake."""
    settings = scene.axion
    owner = settings if settings.use_frame_range else scene
    return owner.frame_start, owner.frame_end


def _extract(context, say=lambda line: None):
    """``extraction_slices``, and what else must be known before a bake; a generator like it."""
    scene = context.scene
    extraction = yield from extraction_slices(context, say=say)
    problems = overrides.problems(extraction.objects(scene).values())
    strayed = cache_place.problem(scene)
    problems += [f"{scene.name}: {strayed}"] if strayed else []
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise SceneError(f"{problems[0]}{more}", problems)
    extraction.warnings += [
        f"{scene.name} shares baked objects with {other.name}: a bake replaces theirs in both"
        for other in shared.scenes(scene, outputs.holds)
    ]
    if not extraction.simulated:
        extraction.warnings.append(f"{scene.name} has no active body that is free to move: a bake writes no keys")
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
        tolerance=job.config.tolerances()[1],
        warnings=job.warnings,
    )
    scene[SUMMARY] = report.to_json(document["summary"])
    text = last_bake.text_of(scene) or bpy.data.texts.new(f"{TEXT} {scene.name}")
    text[SUMMARY] = scene
    text.from_string(report.to_json(document, indent=1))
    last_bake.keep(text, job.forces, job.inputs)
    return document


def clear(scene):
    """Take back a scene's bake with its report, and the reports of scenes that share its objects.

    Returns (how many objects held a bake, the scenes that shared one, whether there was a report).  Raises
    SceneError, before anything is changed, where an object's record of its bake is broken.
    """
    others = shared.scenes(scene, outputs.holds)
    cleared = outputs.clear(scene)
    reported = [forget_report(cleared_scene) for cleared_scene in (scene, *others)]
    return cleared, others, any(reported)


def forget_report(scene):
    """Remove what ``keep_report`` left, and the trajectory.  Returns whether there was a report."""
    kept_motion.forget(scene)
    text = last_bake.text_of(scene)
    found = SUMMARY in scene or text is not None
    if SUMMARY in scene:
        del scene[SUMMARY]
    if text is not None:
        bpy.data.texts.remove(text)
    return found


def last_summary(scene):
    """The summary of the scene's last bake, or None where somebody broke it; ``report.summary`` says what is in it."""
    try:
        tree = json.loads(scene[SUMMARY])
    except (ValueError, TypeError):
        return None
    return tree if report.is_summary(tree) else None
