# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of the solver: one .npz without pickle, holding a JSON tree and the arrays it refers to.

A file can be handed to anybody: reading one runs no code, whatever it contains.
"""

import errno
import io
import json
import os
import struct
import tempfile
import tokenize
import zipfile
import zlib
from pathlib import Path

import numpy as np

from .errors import SceneError, shown

UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, KeyError, IndexError, ValueError, TypeError, NotImplementedError),
    *(
        AttributeError,
        struct.error,
        SyntaxError,
        tokenize.TokenError,
        RecursionError,
        RuntimeError,
        OverflowError,
        MemoryError,
    ),
)
"""What NumPy, zipfile and json raise on bytes that are not what they should be."""


def write(path, kind, version, tree):
    """Writes ``tree`` (dicts with string keys, lists, strings, numbers, None, arrays) to exactly ``path``.

    The file appears whole or not at all.  Raises OSError where it cannot be written.
    """
    path = Path(path)
    if path.exists() and not path.is_file():  # such as /dev/null, which a file would replace
        raise FileExistsError(errno.EEXIST, "It is there and is no file", str(path))
    arrays = []
    header = {"axion": kind, "version": version, "content": _flatten(tree, arrays)}
    text = np.frombuffer(json.dumps(header, allow_nan=False).encode(), np.uint8)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, header=text, **{f"array_{i}": values for i, values in enumerate(arrays)})
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read(path, kind, version, build):
    """Reads what ``write`` wrote and returns ``build(tree)``.

    Raises:
        SceneError: the file is no such file, is damaged, is of a later version, or ``build`` cannot use its content.
        OSError: the file cannot be opened.
    """
    data = io.BytesIO(Path(path).read_bytes())  # damaged offsets in the file are then no errors of the system
    try:
        with np.load(data, allow_pickle=False) as stored:
            header = json.loads(stored["header"].tobytes())
            found = (header["axion"], header["version"])
            tree = _restore(header["content"], stored) if found == (kind, version) else None
    except UNREADABLE as error:
        raise SceneError(f"{path} is damaged or no Axion {kind} file ({error}): write it again") from error
    if tree is None:
        raise SceneError(f"{path} holds an Axion {found[0]} of version {found[1]}, not a {kind} of version {version}")
    try:
        return build(tree)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise SceneError(f"{path} is damaged: its {kind} cannot be built ({error}); write it again") from error


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _flatten(value, arrays):
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise SceneError(f"{shown(value.tolist())} holds no numbers and cannot be stored: correct it first")
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, dict):
        return {"dict": {str(key): _flatten(entry, arrays) for key, entry in value.items()}}
    if isinstance(value, (list, tuple)):
        return [_flatten(entry, arrays) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": repr(value)}
    if value is None or isinstance(value, (str, bool, int)):
        return value
    raise SceneError(f"{shown(value)} is no number, text or array and cannot be stored: correct it first")


def _restore(value, stored):
    if isinstance(value, list):
        return [_restore(entry, stored) for entry in value]
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items()
    if tag == "array":
        return stored[f"array_{content}"]
    if tag == "float":
        return float(content)
    return {key: _restore(entry, stored) for key, entry in content.items()}
