# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets several engines take their blocks of frames in turn, A B C A B C, each in a process of its own.

What slows the machine down for a while then slows all of them down alike.  Only one of them runs at any time.
"""

import os
import queue
import subprocess
import sys
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path

import cell

PROGRAM = Path(cell.__file__)
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
PATIENCE = 4
"""Wall time after which a process is killed, in units of the time it should need: the machine may have other work."""
ENDED = None


def last_processor():
    """Number of the processor that the engines share, or None where a process cannot be tied to one."""
    return max(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else None


def command(*arguments):
    """The command line of one cell, tied to one processor where that can be done."""
    processor = last_processor()
    tied = [] if processor is None else ["--cpu", str(processor)]
    return [sys.executable, str(PROGRAM), *map(str, arguments), *tied]


class Worker:
    """A process that speaks as cell.py does."""

    def __init__(self, arguments, environment=None):
        self.process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**os.environ, **dict.fromkeys(THREADS, "1"), **(environment or {})},
        )
        self.messages, self.complaints = queue.Queue(), deque(maxlen=20)
        threading.Thread(target=self._listen, daemon=True).start()
        threading.Thread(target=self._overhear, daemon=True).start()

    def _listen(self):
        for line in self.process.stdout:
            if line.startswith(cell.SIGN):
                self.messages.put(cell.json.loads(line.removeprefix(cell.SIGN)))
        self.messages.put(ENDED)

    def _overhear(self):
        self.complaints.extend(self.process.stderr)

    def next(self, patience):
        """The next message; {"answer": {"outcome": ...}} for a process that died or did not answer in time."""
        try:
            message = self.messages.get(timeout=patience)
        except queue.Empty:
            self.process.kill()
            message = {"answer": {"outcome": f"not done after {patience:g} s"}}
        if message is ENDED:
            self.process.wait()
            print("".join(self.complaints)[-2000:], file=sys.stderr, flush=True)
            message = {"answer": {"outcome": "crashed"}}
        if "answer" in message:
            self.process.stdin.close()
            self.process.wait()
        return message

    def go(self):
        """Let it run its next block."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()


def take_turns(jobs, patience, environment=None):
    """Run processes that pause, one block after the other's, until each has answered.

    Args:
        jobs: {name: command line}.
        patience: time that one block may take [s].
        environment: variables beside those of this process.

    Returns:
        {name: answer}.
    """
    workers, answers = {}, {}

    def hear(name):
        message = workers[name].next(patience)
        if "answer" in message:
            answers[name] = message["answer"]

    for name, arguments in jobs.items():  # one after the other: each starts and warms up alone
        workers[name] = Worker(arguments, environment)
        hear(name)
    while len(answers) < len(jobs):
        for name in jobs:
            if name not in answers:
                with suppress(BrokenPipeError):  # it died; hear says so
                    workers[name].go()
                hear(name)
    return {name: answers[name] for name in jobs}
