"""Stored answers of the minority methods: scores, thresholds, rivals, divergences."""

from unittest.mock import patch

import numpy as np
from scipy import sparse
from scipy.stats import norm
from stored.small import blobs, few_drawn, minority
from stored.store import Cases, attempt
from stored.variants import variants, wrong

import consilience as cs
from consilience import minority as room
from consilience.datasets import minority_sources
from consilience.minority import (
    _cuts,
    _groups,
    _width,
    consistency,
    divergences,
    references,
    thresholds,
    tuning,
    weak,
)

CASES = Cases(__file__)
_X, _Y = minority()
_SMALL = {"n_repetitions": 20, "max_repetitions": 60, "n_eps": 20, "n_part": 4, "n_rounds": 10}
_SMALL |= {"start_size": 30, "min_size": 5}


def _add(name, **given):
    cls = getattr(cs, name)

    def made(X=_X, **params):
        known = cls._constraints
        few = {key: value for key, value in _SMALL.items() if key in known}
        few |= {"random_state": 0} if "random_state" in known else {}
        return cls(**(few | given | params)).fit(X)

    def answers():
        yield "plain", attempt(made)
        with few_drawn():
            yield from others()

    def others():
        yield "single", attempt(made, _X.astype(np.float32))
        yield "more", attempt(made, np.c_[_X, _X[:, :1] ** 2])
        yield "equal", attempt(made, np.ones((30, 2)))
        yield "few", attempt(made, _X[:3])
        yield "one", attempt(made, _X[:1])
        for key, params in variants(cls, ("max_memory", "start_size")):
            yield key, attempt(made, **params)
        yield "wrong", {key: attempt(made, **params) for key, params in wrong(cls)}
        for key in ("n_foreground", "n_clusters", "size", "m"):
            if key in cls._constraints:
                for value in (1, 5, 0.1, 0.5, 1.0, 89, 200, 0):
                    yield f"{key}={value}", attempt(made, **{key: value})
        if "divergence" in cls._constraints:
            for key in divergences.DIVERGENCES:
                X = np.abs(_X) + 0.5
                X = X / (X.max() + 1) if key == "logistic" else X
                yield f"divergence {key}", attempt(made, X, divergence=key)
        if hasattr(cls, "score_samples"):
            model = made()
            new = _X[::4] + 0.01
            yield "new", [attempt(model.score_samples, new), attempt(model.predict, new)]
            yield "wide", attempt(model.score_samples, _X[:, :1])

    answers.__name__ = name
    CASES(answers)


_add("EWOCS")
_add("BBOCC", n_foreground=0.25)
_add("BBCPress", n_clusters=3, n_foreground=0.25)
_add("SoftBBC", n_clusters=3)
_add("DGRADE", n_foreground=0.25)
_add("AutoHDS")
_add("KMD")


@CASES
def ewocs_together():
    for kind in ("soft", "hard", "split"):
        for aggregate in ("log", "mean"):
            for stop in ("reliability", "paper"):
                model = cs.EWOCS(
                    kind,
                    aggregate=aggregate,
                    stop=stop,
                    n_repetitions="auto",
                    threshold="dist",
                    max_repetitions=50,
                    random_state=2,
                )
                yield f"{kind} {aggregate} {stop}", attempt(model.fit, _X)
    for rule in ("best", "size", "dist", "2gauss", "ngauss+var", "ngauss+best", 0.5):
        for share in (None, 20, 0.2):
            model = cs.EWOCS(threshold=rule, n_foreground=share, n_repetitions=20, random_state=1)
            yield f"{rule} {share}", attempt(model.fit, _X, _Y)
    words = sparse.csr_array(np.where(np.abs(_X) > 4, _X, 0))
    for kind in ("soft", "hard"):
        model = cs.EWOCS(kind, divergence="euclidean", n_repetitions=10, random_state=1)
        yield f"sparse {kind}", attempt(model.fit, words)
    model = cs.EWOCS(n_repetitions=10, random_state=0).fit(_X)
    yield "further", attempt(model.more, _X, 15)
    for name in ("paper", "default", "zzz"):
        yield f"preset {name}", attempt(lambda name=name: cs.EWOCS.preset(name).get_params())
    for k in (1, 2, 3):
        for clusterer in (None, cs.generate.Linkage(2)):
            model = cs.EWOCS(n_clusters=k, clusterer=clusterer, n_repetitions=20, random_state=0)
            yield f"groups {k} {clusterer is None}", attempt(model.fit, _X)


