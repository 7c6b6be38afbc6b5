# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of one cache: what is found in it, and how frames are added.

The head says which inputs the frames belong to.  Frames come in files that each name the one before by its digest, so
that what is read is one unbroken motion from frame 1 on; the first file that does not fit ends it.
"""

import contextlib
import math
import os
import re
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from . import files, frames
from .errors import CacheError, DamagedError, writing_failed
from .inputs import MARGIN, Inputs
from .lock import Lock
from .progress import NAME as PROGRESS

HEAD, LOCK = "head", "lock"
FOLDER = "axion_cache"
"""Name of the folder of all caches of a file that Axion makes by itself."""
KEEPS_OPEN_FILES = os.name == "nt"
"""Whether the system keeps the lock file while it is held."""
ATTEMPTS = 10
"""How often a folder is made that another bake, which leaves nothing, removes before it is locked."""
FRAMES = re.compile(r"(\d{6,})-(\d{6,})\.frames")
STRANGE = (KeyError, IndexError, TypeError, ValueError, AttributeError)
"""What comes of values that are not what they should be, in a file whose checksum is right: Axion did not write it."""
LEFT_OVER = re.compile(r"\..+\.\d+\.tmp")
"""Written halfway when a process was killed."""


@dataclass
class Found:
    """What a cache holds of a bake.

    Attributes:
        results: FrameResults from frame 1 on.
        checkpoint: the Checkpoint after the last of them, or None where there is none or it is not needed.
        start: FrameResult of frame 0, or None.
        broken_joints: {name: time [s]} up to there.
        last: digest of the file they end with.
        same: whether the inputs are all the same.
        shorter: whether they differ only in that the animation is read less far.
        maker: what computed them, see ``makers`` in solve.py; {} where nothing was found.
        notes: sentences on what could not be used.
    """

    results: list = field(default_factory=list)
    checkpoint: object = None
    start: object = None
    broken_joints: dict = field(default_factory=dict)
    last: str = ""
    same: bool = False
    shorter: bool = False
    maker: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)


class Cache:
    """A cache folder that this process alone writes to, from ``open`` to ``close``."""

    def __init__(self, folder):
        """folder: path; need not exist."""
        self.folder = Path(folder)
        self._lock = None
        self._made_parent = False
        self._bake = self._last = None

    def open(self):
        """Make the folder where it is missing, and lock it.  Raises CacheError.  Returns the Cache."""
        for left in reversed(range(ATTEMPTS)):
            try:
                self._made_parent = not os.path.isdir(self.folder.parent)
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise writing_failed(self.folder, error) from error
            try:
                self._lock = Lock(self.folder / LOCK)
                break
            except CacheError as error:
                if not left or not isinstance(error.__cause__, FileNotFoundError):
                    raise
        try:
            for path in self._own(LEFT_OVER):
                self._unlink(path)
        except CacheError:
            self._lock.release()
            self._lock = None
            raise
        return self

    def close(self):
        """Let others write.  A folder without frames is not left behind."""
        if self._lock is None:
            return
        empty = not os.path.exists(self.folder / HEAD)
        try:
            if empty:
                _remove(self.folder, self._made_parent)
        finally:
            self._lock.release()
            self._lock = None
        if empty and KEEPS_OPEN_FILES:
            _remove_lock(self.folder, self._made_parent)

    def __enter__(self):
        return self.open()

    def __exit__(self, *raised):
        self.close()

    def owner(self):
        """Whose the cache is, as ``begin`` was told; {} where there is none that can be read."""
        try:
            header = files.read(self.folder / HEAD, "head")[0]
        except (OSError, CacheError):
            return {}
        return header["owner"] if isinstance(header, dict) and isinstance(header.get("owner"), dict) else {}

    def find(self, inputs, count, scene):
        """Found for the first ``count`` frames of a bake.  inputs: Inputs of the solver.Scene ``scene``.

        Raises CacheError where the cache must not be replaced (ForeignError, NewerError) or cannot be read.
        """
        found = Found()
        try:
            header, channels, _ = files.read(self.folder / HEAD, "head")
            stored = _inputs(header, channels)
            self._bake, found.maker = str(header["bake"]), dict(header["maker"])
        except FileNotFoundError:
            return found
        except OSError as error:
            raise self._unreadable(error) from error
        except (DamagedError, *STRANGE) as error:
            found.notes.append(f"{_sentence(error)}: the bake begins at the first frame")
            return found
        until = stored.same_until(inputs)
        found.same, found.shorter = until == math.inf, inputs.begins(stored) and inputs.digest == stored.digest
        self._add_files(found, count, until, len(scene.bodies), [joint.name for joint in scene.joints])
        if not found.results:
            found.maker = {}
        return found

    def motion(self, count):
        """(names of the bodies, Found) of the first ``count`` frames of whatever bake is kept.

        Raises CacheError where they are not all there.
        """
        found = Found()
        try:
            header, _, _ = files.read(self.folder / HEAD, "head")
            self._bake = str(header["bake"])
            bodies, joints = ([str(name) for name in header[kind]] for kind in ("bodies", "joints"))
        except OSError as error:
            raise self._unreadable(error) from error
        except STRANGE as error:
            raise CacheError(_sentence(error)) from error
        self._add_files(found, count, math.inf, len(bodies), joints)
        if not found.results or len(found.results) < count:
            raise CacheError(f"it holds {len(found.results)} of {count} frames")
        return bodies, found

    def _unreadable(self, error):
        return CacheError(
            f"The cache {self.folder} cannot be read ({error.strerror or error}): mend that, or choose another "
            "Cache Folder"
        )

    def _add_files(self, found, count, until, bodies, joints):
        """Add frames up to ``count`` and the time ``until``.  bodies: their number; joints: their names."""
        for path in self._own(FRAMES):
            if len(found.results) >= count or not self._add(found, path, count, until, bodies, joints):
                break

    def _add(self, found, path, count, until, bodies, joints):
        """Add the frames of one file.  Returns whether they belong to the bake."""
        begin = len(found.results) + 1
        try:
            header, arrays, digest = files.read(path, "frames")
            if header["bake"] != self._bake or header["previous"] != found.last or header["first"] != begin:
                raise DamagedError(f"{path} belongs to another bake")
            if header["time"] > until:
                return False
            results, checkpoint = frames.unpack(header, arrays, bodies)
            start, broken = checkpoint.start(), checkpoint.broken_joints(joints)
        except (DamagedError, OSError, *STRANGE) as error:
            found.notes.append(f"{_sentence(error)}: the bake goes on from the frames before it")
            return False
        found.results += results[: count + 1 - begin]
        found.checkpoint = checkpoint if header["last"] <= count else None
        found.start, found.last = start, digest
        until = found.results[-1].time + MARGIN  # the file may go on beyond what is asked for
        found.broken_joints = {name: time for name, time in broken.items() if time <= until}
        return True

    def begin(self, inputs, found, owner, maker, bodies=(), joints=()):
        """Get ready to add frames after ``found``: what follows it is removed, and the head renewed where it differs.

        owner, maker: {str: str}.  bodies, joints: their names, in the scene's order.
        """
        keep = len(found.results)
        for path in reversed(self._own(FRAMES)):
            if int(FRAMES.fullmatch(path.name)[1]) > keep or not keep:
                self._unlink(path)
        if not keep or self._bake is None:
            self._bake = uuid.uuid4().hex
        self._last = found.last
        if not found.same or not keep:
            arrays = {}
            for number, (times, values) in enumerate(inputs.channels.values()):
                arrays[f"{number}.times"], arrays[f"{number}.values"] = times, values
            header = {
                "bake": self._bake,
                "digest": inputs.digest,
                "channels": list(inputs.channels),
                "owner": owner,
                "maker": maker,
                "bodies": list(bodies),
                "joints": list(joints),
            }
            files.write(self.folder / HEAD, "head", header, arrays)

    def claim(self, owner):
        """Note whose the cache is, where its head says otherwise; its frames stay.  owner: {str: str}."""
        with contextlib.suppress(OSError, CacheError):  # what cannot be read, or written, serves as it is
            header, arrays, _ = files.read(self.folder / HEAD, "head")
            if isinstance(header, dict) and header.get("owner") != owner:
                files.write(self.folder / HEAD, "head", {**header, "owner": owner}, arrays)

    def add(self, results, checkpoint):
        """Keep FrameResults that follow the last ones, and the Checkpoint after them.  Raises CacheError."""
        header, arrays = frames.pack(results, checkpoint)
        header |= {"bake": self._bake, "previous": self._last}
        name = f"{header['first']:06d}-{header['last']:06d}.frames"
        self._last = files.write(self.folder / name, "frames", header, arrays)

    def adopt(self, other):
        """Copy the frames of another cache folder into this one, which has none yet.  What is damaged shows later."""
        source = Cache(other)
        names = [*source._own(FRAMES), source.folder / HEAD]  # the head last: without it there is no cache
        for path in names:
            with contextlib.suppress(FileNotFoundError):  # its owner has just removed it
                files.write_whole(self.folder / path.name, path.read_bytes())

    def _own(self, pattern):
        """Files of the folder whose name fits ``pattern``, sorted."""
        try:
            found = [path for path in self.folder.iterdir() if pattern.fullmatch(path.name)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._unreadable(error) from error
        return sorted(found, key=lambda path: (len(path.name), path.name))

    def _unlink(self, path):
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise writing_failed(self.folder, error) from error


def cache_size(folder):
    """Bytes that a cache takes on the disk; 0 where there is none, or none that may be looked at."""
    total = 0
    with contextlib.suppress(PermissionError):
        for path in _files(Path(folder)):
            with contextlib.suppress(FileNotFoundError):  # a bake that runs may replace it
                total += path.stat().st_size
    return total


def free_cache(folder, chosen=False):
    """Remove a cache.  Files that are not Axion's stay, and the folder with them.  Returns the bytes freed.

    chosen: whether the user chose the folder above, which stays then.

    Raises CacheError where a bake is writing it, or the system refuses.
    """
    folder = Path(folder)
    if not os.path.isdir(folder):
        return 0
    with_parent = folder.parent.name == FOLDER and not chosen
    lock = Lock(folder / LOCK)
    try:
        size = cache_size(folder)
        _remove(folder, with_parent)
    except OSError as error:
        raise writing_failed(folder, error) from error
    finally:
        lock.release()
    if KEEPS_OPEN_FILES:
        _remove_lock(folder, with_parent)
    return size


def _files(folder):
    """Files of a cache in ``folder``; the lock comes last."""
    if not os.path.isdir(folder):
        return []
    known = [p for p in folder.iterdir() if FRAMES.fullmatch(p.name) or LEFT_OVER.fullmatch(p.name)]
    # The head goes after the frames: as long as it stands, what is left of them is a cache.
    return [*sorted(known, reverse=True), *(p for n in (HEAD, PROGRESS, LOCK) if os.path.isfile(p := folder / n))]


def _remove(folder, with_parent):
    for path in _files(folder):
        try:
            path.unlink(missing_ok=True)
        except PermissionError:
            if path.name != LOCK:  # Windows removes no open file, and this one is held
                raise
    _remove_empty(folder, with_parent)


def _remove_lock(folder, with_parent):
    """After its release, when the cache may be another's already: that keeps its lock then, and all its files."""
    with contextlib.suppress(OSError):
        (folder / LOCK).unlink(missing_ok=True)
        _remove_empty(folder, with_parent)


def _remove_empty(folder, with_parent):
    for empty in (folder, folder.parent) if with_parent else (folder,):
        try:
            empty.rmdir()
        except OSError:
            break  # not empty: other caches, or what is not ours


def _inputs(header, arrays):
    channels = {}
    for number, name in enumerate(header["channels"]):
        times, values = arrays[f"{number}.times"], arrays[f"{number}.values"]
        if times.ndim != 1 or values.ndim != 2 or len(times) != len(values):
            raise ValueError(f"the animation {name} has other values than times")
        channels[str(name)] = times, values
    return Inputs(str(header["digest"]), channels)


def _sentence(error):
    """The text of an exception that a file of a cache led to."""
    return str(error) if isinstance(error, CacheError) else f"The cache holds what Axion did not write ({error!r})"
