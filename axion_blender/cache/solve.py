# SPDX-License-Identifier: GPL-3.0-or-later
"""``simulate`` with a cache: what is there is not computed again, and what is computed is kept."""

import contextlib
import os
import platform
import time
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from ...solver import CheckpointError, Trajectory
from .errors import CacheError, is_forbidden
from .inputs import inputs_of
from .progress import Progress
from .scribe import Scribe
from .store import HEAD, STRANGE, Cache, Found, free_cache

FRAMES_LEAST, FRAMES_MOST = 10, 100  # frames a file; a change from frame n on goes back to the end of a file
SECONDS_LEAST, SECONDS_MOST = 0.25, 2.0  # between two files; at most so much is lost when a bake is killed


@dataclass
class Place:
    """Where a bake keeps its cache.

    Attributes:
        folder: of this cache alone.
        owner: {"blend": name of the file, "scene": name of the scene}, and "folder" where other files may have both.
        seed: folder of another cache, to copy where this one is empty; or None.
        moves: whether the seed has no other use, and goes when it is copied.
    """

    folder: Path
    owner: dict
    seed: Path | None = None
    moves: bool = False


def cached_solve(
    place, simulate, scene, frames, fps, config, on_frame,
    resume=True, say=None, warn=None, on_found=None, first=1,
):  # fmt: skip
    """The Trajectory of ``simulate(scene, frames, fps=, config=, on_frame=)``, from the cache as far as that goes.

    The same bits come out, however often the bake was stopped before.

    Args:
        place: Place of the cache.
        simulate: solver.simulate or its like; called only where frames are missing, with ``resume=`` a Checkpoint
            where some are there.
        scene, frames, fps, config, on_frame: as of simulate; on_frame is not called for frames found in the cache.
        resume: False begins at the first frame.
        say, warn: called with sentences on what was found, and on what could not be used.
        on_found: called once with the FrameResults found, if there are any.
        first: Blender's number of the frame that the motion begins at, for the sentences.

    Returns:
        (Trajectory, Progress); whoever writes the keys tells the Progress how it ended.

    Raises:
        CacheError: the cache cannot be written and does not hold all frames, or must not be replaced.  What
            simulate raises goes through; the frames done by then are kept.
    """
    cache = Cache(place.folder)
    try:
        cache.open()
    except CacheError as error:
        bake = _Bake(cache, place.owner, scene, frames, first, writes=False)
        if not (resume and is_forbidden(error) and bake.finds_all(inputs_of(scene, fps, config))):
            raise
        if on_found is not None:
            on_found(bake.found.results)
        return bake.solve(simulate, fps, config, on_frame, say or _ignore, warn or _ignore), bake.progress
    with contextlib.closing(cache):
        if place.seed is not None and not (cache.folder / HEAD).exists():
            cache.adopt(place.seed)
            if place.moves:
                free_cache(place.seed)
        bake = _Bake(cache, place.owner, scene, frames, first)
        bake.find(inputs_of(scene, fps, config), resume, warn or _ignore)
        if on_found is not None and bake.found.results:
            on_found(bake.found.results)
        try:
            return bake.solve(simulate, fps, config, on_frame, say or _ignore, warn or _ignore), bake.progress
        except KeyboardInterrupt:
            bake.progress.end("cancelled")
            raise
        except Exception as error:
            bake.progress.end("failed", error)
            raise


def makers(config):
    """What the bits of a motion depend on beside the inputs: processor, system, libraries, and the device and precision
    that ``config`` comes to here.  Loads Warp.
    """
    from ...solver import resolve

    device, precision = resolve(config)
    return {**_machine(), "device": device, "precision": precision}


