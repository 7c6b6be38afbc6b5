# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that appear whole or not at all.  No bpy."""

import os


def write(path, make, keep=True):
    """Have ``make`` write a file beside ``path`` and move it there, so that a half file is never seen.

    path: pathlib.Path.  make: called with the path to write at.  keep=False: only try.  Raises OSError.
    """
    beside = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        make(beside)
        if keep:
            os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
