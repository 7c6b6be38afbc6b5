# SPDX-License-Identifier: GPL-3.0-or-later
"""Which folder holds a scene's cache: beside the .blend, below a UUID that the scene keeps.

A copy of a file or a scene carries the same UUID.  The cache says whose it is, so a copy takes another UUID while the
owner still exists, and begins with a copy of the cache; where the owner is gone, it was only renamed.  UUIDs that no
file keeps yet are made from the names of file and scene, so that a farm that bakes an unsaved UUID finds it again.
In a Cache Folder that was chosen, files of other folders may have those names: there it counts where the file is, too.
"""

import contextlib
import hashlib
import itertools
import os
import tempfile
import time
import uuid
from pathlib import Path

import bpy

from . import preferences
from .cache import FOLDER, HEAD, Cache, CacheError, Place, cache_size, free_cache

NAMES = uuid.UUID("6a0c8b52-5d2b-4a5e-9d5f-3c1f1c6d7a10")
"""Namespace of the UUIDs made from names."""
LOOK = 1.0  # [s] between two looks at the disk
FORGOTTEN = 30 * 24 * 3600.0  # [s] after which the cache of a file that was never saved goes

_sizes = {}
_unsaved = {}
"""session_uid of a scene -> its UUID, where the file has no name yet: undo may take the property back."""


def place(scene):
    """The Place of a scene's cache, or None where the scene keeps none.  Main thread; may give the scene its UUID."""
    if not scene.axion.use_cache:
        return None
    base, owner = folder(scene), _owner(scene)
    own, seed = _choose(scene, base, owner)
    if scene.axion.uuid != own:
        scene.axion.uuid = own
    if base == user_folder():
        _clear_out(base, own)
    before = _unsaved_cache(base, own) if seed is None else None
    return Place(base / own, owner, seed if before is None else before, before is not None)


def problem(scene):
    """Why the scene's Cache Folder is not to be used, or an empty text."""
    chosen = scene.axion.cache_folder
    if not scene.axion.use_cache or not chosen or chosen.startswith("//") or os.path.isabs(chosen):
        return ""
    return (
        f"its Cache Folder {chosen!r} would lie in {os.getcwd()}, where Blender was started: begin it with // to have "
        "it beside the .blend file, or give a whole path"
    )


def existing(scene):
    """Folder of the cache that a scene has, or None.  Changes nothing, so that panels may ask."""
    base = folder(scene)
    own, seed = _choose(scene, base, _owner(scene))
    if os.path.isdir(base / own):
        return base / own
    return _unsaved_cache(base, own) if seed is None else None


def to_read(scene):
    """Folder of the cache from which a scene's motion can be read, or None: its own, or that it is a copy with."""
    base = folder(scene)
    _, seed = _choose(scene, base, _owner(scene))
    own = existing(scene)
    return seed if own is None and seed is not None and os.path.isdir(seed) else own


def _unsaved_cache(base, own):
    """Folder of the cache from before the file had a name, or None; the next bake moves it to ``base``."""
    before = user_folder() / own
    return before if before != base / own and os.path.isdir(before) else None


def size(scene):
    """Bytes that the scene's cache takes on the disk.  For panels: looks at the disk once a second at most."""
    name = scene.session_uid, bpy.data.filepath
    seen = _sizes.get(name)
    if seen is None or time.monotonic() >= seen[0] + LOOK:
        found = existing(scene)
        _sizes.clear()
        seen = _sizes[name] = time.monotonic(), 0 if found is None else cache_size(found)
    return seen[1]


def size_text(size):
    """Bytes as a text with Blender's units."""
    amount, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB"):
        if amount < 1024.0:
            break
        amount, unit = amount / 1024.0, larger
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"


def folder(scene):
    """Folder of all caches of the file."""
    chosen = scene.axion.cache_folder
    if chosen and not (chosen.startswith("//") and not bpy.data.filepath):
        return Path(bpy.path.abspath(chosen))
    if bpy.data.filepath:
        return Path(bpy.data.filepath).parent / FOLDER
    return user_folder()


def user_folder():
    """Folder of the caches of files without a name: the extension's, or the session's own on the bpy wheel."""
    package = preferences.base_package()
    if package.startswith("bl_ext."):
        return Path(bpy.utils.extension_path_user(package, path="cache", create=True))
    return Path(bpy.app.tempdir or tempfile.gettempdir()) / FOLDER


def _clear_out(base, own):
    """Free caches in the user's folder that nobody has written for long: their files were never saved."""
    for head in base.glob(f"*/{HEAD}"):
        if head.parent.name != own and time.time() - head.stat().st_mtime > FORGOTTEN:
            with contextlib.suppress(CacheError):  # in use, or the system keeps it: the next bake tries again
                free_cache(head.parent)


def _uuid(scene):
    """The scene's UUID, or None where it has none.  It becomes the name of a folder, so nothing else passes."""
    try:
        return str(uuid.UUID(scene.axion.uuid))
    except ValueError:
        return None


def _owner(scene):
    owner = {"blend": os.path.basename(bpy.data.filepath), "scene": scene.name}
    return owner | {"folder": _where(folder(scene))} if owner["blend"] and scene.axion.cache_folder else owner


def _where(base):
    """What tells the folder of the file from others, as seen from that of its caches: both may be moved together, and
    be mounted elsewhere on a farm.
    """
    above = os.path.realpath(os.path.dirname(bpy.data.filepath))
    with contextlib.suppress(ValueError):  # on another drive
        above = os.path.relpath(above, os.path.realpath(base))
    return hashlib.sha256(os.path.normcase(above).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _choose(scene, base, owner):
    """(UUID, folder of the cache to copy or None)."""
    own, seed = _uuid(scene) or _earlier(base, owner), None
    for made in _new_uuids(scene, owner):
        if own is not None:
            if not _belongs_to_another(scene, base, own, owner):
                break
            seed = seed or base / own
        own = made
    return own, seed


def _earlier(base, owner):
    """UUID of a cache in a chosen folder, from before that told files of one name apart, or None."""
    if "folder" not in owner:
        return None
    names = {name: owner[name] for name in ("blend", "scene")}
    own = _from_names(names, 0)
    return own if Cache(base / own).owner() in (names, owner) else None


def _new_uuids(scene, owner):
    """UUIDs that the scene could take, without end; the same ones each time."""
    if not owner["blend"]:
        yield _unsaved.setdefault(scene.session_uid, str(uuid.uuid4()))
    for number in itertools.count():
        yield _from_names(owner, number)


def _from_names(owner, number):
    return str(uuid.uuid5(NAMES, "/".join((*owner.values(), str(number)))))


def _belongs_to_another(scene, base, own, owner):
    """Whether the UUID ``own`` is that of another scene, of this file or one beside it, that still exists, or of a file
    elsewhere.
    """
    claimed = Cache(base / own).owner()
    if claimed == owner:
        return False
    twins = [other for other in bpy.data.scenes if other != scene and _uuid(other) == own]
    if not claimed:
        return bool(twins)
    if "folder" in claimed and claimed["folder"] != _where(base):
        return True
    if claimed.get("blend") == owner["blend"]:
        return any(other.name == claimed.get("scene") for other in twins)
    # Another file: of a name alone, whatever the cache says, so that nothing beyond this folder is asked about.
    other = os.path.basename(str(claimed.get("blend", "")))
    return bool(other and bpy.data.filepath) and os.path.isfile(Path(bpy.data.filepath).parent / other)
