"""The sums of the soft models of co-association against their formulas, pair by pair."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from strategies import ensembles

from consilience.kernels.peace.aspect import aspect_likelihood_rows, aspect_rows
from consilience.kernels.peace.growth import (
    growth_rows,
    inside_rows,
    likelihood_rows,
    others,
    rate_rows,
    total_rows,
)
from consilience.kernels.peace.rows import block_of_columns, make_store, row_counts, row_room
from consilience.kernels.peace.square import square_rows

SMALL = bool(config.DISABLE_JIT)
few = settings(max_examples=10 if SMALL else 30)
seeds = st.integers(0, 2**31)
PLAIN, FITTED = np.array([0.0, 1.0]), np.array([0.15, 0.7])


def counts_slowly(members):
    """Members that joined, and that saw and parted, each pair; 0 on the diagonal."""
    seen = sum(((r != -2)[:, None] & (r != -2)[None]).astype(float) for r in members)
    joined = sum(((r >= 0)[:, None] & (r[:, None] == r[None])).astype(float) for r in members)
    apart = seen - joined
    np.fill_diagonal(joined, 0)
    np.fill_diagonal(apart, 0)
    return joined, apart


class Case:
    """Members of weighted objects, a soft assignment, and passes over blocks."""

    def __init__(self, ensemble, seed, *, weighted=True, k=3):
        rng = np.random.default_rng(seed)
        # Copies: what cannot be written to would be compiled for a second time.
        self.members = np.array(ensemble.members)
        n = ensemble.n_objects
        self.weights = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
        self.own = (self.weights - 1) * (self.members != -2).sum(axis=0)
        self.joined, self.apart = counts_slowly(self.members)
        # Every event stays possible: the formulas below divide by all probabilities.
        self.Y = 0.95 * rng.dirichlet(np.ones(k), n) + 0.05 / k
        self.Z = np.empty_like(self.Y)
        others(self.Y, self.Z)

    def over(self, kernel, out, *args, dense=True, block=1000):
        store = make_store(self.members, dense=dense)
        n = self.members.shape[1]
        for start in range(0, n, block):
            stop = min(n, start + block)
            joined, seen, column = block_of_columns(store, start, stop)
            kernel(joined, seen, column, start, stop, float(len(self.members)),
                   self.weights, self.own, *args, out)  # fmt: skip
        return out

    @property
    def n(self):
        return self.members.shape[1]

    def chances(self, rates):
        s, t = self.Y @ self.Y.T, self.Y @ (1 - self.Y).T
        p = rates[1] * s + rates[0] * t
        return s, t, p, 1 - p


@st.composite
def cases(draw, **kwargs):
    return Case(draw(ensembles(min_objects=2, **kwargs)), draw(seeds), weighted=draw(st.booleans()))


def divided(a, b):
    return np.divide(a, b, out=np.zeros_like(b), where=a > 0)


@few
@given(ensembles(), st.data())
def test_rows_are_the_same_from_the_matrix_and_from_labels(ensemble, data):
    joined, apart = counts_slowly(ensemble.members)
    i = data.draw(st.integers(0, ensemble.n_objects - 1))
    for dense in (True, False):
        store = make_store(np.array(ensemble.members), dense=dense)
        c, r = np.empty(ensemble.n_objects), np.empty(ensemble.n_objects)
        row_counts(store, i, row_room(store), c, r)
        np.testing.assert_array_equal(c, joined[i])
        np.testing.assert_array_equal(r, apart[i])


@few
@given(cases())
def test_others_add_up_without_subtraction(case):
    np.testing.assert_allclose(case.Z, 1 - case.Y, atol=1e-15)
    tiny = np.array([[1.0, 1e-30, 0.0]])
    Z = np.empty_like(tiny)
    others(tiny, Z)
    assert Z.tolist() == [[1e-30, 1.0, 1.0]]


@few
@given(cases())
def test_totals(case):
    got = case.over(total_rows, np.empty((case.n, 3)))
    seen = case.joined + case.apart
    np.testing.assert_allclose(got[:, 0], seen @ case.weights + case.own)
    np.testing.assert_allclose(got[:, 1], case.joined @ case.weights + case.own)
    np.testing.assert_allclose(got[:, 2], (seen > 0) @ case.weights + case.weights - 1)


@few
@given(cases(), seeds)
def test_shares_inside_clusters(case, seed):
    labels = np.random.default_rng(seed).integers(0, 3, case.n).astype(np.int32)
    got = case.over(inside_rows, np.empty((case.n, 2)), labels).sum(axis=0)
    seen = case.joined + case.apart
    pairs = np.outer(case.weights, case.weights) * (labels[:, None] == labels) * (seen > 0)
    own = (case.weights * (case.weights - 1))[case.own > 0].sum()
    wanted = (pairs * divided(case.joined, seen)).sum() + own, pairs.sum() + own
    np.testing.assert_allclose(got, wanted)


@few
@given(cases(), st.sampled_from([PLAIN, FITTED]))
def test_growth_is_its_formula_and_adds_up_to_the_observations(case, rates):
    _, _, p, q = case.chances(rates)
    cp, rq = case.joined / p * case.weights, case.apart / q * case.weights
    A = rates[1] * cp + (1 - rates[1]) * rq
    B = rates[0] * cp + (1 - rates[0]) * rq
    inside = rates[1] * case.Y + rates[0] * (1 - case.Y)
    own = case.own / np.diag(p)
    wanted = A @ case.Y + B @ (1 - case.Y) + own[:, None] * inside
    got = case.over(growth_rows, np.empty_like(case.Y), case.Y, case.Z, rates)
    np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-10)
    observations = case.over(total_rows, np.empty((case.n, 3)))[:, 0]
    np.testing.assert_allclose((case.Y * got).sum(axis=1), observations, rtol=1e-10)


@few
@given(cases(), st.sampled_from([PLAIN, FITTED]))
def test_likelihood_and_expected_counts(case, rates):
    s, t, p, q = case.chances(rates)
    pairs = np.outer(case.weights, case.weights)
    each = pairs * (case.joined * np.log(p) + case.apart * np.log(q))
    own = 0.5 * case.weights * case.own * np.log(np.diag(p))
    got = case.over(likelihood_rows, np.empty(case.n), case.Y, case.Z, rates).sum()
    assert got == pytest.approx(np.triu(each, 1).sum() + own.sum(), rel=1e-10, abs=1e-10)
    cp, rq = case.joined / p * pairs, case.apart / q * pairs
    cp[np.diag_indices(case.n)] = case.weights * case.own / np.diag(p)
    across, inside = rates[0] * t * cp, rates[1] * s * cp
    wanted = [
        across.sum(),
        (across + (1 - rates[0]) * t * rq).sum(),
        inside.sum(),
        (inside + (1 - rates[1]) * s * rq).sum(),
    ]
    counts = case.over(rate_rows, np.empty((case.n, 4)), case.Y, case.Z, rates).sum(axis=0)
    np.testing.assert_allclose(counts, wanted, rtol=1e-10, atol=1e-10)


def test_an_impossible_observation_has_likelihood_zero():
    class Parted:
        members = np.array([[0, 0], [0, 1]], np.int8)
        n_objects = 2

    case = Case(Parted, 0, weighted=False, k=2)
    for Y in ([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]):
        Y = np.array(Y)
        assert case.over(likelihood_rows, np.empty(2), Y, 1 - Y, PLAIN).sum() == -np.inf


@few
@given(cases(), st.booleans())
def test_squares_are_their_formula(case, by_seen):
    seen = case.joined + case.apart
    v = (seen if by_seen else np.minimum(seen, 1)) * case.weights
    error = divided(case.joined, np.maximum(seen, 1)) - case.Y @ case.Y.T
    inside = case.own if by_seen else case.weights - 1
    rest = 1 - (case.Y**2).sum(axis=1)
    out = case.over(square_rows, np.empty((case.n, 4)), case.Y, by_seen)
    wanted = (v * error) @ case.Y + (inside * rest)[:, None] * case.Y
    np.testing.assert_allclose(out[:, :3], wanted, atol=1e-10)
    loss = case.weights * ((v * error**2).sum(axis=1) + inside * rest**2)
    np.testing.assert_allclose(out[:, 3], loss, atol=1e-10)


@few
@given(cases(), seeds)
def test_aspects_are_their_formula(case, seed):
    rng = np.random.default_rng(seed)
    B = rng.random((case.n, 3)) + 0.01
    A = rng.dirichlet(np.ones(3)) * B
    n_members, seen = len(case.members), case.joined + case.apart
    c = case.joined * n_members / np.maximum(seen, 1)
    P = A @ B.T
    pairs = np.outer(case.weights, case.weights)
    inside = (case.weights - 1) * n_members
    wanted = (c / P * case.weights) @ B + (inside / np.diag(P))[:, None] * B
    np.testing.assert_allclose(case.over(aspect_rows, np.empty_like(A), A, B), wanted)
    total = (pairs * c * np.log(P)).sum() + (case.weights * inside * np.log(np.diag(P))).sum()
    got = case.over(aspect_likelihood_rows, np.empty(case.n), A, B).sum()
    assert got == pytest.approx(total, rel=1e-10, abs=1e-10)


def test_blocks_and_the_way_rows_are_made_change_no_bit(seed):
    rng = np.random.default_rng(seed)

    n = 30 if SMALL else 150

    class Large:
        members = np.ascontiguousarray(rng.integers(-2, 5, (12, n)).astype(np.int8))
        n_objects = n

    case = Case(Large, seed)
    for kernel, out, args in (
        (growth_rows, np.empty((n, 3)), (case.Y, case.Z, PLAIN)),
        (likelihood_rows, np.empty(n), (case.Y, case.Z, FITTED)),
        (rate_rows, np.empty((n, 4)), (case.Y, case.Z, FITTED)),
        (square_rows, np.empty((n, 4)), (case.Y, True)),
        (aspect_rows, np.empty((n, 3)), (case.Y, case.Y)),
        (aspect_likelihood_rows, np.empty(n), (case.Y + 0.1, case.Y)),
    ):
        whole = case.over(kernel, out.copy(), *args)
        for dense, block in ((True, 64), (True, 7), (False, 64), (False, 33)):
            part = case.over(kernel, out.copy(), *args, dense=dense, block=block)
            np.testing.assert_array_equal(part, whole)