@CASES
def rules():
    rng = np.random.default_rng(0)
    two = np.concatenate([rng.normal(0.2, 0.03, 60), rng.normal(0.8, 0.05, 15)])
    three = np.concatenate([two, rng.normal(0.5, 0.01, 20)])
    scores = {"two": two, "three": three, "one": two[:60], "flat": np.ones(9), "few": two[58:62]}
    scores |= {"ties": np.round(two, 1), "single": np.array([0.5]), "line": np.arange(30) / 30.0}
    scores |= {"nan": np.array([np.nan, 1.0]), "empty": np.array([])}
    scores |= {"bell": norm.ppf((np.arange(90) + 0.5) / 90)}  # one Gaussian, without a boundary
    for key, given in scores.items():
        y = (np.arange(len(given)) >= 60) * 1
        for name in ("dist", "two_gauss", "ngauss_var"):
            yield f"{key} {name}", attempt(getattr(thresholds, name), given)
        for name in ("best", "ngauss_best"):
            yield f"{key} {name}", attempt(getattr(thresholds, name), given, y)
        for m in (1, 5, 0.1, 0.5, 1.0, 0, 10**6, -1):
            yield f"{key} size {m}", attempt(thresholds.size, given, m)
        for rule in ("dist", "2gauss", "ngauss+var", "best", "ngauss+best", "size", 0.4, "zzz"):
            yield f"{key} find {rule}", attempt(thresholds.find, given, rule, y=y, m=0.2)
            yield f"{key} find {rule} bare", attempt(thresholds.find, given, rule)
        yield f"{key} every", attempt(thresholds.every, given, y=y, m=0.2)
        yield f"{key} every bare", attempt(thresholds.every, given)
        if key not in ("nan", "empty"):
            falling = np.sort(given)[::-1]
            yield f"{key} ends", [_cuts.group_ends(falling), _cuts.is_flat(falling)]
            yield f"{key} boundaries", attempt(_cuts.boundaries, falling)
            yield f"{key} boundaries 2", attempt(_cuts.boundaries, falling, 2)


@CASES
def all_divergences():
    X = np.abs(_X[:20]) + 0.5
    for key, kind in divergences.DIVERGENCES.items():
        made = kind() if isinstance(kind, type) else kind
        given = X / (X.max() + 1) if key == "logistic" else X
        given = given @ given.T if key in ("precomputed", "kernel") else given
        fitted = made.fit(given)
        yield f"{key} pair", attempt(fitted.pair, given, given[:4])
        yield f"{key} mean", attempt(fitted.mean, given)
        yield f"{key} weighted", attempt(fitted.mean, given, np.linspace(1, 2, 20))
        yield f"{key} terms", [attempt(fitted.objects, given), attempt(fitted.seeds, given[:3])]
        yield f"{key} link", attempt(fitted.link, np.linspace(0, 3, 7))
        yield f"{key} sparse", attempt(fitted.pair, sparse.csr_array(given), given[:2])
        for bad in (-given, np.zeros((3, 2)), given * np.nan, given * 1e200):
            yield f"{key} bad {bad[0, 0]:.1f}", attempt(fitted.check, bad)
    for name in divergences.__all__:
        yield f"name {name}", str(name)


