"""Stored answers of minority: weights, neighbours, threads, references, hulls, sparse data."""

import numpy as np
from scipy import sparse
from stored.small import blobs, few_drawn, minority
from stored.store import Cases, attempt

import consilience as cs
from consilience.minority import _fitted, _kernels, _nulls, _reference, _scaling, references

CASES = Cases(__file__)
_X, _Y = minority()
_WEIGHTS = 1.0 + np.arange(90) % 4


def _scores(model, X, weights=None):
    """A fitted model, and what it says of new objects."""
    fitted = model.fit(X, sample_weight=weights)
    new = X[::9] if sparse.issparse(X) else np.asarray(X)[::9] + 0.05
    return [
        fitted.scores_, fitted.labels_, fitted.threshold_, fitted.n_foreground_,
        fitted.score_samples(new), fitted.predict(new), fitted.standard_errors_,
        fitted.threshold_result_.why, fitted.flag_,
    ]  # fmt: skip


@CASES
def weights():
    given = {
        "none": None,
        "alike": np.full(90, 3.0),
        "some": _WEIGHTS,
        "whole": _WEIGHTS.astype(int),
        "zeros": np.where(np.arange(90) % 5, 1.0, 0.0),
        "all zero": np.zeros(90),
        "below zero": np.r_[-1.0, np.ones(89)],
        "short": np.ones(3),
        "words": ["a"] * 90,
    }
    with few_drawn():
        for name, values in given.items():
            for score in ("sizes", "knn"):
                model = cs.EWOCS(n_repetitions=12, score_by=score, random_state=0)
                yield f"{name} {score}", attempt(_scores, model, _X, values)
        for options in (
            {"weak": "hard", "divergence": "euclidean"},
            {"weak": "split"},
            {"threshold": "dist"},
            {"aggregate": "mean"},
            {"n_repetitions": "auto", "max_repetitions": 30},
        ):
            model = cs.EWOCS(**({"n_repetitions": 12, "random_state": 0} | options))
            yield f"{options}", attempt(_scores, model, _X, _WEIGHTS)
    for values in (None, [1, 1, 1], [2, 1, 3], [0, 0, 0]):
        yield f"checked {values}", attempt(_fitted.checked_weights, values, _X[:3])
        yield f"listed {values}", attempt(_fitted.checked_weights, values, ["a", "b", "c"])


@CASES
def neighbours_and_threads():
    with few_drawn():
        for X in (_X, _X[:12], np.r_[_X[:20], _X[:20]], blobs()):
            model = cs.EWOCS(score_by="knn", n_repetitions=8, random_state=0)
            yield f"knn {X.shape}", attempt(_scores, model, X)
        for jobs in (1, 2, 3):
            for n in (1, 7, 40):
                model = cs.EWOCS(n_repetitions=n, threshold="dist", random_state=0, n_jobs=jobs)
                yield f"jobs {jobs} {n}", attempt(_scores, model, _X)
        wide = np.random.default_rng(0).normal(size=(60, 70))
        wide[:12] *= 0.3
        rounded = np.round(_X)
        for name, X in (("wide", wide), ("rounded", rounded), ("few", wide[:10, :14])):
            model = cs.EWOCS(n_repetitions=8, random_state=0)
            yield f"{name}", attempt(_scores, model, X)
        words = sparse.random_array((60, 20), density=0.2, rng=np.random.default_rng(1))
        for scaling in ("none", "std", "box", "auto"):
            for divergence in ("euclidean", "gaussian", "cosine", "mahalanobis", "zzz"):
                model = cs.EWOCS(
                    divergence=divergence, scaling=scaling, n_repetitions=6, threshold="dist",
                    random_state=0,
                )  # fmt: skip
                yield f"{scaling} {divergence}", attempt(_scores, model, words.tocsr())
    for kind in ("std", "box"):
        for X in (_X, words.tocsr(), _X.astype(np.float32), np.ones((4, 2))):
            found = attempt(_scaling.fit_scaling, kind, X, owner="x", n_jobs=None)
            yield f"{kind} {X.shape} {X.dtype}", found
    scaled = _scaling.fit_scaling("std", words.tocsr(), owner="x", n_jobs=None)
    yield "applied", scaled.apply(words.tocsr()).toarray()


