"""Stored answers of profiles: what makes each group, in figures and in words."""

import numpy as np
from scipy import sparse
from stored.store import Cases, attempt

from consilience import Ensemble, explain

CASES = Cases(__file__)
LABELS = np.repeat([0, 1, 2, -1], [14, 12, 9, 3])


def _table():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(len(LABELS), 4)).round(3)
    X[:, 0] += 3 * LABELS
    X[:, 2] = 7.0
    X[::6, 3] = np.nan
    return X


def _told(found):
    """Everything that a profile says."""
    return [*(dict(table) for table in found.tables.values()), str(found), found._repr_html_()]


def _profile(*args, **more):
    return _told(explain.profile(*args, **more))


@CASES
def numbers():
    X = _table()
    yield "plain", _profile(X, LABELS)
    yield "named", _profile(X, LABELS, columns=["a", "b", "c", "d"], ids=[f"o{i}" for i in LABELS])
    yield "level", _profile(X[:, :2], LABELS, level=0.8, clustered=False)
    yield "one", _profile(X[:, :2], np.zeros(len(X), int))
    yield "single", _profile(X[:, :2], np.r_[0, np.ones(len(X) - 1, int)])
    yield "words as groups", _profile(X[:, :2], np.array(list("abcd"))[LABELS])


@CASES
def members():
    X = _table()
    rng = np.random.default_rng(1)
    moved = [np.where(rng.random(len(X)) < 0.2, 0, np.maximum(LABELS, 0)) for _ in range(9)]
    sure = rng.random(len(X)).round(3)
    yield "votes", _profile(X, LABELS, ensemble=Ensemble(moved), confidence=sure)
    yield "sure", _profile(X, LABELS, confidence=sure)
    alone = np.r_[3, LABELS[1:]]
    yield "one alone", _profile(X, alone, ensemble=Ensemble([*moved, alone]), confidence=sure)


@CASES
def many():
    rng = np.random.default_rng(3)
    own = 4 * (LABELS[:, None] == np.arange(20) % 3)  # more that tells than is said of a cluster
    X = own + rng.normal(size=own.shape).round(3)
    yield "columns", _profile(X, LABELS)
    counts = sparse.csr_array(own + rng.poisson(0.2, own.shape).astype(float))
    yield "words", _profile(counts, LABELS, columns=[f"word{j}" for j in range(20)])
    groups = np.repeat(np.arange(23), 3)
    yield "clusters", _profile(rng.normal(groups[:, None], 0.1, (69, 2)).round(3), groups)


@CASES
def words():
    rng = np.random.default_rng(2)
    counts = rng.poisson(0.4, (len(LABELS), 12))
    counts[LABELS == 1, 3] += 2
    names = [f"word{i}" for i in range(12)]
    yield "counts", _profile(sparse.csr_array(counts.astype(float)), LABELS, columns=names)


@CASES
def refusals():
    X = _table()
    yield "level", attempt(explain.profile, X, LABELS, level=1.5)
    yield "columns", attempt(explain.profile, X, LABELS, columns=["a"])
    yield "labels", attempt(explain.profile, X, LABELS[:5])
    yield "none", attempt(explain.profile, X[:0], LABELS[:0])


test_stored = CASES.test()