@CASES
def weak_clusterers():
    for kind in ("soft", "hard", "split"):
        for key in ("euclidean", "gaussian", "mahalanobis"):
            made = weak.weak_clusterer(kind, divergence=key, k_max=6)
            fitted = made.fit(_X)
            for number in (0, 3):
                draw = fitted.draw(1, number)
                yield f"{kind} {key} draw {number}", draw
                model, objects = fitted.model(_X, draw), fitted.objects(_X)
                yield f"{kind} {key} labels {number}", attempt(fitted.labels, objects, model)
                yield f"{kind} {key} grades {number}", attempt(fitted.grades, objects, model)
                yield f"{kind} {key} products {number}", attempt(fitted.products, objects, model)
            for aggregate in ("mean", "log", "zzz"):
                yield (
                    f"{kind} {key} {aggregate}",
                    attempt(room.score_objects, _X, made, 12, seed=3, aggregate=aggregate),
                )
    yield "wrong", [attempt(weak.weak_clusterer, "zzz"), attempt(weak.weak_clusterer, k_max=0)]
    yield "random", weak.random(1, 2, 3).random(4)


@CASES
def tuned():
    for method in ("auto", "contrast", "zzz"):
        for options in ({}, {"n_clusters": 2}, {"refine": True}, {"background_correction": True}):
            key = f"{method} {options}"
            yield (
                key,
                attempt(
                    room.tune_gaussian, _X[:40], method, n_sample=20, random_state=0, **options
                ),
            )
    yield "contrast", attempt(tuning.contrast, _X, 3.0, 2.0, 0, 1)
    for key, X in {
        "two": _X,
        "many": np.tile(_X, 9),
        "equal": np.ones((9, 2)),
        "few": _X[:2],
    }.items():
        yield f"width {key}", attempt(_width.gamma_of_distances, X, 0)


@CASES
def functions():
    yield "bbocc", attempt(room.bbocc, _X, 0.25, random_state=0)
    yield "hocc", attempt(room.hocc, _X, 0.25)
    yield "bbc", attempt(room.bbc, _X, 0.25, _X[[0, 12]])
    yield "bbcpress", attempt(room.bbcpress, _X, 3, 0.25, random_state=0)
    yield "softbbc", attempt(room.softbbc, _X, 3, random_state=0)
    yield "autohds", attempt(room.autohds, _X, n_eps=15, n_part=4)
    for y in (_Y, _Y > 0, np.zeros(90, int)):
        yield f"random {y.max()}", attempt(references.random_foreground, y, random_state=0)
        yield f"all {y.max()}", attempt(references.all_foreground, y)
        yield f"hulls {y.max()}", attempt(references.convex_hulls, _X, y)
    yield "hulls wrong", attempt(references.convex_hulls, _X[:3], _Y)
    yield "blobs", attempt(references.convex_hulls, blobs(), np.repeat([0, 1, 2], 16))


@CASES
def sequences():
    words = [tuple(line) for line in ("abcab", "abxab", "cabd", "ddcab", "xyz", "abcabc")]
    for options in (
        {},
        {"max_length": 2},
        {"wildcards": 0},
        {"sides": 1},
        {"min_count": 2},
        {"damping": "idf"},
        {"damping": "share"},
        {"max_iter": 1},
        {"max_length": 0},
    ):
        yield str(options), attempt(room.GRAMS(**options).fit, words)
    model = room.GRAMS(max_length=3).fit(words, instances=list("aabbcc"))
    yield "new", attempt(model.score_samples, [tuple("abc"), tuple("zzz")])
    yield "empty", attempt(room.GRAMS().fit, [])


@CASES
def consistencies():
    made = minority_sources(2, background=0.05, foreground=0.05, n_sources=2, random_state=0)
    samples = [made.sample(0), made.sample(1)]
    for kind in ("soft", "hard", "split", "zzz"):
        for options in ({}, {"scaling": "box"}, {"k_max": 5}, {"divergence": "gaussian"}):
            yield (
                f"{kind} {options}",
                attempt(
                    consistency.consistency,
                    _X,
                    _Y,
                    kind,
                    n_repetitions=5,
                    random_state=0,
                    **options,
                ),
            )
    yield "over", attempt(consistency.consistency_over, samples, n_repetitions=5, random_state=0)
    drawn = consistency.source_samples(made, 3, random_state=0)
    yield "samples", [[len(X), int(y.sum())] for X, y in drawn]
    found = [consistency.consistency(_X, _Y, n_repetitions=4, random_state=s) for s in range(3)]
    yield "summary", attempt(consistency.summary, found)
    yield (
        "wrong",
        [
            attempt(consistency.consistency, _X, _Y[:3]),
            attempt(consistency.consistency, _X, np.zeros(90, int)),
            attempt(consistency.consistency_over, []),
        ],
    )


