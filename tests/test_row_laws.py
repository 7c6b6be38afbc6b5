# SPDX-License-Identifier: GPL-3.0-or-later
"""What joints ask of their rows: the kernel of constraints/asked.py against the reference, over rows of every law."""

import itertools

import numpy as np
import pytest
from axion.solver.constraints.asked import Asker
from axion.solver.problem import JointRows
from axion.solver.reference import row_laws, springs
from axion.solver.reference.row_laws import ASKED, Law

H = 0.04
JOINTS = 60
DRIVE = Law.BOUNDED | Law.PULLS
LAWS = (
    *(Law(0), Law.GIVES, Law.PULLS, DRIVE | Law.FOLLOWS, DRIVE | Law.FLOWS, Law.BOUNDED | Law.BRAKES, Law.BOUNDED),
    *(Law.BOUNDED | Law.FLOWS, Law.LOWER, Law.UPPER, Law.WEIGHS),
)


def spread(rng, low, high, count):
    """Numbers of all sizes between 10^low and 10^high, some of them 0."""
    return np.where(rng.random(count) < 0.2, 0.0, 10.0 ** rng.uniform(low, high, count))


def random_rows(seed):
    """(Asker, its columns) of rows of each law, whose turns are counted or not."""
    rng = np.random.default_rng(seed)
    law = np.array([int(kind | turns) for kind, turns in itertools.product(LAWS, (Law(0), Law.TURNS))] * 40)
    count = len(law)
    rows = JointRows.of(count)
    rows.joint[:] = rng.integers(0, JOINTS, count)
    rows.offset[:], rows.beta[:] = rng.normal(size=count), rng.choice([0.0, 1.0], count)
    rows.lower[(law & Law.LOWER) != 0] = rows.upper[(law & Law.UPPER) != 0] = 0.0
    asker = Asker(rows, law, JOINTS)
    start = asker.columns
    start.mobility[:] = 10.0 ** rng.uniform(-3.0, 2.0, count)
    start.damping[:], start.stiffness[:] = spread(rng, -4.0, 6.0, count), spread(rng, -2.0, 7.0, count)
    start.damping[(start.damping == 0.0) & (start.stiffness == 0.0)] = 1.0
    start.softness[:], start.most[:] = 10.0 ** rng.uniform(-6.0, 0.0, count), 10.0 ** rng.uniform(-1.0, 4.0, count)
    start.most[(rng.random(count) < 0.2) & ((law & Law.BRAKES) == 0)] = np.inf
    start.target[:], start.place[:], start.rate[:], start.mean[:], start.speed[:] = rng.normal(size=(5, count))
    start.centre[:], start.fades[:] = rng.normal(size=count), rng.random(count) < 0.3
    start.angle[:], start.force[:] = 20.0 * rng.normal(size=count), 100.0 * rng.normal(size=count)
    start.target[(law & Law.TURNS) != 0] += start.angle[(law & Law.TURNS) != 0]
    return asker, start, rows


@pytest.mark.parametrize("seed", range(3))
def test_kernel_asks_what_the_reference_asks(seed):
    asker, start, rows = random_rows(seed)
    number = np.random.default_rng(seed).permutation(len(rows))[: len(rows) - 5]
    for midpoint in (np.arange(JOINTS) % 2.0, np.zeros(JOINTS), np.linspace(0.0, 1.0, JOINTS)):
        force = start.force.copy()
        got, rate, end = asker.ask(rows.take(number), number, H, midpoint, force)
        want = dict(zip(ASKED, row_laws.asked(start, H)[:, number], strict=True))
        found = vars(got) | {"rate": rate} | vars(end)
        for name, values in want.items():
            # differences lose digits where series end (springs.SMALL), and between springs or dampers
            size = 1.0 + (start.stiffness[number] + start.damping[number] if name == "constant" else 0.0)
            np.testing.assert_allclose(found[name] / size, values / size, rtol=1e-10, atol=1e-10, err_msg=name)
        np.testing.assert_array_equal(got.joint, rows.joint[number])


@pytest.mark.parametrize("seed", range(3))
def test_joints_beyond_a_limit_are_those_of_the_reference(seed):
    asker, start, rows = random_rows(seed)
    start.law[::3] = 0  # or every joint would have a limit that is passed
    way = row_laws.SPEED * H * np.random.default_rng(seed).uniform(-0.2, 0.2, len(rows))
    start.place[:] = np.where(np.arange(len(rows)) % 20, start.target + way, start.place)  # most are near theirs
    turns = 2.0 * np.pi * np.round((start.angle - start.place) / (2.0 * np.pi))
    turns *= ((start.law & Law.TURNS) != 0) & (start.fades == 0)
    lower, upper = (start.law & Law.LOWER) != 0, (start.law & Law.UPPER) != 0
    off = row_laws.passed(start.target, start.place + turns, lower, H) & (lower | upper)
    want = np.zeros(JOINTS, bool)
    want[rows.joint[off]] = True
    for _ in range(2):
        np.testing.assert_array_equal(asker.passed(H), want)
    assert 0 < want.sum() < JOINTS
    start.law[:] = 0
    assert not asker.passed(H).any()


def test_rows_of_these_tests_meet_every_case():
    _, start, _ = random_rows(0)
    start.midpoint[:] = 1.0
    has, found = {law: (start.law & law) != 0 for law in Law}, dict(zip(ASKED, row_laws.asked(start, H), strict=True))
    pulls, decay = has[Law.PULLS], H * start.damping * start.mobility
    over = decay**2 > 4.0 * H * H * start.stiffness * start.mobility
    far = pulls & has[Law.TURNS] & (start.stiffness > 0.0) & (found["beta"] == 0.0)
    cases = {
        "series": pulls & (decay > 0.0) & (decay < springs.SMALL), "undamped": pulls & (decay == 0.0),
        "no spring": pulls & (start.stiffness == 0.0), "overdamped": pulls & over & (start.stiffness > 0.0),
        "swinging": pulls & ~over & (decay > springs.SMALL), "far": far,
        "near": pulls & has[Law.TURNS] & (start.stiffness > 0.0) & ~far,
        "vibrates": has[Law.GIVES] & np.isnan(found["rate"]), "gives way": has[Law.GIVES] & (found["rate"] == 0.0),
        "brakes": has[Law.BRAKES] & (found["rate"] != start.rate),
        "at its target": has[Law.BRAKES] & (found["rate"] == start.rate),
        "bound": np.abs(found["impulse"]) == found["upper"], "within": np.abs(found["impulse"]) < found["upper"],
    }  # fmt: skip
    assert {name: int(case.sum()) for name, case in cases.items() if case.sum() < 3} == {}
