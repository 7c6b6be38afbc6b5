# SPDX-License-Identifier: GPL-3.0-or-later
"""One file of a cache: a JSON header and arrays of numbers, written atomically, read only where every byte is right.

    magic (16)  format (4)  length of the header (4)  length of the arrays (8)  SHA-256 of all but itself (32)
    header: JSON, with the type, shape and place of each array      arrays: their bytes, one after the other

All later formats keep the first line, so that a newer file is told from a damaged one.
"""

import hashlib
import json
import os
import struct
from math import prod

import numpy as np

from .errors import DamagedError, ForeignError, NewerError, writing_failed

MAGIC = b"\x89AXION cache\r\n\x1a\n"
FORMAT = 1
PREFIX = struct.Struct("<16sIIQ32s")
TYPES = ("<f8", "<f4", "<i8", "<i4", "|u1", "|b1")
"""What arrays may hold: numbers and bools, nothing that could be an object."""


def write(path, kind, header, arrays):
    """Write one file of a cache; it appears whole or not at all.  Returns its digest, hexadecimal.

    path: pathlib.Path in an existing folder.  kind: what it is, a word.  header: values that JSON knows.  arrays:
    {name: NumPy array}.  Raises CacheError where it cannot be written.
    """
    places, parts, end = {}, [], 0
    for name, values in arrays.items():
        values = np.asarray(values)
        values = values.astype(values.dtype.newbyteorder("<"), order="C", copy=False)
        if values.dtype.str not in TYPES:
            raise TypeError(f"{name} holds {values.dtype}, which a cache cannot keep")
        places[name] = [values.dtype.str, list(values.shape), end]
        parts.append(values.tobytes())
        end += len(parts[-1])
    text = json.dumps({"kind": kind, "arrays": places, "content": header}).encode()
    body = b"".join([text, *parts])
    digest = _digest(FORMAT, len(text), end, body)
    write_whole(path, PREFIX.pack(MAGIC, FORMAT, len(text), end, digest) + body)
    return digest.hex()


def read(path, kind):
    """(header, arrays, digest) of what ``write`` wrote.

    Raises OSError, ForeignError, NewerError or DamagedError.  Nothing of a file is used before its checksum was found
    right, and nothing in it is ever executed.
    """
    data = path.read_bytes()
    if not MAGIC.startswith(data[:16]):
        raise ForeignError(f"{path} is no file of an Axion cache: move it away, or choose another Cache Folder")
    if len(data) < PREFIX.size:
        raise DamagedError(f"{path} is cut off after {len(data)} bytes")
    _, form, text, end, digest = PREFIX.unpack_from(data)
    body = data[PREFIX.size :]
    if len(body) != text + end or _digest(form, text, end, body) != digest:
        raise DamagedError(f"{path} is damaged: its checksum is wrong")
    if form != FORMAT:
        raise NewerError(
            f"{path} was written by a newer version of Axion (format {form}, this one reads {FORMAT}): "
            "update Axion, or free the cache"
        )
    try:
        tree = json.loads(body[:text])
        if tree["kind"] != kind:
            raise ValueError(f"it holds {tree['kind']!r}, not {kind!r}")
        arrays = {name: _array(body, text, end, *entry) for name, entry in tree["arrays"].items()}
        return tree["content"], arrays, digest.hex()
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise DamagedError(f"{path} is damaged: {error}") from error


def write_whole(path, data, lasting=True):
    """Put ``data`` (bytes) at ``path`` at once; lasting: only after it is safely on the disk.  Raises CacheError."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        try:
            with open(beside, "wb") as file:
                file.write(data)
                file.flush()
                if lasting:
                    os.fsync(file.fileno())
            os.replace(beside, path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
        if lasting:
            _settle(path.parent)
    except OSError as error:
        raise writing_failed(path.parent, error) from error


def _digest(form, text, end, body):
    sums = hashlib.sha256(struct.pack("<IIQ", form, text, end))
    sums.update(body)
    return sums.digest()


def _array(body, text, end, kind, shape, place):
    if kind not in TYPES or not all(isinstance(size, int) and size >= 0 for size in (*shape, place)):
        raise ValueError(f"an array of type {kind!r} and shape {shape!r}")
    dtype = np.dtype(kind)
    count = prod(shape)
    if place + count * dtype.itemsize > end:
        raise ValueError("an array reaches beyond the end")
    return np.frombuffer(body, dtype, count, text + place).reshape(shape).copy()


def _settle(folder):
    """Make the new name itself last: on POSIX a folder is a file that must be flushed, Windows has no such call."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