def _kernel(A, B):
    A, B = np.asarray(A), np.asarray(B)
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2) / 10)


@CASES
def kernels_and_matrices():
    """Divergences from functions and matrices of all pairs, and sparse data."""
    X, y = _X[:50], _Y[:50]
    K = _kernel(X, X)
    for kind in ("soft", "hard"):
        for aggregate in ("log", "mean"):
            for key, given, divergence in (
                ("function", X, _kernel),
                ("squared", 2 - 2 * K, divergences.Precomputed("squared_distance")),
                ("distance", np.sqrt(2 - 2 * K), divergences.Precomputed("distance")),
                ("name", K, "precomputed"),
            ):
                model = cs.EWOCS(
                    kind,
                    divergence=divergence,
                    aggregate=aggregate,
                    n_repetitions=12,
                    random_state=0,
                )
                with few_drawn():
                    yield f"{key} {kind} {aggregate}", attempt(model.fit, given)
    model = cs.EWOCS(divergence=_kernel, n_repetitions=12, n_clusters=2, random_state=0).fit(X)
    yield "new", [attempt(model.score_samples, X[:6]), attempt(model.predict, X[:6])]
    model = cs.EWOCS(divergence="precomputed", n_repetitions=12, random_state=0).fit(K)
    yield "new matrix", [attempt(model.score_samples, K[:6]), attempt(model.predict, K[:6])]
    counts = np.round(np.abs(X) * 2)
    words = sparse.csr_array(np.where(counts > 6, counts, 0))
    few = {"n_rounds": 6, "start_size": 20, "min_size": 4, "random_state": 0}
    for family in ("gaussian", "multinomial", "bernoulli"):
        for background in ("auto", "uniform", "data", "zzz"):
            for prior in (True, False):
                model = cs.KMD(family=family, background=background, prior=prior, **few)
                yield (
                    f"kmd {family} {background} {prior}",
                    attempt(model.fit, (counts > 6) * 1.0 if family == "bernoulli" else counts),
                )
        yield f"kmd sparse {family}", attempt(cs.KMD(family=family, **few).fit, words)
    for rival in (
        cs.BBOCC(0.3, random_state=0),
        cs.BBCPress(2, 0.3, random_state=0),
        cs.DGRADE(0.3),
        cs.SoftBBC(2, random_state=0),
        cs.AutoHDS(n_eps=8, n_part=4),
    ):
        name = type(rival).__name__
        for key, given, divergence in (
            ("function", X, _kernel),
            ("matrix", K, "precomputed"),
            ("sparse", words, "euclidean"),
            ("cosine", np.abs(X) + 1, "cosine"),
            ("sparse cosine", words + sparse.csr_array(np.eye(50, 2)), "cosine"),
            ("kl", np.abs(X) + 1, "kl"),
            ("text", X, "zzz"),
        ):
            model = rival.set_params(divergence=divergence)
            yield f"{name} {key}", attempt(model.fit, given)
    for scaling in ("none", "box", "std", "robust", "auto"):
        for given in (words, X * [1, 1000], np.c_[X, np.ones(50)]):
            model = cs.EWOCS(
                "hard", divergence="euclidean", scaling=scaling, n_repetitions=8, random_state=0
            )
            yield (
                f"scaling {scaling} {given.shape} {type(given).__name__}",
                attempt(model.fit, given),
            )
    for name, params in (
        ("gaussian", {"alpha": 3.0}),
        ("gaussian", {"zzz": 1}),
        ("zzz", {}),
        (_kernel, {}),
        (_kernel, {"a": 1}),
        (3, {}),
    ):
        found = attempt(divergences.resolve, name, **params)
        yield f"named {name if isinstance(name, str) else type(name).__name__} {params}", found
    hull = references.convex_hulls(np.c_[X, X[:, :1] + X[:, 1:], X[:, 1:] ** 2, X[:, :1]], y)
    yield (
        "hulls",
        [
            hull,
            references.convex_hulls(X[:, :1], y),
            references.convex_hulls(np.c_[X[:, :1], X[:, :1]], y),
        ],
    )


