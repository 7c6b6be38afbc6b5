# SPDX-License-Identifier: GPL-3.0-or-later
"""The report as graphs: curves where the numbers say, frames where the mouse says, and a PNG that can be read."""

import itertools
import json
import struct
import zlib

import numpy as np
import pytest
from axion.axion_blender import graph, raster, report
from axion.solver import StepReport, Trajectory


def document(count=5, bad=(2,), **columns):
    reports = [
        StepReport(i + 1, converged=i not in bad, worst_bodies=["Crate"] if i in bad else [], newton_iterations=i)
        for i in range(count)
    ]
    for name, values in columns.items():
        for one, value in zip(reports, values, strict=True):
            setattr(one, name, value)
    zeros = np.zeros((count + 1, 0, 3))
    trajectory = Trajectory([], np.arange(count + 1) / 24.0, zeros, np.zeros((count + 1, 0, 4)), zeros, zeros, reports)
    made = report.document(trajectory, 10, 24.0, tolerance=1e-4)
    return json.loads(report.to_json(made))


def curve(drawing, color):
    return [points for points, own in drawing.lines if own == color]


def test_a_curve_runs_from_the_first_frame_to_the_last_and_as_high_as_its_value():
    table = graph.table(document(kinetic_energy=[0.0, 1.0, 2.0, 3.0, 4.0], potential_energy=[0.0] * 5))
    made = graph.drawing(table, "energy", 100.0, 50.0, 400.0, 200.0)
    (x, y, width, height), (kinetic,) = made.plots[0], curve(made, graph.COLORS[0])
    np.testing.assert_allclose(kinetic, [(x + width * k / 4, y + height * k / 4) for k in range(5)])
    assert x > 100 and x + width < 500 and y > 50 and y + height < 250


def test_lengths_are_logarithmic_with_the_tolerance_as_a_line():
    table = graph.table(document(penetration=[1e-3, 1e-4, 1e-5, 0.0, np.nan]))
    assert np.isnan(table.values["penetration"][4])
    made = graph.drawing(table, "penetration", 0.0, 0.0, 300.0, 120.0)
    (_, y, _, height), (points,) = made.plots[0], curve(made, graph.COLORS[0])
    np.testing.assert_allclose((points[:, 1] - y) / height, [1.0, 5 / 6, 4 / 6, 0.0], atol=1e-9)
    ((tolerance),) = curve(made, graph.TOLERANCE)
    np.testing.assert_allclose((tolerance[:, 1] - y) / height, 5 / 6)
    assert "max 1 mm" in made.texts[0][2]


def test_bad_frames_are_marked_and_the_current_one_has_a_cursor():
    table = graph.table(document())
    made = graph.drawing(table, "residual", 0.0, 0.0, 300.0, 120.0, frame=13)
    (x, _, width, _) = made.plots[0]
    ((left, _, wide, _, _),) = [r for r in made.rectangles if r[4] == graph.BAD]
    assert left + 0.5 * wide == pytest.approx(x + width * 2 / 4)  # frames 11 .. 15, the third is bad
    ((cursor),) = curve(made, graph.CURSOR)
    assert cursor[0, 0] == pytest.approx(x + width * 2 / 4)
    assert "frame 13: 0 mm" in made.texts[0][2]
    assert not curve(graph.drawing(table, "residual", 0.0, 0.0, 300.0, 120.0, frame=9), graph.CURSOR)


def test_all_graphs_share_the_room():
    made = graph.drawing(graph.table(document()), "ALL", 0.0, 0.0, 300.0, 500.0)
    backs = [r for r in made.rectangles if r[4] == graph.BACK]
    assert len(made.plots) == len(backs) == len(graph.KINDS) == 5
    edges = sorted((r[1], r[1] + r[3]) for r in backs)
    assert edges[0][0] == 0.0 and edges[-1][1] == pytest.approx(500.0)
    assert all(low[1] < high[0] for low, high in itertools.pairwise(edges))


@pytest.mark.parametrize("part, frame", [(-1.0, 11), (0.0, 11), (0.3, 12), (0.5, 13), (1.0, 15), (9.0, 15)])
def test_a_click_finds_the_nearest_frame(part, frame):
    plot = (40.0, 0.0, 200.0, 50.0)
    assert graph.frame_at(40.0 + part * 200.0, plot, np.arange(11, 16)) == frame


def test_one_frame_alone_is_drawn():
    made = graph.drawing(graph.table(document(1, ())), "ALL", 0.0, 0.0, 200.0, 400.0, frame=11)
    assert np.isfinite(np.concatenate([points for points, _ in made.lines])).all()


def test_a_report_where_nothing_is_known():
    nothing = document(3, penetration=[np.nan] * 3)
    made = graph.drawing(graph.table(nothing), "penetration", 0.0, 0.0, 200.0, 100.0)
    assert not curve(made, graph.COLORS[0]) and "unknown" in made.texts[0][2]


def decoded(data):
    """Pixels (height, width, 3) of a PNG without filters."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, place = {}, 8
    while place < len(data):
        (size,), kind = struct.unpack(">I", data[place : place + 4]), data[place + 4 : place + 8]
        body, crc = data[place + 8 : place + 8 + size], data[place + 8 + size : place + 12 + size]
        assert struct.unpack(">I", crc)[0] == zlib.crc32(kind + body)
        chunks[kind] = chunks.get(kind, b"") + body
        place += 12 + size
    width, height, depth, colors = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colors) == (8, 2) and b"IEND" in chunks
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 3)


def test_a_picture_shows_what_the_drawing_holds():
    made = graph.Drawing()
    made.rectangles.append((10, 20, 30, 10, (1.0, 0.0, 0.0, 1.0)))
    made.lines.append((np.array([(0.0, 5.0), (60.0, 5.0)]), (0.0, 1.0, 0.0, 1.0)))
    made.texts.append((5, 40, "I"))
    pixels = decoded(raster.png(raster.picture(made, 60, 50)))
    assert pixels.shape == (50, 60, 3)
    from_below = pixels[::-1]
    assert (from_below[20:30, 10:40] == (255, 0, 0)).all()
    assert (from_below[5] == (0, 255, 0)).all()
    ground = np.round(255 * np.array(raster.GROUND)).astype(np.uint8)
    letter = (from_below[40:47, 5:10] != ground).any(axis=2)
    assert "".join("1" if dot else "0" for dot in letter[::-1].ravel()) == raster.FONT["I"]


def test_every_letter_of_the_graphs_can_be_written():
    made = graph.drawing(graph.table(document()), "ALL", 0.0, 0.0, 300.0, 500.0, frame=12)
    used = set("".join(text for _, _, text in made.texts).upper()) | set("0123456789.E+-")
    assert used <= set(raster.FONT) | {" "}
    assert {len(dots) for dots in raster.FONT.values()} == {35} and len(set(raster.FONT.values())) == len(raster.FONT)
