# SPDX-License-Identifier: GPL-3.0-or-later
"""Combine rules of friction and restitution."""

import numpy as np
import pytest
from axion.solver import Scene, combine
from axion.solver.materials import COMBINE, KINDS, Materials


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("multiply", 0.16), ("geometric_mean", 0.4), ("average", 0.5), ("min", 0.2), ("max", 0.8)],
)
def test_each_rule_on_one_pair(rule, expected):
    assert combine(rule, 0.2, 0.8) == pytest.approx(expected)


@pytest.mark.parametrize("rule", COMBINE)
def test_rules_do_not_care_which_body_comes_first_and_work_on_arrays(rule):
    a, b = np.random.default_rng(0).uniform(0, 1, size=(2, 50))
    np.testing.assert_array_equal(combine(rule, a, b), combine(rule, b, a))
    np.testing.assert_allclose(combine(rule, a, b), [combine(rule, x, y) for x, y in zip(a, b, strict=True)])
    assert combine(rule, a[:, None], b).shape == (50, 50)


@pytest.mark.parametrize("rule", [rule for rule in COMBINE if rule != "multiply"])
def test_equal_materials_keep_their_coefficient(rule):
    # True for means and extremes; Bullet's product is the one that turns 0.5 and 0.5 into 0.25.
    assert combine(rule, 0.5, 0.5) == pytest.approx(0.5)


@pytest.mark.parametrize("kinds", [1, 5, KINDS + 1])
def test_pairs_of_bodies_get_what_the_rules_say_however_many_kinds_there_are(kinds):
    random, bodies = np.random.default_rng(0), 2 * kinds
    own = np.tile(random.uniform(0, 1, (2, kinds)), 2)
    a, b = random.integers(0, bodies, (2, 200))
    found = Materials(("average", "max"), *own).of(a, b)
    for rule, values, column in zip(("average", "max"), own, found, strict=True):
        np.testing.assert_array_equal(column, combine(rule, values[a], values[b]))


def test_unknown_rule_names_the_choices():
    with pytest.raises(ValueError, match=r"'sum'.*geometric_mean"):
        combine("sum", 0.5, 0.5)


def test_a_scene_starts_with_rules_that_exist():
    assert {Scene().friction_combine, Scene().restitution_combine} <= set(COMBINE)