@CASES
def odd_scores():
    made = weak.weak_clusterer("soft", divergence=_kernel, k_max=4)
    for kind in (made, weak.weak_clusterer("hard", divergence=_kernel, k_max=4)):
        for aggregate in ("mean", "log"):
            yield (
                f"{kind.soft} {aggregate}",
                attempt(room.score_objects, _X[:30], kind, 6, seed=1, aggregate=aggregate),
            )

    def halves(X, seed):
        return (np.asarray(X)[:, seed % 2] > 0).astype(int)

    yield (
        "function",
        attempt(consistency.consistency, _X, _Y, halves, n_repetitions=4, random_state=0),
    )
    yield (
        "grades",
        attempt(
            consistency.consistency,
            _X,
            _Y,
            lambda X, seed: np.eye(2)[halves(X, seed)],
            n_repetitions=3,
            random_state=0,
        ),
    )
    yield (
        "wrong",
        attempt(consistency.consistency, _X, _Y, lambda X, seed: np.zeros(3), n_repetitions=2),
    )
    for X in (
        np.ones((6, 2)),
        _X[:1],
        _X * 1e-9,
        sparse.csr_array(np.abs(_X)),
        np.repeat(_X[:4], 9, axis=0),
    ):
        for method in ("auto", "contrast"):
            found = attempt(room.tune_gaussian, X, method, n_sample=20, random_state=0)
            yield f"tuned {method} {X.shape} {type(X).__name__} {float(X[0, 0]):.2g}", found
    yield (
        "divergence",
        room.tune_gaussian(_X[:40], "contrast", n_sample=20, random_state=0).divergence,
    )
    for stop, tol in (
        ("paper", 1e-3),
        ("paper", None),
        ("reliability", 0.5),
        ("reliability", 0.999),
    ):
        model = cs.EWOCS(
            stop=stop, tol=tol, n_repetitions="auto", max_repetitions=80, random_state=0
        )
        yield f"stop {stop} {tol}", attempt(model.fit, _X)
    rng = np.random.default_rng(0)
    many = np.concatenate([rng.normal(0, 1, 3000), rng.normal(9, 0.5, 300)])
    yield "many scores", [attempt(thresholds.every, many), attempt(thresholds.every, many * 1e300)]
    words = [tuple(line) for line in ("abcab", "abxab", "cabd", "ddcab")]
    yield (
        "instances",
        [
            attempt(room.GRAMS(max_length=2).fit, words, instances=i)
            for i in (list("aabb"), list("ab"))
        ],
    )
    found = room.autohds(_X, n_eps=8, n_part=4).hierarchy
    yield (
        "levels",
        [found.n_levels, found.n_clusters, *(attempt(found.labels, at) for at in (0, 3))]
        if hasattr(found, "labels")
        else None,
    )
    model = cs.EWOCS(n_repetitions=20, clusterer=cs.MCLA(2, random_state=0), random_state=0)
    yield "consensus of groups", attempt(model.fit, _X)


@CASES
def groups_of_foreground():
    rng = np.random.default_rng(3)
    kind = np.arange(12) % 2
    members = np.where(rng.random((5, 12)) < 0.85, kind, rng.integers(0, 3, (5, 12)))
    counts = [3] * 5
    for most in (6, 12, 100):
        with patch.object(_groups, "_MOST_OBJECTS", most):
            for k in (None, 1, 2, 3):
                found = _groups.by_consensus(members, counts, k, np.random.default_rng(0), 1)
                yield f"consensus {most} {k}", found
                yield f"place {most} {k}", found[0].place(members[:, ::-1].copy())
    X = _X[:12]
    for clusterer in (cs.generate.Linkage(2), cs.MCLA(2, random_state=0), cs.EAC(2)):
        yield f"by {clusterer}", _groups.by_clusterer(members, counts, X, clusterer)
    yield "alone", _groups.by_consensus(members[:, :1], counts, None, np.random.default_rng(0), 1)


test_stored = CASES.test()
