"""Stored answers of the consensus methods: every method, option and kind of ensemble."""

import inspect
from importlib import import_module
from unittest.mock import patch

import numpy as np
from scipy import sparse
from stored.small import blobs, ensembles, truth
from stored.store import Cases, attempt
from stored.variants import variants, wrong

import consilience as cs
from consilience import consensus
from consilience.consensus import (
    CONSENSUS,
    _cuts,
    _memberships,
    _monti,
    _number_curves,
    _rows,
    accumulation,
)
from consilience.generate import KMeansEnsemble

CASES = Cases(__file__)
_voting = import_module("consilience.consensus.voting")  # a function of that name hides it
#: What only says how much work is done is made small.
_FEW = {"n_init": 2, "n_resamples": 4, "n_references": 1}
_DATA = ("WOSP", "WOHB", "WSPA", "WBPA")


def _model(cls, **params):
    names = inspect.signature(cls).parameters
    few = {name: value for name, value in _FEW.items() if name in names}
    few |= {"n_clusters": 3} if "n_clusters" in names else {}
    return cls(**({"random_state": 0} | few | params))


def _fit(name, kind, **params):
    cls = getattr(cs, name)
    X = blobs() if name in _DATA or kind == "data" else None
    ensemble = None if kind == "data" else ensembles()[kind]
    return _model(cls, **params).fit(X, ensemble=ensemble)


def _without_ensemble(found):
    """Members are stored where they are made."""
    if isinstance(found, dict):
        return {key: _without_ensemble(one) for key, one in found.items() if key != "ensemble_"}
    return found


def _add(name):
    cls = getattr(cs, name)

    def answers():
        for kind in ("whole", "unseen", "noise", "both", "torn", "few", "one"):
            yield kind, _without_ensemble(attempt(_fit, name, kind))
        for key, params in variants(cls, ("confidence",)):
            # Methods with several starts take longest.
            for kind in ("torn", "both")[: 1 + ("n_init" not in cls._constraints)]:
                yield f"{kind} {key}", _without_ensemble(attempt(_fit, name, kind, **params))
        yield "surely", _without_ensemble(attempt(_fit, name, "torn", confidence=False))
        made = KMeansEnsemble(4, 3, random_state=1)
        yield "data", _without_ensemble(attempt(_fit, name, "data", generator=made))
        for k in (1, 2, 5, 48, 49, 0, "x"):
            yield f"k={k}", _without_ensemble(attempt(_fit, name, "noise", n_clusters=k))
        yield (
            "wrong",
            {key: attempt(_fit, name, "whole", **params) for key, params in wrong(cls)},
        )
        yield "nothing", attempt(_model(cls).fit)
        yield "long data", attempt(_model(cls).fit, blobs()[:5], ensemble=ensembles()["whole"])

    answers.__name__ = name
    CASES(answers)


for _name in sorted(method.estimator_name for method in CONSENSUS.values()):
    _add(_name)
_add("AmbiguityAware")


@CASES
def ambiguity_aware():
    torn = ensembles()["torn"]
    for action in ("ignore", "svm"):
        for inner in (None, cs.MCLA(3, random_state=0), cs.EAC(3)):
            model = cs.AmbiguityAware(inner, action=action, random_state=0)
            key = f"{action} {type(inner).__name__}"
            yield key, _without_ensemble(attempt(model.fit, blobs(), ensemble=torn))


@CASES
def functions():
    for method in CONSENSUS.values():
        options = {"n_init": 2} if "n_init" in method.options else {}
        for kind in ("torn", "both"):
            yield (
                f"{method.name} {kind}",
                attempt(method.run, ensembles()[kind], 3, blobs(), random_state=1, **options),
            )
        yield (
            f"{method.name} none",
            attempt(method.run, ensembles()["few"], None, blobs(), random_state=1),
        )
        yield f"{method.name} unknown", attempt(method.run, ensembles()["few"], 2, zzz=1)


@CASES
def table():
    for method in CONSENSUS.values():
        yield (
            method.name,
            [
                method.estimator_name,
                method.summary,
                method.needs_data,
                method.needs_n_clusters,
                method.balanced,
                method.keeps_noise,
                method.memory,
                method.paper,
                list(method.options),
            ],
        )
    for n in (1, 10, 1000, 5000, 20_000, 100_000, 10**6, 10**8):
        for known in (True, False):
            found = consensus.default_method(n, 100, n_clusters_known=known)
            yield f"{n} {known}", [found.name, found.why, dict(found.parameters)]


@CASES
def correlation_costs():
    for kind, ensemble in ensembles().items():
        for weight in ("equal", "seen"):
            for labels in (
                truth(),
                np.zeros(48, int),
                np.arange(48),
                np.where(truth() == 1, -1, 0),
            ):
                key = f"{kind} {weight} {labels[0]}{labels[20]}{labels[-1]}"
                yield (
                    key,
                    attempt(consensus.correlation_cost, ensemble, labels, pair_weight=weight),
                )


