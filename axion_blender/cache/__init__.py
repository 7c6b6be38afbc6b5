# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake keeps on disk, so that it never computes a frame twice.  Knows no Blender.

    <folder>/head                   what was simulated: the inputs, their hash, whose they are
    <folder>/000001-000010.frames   frames, and the checkpoint after the last of them
    <folder>/progress.json          how far a running bake is, for other programs
    <folder>/lock                   held while a bake writes here

Each file appears whole or not at all, carries a checksum over all of it, and holds JSON and numbers alone.
"""

from .errors import CacheError
from .solve import Place, cached_solve
from .store import FOLDER, HEAD, Cache, cache_size, free_cache

__all__ = ["FOLDER", "HEAD", "CacheError", "Cache", "Place", "cached_solve", "cache_size", "free_cache"]