@cache
def _machine():
    found = {"processor": _processor(), "system": platform.system()}
    for name in ("numpy", "warp-lang", "newton"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # a wheel that was unpacked by hand
            found[name] = "unknown"
    return found


def _processor():
    """Its name as the system tells it; platform.processor() starts a program for that."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # no Linux
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else os.environ.get("PROCESSOR_IDENTIFIER", platform.machine())


def _ignore(sentence):
    pass


class _Bake:
    """One bake with its Cache, which is open unless nothing is to be written to it."""

    def __init__(self, cache, owner, scene, frames, first, writes=True):
        self.writes = writes
        self.cache, self.owner, self.scene, self.frames, self.first = cache, owner, scene, frames, first
        self.progress = Progress(cache.folder, first, frames, owner.get("scene", ""))
        self.inputs, self.found, self.config = None, Found(), None

    def find(self, inputs, resume, warn):
        """Look at what is there; without ``resume`` too, so that a cache that is not Axion's stays."""
        self.inputs = inputs
        found = self.cache.find(inputs, self.frames, self.scene)
        if self.writes:  # also where all frames are there: the file was renamed, or this is a copy of another's cache
            self.cache.claim(self.owner)
        if not resume:
            return
        self.found = found
        for sentence in found.notes:
            warn(sentence)
        for result in found.results:
            self.progress.frame(result.report, self.writes, found=True)

    def finds_all(self, inputs):
        """Whether all frames are there, so that a folder in which nobody may write will do."""
        try:
            self.find(inputs, True, _ignore)
        except CacheError:
            return False
        return len(self.found.results) == self.frames

    def solve(self, simulate, fps, config, on_frame, say, warn):
        found, done = self.found, len(self.found.results)
        self.config = config
        if done and done == self.frames:
            say(f"all {done} frames are in the cache")
            return self._whole(found.results, found.broken_joints)
        if done:
            say(f"resuming at frame {self.first + done + 1}")
        # A bake of fewer frames reads animation less far: it takes what it can from the cache of the longer one, and
        # leaves that as it is.
        keeps = found.same or not found.shorter
        writer = _Writer(self._begin if keeps else None, self.progress)

        def keep(result):
            if done and not writer.results:  # not before: Warp has to be there
                self._compare_makers(warn)
            writer.take(result)
            answer = on_frame(result)
            if answer is False:
                self.progress.end("cancelled")
            return answer

        more = {"resume": found.checkpoint} if done else {}
        try:
            trajectory = simulate(self.scene, self.frames, fps=fps, config=config, on_frame=keep, **more)
        except CheckpointError as error:
            raise self._strange(error) from error
        finally:
            writer.close()
        if not done:
            return trajectory
        return self._whole([*found.results, *writer.results], trajectory.broken_joints)

    def _whole(self, results, broken_joints):
        names = [body.name for body in self.scene.bodies]
        try:
            return Trajectory.of_frames(names, [self.found.start, *results], broken_joints)
        except STRANGE as error:
            raise self._strange(error) from error

    def _strange(self, error):
        return CacheError(f"The cache {self.cache.folder} holds what Axion did not write ({error}): free it")

    def _begin(self):
        names = ([thing.name for thing in things] for things in (self.scene.bodies, self.scene.joints))
        self.cache.begin(self.inputs, self.found, self.owner, makers(self.config), *names)
        return self.cache

    def _compare_makers(self, warn):
        before, now = self.found.maker, makers(self.config)
        differ = [name for name in now if before.get(name) != now[name]]
        if differ:
            words = (", ".join(f"{name} {made.get(name)}" for name in differ) for made in (before, now))
            warn(
                f"Frames up to {self.first + len(self.found.results)} were computed with {next(words)}, the others with"
                f" {next(words)}: begin at the first frame (--no-resume) where all must come from one"
            )


class _Writer:
    """Collects frames into files: neither many small ones nor much that a power cut takes."""

    def __init__(self, begin, progress):
        """begin: () -> the Cache, ready for the first frames; None keeps nothing."""
        self.begin, self.progress = begin, progress
        self.results, self._waiting, self._checkpoint = [], [], None
        self._cache, self._written = None, time.monotonic()
        self._scribe = Scribe(self._write)

    def take(self, result):
        self._scribe.check()
        self.results.append(result)
        self.progress.frame(result.report)
        if self.begin is None or not result.resumable:
            return
        self._waiting.append(result)
        self._checkpoint = result.checkpoint()
        waited = time.monotonic() - self._written
        enough = len(self._waiting) >= FRAMES_LEAST and waited >= SECONDS_LEAST
        if enough or waited >= SECONDS_MOST or len(self._waiting) >= FRAMES_MOST:
            self._flush()

    def close(self):
        """Write what waits, and wait for it.  After a failure nothing is tried again."""
        try:
            self._flush()
        finally:
            self._scribe.close()

    def _flush(self):
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._written = time.monotonic()
            self._scribe.take(waiting, self._checkpoint)

    def _write(self, results, checkpoint):
        self._cache = self._cache or self.begin()
        self._cache.add(results, checkpoint)
