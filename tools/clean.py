# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes everything that the other make targets created."""

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATTERNS = (".venv*", "build", "dist", "wheels", "*.egg-info", ".pytest_cache", ".ruff_cache", "**/__pycache__")


def main():
    """Delete each generated folder and say which."""
    for pattern in PATTERNS:
        for folder in sorted(ROOT.glob(pattern)):
            if folder.is_dir():
                shutil.rmtree(folder)
                print(f"removed {folder.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
