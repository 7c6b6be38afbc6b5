# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers and tables of the pages that are written from results."""

EQUAL = 1e-6
"""Difference below which two values count as equal, in the unit of the table: single precision tells no more."""


def number(value, least=EQUAL):
    """Three significant digits, without exponents where they can be avoided; what is below ``least`` is 0."""
    if abs(value) < least or value == 0.0:
        return "0"
    if abs(value) >= 1000.0:
        return f"{value:.0f}"
    text = f"{value:.3g}"
    return text if "e" in text or "." not in text else text.rstrip("0").rstrip(".")


def table(header, body):
    """A Markdown table."""
    return ["| " + " | ".join(line) + " |" for line in (header, ["---"] * len(header), *body)]
