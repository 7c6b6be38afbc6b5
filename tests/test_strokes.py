# SPDX-License-Identifier: GPL-3.0-or-later
"""Strokes: arrows end where their forces say, arcs lie where limits say, and the recording keeps what it is given."""

import numpy as np
import pytest
from axion.axion_blender import recording, strokes
from axion.solver import ForceHistory, FrameForces, SceneError

QUARTER_Z = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])  # a quarter turn about Z
NONE = np.array([0.0, 0.0, 0.0, 1.0])


def segments(made):
    ends, colors = made.arrays()
    assert ends.dtype == colors.dtype == np.float32 and len(ends) == len(colors)
    return ends.reshape(-1, 2, 3), colors[::2]


def test_arrows_start_at_the_point_and_end_at_the_tip():
    made = strokes.Strokes()
    base, force = np.array([[1.0, 2, 3], [0, 0, 0], [0, 0, 1]]), np.array([[0.0, 0, 2], [0, 0, 0], [1, 0, 0]])
    strokes.arrows(made, base, force, strokes.CONTACT_FORCE)
    lines, _ = segments(made)
    assert len(lines) == 2 * 5  # a force of 0 has no arrow; a shaft and four lines of the head for the others
    np.testing.assert_allclose(lines[:2], np.stack([base, base + force], 1)[[0, 2]])
    heads = lines[2:]
    np.testing.assert_allclose(heads[::2, 0], np.tile(base[0] + force[0], (4, 1)))
    back = heads[::2, 1] - heads[::2, 0]
    np.testing.assert_allclose(back[:, 2], -2.0 * strokes.HEAD, rtol=1e-6)
    np.testing.assert_allclose(back.sum(axis=0)[:2], 0.0, atol=1e-6)


def test_frames_show_their_axes_in_colour_and_red_where_bad():
    made = strokes.Strokes()
    strokes.frames(made, np.zeros((2, 3)), np.array([NONE, QUARTER_Z]), 0.5, np.array([False, True]))
    lines, colors = segments(made)
    np.testing.assert_allclose(lines[1::2, 1], [[0, 0.5, 0], [-0.5, 0, 0], [0, 0, 0.5]], atol=1e-7)
    np.testing.assert_allclose(colors[0::2], np.array(strokes.AXIS_COLORS), rtol=1e-6)
    np.testing.assert_allclose(colors[1::2], np.tile(strokes.BAD, (3, 1)), rtol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_an_arc_begins_at_the_lower_limit_and_ends_at_the_upper(axis):
    made = strokes.Strokes()
    strokes.arcs(made, [(0, 0, 1)], [NONE], axis, -0.5, 1.0, 2.0)
    lines, _ = segments(made)
    x, y = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
    first, last = (2 * (np.cos(a) * x + np.sin(a) * y) + (0, 0, 1) for a in (-0.5, 1.0))
    np.testing.assert_allclose([lines[0, 0], lines[-3, 1]], [first, last], atol=1e-6)
    np.testing.assert_allclose(lines[-2:], [[(0, 0, 1), first], [(0, 0, 1), last]], atol=1e-6)
    assert np.abs(np.linalg.norm(lines[:-2] - (0, 0, 1), axis=2) - 2.0).max() < 1e-6
    np.testing.assert_allclose(lines[:-3, 1], lines[1:-2, 0])


def test_the_angle_of_one_frame_in_another():
    assert strokes.relative_angles(NONE, QUARTER_Z, 2) == pytest.approx(np.pi / 2)
    assert strokes.relative_angles(QUARTER_Z, NONE, 2) == pytest.approx(-np.pi / 2)
    tilted = np.array([np.sin(0.3), 0.0, 0.0, np.cos(0.3)])
    assert strokes.relative_angles(NONE, tilted, 0) == pytest.approx(0.6)


def test_a_range_runs_along_its_axis():
    made = strokes.Strokes()
    strokes.ranges(made, [(1, 0, 0)], [QUARTER_Z], 0, -1.0, 2.0, 0.2)
    lines, _ = segments(made)
    np.testing.assert_allclose(lines[0], [(1, -1, 0), (1, 2, 0)], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(lines[1:, 1] - lines[1:, 0], axis=1), 0.2, rtol=1e-6)


def test_what_is_not_finite_is_not_drawn():
    made = strokes.Strokes()
    made.add([(0, 0, 0), (np.nan, 0, 0)], [(1, 0, 0), (1, 0, 0)], strokes.BAD)
    assert len(segments(made)[0]) == 1
    assert len(strokes.Strokes().arrays()[0]) == 0


def some(frames=3):
    random = np.random.default_rng(1)

    def one(contacts):
        return FrameForces(
            ["Hinge"], random.integers(0, 2, (contacts, 2)), *(random.normal(size=(contacts, 3)) for _ in range(3)),
            random.normal(size=contacts), random.normal(size=(1, 2, 3)), random.normal(size=(1, 2, 4)),
            random.normal(size=(1, 3)), random.normal(size=(1, 3)), random.random(1), random.random(1),
        )  # fmt: skip

    history = ForceHistory.of([one(k) for k in range(frames)])
    return recording.Recording(history, ["Kiste", "Börse"], 10, 1e-4, 0.5)


def test_a_recording_comes_back_in_single_precision():
    made = some()
    read = recording.unpack(recording.pack(made))
    assert (read.bodies, read.first_frame, read.tolerance, read.metres) == (made.bodies, 10, 1e-4, 0.5)
    assert read.history.joint_names == ["Hinge"]
    for name, values in made.history.tree().items():
        if name != "joint_names":
            rough = 2e-3 if name in recording.HALF else 1e-6
            np.testing.assert_allclose(getattr(read.history, name), values, rtol=rough, atol=rough)
    assert read.frame(10) is None and read.frame(14) is None
    assert [len(read.frame(f).contact_gap) for f in (11, 12, 13)] == [0, 1, 2]


def test_a_recording_without_contacts_or_joints():
    empty = recording.Recording(ForceHistory.of([]), [], 1, 1e-4, 1.0)
    read = recording.unpack(recording.pack(empty))
    assert read.frame(2) is None and read.arrow_scales() == (0.0, 0.0)


@pytest.mark.parametrize("damage", [b"", b"nonsense", lambda d: d[:100], lambda d: d[:-30] + b"0" * 30])
def test_a_damaged_recording_is_refused(damage):
    data = damage(recording.pack(some())) if callable(damage) else damage
    with pytest.raises(SceneError, match="bake again"):
        recording.unpack(data)
