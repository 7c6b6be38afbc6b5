# SPDX-License-Identifier: GPL-3.0-or-later
"""FrameResults and a Checkpoint as a JSON header and arrays, and back, bit for bit.

Fields of a FrameResult may be arrays, lists of text, None, or dataclasses of these.  A field becomes one array over
all frames where its shape stays, else one array a frame.
"""

import dataclasses
import typing

import numpy as np

from ...solver import Checkpoint, FrameResult, StepReport

OWN = ("frame", "report")
"""Fields of a FrameResult that are told in the header."""
REPORT = {item.name for item in dataclasses.fields(StepReport)}
STATE = {"position": 3, "orientation": 4, "linear_velocity": 3, "angular_velocity": 3}
"""Columns with so many numbers a body."""


def pack(results, checkpoint):
    """(header, arrays) of FrameResults without gap, and the Checkpoint after the last of them."""
    arrays, texts = {}, {}
    _pack_fields(FrameResult, "frames", results, arrays, texts)
    arrays |= {f"checkpoint.{name}": values for name, values in checkpoint.arrays.items()}
    header = {
        "first": results[0].frame,
        "last": results[-1].frame,
        "fps": float(checkpoint.fps),
        "time": checkpoint.time,
        "reports": [_plain(dataclasses.asdict(result.report)) for result in results],
        "texts": texts,
    }
    return header, arrays


def unpack(header, arrays, bodies):
    """([FrameResult], Checkpoint) of what ``pack`` made, of a scene with so many bodies.

    Raises ValueError, KeyError, IndexError, TypeError or AttributeError on anything else.
    """
    first, last = header["first"], header["last"]
    count = last - first + 1
    if not (isinstance(first, int) and isinstance(last, int) and count >= 1 and len(header["reports"]) == count):
        raise ValueError(f"it says frames {first!r} to {last!r}, with {len(header['reports'])} reports")
    columns = _columns(FrameResult, "frames", count, arrays, header["texts"])
    for name, size in STATE.items():
        if np.shape(columns[name]) != (count, bodies, size):
            raise ValueError(f"{name} has shape {np.shape(columns[name])}, not {(count, bodies, size)}")
    results = []
    for k, report in enumerate(header["reports"]):
        if report.keys() != REPORT or report["frame"] != first + k:
            raise ValueError(f"the report of frame {first + k} is another one")
        values = {name: column[k] for name, column in columns.items()} | {"time": float(columns["time"][k])}
        results.append(FrameResult(frame=first + k, report=StepReport(**report), **values))
    own = {name.removeprefix("checkpoint."): v for name, v in arrays.items() if name.startswith("checkpoint.")}
    checkpoint = Checkpoint(last, header["fps"], own)
    if checkpoint.time != header["time"]:
        raise ValueError("its checkpoint is of another time")
    return results, checkpoint


def _pack_fields(cls, prefix, values, arrays, texts):
    for item in dataclasses.fields(cls):
        name = f"{prefix}.{item.name}"
        column = [getattr(value, item.name) for value in values]
        if item.name in OWN or all(entry is None for entry in column):
            continue
        if dataclasses.is_dataclass(column[0]):
            _pack_fields(type(column[0]), name, column, arrays, texts)
        elif isinstance(column[0], list):
            texts[name] = [[str(text) for text in entry] for entry in column]
            if all(entry == texts[name][0] for entry in texts[name]):
                del texts[name][1:]
        else:
            column = [np.asarray(entry) for entry in column]
            if len({(entry.shape, entry.dtype) for entry in column}) == 1:
                arrays[name] = np.stack(column)
            else:
                arrays |= {f"{name}.{k}": entry for k, entry in enumerate(column)}


def _columns(cls, prefix, count, arrays, texts):
    """{field: its values in ``count`` frames}; fields that no frame had are left to their default."""
    columns = {}
    for item in dataclasses.fields(cls):
        name = f"{prefix}.{item.name}"
        inner = next(
            (part for part in (item.type, *typing.get_args(item.type)) if dataclasses.is_dataclass(part)), None
        )
        if item.name in OWN or not any(key == name or key.startswith(f"{name}.") for key in (*arrays, *texts)):
            continue
        if inner is not None:
            parts = _columns(inner, name, count, arrays, texts)
            columns[item.name] = [inner(**{key: part[k] for key, part in parts.items()}) for k in range(count)]
        elif name in texts:
            kept = texts[name] * count if len(texts[name]) == 1 else texts[name]
            columns[item.name] = [[str(text) for text in entry] for entry in kept]
        elif name in arrays:
            columns[item.name] = arrays[name]
        else:
            columns[item.name] = [arrays[f"{name}.{k}"] for k in range(count)]
        if len(columns[item.name]) != count:
            raise ValueError(f"{name} has {len(columns[item.name])} frames, not {count}")
    return columns


def _plain(value):
    """Values that JSON knows."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return value.item() if isinstance(value, np.generic) else value
