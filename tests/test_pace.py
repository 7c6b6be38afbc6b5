# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a bake will still take: the mean cost of the last frames, without those in which the solver starts."""

from axion.axion_blender.pace import Pace


def test_the_last_frames_foretell_the_others():
    pace, left = Pace(3), []
    assert pace.left(9) is None
    for seconds in (9.0, 5.0, 1.0, 2.0, 3.0, 4.0):
        pace.solve(seconds)
        left.append(pace.left(10))
    assert left == [90.0, 70.0, 10.0, 15.0, 20.0, 30.0], "the first two count only while there are no others"


def test_frames_found_count_until_one_is_solved():
    pace = Pace(2)
    for seconds in (7.0, 1.0, 2.0):
        pace.find(seconds)
    assert pace.left(2) == 3.0
    pace.solve(5.0)
    assert pace.left(2) == 10.0
