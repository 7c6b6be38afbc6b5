# SPDX-License-Identifier: GPL-3.0-or-later
"""One writer a cache.  The operating system holds the lock, so it goes with the process, however that ends."""

import json
import os
import platform

from .errors import CacheError, writing_failed

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
    import msvcrt

HELD_AT = 1 << 30  # Windows locks bytes: one far behind the text, so that others can read who holds it


class Lock:
    """Holds the lock file at ``path`` until ``release``.  Raises CacheError where another bake holds it."""

    def __init__(self, path):
        self.path = path
        while True:
            try:
                self._handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            except OSError as error:
                raise writing_failed(path.parent, error) from error
            try:
                _take(self._handle)
                if _is_at(self._handle, path):
                    break
                os.close(self._handle)  # its last holder took the file away
            except OSError as error:
                os.close(self._handle)
                raise CacheError(
                    f"Another bake{_holder(path)} is writing the cache {path.parent}: let it finish or stop it first"
                ) from error
        text = json.dumps({"process": os.getpid(), "host": platform.node()}).encode()
        os.ftruncate(self._handle, 0)
        os.write(self._handle, text)

    def release(self):
        """Let others have it."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _take(handle):
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        os.lseek(handle, HELD_AT, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        os.lseek(handle, 0, os.SEEK_SET)


def _is_at(handle, path):
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def _holder(path):
    try:
        found = json.loads(path.read_bytes())
        return f" (process {int(found['process'])} on {str(found['host'])[:64]})"
    except (OSError, ValueError, TypeError, KeyError):
        return ""  # it is just being taken, or holds what somebody else wrote