@CASES
def refine():
    labels = truth().copy()
    labels[[0, 20, 40]] = [1, 2, -1]
    for kind, ensemble in ensembles().items():
        for missing in ("pair", "all"):
            yield f"{kind} {missing}", attempt(consensus.refine, ensemble, labels, missing=missing)


@CASES
def number_of_groups():
    X = blobs(14, 3, 3)
    yield "data", attempt(consensus.choose_n_clusters, X, n_resamples=4, random_state=0)
    yield (
        "two",
        attempt(consensus.choose_n_clusters, X[:28], n_resamples=4, k_max=5, random_state=1),
    )
    rng = np.random.default_rng(0)
    one = rng.normal(size=(30, 2))
    yield "one", attempt(consensus.choose_n_clusters, one, n_resamples=4, k_max=4, random_state=1)
    yield (
        "ensemble",
        attempt(consensus.choose_n_clusters, ensemble=ensembles()["whole"], random_state=0),
    )
    yield (
        "unseen",
        attempt(
            consensus.choose_n_clusters, ensemble=ensembles()["unseen"], k_max=5, random_state=0
        ),
    )
    yield (
        "both",
        attempt(
            consensus.choose_n_clusters,
            X,
            ensemble=ensembles()["both"].take(range(42)),
            random_state=0,
        ),
    )
    yield "nothing", attempt(consensus.choose_n_clusters)
    yield "tiny", attempt(consensus.choose_n_clusters, X[:4], random_state=0)
    yield "k_max", attempt(consensus.choose_n_clusters, X, k_max=1)


@CASES
def monti():
    X = blobs(12)
    for criterion in ("pac", "reference"):
        yield (
            criterion,
            attempt(
                cs.MontiConsensus(
                    (2, 4), n_resamples=6, criterion=criterion, n_references=1, random_state=0
                ).fit,
                X,
            ),
        )
    yield (
        "pairs",
        attempt(consensus.monticonsensus, X, [2, 3], n_resamples=5, max_pairs=100, random_state=2),
    )
    yield (
        "window",
        attempt(
            consensus.monticonsensus,
            X,
            3,
            n_resamples=5,
            window=(0.2, 0.7),
            n_references=0,
            max_samples=0.6,
            random_state=3,
        ),
    )
    yield (
        "wrong",
        {
            key: attempt(cs.MontiConsensus(**given).fit, X)
            for key, given in wrong(cs.MontiConsensus)
        },
    )


@CASES
def trees():
    found = consensus.eac(ensembles()["torn"], 3)
    leaves = np.ones(48, np.int64)
    for least in (1, 2, 4):
        yield f"counts {least}", accumulation.large_counts(found.linkage, least)
        for k in (None, 2, 4):
            yield (
                f"cut {least} {k}",
                attempt(accumulation.cut_large, found.linkage, leaves, least, k),
            )
    for n in (1, 2, 10, 48, 100, 1000, 10**6):
        yield f"smallest {n}", attempt(accumulation.smallest_counted, n)
    tested = np.arange(2, 7)
    yield "lifetimes", attempt(_number_curves.tree_lifetimes, ensembles()["torn"], tested)
    yield "strength", attempt(_number_curves.mean_strength, ensembles()["torn"].members)
    yield "ranges", attempt(_number_curves.range_lengths, found.linkage, 2, tested)


@CASES
def rows_of_labels():
    for kind, ensemble in ensembles().items():
        rows = _rows.distinct_rows(ensemble)
        yield kind, rows
        yield f"{kind} start", attempt(_rows.spectral_start, rows, 3, 1)
        for name in ("entropies", "shared_information", "shared_pairs"):
            yield f"{kind} {name}", attempt(getattr(_voting, name), rows)
    values = _monti.consensus_values(ensembles()["both"], None)
    yield "values", values
    yield "mean", _monti.mean_value(values)
    yield "cdf", _monti.cumulative(values, np.linspace(0, 1, 11))
    for window in ((0.1, 0.9), (0.0, 1.0), (0.25, 0.5)):
        yield f"share {window}", _monti.ambiguous_share(values, *window)
    yield "deltas", _monti.delta_areas(np.array([0.2, 0.5, 0.6, 0.55]))


