# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels with a thread for each item, as on CUDA, do what the one thread of the CPU does, to the last bit."""

import subprocess
import sys
from pathlib import Path


def digest(*arguments):
    script = Path(__file__).with_name("lanes_run.py")
    command = [sys.executable, str(script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("digest ")[1].strip()


def test_a_thread_for_each_item_ends_as_one_for_all():
    assert digest("each") == digest()
