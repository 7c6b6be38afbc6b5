# SPDX-License-Identifier: GPL-3.0-or-later
"""The block-sparse direct solver against dense float64 NumPy."""

import sys
from functools import partial

import numpy as np
import pytest
import warp as wp
from axion.solver.linear import ldlt
from axion.solver.linear.ldlt import BlockFactor
from axion.solver.linear.ldlt_layout import levels_of
from axion.solver.mathx.real import real_types
from axion.solver.reference.ordering import analyse
from test_ordering import chain, grid, random_graph

DOUBLE = real_types(wp.float64)


def spd_blocks(count, pair_i, pair_j, seed=0):
    """Blocks of 1 + sum over pairs of J^T J with a random 3x6 J on either body: SPD by construction."""
    rng = np.random.default_rng(seed)
    diagonal = np.tile(np.eye(6), (count, 1, 1))
    coupling = np.zeros((len(pair_i), 6, 6))
    for k, (i, j) in enumerate(zip(pair_i, pair_j, strict=True)):
        on_i, on_j = rng.normal(size=(2, 3, 6))
        diagonal[i] += on_i.T @ on_i
        diagonal[j] += on_j.T @ on_j
        coupling[k] = on_i.T @ on_j
    return diagonal, coupling


def dense(diagonal, coupling, pair_i, pair_j):
    count = len(diagonal)
    matrix = np.zeros((count, 6, count, 6))
    for body in range(count):
        matrix[body, :, body] = diagonal[body]
    for k, (i, j) in enumerate(zip(pair_i, pair_j, strict=True)):
        matrix[i, :, j] += coupling[k]
        matrix[j, :, i] += coupling[k].T
    return matrix.reshape(6 * count, 6 * count)


def device_array(values, dtype, minimum=1):
    """At least one element, so that an empty list of pairs is an array too."""
    values = np.asarray(values)
    if len(values) < minimum:
        values = np.zeros((minimum, *values.shape[1:]))
    return wp.array(values, dtype=dtype, device="cpu")


class System:
    """One matrix with its arrays on the CPU and a factor for it."""

    def __init__(self, count, pair_i, pair_j, seed=0, blocks=None):
        self.pairs = (np.asarray(pair_i, int), np.asarray(pair_j, int))
        self.diagonal, self.coupling = blocks or spd_blocks(count, pair_i, pair_j, seed)
        self.rhs = np.random.default_rng(seed + 100).normal(size=(count, 6))
        self.structure = analyse(count, pair_i, pair_j)
        self.upload()

    def upload(self):
        self.d = device_array(self.diagonal, DOUBLE.mat66)
        self.o = device_array(self.coupling, DOUBLE.mat66)
        self.b = device_array(self.rhs, DOUBLE.vec6)
        self.x = wp.full(len(self.rhs), value=DOUBLE.vec6(*[7.0] * 6), dtype=DOUBLE.vec6, device="cpu")

    def solve_with(self, factor):
        factor.launch_factor(self.d, self.o)
        factor.launch_solve(self.b, self.x)
        return self.x.numpy()

    def exact(self):
        matrix = dense(self.diagonal, self.coupling, *self.pairs)
        return np.linalg.solve(matrix, self.rhs.reshape(-1)).reshape(-1, 6)

    def residual(self):
        """Worst |A x - b| relative to |b|, evaluated in float64."""
        matrix = dense(self.diagonal, self.coupling, *self.pairs)
        error = matrix @ self.x.numpy().reshape(-1) - self.rhs.reshape(-1)
        return np.abs(error).max() / np.abs(self.rhs).max()


@pytest.fixture(autouse=True, params=[False, True], ids=["by rows", "by levels"])
def by_levels(request, monkeypatch):
    """Every test runs on the kernels of the CPU, and on those of CUDA with one thread."""
    monkeypatch.setattr(sys.modules[__name__], "BlockFactor", partial(ldlt.BlockFactor, by_levels=request.param))


def factor_for(system, **options):
    factor = BlockFactor("cpu")
    factor.set_structure(system.structure, **options)
    return factor


def mixed_islands():
    """Bodies 0..19: a chain of 6, a ring of 5 with a chord, a pair, and single bodies, with interleaved numbers."""
    names = np.random.default_rng(9).permutation(20)
    links = [(k, k + 1) for k in range(5)] + [(6, 7), (7, 8), (8, 9), (9, 10), (6, 10), (6, 8), (11, 12)]
    pairs = np.sort(names[np.array(links)], axis=1)
    return 20, pairs[:, 0], pairs[:, 1]