@CASES
def references_drawn():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(40, 64)) * np.arange(1, 65)
    wide[:, 5] = 3.0
    grid = np.round(_X[:40])
    tables = {
        "two": _X, "wide": wide, "five": rng.normal(size=(30, 5)), "grid": grid,
        "flat": np.ones((6, 2)), "line": np.arange(12.0)[:, None], "pair": _X[:2],
        "some": rng.normal(size=(50, 14)) * (1.0 + (np.arange(50)[:, None] < 8)),
    }  # fmt: skip
    for name, X in tables.items():
        for weighted in (np.ones(len(X)), 1.0 + np.arange(len(X)) % 3):
            draws = _nulls.SIMPLE | {"patches": _nulls.patches_of(X, 0)}
            for kind, draw in draws.items():
                found = attempt(draw, X, weighted, np.random.default_rng(1), 9)
                yield f"{name} {weighted.max()} {kind}", found
        yield f"{name} on grid", _nulls.on_grid(X, X[::-1] + 0.3)


def _precomputed(kind, K):
    """Scores by a matrix of kernels or of distances."""
    gaps = np.maximum(np.diag(K)[:, None] + np.diag(K) - 2 * K, 0.0)
    given = {"kernel": K, "distance": np.sqrt(gaps)}.get(kind, gaps)
    model = cs.EWOCS(
        divergence=_kernels.Precomputed(kind), n_repetitions=6, threshold="dist", random_state=0
    )
    return model.fit(given).scores_


def _far_from_the_middle(rows, number):
    """A model that needs no repetitions: the nearer to the mean, the denser."""
    return lambda objects: -np.abs(objects - rows.mean(axis=0)).sum(axis=1)


@CASES
def against_references():
    X = np.random.default_rng(2).exponential(size=(80, 2))
    counted = 1.0 + np.arange(80) % 3
    with few_drawn():
        for name, more in {
            "plain": {},
            "clipped": {"clip": True},
            "counted": {"weights": counted},
            "without unit": {"has_unit": False},
        }.items():
            told = {"clip": False, "weights": None, "has_unit": True} | more
            found = _reference.against_references(X, _far_from_the_middle, 3, **told)
            yield name, attempt(lambda f=found: f)


@CASES
def hulls():
    rng = np.random.default_rng(0)
    line = np.arange(9.0)[:, None]
    deep = rng.normal(size=(16, 12))
    flat = np.c_[_X[:30], _X[:30].sum(axis=1)]
    for name, X in (("line", line), ("plane", _X[:40]), ("deep", deep), ("flat", flat)):
        for inside in (np.arange(len(X)) < len(X) // 2, np.arange(len(X)) % 3 == 0):
            yield f"{name} {inside.sum()}", attempt(references.convex_hulls, X, inside.astype(int))
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    for point in ([0.2, 0.2, 0], [0.6, 0.6, 0], [0.5, 0.5, 0], [0.2, 0.2, 1e-6], [0, 0, 0]):
        yield f"mixture {point}", references._is_mixture(corners, np.array(point), 1e-9)
    for n in (4, 7):
        yield f"facets {n}", references._facets(deep[:n, :3])
    found = cs.AutoHDS(n_eps=12, n_part=4).fit(_X).hierarchy_
    yield "levels", [found.n_levels, found.n_clusters]
    for level in range(-1, found.n_levels + 1, 2):
        yield f"level {level}", attempt(found.labels_at, level)
    K = _X[:8] @ _X[:8].T
    for kind in ("kernel", "distance", "squared_distance", "zzz"):
        yield kind, attempt(_precomputed, kind, K)


test_stored = CASES.test()
