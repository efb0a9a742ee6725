"""What the methods that cut a graph share, part by part: sizes, balance, what is refused."""

from fractions import Fraction

import numpy as np
import pytest

from consilience import Ensemble
from consilience.consensus import _cuts
from consilience.consensus._cuts import (
    balance,
    check_lengths,
    check_n_columns,
    check_n_parts,
    check_sizes,
    cut_result,
    cut_rows,
    rows_result,
    warn_if_loose,
    whole_sizes,
)
from consilience.consensus._rows import distinct_rows
from consilience.errors import ConsilienceWarning, InvalidParameterError
from consilience.partition import Parts


def test_sizes_are_whole_and_none_is_further_off_than_it_must_be(seed):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        k = rng.integers(1, 6)
        sizes = rng.integers(1, 9, k).tolist()
        n = int(rng.integers(10 * k, 99))
        found = whole_sizes(sizes, n)
        assert found.sum() == n
        exact = [Fraction(size * n, sum(sizes)) for size in sizes]
        up = [own > whole for own, whole in zip(found.tolist(), exact, strict=True)]
        left = [whole - int(whole) for whole in exact]
        assert all(abs(own - whole) < 1 for own, whole in zip(found.tolist(), exact, strict=True))
        # Of equal remainders the first go up.
        wanted = sorted(range(k), key=lambda c: (-left[c], c))[: sum(up)]
        assert sorted(wanted) == [c for c in range(k) if up[c]]


@pytest.mark.parametrize(
    ("sizes", "n", "wanted"),
    [
        ([1, 1, 1], 3, [1, 1, 1]),
        ([1, 1, 1], 4, [2, 1, 1]),
        ([1e-9, 1, 1], 5, [1, 2, 2]),
        ([1e-9, 1e-9, 1], 9, [1, 1, 7]),
        ([1e308, 1e308, 1e308, 1e308], 8, [2, 2, 2, 2]),
        ([0.1, 0.1, 0.1], 7, [3, 2, 2]),
        ([5], 3, [3]),
    ],
)
def test_sizes_of_one_at_least(sizes, n, wanted):
    assert whole_sizes(sizes, n).tolist() == wanted


def test_balance_is_the_largest_over_the_mean():
    labels = np.array([0, 0, 0, 1, 2, 2], np.int32)
    assert balance(labels, 3) == 1.5
    assert balance(labels, 6) == 3.0
    parts = Parts(labels, cut=0.25, sizes=np.array([3, 1, 2]), solver="own", note="said")
    result = cut_result(parts, 0.5)
    assert (result.objective, result.solver) == (0.5, "own")
    assert result.details == {"balance": 1.5, "note": "said"}
    np.testing.assert_array_equal(result.labels, labels)
    other = np.array([0, 0, 1, 1, 2, 2], np.int32)
    result = cut_result(parts, 0.5, other)
    np.testing.assert_array_equal(result.labels, other)
    assert result.details["balance"] == 1.0


def test_groups_that_nothing_connects_are_told_of():
    ensemble = Ensemble([[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2]])
    warn_if_loose(ensemble, 3, "This")
    with pytest.warns(ConsilienceWarning, match="into 3 groups .* n_clusters=2 .* 3 or more"):
        warn_if_loose(ensemble, 2, "This")


def test_no_more_parts_than_clusters():
    rows = distinct_rows(Ensemble([[0, 0, 1], [0, 1, 1]]))
    assert check_n_columns(rows, 4, owner="This") is None
    with pytest.raises(InvalidParameterError, match=r"all members, 4\. Got 5 instead"):
        check_n_columns(rows, 5, owner="This")
    check_n_parts(4, 4, owner="This")
    one = distinct_rows(Ensemble([[0, 0, -1, 0]]))
    with pytest.warns(ConsilienceWarning, match="one cluster; This returns it. n_clusters=3"):
        alone = check_n_columns(one, 3, owner="This")
    assert alone.labels.tolist() == [0, 0, 0, 0]
    with pytest.warns(ConsilienceWarning):
        assert cut_rows(one, 3, owner="This", random_state=0).labels.tolist() == [0, 0, 0, 0]


def test_a_cut_of_rows_is_told_weights_seed_and_counts(monkeypatch):
    ensemble = Ensemble([[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1], [0] * 6])
    rows = distinct_rows(ensemble)
    asked = []

    def cut(links, k, **options):
        asked.append((links, k, options))
        labels = np.arange(rows.n_rows, dtype=np.int32)
        return Parts(labels, cut=0.25, sizes=np.ones(3), solver="own", note="said")

    monkeypatch.setattr(_cuts, "transfer_cut", cut)
    monkeypatch.setattr(type(rows), "links", lambda self, kept, own, n_jobs: (kept, own, n_jobs))
    for weights in (None, np.arange(6.0)):
        found = cut_rows(rows, 3, owner="This", random_state=7, weights=weights, n_jobs=1)
        (kept, own, n_jobs), k, options = asked.pop()
        assert kept.tolist() == [True, True, False]
        assert own.tolist() == ([1.0] * 6 if weights is None else weights.tolist())
        assert (n_jobs, k, options["random_state"], options["n_jobs"]) == (1, 3, 7, 1)
        np.testing.assert_array_equal(options["weights"], rows.counts)
        np.testing.assert_array_equal(found.labels, rows.inverse)
        assert (found.objective, found.solver) == (0.25, "own")
        assert found.details == {"note": "said"}
    parts = Parts(
        np.array([2, 0, 1], np.int32), cut=0.5, sizes=np.ones(3), solver="own", note="said"
    )
    found = rows_result(parts, rows, more=3)
    np.testing.assert_array_equal(found.labels, parts.labels[rows.inverse])
    assert found.details == {"note": "said", "more": 3}


def test_sizes_are_one_for_each_cluster_and_need_a_solver_that_keeps_them():
    for solver in ("metis", "balanced", "spectral"):
        check_sizes(None, 3, solver, owner="This")
    check_sizes([1, 2, 3], 3, "metis", owner="This")
    check_lengths(None, 3, owner="This")
    with pytest.raises(InvalidParameterError, match="Got 2 instead"):
        check_sizes([1, 2], 3, "metis", owner="This")
    with pytest.raises(InvalidParameterError, match="Got 2 instead"):
        check_lengths([1, 2], 3, owner="This")
    with pytest.raises(InvalidParameterError, match="Got solver='spectral'"):
        check_sizes([1, 2, 3], 3, "spectral", owner="This")
