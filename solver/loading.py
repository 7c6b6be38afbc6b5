# SPDX-License-Identifier: GPL-3.0-or-later
"""Loading much at once without Python's garbage collector."""

import gc
from contextlib import contextmanager


@contextmanager
def uncollected():
    """Let the garbage collector pause: what is loaded stays, and it would go through all of that time and again.

    Afterwards all objects count as old ones, as if it had gone through them.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():  # nobody else keeps objects from it
                gc.freeze()
                gc.unfreeze()
            gc.enable()
