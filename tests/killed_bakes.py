# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes that are killed with SIGKILL, each in a process of its own; a program that ``test_cache_killed.py`` starts.

Warp is started once and each bake forked from there, so that twenty bakes cost twenty bakes and not twenty starts.
"""

import hashlib
import itertools
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
from axion.axion_blender.cache import Place, cached_solve, solve
from axion.solver import Body, Box, Joint, SolverConfig, simulate
from cached import ARRAYS, OWNER
from scenes import pile

CPU = SolverConfig(device="cpu")
KILLS, FRAMES = 20, 12


def scene():
    """Two boxes fall onto the ground, and a door whose hinge breaks."""
    made = pile(2)
    made.add(Body("Door", [Box((0.2, 0.02, 0.2))], position=(1.2, 0, 0.4), mass=3.0))
    made.add(Joint("Hinge", "hinge", None, "Door", (1.0, 0, 0.4), break_force=20.0))  # its weight is 29 N
    return made


def fingerprint(trajectory):
    """SHA-256 of every number of the motion and of the report but the time it took."""
    sums = hashlib.sha256()
    for name in ARRAYS:
        sums.update(np.ascontiguousarray(getattr(trajectory, name)).tobytes())
    for report in trajectory.reports:
        report.wall_time = 0.0
        sums.update(repr(report).encode())
    sums.update(repr(trajectory.broken_joints).encode())
    return sums.hexdigest()


def bake(folder, on_frame=lambda result: None):
    """(fingerprint, number of frames found in the cache)."""
    found = []
    trajectory, _ = cached_solve(
        Place(folder, OWNER), simulate, scene(), FRAMES, 24.0, CPU, on_frame, on_found=found.extend
    )
    return fingerprint(trajectory), len(found)


def forked(act):
    """Process that does ``act``, and nothing of what this one does at its end."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            act()
            status = 0
        finally:
            os._exit(status)
    return child


def baked(folder):
    """What ``bake`` says in a process of its own."""
    answer = folder.with_suffix(".answer")
    child = forked(lambda: answer.write_text(" ".join(map(str, bake(folder)))))
    assert os.waitpid(child, 0)[1] == 0, "a bake that nobody killed failed"
    sums, found = answer.read_text().split()
    return sums, int(found)


def killed_at_random(folder, whole, frame, random):
    """KILLS bakes, each killed at some moment and resumed.  Returns the number of frames each one had kept.

    frame: how long one takes [s].
    """
    assert baked(folder / "whole") == (whole, 0)
    kept = []
    for number in range(KILLS):
        own = folder / str(number)
        read, write = os.pipe()
        child = forked(lambda own=own, to=write: bake(own, lambda result: os.write(to, b".") and None))
        os.close(write)  # so that reading ends with the child
        os.read(read, 1)  # the first frame: what comes before takes longest and keeps nothing
        for _ in range(random.integers(FRAMES - 1)):
            os.read(read, 1)
        time.sleep(random.uniform(0.0, 2.0 * frame))  # anywhere in a frame or in the writing after it
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(read)
        resumed, found = baked(own)
        assert resumed == whole, f"bake {number} has other bits, resumed after frame {found}"
        kept.append(found)
    return kept


def killed_while_writing(folder, whole):
    """A bake killed at its first call to the file system, then at its second, and so on.  Returns the frames kept."""
    own, kept = folder / "writing", []
    for calls in range(1, 13):
        status = os.waitpid(forked(lambda calls=calls: die_after(calls, lambda: bake(own))), 0)[1]
        assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0
        if not os.WIFSIGNALED(status):
            break
        kept.append(sum(path.suffix == ".frames" for path in own.iterdir()))
    assert baked(own)[0] == whole
    return kept


def die_after(calls, act):
    """Do ``act``, but end this process without warning at the given call that makes a file last or gives its name."""
    numbers = itertools.count(1)  # two threads call: the one that solves tells its progress, the other one writes

    def fatal(original, *given):
        number = next(numbers)
        if number == calls and number % 2:
            os.kill(os.getpid(), signal.SIGKILL)
        original(*given)
        if number == calls:
            os.kill(os.getpid(), signal.SIGKILL)

    fsync, replace = os.fsync, os.replace
    os.fsync = lambda *given: fatal(fsync, *given)
    os.replace = lambda *given: fatal(replace, *given)
    act()


def main(folder):
    """Print how many frames the bakes had kept; fail where bits differ."""
    solve.FRAMES_LEAST, solve.SECONDS_LEAST = 2, 0.0
    trajectory = simulate(scene(), FRAMES, config=CPU)
    frame = float(np.median([report.wall_time for report in trajectory.reports]))
    whole = fingerprint(trajectory)
    print(*killed_at_random(folder, whole, frame, np.random.default_rng(7)))
    print(*killed_while_writing(folder, whole))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
