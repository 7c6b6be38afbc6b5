# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of the comparison: a scene, how long it runs, what is measured, and the bound that must hold."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import degrees, inf

import comparison_scenes as scenes
import judge

FPS = 24
ARCH_LIMIT = 0.1049
"""Thickness over radius below which an arch of 11 stones cannot stand, by limit analysis of rigid blocks."""
DOMINO_WAVE = 3.17
"""Speed of the wave in ``dominoes`` on which Bullet, MuJoCo and Newton's Steel agree [m/s]."""


@dataclass(frozen=True)
class Figure:
    """One number of a row.

    Attributes:
        name: what it is, for the table.
        measure: (judge.Motion) -> number.
        unit: for the table.
        scale: from what ``measure`` returns to ``unit``.
        lower, upper: the bound, in ``unit``; infinite where the row sets none.
        ideal: the best value, in ``unit``; None where every value within the bound is as good.
    """

    name: str
    measure: Callable
    unit: str
    scale: float = 1.0
    lower: float = -inf
    upper: float = inf
    ideal: float | None = 0.0


def _as_it_is(scene):
    return scene


@dataclass(frozen=True)
class Row:
    """One scene of the comparison.

    Attributes:
        title: for the page.
        build: () -> Scene.
        seconds: of motion, at FPS frames a second.
        figures: what is judged.
        judged: (Scene) -> the Scene whose shapes the judge measures, where it cannot measure those of the first.
    """

    title: str
    build: Callable
    seconds: float
    figures: tuple[Figure, ...]
    judged: Callable = _as_it_is


def _mm(name, measure, upper=inf):
    return Figure(name, measure, "mm", 1e3, upper=upper)


def _percent(name, measure, upper=inf):
    return Figure(name, measure, "%", 1e2, upper=upper)


def _penetration(upper=inf):
    return _mm("penetration", judge.penetration, upper)


STANDS = (
    _mm("farthest from the start", judge.drift, 1.0),
    _mm("from the start at the end", judge.final_drift),
    Figure("speed at the end", judge.final_speed, "mm/s", 1e3, upper=1.0),
)
PILE = (
    Figure("frames within 0.1 mm", judge.share_within_tenth_millimetre, "%", 1e2, lower=99.0, ideal=100.0),
    _penetration(),
    Figure("bodies lost", judge.lost_bodies, "", upper=0.0),
    _percent("energy gained", judge.impact_energy_gain, 0.0),
    Figure("speed at the end", judge.final_speed, "mm/s", 1e3),
)
ROWS = {
    "incline_26": Row(
        "Box on a slope of 26°, friction 0.5 (limit 26.57°): sticks",
        partial(scenes.incline, 26.0),
        5,
        (Figure("creep", judge.creep, "mm/s", 1e3, upper=0.01), _penetration()),
    ),
    "incline_27_5": Row(
        "Box on a slope of 27.5°: slides",
        partial(scenes.incline, 27.5),
        5,
        (
            _percent("error of the acceleration", judge.acceleration_error, 0.1),
            _percent("error of the distance after 5 s", judge.distance_error),
            _penetration(),
        ),
    ),
    "stack_10": Row("Stack of 10 boxes, 10 s", partial(scenes.stack, 10), 10, (*STANDS, _penetration())),
    "stack_30": Row("Stack of 30 boxes, 10 s", partial(scenes.stack, 30), 10, (*STANDS, _penetration())),
    "heavy_1000": Row(
        "1000 kg on 1 kg",
        partial(scenes.heavy, 1e3),
        5,
        (_penetration(0.1), _mm("farthest from the start", judge.drift)),
    ),
    "heavy_10000": Row(
        "10 000 kg on 1 kg",
        partial(scenes.heavy, 1e4),
        5,
        (_penetration(1.0), _mm("farthest from the start", judge.drift)),
    ),
    "chain": Row(
        "Chain of 50 links with a ball 1000 times as heavy, from the horizontal",
        scenes.chain,
        5,
        (
            _mm("joint error", judge.joint_error, 0.1),
            _percent("energy above the start", judge.energy_rise, 0.1),
            _percent("energy lost in 5 s", judge.energy_loss, 2.0),
            _percent("error of the ball's lowest point", judge.lowest_point_error, 1.0),
        ),
    ),
    "arch_stands": Row(
        "Stable arch of 11 stones, 1.05 times as thick as it must be: stands",
        partial(scenes.arch, thickness=1.05 * ARCH_LIMIT * 10.0),
        5,
        (_percent("sinking of the crown, of the radius", judge.crown_drop, 0.1), _penetration()),
    ),
    "arch_falls": Row(
        "Unstable arch of 11 stones, 0.95 times as thick: falls",
        partial(scenes.arch, thickness=0.95 * ARCH_LIMIT * 10.0),
        5,
        (
            Figure("sinking of the crown, of the radius", judge.crown_drop, "%", 1e2, lower=10.0, ideal=None),
            _penetration(),
        ),
    ),
    "cards": Row(
        "House of cards of 4 storeys",
        scenes.card_house,
        5,
        (_mm("farthest from the start", judge.drift, 2.0), _penetration()),
    ),
    "four_bar": Row(
        "Four-bar linkage turned by a motor",
        scenes.four_bar,
        5,
        (
            _mm("joint error", judge.joint_error, 0.1),
            Figure("follower off its branch", judge.follower_error, "°", degrees(1.0), upper=0.5),
            _percent("error of the crank's turn in 5 s", judge.crank_error, 1.0),
        ),
    ),
    "bounce": Row(
        "Bounce, restitution 0.5, from 13 heights",
        scenes.bounce,
        3,
        (_percent("worst error of the rebound height", judge.rebound_error, 2.0), _penetration()),
    ),
    "free_spin": Row(
        "Free spin about the unstable axis, 20 s",
        scenes.free_spin,
        20,
        (
            _percent("change of the energy", judge.spin_energy_error, 1.0),
            _percent("change of the angular momentum", judge.spin_momentum_error, 1e-3),
        ),
    ),
    "dominoes": Row(
        "50 dominoes",
        scenes.dominoes,
        11,
        (
            Figure("fallen", judge.fallen, "", lower=50.0, ideal=50.0),
            Figure(
                "speed of the wave",
                judge.wave_speed,
                "m/s",
                lower=0.97 * DOMINO_WAVE,
                upper=1.03 * DOMINO_WAVE,
                ideal=DOMINO_WAVE,
            ),
            _penetration(),
        ),
    ),
    "pile_125": Row("Lattice of 125 boxes that falls together", scenes.pile, 5, PILE),
    "tumble_64": Row("64 boxes tumbling into a heap from up to 13 m", scenes.tumble, 5, PILE),
}
"""Name in the CSV -> Row, in the order of the page."""
