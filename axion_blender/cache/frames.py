# SPDX-License-Identifier: GPL-3.0-or-later
"""FrameResults and a Checkpoint as a JSON header and arrays, and back, bit for bit."""

import dataclasses

import numpy as np

from ...solver import Checkpoint, FrameResult, StepReport

COLUMNS = tuple(item.name for item in dataclasses.fields(FrameResult) if item.name not in ("frame", "report"))
REPORT = {item.name for item in dataclasses.fields(StepReport)}

STATE = {"position": 3, "orientation": 4, "linear_velocity": 3, "angular_velocity": 3}
"""Columns with so many numbers a body."""


def pack(results, checkpoint):
    """(header, arrays) of FrameResults without gap, and the Checkpoint after the last of them."""
    arrays = {}
    for name in COLUMNS:
        _pack_column(f"frames.{name}", [getattr(result, name) for result in results], arrays)
    arrays |= {f"checkpoint.{name}": values for name, values in checkpoint.arrays.items()}
    header = {
        "first": results[0].frame,
        "last": results[-1].frame,
        "fps": float(checkpoint.fps),
        "time": checkpoint.time,
        "reports": [_plain(dataclasses.asdict(result.report)) for result in results],
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
    columns = {name: _column(f"frames.{name}", count, arrays) for name in COLUMNS}
    results = []
    for k, report in enumerate(header["reports"]):
        if report.keys() != REPORT or report["frame"] != first + k:
            raise ValueError(f"the report of frame {first + k} is another one")
        values = {name: column[k] for name, column in columns.items()}
        values["time"] = float(values["time"])
        results.append(FrameResult(frame=first + k, report=StepReport(**report), **values))
    for name, size in STATE.items():
        if columns[name].shape != (count, bodies, size):
            raise ValueError(f"{name} has shape {columns[name].shape}, not {(count, bodies, size)}")
    own = {name.removeprefix("checkpoint."): v for name, v in arrays.items() if name.startswith("checkpoint.")}
    checkpoint = Checkpoint(last, header["fps"], own)
    if checkpoint.time != header["time"]:
        raise ValueError("its checkpoint is of another time")
    return results, checkpoint


def _pack_column(name, values, arrays):
    """One array over all frames where they are alike, else one a frame."""
    values = [np.asarray(value) for value in values]
    if len({(value.shape, value.dtype) for value in values}) == 1:
        arrays[name] = np.stack(values)
    else:
        arrays |= {f"{name}.{k}": value for k, value in enumerate(values)}


def _column(name, count, arrays):
    if name not in arrays:
        return [arrays[f"{name}.{k}"] for k in range(count)]
    if len(arrays[name]) != count:
        raise ValueError(f"{name} has {len(arrays[name])} frames, not {count}")
    return arrays[name]


def _plain(value):
    """Values that JSON knows."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return value.item() if isinstance(value, np.generic) else value