GRAPHS = {
    "chain": chain(50),
    "loops": random_graph(30, 60, 1),
    "net": grid(5, 6),
    "islands": mixed_islands(),
    "single bodies": (4, [], []),
}


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_agrees_with_a_dense_solve(graph):
    system = System(*graph)
    factor = factor_for(system)
    x = system.solve_with(factor)
    # Backward stable: the error is a small multiple of cond(A) * 1e-16, and cond(A) is below 1e5 here.
    np.testing.assert_allclose(x, system.exact(), rtol=0, atol=1e-10 * np.abs(system.exact()).max())
    assert not factor.failed.numpy().any()


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_a_level_waits_for_those_before_it_alone(graph):
    structure = analyse(*graph)
    found = levels_of(structure)
    assert sorted(found["rows"]) == list(range(structure.row_count))
    assert sorted(found["blocks"]) == list(range(structure.block_count))
    level = np.empty(structure.row_count, int)
    for k in range(len(found["level_row"]) - 1):
        level[found["rows"][found["level_row"][k] : found["level_row"][k + 1]]] = k
        blocks = found["blocks"][found["level_block"][k] : found["level_block"][k + 1]]
        assert (level[found["block_row"][blocks]] == k).all()
    island = np.repeat(np.arange(structure.island_count), np.diff(structure.island_start))
    assert (np.searchsorted(found["island_level"], level, side="right") - 1 == island).all()
    row_of = found["block_row"]
    for block in range(structure.block_count):
        used = structure.update_left[structure.update_start[block] : structure.update_start[block + 1]]
        assert (level[row_of[used]] < level[row_of[block]]).all()
    for row in range(structure.row_count):
        above = found["above"][found["above_start"][row] : found["above_start"][row + 1]]
        want = np.flatnonzero((structure.column == row) & (row_of != row))
        assert np.array_equal(np.sort(above), want)


def stiff_chain(count, mass_ratio, eps):
    """Ball joints of weight 1 / (eps w), w the joint's inverse mass, on cubes of 1 kg with a heavy last one."""
    mass = np.ones(count)
    mass[-1] = mass_ratio
    diagonal = np.zeros((count, 6, 6))
    for body in range(count):
        diagonal[body] = np.diag([mass[body]] * 3 + [mass[body] / 6.0 * 0.2**2] * 3)
    arm = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -0.1], [0.0, 0.1, 0.0]])  # skew of (0.1, 0, 0) m
    right, left = np.hstack([np.eye(3), -arm]), np.hstack([-np.eye(3), -arm])
    diagonal[0] += left.T @ left / eps
    coupling = []
    for k in range(count - 1):
        weight = 1.0 / (eps * (1.0 / mass[k] + 1.0 / mass[k + 1]))
        diagonal[k] += weight * right.T @ right
        diagonal[k + 1] += weight * left.T @ left
        coupling.append(weight * right.T @ left)
    return diagonal, np.array(coupling)


def test_stiff_chain_with_a_heavy_end_keeps_a_small_residual():
    graph = chain(50)
    system = System(*graph, blocks=stiff_chain(50, 1000.0, 1e-6))
    condition = np.linalg.cond(dense(system.diagonal, system.coupling, *system.pairs))
    assert condition > 1e7  # the case float32 cannot do
    system.solve_with(factor_for(system))
    assert system.residual() < 1e-8


def test_masked_islands_are_left_alone():
    system = System(*GRAPHS["islands"])
    islands = system.structure.island_count
    active = np.arange(islands) % 2 == 0
    factor = factor_for(system, active_islands=active)
    x = system.solve_with(factor)
    taken = active[system.structure.island]
    assert np.all(x[~taken] == 7.0)
    np.testing.assert_allclose(x[taken], system.exact()[taken], atol=1e-12)
    # The mask is an array on the device that kernels may write between two launches.
    factor.mask.fill_(1)
    np.testing.assert_allclose(system.solve_with(factor), system.exact(), atol=1e-12)


def test_a_masked_island_keeps_its_old_factor():
    system = System(*GRAPHS["chain"])
    factor = factor_for(system)
    before = system.solve_with(factor).copy()
    factor.mask.zero_()
    system.d.zero_()
    factor.launch_factor(system.d, system.o)
    factor.mask.fill_(1)
    factor.launch_solve(system.b, system.x)
    assert np.array_equal(system.x.numpy(), before)


@pytest.mark.parametrize("bad", [-1.0, 0.0, np.nan, np.inf])
def test_an_island_that_is_not_positive_definite_says_so_and_leaves_the_others_right(bad):
    system = System(*GRAPHS["islands"])
    exact = system.exact()
    broken = int(system.structure.island[system.pairs[0][0]])
    inside = system.structure.island == broken
    system.diagonal[system.pairs[0][0]] = bad * np.eye(6) if np.isfinite(bad) else np.full((6, 6), bad)
    system.upload()
    factor = factor_for(system)
    x = system.solve_with(factor)
    assert np.flatnonzero(factor.failed.numpy()).tolist() == [broken]
    assert np.all(x[inside] == 0.0)
    np.testing.assert_allclose(x[~inside], exact[~inside], atol=1e-12)
    # The flag is that of the last factorisation, not of all times.
    good = System(*GRAPHS["islands"])
    np.testing.assert_allclose(good.solve_with(factor), exact, atol=1e-12)
    assert not factor.failed.numpy().any()


