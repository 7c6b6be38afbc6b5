# SPDX-License-Identifier: GPL-3.0-or-later
"""A thread that writes files of a cache while the next frames are solved."""

import queue
import threading

ROOM = 2
"""Files that may wait for the disk; the solver waits for it only where it is slower than that for long."""


class Scribe:
    """Calls a function with what it is handed, in that order, on a thread of its own.

    write: (*chunk) -> None.  What it raises is raised once, by the next call of ``check``, ``take`` or ``close``; after
    that nothing is written any more.
    """

    def __init__(self, write):
        self._write, self._waiting = write, queue.Queue(ROOM)
        self._thread, self._error, self._failed = None, None, False

    def take(self, *chunk):
        """Have a chunk written.  Nobody may change it from here on."""
        self.check()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="axion cache", daemon=True)
            self._thread.start()
        self._waiting.put(chunk)

    def check(self):
        """Raise what went wrong since the last call, if anything did."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    def close(self):
        """Wait until all is written."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join()
            self._thread = None
        self.check()

    def _work(self):
        while (chunk := self._waiting.get()) is not None:
            if self._failed:
                continue
            try:
                self._write(*chunk)
            except BaseException as error:  # noqa: BLE001  whoever hands in the next chunk raises it
                self._failed, self._error = True, error
