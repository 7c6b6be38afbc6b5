# SPDX-License-Identifier: GPL-3.0-or-later
"""CSV files of dataclasses, one record a line, and the machine they were made on."""

import csv
import os
import platform
from dataclasses import asdict, fields
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"
"""Where the committed results lie."""


def write(path, kind, records):
    """Replace the file; ``kind``: a dataclass of str, int, float and float | None."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(kind)], lineterminator="\n")
        writer.writeheader()
        for record in records:
            writer.writerow({name: _text(value) for name, value in asdict(record).items()})


def read(path, kind):
    """The records of a file, of the dataclass ``kind``; none where it does not exist."""
    if not path.exists():
        return []
    numbers = {field.name: field.type for field in fields(kind) if field.type is not str}
    with path.open(newline="", encoding="utf-8") as file:
        records = []
        for record in csv.DictReader(file):
            for name, wanted in numbers.items():
                record[name] = int(record[name]) if wanted is int else float(record[name]) if record[name] else None
            records.append(kind(**record))
    return records


def _text(value):
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def machine(device="cpu"):
    """The machine in words, first of them the CUDA device where one is named."""
    processor = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        names = [line.split(":", 1)[1].strip() for line in information.read_text().splitlines() if "model name" in line]
        processor = names[0] if names else processor
    words = f"{processor}, {os.cpu_count()} cores, {platform.system()}; one process at a time, one thread"
    return words if device == "cpu" else f"{cuda_device(device)}; {words}"


def cuda_device(device):
    """A CUDA device in words, with what drives it."""
    import warp as wp

    found, driver = wp.get_device(device), wp.get_cuda_driver_version()
    return f"{found.name}, sm_{found.arch}, driver of CUDA {'.'.join(map(str, driver))}, Warp {wp.__version__}"