def test_the_very_last_pivot_is_checked_too():
    # Nothing after it would turn into NaN and give it away.
    system = System(1, [], [])
    for bad in (np.inf, -1.0):
        system.diagonal[0] = np.diag([1.0] * 5 + [bad])
        system.upload()
        factor = factor_for(system)
        system.solve_with(factor)
        assert factor.failed.numpy()[0] == 1


def test_rhs_and_solution_may_share_an_array():
    system = System(*GRAPHS["loops"])
    factor = factor_for(system)
    factor.launch_factor(system.d, system.o)
    factor.launch_solve(system.b, system.b)
    np.testing.assert_allclose(system.b.numpy(), system.exact(), atol=1e-11)


def test_structure_changes_in_place_while_it_fits_and_grows_by_doubling():
    large, small, huge = System(*GRAPHS["net"]), System(*GRAPHS["islands"]), System(*grid(12, 12))
    factor = factor_for(large)
    generation, mask = factor.generation, factor.mask.ptr
    for system in (small, large, small):
        factor.set_structure(system.structure)
        np.testing.assert_allclose(system.solve_with(factor), system.exact(), atol=1e-10)
    assert (factor.generation, factor.mask.ptr) == (generation, mask)

    factor.set_structure(huge.structure)
    assert factor.generation == generation + 1
    np.testing.assert_allclose(huge.solve_with(factor), huge.exact(), atol=1e-10)
    # 70 rows do not fit into the first 64; after doubling, 100 do.
    factor = factor_for(System(*chain(70)))
    generation = factor.generation
    factor.set_structure(System(*chain(100)).structure)
    assert factor.generation == generation


def test_reserve_makes_room_once():
    factor = BlockFactor("cpu")
    structure = analyse(*grid(12, 12))
    factor.reserve(structure.island_count, structure.row_count, structure.block_count, structure.update_count)
    generation = factor.generation
    factor.set_structure(structure)
    assert factor.generation == generation


def test_without_a_structure_nothing_happens():
    system = System(*GRAPHS["chain"])
    assert np.all(system.solve_with(BlockFactor("cpu")) == 7.0)


def test_wrong_number_of_island_flags_is_refused():
    with pytest.raises(ValueError, match="there are 1 islands"):
        factor_for(System(*GRAPHS["chain"]), active_islands=[True, False])


def test_a_recorded_graph_repeats_the_bits_of_eager_launches():
    system = System(*GRAPHS["islands"])
    factor = factor_for(system)
    eager = system.solve_with(factor).copy()
    with wp.ScopedCapture(device="cpu") as capture:
        factor.launch_factor(system.d, system.o)
        factor.launch_solve(system.b, system.x)
    system.x.zero_()
    wp.capture_launch(capture.graph)
    assert np.array_equal(system.x.numpy(), eager)


def test_a_recorded_graph_serves_another_structure_of_the_same_capacity():
    first, second = System(*GRAPHS["net"]), System(*random_graph(30, 40, 8), seed=3)
    factor = factor_for(first)
    with wp.ScopedCapture(device="cpu") as capture:
        factor.launch_factor(first.d, first.o)
        factor.launch_solve(first.b, first.x)
    generation = factor.generation
    factor.set_structure(second.structure)
    assert factor.generation == generation
    wp.copy(first.d, second.d)
    wp.copy(first.o, second.o, count=len(second.coupling))
    wp.copy(first.b, second.b)
    wp.capture_launch(capture.graph)
    np.testing.assert_allclose(first.x.numpy(), second.exact(), atol=1e-10)


@wp.kernel(enable_backward=False)
def count_down(rounds: wp.array(dtype=int), rhs: wp.array(dtype=DOUBLE.vec6), x: wp.array(dtype=DOUBLE.vec6)):
    i = wp.tid()
    rhs[i] = x[i]
    if i == 0:
        rounds[0] = rounds[0] - 1


def test_runs_inside_a_conditional_graph_loop():
    # Three rounds of b <- A^-1 b are A^-3 b.
    system = System(*GRAPHS["loops"])
    factor = factor_for(system)
    rounds = wp.array([3], dtype=int, device="cpu")

    def body():
        factor.launch_factor(system.d, system.o)
        factor.launch_solve(system.b, system.x)
        wp.launch(count_down, dim=len(system.rhs), inputs=[rounds, system.b, system.x], device="cpu")

    with wp.ScopedCapture(device="cpu") as capture:
        wp.capture_while(rounds, body)
    wp.capture_launch(capture.graph)
    matrix = dense(system.diagonal, system.coupling, *system.pairs)
    expected = system.rhs.reshape(-1)
    for _ in range(3):
        expected = np.linalg.solve(matrix, expected)
    np.testing.assert_allclose(system.b.numpy().reshape(-1), expected, atol=1e-9 * np.abs(expected).max())
