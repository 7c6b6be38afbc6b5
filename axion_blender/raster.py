# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws a graph.Drawing into pixels and writes PNG, in NumPy alone: no window, no graphics card."""

import struct
import zlib

import numpy as np

FINER = 2  # pixels are computed that many times finer, so that lines are smooth
GROUND = (0.16, 0.16, 0.17)
GLYPH = (5, 7)  # width and height of a letter; small letters are drawn as capitals
FONT = {
    "0": "01110100011001110101110011000101110", "1": "00100011000010000100001000010001110",
    "2": "01110100010000100010001000100011111", "3": "11111000100010000010000011000101110",
    "4": "00010001100101010010111110001000010", "5": "11111100001111000001000011000101110",
    "6": "00110010001000011110100011000101110", "7": "11111000010001000100010000100001000",
    "8": "01110100011000101110100011000101110", "9": "01110100011000101111000010001001100",
    "A": "01110100011000110001111111000110001", "B": "11110100011000111110100011000111110",
    "C": "01110100011000010000100001000101110", "D": "11100100101000110001100011001011100",
    "E": "11111100001000011110100001000011111", "F": "11111100001000011110100001000010000",
    "G": "01110100011000010111100011000101111", "H": "10001100011000111111100011000110001",
    "I": "01110001000010000100001000010001110", "J": "00111000100001000010000101001001100",
    "K": "10001100101010011000101001001010001", "L": "10000100001000010000100001000011111",
    "M": "10001110111010110101100011000110001", "N": "10001100011100110101100111000110001",
    "O": "01110100011000110001100011000101110", "P": "11110100011000111110100001000010000",
    "Q": "01110100011000110001101011001001101", "R": "11110100011000111110101001001010001",
    "S": "01111100001000001110000010000111110", "T": "11111001000010000100001000010000100",
    "U": "10001100011000110001100011000101110", "V": "10001100011000110001100010101000100",
    "W": "10001100011000110101101011010101010", "X": "10001100010101000100010101000110001",
    "Y": "10001100011000101010001000010000100", "Z": "11111000010001000100010001000011111",
    ".": "00000000000000000000000000110001100", ",": "00000000000000000000001100010001000",
    "-": "00000000000000011111000000000000000", "+": "00000001000010011111001000010000000",
    ":": "00000011000110000000011000110000000", "/": "00000000010001000100010001000000000",
    "(": "00010001000100001000010000010000010", ")": "01000001000001000010000100010001000",
}  # fmt: skip


def picture(drawing, width, height):
    """(height, width, 3) uint8 of a Drawing, top row first."""
    canvas = np.empty((FINER * height, FINER * width, 3))
    canvas[:] = GROUND
    for x, y, wide, high, color in drawing.rectangles:
        _fill(canvas, (x, y, x + wide, y + high), color)
    for points, color in drawing.lines:
        _line(canvas, np.asarray(points, float), color)
    for x, y, text in drawing.texts:
        _text(canvas, x, y, text)
    small = canvas.reshape(height, FINER, width, FINER, 3).mean(axis=(1, 3))
    return (255.0 * np.clip(small[::-1], 0.0, 1.0) + 0.5).astype(np.uint8)


def png(pixels):
    """Bytes of a PNG file of pixels (height, width, 3) uint8, top row first."""
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks)


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _fill(canvas, box, color):
    x0, y0, x1, y1 = (int(round(FINER * value)) for value in box)
    part = canvas[max(y0, 0) : max(y1, 0), max(x0, 0) : max(x1, 0)]
    part += color[3] * (np.array(color[:3]) - part)


def _line(canvas, points, color):
    """A polyline one pixel wide: samples along it, each a square of FINER fine pixels."""
    points = FINER * points
    steps = np.ceil(np.abs(np.diff(points, axis=0)).max(axis=1)).astype(int) + 1
    pieces = [np.linspace(a, b, n) for a, b, n in zip(points[:-1], points[1:], steps, strict=True)]
    place = np.floor(np.concatenate(pieces)).astype(int)
    offset = np.stack(np.meshgrid(range(FINER), range(FINER)), axis=-1).reshape(-1, 2)
    place = np.unique((place[:, None] + offset).reshape(-1, 2), axis=0)
    height, width, _ = canvas.shape
    x, y = place[((place >= 0) & (place < (width, height))).all(axis=1)].T
    canvas[y, x] += color[3] * (np.array(color[:3]) - canvas[y, x])


def _text(canvas, x, y, text):
    wide, high = GLYPH
    left, bottom = int(round(FINER * x)), int(round(FINER * y))
    for letter in text.upper():
        dots = FONT.get(letter)
        if dots is not None:
            mask = np.array([dot == "1" for dot in dots]).reshape(high, wide)[::-1]
            mask = mask.repeat(FINER, axis=0).repeat(FINER, axis=1)
            part = canvas[bottom : bottom + high * FINER, left : left + wide * FINER]
            part[mask[: part.shape[0], : part.shape[1]]] = (0.9, 0.9, 0.9)
        left += (wide + 1) * FINER
