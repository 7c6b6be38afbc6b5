# SPDX-License-Identifier: GPL-3.0-or-later
"""One writer a cache.  The operating system holds the lock, so it goes with the process, however that ends."""

import errno
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


NO_LINK = getattr(os, "O_NOFOLLOW", 0)
"""A link in place of the lock file may lead to anything: what is there is neither locked nor overwritten."""
BUSY = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK}
"""What the systems say where somebody else holds a lock."""


class Lock:
    """Holds the lock file at ``path`` until ``release``.  Raises CacheError where another bake holds it."""

    def __init__(self, path):
        self.path, self._handle = path, None
        while not self._try():
            pass  # its last holder took the file away

    def _try(self):
        """Whether the file that is locked now is the one at the path."""
        path = self.path
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | NO_LINK, 0o666)
        except OSError as error:
            raise writing_failed(path.parent, error) from error
        held = False
        try:
            _take(self._handle)
            held = True
            if not _is_at(self._handle, path):
                self.release()
                return False
            os.ftruncate(self._handle, 0)
            os.write(self._handle, json.dumps({"process": os.getpid(), "host": platform.node()}).encode())
        except OSError as error:
            self.release()
            if held:
                raise writing_failed(path.parent, error) from error
            if error.errno in BUSY:
                raise CacheError(
                    f"Another bake{_holder(path)} is writing the cache {path.parent}: let it finish or stop it first"
                ) from error
            raise CacheError(
                f"The file system of {path.parent} has no locks ({error.strerror}): choose another Cache Folder"
            ) from error
        return True

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