@CASES
def odd_options():
    """Options that are arrays, other data, and ensembles in which there is nothing to do."""
    torn, X = ensembles()["torn"], blobs()
    words = sparse.csr_array(np.where(X > 2, X, 0))
    weights = np.linspace(1, 2, 48)
    few = KMeansEnsemble(4, 3, random_state=5)
    models = {
        "cspa sizes": cs.CSPA(3, sizes=[2, 1, 1], random_state=0),
        "cspa wrong sizes": cs.CSPA(3, sizes=[2, 1], random_state=0),
        "cspa collapse": cs.CSPA(3, sizes=[0.5, 0.3, 0.2], collapse=True, random_state=0),
        "sec weights": cs.SEC(3, member_weights=np.arange(1, 10), n_init=1, random_state=0),
        "kcc weights": cs.KCC(3, member_weights=np.arange(1, 10), n_init=1, random_state=0),
        "kcc short": cs.KCC(3, member_weights=[1.0], n_init=1, random_state=0),
        "wosp weights": cs.WOSP(3, weights=weights, t=0.5, random_state=0),
        "wosp sizes": cs.WOSP(3, sizes=[2, 1, 1], t_mode="first", random_state=0),
        "wohb weights": cs.WOHB(3, weights=weights, balance="objects", random_state=0),
        "womc weights": cs.WOMC(3, weights=weights, vertex="size", random_state=0),
        "wokmeans weights": cs.WOKMeans(3, weights=weights, n_init=1, random_state=0),
        "wrong weights": cs.WOKMeans(3, weights=[1.0], random_state=0),
        "eeac reference": cs.EEAC(3, reference=few, random_state=0),
        "eeac ensemble": cs.EEAC(3, reference=ensembles()["few"], random_state=0),
        "eeac none": cs.EEAC(3, threshold=2.0, min_cover=0, random_state=0),
        "supra": cs.SupraConsensus(3, methods=["eac", "kcc"], random_state=0),
        "supra wrong": cs.SupraConsensus(3, methods=["zzz"], random_state=0),
        "svm": cs.AmbiguityAware(cs.EAC(3), action="svm", kernel="rbf", random_state=0),
        "svm few": cs.AmbiguityAware(
            cs.EAC(3), action="svm", max_train=10, threshold=0.9, random_state=0
        ),
        "given scores": cs.AmbiguityAware(
            cs.EAC(3), scoring=np.linspace(0, 1, 48), threshold=0.3, random_state=0
        ),
        "all torn": cs.AmbiguityAware(cs.EAC(3), threshold=2.0, random_state=0),
        "ecmc": cs.ECMC(3, low=0.2, high=0.8, C=5.0, n_init=1, random_state=0),
        "ecmc order": cs.ECMC(3, low=0.9, high=0.1, random_state=0),
        "ecmc few": cs.ECMC(3, max_rows=5, random_state=0),
    }
    for key, model in models.items():
        for name, data in (("dense", X), ("sparse", words)):
            yield f"{key} {name}", _without_ensemble(attempt(model.fit, data, ensemble=torn))
    nothing = {
        "noise": cs.Ensemble(np.full((6, 3), -1)),
        "unseen": cs.Ensemble(np.full((6, 3), -2)),
        "equal": cs.Ensemble(np.zeros((6, 3), int)),
        "apart": cs.Ensemble(np.tile(np.arange(6)[:, None], (1, 3))),
        "single": cs.Ensemble([[0, 1]]),
        "half": cs.Ensemble(np.r_[np.zeros((3, 2), int), np.full((3, 2), -1)]),
    }
    for method in CONSENSUS.values():
        options = {"n_init": 1} if "n_init" in method.options else {}
        for key, ensemble in nothing.items():
            data = blobs()[: ensemble.n_objects]
            yield (
                f"{method.name} {key}",
                {
                    k: attempt(method.run, ensemble, k, data, random_state=0, **options)
                    for k in (1, 2, 6, None)
                },
            )
    with patch.object(_memberships, "MAX_DENSE", 5):
        for model in (cs.WOSP(3, random_state=0), cs.WSPA(3, random_state=0)):
            yield f"large {model}", _without_ensemble(attempt(model.fit, X, ensemble=torn))
    model = cs.PEACE(3, n_init=3, random_state=0).fit(ensemble=torn)
    yield (
        "spread",
        attempt(model.spread_over_starts, lambda labels: float((labels == truth()).mean())),
    )
    for clusterer in (
        cs.generate.Linkage(),
        KMeansEnsemble(max_samples=0.7),
        cs.LAC(random_state=0),
        3,
    ):
        yield (
            f"monti {type(clusterer).__name__}",
            attempt(
                consensus.monticonsensus,
                X,
                [2, 3],
                clusterer=clusterer,
                n_resamples=4,
                random_state=0,
            ),
        )
    yield (
        "monti sparse",
        attempt(consensus.monticonsensus, words, [2, 3], n_resamples=4, random_state=0),
    )
    for given in (words, np.ones((20, 2)), np.tile(X, 12), X[:9]):
        key = f"number {type(given).__name__} {given.shape}"
        yield (
            key,
            attempt(consensus.choose_n_clusters, given, n_resamples=3, k_max=4, random_state=0),
        )
    for ensemble in (nothing["noise"], nothing["equal"], nothing["apart"]):
        yield (
            f"number {ensemble.labels[1]}",
            attempt(consensus.choose_n_clusters, ensemble=ensemble, random_state=0),
        )
    yield "predicted", attempt(cs.EAC(3).fit_predict, ensemble=torn.labels.T.tolist())
    yield (
        "whole sizes",
        [
            _cuts.whole_sizes(sizes, n)
            for sizes, n in (([1, 1, 1], 10), ([5, 1, 1], 4), ([0.5, 0.5], 7))
        ],
    )


test_stored = CASES.test()
