# SPDX-License-Identifier: GPL-3.0-or-later
"""The trajectory of a scene's last bake: that of this session, or what its cache keeps of it."""

from ..solver import SceneError, Trajectory
from . import cache_place, last_bake
from .cache import Cache, CacheError

_trajectories = {}
"""session_uid of a scene -> the trajectory of its last bake."""


def remember(scene, trajectory):
    """Keep the trajectory of a scene's last bake until Blender ends."""
    _trajectories[scene.session_uid] = trajectory


def forget(scene):
    """Drop what ``remember`` kept."""
    _trajectories.pop(scene.session_uid, None)


def find(scene):
    """The solver.Trajectory that the scene's report is about.

    Raises SceneError where there is no report, or neither this session nor the cache has its frames.
    """
    document = last_bake.document(scene)
    if document is None:
        raise SceneError(f"{scene.name} holds no bake with a report: bake it first")
    known = _trajectories.get(scene.session_uid)
    if known is not None and _same(known.reports, document):
        return known
    folder = cache_place.to_read(scene)
    if folder is None:
        raise SceneError(
            f"{scene.name} has no frames in {cache_place.folder(scene)}: it was baked without a cache, or that was "
            "freed, or stayed where the file was before; bake again to have its motion"
        )
    try:
        names, kept = Cache(folder).motion(len(document["frames"]))
        found = Trajectory.of_frames(names, [kept.start, *kept.results], kept.broken_joints)
    except (CacheError, ValueError) as error:
        raise SceneError(f"{scene.name}'s motion cannot be read from its cache ({error}): bake again") from error
    if not _same(found.reports, document):
        raise SceneError(f"{scene.name}'s cache {folder} holds another bake than the scene: bake again")
    return found


def _same(reports, document):
    """Whether reports are those of a document: no two solves take the same times."""
    entries = document["frames"]
    return len(reports) == len(entries) and all(
        (report.frame, report.wall_time) == (entry.get("frame"), entry.get("wall_time"))
        for report, entry in zip(reports, entries, strict=True)
    )
