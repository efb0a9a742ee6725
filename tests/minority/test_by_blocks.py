"""EWOCS on objects that are not in memory: the bits of EWOCS in memory."""

import numpy as np
import pytest
from engines.test_blocks import Sliced
from hypothesis import given
from hypothesis import strategies as st

from consilience import EWOCS
from consilience._stored import _table
from consilience.datasets import open_rows
from consilience.engines import engine_for
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.kernels._blocks import BLOCK_ROWS
from consilience.minority import _by_blocks
from consilience.minority._scaling import fit_scaling

RNG = np.random.default_rng(0)
N = 2 * BLOCK_ROWS + 700
X = RNG.uniform(-3, 3, (N, 3))
X[:600] = RNG.normal([1, 1, 0], 0.05, (600, 3))
X = RNG.permutation(X) * [1, 100, 0.01]


@pytest.fixture(autouse=True)
def pieces(monkeypatch):
    """Three pieces, and batches of a few repetitions."""
    monkeypatch.setattr(_table, "BLOCK", 3 * BLOCK_ROWS)
    monkeypatch.setattr(_by_blocks, "_SCORES", 4 * N)


def same(one, other):
    for name in ("scores_", "standard_errors_", "labels_", "undecided_", "history_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in ("threshold_", "reliability_", "n_repetitions_", "p_value_", "n_clusters_"):
        assert getattr(one, name) == getattr(other, name), name


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize(
    "how",
    [
        {"threshold": "dist"},
        {"gamma": 3.0, "threshold": "size", "n_foreground": 600},
        {"weak": "hard", "threshold": "dist", "scaling": "robust"},
        {"weak": "split", "threshold": "dist"},
        {"divergence": "euclidean", "scaling": "box", "aggregate": "mean", "threshold": "dist"},
    ],
    ids=str,
)
def test_scores_are_those_in_memory_bit_for_bit(kind, how):
    values = X.astype(kind)
    how = {"n_repetitions": 9, "random_state": 5, "n_clusters": 1} | how
    wanted = EWOCS(**how).fit(values)
    found = EWOCS(**how, n_jobs=2).fit(open_rows(Sliced(values)))
    same(found, wanted)
    np.testing.assert_array_equal(found.predict(X[:50].astype(kind)), wanted.predict(values[:50]))
    rows = open_rows(Sliced(values))
    np.testing.assert_allclose(found.score_samples(rows), wanted.scores_, atol=1e-5)
    np.testing.assert_array_equal(found.predict(rows), wanted.predict(values))


def test_the_default_stops_and_judges_as_in_memory():
    how = {"max_repetitions": 20, "random_state": 1, "n_clusters": 1}
    wanted = EWOCS(**how).fit(X)
    found = EWOCS(**how).fit(open_rows(Sliced(X)))
    same(found, wanted)
    assert found.n_foreground_ > 300
    paper = {**how, "stop": "paper", "tol": 1e-3, "threshold": "dist"}
    same(EWOCS(**paper).fit(open_rows(Sliced(X))), EWOCS(**paper).fit(X))
    same(found.more(open_rows(Sliced(X)), 7), wanted.more(X, 7))
    with pytest.raises(InvalidInputError, match="objects the model was fitted on"):
        found.more(open_rows(Sliced(X + 1)))


def test_what_cannot_go_by_blocks_is_refused_by_name():
    rows = open_rows(Sliced(X))
    for name, value in {
        "divergence": "kl",
        "gamma": "contrast",
        "score_by": "knn",
        "scaling": "std",
    }.items():
        with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of EWOCS must be"):
            EWOCS(**{name: value}).fit(rows)
    with pytest.raises(InvalidInputError, match="'sample_weight' with data in memory"):
        EWOCS().fit(rows, sample_weight=np.ones(N))
    broken = X.copy()
    broken[5000, 2] = np.nan
    with pytest.raises(InvalidInputError, match=r"Got nan in row 5000, column 2"):
        EWOCS(n_repetitions=2).fit(open_rows(Sliced(broken)))


@given(
    values=st.lists(
        st.floats(-1e3, 1e3, width=32) | st.sampled_from([0.0, -0.0, 1.0, -1.0]), min_size=3
    ),
    single=st.booleans(),
)
def test_ranks_and_quantiles_are_exact(values, single):
    table = np.array(values, np.float32 if single else np.float64)
    table = np.column_stack([table, table[::-1] ** 2])
    stored = open_rows(Sliced(table)).values
    ranks = range(len(table))
    np.testing.assert_array_equal(
        engine_for(stored).order_statistics(list(ranks)), np.sort(table, axis=0)
    )
    one, other = fit_scaling("robust", stored, owner="x"), fit_scaling("robust", table, owner="x")
    for name in ("centre", "scale", "powers"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
